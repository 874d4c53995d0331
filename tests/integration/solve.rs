//! `referee solve` as people run it.

use crate::common::Referee;
use serde_json::{Value, json};

/// Five cells are free; B, E, G, I and L are left.
const LATE: &str = "KH.FN.CMDA.JP.O.";

fn solved(arguments: &[&str]) -> Value {
    let run = Referee::new(["solve", "--json"]).args(arguments).run();
    assert_eq!(run.code, Some(0), "{run}");
    serde_json::from_str(&run.stdout).expect("one JSON object")
}

#[test]
fn json_is_as_documented() {
    let object = solved(&[&format!("{LATE} B")]);
    let keys: Vec<_> = object.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["value", "plies", "line", "nodes", "solved"]);
    assert_eq!(object["value"], "win");
    assert_eq!(object["plies"], 1);
    assert_eq!(object["line"], json!(["11 -"]));
    assert_eq!(object["solved"], true);
}

#[test]
fn every_turn_has_a_value() {
    let object = solved(&["--all", &format!("{LATE} G")]);
    assert_eq!(object["value"], "loss");
    assert_eq!(object["plies"], 2);
    let moves = object["moves"].as_array().unwrap();
    // Five cells, four pieces left.
    assert_eq!(moves.len(), 20);
    assert_eq!(
        moves[0],
        json!({"move": "3 B", "value": "loss", "plies": 2})
    );
}

#[test]
fn a_turn_that_only_gives_and_the_last_piece() {
    let object = solved(&["--all", &format!("{LATE} -")]);
    let moves = object["moves"].as_array().unwrap();
    assert_eq!(moves.len(), 5);
    assert_eq!(moves[0]["move"], "- B");
    assert_eq!(
        (&moves[0]["value"], &moves[0]["plies"]),
        (&json!("loss"), &json!(1))
    );
    let object = solved(&["--all", "AGBPCDHIJKMEFNL. O"]);
    assert_eq!(
        object["moves"],
        json!([{"move": "16 -", "value": "draw", "plies": null}])
    );
    assert_eq!(object["line"], json!(["16 -"]));
}

#[test]
fn people_read_sentences() {
    let run = Referee::new(["solve", &format!("{LATE} G")]).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.stdout, "Loss in 2 placements.\nLine: 3 B, 11 -\n");
    assert!(run.stderr.contains(" nodes in "), "{run}");
}

#[test]
fn a_time_limit_leaves_what_is_certain() {
    // The book has positions with fewer pieces, and five take a few milliseconds.
    let start = "P..AN......C.K.. M";
    let object = solved(&["--time-per-move", "1ms", start]);
    assert_eq!(object["solved"], false);
    assert_eq!(object["value"], Value::Null);
    // A fast machine knows already that it is not lost; that nobody wins takes much longer.
    assert!(
        [json!("loss"), json!("draw")].contains(&object["at_least"]),
        "{object}"
    );
    assert_eq!(object["at_most"], "win");
    let run = Referee::new(["solve", "--time-per-move", "1ms", start]).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.starts_with("Not solved in 1.00 ms; "), "{run}");
}

#[test]
fn wrong_input_is_named() {
    for (arguments, said) in [
        (&["KH.FN"][..], "found 5"),
        (
            &["AAAA............ B"],
            "the piece A stands on cells 1 and 2",
        ),
        (
            &["ABCD............ E"],
            "there is a quarto already, H1 square",
        ),
        (&["................ ?"], "not a piece of this set"),
        (&["................ A", "--hash", "much"], "expected a size"),
        (&["................ A", "--threads", "0"], "--threads"),
        (&[], "required"),
    ] {
        let run = Referee::new(["solve"]).args(arguments).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(said), "{arguments:?}: {run}");
    }
}

/// `@` wins in column 7.
const FOUR: &str = "...................................OOO@@@.";

#[test]
fn four_in_a_row_is_solved_in_discs() {
    let game = ["--game", "four-in-a-row"];
    let with_mark = solved(&[&game[..], &["--all", &format!("@ {FOUR}")]].concat());
    assert_eq!(with_mark["value"], "win");
    assert_eq!(with_mark["plies"], 1);
    assert_eq!(with_mark["line"], json!(["7"]));
    assert_eq!(with_mark["solved"], true);
    let moves = with_mark["moves"].as_array().unwrap();
    assert_eq!(moves.len(), 7);
    assert_eq!(moves[6], json!({"move": "7", "value": "win", "plies": 1}));
    // The board alone shows whose turn it is.
    let board = solved(&[&game[..], &[FOUR]].concat());
    assert_eq!(board["line"], with_mark["line"]);
    let run = Referee::new(["solve"]).args(game).args([FOUR]).run();
    assert_eq!(run.stdout, "Win with the next disc.\nLine: 7\n", "{run}");
}

#[test]
fn what_four_in_a_row_does_not_have_is_refused() {
    for (arguments, said) in [
        (&["@ ..."][..], "expected the mark of the side to move"),
        (&["--rules", "squares", FOUR], "for Quarto"),
    ] {
        let run = Referee::new(["solve", "--game", "four-in-a-row"])
            .args(arguments)
            .run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(said), "{run}");
    }
    let run = Referee::new(["solve", "--game", "./nim.py", FOUR]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr
            .contains("possible values: quarto, four-in-a-row"),
        "{run}"
    );
}
