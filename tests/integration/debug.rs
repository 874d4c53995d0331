//! `referee debug`: the lines that a bot is sent again are those of the recorded game, and nothing is lost while it
//! is asked about them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{RECORDS, Referee, Run};
use serde_json::Value;

/// A bot that keeps its input, and plays like a built-in one of this name.
fn keeping(builtin: &str) -> String {
    format!("./keeps-input.sh \"$REFEREE_BIN\" bot {builtin}")
        .replace("\"$REFEREE_BIN\"", env!("CARGO_BIN_EXE_referee"))
}

/// What each process was sent, by its seed.
fn inputs(scratch: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(scratch).expect("a directory").flatten();
    let kept = files.filter_map(|file| {
        let name = file.file_name().to_string_lossy().into_owned();
        let seed = name.strip_prefix("input-")?.to_owned();
        Some((seed, fs::read_to_string(file.path()).expect("a text")))
    });
    kept.collect()
}

/// Asks a bot again; solving is left to tests that look at it.
fn debug(file: &Path, arguments: &[&str], typed: &str) -> Run {
    let solve = ["--time-per-move", "1ms"];
    let referee = Referee::new(["debug".as_ref(), file.as_os_str()]);
    let run = referee.args(solve).args(arguments).stdin(typed).run();
    assert_eq!(run.code, Some(0), "{run}");
    run
}

/// The last turn of a bot in a game: the one at which it forfeited, or its last.
fn last_turn(record: &Value, bot: u64) -> String {
    let turns = record["turns"].as_array().expect("turns").len();
    let forfeited = usize::from(record["result"]["by"] == bot);
    let own = usize::from(record["first"] != bot);
    let last = (own..turns + forfeited).step_by(2).next_back();
    (last.expect("a turn of its own") + 1).to_string()
}

/// Every process gets the bytes again that it was sent, for both bots, in both games and with any options.
#[test]
fn the_bytes_are_those_of_the_game() {
    for options in [
        &[
            "--restart",
            "-n",
            "3",
            "--rules",
            "squares",
            "--start",
            "A..B............ C",
        ][..],
        &["-n", "3", "--pieces", "../../sets/greek.csv"],
        &["-n", "3", "--game", "four-in-a-row"],
    ] {
        let bots = [keeping("random"), keeping("greedy")];
        let referee = Referee::new(["--seed", "11"]).args(options).args(&bots);
        let run = referee
            .args(["--name1", "anna", "--name2", "ben"])
            .recorded()
            .run();
        let kept = inputs(run.scratch());
        let records = run.records();
        let by_game = options.contains(&"--restart");
        let games = if by_game { 1..=3 } else { 3..=3 };
        for game in games {
            for bot in [0, 1] {
                let record = &records[game - 1];
                let (number, turn) = (game.to_string(), last_turn(record, bot));
                let part = (bot + 1).to_string();
                let again = debug(
                    &run.scratch().join(RECORDS),
                    &[
                        "--number",
                        &number,
                        "--turn",
                        &turn,
                        "--as",
                        &part,
                        "--from-first",
                    ]
                    .into_iter()
                    .chain([bots[usize::try_from(bot).expect("0 or 1")].as_str()])
                    .collect::<Vec<_>>(),
                    "quit\n",
                );
                let seed =
                    record["processes"][usize::try_from(bot).expect("0 or 1")]["seed"].to_string();
                assert_eq!(inputs(again.scratch())[&seed], kept[&seed], "{again}");
                assert!(!again.stdout.contains("departs"), "{again}");
            }
        }
    }
}

/// A game of anna, who is random, against greedy.
fn a_game() -> Run {
    let bots = ["--name1", "anna", "builtin:random", "builtin:greedy"];
    let run = Referee::new(["--seed", "3", "--first", "1"])
        .args(bots)
        .recorded()
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    run
}

#[test]
fn stepping_and_leaving_the_game() {
    let game = a_game();
    let file = game.scratch().join(RECORDS);
    let typed = "next\nagain\nfly\nhelp\n\nsolver\nnext\nhand 99\nshow\n";
    let run = debug(&file, &["--as", "anna", "builtin:random"], typed);
    let place = |part: &str| {
        run.stdout
            .find(part)
            .unwrap_or_else(|| panic!("`{part}` is missing\n{run}"))
    };
    let first = game.records()[0]["turns"][0]
        .as_str()
        .expect("a turn")
        .to_owned();
    let order = [
        "Game 1 (3-1): anna against builtin:greedy, anna begins; builtin:random plays the part of anna\n".to_owned(),
        "The bot's turns: 1 3 5".to_owned(),
        "Process ".to_owned(),
        "Turn 1 ".to_owned(),
        format!("  then   {first}"),
        format!("  now    {first}"),
        "(debug) next\n".to_owned(),
        "Turn 3 ".to_owned(),
        "(debug) again\n".to_owned(),
        "(debug) fly\nThere is no command fly.".to_owned(),
        "(debug) solver\nThe opponent places ".to_owned(),
        "(debug) next\nThe recorded game has been left".to_owned(),
        "(debug) hand 99\n".to_owned(),
        "(debug) show\n".to_owned(),
    ];
    let places: Vec<usize> = order.iter().map(|part| place(part)).collect();
    assert!(places.is_sorted(), "{places:?}\n{run}");
    // A person has typed it, whom the advice for programs does not help.
    let told = &run.stdout[places[12]..places[13]];
    assert!(
        told.contains("the gift is missing") && !told.contains("stderr"),
        "{run}"
    );
    assert_eq!(run.stdout.matches("Process ").count(), 2, "{run}");
    assert_eq!(run.stdout.matches("departs").count(), 0, "{run}");
}

/// The solver keeps what it has found, so that it may know more of a turn when it is asked a second time.
#[test]
fn the_same_turn_has_one_value() {
    let bots = ["builtin:random", "builtin:random"];
    let game = Referee::new(["--game", "four-in-a-row", "--first", "1"])
        .args(["--seed", "15"])
        .args(bots)
        .recorded()
        .run();
    let file = game.scratch().join(RECORDS);
    // Which turns are close to the limit depends on the machine.
    for time in ["10ms", "20ms", "40ms", "60ms"] {
        let run = Referee::new(["debug".as_ref(), file.as_os_str()])
            .args(["--as", "1", "--time-per-move", time, "builtin:random"])
            .stdin("next\n".repeat(12))
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        let all = |word: &str| -> Vec<String> {
            let lines = run.stdout.lines();
            let found = lines.filter_map(|line| line.strip_prefix(&format!("  {word}")));
            found.map(|rest| rest.trim().to_owned()).collect()
        };
        let (then, now) = (all("then "), all("now "));
        assert!(then.len() > 5, "{run}");
        assert_eq!(then, now, "{run}");
    }
}

/// A bot that answers otherwise than in the game.
#[test]
fn departures_are_said_and_the_recorded_game_goes_on() {
    let game = a_game();
    let file = game.scratch().join(RECORDS);
    let turn = last_turn(&game.records()[0], 0);
    let options = [
        "--turn",
        &turn,
        "--as",
        "1",
        "--seed",
        "77",
        "builtin:random",
    ];
    let run = debug(&file, &options, "");
    let said = run.stdout.matches("The recorded game goes on.").count();
    assert!(
        said > 0 && run.stdout.contains("At turn 1 it departs: then - "),
        "{run}"
    );
}

#[test]
fn a_bot_that_fails_can_be_asked_again() {
    let game = a_game();
    let file = game.scratch().join(RECORDS);
    let run = debug(
        &file,
        &["--as", "1", "./script.sh 'z\\n'"],
        "next\nagain\nsolver\nquit\n",
    );
    assert!(run.stdout.contains("  now    no legal turn: "), "{run}");
    assert!(run.stdout.contains("The bot has made no turn"), "{run}");
}

#[test]
fn any_position_without_a_record() {
    let start = |arguments: &[&str], typed: &str| {
        let solve = ["debug", "--time-per-move", "60s"];
        let run = Referee::new(solve).args(arguments).stdin(typed).run();
        assert_eq!(run.code, Some(0), "{run}");
        run
    };
    let run = start(
        &["--start", "NC.AMO....D..L.G E", "builtin:greedy"],
        "hand\n1 P\nnext\n",
    );
    assert!(
        run.stdout.contains("  asked  NC.AMO....D..L.G E\n"),
        "{run}"
    );
    assert!(run.stdout.contains("  best   draw: 7 J, 15 J\n"), "{run}");
    assert!(run.stdout.contains("There is no recorded game"), "{run}");
    let columns = format!("@ {}OOO@@@.", ".".repeat(35));
    let run = start(
        &[
            "--game",
            "four-in-a-row",
            "--start",
            &columns,
            "builtin:greedy",
        ],
        "solver\nhand\n",
    );
    assert!(
        run.stdout.contains("  best   win: 1, 2, 3, 4, 5, 6, 7\n"),
        "{run}"
    );
    assert!(
        run.stdout.contains("The bot wins: row 6 columns 4 to 7.\n"),
        "{run}"
    );
}

#[test]
fn what_is_wrong_is_said() {
    let game = a_game();
    let file = game.scratch().join(RECORDS).to_string_lossy().into_owned();
    let file = file.as_str();
    for (arguments, parts) in [
        (
            &[file, "./drawn.sh"][..],
            &[
                "anna against builtin:greedy",
                "could be neither",
                "--as 1 or --as 2",
            ][..],
        ),
        (
            &[file, "--as", "eve", "./drawn.sh"],
            &["no bot in it is called `eve`"],
        ),
        (
            &[file, "--as", "1", "--turn", "2", "./drawn.sh"],
            &["turn 2 was not one of anna; its turns: 1 3"],
        ),
        (
            &[file, "--number", "9", "./drawn.sh"],
            &["there is no game 9"],
        ),
        (&["--turn", "2", "./drawn.sh"], &["are for a recorded game"]),
        (
            &[file, "--start", "................", "./drawn.sh"],
            &["leave out either it or FILE"],
        ),
        (
            &["--start", "AA..............", "./drawn.sh"],
            &["--start `AA..............`: the piece A"],
        ),
        (
            &["--start", "................", "human"],
            &["a person cannot be debugged"],
        ),
        (&[file, "./no-such-file"], &["cannot start ./no-such-file"]),
    ] {
        let run = Referee::new(["debug"]).args(arguments).run();
        assert_eq!(run.code, Some(2), "{run}");
        for part in parts {
            assert!(run.stderr.contains(part), "`{part}` is missing\n{run}");
        }
    }
}

/// With `--wait` nothing is sent before Enter is pressed.
#[test]
fn it_waits_for_a_debugger() {
    let bot = keeping("random");
    let start = [
        "debug",
        "--time-per-move",
        "1ms",
        "--wait",
        "--start",
        "A..B............ C",
    ];
    let run = Referee::new(start).args([&bot]).stdin("").run();
    assert!(
        run.stdout.contains("Attach a debugger, then press Enter. "),
        "{run}"
    );
    let run = Referee::new(start).args([&bot]).stdin("\nquit\n").run();
    assert_eq!(inputs(run.scratch())["0"], "A..B............ C\n", "{run}");
}
