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
    let asked = ["alike", "class", "--time", "50s", "--json"];
    let with = class.run(
        &[
            &asked[..],
            &["--starter", "starter.sh", "--html", "page.html"],
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
    let alike = ["league", "alike", "term", "--time", "50s", "--json"];
    let first = document(&class.run(&alike));
    assert_eq!(started(), before + 4);
    assert_eq!(document(&class.run(&alike)), first);
    assert_eq!(started(), before + 4);
    class.write(
        "class/finn/bot.sh",
        &logged("finn.log").replace("601", "211"),
    );
    class.run(&league);
    let between = started();
    let second = document(&class.run(&alike));
    assert_eq!(started(), between + 4);
    assert!(odds(&second, "ben", "finn") > 500.0, "{second:#}");
    let none = class.referee(&["league", "alike", "class"]).run();
    assert_eq!(none.code, Some(2), "{none}");
    assert!(
        none.stderr.contains("no league has played in this folder"),
        "{none}"
    );
}
