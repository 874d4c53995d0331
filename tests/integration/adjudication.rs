//! `--adjudicate`: games end when their value is proven, and the record can be checked.

use std::fs;

use crate::common::Referee;
use referee::game::BuiltinRuleset;
use referee::game::quarto::Edition;
use referee::play::replay::replay;
use referee::play::violation::{EndedBy, ViolationKind, WrongResult};
use referee::record::{Reason, Record};
use serde_json::{Value, json};

/// Eight free cells.
const START: &str = "NI..A.F.M..C.KL.";

fn games(more: &[&str]) -> Vec<Value> {
    let run = Referee::new(["--adjudicate", "--start", START, "-n", "6", "--seed", "3"])
        .args(more)
        .args(["builtin:greedy", "builtin:random"])
        .recorded()
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let records = run.records();
    for (record, line) in records.iter().zip(run.stdout.lines()) {
        assert_eq!(
            line.ends_with(" (adjudicated)."),
            record["result"]["adjudicated"] == true,
            "{run}"
        );
    }
    records
}

/// What does not depend on the clock.
fn lasting(records: &[Value]) -> Vec<Value> {
    let mut records = records.to_vec();
    for record in &mut records {
        for field in ["times_ms", "started", "usage"] {
            record[field] = Value::Null;
        }
    }
    records
}

fn problem_of(record: &Value) -> Option<WrongResult> {
    let record = Record::from_line(record.to_string().as_bytes()).expect("a record");
    let replayed = replay(
        &BuiltinRuleset::new(Edition::default()),
        &record,
        &mut |_| {},
    );
    match replayed.err()?.problem {
        ViolationKind::Result(wrong) => Some(wrong),
        other => panic!("{other}"),
    }
}

#[test]
fn games_end_when_their_value_is_proven() {
    let records = games(&[]);
    for record in &records {
        let result = &record["result"];
        assert_eq!(result["adjudicated"], true, "{record}");
        // With so few free cells it is proven after the first turn.
        assert_eq!(
            record["turns"].as_array().map(Vec::len),
            Some(1),
            "{record}"
        );
        assert_eq!(result["lines"], json!([]));
        let reason = if result["winner"].is_null() {
            "draw"
        } else {
            "quarto"
        };
        assert_eq!(result["reason"], reason);
        assert_eq!(problem_of(record), None, "{record}");
    }
    // The same seed gives the same records.
    assert_eq!(lasting(&games(&[])), lasting(&records));
}

#[test]
fn a_wrong_verdict_is_found() {
    let record = games(&[]).swap_remove(0);
    let with = |field: &str, value: Value| {
        let mut record = record.clone();
        record["result"][field] = value;
        problem_of(&record).expect("a violation")
    };
    let winner = record["result"]["winner"].as_u64();
    let mut wrong = record.clone();
    wrong["result"]["winner"] = json!(winner.map_or(0, |winner| 1 - winner));
    wrong["result"]["reason"] = json!("quarto");
    let by = EndedBy::BestPlay;
    let wrong = problem_of(&wrong);
    assert!(
        matches!(
            wrong,
            Some(WrongResult::Winner {
                by: EndedBy::BestPlay,
                ..
            })
        ),
        "{wrong:?}"
    );
    let found = Reason::from("timeout");
    let expected = Reason::from(record["result"]["reason"].as_str().expect("a word"));
    assert_eq!(
        with("reason", json!("timeout")),
        WrongResult::Reason {
            found,
            expected: expected.clone(),
            by
        }
    );
    assert_eq!(
        with("lines", json!([["H1", "big"]])),
        WrongResult::Lines {
            found: vec![("H1".to_owned(), "big".to_owned())],
            expected: Vec::new(),
            by,
        }
    );
    assert_eq!(
        with("adjudicated", json!(false)),
        WrongResult::NotOver(expected)
    );
    let mut played_out = record.clone();
    played_out["start"] = json!("................");
    played_out["turns"] = json!(["- A", "1 B", "2 C", "3 D", "4 -"]);
    played_out["times_ms"] = json!([0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(problem_of(&played_out), Some(WrongResult::Adjudicated));
}

#[test]
fn what_is_too_hard_is_played_on() {
    let run = Referee::new([
        "--adjudicate",
        "--seed",
        "1",
        "builtin:greedy",
        "builtin:random",
    ])
    .recorded()
    .run();
    assert_eq!(run.code, Some(0), "{run}");
    let turns = run.records()[0]["turns"].as_array().map(Vec::len);
    // Nothing is proven before the sixth placement, which is the seventh turn.
    assert!(turns >= Some(6), "{run}");
}

#[test]
fn a_tournament_remembers_that_it_adjudicates() {
    let place = tempfile::tempdir().expect("a directory");
    let out = place.path().join("t");
    let name = out.to_str().expect("a name");
    let run = Referee::new([
        "tournament",
        "builtin:greedy",
        "builtin:random",
        "--adjudicate",
    ])
    .args([
        "--pairs",
        "2",
        "--opening-plies",
        "8",
        "--seed",
        "5",
        "--no-check",
    ])
    .args(["--out", name])
    .run();
    assert_eq!(run.code, Some(0), "{run}");
    let games = fs::read_to_string(out.join("games.jsonl")).expect("a journal");
    let adjudicated = |line: &&str| line.contains("\"adjudicated\":true");
    assert_eq!(games.lines().filter(adjudicated).count(), 4, "{games}");
    let journal = out.join("games.jsonl");
    let replayed = Referee::new(["replay", "-q", journal.to_str().expect("a name")]).run();
    assert_eq!(replayed.code, Some(0), "{replayed}");
    // A game is played again after this, in the same way.
    let kept: Vec<&str> = games.lines().take(3).collect();
    fs::write(&journal, kept.join("\n") + "\n").expect("a file");
    let run = Referee::new(["tournament", "--out", name]).run();
    assert_eq!(run.code, Some(0), "{run}");
    let games = fs::read_to_string(&journal).expect("a journal");
    assert_eq!(games.lines().filter(adjudicated).count(), 4, "{games}");
}

#[test]
fn four_in_a_row_is_adjudicated() {
    let run = Referee::new([
        "--game",
        "four-in-a-row",
        "--adjudicate",
        "-n",
        "4",
        "--seed",
        "3",
    ])
    .args(["builtin:greedy", "builtin:random"])
    .recorded()
    .run();
    assert_eq!(run.code, Some(0), "{run}");
    let records = run.records();
    let adjudicated = |record: &serde_json::Value| record["result"]["adjudicated"] == true;
    assert!(records.iter().any(adjudicated), "{run}");
    let file = run.scratch().join(crate::common::RECORDS);
    let replay = Referee::new(["replay", "-q"]).args([file]).run();
    assert_eq!(replay.code, Some(0), "{replay}");
}

#[test]
fn a_game_that_is_a_program_is_not_adjudicated() {
    for command in [&[][..], &["tournament"]] {
        let run = Referee::new(command)
            .args(["--game", "games/countdown.sh", "--adjudicate"])
            .args(["builtin:random", "builtin:random"])
            .run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(
            run.stderr.contains("--adjudicate needs a solver, and "),
            "{run}"
        );
    }
}
