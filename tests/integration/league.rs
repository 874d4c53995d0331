//! A league: only what is new is played, and the result is that of a league that played everything at once.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::classroom::{Class, GREEDY, RANDOM, WRONG};
use crate::common::{self, Referee, Run};

/// The folder of a teacher.
struct Teacher(Class);

impl Teacher {
    /// With submissions of these students.
    fn of(students: &[(&str, &str)]) -> Self {
        let teacher = Self(Class::of(&[]));
        for (name, text) in students {
            teacher.hand_in(name, text);
        }
        teacher
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn hand_in(&self, name: &str, text: &str) {
        self.0.write(&format!("submissions/{name}/bot.sh"), text);
    }

    fn league(&self, name: &str, more: &[&str]) -> Referee {
        let options = [
            "league",
            name,
            "--sandbox",
            "none",
            "--seed",
            "3",
            "--pairs",
            "1",
        ];
        self.0.referee(&[&options, more].concat())
    }

    fn update(&self, name: &str) -> Run {
        let run = self.league(name, &["--from", "submissions"]).run();
        assert_eq!(run.code, Some(0), "{run}");
        run
    }

    /// Hands in a download of Moodle: names with numbers, and programs. Returns the rows of students.csv.
    fn moodle(&self, students: &[(&str, &str)], more: &[&str]) -> (Run, Vec<Vec<String>>) {
        let _ = fs::remove_dir_all(self.path("moodle"));
        for (name, text) in students {
            self.0.write(
                &format!("moodle/{name}_assignsubmission_file_/bot.sh"),
                text,
            );
        }
        let run = self
            .league("term", &[&["--from", "moodle"], more].concat())
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        (run, self.csv("term"))
    }

    /// What has to be the same whenever and wherever games were played: their ids, bots, turns and results.
    fn games(&self, name: &str) -> Vec<[Value; 4]> {
        let text = self.0.read(&format!("{name}/games.jsonl"));
        common::schema::PLAN.check(&self.0.json(&format!("{name}/plan.json")));
        let mut games: Vec<[Value; 4]> = common::records(&text)
            .into_iter()
            .map(|game| {
                let names = [0, 1].map(|bot| game["bots"][bot]["name"].clone());
                let names = Value::from(names.to_vec());
                [
                    game["id"].clone(),
                    names,
                    game["turns"].clone(),
                    game["result"].clone(),
                ]
            })
            .collect();
        games.sort_by_key(|game| game[0].as_str().map(str::to_owned));
        games
    }

    /// The last decision in the log: what was done, of what, and why.
    fn decided(&self) -> [String; 3] {
        let log = self.0.read("term/log.jsonl");
        let last = log.lines().last().expect("an entry");
        let entry: Value = serde_json::from_str(last).expect("JSON");
        let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        ["action", "of", "why"].map(text)
    }

    fn csv(&self, league: &str) -> Vec<Vec<String>> {
        let text = self.0.read(&format!("{league}/students.csv"));
        let text = text.strip_prefix('\u{feff}').expect("a mark");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows = reader.records().map(|row| row.expect("a row"));
        rows.map(|row| row.iter().map(str::to_owned).collect())
            .collect()
    }
}

#[test]
fn only_new_games_are_played_and_the_result_is_the_same() {
    let teacher = Teacher::of(&[
        ("anna", RANDOM),
        ("ben", GREEDY),
        ("cem", RANDOM),
        ("dana", GREEDY),
    ]);
    assert_eq!(teacher.update("term").last_line(), "12 new games, 0 kept");
    assert_eq!(teacher.update("term").last_line(), "0 new games, 12 kept");
    teacher.hand_in("ben", &format!("{RANDOM}# better\n"));
    assert_eq!(teacher.update("term").last_line(), "6 new games, 6 kept");
    teacher.hand_in("a new one", GREEDY);
    assert_eq!(teacher.update("term").last_line(), "8 new games, 12 kept");
    teacher.update("fresh");
    assert_eq!(teacher.games("term"), teacher.games("fresh"));
    let table = |league: &str| fs::read(teacher.path(league).join("crosstable.csv"));
    assert_eq!(
        table("term").expect("a table"),
        table("fresh").expect("a table")
    );
    // An older version comes back: its games are known.
    teacher.hand_in("ben", GREEDY);
    assert_eq!(teacher.update("term").last_line(), "2 new games, 18 kept");
}

#[test]
fn who_hands_in_something_broken_plays_with_the_version_before() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY), ("cem", WRONG)]);
    let run = teacher.update("term");
    assert_eq!(run.last_line(), "2 new games, 0 kept");
    assert!(run.stdout.contains("did not enter: cem\n"), "{run}");
    teacher.hand_in("anna", WRONG);
    let run = teacher.update("term");
    assert_eq!(run.last_line(), "0 new games, 2 kept");
    let rows = teacher.csv("term");
    let [anna, ben, cem] = &rows[..] else {
        panic!("{rows:?}")
    };
    assert!(
        anna[1] != anna[2] && anna[5].contains("`hello`"),
        "{anna:?}"
    );
    assert!(ben[1] == ben[2] && ben[5].is_empty(), "{ben:?}");
    assert!(cem[1].is_empty() && cem[5].contains("`hello`"), "{cem:?}");
}

#[test]
fn nothing_is_lost_when_the_referee_is_killed() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY), ("cem", RANDOM)]);
    for round in 0..6 {
        teacher.hand_in("anna", &format!("{RANDOM}# {round}\n"));
        let started = teacher.league("term", &["--from", "submissions"]).start();
        thread::sleep(Duration::from_millis(40 * round));
        // As by `kill -9`.
        drop(started);
    }
    teacher.update("term");
    teacher.update("fresh");
    assert_eq!(teacher.games("term"), teacher.games("fresh"));
}

/// Where a bot waits for a file before it plays.
fn waiting(file: &std::path::Path) -> String {
    let waits = format!("while [ ! -e '{}' ]; do sleep 0.02; done", file.display());
    RANDOM.replacen('\n', &format!("\n{waits}\n"), 1)
}

/// The second changes nothing, and says who is at work.
#[test]
fn two_referees_of_one_league_do_not_disturb_each_other() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("cem", GREEDY)]);
    teacher.hand_in("ben", &waiting(&teacher.path("go")));
    let more = ["--from", "submissions", "--no-check", "--move-time", "600s"];
    let mut first = teacher.league("term", &more).start();
    let journal = teacher.path("term/games.jsonl");
    first.wait_until(|_| journal.exists());
    let before = teacher.0.read("term/league.json");
    let holder = format!(
        "term: another referee is working on this league: `referee league`, process {}, since ",
        first.id()
    );
    for words in [
        &["term", "--sandbox", "none", "--from", "submissions"][..],
        &["withdraw", "term", "anna"],
        &["restore", "term", "anna"],
        &["replay-game", "term", "p000001a"],
    ] {
        let second = teacher.0.referee(&[&["league"], words].concat()).run();
        assert_eq!(second.code, Some(2), "{words:?}: {second}");
        assert!(second.stderr.contains(&holder), "{words:?}: {second}");
        assert!(
            second.stderr.contains("; wait for it"),
            "{words:?}: {second}"
        );
    }
    assert_eq!(teacher.0.read("term/league.json"), before);
    teacher.0.write("go", "");
    let first = first.finish();
    assert_eq!(first.code, Some(0), "{first}");
    assert_eq!(first.last_line(), "6 new games, 0 kept", "{first}");
    let again = teacher.league("term", &more).run();
    assert_eq!(again.last_line(), "0 new games, 6 kept", "{again}");
}

/// The file of games may not grow beyond a few kilobytes.
#[test]
fn a_full_disk_loses_no_game_of_a_league() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY), ("cem", RANDOM)]);
    let league = |name: &str, shell: Option<&str>| {
        let options = [
            "league",
            name,
            "--sandbox",
            "none",
            "--seed",
            "3",
            "--pairs",
            "24",
        ];
        let run = teacher
            .0
            .referee(&[&options[..], &["--from", "submissions"]].concat());
        match shell {
            Some(script) => run.shell(script).run(),
            None => run.run(),
        }
    };
    let full = league(
        "term",
        Some("trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""),
    );
    assert_eq!(full.code, Some(1), "{full}");
    assert!(full.stderr.contains("games.jsonl: cannot write"), "{full}");
    assert!(full.stderr.contains("continue: referee league "), "{full}");
    let written = teacher.0.read("term/games.jsonl");
    let end = written.rfind('\n').map_or(0, |newline| newline + 1);
    assert!(end > 0, "{full}");
    let run = league("term", None);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        teacher
            .0
            .read("term/games.jsonl")
            .starts_with(&written[..end])
    );
    league("fresh", None);
    assert_eq!(teacher.games("term"), teacher.games("fresh"));
}

/// The same bytes are named as such, each of their students plays, and what is withdrawn stays so whatever is handed in.
#[test]
fn identical_programs_and_withdrawals_go_together() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", RANDOM), ("cem", GREEDY)]);
    let of = |name: &str| {
        let mut rows = teacher.csv("term").into_iter();
        rows.find(|row| row[0] == name).expect("a row")
    };
    let identical =
        |run: &Run, names: &str| run.stderr.contains(&format!("\nidentical  {names}  "));
    let run = teacher.update("term");
    assert_eq!(run.last_line(), "6 new games, 0 kept");
    assert!(identical(&run, "anna, ben"), "{run}");
    assert_eq!((&*of("anna")[7], &*of("ben")[7]), ("ben", "anna"));
    // Another name of the file, the same program.
    teacher
        .0
        .run(&["league", "withdraw", "term", "ben", "--why", "copied"]);
    let run = teacher.update("term");
    assert!(!run.stderr.contains("\nidentical"), "{run}");
    assert_eq!((&*of("anna")[7], &*of("ben")[7]), ("", ""), "{run}");
    // A new version of the one, with the bytes of a third, is no way back.
    teacher.hand_in("ben", GREEDY);
    let run = teacher.update("term");
    assert_eq!(run.last_line(), "0 new games, 2 kept", "{run}");
    assert!(
        of("ben")[1].is_empty() && of("ben")[5].contains("withdrawn: copied"),
        "{run}"
    );
    assert!(!run.stderr.contains("\nidentical"), "{run}");
    // Brought back, it plays with them; and with the first ones again its games are known.
    teacher.0.run(&["league", "restore", "term", "ben"]);
    let run = teacher.update("term");
    assert_eq!(run.last_line(), "4 new games, 2 kept", "{run}");
    assert!(identical(&run, "ben, cem"), "{run}");
    teacher.hand_in("ben", RANDOM);
    let run = teacher.update("term");
    assert_eq!(run.last_line(), "0 new games, 6 kept", "{run}");
    assert!(identical(&run, "anna, ben"), "{run}");
    // All three are one program.
    teacher.hand_in("cem", RANDOM);
    let run = teacher.update("term");
    assert!(identical(&run, "anna, ben, cem"), "{run}");
    assert_eq!(&*of("anna")[7], "ben; cem");
}

/// In October an hour comes twice, and in March one is left out: in the zone of the machine, by its rule.
#[test]
fn both_hours_of_the_change_of_clocks_are_told() {
    const BRUSSELS: &str = "CET-1CEST,M3.5.0,M10.5.0/3";
    for (stamp, deadline, received, told) in [
        // The first of the two, and an instant in the second.
        (
            "20261025_0230",
            "2026-10-25T02:30+01:00",
            "2026-10-25T00:30:00Z",
            "2026-10-25T02:30:00+01:00",
        ),
        (
            "20261025_0230",
            "2026-10-25T02:30",
            "2026-10-25T00:30:00Z",
            "2026-10-25T02:30:00+02:00",
        ),
        (
            "20261025_0301",
            "2026-10-25T03:01",
            "2026-10-25T02:01:00Z",
            "2026-10-25T03:01:00+01:00",
        ),
        (
            "20261025_2359",
            "2026-10-25",
            "2026-10-25T22:59:00Z",
            "2026-10-25T23:59:59+01:00",
        ),
        // The clock went on from 2 to 3.
        (
            "20260329_0230",
            "2026-03-29T02:30",
            "2026-03-29T01:30:00Z",
            "2026-03-29T03:30:00+02:00",
        ),
        (
            "20260329_0301",
            "2026-03-29T03:30",
            "2026-03-29T01:01:00Z",
            "2026-03-29T03:30:00+02:00",
        ),
        (
            "20260329_0159",
            "2026-03-29T02:00+01:00",
            "2026-03-29T00:59:00Z",
            "2026-03-29T03:00:00+02:00",
        ),
    ] {
        let teacher = Teacher::of(&[("ben_20260101_0900", GREEDY), ("cem_20260101_0900", RANDOM)]);
        teacher.hand_in(&format!("anna_{stamp}"), RANDOM);
        let league = |deadline: &str| {
            let options = [
                "--from",
                "submissions",
                "--no-check",
                "--deadline",
                deadline,
            ];
            let run = teacher.league("term", &options).env("TZ", BRUSSELS).run();
            assert_eq!(run.code, Some(0), "{run}");
            let mut rows = teacher.csv("term").into_iter();
            (run, rows.find(|row| row[0] == "anna").expect("anna"))
        };
        let (run, anna) = league(deadline);
        assert!(
            run.stderr.contains(&format!("the deadline is {told}\n")),
            "{stamp}: {run}"
        );
        assert_eq!(
            (&*anna[3], anna[1].is_empty()),
            (received, false),
            "{stamp}: {run}"
        );
        // A second before it was handed in.
        let received: jiff::Timestamp = received.parse().expect("an instant");
        let before = received - Duration::from_secs(1);
        let (run, anna) = league(&before.to_string());
        assert!(anna[1].is_empty(), "{stamp}: {run}");
        assert_eq!(anna[8], "1", "{stamp}: {run}");
    }
}

#[test]
fn settings_hold_for_all_term() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY)]);
    let settings = [
        "--from",
        "submissions",
        "--move-time",
        "3s",
        "--env",
        "COURSE=1",
    ];
    let run = teacher.league("term", &settings).run();
    assert_eq!(run.code, Some(0), "{run}");
    teacher.hand_in("cem", RANDOM);
    assert_eq!(teacher.update("term").last_line(), "4 new games, 2 kept");
    let plan = teacher.0.json("term/plan.json");
    assert_eq!(plan["sandbox"]["env"][0], "COURSE=1", "{plan}");
    for bot in 0..3 {
        assert_eq!(plan["bots"][bot]["limits"]["move_time"], 3.0, "{plan}");
    }
}

#[test]
fn settings_that_make_games_incomparable_are_refused() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY)]);
    teacher.update("term");
    let run = teacher.league("term", &["--move-time", "3s"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("the time limits are other ones"),
        "{run}"
    );
    let run = teacher.league("another", &[]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("--from FOLDER"), "{run}");
}

#[test]
fn the_table_says_who_has_moved_up_or_down() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY)]);
    let first = teacher.update("term");
    assert!(!first.stdout.contains("moved"), "{first}");
    teacher.hand_in("anna", &format!("{GREEDY}# 2\n"));
    teacher.hand_in("ben", &format!("{RANDOM}# 2\n"));
    teacher.hand_in("cem", RANDOM);
    // Again, and in the middle: it is always the last table that counts.
    drop(teacher.league("term", &["--from", "submissions"]).start());
    let run = teacher.update("term");
    let row = |name: &str| {
        let mut rows = run.stdout.lines();
        let row = rows.find(|row| row.split_whitespace().nth(1) == Some(name));
        row.map(|row| row.split_whitespace().nth(2).unwrap_or_default().to_owned())
    };
    assert_eq!(row("anna").as_deref(), Some("↑1"), "{run}");
    assert!(
        row("ben").is_some_and(|moved| moved.starts_with('↓')),
        "{run}"
    );
    assert_eq!(row("cem").as_deref(), Some("new"), "{run}");
    // Killed after the last game, and before the tables were written.
    let table = teacher.0.read("term/standings.csv");
    teacher
        .0
        .write("term/standings.csv", "that of the week before");
    let again = teacher.update("term");
    assert!(
        again.stdout.contains("↑1") && again.stdout.contains("  new  "),
        "{again}"
    );
    assert_eq!(teacher.0.read("term/standings.csv"), table);
    // Nothing was played: nobody has moved.
    let run = teacher.update("term");
    assert!(
        !run.stdout.contains(['↑', '↓']) && !run.stdout.contains("  new  "),
        "{run}"
    );
}

#[test]
fn a_newcomer_renames_no_game() {
    let teacher = Teacher::of(&[("ben", GREEDY), ("cem", RANDOM), ("dana", RANDOM)]);
    teacher.update("term");
    let before = teacher.games("term");
    fs::copy(
        teacher.path("term/games.jsonl"),
        teacher.path("week1.jsonl"),
    )
    .expect("a copy");
    teacher.hand_in("anna", RANDOM);
    teacher.update("term");
    let now = teacher.games("term");
    for game in &before {
        assert!(now.contains(game), "{game:?}");
    }
    let run = teacher
        .0
        .run(&["standings", "week1.jsonl", "term/games.jsonl"]);
    assert!(run.stdout.contains("\n12 games"), "{run}");
    // A new version plays other openings, and other pairings do.
    let starts = |name: &str| -> Vec<Value> {
        let text = teacher.0.read("term/games.jsonl");
        let games = common::records(&text).into_iter();
        let of = games.filter(|game| game["bots"].to_string().contains(name));
        of.map(|game| game["start"].clone()).collect()
    };
    let old = starts("\"anna\"");
    assert!(old.iter().any(|start| start != &old[0]), "{old:?}");
    teacher.hand_in("anna", &format!("{RANDOM}# 2\n"));
    teacher.update("term");
    let new = starts("\"anna\"");
    assert!(
        new.iter().all(|start| !old.contains(start)),
        "{old:?} {new:?}"
    );
}

#[test]
fn a_student_is_an_id() {
    let own = |name: &str| format!("{RANDOM}# {name}\n");
    let teacher = Teacher::of(&[]);
    let (ben, cem) = (own("ben"), own("cem"));
    let others = [("Cem Can_12", &*cem), ("Dana Diaz_13", GREEDY)];
    let class = |name: &'static str, text: &str, more: &[&str]| {
        let students = [&[(name, text)][..], &others].concat();
        let (run, rows) = teacher.moodle(&students, more);
        let names = rows
            .into_iter()
            .map(|row| row[0].clone())
            .collect::<Vec<_>>();
        (run, names.join(", "))
    };
    class("Ben Brown_11", &ben, &[]);
    // Without a list, Moodle's number says who it is.
    let (run, names) = class("Benjamin Braun_11", &ben, &[]);
    assert_eq!(run.last_line(), "0 new games, 6 kept");
    assert_eq!(names, "Benjamin Braun, Cem Can, Dana Diaz");
    assert!(!run.stdout.contains("  new  "), "{run}");
    // Other accents, and a list from which the name is known.
    let list = "name,id\nBénjamin Braun,b\nCem Can,c\nDana Diaz,d\n";
    teacher.0.write("list.csv", list);
    let (run, names) = class("Benjamin Braun_11", &ben, &["--students", "list.csv"]);
    assert_eq!(run.last_line(), "0 new games, 6 kept");
    assert_eq!(names, "Bénjamin Braun, Cem Can, Dana Diaz");
    // Another name in a new list, and the old one in the download.
    teacher
        .0
        .write("list.csv", "name,id\nBenno,b\nCem Can,c\nDana Diaz,d\n");
    let (run, names) = class("Benjamin Braun_11", &ben, &["--students", "list.csv"]);
    assert_eq!(run.last_line(), "0 new games, 6 kept");
    assert_eq!(names, "Benno, Cem Can, Dana Diaz");
    // A team takes over the bot of the one who is in it, and its partner hands in.
    teacher.0.write(
        "list.csv",
        "name,id,team\nBenno,b,owls\nCem Can,c,\nDana Diaz,d,\nFinn Fox,f,owls\n",
    );
    let (run, names) = class("Finn Fox_14", &ben, &["--students", "list.csv"]);
    assert_eq!(run.last_line(), "0 new games, 6 kept");
    assert_eq!(names, "Cem Can, Dana Diaz, owls");
    assert!(!run.stdout.contains("  new  "), "{run}");
    // Another joins a team that has a bot already: the newest of what they have submitted plays.
    teacher.0.write(
        "list.csv",
        "name,id,team\nBenno,b,owls\nCem Can,c,owls\nDana Diaz,d,\nFinn Fox,f,owls\n",
    );
    let (run, names) = class("Benno_11", &ben, &["--students", "list.csv"]);
    assert_eq!(names, "Dana Diaz, owls", "{run}");
    let owls = &teacher.csv("term")[1];
    assert_eq!(
        (&*owls[4], &*owls[6]),
        ("3", "Benno; Cem Can; Finn Fox"),
        "{run}"
    );
    // When the team breaks up, each has what was theirs.
    teacher.0.write(
        "list.csv",
        "name,id,team\nBenno,b,\nCem Can,c,\nDana Diaz,d,\nFinn Fox,f,\nGus Gil,g,\n",
    );
    let (run, names) = class("Benno_11", &ben, &["--students", "list.csv"]);
    assert_eq!(
        names, "Benno, Cem Can, Dana Diaz, Finn Fox, Gus Gil",
        "{run}"
    );
    assert!(run.stderr.contains("\nmissing    Gus Gil  "), "{run}");
}

#[test]
fn two_names_of_one_number_are_one_row() {
    let teacher = Teacher::of(&[]);
    let students = [
        ("Ben Brown_11", RANDOM),
        ("Benjamin Braun_11", RANDOM),
        ("Cem Can_12", GREEDY),
    ];
    let (run, rows) = teacher.moodle(&students, &[]);
    assert_eq!(rows.len(), 2, "{run}");
}

#[test]
fn a_build_keeps_the_whole_folder() {
    let teacher = Teacher::of(&[("anna", RANDOM)]);
    let submission =
        |name: &str, text: &str| teacher.0.write(&format!("submissions/ben/{name}"), text);
    submission(
        "referee.toml",
        "build = \"cd src\\nsh make\"\nprogram = \"bot.sh\"\n",
    );
    submission(
        "src/make",
        "#!/bin/sh\nmkdir ../made && echo random > ../made/name\n",
    );
    submission(
        "bot.sh",
        "#!/bin/sh\nexec \"$REFEREE_BIN\" bot \"$(cat \"${0%/*}/made/name\")\"\n",
    );
    let run = teacher.update("term");
    assert_eq!(run.last_line(), "2 new games, 0 kept");
    assert!(
        run.stderr.contains("ben: the build made made/name"),
        "{run}"
    );
    submission(
        "referee.toml",
        "build = \"cd src && sh make\"\nprogram = \"other\"\n",
    );
    let run = teacher.update("term");
    let rows = teacher.csv("term");
    assert!(
        rows[1][5].contains("other is not there afterwards; these were made: ./made/name"),
        "{rows:?} {run}"
    );
}

#[test]
fn missing_games_are_played_in_parts() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY), ("cem", RANDOM)]);
    teacher.update("term");
    teacher.hand_in("ben", &format!("{RANDOM}# 2\n"));
    teacher.hand_in("dana", GREEDY);
    let run = teacher
        .league("term", &["--from", "submissions", "--plan"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("10 games to play (2 reused)"), "{run}");
    let part = |shard: &str| {
        let run = teacher.0.run(&["shard", "run", "term", "--shard", shard]);
        run.stderr
    };
    part("1/2");
    // A new plan keeps what has been played of the one before.
    teacher.hand_in("eve", RANDOM);
    let run = teacher
        .league("term", &["--from", "submissions", "--plan"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    for shard in ["1/3", "2/3", "3/3"] {
        part(shard);
    }
    let played: usize = fs::read_dir(teacher.path("term/shards"))
        .expect("parts")
        .filter_map(|entry| fs::read_to_string(entry.expect("a file").path()).ok())
        .map(|text| {
            text.lines()
                .filter(|line| line.contains("\"bots\":[{"))
                .count()
        })
        .sum();
    let kept = teacher.games("term").len();
    assert_eq!(played + kept, 20, "{kept}");
    assert!(kept > 2, "{kept}");
    teacher.0.run(&["shard", "merge", "term"]);
    assert_eq!(teacher.update("term").last_line(), "0 new games, 20 kept");
    teacher.update("fresh");
    assert_eq!(teacher.games("term"), teacher.games("fresh"));
}

#[test]
fn a_bot_is_withdrawn_and_brought_back() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY), ("cem", RANDOM)]);
    teacher.update("term");
    let league = |words: &[&str]| teacher.0.run(&[&["league"], words].concat());
    league(&["withdraw", "term", "ben", "--why", "copied"]);
    let run = teacher.update("term");
    assert_eq!(run.last_line(), "0 new games, 2 kept");
    assert!(run.stderr.contains("\nwithdrawn  ben   "), "{run}");
    assert!(run.stderr.contains(": copied\n"), "{run}");
    let rows = teacher.csv("term");
    assert!(
        rows[1][1].is_empty() && rows[1][5].contains("withdrawn: copied"),
        "{rows:?}"
    );
    teacher.0.run(&["report", "term", "-o", "page.html"]);
    assert!(
        teacher
            .0
            .read("page.html")
            .contains("<td>withdrawn</td><td>ben</td>")
    );
    teacher
        .0
        .run(&["report", "term", "--private", "-o", "page.html"]);
    assert!(!teacher.0.read("page.html").contains("<td>withdrawn</td>"));
    league(&["restore", "term", "ben"]);
    assert_eq!(teacher.update("term").last_line(), "0 new games, 6 kept");
    assert_eq!(teacher.0.read("term/log.jsonl").lines().count(), 2);
    let run = teacher
        .0
        .referee(&["league", "withdraw", "term", "bem"])
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("bem: there is no such bot"), "{run}");
}

#[test]
fn a_disputed_game_is_played_again() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY), ("cem", RANDOM)]);
    teacher.update("term");
    let times = |id: &str| -> Vec<Value> {
        let games = common::records(&teacher.0.read("term/games.jsonl")).into_iter();
        let of = games.filter(|game| game["id"] == id);
        of.map(|game| game["times_ms"].clone()).collect()
    };
    let games = teacher.games("term");
    let id = games[3][0].as_str().expect("an id");
    let before = times(id);
    for _ in 0..2 {
        teacher
            .0
            .run(&["league", "replay-game", "term", id, "--why", "a dispute"]);
        assert!(times(id).is_empty());
        assert_eq!(teacher.update("term").last_line(), "1 new game, 5 kept");
    }
    assert_eq!(teacher.games("term"), games);
    assert_ne!(times(id), before);
    // What does not count is kept.
    let archive = teacher.0.read("term/archive.jsonl");
    assert_eq!(archive.matches("\"void\":\"a dispute\"").count(), 2);
    teacher.hand_in("dana", RANDOM);
    assert_eq!(teacher.update("term").last_line(), "6 new games, 6 kept");
    let run = teacher
        .0
        .referee(&["league", "replay-game", "term", "p1a"])
        .run();
    assert_eq!(run.code, Some(2), "{run}");
}

/// As on the page of a served class; the server reads it when it is started.
#[test]
fn a_class_is_frozen_and_its_tables_are_opened() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY)]);
    teacher.update("term");
    for (words, file, is_there, said) in [
        ("freeze term", "frozen", true, ["class", "is", "frozen"]),
        ("freeze term on", "frozen", true, ["class", "is", "frozen"]),
        (
            "open-tables term",
            "open-tables",
            true,
            ["visitors", "", "may play"],
        ),
        (
            "freeze term off",
            "frozen",
            false,
            ["class", "is", "open again"],
        ),
        (
            "open-tables term off",
            "open-tables",
            false,
            ["visitors", "", "may not play"],
        ),
    ] {
        let words: Vec<&str> = ["league"].into_iter().chain(words.split(' ')).collect();
        let run = teacher.0.run(&words);
        let [of, _, done] = said;
        assert_eq!(teacher.decided(), [done, of, ""], "{run}");
        let said = said.join(" ").replace("  ", " ");
        assert!(run.stderr.ends_with(&format!("{said}\n")), "{run}");
        assert_eq!(run.stdout, "", "{run}");
        let file = teacher.path(&format!("term/server/{file}"));
        assert_eq!(file.exists(), is_there, "{run}");
    }
    assert_eq!(teacher.0.read("term/log.jsonl").lines().count(), 5);
}

#[test]
fn a_deadline_is_set_and_nothing_is_played() {
    let teacher = Teacher::of(&[
        ("anna_20260131_1100", RANDOM),
        ("ben_20260131_1331", GREEDY),
        ("cem_20260131_1200", RANDOM),
    ]);
    teacher.update("term");
    let games = teacher.games("term");
    let set = |deadline: &str| teacher.0.run(&["league", "deadline", "term", deadline]);
    let run = set("2026-01-31T12:00Z");
    let deadline = "2026-01-31T12:00:00+00:00";
    let said = format!("the deadline is {deadline}; now: referee league term\n");
    assert!(run.stderr.ends_with(&said), "{run}");
    assert_eq!(teacher.decided(), ["set", "deadline", deadline]);
    assert_eq!(teacher.games("term"), games);
    let run = teacher.league("term", &[]).run();
    assert_eq!(run.last_line(), "0 new games, 2 kept", "{run}");
    set("none");
    assert_eq!(teacher.decided(), ["set", "deadline", "none"]);
    let run = teacher.league("term", &[]).run();
    assert_eq!(run.last_line(), "0 new games, 6 kept", "{run}");
}

#[test]
fn what_cannot_be_decided_is_refused() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY)]);
    teacher.update("term");
    for (words, expected) in [
        ("deadline nothing none", "nothing: there is no league"),
        ("freeze nothing", "nothing: there is no league"),
        ("open-tables nothing off", "nothing: there is no league"),
        ("deadline term soon", "invalid value 'soon'"),
        ("freeze term maybe", "invalid value 'maybe'"),
    ] {
        let words: Vec<&str> = ["league"].into_iter().chain(words.split(' ')).collect();
        let run = teacher.0.referee(&words).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(expected), "{run}");
    }
    for name in ["nothing", "term/server", "term/log.jsonl"] {
        assert!(!teacher.path(name).exists(), "{name}");
    }
}

#[test]
fn a_summary_names_what_is_to_be_looked_at() {
    let teacher = Teacher::of(&[
        ("anna", RANDOM),
        ("ben", RANDOM),
        ("cem", WRONG),
        ("eve", GREEDY),
    ]);
    teacher.0.write("list.csv", "name\nanna\nben\ncem\ndana\n");
    let late = teacher.path("submissions/eve/bot.sh");
    let file = fs::File::open(late).expect("a file");
    let time = std::time::SystemTime::now() + Duration::from_hours(9600);
    file.set_modified(time).expect("a time");
    let soon = jiff::Timestamp::now() + Duration::from_hours(24);
    let soon = soon.to_string();
    let options = [
        "--from",
        "submissions",
        "--students",
        "list.csv",
        "--deadline",
        &soon,
    ];
    let run = teacher.league("term", &options).run();
    assert_eq!(run.last_line(), "2 new games, 0 kept", "{run}");
    for row in [
        "unfit      cem        malformed: ",
        "late       eve        it was handed in too late: ",
        "identical  anna, ben  the same program",
        "missing    dana       nothing was handed in",
        "unknown    eve        not in the list",
    ] {
        assert!(run.stderr.contains(&format!("\n{row}")), "{row}: {run}");
    }
    assert!(
        run.stderr.lines().all(|line| line.chars().count() <= 120),
        "{run}"
    );
    let rows = teacher.csv("term");
    assert_eq!(rows.len(), 5, "{rows:?}");
    assert!(
        rows[3][1].is_empty() && rows[3][5].contains("too late"),
        "{rows:?}"
    );
    assert_eq!((&*rows[0][7], &*rows[1][7]), ("ben", "anna"));
    // Also where nobody can play.
    let nobody = Teacher::of(&[("anna", RANDOM), ("cem", WRONG)]);
    let run = nobody.league("term", &["--from", "submissions"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("\nunfit  cem  "), "{run}");
    assert_eq!(nobody.csv("term").len(), 2);
}

#[test]
fn names_of_files_keep_their_letters() {
    let teacher = Teacher::of(&[("José Jung", RANDOM), ("Dora Dąb", GREEDY), ("Gil", WRONG)]);
    teacher.update("term");
    teacher.0.run(&["report", "term", "--each", "pages"]);
    teacher.0.write(
        "scale.toml",
        "seed = 1\nbudget = 3\n[[rung]]\nname = \"x\"\nbot = \"builtin:random\"\nelo0 = 0\nelo1 = 200\npoints = 1\n",
    );
    for name in ["José-Jung.html", "Dora-Dąb.md", "Gil.html"] {
        assert!(teacher.path("pages").join(name).exists(), "{name}");
    }
    teacher.0.run(&[
        "grade",
        "term",
        "--sandbox",
        "none",
        "--scale",
        "scale.toml",
    ]);
    let page = teacher.0.read("term/grades/Gil/grade.html");
    assert!(
        page.contains("0 of ")
            && page.contains("<code>hello</code>")
            && !page.contains("term/bots"),
        "{page}"
    );
    let page = teacher.0.read("term/grades/José-Jung/grade.html");
    let [verdict, games, how] = [
        "<th>verdict</th>",
        "points of each pair",
        "<h2>How it was decided",
    ]
    .map(|part| page.find(part).expect(part));
    assert!(verdict < games && games < how);
}

#[test]
fn a_check_takes_what_a_league_takes() {
    let teacher = Teacher::of(&[]);
    let class = &teacher.0;
    class.write("moodle/Anna Adams_11_assignsubmission_file_/bot.sh", RANDOM);
    class.write("moodle/Ben Brown_12_assignsubmission_file_/bot.sh", WRONG);
    class.write("one/bot.sh", RANDOM);
    class.write("one/helper.sh", RANDOM);
    class.write("one/notes/read.txt", "x");
    let pack = |name: &str, from: &str| {
        let mut tar = tar::Builder::new(fs::File::create(teacher.path(name)).expect("a file"));
        tar.append_dir_all(".", teacher.path(from))
            .expect("an archive");
        tar.finish().expect("an archive");
    };
    pack("moodle.tar", "moodle");
    pack("Anna.tar", "one");
    for source in ["moodle", "moodle.tar"] {
        let run = class.referee(&["check", source, "--sandbox", "none"]).run();
        assert_eq!(run.code, Some(3), "{run}");
        assert!(run.stdout.contains("✓ Anna Adams: fit\n"), "{run}");
        assert!(run.stdout.contains("✗ Ben Brown: "), "{run}");
    }
    let run = class.run(&["check", "Anna.tar", "--sandbox", "none"]);
    assert!(
        run.stdout.ends_with("Anna passes the entry check.\n"),
        "{run}"
    );
}

#[test]
fn bots_in_the_file_of_a_league_are_refused() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY)]);
    teacher.0.write(
        "league.toml",
        "pairs = 1\n[[bots]]\ncommand = \"builtin:random\"\n",
    );
    let options = ["--from", "submissions", "--config", "league.toml"];
    let run = teacher.league("term", &options).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr
            .contains("league.toml: [[bots]] are for a tournament"),
        "{run}"
    );
}

#[test]
fn a_final_is_announced_before_it_is_played() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY), ("cem", RANDOM)]);
    let league_final = |more: &[&str]| {
        let options = [&["league", "final", "term"], more].concat();
        teacher.0.referee(&options).run()
    };
    let refused = |more: &[&str], words: &str| {
        let run = league_final(more);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(words), "{run}");
    };
    refused(&["--announce"], "there is no league in this folder");
    let run = teacher
        .league("term", &["--from", "submissions", "--move-time", "3s"])
        .args(["--restart", "game", "--bench-after", "3"])
        .args(["--adjudicate", "--opening-plies", "5"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    refused(&[], "referee league final term --announce");
    refused(&["--announce", "--seed", "3"], "the league has this seed");
    let announced = league_final(&["--announce", "--format", "knockout"]);
    assert_eq!(announced.code, Some(0), "{announced}");
    assert!(
        announced.stdout.starts_with("final of 3 bots, knockout, "),
        "{announced}"
    );
    refused(&["--announce"], "announced before");
    let statement = announced.stdout.trim();
    assert_eq!(teacher.decided(), ["announced", "final", statement]);
    // What is handed in now is too late.
    teacher.hand_in("anna", GREEDY);
    teacher.update("term");
    let played = league_final(&[]);
    assert_eq!(played.code, Some(0), "{played}");
    assert_eq!(teacher.decided(), ["played", "final", ""]);
    let log = teacher.0.read("term/log.jsonl");
    assert_eq!(log.matches("\"begins\"").count(), 1, "{log}");
    // Once more, there is nothing to play.
    assert_eq!(league_final(&[]).code, Some(0));
    assert_eq!(teacher.0.read("term/log.jsonl"), log);
    assert!(played.stdout.contains("wins the tournament."), "{played}");
    assert!(played.stderr.contains(announced.stdout.trim()), "{played}");
    let plan = teacher.0.json("term/final/plan.json");
    let league = teacher.0.json("term/plan.json");
    assert_ne!(plan["seed"], league["seed"]);
    assert_ne!(plan["openings"], league["openings"]);
    let of_anna = |plan: &Value| {
        let bots = plan["bots"].as_array().expect("bots").iter();
        let mut named = bots.filter(|bot| bot["name"] == "anna");
        named.next().expect("anna")["hash"].clone()
    };
    assert_ne!(of_anna(&plan), of_anna(&league));
    assert_eq!(plan["bots"][0]["limits"]["move_time"], 3.0);
    // It is played as the league is.
    for option in ["restart", "bench_after", "adjudicate", "opening_plies"] {
        assert_eq!(plan[option], league[option], "{option}");
    }
    assert_eq!(plan["restart"], "game");
}

#[test]
fn a_page_to_hand_out_says_what_has_changed() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY), ("cem", WRONG)]);
    teacher.update("term");
    teacher.hand_in("anna", &format!("{GREEDY}# 2\n"));
    teacher.hand_in("ben", WRONG);
    teacher.update("term");
    teacher.0.run(&["report", "term", "--each", "pages"]);
    let page = |name: &str| teacher.0.read(&format!("pages/{name}.md"));
    let anna = page("anna");
    assert!(anna.contains("## Since the last time\n"), "{anna}");
    assert!(anna.contains(" of 2; it was 2 before.\n"), "{anna}");
    let compared = "Against the bots that both have met, this version made ";
    assert!(anna.contains(compared), "{anna}");
    let ben = page("ben");
    assert!(
        ben.contains("- The newest submission does not play; the version of "),
        "{ben}"
    );
    assert!(ben.contains("`hello`") && !ben.contains(compared), "{ben}");
    let fixes = ben.split("## Fix first").nth(1).unwrap_or_default();
    assert!(
        fixes
            .trim_start()
            .starts_with("### The newest submission does not play\n"),
        "{ben}"
    );
    // Where the teacher has the files is of no use to an author.
    assert!(!ben.contains("term/bots"), "{ben}");
    let games = teacher.0.read("pages/anna.html");
    assert!(games.contains("./bot.sh") && !games.contains("term/bots"));
    let cem = page("cem");
    assert!(!cem.contains("term/bots"), "{cem}");
    assert!(
        cem.contains("did not enter") && cem.contains("`hello`"),
        "{cem}"
    );
    // The same as a page.
    let cem = teacher.0.read("pages/cem.html");
    assert!(
        cem.contains("<code>hello</code>") && !cem.contains("term/bots"),
        "{cem}"
    );
    assert!(games.contains(" of 2; it was 2 before.</li>"));
}

#[test]
fn whoever_gets_another_name_has_one_bot() {
    let teacher = Teacher::of(&[("Anna Adams", RANDOM), ("ben", GREEDY)]);
    let update = |name: &str| {
        let list = format!("name,email,id\n{name},a@example.org,11\nben,,12\n");
        teacher.0.write("students.csv", &list);
        let from = ["--from", "submissions", "--students", "students.csv"];
        let run = teacher.league("term", &from).run();
        assert_eq!(run.code, Some(0), "{run}");
        run
    };
    update("Anna Adams");
    let old = teacher.path("submissions/Anna Adams");
    fs::rename(old, teacher.path("submissions/Anna Miller")).expect("a folder");
    let run = update("Anna Miller");
    assert!(!run.stderr.contains("not in the list"), "{run}");
    let names: Vec<String> = teacher
        .csv("term")
        .iter()
        .map(|row| row[0].clone())
        .collect();
    assert_eq!(names, ["Anna Miller", "ben"]);
}

#[test]
fn who_plays_with_an_older_version_is_said_to() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY)]);
    teacher.update("term");
    teacher.hand_in("ben", WRONG);
    let page = [
        "--from",
        "submissions",
        "--report",
        "page.html",
        "--zone",
        "Asia/Kolkata",
    ];
    let run = teacher.league("term", &page).run();
    assert!(run.stderr.contains("\nunfit  ben  "), "{run}");
    let (_, version) = run
        .stderr
        .split_once("  the version of ")
        .expect("what plays");
    let (instant, _) = version.split_once(" plays; ").expect("it plays");
    assert_eq!(instant.len(), "2026-01-31 18:00 +05:30".len(), "{run}");
    assert!(instant.ends_with(" +05:30"), "{run}");
    assert_eq!(run.stderr.matches("page.html: ").count(), 1, "{run}");
}

#[test]
fn the_first_table_says_what_an_unfit_bot_wrote_to_stderr() {
    let crash = "#!/bin/sh\necho 'IndexError: list index out of range' >&2\nexit 1\n";
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", crash), ("cem", GREEDY)]);
    let run = teacher.update("term");
    let rows = run
        .stderr
        .split_once("\nunfit  ben  ")
        .map(|(_, rows)| rows);
    let said = rows.is_some_and(|rows| rows.contains(" IndexError: list index out of range;"));
    assert!(said, "{run}");
}

#[test]
fn a_deadline_before_everything_is_refused() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY)]);
    teacher.update("term");
    let run = teacher.league("term", &["--deadline", "2020-01-31"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    let expected = "nothing was handed in before 2020-01-31T23:59:59+00:00";
    assert!(run.stderr.contains(expected), "{run}");
}

#[test]
fn an_analysis_is_that_of_the_version_that_plays() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY), ("cem", RANDOM)]);
    let analysed = [
        "--from",
        "submissions",
        "--analyse",
        "--time-per-move",
        "1ms",
    ];
    let update = |more: &[&str]| {
        let run = teacher.league("term", more).run();
        assert_eq!(run.code, Some(0), "{run}");
    };
    let ids_and_turns = |file: &str| -> Vec<(Value, Value)> {
        let text = teacher.0.read(&format!("term/{file}.jsonl"));
        let records = common::records(&text).into_iter();
        records
            .map(|game| (game["id"].clone(), game["turns"].clone()))
            .collect()
    };
    update(&analysed);
    teacher.hand_in("anna", &format!("{GREEDY}# 2\n"));
    // That games are analysed is remembered.
    update(&["--from", "submissions"]);
    assert_eq!(ids_and_turns("analysis"), ids_and_turns("games"));
}

#[test]
fn a_page_to_hand_out_has_the_blunders_of_an_analysis() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY)]);
    let class = &teacher.0;
    teacher.update("term");
    class.run(&["report", "term", "--each", "before"]);
    let before = class.read("before/anna.md");
    assert!(before.contains("the games were not analysed"), "{before}");
    let run = teacher.league("term", &["--analyse"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    class.run(&["report", "term", "--each", "pages"]);
    let anna = class.read("pages/anna.md");
    assert!(anna.contains("\n2 games: "), "{anna}");
    assert!(anna.contains(" that made the result worse\n"), "{anna}");
    let page = class.read("pages/anna.html");
    assert!(page.contains("<img class=\"board\"") && page.contains("<h2>Fix first</h2>"));
    // Its own turn once more, asked as in the game.
    assert!(anna.contains("The same question once more"), "{anna}");
    class.run(&["report", "term", "-o", "page.html"]);
    assert!(
        class.read("page.html").contains("blunder\""),
        "no blunder on the page"
    );
}

/// Of a table: the rows of this name's bots, by name.
fn rows_of<'a>(rows: &'a [Vec<String>], name: &str) -> Vec<&'a Vec<String>> {
    rows.iter().filter(|row| row[0].starts_with(name)).collect()
}

#[test]
fn two_people_of_one_name_are_two_bots() {
    let own = |name: &str| format!("{RANDOM}# {name}\n");
    let (first, second) = (own("first"), own("second"));
    let download = [
        ("Jan Jones_1000010", &*first),
        ("Jan Jones_1000011", &*second),
        ("Ben Brown_1000012", GREEDY),
    ];
    let list = "name,id\nJan Jones,1000010\nJan Jones,1000011\nBen Brown,1000012\n";
    let other_ids =
        "name,id,email\nJan Jones,s10,a@x.org\nJan Jones,s11,b@x.org\nBen Brown,s12,c@x.org\n";
    // With the list from the first week on, later, and one with ids that are not the download's numbers.
    for (list, week) in [(list, 0), (list, 1), (other_ids, 0), (other_ids, 1)] {
        let teacher = Teacher::of(&[]);
        teacher.0.write("list.csv", list);
        let mut previous = None;
        for now in 0..3 {
            let students = ["--students", "list.csv"];
            let more = if now == week { &students[..] } else { &[] };
            previous = Some(teacher.moodle(&download, more));
        }
        let (run, rows) = previous.expect("three weeks");
        let of_jan = rows_of(&rows, "Jan Jones");
        let playing: Vec<_> = of_jan.iter().filter(|row| !row[1].is_empty()).collect();
        assert_eq!(playing.len(), 2, "{rows:?} {run}");
        assert!(playing[0][1] != playing[1][1], "{rows:?}");
        assert!(playing.iter().all(|row| row[4] == "1"), "{rows:?}");
        assert!(!run.stderr.contains("\nmissing"), "{run}");
        assert_eq!(run.last_line(), "0 new games, 6 kept");
    }
}

#[test]
fn who_hands_in_is_told_from_a_namesake_who_does_not() {
    let teacher = Teacher::of(&[]);
    teacher.0.write(
        "list.csv",
        "name,id\nJan Jones,1000010\nJan Jones,1000011\nBen Brown,1000012\n",
    );
    let download = [("Jan Jones_1000011", RANDOM), ("Ben Brown_1000012", GREEDY)];
    let (run, _) = teacher.moodle(&download, &["--students", "list.csv"]);
    let missing = "\nmissing  Jan Jones (1000010)  nothing was handed in";
    assert!(run.stderr.contains(missing), "{run}");
}

#[test]
fn who_cannot_be_told_is_asked_about_with_the_lines_that_decide() {
    let own = |name: &str| format!("{RANDOM}# {name}\n");
    let (first, second) = (own("first"), own("second"));
    let download = [
        ("Jan Jones_1000010", &*first),
        ("Jan Jones_1000011", &*second),
        ("Ben Brown_1000012", GREEDY),
    ];
    let teacher = Teacher::of(&[]);
    let list = "name,id\nJan Jones,s10\nJan Jones,s11\nBen Brown,s12\n";
    teacher.0.write("list.csv", list);
    let (run, _) = teacher.moodle(&download, &["--students", "list.csv"]);
    for line in [
        "\nunclear  Jan Jones (1000010), Jan Jones (1000011)  ",
        "name,id,submission\n",
        "Jan Jones,s10,1000010\n",
        "Jan Jones,s11,1000011\n",
    ] {
        assert!(run.stderr.contains(line), "{line}: {run}");
    }
    for word in ["\nmissing", "\nunknown"] {
        assert!(!run.stderr.contains(word), "{word}: {run}");
    }
    // The other way round, by the list that is then as it was.
    teacher.0.write(
        "list.csv",
        "name,id,submission\nJan Jones,s10,1000011\nJan Jones,s11,1000010\nBen Brown,s12,\n",
    );
    let (run, rows) = teacher.moodle(&download, &["--students", "list.csv"]);
    assert!(!run.stderr.contains("unclear"), "{run}");
    let people = teacher.0.read("term/people.csv");
    for row in [
        "Jan Jones,s10,,,1000011,list,Jan Jones (s10)\n",
        "Ben Brown,s12,,,1000012,name,Ben Brown\n",
    ] {
        assert!(people.contains(row), "{row}: {people}");
    }
    teacher.0.write("list.csv", list);
    let (run, same) = teacher.moodle(&download, &["--students", "list.csv"]);
    assert_eq!(rows, same, "{run}");
    assert_eq!(run.last_line(), "0 new games, 6 kept");
}

/// However an accent is written, it is the same letter, and not the letter without it.
#[test]
fn composed_and_decomposed_names_are_one() {
    let teacher = Teacher::of(&[("Rene\u{301}", RANDOM), ("Ben Brown", GREEDY)]);
    teacher.0.write(
        "list.csv",
        "name,email\nRené,rene.1@x.org\nRene,rene.2@x.org\nBen Brown,ben@x.org\n",
    );
    let with_list = ["--from", "submissions", "--students", "list.csv"];
    for written in ["Rene\u{301}", "René"] {
        let run = teacher.league("term", &with_list).run();
        assert_eq!(run.code, Some(0), "{run}");
        let people = teacher.0.read("term/people.csv");
        for row in [
            "\nRené,,rene.1@x.org,,René,name,René\n",
            "\nRene,,rene.2@x.org,,,,Rene\n",
        ] {
            assert!(people.contains(row), "{written:?}: {row}: {people}");
        }
        // From another system, with the next download.
        fs::remove_dir_all(teacher.path("submissions")).expect("a folder");
        teacher.hand_in("René", RANDOM);
        teacher.hand_in("Ben Brown", GREEDY);
    }
    // In the list, too, and for a league without one.
    let decomposed = "name,email\nRene\u{301},rene.1@x.org\nBen Brown,ben@x.org\n";
    teacher.0.write("list.csv", decomposed);
    let run = teacher.league("other", &with_list).run();
    assert_eq!(run.code, Some(0), "{run}");
    let people = teacher.0.read("other/people.csv");
    let row = "\nRené,,rene.1@x.org,,René,name,René\n";
    assert!(people.contains(row), "{people}");
}

/// A referee that was killed had moved the games of the new plan into place, and not yet the plan.
#[test]
fn a_plan_that_was_being_moved_counts() {
    let changed = format!("{RANDOM}# 2\n");
    let weeks = [
        [
            ("Anna Adams_1", RANDOM),
            ("Ben Brown_2", GREEDY),
            ("Cem Can_3", RANDOM),
        ],
        [
            ("Anna Baker_1", RANDOM),
            ("Ben Brown_2", GREEDY),
            ("Cem Can_3", &*changed),
        ],
    ];
    let [killed, quiet] = [true, false].map(|is_killed| {
        let teacher = Teacher::of(&[]);
        teacher.moodle(&weeks[0], &[]);
        if is_killed {
            let old = teacher.0.read("term/plan.json");
            teacher.moodle(&weeks[1], &["--plan"]);
            fs::create_dir(teacher.path("term/.ready")).expect("a folder");
            let [plan, new] = ["term/plan.json", "term/.ready/plan.json"];
            fs::rename(teacher.path(plan), teacher.path(new)).expect("the plan");
            teacher.0.write(plan, &old);
        }
        let (run, _) = teacher.moodle(&weeks[1], &[]);
        assert_eq!(run.last_line(), "4 new games, 2 kept", "{run}");
        (teacher.games("term"), teacher.0.read("term/standings.csv"))
    });
    assert_eq!(killed, quiet);
}

/// Moodle's archives lose the permission to execute, and so do programs that unpack what others have packed.
#[test]
fn a_lost_permission_makes_no_new_version() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY)]);
    for (mode, told) in [
        (0o755, "2 new games, 0 kept"),
        (0o644, "0 new games, 2 kept"),
    ] {
        for name in ["anna", "ben"] {
            let program = teacher.path(&format!("submissions/{name}/bot.sh"));
            fs::set_permissions(program, Permissions::from_mode(mode)).expect("its mode");
        }
        let run = teacher.update("term");
        assert_eq!(run.last_line(), told, "{run}");
    }
}

/// What systems and editors leave in a folder of the download is not what was submitted.
#[test]
fn leftovers_make_no_submission_late() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY)]);
    // Noon of the ninth of January 2026.
    let january = SystemTime::UNIX_EPOCH + Duration::from_hours(491_100);
    for name in ["anna", "ben"] {
        let file = File::options()
            .append(true)
            .open(teacher.path(&format!("submissions/{name}/bot.sh")));
        let file = file.expect("the program");
        file.set_modified(january).expect("its time");
    }
    for name in [".DS_Store", ".bot.sh.swp", "run.log", "__pycache__/bot.pyc"] {
        teacher.0.write(&format!("submissions/anna/{name}"), "left");
    }
    let options = ["--from", "submissions", "--deadline", "2026-01-10"];
    let run = teacher.league("term", &options).run();
    assert_eq!(run.code, Some(0), "{run}");
    for row in teacher.csv("term") {
        assert_eq!(row[3], "2026-01-09T12:00:00Z", "{run}");
        assert!(!row[1].is_empty() && row[8].is_empty(), "{run}");
    }
}

#[test]
fn a_deadline_is_remembered_and_hours_late_are_counted() {
    let teacher = Teacher::of(&[
        ("anna_20260131_1100", RANDOM),
        ("ben_20260131_1331", GREEDY),
        ("cem_20260131_1200", RANDOM),
    ]);
    let update = |more: &[&str]| {
        let run = teacher
            .league("term", &[&["--from", "submissions"], more].concat())
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        let rows = teacher.csv("term");
        let ben = rows.into_iter().find(|row| row[0] == "ben").expect("ben");
        (run, !ben[1].is_empty(), ben[8].clone())
    };
    for more in [&["--deadline", "2026-01-31T12:00Z"][..], &[]] {
        let (run, plays, late) = update(more);
        assert!(!plays && late == "2", "{run}");
        let words = "  it was handed in too late: at 2026-01-31T13:31:00+00:00, after 2026-01-31T12:00:00+00:00";
        assert!(run.stderr.contains("\nlate "), "{run}");
        assert!(run.stderr.contains(words), "{run}");
    }
    let set = ["set", "deadline", "2026-01-31T12:00:00+00:00"];
    assert_eq!(teacher.decided(), set);
    update(&["--deadline", "2026-01-31T12:00Z"]);
    assert_eq!(teacher.0.read("term/log.jsonl").lines().count(), 1);
    for more in [&["--accept-late", "2h"][..], &[]] {
        let (run, plays, late) = update(more);
        assert!(plays && late == "2", "{run}");
        let words = "  handed in 2 hours late: the deadline was 2026-01-31T12:00:00+00:00\n";
        assert!(run.stderr.contains(words), "{run}");
    }
    let (run, plays, late) = update(&["--deadline", "none"]);
    assert!(plays && late.is_empty(), "{run}");
    assert_eq!(teacher.decided(), ["set", "deadline", "none"]);
    let run = teacher.league("term", &["--accept-late", "2h"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("there is no deadline"), "{run}");
}

#[test]
fn why_a_bot_does_not_play_stands_whole_in_the_terminal() {
    let long = "x".repeat(70);
    let wrong = format!("#!/bin/sh\nwhile read -r line; do echo {long} {long}; done\n");
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY), ("cem", &wrong)]);
    let run = teacher.update("term");
    let from = run.stderr.find("\nwhat ").expect("what needs attention");
    let words: Vec<&str> = run.stderr[from..].split_whitespace().collect();
    let whole = teacher.csv("term")[2][5].clone();
    let problem: Vec<&str> = whole.split_whitespace().collect();
    assert!(problem.len() > 20, "{problem:?}");
    let is_whole = words.windows(problem.len()).any(|part| part == problem);
    assert!(is_whole, "{problem:?} {run}");
    // The command works where the teacher stands.
    let (_, again) = whole.split_once("; See it again: ").expect("a command");
    let output = common::command("sh")
        .args(["-c", again])
        .current_dir(teacher.path(""))
        .output()
        .expect("sh starts");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(shown, format!("{long} {long}\n"), "{whole}");
}
