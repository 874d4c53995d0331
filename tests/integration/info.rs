//! What bots say of their thinking, in lines on stderr that begin with `info`.

use serde_json::Value;

use crate::common::{RECORDS, Referee};

/// Ten thousand turns of bots that say, before each answer, which one it is: each stands with its own turn.
#[test]
fn what_was_written_before_an_answer_belongs_to_its_turn() {
    let bots = ["./thinks-aloud.sh", "./thinks-aloud.sh"];
    let run = Referee::new(["--seed", "3", "-n", "2100"])
        .args(bots)
        .recorded()
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let (mut answers, mut turns) = ([0, 0], 0);
    for record in run.records() {
        let made = record["turns"].as_array().expect("turns");
        let info = record["info"].as_array().expect("what was said");
        assert_eq!(info.len(), made.len(), "{record}");
        let first = usize::from(record["first"] == 1);
        for (number, (turn, said)) in made.iter().zip(info).enumerate() {
            let bot = (first + number) % 2;
            answers[bot] += 1;
            assert_eq!(said["turn"], number + 1, "{record}");
            assert_eq!(said["answers"], answers[bot], "{record}");
            let cell = turn.as_str().and_then(|turn| turn.split(' ').next());
            let said = match &said["cell"] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            assert_eq!(Some(&*said), cell, "{record}");
        }
        turns += made.len();
    }
    assert!(turns >= 10_000, "{turns}");
}

#[test]
fn it_is_shown_with_its_turn() {
    let match_of = |more: &[&str]| {
        Referee::new(["--seed", "3", "./thinks-aloud.sh", "builtin:random"])
            .args(more)
            .recorded()
            .run()
    };
    let run = match_of(&["-v"]);
    let line = "thinks-aloud.sh: depth 2, answers 1, cell 1: first <free> cell\n";
    assert!(run.stdout.contains(line), "{run}");
    assert!(
        run.stderr.contains("thinks-aloud.sh| something else"),
        "{run}"
    );
    assert!(!run.stderr.contains("info depth"), "{run}");
    let replayed = Referee::new(["replay", RECORDS])
        .directory(run.scratch())
        .run();
    assert!(replayed.stdout.contains(line), "{replayed}");
    assert!(!match_of(&[]).stdout.contains("depth"));
}

/// The thought before a fault is often the one to read.
#[test]
fn a_turn_that_was_forfeited_has_it_too() {
    let bot = "sh -c 'read -r line; echo info depth 3 >&2; echo nonsense'";
    let run = Referee::new(["--seed", "3", "--first", "1", bot, "builtin:random"])
        .recorded()
        .run();
    let record = &run.records()[0];
    assert_eq!(record["result"]["reason"], "malformed", "{run}");
    assert_eq!(record["info"], serde_json::json!([{"turn": 1, "depth": 3}]));
}

#[test]
fn hostile_lines_stay_small_and_safe_to_print() {
    for line in [
        "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo >&2",
        "i=0; while [ $i -lt 3000 ]; do printf 'info n%s %s ' $i $i >&2; i=$((i+1)); done; echo >&2",
        "printf 'info string <script>alert(1)</script> \\033[31m\\302\\205\\377\\n' >&2",
        "printf 'info score nan depth 1e999 turn 7 \\033 3 constructor 1 __proto__ 2\\n' >&2",
        "printf 'info string %03000d\\n' 7 >&2",
    ] {
        let bot = format!(
            "sh -c \"while read -r line; do {line}; echo \\\"\\$line\\\" | \\\"\\$REFEREE_BIN\\\" bot random; done\""
        );
        let run = Referee::new(["--seed", "3", &bot, "builtin:random"])
            .recorded()
            .run();
        let record = &run.records()[0];
        assert_eq!(record["result"].get("by"), None, "{run}");
        for said in record["info"].as_array().into_iter().flatten() {
            let said = said.as_object().expect("names and values");
            assert!(said.len() <= 17, "{said:?}");
            let text = serde_json::to_string(said).expect("JSON");
            assert!(text.len() < 700 && !text.contains('\u{1b}'), "{text}");
        }
    }
}

/// A bot that speaks once its opponent has been asked, and an opponent that answers once it has spoken.
#[test]
fn what_was_written_after_an_answer_belongs_to_no_turn() {
    let lib = include_str!("../bots/lib.sh");
    let folder = tempfile::tempdir().expect("a folder");
    let wait = |file: &str| format!("until [ -e \"$place/{file}$n\" ]; do sleep 0.01; done");
    let (asked, said) = (wait("asked"), wait("said"));
    let speaks = "echo info late $n >&2; : > \"$place/said$n\"";
    let bots = [
        ("speaker.sh", format!("answer \"$line\"; {asked}; {speaks}")),
        (
            "listener.sh",
            format!(": > \"$place/asked$n\"; {said}; answer \"$line\""),
        ),
    ];
    let bots = bots.map(|(name, turn)| {
        let path = folder.path().join(name);
        let text = format!(
            "#!/bin/sh\n{lib}\nplace=${{0%/*}}\nwhile read -r line; do n=$((n + 1)); {turn}; done\n"
        );
        crate::common::files::executable(&path, text, 0o755);
        path.to_string_lossy().into_owned()
    });
    let run = Referee::new(["--seed", "3", "--sandbox", "none", "--first", "1"])
        .args(bots)
        .recorded()
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let record = &run.records()[0];
    assert!(record.get("info").is_none(), "{record}");
    let turns = record["turns"].as_array().expect("turns");
    assert!(turns.len() > 4, "{record}");
}
