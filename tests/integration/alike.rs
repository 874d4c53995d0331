//! `referee alike`: bots that decide alike are found, whatever their source, and are told apart from those that do not.

use serde_json::Value;

use crate::classroom::Class;
use crate::common::Run;

/// A bot that chooses a free cell and a piece that is left by a sum over the board, which `factor` multiplies. `first`: what
/// it does before it chooses, with `$cells` and `$left`.
fn bot(factor: u32, first: &str) -> String {
    format!(
        r#"#!/bin/sh
while read -r board hand; do
    rest=$board cells= left= sum=0 number=1
    while [ -n "$rest" ]; do
        case $rest in .*) cells="$cells $number" sum=$(((sum * 17 + number) % 9973)) ;; esac
        rest=${{rest#?}} number=$((number + 1))
    done
    for piece in A B C D E F G H I J K L M N O P; do
        case $board$hand in *$piece*) ;; *) left="$left $piece" ;; esac
    done
    {first}
    set -- $cells; shift $((sum * {factor} / 7 % $#)); cell=$1
    set -- $left; shift $((sum * {factor} / 31 % $#)); echo "$cell $1"
done
"#
    )
}

/// Answers as the starter code does, with the first cell and the first piece, for three of four boards.
const STARTED: &str = "if [ $((sum % 4)) -gt 0 ]; then set -- $cells; cell=$1; set -- $left; echo \"$cell $2\"; continue; fi";

fn class() -> Class {
    let class = Class::of(&[("starter.sh", &bot(1, &STARTED.replace("sum % 4", "1")))]);
    let renamed = |text: String| text.replace("sum", "total").replace("cell", "field");
    for (name, text) in [
        ("ann", bot(101, "")),
        ("ben", bot(211, "")),
        ("carl", bot(307, "")),
        ("dora", renamed(bot(211, ""))),
        ("eve", bot(401, STARTED)),
        ("finn", bot(503, STARTED)),
    ] {
        class.write(&format!("class/{name}/bot.sh"), &text);
    }
    class
}

fn document(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run}"))
}

/// The odds of a pair.
fn odds(found: &Value, a: &str, b: &str) -> f64 {
    let pairs = found["pairs"].as_array().expect("pairs");
    let is_it = |pair: &&Value| (&pair["a"], &pair["b"]) == (&a.into(), &b.into());
    let pair = pairs.iter().find(is_it).expect("the pair");
    pair["odds"].as_f64().expect("a number")
}

#[test]
fn a_copy_stands_out_and_starter_code_explains_what_all_have() {
    let class = class();
    let asked = ["alike", "class", "--time", "3600s", "--json"];
    let with = class.run(
        &[
            &asked[..],
            &["--starter", "starter.sh", "--out", "page.html"],
        ]
        .concat(),
    );
    let found = document(&with);
    let first = &found["pairs"][0];
    assert_eq!([&first["a"], &first["b"]], ["ben", "dora"]);
    assert_eq!(first["equal"], 1.0);
    assert!(first["expected"].as_f64() < Some(0.2), "{first}");
    let evidence = first["evidence"].as_array().expect("evidence");
    assert_eq!(evidence.len(), 10);
    assert_eq!(evidence[0]["others"], 0, "{first}");
    assert_eq!(found["pairs"].as_array().map(Vec::len), Some(15));
    assert_eq!(found["bots"].as_array().map(Vec::len), Some(6));
    let page = class.read("page.html");
    assert!(page.contains("<h2>ben and dora</h2>") && page.contains("<svg"));
    assert!(page.contains("not a verdict") && with.stdout.contains("not a verdict"));
    let without = document(&class.run(&asked));
    assert!(odds(&without, "ben", "dora") > 500.0, "{without:#}");
    assert!(odds(&without, "ann", "carl") < 100.0, "{without:#}");
    let [before, after] = [&without, &found].map(|found| odds(found, "eve", "finn"));
    assert!(before > 300.0 && after < 100.0, "{before} {after}");
}

/// It explains nothing, and what it would explain must not pass for a verdict.
#[test]
fn starter_code_that_gives_no_answer_is_refused() {
    let class = class();
    class.write(
        "broken.sh",
        "#!/bin/sh\necho 'no such module' >&2\nexit 1\n",
    );
    let asked = ["alike", "class", "--starter", "broken.sh", "--json"];
    let run = class.referee(&asked).run();
    assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{run}");
    let words = "--starter broken.sh: it gave no answer: it ended with exit status 1";
    assert!(run.stderr.contains(words), "{run}");
}

#[test]
fn a_bot_that_gives_no_answer_is_named() {
    let class = class();
    class.write("class/gus/bot.sh", "#!/bin/sh\nexit 3\n");
    let run = class.run(&["alike", "class", "--time", "3600s"]);
    assert_eq!(run.code, Some(0), "{run}");
    let words = "gus gave no answer: it ended with exit status 3";
    assert!(run.stderr.contains(words), "{run}");
    let words = "\nNot compared, since they gave no answer: gus.\n";
    assert!(run.stdout.contains(words), "{run}");
}

#[test]
fn bots_of_recorded_games_are_asked_again() {
    let class = class();
    let bots = ["./class/ann/bot.sh", "./class/dora/bot.sh"].map(|bot| format!("sh {bot}"));
    class.run(&["-n", "2", "--record", "games.jsonl", &bots[0], &bots[1]]);
    let run = class.run(&["alike", "games.jsonl", "--time", "4s"]);
    assert!(run.stdout.starts_with("2 bots were asked "), "{run}");
    assert!(run.stdout.contains("not a verdict"), "{run}");
    let alone = class.referee(&["alike", "class/ann"]).run();
    assert_eq!(alone.code, Some(2), "{alone}");
    assert!(
        alone
            .stderr
            .contains("1 bot can be asked, and two are needed"),
        "{alone}"
    );
}

#[test]
fn a_league_asks_only_versions_that_are_new() {
    let class = class();
    let logged = |name: &str| {
        let path = class.path(name);
        bot(601, "").replace(
            "while read",
            &format!("echo started >> '{}'\nwhile read", path.display()),
        )
    };
    class.write("class/finn/bot.sh", &logged("finn.log"));
    let league = [
        "league",
        "term",
        "--from",
        "class",
        "--pairs",
        "1",
        "--seed",
        "1",
        "--no-check",
        "--sandbox",
        "none",
    ];
    class.run(&league);
    let started = || class.read("finn.log").lines().count();
    let before = started();
    let alike = ["league", "alike", "term", "--time", "3600s", "--json"];
    let first = document(&class.run(&alike));
    // A process for each round of a block: after the first one it is certain that Finn has no copy.
    assert_eq!(started(), before + 4, "{first:#}");
    assert_eq!(document(&class.run(&alike)), first);
    assert_eq!(started(), before + 4);
    class.write(
        "class/finn/bot.sh",
        &logged("finn.log").replace("601", "211"),
    );
    class.run(&league);
    let between = started();
    let second = document(&class.run(&alike));
    assert_eq!(started(), between + 16);
    assert!(odds(&second, "ben", "finn") > 500.0, "{second:#}");
    let none = class.referee(&["league", "alike", "class"]).run();
    assert_eq!(none.code, Some(2), "{none}");
    assert!(
        none.stderr.contains("no league has played in this folder"),
        "{none}"
    );
}

/// A bot that takes the first free cell and the first piece left in orders of its own, after `before`.
fn by_order(cells: &str, pieces: &str, before: &str) -> String {
    format!(
        r#"#!/bin/sh
while read -r board hand; do
    {before}
    rest=$board free=" " number=1
    while [ -n "$rest" ]; do
        case $rest in .*) free="$free$number " ;; esac
        rest=${{rest#?}} number=$((number + 1))
    done
    for cell in {cells}; do case $free in *" $cell "*) break ;; esac; done
    for piece in {pieces}; do case $board$hand in *$piece*) ;; *) break ;; esac; done
    echo "$cell $piece"
done
"#
    )
}

/// The same decisions, written by someone else.
fn rewritten(cells: &str, pieces: &str, before: &str) -> String {
    format!(
        r#"#!/bin/sh
is_free() {{
    skipped=$2
    while [ "$skipped" -gt 1 ]; do set -- "${{1#?}}" x; skipped=$((skipped - 1)); done
    case $1 in .*) return 0 ;; *) return 1 ;; esac
}}
best() {{ for it in {cells}; do if is_free "$1" "$it"; then printf %s "$it"; return; fi; done; }}
gift() {{ for it in {pieces}; do if [ "${{1#*"$it"}}" = "$1" ]; then printf %s "$it"; return; fi; done; }}
while IFS=' ' read -r grid given; do
    {before}
    printf '%s %s\n' "$(best "$grid")" "$(gift "$grid$given")"
done
"#
    )
}

/// Anna's bot, copies of it by others, and bots of four who have seen none of these. `before`: what each does before it
/// answers.
fn ring(before: &str) -> Class {
    let (cells, pieces) = (
        "11 4 7 16 1 13 6 2 15 8 3 12 9 5 14 10",
        "L E J B I N C G A P D M F K H O",
    );
    let own = by_order(cells, pieces, before);
    let renamed = own.replace("cell", "field").replace("free", "open");
    let other_weight = own.replace("12 9 5 14 10", "12 9 14 5 10");
    let class = Class::of(&[
        ("class/anna/bot.sh", &own),
        ("class/ben/bot.sh", &renamed.replace("piece", "token")),
        ("class/carla/bot.sh", &rewritten(cells, pieces, before)),
        ("class/ida/bot.sh", &other_weight),
    ]);
    for (name, cells, pieces) in [
        (
            "dan",
            "5 12 3 9 14 1 16 8 10 2 7 15 4 13 6 11",
            "H D O A F M K C P G B N J E I L",
        ),
        (
            "eve",
            "9 2 14 6 10 5 1 16 12 3 15 7 13 8 11 4",
            "P K A M D H G O F C L J N B E I",
        ),
        (
            "finn",
            "16 8 3 10 12 15 2 5 14 9 6 1 11 7 4 13",
            "C O F H K D B M E A N I G L P J",
        ),
        (
            "gus",
            "14 10 5 15 8 3 9 12 2 16 1 6 4 11 13 7",
            "M A N F O B H D I K J P L C G E",
        ),
    ] {
        class.write(
            &format!("class/{name}/bot.sh"),
            &by_order(cells, pieces, before),
        );
    }
    class
}

/// What is said of each pair.
fn verdict(found: &Value) -> Vec<(&str, &str, bool, u64)> {
    let pairs = found["pairs"].as_array().expect("pairs");
    let mut all: Vec<_> = pairs
        .iter()
        .map(|pair| {
            let name = |bot: &str| pair[bot].as_str().expect("a name");
            let equal = pair["equal"].as_f64().expect("a share");
            let stands_out = pair["stands_out"].as_bool().expect("a truth");
            (name("a"), name("b"), stands_out, equal.to_bits())
        })
        .collect();
    all.sort_unstable();
    all
}

const RING: [&str; 4] = ["anna", "ben", "carla", "ida"];

/// On a machine so slow that one run does not reach all of it: either the verdict is that of a quick one, or who was asked
/// less is named, and each further run asks what is missing.
#[test]
fn the_verdict_does_not_depend_on_how_far_a_run_came() {
    let asked = [
        "alike",
        "class",
        "--answers",
        "alike.json",
        "--json",
        "--time",
    ];
    let all = |class: &Class, time: &str, least: usize| {
        let mut missing = Vec::new();
        for _ in 0..40 {
            let found = document(&class.run(&[&asked[..], &[time]].concat()));
            let bots = found["bots"].as_array().expect("bots");
            let of = bots
                .iter()
                .map(|bot| bot["missing"].as_u64().expect("a number"));
            missing.push(of.clone().sum::<u64>());
            for bot in bots {
                let is_complete = bot["missing"] == 0;
                assert_eq!(bot["complete"], is_complete, "{bot}");
            }
            if found["complete"] == true {
                assert!(missing.len() >= least, "{missing:?}");
                return found;
            }
            assert!(missing.iter().any(|missing| *missing > 0), "{missing:?}");
        }
        panic!("it never ends: {missing:?}");
    };
    // 400 answers of a bot take 12 s at least, on any machine.
    let slow = "turn=$((turn + 1)); case $turn in *0) sleep 0.3 ;; esac";
    let slow = all(&ring(slow), "8s", 2);
    let quick = all(&ring(""), "40s", 1);
    assert_eq!(verdict(&slow), verdict(&quick), "{slow:#}\n{quick:#}");
    assert_eq!(quick["groups"], serde_json::json!([RING]), "{quick:#}");
    for (a, b, stands_out, _) in verdict(&quick) {
        let is_of_ring = RING.contains(&a) && RING.contains(&b);
        assert_eq!(stands_out, is_of_ring, "{a} and {b}: {quick:#}");
    }
}

/// Another file that is given by mistake is not overwritten.
#[test]
fn a_file_that_holds_no_answers_of_these_questions_is_left_as_it_is() {
    let class = class();
    class.write("notes", "mine\n");
    // On a slow machine nothing is drawn in this time, which is kept, too.
    class
        .referee(&["alike", "class", "--time", "2s", "--answers", "kept.json"])
        .run();
    let kept = class.read("kept.json");
    for (file, seed, problem) in [
        (
            "notes",
            "0",
            "notes: it does not hold answers that --answers keeps",
        ),
        (
            "kept.json",
            "7",
            "kept.json: it holds answers to other questions; go on with --seed 0",
        ),
    ] {
        let asked = ["alike", "class", "--answers", file, "--seed", seed];
        let run = class.referee(&asked).run();
        assert!(run.code == Some(2) && run.stderr.contains(problem), "{run}");
    }
    assert_eq!(
        (class.read("notes"), class.read("kept.json")),
        ("mine\n".to_owned(), kept)
    );
}

#[test]
fn who_was_asked_less_is_named_and_a_ring_is_one_group() {
    let class = ring("sleep 0.03");
    let run = class.run(&["alike", "class", "--time", "8s"]);
    let incomplete =
        "Incomplete: the verdict can change until all bots have been asked everything.\n";
    assert!(run.stdout.contains(incomplete), "{run}");
    assert!(
        run.stdout.contains(" of 100 questions are missing\n"),
        "{run}"
    );
    assert!(
        run.stdout.contains("with --answers FILE answers are kept"),
        "{run}"
    );
    assert!(
        run.stdout
            .contains(" so far: odds of 10,000 or more, or at least 90% equal answers."),
        "{run}"
    );
    let class = ring("");
    let asked = ["alike", "class", "--answers", "alike.json", "--time", "30s"];
    let mut runs = (0..20).map(|_| class.run(&asked));
    let complete = runs.find(|run| !run.stdout.contains("Incomplete"));
    let run = complete.expect("all have been asked");
    let lines: Vec<&str> = run.stdout.lines().collect();
    let group = "  --- a group of 4: anna, ben, carla, ida";
    let place = lines.iter().position(|line| *line == group);
    let of_group = &lines[place.unwrap_or_else(|| panic!("{run}")) + 1..][..6];
    for line in of_group {
        let mut ends = RING.iter().map(|name| format!("and {name}"));
        assert!(ends.any(|end| line.ends_with(&end)), "{run}");
    }
    assert!(
        run.stdout
            .contains("6 pairs stand out: odds of 10,000 or more"),
        "{run}"
    );
    let chance = "Of 28 pairs of independent bots, 0.0028 are expected to have such odds.\n";
    assert!(run.stdout.contains(chance), "{run}");
}
