//! `referee solve` as people run it.

use crate::common::Referee;
use referee::game::quarto::Rules;
use referee::solver::{Options, Solver, early_positions};
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
    let start = "................ -";
    let object = solved(&["--no-book", "--time", "50ms", start]);
    assert_eq!(object["solved"], false);
    assert_eq!(object["value"], Value::Null);
    // A fast machine knows already that it is not lost; that nobody wins takes much longer.
    assert!(
        [json!("loss"), json!("draw")].contains(&object["at_least"]),
        "{object}"
    );
    assert_eq!(object["at_most"], "win");
    let run = Referee::new(["solve", "--no-book", "--time", "50ms", start]).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.starts_with("Not solved in 50 ms; "), "{run}");
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
        (&["................ ?"], "no piece of this set"),
        (&["................ A", "--hash", "much"], "expected a size"),
        (&["................ A", "--threads", "0"], "--threads"),
        (&[], "required"),
    ] {
        let run = Referee::new(["solve"]).args(arguments).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(said), "{arguments:?}: {run}");
    }
}

/// Whether a process has said what to do at Ctrl-C. Where that cannot be known, it is taken to.
fn minds_ctrl_c(id: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{id}/status")) else {
        return true;
    };
    let caught = status
        .lines()
        .find_map(|line| line.strip_prefix("SigCgt:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_none_or(|mask| mask & 2 != 0)
}

/// What this leaves to go on with is measured in solver.rs.
#[test]
fn an_interrupted_solve_leaves_its_notes() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("notes");
    let solve = |more: &[&str]| {
        Referee::new(["solve", "--no-book", "--hash", "16M", "--resume"])
            .args([&file])
            .args(more)
            .args(["................ -"])
    };
    let mut running = solve(&[]).start();
    let id = running.id();
    running.wait_until(|_| {
        std::fs::metadata(&file).is_ok_and(|file| file.len() >= 16) && minds_ctrl_c(id)
    });
    running.signal("INT");
    let run = running.finish();
    assert_eq!(run.code, Some(130), "{run}");
    assert!(
        run.stderr
            .contains("run the same command again to resume from"),
        "{run}"
    );
    let run = solve(&["--time", "50ms"]).run();
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn a_damaged_file_of_notes_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("notes");
    for (bytes, said) in [
        (&b"something else"[..], "does not begin with"),
        (b"referee notes 1\n123", "in the middle of a note"),
        (b"referee notes 1\n1234567\xff", "contradicts itself"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let run = Referee::new(["solve", "--resume"])
            .args([file.as_os_str(), format!("{LATE} B").as_ref()])
            .run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(said), "{run}");
        assert_eq!(
            std::fs::read(&file).unwrap(),
            bytes,
            "the file is left alone"
        );
    }
}

#[test]
fn the_table_is_printed() {
    for (more, name) in [(None, ""), (Some("--all"), ", every turn")] {
        let run = Referee::new(["solve", "--table", "--positions", "3", "--free", "4,6"])
            .args(["--hash", "1M", "--threads", "1", "--rules", "squares"])
            .args(more)
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        let lines: Vec<_> = run.stdout.lines().collect();
        assert!(
            lines[0].starts_with("squares rules, 1 thread, table of 1 MiB, 3 positions a row"),
            "{run}"
        );
        assert!(lines[2].starts_with("free cells"), "{run}");
        let rows = lines[3..].iter().map(|row| {
            let (name, figures) = row.split_at(22);
            // Median, worst and their units; nodes, worst nodes, rate and share of the table.
            assert_eq!(figures.split_whitespace().count(), 8, "{run}");
            name.trim_end().to_owned()
        });
        let rows: Vec<_> = rows.collect();
        assert_eq!(rows, [format!("4{name}"), format!("6{name}")], "{run}");
    }
    for (arguments, said) in [
        (["--positions", "0"], "--positions"),
        (["--free", "16"], "expected a whole number from 1 to 15"),
        (["--time", "1s"], "cannot be used with"),
    ] {
        let run = Referee::new(["solve", "--table"]).args(arguments).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(said), "{run}");
    }
}

#[test]
fn the_book_grows_and_is_running() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("book");
    let book = |time: &str| {
        Referee::new([
            "solve",
            "--threads",
            "1",
            "--hash",
            "1M",
            "--time",
            time,
            "--book",
        ])
        .args([file.as_os_str()])
        .run()
    };
    let run = book("200ms");
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stdout
            .starts_with("0 placements: 0 of 1 positions proven"),
        "{run}"
    );
    assert!(
        std::fs::read(&file)
            .unwrap()
            .starts_with(b"referee notes 1\n")
    );
}

#[test]
fn a_book_keeps_what_is_not_asked_for_and_is_packed() {
    let directory = tempfile::tempdir().unwrap();
    let (file, packed) = (
        directory.path().join("book"),
        directory.path().join("packed"),
    );
    let solver = Solver::new(Options {
        tt_bytes: 1 << 20,
        threads: 1,
    });
    let early: Vec<_> = (0..=3)
        .flat_map(|placed| early_positions(Rules::Standard, placed))
        .collect();
    let proofs = solver.export_proofs_of(&early);
    std::fs::write(&file, &proofs).unwrap();
    let run = Referee::new([
        "solve",
        "--threads",
        "1",
        "--hash",
        "1M",
        "--placements",
        "1",
        "--book",
    ])
    .args([file.as_os_str(), "--pack".as_ref(), packed.as_os_str()])
    .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        run.stdout,
        "0 placements: 1 of 1 positions proven (0 won, 1 drawn, 0 lost)\n\
         1 placements: 8 of 8 positions proven (0 won, 8 drawn, 0 lost)\n",
        "{run}"
    );
    assert!(std::fs::read(&file).unwrap() == proofs);
    let packed = std::fs::read(&packed).unwrap();
    assert!(packed.starts_with(b"referee book  2\n"));
}

#[test]
fn a_book_of_four_in_a_row_is_packed_when_it_is_whole() {
    let directory = tempfile::tempdir().unwrap();
    let (file, packed) = (
        directory.path().join("book"),
        directory.path().join("packed"),
    );
    let book = |time: &str| {
        Referee::new(["solve", "--game", "four-in-a-row", "--time", time, "--book"])
            .args([file.as_os_str(), "--pack".as_ref(), packed.as_os_str()])
            .run()
    };
    let run = book("1ms");
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stdout.contains("of 1,784,788 positions proven"),
        "{run}"
    );
    assert!(
        run.stderr
            .contains("not every position of the book is proven"),
        "{run}"
    );
    assert!(!packed.exists());
    std::fs::write(&file, "a letter").unwrap();
    let run = book("1ms");
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr
            .contains("it does not begin with `four in a row 1`"),
        "{run}"
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"a letter");
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
fn four_in_a_row_has_limits_and_a_table() {
    let solve = |arguments: &[&str]| {
        Referee::new(["solve", "--game", "four-in-a-row"])
            .args(arguments)
            .run()
    };
    let empty = format!("@ {}", ".".repeat(42));
    let run = solve(&["--no-book", "--time", "100ms", &empty]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.starts_with("Not solved in 100 ms; "), "{run}");
    let run = solve(&["--table", "--positions", "2", "--free", "8", "--hash", "1M"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.stdout.lines().count(), 4, "{run}");
    for (arguments, said) in [
        (&["@ ..."][..], "expected the mark of the side to move"),
        (
            &["--resume", "notes", FOUR],
            "--resume is for Quarto; leave it out",
        ),
        (&["--rules", "squares", FOUR], "--rules is for Quarto"),
        (
            &["--table", "--free", "43"],
            "expected a whole number from 1 to 42",
        ),
    ] {
        let run = solve(arguments);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(said), "{run}");
    }
    let run = Referee::new(["solve", "--game", "./nim.py", FOUR]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr
            .contains("only positions of quarto and four-in-a-row"),
        "{run}"
    );
}
