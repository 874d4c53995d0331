//! `referee ask`: one answer, or one reason, for each line of standard input.

use serde_json::{Value, json};

use crate::common::{Referee, Run};

fn ask(arguments: &[&str], questions: &str) -> Run {
    Referee::new(["ask", "--sandbox", "none"])
        .args(arguments)
        .stdin(questions)
        .run()
}

#[test]
fn each_question_has_an_answer() {
    // Cell 4 completes the first row.
    let run = ask(
        &["builtin:greedy"],
        "IJK............. L\nIJK............. L\n",
    );
    let cells: Vec<&str> = run.stdout.lines().map(|turn| &turn[..1]).collect();
    assert_eq!((run.code, cells), (Some(0), vec!["4", "4"]), "{run}");
    let four = ["--game", "four-in-a-row", "--json", "builtin:greedy"];
    let run = ask(&four, "@ ...................................OOO@@@.");
    assert_eq!(
        (run.code, &*run.stdout),
        (Some(0), "{\"turn\":\"7\"}\n"),
        "{run}"
    );
    let run = ask(&["builtin:greedy"], "");
    assert_eq!((run.code, &*run.stdout), (Some(0), ""), "{run}");
}

#[test]
fn after_a_fault_a_fresh_process_is_asked() {
    let bot = "sh -c 'read -r line; echo - K; read -r line; echo - K'";
    let start = "................ -\n".repeat(3);
    let run = ask(&["--json", bot], &start);
    let told: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| line.parse().unwrap())
        .collect();
    assert_eq!(
        told[..2],
        [json!({"turn": "- K"}), json!({"turn": "- K"})],
        "{run}"
    );
    assert_eq!(told[2]["reason"], "exited", "{run}");

    let run = ask(&["--json", "sh -c 'read -r line; echo nonsense'"], &start);
    let reasons: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| line.parse::<Value>().unwrap()["reason"].clone())
        .collect();
    assert_eq!(
        (run.code, reasons),
        (Some(0), vec![json!("malformed"); 3]),
        "{run}"
    );
    let run = ask(
        &["sh -c 'read -r line; echo nonsense'"],
        "................ -\n",
    );
    assert!(run.stdout.starts_with("it forfeits (malformed): "), "{run}");
    assert_eq!(run.stdout.lines().count(), 1, "{run}");
}

#[test]
fn a_line_that_is_no_question_is_named() {
    let run = ask(&["builtin:greedy"], "................ -\nwhat?\n");
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("line 2 of standard input"), "{run}");
}
