//! `referee rerun`: a changed bot is asked what it was asked in recorded games, and what became of its mistakes is said.

use std::path::Path;

use crate::common::{RECORDS, Referee, Run};
use serde_json::{Value, json};

/// Only `7 J` and `15 J` keep the draw.
const START: &str = "NC.AMO....D..L.G E";

/// A bot that answers this first, and then plays perfectly.
fn bot(first: &str) -> String {
    let referee = env!("CARGO_BIN_EXE_referee");
    format!("sh -c 'read -r line; echo {first}; exec {referee} bot \"perfect?slips=0\"'")
}

/// A game from that position: anna answers this first.
fn a_game(first: &str) -> Run {
    let run = Referee::new(["--seed", "3", "--first", "1", "--start", START])
        .args(["--sandbox", "none"])
        .args(["--name1", "anna", "--name2", "ben"])
        .args([&bot(first), "builtin:perfect?slips=0"])
        .recorded()
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    run
}

fn rerun(file: &Path, arguments: &[&str]) -> Run {
    Referee::new(["rerun".as_ref(), file.as_os_str()])
        .args(["--time-per-move", "30s"])
        .args(arguments)
        .run()
}

/// Asks a bot that answers this first, as anna.
fn again(game: &Run, first: &str, arguments: &[&str]) -> Run {
    let (file, bot) = (game.scratch().join(RECORDS), bot(first));
    let options = ["--sandbox", "none", "--as", "anna", &bot];
    let run = rerun(&file, &[&options, arguments].concat());
    assert!(run.stderr.is_empty(), "{run}");
    run
}

#[track_caller]
fn says(run: &Run, code: i32, parts: &[&str]) {
    assert_eq!(run.code, Some(code), "{run}");
    for part in parts {
        assert!(run.stdout.contains(part), "`{part}` is missing\n{run}");
    }
}

/// The turn in the game, that of now, the exit status, and what is said.
#[test]
fn what_became_of_a_turn() {
    for (then, now, code, part) in [
        ("7 J", "7 J", 0, "answers as before"),
        ("7 J", "15 J", 0, "  the new turn keeps the draw"),
        ("7 J", "7 B", 3, "new: blunder at turn 1"),
        ("7 B", "15 J", 0, "blunder at turn 1 is gone"),
        ("7 B", "7 B", 3, "blunder at turn 1 is still there"),
        ("7 B", "15 B", 3, "blunder at turn 1 is still there"),
        (
            "7 B",
            "z",
            3,
            "blunder at turn 1 is gone; new: forfeit at turn 1",
        ),
        ("z", "7 J", 0, "forfeit at turn 1 is gone"),
        ("z", "z", 3, "forfeit at turn 1 is still there"),
        (
            "z",
            "7 B",
            3,
            "forfeit at turn 1 is gone; new: blunder at turn 1",
        ),
    ] {
        let game = a_game(then);
        says(&again(&game, now, &[]), code, &[part]);
    }
}

#[test]
fn what_it_thought_is_shown_then_and_now() {
    let game = a_game("info depth 3 >&2; echo 7 B");
    let now = "info depth 5 string better >&2; echo 15 J";
    let lines = "Game 1, turn 1, then: depth 3\nGame 1, turn 1, now: depth 5: better\n";
    says(&again(&game, now, &[]), 0, &[lines]);
    let run = again(&game, now, &["--json"]);
    let printed: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let departs = &printed["games"][0]["departs"];
    assert_eq!(departs["then"]["info"], json!({"depth": 3}), "{run}");
    assert_eq!(
        departs["now"]["info"],
        json!({"depth": 5, "string": "better"}),
        "{run}"
    );
}

#[test]
fn the_table_says_where_it_departs() {
    let game = a_game("7 B");
    let run = again(&game, "15 J", &[]);
    says(
        &run,
        0,
        &["   1  ben       loss     turn 1  7 B (loss)  15 J (draw)  blunder at turn 1 is gone"],
    );
    says(
        &run,
        0,
        &["sh, 1 game: it departs in 1, 1 gone, 0 still there, 0 new\n"],
    );
}

#[test]
fn the_document_says_the_same() {
    let game = a_game("7 B");
    let run = again(&game, "15 J", &["--json"]);
    assert_eq!(run.code, Some(0), "{run}");
    let mut printed: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let first = &mut printed["games"][0];
    // Whatever came after the blunder.
    let turns = first["turns"].take();
    assert_eq!(turns[0], 1, "{run}");
    first["findings"]
        .as_array_mut()
        .expect("findings")
        .truncate(1);
    printed["not_reached"].take();
    let plies = printed["games"][0]["departs"]["then"]["in"].take();
    assert!(plies.is_u64(), "{run}");
    assert_eq!(
        printed,
        json!({
            "bot": "sh", "departs": 1, "forfeits": 0, "gone": 1, "still_there": 0, "new": 0, "unproven": 0,
            "not_reached": null, "complete": true,
            "games": [{
                "game": 1, "id": "3-1", "bots": ["anna", "ben"], "bot": 0, "result": "loss", "turns": null,
                "departs": {
                    "turn": 1, "asked": START, "best": "draw",
                    "then": { "turn": "7 B", "value": "loss", "in": null },
                    "now": { "turn": "15 J", "value": "draw", "in": null },
                },
                "forfeits": null, "solver": true,
                "findings": [
                    { "turn": 1, "mistake": "blunder", "best": "draw", "value": "loss", "verdict": "gone", "directly": false },
                ],
            }],
        }),
        "{run}"
    );
}

/// Games of one process, of which some are lost: it is sent all lines from the first, so it answers as before.
#[test]
fn games_are_chosen_and_keep_their_process() {
    let bots = ["builtin:random", "builtin:greedy"];
    let games = Referee::new(["--seed", "2", "-n", "4"])
        .args(bots)
        .recorded()
        .run();
    let file = games.scratch().join(RECORDS);
    let records = games.records();
    let lost = records
        .iter()
        .filter(|record| record["result"]["winner"] == 1)
        .count();
    let document = |arguments: &[&str]| -> Value {
        let all = ["--json", "--time-per-move", "1ms", "builtin:random"];
        let run = Referee::new(["rerun".as_ref(), file.as_os_str()])
            .args(all)
            .args(arguments)
            .run();
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}\n{run}"))
    };
    for (arguments, count) in [
        (&[][..], 4),
        (&["--number", "lost"], lost),
        (&["--number", "4"], 1),
    ] {
        let found = document(arguments);
        assert_eq!(
            found["games"].as_array().map(Vec::len),
            Some(count),
            "{found}"
        );
        assert_eq!(found["departs"], 0, "{found}");
    }
    assert_eq!(document(&["--number", "4"])["games"][0]["game"], 4);
    assert_eq!(document(&["--seed", "1"])["complete"], true);
}

#[test]
fn a_bot_that_hangs_or_crashes_forfeits() {
    let game = a_game("7 J");
    let file = game.scratch().join(RECORDS);
    let hanging = ["--as", "1", "--move-time", "50ms", "./sleeps.sh 60"];
    let run = rerun(&file, &hanging);
    says(
        &run,
        3,
        &["new: forfeit at turn 1", "it forfeits (timeout): "],
    );
    let run = rerun(&file, &["--as", "1", "sh -c 'echo broken >&2; exit 3'"]);
    says(
        &run,
        3,
        &["new: forfeit at turn 1", "(exited)", "stderr: broken"],
    );
}

#[test]
fn a_signal_ends_it() {
    let game = a_game("7 J");
    let file = game.scratch().join(RECORDS);
    let running = Referee::new(["rerun".as_ref(), file.as_os_str()])
        .args(["--as", "1", "--sandbox", "none", "--move-time", "none"])
        .args(["sh -c 'touch \"$SCRATCH/begun\"; sleep 1000'"])
        .start();
    let mut running = running;
    running.wait_until(|scratch| scratch.join("begun").exists());
    running.signal("INT");
    let run = running.finish();
    assert_eq!(run.code, Some(130), "{run}");
}

#[test]
fn without_a_solver_only_departures_are_said() {
    let bots = ["counts-down.sh", "builtin:random"];
    let program = "games/countdown.sh";
    let game = Referee::new(["--game", program, "--sandbox", "none"])
        .args(bots)
        .recorded()
        .run();
    let file = game.scratch().join(RECORDS);
    let run = rerun(&file, &["counts-down.sh", "--game", program]);
    says(
        &run,
        0,
        &[
            "answers as before",
            "There is no solver for countdown: its turns are not judged.\n",
        ],
    );
}

#[test]
fn games_of_four_in_a_row_are_judged() {
    let bots = ["builtin:random", "builtin:greedy"];
    let game = Referee::new(["--game", "four-in-a-row", "--first", "1"])
        .args(["--seed", "3"])
        .args(bots)
        .recorded()
        .run();
    let file = game.scratch().join(RECORDS);
    let run = Referee::new(["rerun".as_ref(), file.as_os_str()])
        .args(["builtin:random", "--time-per-move", "20ms"])
        .run();
    // It lost, so it has made a mistake, and the last one is found in any time.
    says(
        &run,
        3,
        &["it departs in 0, 0 gone, ", " still there, 0 new"],
    );
    assert!(!run.stdout.contains(" 0 still there"), "{run}");
}

#[test]
fn what_is_wrong_is_said() {
    let game = a_game("7 J");
    let file = game.scratch().join(RECORDS).to_string_lossy().into_owned();
    let file = file.as_str();
    for (arguments, part) in [
        (&[file, "./drawn.sh"][..], "could be neither"),
        (
            &[file, "--as", "eve", "./drawn.sh"],
            "no bot in it is called `eve`",
        ),
        (&[file, "--number", "9", "./drawn.sh"], "there is no game 9"),
        (&[file, "human"], "a person cannot be asked again"),
        (&[file, "./no-such-file"], "cannot start ./no-such-file"),
        (&["./no-such-file", "./drawn.sh"], "./no-such-file: "),
        (&[file], "<BOT>"),
    ] {
        let run = Referee::new(["rerun"]).args(arguments).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(part), "`{part}` is missing\n{run}");
    }
}
