//! `referee hunt`: what it finds, shows and writes.

use std::fs;

use serde_json::Value;

use crate::common::files::executable;
use crate::common::{RECORDS, Referee, Run};

fn hunt(arguments: &[&str]) -> Run {
    Referee::new([&["hunt"][..], arguments].concat())
        .recorded()
        .run()
}

/// Hunts until there are records of what was found, one of `kind` among it; a machine that does other things needs
/// longer.
fn found(kind: &str, arguments: &[&str]) -> Run {
    let kind = format!("\"kind\": \"{kind}\"");
    let runs = ["2s", "8s", "40s"].iter();
    let mut runs = runs.map(|time| hunt(&[&["--time", time, "--json"], arguments].concat()));
    let run = runs
        .find(|run| run.code == Some(3) && run.stdout.contains(&kind) && !run.records().is_empty());
    run.expect("something is found")
}

fn document(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run}"))
}

#[test]
fn what_a_bot_gives_away_is_found_recorded_and_asked_again() {
    for game in ["quarto", "four-in-a-row"] {
        let run = found("blunder", &["--game", game, "builtin:greedy"]);
        assert_eq!(run.code, Some(3), "{run}");
        let found = document(&run);
        assert_eq!(found["game"], game);
        let findings = found["findings"].as_array().expect("a list");
        let records = run.records();
        for record in &records {
            // It held something, and the opponent then played perfectly.
            let finding = findings.iter().find(|finding| {
                let turns = finding["turns"].as_array().expect("turns");
                let game = record["turns"].as_array().expect("turns");
                game.starts_with(turns)
            });
            let finding = finding.unwrap_or_else(|| panic!("{record}"));
            assert_eq!(finding["kind"], "blunder");
            assert_ne!(record["result"]["winner"], 0, "{record}");
            if finding["after"] == "loss" {
                assert_eq!(record["result"]["winner"], 1, "{record}");
            }
        }
        let again = |command: &[&str]| {
            let all = [command, &[RECORDS]].concat();
            Referee::new(all).directory(run.scratch()).run()
        };
        assert_eq!(again(&["replay"]).code, Some(0));
        let rerun = Referee::new(["rerun", RECORDS, "builtin:perfect", "--as", "1", "--json"])
            .directory(run.scratch())
            .run();
        let rerun: Value =
            serde_json::from_str(&rerun.stdout).unwrap_or_else(|_| panic!("{rerun}"));
        assert_eq!(rerun["not_reached"], 0, "{rerun}");
        assert_eq!(rerun["still_there"], 0, "{rerun}");
        assert!(
            rerun["gone"].as_u64() >= Some(records.len() as u64),
            "{rerun}"
        );
    }
}

#[test]
fn nothing_is_found_in_perfect_play_and_no_more_is_said() {
    let run = hunt(&["--time", "2s", "--rules", "squares", "builtin:perfect"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stdout
            .starts_with("builtin:perfect: nothing found, which proves nothing.\nTried: "),
        "{run}"
    );
}

/// A fault that shows only in rare positions, of a bot that is quick enough to be asked thousands of questions.
#[test]
fn a_rare_fault_is_found_and_shown_with_what_repeats_it() {
    let scratch = Referee::new(["hunt"]);
    let bot = scratch.scratch().join("rare.sh");
    let aloud = fs::read_to_string("tests/bots/thinks-aloud.sh").expect("a text");
    let planted = aloud.replace(
        "    printf 'info",
        "    case $board$piece in *.*.*.*) ;; *[!.]P) echo 'IndexError: no such piece' >&2; exit 7 ;; esac\n    printf 'info",
    );
    assert_ne!(planted, aloud);
    executable(&bot, planted, 0o755);
    let path = format!("'{}'", bot.display());
    let run = found("exited", &[&path]);
    assert_eq!(run.code, Some(3), "{run}");
    let found = document(&run);
    let findings = found["findings"].as_array().expect("a list");
    let fault = findings.iter().find(|finding| finding["kind"] == "exited");
    let fault = fault.unwrap_or_else(|| panic!("{run}"));
    assert_eq!(fault["repeats"], true, "{run}");
    // A forfeit costs more than what it gave away, and the error is shown.
    let has_blunders = findings.iter().any(|finding| finding["kind"] == "blunder");
    assert!(has_blunders && findings[0]["problem"].is_string(), "{run}");
    assert_eq!(fault["stderr"], "IndexError: no such piece", "{run}");
    let question = fault["question"].as_str().expect("a text");
    assert!(
        question.ends_with('P') && question.matches('.').count() <= 2,
        "{run}"
    );
    let command = fault["reproduce"].as_str().expect("a command");
    assert!(command.contains(question), "{run}");
    let records = run.records();
    assert!(
        records
            .iter()
            .any(|record| record["result"]["reason"] == "exited"),
        "{run}"
    );
}

#[test]
fn a_bot_that_cannot_start_is_an_error() {
    let run = hunt(&["--time", "1s", "./missing.sh"]);
    assert_eq!(run.code, Some(2), "{run}");
}
