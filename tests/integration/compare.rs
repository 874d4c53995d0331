//! `referee compare`: whether a new version of a bot is better, by a sequential test.

use std::fs;

use serde_json::Value;

use crate::classroom::{Class, GREEDY, RANDOM, WRONG};
use crate::common::schema::COMPARISON;
use crate::common::{Referee, Run};

/// Two versions and two others.
fn versions() -> Class {
    Class::of(&[
        ("new/bot.sh", GREEDY),
        ("old/bot.sh", RANDOM),
        ("wrong.sh", WRONG),
        (
            "pool/greedy.sh",
            "#!/bin/sh\nexec \"$REFEREE_BIN\" bot greedy #\n",
        ),
        (
            "pool/random.sh",
            "#!/bin/sh\nexec \"$REFEREE_BIN\" bot random #\n",
        ),
    ])
}

const OPTIONS: [&str; 6] = ["compare", "--sandbox", "none", "--seed", "7", "--jobs=1"];

fn referee(class: &Class, words: &[&str]) -> Referee {
    class.referee(&[&OPTIONS, words].concat())
}

fn compare(class: &Class, words: &[&str]) -> Run {
    referee(class, words).run()
}

/// What it prints with `--json`, held against the schema.
fn json(class: &Class, words: &[&str]) -> (Run, Value) {
    let run = compare(class, &[words, &["--json"]].concat());
    let printed: Value =
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}\n{run}"));
    COMPARISON.check(&printed);
    (run, printed)
}

#[test]
fn the_exit_status_is_the_answer() {
    let class = versions();
    let (new, old) = ("new/bot.sh", "old/bot.sh");
    for (words, code, verdict) in [
        (&[new, old][..], 0, "better"),
        (&[old, new], 3, "not-better"),
        (&["--margin", "-50", new, old], 0, "not-worse"),
        (&["--margin", "-50", old, new], 3, "worse"),
        (&["--pairs", "3", new, old], 4, "undecided"),
        (&["wrong.sh", old], 3, "unfit"),
    ] {
        let (run, printed) = json(&class, words);
        assert_eq!(run.code, Some(code), "{words:?}: {run}");
        assert_eq!(printed["verdict"], verdict, "{words:?}: {run}");
        assert_eq!(printed["seed"], 7);
    }
}

#[test]
fn what_is_said_before_and_after() {
    let run = compare(&versions(), &["new/bot.sh", "old/bot.sh"]);
    assert_eq!(run.code, Some(0), "{run}");
    for said in [
        "is NEW better? H0: it is not better; H1: it is better by 50 Elo; a wrong yes or no in at most 5% of cases",
        "at most 2000 comparisons, at most 10m, 1 game at a time, seed 7\n",
    ] {
        assert!(run.stderr.contains(said), "`{said}`: {run}");
    }
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(
        lines[0], "bot.sh (new) is better than bot.sh (old).",
        "{run}"
    );
    assert!(lines[1].starts_with("bot.sh (new) scores "), "{run}");
    assert!(lines[1].contains(", Elo difference "), "{run}");
    assert!(lines[2].ends_with(" s."), "{run}");
}

#[test]
fn others_are_played_by_both_from_the_same_openings() {
    let class = versions();
    let words = [
        "new/bot.sh",
        "old/bot.sh",
        "--pool",
        "pool",
        "--pairs",
        "6",
        "--all",
    ];
    let words = [&words[..], &["--out", "games"]].concat();
    let (run, printed) = json(&class, &words);
    assert_eq!(run.code, Some(4), "{run}");
    let opponents = printed["opponents"].as_array().expect("opponents");
    let names = opponents.iter().map(|bot| bot["name"].clone());
    let expected = ["bot.sh (old)", "greedy.sh", "random.sh"];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    assert_eq!(printed["comparisons"], 6);
    let games: u64 = opponents
        .iter()
        .filter_map(|bot| bot["games"].as_u64())
        .sum();
    assert_eq!(printed["games"], games);
    let direct = opponents[0]["games"].as_u64().expect("games") / 2;
    assert_eq!(games, 2 * direct + 4 * (6 - direct), "{run}");
    // Every pair of the old version with another is from the opening of the pair before it.
    let text = class.read("games/games.jsonl");
    let records = crate::common::records(&text);
    for pairs in records.chunks(2).collect::<Vec<_>>().windows(2) {
        if pairs[1][0]["bots"][0]["name"] == "bot.sh (old)" {
            assert_eq!(pairs[0][0]["start"], pairs[1][0]["start"]);
            assert_eq!(pairs[0][0]["bots"][1], pairs[1][0]["bots"][1]);
        }
    }
    // The same again counts what is there; the number of games does not change the figures.
    let (run, again) = json(&class, &words);
    assert!(run.stderr.contains("were played before"), "{run}");
    for field in ["opponents", "advantage", "verdict", "games"] {
        assert_eq!(again[field], printed[field], "{field}");
    }
    let other = compare(&class, &["old/bot.sh", "new/bot.sh", "--out", "games"]);
    assert_eq!(other.code, Some(2), "{other}");
    assert!(
        other.stderr.contains("another folder with --out"),
        "{other}"
    );
}

#[test]
fn jobs_change_no_figure() {
    let class = versions();
    let words = [
        "new/bot.sh",
        "builtin:greedy",
        "--pool",
        "pool",
        "--pairs",
        "12",
    ];
    let [one, four] = ["1", "4"].map(|jobs| {
        let run = class.referee(&["compare", "--sandbox", "none", "--seed", "3", "--json"]);
        let run = run.args(words).args(["--jobs", jobs]).run();
        let mut printed: Value = serde_json::from_str(&run.stdout).expect("JSON");
        printed["seconds"].take();
        printed
    });
    assert_eq!(one, four);
}

#[test]
fn markdown_is_for_a_pull_request() {
    let class = Class::of(&[("a_*b*|@c.sh", GREEDY), ("old.sh", RANDOM)]);
    let run = compare(&class, &["./a_*b*|@c.sh", "old.sh", "--markdown", "-"]);
    assert_eq!(run.code, Some(0), "{run}");
    let title = "### a&#95;&#42;b&#42;&#124;&#64;c.sh is better than old.sh.\n";
    assert!(run.stdout.starts_with(title), "{run}");
    assert!(
        run.stdout.contains("\n| opponent | share | games |"),
        "{run}"
    );
    let run = compare(
        &class,
        &["old.sh", "./a_*b*|@c.sh", "--markdown", "c.md", "--json"],
    );
    assert_eq!(run.code, Some(3), "{run}");
    assert!(
        class
            .read("c.md")
            .starts_with("### old.sh is not better than ")
    );
}

#[test]
fn time_is_limited() {
    let folder = tempfile::tempdir().expect("a folder");
    let asked = folder.path().join("asked");
    let sleeps = format!(
        "#!/bin/sh\nwhile read -r line; do echo >>'{}'; sleep 1; echo x; done\n",
        asked.display()
    );
    let class = Class::of(&[("slow.sh", &sleeps), ("old.sh", RANDOM)]);
    for check in [&["--no-check"][..], &[]] {
        let words = [&["slow.sh", "old.sh", "--time", "500ms"], check].concat();
        let (run, printed) = json(&class, &words);
        assert_eq!(run.code, Some(4), "{run}");
        assert_eq!(printed["ended"], "budget", "{run}");
    }
    // Counted, not timed: on a busy machine it is asked less.
    let asked = fs::read_to_string(asked).expect("it was asked");
    assert!(asked.lines().count() < 40, "{asked}");
}

#[test]
fn an_interrupted_comparison_says_what_is_known() {
    let class = versions();
    let words = [
        "old/bot.sh",
        "pool/random.sh",
        "--all",
        "--out",
        "games",
        "--time",
        "none",
    ];
    let mut running = referee(&class, &[&words[..], &["--pairs", "3000"]].concat()).start();
    let games = class.path("games/games.jsonl");
    running.wait_until(|_| fs::read_to_string(&games).is_ok_and(|text| text.lines().count() > 20));
    running.signal("INT");
    let run = running.finish();
    assert_eq!(run.code, Some(130), "{run}");
    assert!(run.stdout.contains("; then it was interrupted."), "{run}");
    assert!(run.stdout.contains("\nbot.sh scores "), "{run}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let class = versions();
    for (words, said) in [
        (&["new/bot.sh"][..], "required arguments"),
        (&["new/bot.sh", "none.sh"], "there is no such file"),
        (
            &["pool", "old/bot.sh"],
            "there are several programs in this folder: greedy.sh, random.sh",
        ),
        (
            &["new/bot.sh", "wrong.sh"],
            "with which NEW is compared, cannot play: ",
        ),
        (&["new/bot.sh", "human"], "people do not enter"),
        (
            &["new/bot.sh", "old/bot.sh", "--pool", "nowhere"],
            "there is no such file",
        ),
        (
            &["new/bot.sh", "old/bot.sh", "--margin", "0"],
            "the margin is 0 Elo",
        ),
        (
            &["new/bot.sh", "old/bot.sh", "--json", "--markdown", "-"],
            "give --markdown a file",
        ),
        (
            &["new/bot.sh", "old/bot.sh", "--markdown", "no/c.md"],
            "no/c.md",
        ),
        (
            &[
                "--game",
                concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bots/games/countdown.sh"),
                "--adjudicate",
                "new/bot.sh",
                "old/bot.sh",
            ],
            "--adjudicate needs a solver",
        ),
    ] {
        let run = compare(&class, words);
        assert_eq!(run.code, Some(2), "{words:?}: {run}");
        assert!(run.stderr.contains(said), "`{said}`: {run}");
        assert!(run.stdout.is_empty(), "{run}");
    }
}

#[test]
fn the_same_program_twice_is_said() {
    let class = versions();
    let run = compare(&class, &["new/bot.sh", "new/bot.sh", "--pairs", "2"]);
    assert_eq!(run.code, Some(4), "{run}");
    assert!(
        run.stderr
            .contains("are the same program, so neither is better"),
        "{run}"
    );
    let words = [
        "new/bot.sh",
        "old/bot.sh",
        "--pool",
        "old/bot.sh",
        "--pairs",
        "2",
    ];
    let run = compare(&class, &words);
    assert!(run.stderr.contains("is left out of the pool"), "{run}");
}

#[test]
fn few_openings_are_repeated() {
    let words = [
        "new/bot.sh",
        "old/bot.sh",
        "--opening-plies",
        "0",
        "--pairs",
        "2",
    ];
    let run = compare(&versions(), &words);
    let said = "only 1 opening for 2 comparisons";
    assert!(run.stderr.contains(said), "{run}");
    let words = ["new/bot.sh", "old/bot.sh", "--pairs", "2"];
    let run = compare(&versions(), &words);
    assert!(!run.stderr.contains("warning: only"), "{run}");
}

/// A file for Markdown keeps what is in it until there is a result.
#[test]
fn a_failure_leaves_the_file_for_markdown_alone() {
    let class = versions();
    class.write("c.md", "kept");
    let run = compare(&class, &["new/bot.sh", "wrong.sh", "--markdown", "c.md"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert_eq!(class.read("c.md"), "kept");
}

#[test]
fn a_bot_of_the_pool_that_failed_its_check_stays_out() {
    let class = versions();
    class.write("pool/wrong.sh", WRONG);
    let words = ["new/bot.sh", "old/bot.sh", "--pool", "pool"];
    let words = [&words[..], &["--pairs", "2", "--all", "--out", "games"]].concat();
    let (run, first) = json(&class, &words);
    assert!(
        run.stderr.contains("wrong.sh is left out of the pool"),
        "{run}"
    );
    let (run, again) = json(&class, &words);
    assert!(run.stderr.contains("were played before"), "{run}");
    assert_eq!(again["opponents"], first["opponents"]);
}
