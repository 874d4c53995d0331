//! A class: everybody who was there is in the results, and folders name tournaments.

use std::fs;

use serde_json::Value;

use crate::classroom::{Class, RANDOM, SETTINGS, WRONG};
use crate::common::Run;

/// Five who were there, two of whom can play.
fn with_absent() -> Class {
    Class::of(&[
        ("submissions/anna/bot.sh", RANDOM),
        ("submissions/ben/bot.sh", RANDOM),
        ("submissions/carla/one.sh", RANDOM),
        ("submissions/carla/two.sh", RANDOM),
        ("submissions/dora/bot.sh", WRONG),
        ("submissions/emil/bot.pas", "begin end."),
        ("submissions/fritz.cs", "class Bot {}"),
        ("submissions/notes.txt", "a class"),
    ])
}

/// What is said of each who did not enter.
const WHY: [(&str, &str); 4] = [
    ("carla", "call the one that counts main or bot"),
    ("dora", "malformed: it answered `hello`: "),
    (
        "emil",
        "compile it into the folder: fpc submissions/emil/bot.pas",
    ),
    (
        "fritz.cs",
        "compile it and give the compiled program (C# is not interpreted): mcs",
    ),
];

#[test]
fn whoever_was_there_is_in_all_results() {
    let class = with_absent();
    let run = class.play("spring", &["submissions/", "--report", "spring.html"]);
    let csv = class.read("spring/standings.csv");
    let json = class.json("spring/standings.json");
    let absent = json["did_not_enter"].as_array().expect("a list");
    assert_eq!(absent.len(), WHY.len());
    for (name, why) in WHY {
        let absent = absent
            .iter()
            .find(|absent| absent["name"] == name)
            .expect(name);
        let line = format!("did not enter: {name}\n");
        assert!(run.stdout.contains(&line), "{name}: {run}");
        assert_eq!(run.stderr.matches(why).count(), 1, "{why}: {run}");
        assert!(absent["reason"].as_str().expect("a text").contains(why));
        let row = csv
            .lines()
            .find(|row| row.starts_with(&format!(",{name},,0,")));
        let row = row.unwrap_or_else(|| panic!("{name}: {csv}"));
        let last = why.replace('"', "\"\"");
        assert!(row.contains(&last), "{why}: {row}");
    }
    assert!(run.stderr.contains("notes.txt"), "{run}");
    assert!(!csv.contains("notes.txt"), "{csv}");
    let heads = csv.lines().next().expect("heads");
    assert!(heads.ends_with(",did_not_enter"), "{heads}");
    let width = csv::Reader::from_reader(csv.as_bytes())
        .into_records()
        .map(|row| row.expect("a row").len())
        .collect::<Vec<_>>();
    assert_eq!(width, vec![heads.split(',').count(); 6], "{csv}");
    let page = class.read("spring.html");
    for (name, _) in WHY {
        assert!(page.contains(&format!("did not enter: {name}: ")), "{name}");
        assert!(page.contains(&format!("\"name\":\"{name}\"")), "{name}");
    }
}

#[test]
fn who_did_not_enter_is_still_known_later() {
    let class = with_absent();
    let first = class.play("spring", &["submissions/"]);
    let listed = |run: &Run| -> Vec<String> {
        let lines = run.stdout.lines();
        let lines = lines.filter(|line| line.starts_with("did not enter: "));
        let names = lines.map(|line| line.splitn(3, ':').take(2).collect());
        names.collect()
    };
    assert_eq!(listed(&first).len(), 4, "{first}");
    // Resumed, and from the folder.
    let again = class.run(&["tournament", "--sandbox", "none", "--out", "spring"]);
    assert_eq!(listed(&again), listed(&first));
    let table = class.run(&["standings", "spring/games.jsonl"]);
    assert_eq!(listed(&table), listed(&first));
    let csv = class.run(&["standings", "spring/games.jsonl", "--format", "csv"]);
    assert!(csv.stdout.contains("\n,carla,,0,"), "{csv}");
    class.run(&["report", "spring/games.jsonl", "-o", "late.html"]);
    assert!(
        class
            .read("late.html")
            .contains("did not enter: carla: cannot start submissions/carla")
    );
    // A page for everybody has no commands.
    class.run(&[
        "report",
        "spring/games.jsonl",
        "--private",
        "-o",
        "public.html",
    ]);
    let public = class.read("public.html");
    assert!(public.contains("did not enter: carla"));
    assert!(!public.contains("submissions/carla"));
    // In parts.
    class.run(
        &[
            &["shard", "plan", "submissions/", "--out", "parts"],
            &SETTINGS[..],
        ]
        .concat(),
    );
    for shard in ["1/2", "2/2"] {
        class.run(&["shard", "run", "parts", "--shard", shard]);
    }
    let merged = class.run(&["shard", "merge", "parts"]);
    assert_eq!(listed(&merged), listed(&first));
    assert!(class.read("parts/standings.csv").contains("\n,carla,,0,"));
}

/// A bot that was refused and is mended plays in a tournament of its own, and then has a place.
#[test]
fn whoever_plays_later_has_a_place() {
    let class = with_absent();
    class.play("spring", &["submissions/"]);
    class.write("submissions/dora/bot.sh", RANDOM);
    // What was refused has no part in the tournament, and may change.
    class.run(&["tournament", "--sandbox", "none", "--out", "spring"]);
    let bots = ["submissions/dora", "submissions/anna", "submissions/ben"];
    class.play("late", &[&bots[..], &["--format", "gauntlet"]].concat());
    let table = class.run(&["standings", "spring/games.jsonl", "late/games.jsonl"]);
    assert!(!table.stdout.contains("did not enter: dora"), "{table}");
    assert!(table.stdout.contains("did not enter: carla"), "{table}");
}

#[test]
fn a_folder_stands_for_the_games_in_it() {
    let class = with_absent();
    class.play("spring", &["submissions/"]);
    for command in ["standings", "replay"] {
        let of_folder = class.run(&[command, "spring"]);
        let of_file = class.run(&[command, "spring/games.jsonl"]);
        assert_eq!(of_folder.stdout, of_file.stdout, "{command}");
    }
    class.run(&["report", "spring", "-o", "page.html"]);
    let page = class.read("page.html");
    assert!(page.contains("<title>spring</title>"));
    let analysed = class.run(&[
        "analyse",
        "spring/",
        "--time-per-move",
        "10ms",
        "--number",
        "p1a",
    ]);
    assert!(analysed.stdout.starts_with("game 1, "), "{analysed}");

    fs::create_dir(class.path("empty")).expect("a folder");
    for command in ["standings", "replay", "report", "analyse"] {
        let run = class.referee(&[command, "empty"]).run();
        assert_eq!(run.code, Some(2), "{run}");
        let why = "empty: there is no games.jsonl in this folder; give the folder of a tournament";
        assert!(run.stderr.contains(why), "{run}");
    }
    class.run(&[
        "shard",
        "plan",
        "submissions/",
        "--sandbox",
        "none",
        "--pairs",
        "1",
        "--out",
        "my parts",
    ]);
    class.run(&["shard", "run", "my parts", "--shard", "1/1"]);
    let run = class.referee(&["standings", "my parts"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("referee shard merge 'my parts'"),
        "{run}"
    );
}

/// A bot that wins no game: it answers its first question, and then gives what is on the board.
const FORFEITS: &str =
    "#!/bin/sh\nwhile read -r board piece; do echo thinking >&2; echo 1 A; done\n";

#[test]
fn a_disputed_forfeit_is_shown_as_in_the_match() {
    let class = Class::of(&[("anna/bot.sh", RANDOM), ("ben/bot.sh", FORFEITS)]);
    class.play("spring", &["anna", "ben", "--no-check"]);
    let records = class.read("spring/games.jsonl");
    let record: Value =
        serde_json::from_str(records.lines().nth(1).expect("two games")).expect("JSON");
    let id = record["id"].as_str().expect("an id");
    let run = class.run(&["replay", "spring", "--number", id]);
    let detail = record["result"]["detail"].as_str().expect("a sentence");
    assert!(run.stdout.contains(detail), "{run}");
    let answer = record["result"]["answer"].as_str().expect("an answer");
    for line in [
        format!("  answer: {answer}"),
        "  the end of its stderr:\n    thinking".to_owned(),
        "ben forfeits (illegal-move).".to_owned(),
    ] {
        assert!(run.stdout.contains(&line), "{line}: {run}");
    }
    let again = run
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("  reproduce: "))
        .expect("a command");
    let seed = &record["processes"][1]["seed"];
    let end = format!(" | REFEREE_SEED={seed} sh ben/bot.sh");
    assert!(again.ends_with(&end), "{again}");
    let position = run
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("  position: "))
        .expect("the question");
    assert!(again.contains(position), "{again}");
    // An id may be written without its zeros, and the number is another name of the game.
    assert_eq!(
        class.run(&["replay", "spring", "--number", "p1b"]).stdout,
        class.run(&["replay", "spring", "--number", "2"]).stdout
    );
    class.run(&["replay", "spring", "--number", id, "--html"]);
    assert!(class.path("game-2.html").exists());
    let none = class
        .referee(&["replay", "spring", "--number", "p9a"])
        .run();
    assert_eq!(none.code, Some(2), "{none}");
    assert!(
        none.stderr
            .contains("there is no game with the id `p000009a`"),
        "{none}"
    );
}

/// Three of a class in a tournament of one pair each.
fn three() -> Class {
    let class = Class::of(&[
        ("submissions/anna/bot.sh", RANDOM),
        ("submissions/ben/bot.sh", RANDOM),
        ("submissions/carla/bot.sh", RANDOM),
    ]);
    class.play("spring", &["submissions/"]);
    class
}

#[test]
fn a_late_bot_plays_in_a_folder_of_its_own() {
    let class = three();
    class.write("submissions/dora/bot.sh", RANDOM);
    let run = class.tournament("spring", &["submissions/"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("dora was not there"), "{run}");
    assert!(run.stderr.contains("docs/teachers.md"), "{run}");
}

#[test]
fn a_changed_bot_is_named() {
    let class = three();
    class.write(
        "submissions/ben/bot.sh",
        &RANDOM.replace("random", "greedy"),
    );
    let run = class
        .referee(&["tournament", "--sandbox", "none", "--out", "spring"])
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    let changed = run.stderr.split("ben has been changed: in ").nth(1);
    let changed = changed.and_then(|rest| rest.lines().next());
    assert!(changed.is_some_and(|rest| rest.contains("bot.sh")), "{run}");
    // Nobody compares 64 digits.
    let longest = run
        .stderr
        .split(|c: char| !c.is_ascii_hexdigit())
        .map(str::len)
        .max();
    assert!(longest < Some(20), "{run}");
}

/// Limits that are not given again are those of the plan.
#[test]
fn limits_stay_those_of_the_plan() {
    let class = three();
    class.play("quick", &["submissions/", "--move-time", "3s"]);
    let again = class.play("quick", &["submissions/"]);
    assert!(
        again.stderr.contains("resuming after 6 of 6 games"),
        "{again}"
    );
    class.write("submissions/dora/bot.sh", RANDOM);
    let run = class
        .referee(&[
            "tournament",
            "submissions/",
            "--sandbox",
            "none",
            "--out",
            "quick",
        ])
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(!run.stderr.contains("other limits"), "{run}");
}

/// A bot that was refused, and has been fixed, does not stop a resume.
#[test]
fn a_fixed_bot_does_not_enter() {
    let class = with_absent();
    class.play("spring", &["submissions/"]);
    class.write("submissions/dora/bot.sh", RANDOM);
    let run = class.run(&["tournament", "--sandbox", "none", "--out", "spring"]);
    assert!(
        run.stderr
            .contains("dora did not enter when this tournament began"),
        "{run}"
    );
}

fn names_in_plan(class: &Class, out: &str) -> Vec<String> {
    let plan = class.json(&format!("{out}/plan.json"));
    let bots = plan["bots"].as_array().expect("bots").iter();
    bots.map(|bot| bot["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn a_knockout_is_seeded_by_standings() {
    let class = three();
    class.write("seeds.txt", "carla\n\nanna\nben\n");
    let run = class.play(
        "final",
        &[
            "submissions/",
            "--format",
            "knockout",
            "--seeds",
            "seeds.txt",
        ],
    );
    assert_eq!(names_in_plan(&class, "final"), ["carla", "anna", "ben"]);
    assert!(
        run.stderr
            .contains("referee: seeds, by seeds.txt: 1 carla, 2 anna, 3 ben"),
        "{run}"
    );
    assert!(run.stdout.contains("\nseeds: by seeds.txt\n"), "{run}");
    assert!(run.stdout.contains("1 carla"), "{run}");
    assert!(run.stdout.contains("carla has a bye"), "{run}");
    // Going on needs no file.
    fs::remove_file(class.path("seeds.txt")).expect("a file");
    class.play("final", &["submissions/", "--format", "knockout"]);
    class.run(&["tournament", "--sandbox", "none", "--out", "final"]);

    // Standings, in each form, and a folder.
    let table = class.json("spring/standings.json");
    let ranked: Vec<&str> = table["standings"]
        .as_array()
        .expect("places")
        .iter()
        .map(|place| place["name"].as_str().expect("a name"))
        .collect();
    for (number, file) in ["spring/standings.csv", "spring"].into_iter().enumerate() {
        let out = format!("final{number}");
        class.play(
            &out,
            &["submissions/", "--format", "knockout", "--seeds", file],
        );
        assert_eq!(names_in_plan(&class, &out), ranked, "{file}");
    }
    // Without seeds it is said by what they are seeded.
    let plain = class.play("plain", &["submissions/", "--format", "knockout"]);
    assert!(plain.stderr.contains("referee: seeds, in the order given, those of a folder by name: 1 anna, 2 ben, 3 carla; --seeds FILE"), "{plain}");
    assert!(
        plain.stdout.contains("seeds: in the order given"),
        "{plain}"
    );
}

#[test]
fn seeds_that_do_not_fit() {
    let class = three();
    class.write("wrong.txt", "carla\nbob\n");
    class.write("some.csv", "rank,name\n1,carla\n2,zoe\n");
    let refused = |arguments: &[&str], why: &str| {
        let all = [
            &[
                "tournament",
                "submissions/",
                "--sandbox",
                "none",
                "--out",
                "no",
            ],
            arguments,
        ]
        .concat();
        let run = class.referee(&all).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(why), "{why}: {run}");
        assert!(!class.path("no").exists(), "{why}");
    };
    let knockout = |file| ["--format", "knockout", "--seeds", file];
    refused(
        &knockout("wrong.txt"),
        "--seeds wrong.txt: `bob` is not a bot of this tournament; the bots are anna, ben, carla",
    );
    refused(&knockout("nowhere.txt"), "nowhere.txt");
    refused(
        &knockout("submissions/anna/bot.sh"),
        "is not a bot of this tournament",
    );
    refused(
        &["--seeds", "some.csv"],
        "--seeds is for --format knockout, groups+knockout and swiss",
    );
    let run = class.play(
        "final",
        &[&["submissions/"], &knockout("some.csv")[..]].concat(),
    );
    assert!(
        run.stderr
            .contains("some.csv has no place for anna, ben: seeded last"),
        "{run}"
    );
    assert!(
        run.stderr
            .contains("some.csv has 1 name without a bot here"),
        "{run}"
    );
    assert_eq!(names_in_plan(&class, "final"), ["carla", "anna", "ben"]);
}

#[test]
fn a_page_that_cannot_be_written_creates_no_tournament() {
    let class = three();
    class.write("notes.txt", "mine");
    for (report, why) in [
        ("notes.txt", "there is another file"),
        ("nowhere/page.html", "there is no such file or directory"),
        ("submissions", "it is a directory"),
    ] {
        let arguments = [
            "tournament",
            "submissions/",
            "--sandbox",
            "none",
            "--pairs",
            "1",
            "--out",
            "no",
            "--report",
            report,
        ];
        let run = class.referee(&arguments).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(why), "{why}: {run}");
        assert!(!class.path("no").exists(), "{report}");
    }
    // A page in the folder that is yet to be made is no mistake.
    class.play("new", &["submissions/", "--report", "new/page.html"]);
    assert!(class.path("new/page.html").exists());
}
