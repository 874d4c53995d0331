//! Four In A Row: the wire, matches of the built program, and the rules against a second
//! implementation that looks at every cell.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{RECORDS, Referee, Run};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_assert_eq, proptest};
use proptest::test_runner::RngSeed;
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;
use referee::game::four_in_a_row::{Column, FourInARow, Position};
use referee::game::{
    BuiltinGame as _, Illegal, IllegalReason, Outcome, Position as _, Rejection, Side,
};
use serde_json::{Value, json};

const EMPTY: &str = "..........................................";

/// The example of the wire.
const EXAMPLE: &str = "@ ................................O......@..";

/// `@` has won with its seventh piece, upwards in column 4.
const WON: [&str; 7] = ["4", "3", "4", "3", "4", "3", "4"];

/// The second implementation: rows of characters, from the top, and loops.
mod naive {
    pub(super) type Cell = (usize, usize);

    #[derive(Clone)]
    pub(super) struct Grid(pub(super) [[char; 7]; 6]);

    impl Grid {
        pub(super) fn empty() -> Self {
            Self([['.'; 7]; 6])
        }

        pub(super) fn text(&self) -> String {
            self.0.iter().flatten().collect()
        }

        pub(super) fn with_room(&self) -> Vec<usize> {
            (0..7).filter(|&column| self.0[0][column] == '.').collect()
        }

        pub(super) fn drop(&mut self, column: usize, mark: char) -> Cell {
            let row = (0..6).rev().find(|&row| self.0[row][column] == '.');
            let row = row.expect("room");
            self.0[row][column] = mark;
            (row, column)
        }

        /// Every four cells in a line.
        pub(super) fn windows() -> Vec<[Cell; 4]> {
            let mut windows = Vec::new();
            for row in 0..6 {
                for column in 0..7 {
                    let steps = 0..4;
                    let right = column + 3 < 7;
                    let down = row + 3 < 6;
                    let left = column >= 3;
                    let mut push = |cells: Vec<Cell>| {
                        windows.push(cells.try_into().expect("four cells"));
                    };
                    if right {
                        push(steps.clone().map(|i| (row, column + i)).collect());
                    }
                    if down {
                        push(steps.clone().map(|i| (row + i, column)).collect());
                    }
                    if right && down {
                        push(steps.clone().map(|i| (row + i, column + i)).collect());
                    }
                    if left && down {
                        push(steps.clone().map(|i| (row + i, column - i)).collect());
                    }
                }
            }
            windows
        }

        pub(super) fn is_four(&self, window: &[Cell; 4], mark: char) -> bool {
            window.iter().all(|&(r, c)| self.0[r][c] == mark)
        }

        /// The cells of all fours of this mark.
        pub(super) fn fours(&self, mark: char) -> Vec<Cell> {
            let mut cells: Vec<Cell> = Self::windows()
                .into_iter()
                .filter(|window| self.is_four(window, mark))
                .flatten()
                .collect();
            cells.sort_unstable();
            cells.dedup();
            cells
        }

        pub(super) fn wins_with(&self, column: usize, mark: char) -> bool {
            let mut after = self.clone();
            after.drop(column, mark);
            !after.fours(mark).is_empty()
        }
    }
}

use naive::Grid;

/// A match between `script.sh` with these answers each; `@` is the first.
fn scripts(first: &[&str], second: &[&str]) -> Referee {
    let script = |answers: &[&str]| {
        let lines = answers.iter().map(|answer| format!("{answer}\\n"));
        shell_words::join(std::iter::once("./script.sh".to_owned()).chain(lines))
    };
    Referee::new(["--game", "four-in-a-row", "--seed", "1"])
        .args([script(first), script(second)])
        .recorded()
}

/// A match with these turns.
fn game(turns: &[&str]) -> Referee {
    let of = |side: usize| turns.iter().copied().skip(side).step_by(2);
    scripts(&of(0).collect::<Vec<_>>(), &of(1).collect::<Vec<_>>())
}

/// The only record.
#[track_caller]
fn record(run: &Run) -> Value {
    assert_eq!(run.code, Some(0), "{run}");
    let [record] = &run.records()[..] else {
        panic!("{run}");
    };
    record.clone()
}

/// Checks that the first bot forfeited, and gives the sentence.
#[track_caller]
fn forfeited(run: &Run, reason: &str) -> String {
    let result = record(run)["result"].clone();
    assert_eq!(result["reason"], reason, "{run}");
    assert_eq!((&result["winner"], &result["by"]), (&json!(1), &json!(0)));
    assert!(
        run.last_line().ends_with(&format!(" forfeits ({reason}).")),
        "{run}"
    );
    // Where nothing came, the input stays open for a while.
    let open = if reason == "timeout" {
        "(cat; sleep 3) | "
    } else {
        ""
    };
    let again =
        format!("  reproduce: printf '%s\\n' '@ {EMPTY}' | {open}REFEREE_GAME=four-in-a-row ");
    assert!(run.stderr.contains(&again), "{run}");
    result["detail"].as_str().expect("a sentence").to_owned()
}

/// What is shown, with times as `T`.
fn timeless(text: &str) -> String {
    let without_time = |line: &str| -> String {
        for (before, after) in [("  ", ""), (" (", ")")] {
            let body = line.strip_suffix(after).unwrap_or(line);
            if let Some(rest) = body.strip_suffix(" ms").or_else(|| body.strip_suffix(" s"))
                && let Some((text, number)) = rest.rsplit_once(before)
                && number.parse::<f64>().is_ok()
            {
                return format!("{text}{before}T{after}");
            }
        }
        line.to_owned()
    };
    text.lines().map(|line| without_time(line) + "\n").collect()
}

fn request_of(position: &Position) -> String {
    FourInARow.request(position)
}

// The wire

#[test]
fn requests_are_a_mark_and_the_board() {
    assert_eq!(request_of(&FourInARow.start()), format!("@ {EMPTY}"));
    let position = FourInARow.read_request(EXAMPLE).expect("the example");
    assert_eq!(request_of(&position), EXAMPLE);
    let mut played = FourInARow.start();
    for number in [5, 5] {
        played
            .play(Column::from_number(number).expect("a column"))
            .expect("room");
    }
    assert_eq!(played, position);
}

#[test]
fn requests_that_are_none_are_refused() {
    let over = format!("O {}@@@@OOO", &EMPTY[..35]);
    let wrong_turn = EXAMPLE.replacen('@', "O", 1);
    for request in [
        "",
        "@",
        EMPTY,
        &wrong_turn,
        &over,
        "X ................................O......@..",
        "@ ................................o......@..",
        "@ ................................O......@.",
        "@ ................................O......@...",
        "@  ................................O......@..",
    ] {
        assert!(FourInARow.read_request(request).is_err(), "{request:?}");
    }
}

#[test]
fn bots_are_asked_what_the_wire_says() {
    let run = game(&["4", "4", "5"]).args(["-vv"]).run();
    let asked: Vec<&str> = run
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("  -> "))
        .collect();
    assert_eq!(
        asked,
        [
            "script.sh#1: @ ..........................................",
            "script.sh#2: O ......................................@...",
            "script.sh#1: @ ...............................O......@...",
            "script.sh#2: O ...............................O......@@..",
        ],
        "{run}"
    );
}

#[test]
fn bots_are_told_the_game() {
    let bot = r#"sh -c 'env >"$SCRATCH/environment"; exec ./script.sh "4\\n"'"#;
    let run = Referee::new(["--game", "four-in-a-row", "--seed", "1"])
        .args(["--move-time", "2s", bot, "./script.sh"])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let environment = run.file("environment");
    for line in [
        "REFEREE_GAME=four-in-a-row",
        "REFEREE_RULES=standard",
        "REFEREE_MOVE_TIME=2",
    ] {
        assert!(
            environment.lines().any(|found| found == line),
            "{line}\n{environment}"
        );
    }
    assert!(environment.contains("\nREFEREE_SEED="), "{environment}");
    assert!(!environment.contains("REFEREE_PIECES"), "{environment}");
}

// Matches

#[test]
fn a_game_as_people_see_it() {
    let run = game(&WON).args(["-v"]).run();
    assert_eq!(run.stderr, "", "{run}");
    let shown = timeless(&run.stdout);
    let last = shown.find(" 6. ").expect("the sixth turn");
    insta::assert_snapshot!(&shown[last..], @"
     6. script.sh#2 drops into column 3  T
      1   2   3   4   5   6   7
    +---+---+---+---+---+---+---+
    |   |   |   |   |   |   |   |
    +---+---+---+---+---+---+---+
    |   |   |   |   |   |   |   |
    +---+---+---+---+---+---+---+
    |   |   |   |   |   |   |   |
    +---+---+---+---+---+---+---+
    |   |   |(O)| @ |   |   |   |
    +---+---+---+---+---+---+---+
    |   |   | O | @ |   |   |   |
    +---+---+---+---+---+---+---+
    |   |   | O | @ |   |   |   |
    +---+---+---+---+---+---+---+

     7. script.sh#1 drops into column 4  T
      1   2   3   4   5   6   7
    +---+---+---+---+---+---+---+
    |   |   |   |   |   |   |   |
    +---+---+---+---+---+---+---+
    |   |   |   |   |   |   |   |
    +---+---+---+---+---+---+---+
    |   |   |   |[@]|   |   |   |
    +---+---+---+---+---+---+---+
    |   |   | O |[@]|   |   |   |
    +---+---+---+---+---+---+---+
    |   |   | O |[@]|   |   |   |
    +---+---+---+---+---+---+---+
    |   |   | O |[@]|   |   |   |
    +---+---+---+---+---+---+---+

    script.sh#1 wins: column 4 rows 3 to 6.
    ");
    assert_eq!(
        run.stdout.matches("  1   2   3   4   5   6   7\n").count(),
        7
    );
}

#[test]
fn a_game_is_recorded_and_replayed() {
    let run = game(&WON).run();
    assert_eq!(run.stdout, "script.sh#1 wins: column 4 rows 3 to 6.\n");
    let record = record(&run);
    assert_eq!(record["v"], 1, "{run}");
    assert_eq!(record["game"], "four-in-a-row", "{run}");
    assert_eq!(record["rules"], "standard", "{run}");
    assert_eq!(record["start"], EMPTY, "{run}");
    assert_eq!(record["first"], 0, "{run}");
    assert_eq!(record["turns"], json!(WON), "{run}");
    assert_eq!(record["times_ms"].as_array().map(Vec::len), Some(7));
    assert_eq!(
        record["result"],
        json!({"winner": 0, "reason": "four-in-a-row", "lines": [["column 4", "rows 3 to 6"]]}),
        "{run}"
    );
    assert!(record.get("pieces").is_none(), "{run}");

    let file = run.scratch().join(RECORDS);
    let replayed = Referee::new(["replay".as_ref(), file.as_os_str()]).run();
    assert_eq!(replayed.code, Some(0), "{replayed}");
    let verbose = game(&WON).args(["-v"]).run();
    let (heading, shown) = verbose.stdout.split_once('\n').expect("a heading");
    assert!(
        replayed.stdout.contains(&format!("{heading}\n")),
        "{replayed}"
    );
    // The times are those of the other run.
    assert!(
        timeless(&replayed.stdout).contains(&timeless(shown)),
        "{replayed}"
    );
}

#[test]
fn a_record_against_the_rules_is_found_out() {
    let run = game(&WON).run();
    let good = run.file(RECORDS);
    for (from, to, problem) in [
        // Nobody has won yet.
        (r#""3","4"],"times"#, r#""3","5"],"times"#, "turn"),
        (r#"["4","3""#, r#"["8","3""#, "turn 1"),
        (r#"["4","3""#, r#"["","3""#, "turn 1"),
        (r#""winner":0"#, r#""winner":1"#, "winner"),
        (r#""rows 3 to 6""#, r#""rows 2 to 5""#, "line"),
    ] {
        assert!(good.contains(from), "{from} in {good}");
        let file = run.scratch().join("wrong.jsonl");
        fs::write(&file, good.replacen(from, to, 1)).expect("a file");
        let replayed = Referee::new(["replay".as_ref(), file.as_os_str()]).run();
        assert_eq!(replayed.code, Some(2), "{to}\n{replayed}");
        assert!(replayed.stderr.contains(problem), "{to}\n{replayed}");
    }
}

#[test]
fn a_full_board_is_a_draw() {
    let turns = drawn_game();
    let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
    let run = game(&turns).run();
    assert_eq!(run.stdout, "Draw.\n", "{run}");
    let result = &record(&run)["result"];
    assert_eq!(
        *result,
        json!({"winner": null, "reason": "draw", "lines": []}),
        "{run}"
    );
}

/// A game that fills the board: at every turn the first column, counted from a place that
/// moves on, which does not win.
fn drawn_game() -> Vec<String> {
    for offset in 0..500 {
        let mut grid = Grid::empty();
        let mut turns = Vec::new();
        while turns.len() < 42 {
            let mark = ['@', 'O'][turns.len() % 2];
            let room = grid.with_room();
            let start = offset * (turns.len() + 3) / 5 + turns.len() * turns.len();
            let column = (0..room.len())
                .map(|i| room[(start + i) % room.len()])
                .find(|&column| !grid.wins_with(column, mark));
            let Some(column) = column else { break };
            grid.drop(column, mark);
            turns.push((column + 1).to_string());
        }
        if turns.len() == 42 {
            return turns;
        }
    }
    panic!("no drawn game was found");
}

#[test]
fn the_first_bot_named_begins() {
    // No lot: whatever the seed.
    for seed in ["1", "2", "3", "4"] {
        let run = Referee::new(["--game", "four-in-a-row", "--seed", seed])
            .args(["builtin:random", "builtin:greedy"])
            .recorded()
            .run();
        assert_eq!(record(&run)["first"], 0, "{run}");
    }
    for (first, expected) in [("1", [0, 1, 0]), ("2", [1, 0, 1])] {
        let run = Referee::new(["--game", "four-in-a-row", "--seed", "1", "--first", first])
            .args(["-n", "3", "builtin:random", "builtin:greedy"])
            .recorded()
            .run();
        let found: Vec<Value> = run.records().iter().map(|r| r["first"].clone()).collect();
        assert_eq!(json!(found), json!(expected), "{run}");
    }
    // The lot can still be asked for.
    let firsts: BTreeSet<String> = (1..=8)
        .map(|seed| {
            let run = Referee::new(["--game", "four-in-a-row", "--first", "random"])
                .args(["--seed", &seed.to_string()])
                .args(["builtin:random", "builtin:random"])
                .recorded()
                .run();
            record(&run)["first"].to_string()
        })
        .collect();
    assert_eq!(firsts.len(), 2, "{firsts:?}");
}

#[test]
fn the_same_seed_makes_the_same_game() {
    let play = || {
        let run = Referee::new(["--game", "four-in-a-row", "--seed", "7", "-n", "3"])
            .args(["builtin:random", "builtin:greedy"])
            .recorded()
            .run();
        let records = run.records();
        records
            .iter()
            .map(|r| r["turns"].clone())
            .collect::<Vec<_>>()
    };
    let turns = play();
    assert_eq!(turns, play());
    assert_ne!(turns[0], turns[2]);
}

#[test]
fn greedy_is_better_than_chance() {
    let run = Referee::new(["--game", "four-in-a-row", "--seed", "1", "-n", "20"])
        .args(["builtin:greedy", "builtin:random"])
        .recorded()
        .run();
    let records = run.records();
    assert_eq!(records.len(), 20, "{run}");
    let wins = records
        .iter()
        .filter(|r| r["result"]["winner"] == 0)
        .count();
    assert!(wins >= 15, "{wins} of 20\n{run}");
    for record in &records {
        let reason = &record["result"]["reason"];
        assert!(
            *reason == json!("four-in-a-row") || *reason == json!("draw"),
            "{run}"
        );
    }
}

// Faults

#[test]
fn columns_that_do_not_exist() {
    for (answer, number) in [
        ("8", 8),
        ("0", 0),
        ("9", 9),
        ("00", 0),
        ("08", 8),
        ("10", 10),
        ("44", 44),
    ] {
        let run = scripts(&[answer], &[]).run();
        assert_eq!(
            forfeited(&run, "illegal-move"),
            format!(
                "it answered `{answer}`: there is no column {number}; columns with room: 1 2 3 4 5 6 7"
            ),
            "{run}"
        );
    }
}

#[test]
fn answers_that_are_no_column() {
    for answer in [
        "four", "007", "4 4", "4,", "-4", "+4", "4.0", "0x4", "@", "-", "٤", "４",
    ] {
        let run = scripts(&[answer], &[]).run();
        let sentence = forfeited(&run, "malformed");
        // It looks like `4`.
        let shown = answer.replace('４', r"\u{ff14}");
        assert!(
            sentence.contains(&format!(
                "`{shown}` is not a column; expected a number, 1 to 7"
            )),
            "{run}"
        );
    }
    let run = scripts(&[""], &[]).run();
    let sentence = forfeited(&run, "malformed");
    assert!(
        sentence.contains("an empty line; expected a column, 1 to 7"),
        "{run}"
    );
}

#[test]
fn blanks_around_a_column_are_ignored() {
    let run = scripts(&[r" 4\t", r"4\r", r"\t 04", "4"], &["3", "3", "3"]).run();
    let record = record(&run);
    assert_eq!(record["result"]["reason"], "four-in-a-row", "{run}");
    assert_eq!(record["turns"], json!(WON), "{run}");
}

#[test]
fn a_full_column() {
    let start = "@......O......@......O......@......O......";
    let run = scripts(&["1"], &[]).args(["--start", start]).run();
    let result = record(&run)["result"].clone();
    assert_eq!(result["reason"], "illegal-move", "{run}");
    assert_eq!(
        result["detail"], "it answered `1`: column 1 is full; columns with room: 2 3 4 5 6 7",
        "{run}"
    );
    let position = format!("  position: @ {start}\n");
    assert!(run.stderr.contains(&position), "{run}");
}

#[test]
fn two_answers_at_once() {
    let run = scripts(&[r"4\n5"], &[]).run();
    let sentence = forfeited(&run, "extra-output");
    assert!(
        sentence.contains("`4`") && sentence.contains("`5`"),
        "{run}"
    );
}

#[test]
fn no_answer_in_time() {
    let run = Referee::new(["--game", "four-in-a-row", "--seed", "1"])
        .args(["--move-time", "200ms", "--start-time", "100ms"])
        .args(["./prints-nothing.sh", "builtin:random"])
        .recorded()
        .run();
    let sentence = forfeited(&run, "timeout");
    assert!(
        sentence.contains(&format!(
            "it was asked `@ {EMPTY}` and given 300 ms (200 ms, and 100 ms to start); nothing came"
        )),
        "{run}"
    );
}

#[test]
fn the_question_can_be_asked_again() {
    let run = scripts(&["8"], &[]).run();
    assert_eq!(run.reproduce(), b"8\n", "{run}");
}

#[test]
fn a_built_in_bot_knows_the_game_by_its_environment() {
    let run = Referee::new(["--game", "four-in-a-row", "--seed", "1"])
        .args([
            r#"sh -c 'read -r q; printf "%s\n" "$q" | "$REFEREE_BIN" bot greedy >"$SCRATCH/answer"'"#,
            "builtin:random",
        ])
        // Column 7 wins immediately.
        .args(["--start", &format!("{}OOO.@@@", &EMPTY[..35]).replace("OOO.@@@", "OOO@@@.")])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.file("answer"), "7\n", "{run}");
}

// Boards to start from

#[test]
fn games_start_from_a_prepared_board() {
    let start = format!("{}OOO@@@.", &EMPTY[..35]);
    let run = scripts(&["7"], &[]).args(["-v", "--start", &start]).run();
    assert!(
        run.stdout.contains("| O | O | O | @ | @ | @ |   |\n"),
        "{run}"
    );
    assert_eq!(run.last_line(), "script.sh#1 wins: row 6 columns 4 to 7.");
    let record = record(&run);
    assert_eq!(record["start"], start, "{run}");
    assert_eq!(record["turns"], json!(["7"]), "{run}");
    let file = run.scratch().join(RECORDS);
    let replayed = Referee::new(["replay".as_ref(), file.as_os_str()]).run();
    assert_eq!(replayed.code, Some(0), "{replayed}");

    // The line that a bot is sent is a start, too.
    let run = scripts(&["7"], &[])
        .args(["--start", &format!("@ {start}")])
        .run();
    assert_eq!(run.records()[0]["start"], start, "{run}");
    let run = scripts(&["7"], &[])
        .args(["--start", &format!("O {start}")])
        .run();
    let problem = "`O` is asked, but by the board it is @'s turn";
    assert!(run.stderr.contains(problem), "{run}");
    let run = scripts(&["7"], &[])
        .args(["--start", &format!("@ @ {start}")])
        .run();
    assert!(run.stderr.contains("a board is 42 characters"), "{run}");

    // One `@` more: it is for `O` to move, which the bot that moves second still plays.
    let start = format!("{}@......", &EMPTY[..35]);
    let run = scripts(&["8"], &["8"]).args(["--start", &start]).run();
    let forfeit = format!("  position: O {start}\n");
    assert!(run.stderr.contains(&forfeit), "{run}");
}

#[test]
fn boards_that_no_game_starts_from() {
    let bottom = |row: &str| format!("{}{row}", &EMPTY[..35]);
    for (board, problem) in [
        (String::new(), "a board is 42 characters"),
        (".".to_owned(), "found 1"),
        (format!("{EMPTY}."), "found 43"),
        (
            format!("{}@.......", &EMPTY[..34]),
            "a piece in column 7 hangs in the air",
        ),
        (
            format!("@{}", &EMPTY[..41]),
            "a piece in column 1 hangs in the air",
        ),
        (
            bottom("x......"),
            "`x` in column 1, row 6; expected `@`, `O` or `.`",
        ),
        (bottom("@@....."), "2 `@` and 0 `O`"),
        (bottom("O......"), "0 `@` and 1 `O`"),
        (bottom("@@@@OOO"), "the game is over on this board"),
        // Four of the side to move.
        (
            format!("{}.OOO...@@@@O..", &EMPTY[..28]),
            "the game is over on this board",
        ),
        (full_board(), "the game is over on this board"),
    ] {
        let run = scripts(&["4"], &[]).args(["--start", &board]).run();
        assert_eq!(run.code, Some(2), "{board}\n{run}");
        assert_eq!(run.stdout, "", "{board}\n{run}");
        assert!(run.records().is_empty(), "{board}\n{run}");
        assert!(
            run.stderr.starts_with("referee: --start `"),
            "{board}\n{run}"
        );
        assert!(run.stderr.contains(problem), "{board}\n{run}");
    }
}

fn full_board() -> String {
    let mut grid = Grid::empty();
    for (i, turn) in drawn_game().iter().enumerate() {
        let number: usize = turn.parse().expect("a column");
        grid.drop(number - 1, ['@', 'O'][i % 2]);
    }
    grid.text()
}

// The rules

/// The cells of a line as the program names it.
fn cells_of(line: &str, place: &str) -> Vec<naive::Cell> {
    let numbers: Vec<usize> = format!("{line} {place}")
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    let words: Vec<&str> = place
        .split(' ')
        .filter(|w| w.parse::<u8>().is_err())
        .collect();
    let (kind, _) = line.split_once(' ').unwrap_or((line, ""));
    let ends = match (kind, &words[..], &numbers[..]) {
        ("row", ["columns", "to"], &[row, from, to]) => [(row, from), (row, to)],
        ("column", ["rows", "to"], &[column, from, to]) => [(from, column), (to, column)],
        ("diagonal", ["column", "row", "to", "column", "row"], &[c, r, c2, r2]) => {
            [(r, c), (r2, c2)]
        }
        _ => panic!("{line} {place}"),
    };
    let [from, to] = ends.map(|(row, column)| (row - 1, column - 1));
    let length = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1));
    let step = |from: usize, to: usize, i: usize| match to.cmp(&from) {
        std::cmp::Ordering::Less => from - i,
        std::cmp::Ordering::Equal => from,
        std::cmp::Ordering::Greater => from + i,
    };
    let cells: Vec<_> = (0..=length)
        .map(|i| (step(from.0, to.0, i), step(from.1, to.1, i)))
        .collect();
    assert_eq!(cells.last(), Some(&to), "{line} {place}");
    cells
}

/// Compares a position with the second implementation's.
fn check(position: &Position, grid: &Grid, pieces: usize, last: Option<naive::Cell>) {
    let board = FourInARow.board(position);
    assert_eq!(board, grid.text());

    let [asked, answered] = [['@', 'O'][pieces % 2], ['@', 'O'][(pieces + 1) % 2]];
    assert_eq!(position.to_move(), Side::BOTH[pieces % 2]);
    let fours = grid.fours(answered);
    assert_eq!(grid.fours(asked), []);
    let outcome = if !fours.is_empty() {
        Some(Outcome::Win(position.to_move().other()))
    } else if pieces == 42 {
        Some(Outcome::Draw)
    } else {
        None
    };
    assert_eq!(position.outcome(), outcome, "{board}");

    let room = grid.with_room();
    let moves: Vec<usize> = position
        .moves()
        .map(|c| usize::from(c.number()) - 1)
        .collect();
    if outcome.is_some() {
        assert!(moves.is_empty(), "{board}");
    } else {
        assert_eq!(moves, room, "{board}");
        assert_eq!(
            position.can_win_at_once(),
            room.iter().any(|&column| grid.wins_with(column, asked)),
            "{board}"
        );
        assert_eq!(
            FourInARow.read_request(&request_of(position)),
            Ok(*position)
        );
        for column in 0..7 {
            let judged = FourInARow.judge(position, &(column + 1).to_string());
            if room.contains(&column) {
                assert!(judged.is_ok(), "{board} {column}");
            } else {
                let numbers: Vec<String> = room.iter().map(|c| (c + 1).to_string()).collect();
                let problem = format!(
                    "column {} is full; columns with room: {}",
                    column + 1,
                    numbers.join(" ")
                );
                let full = Illegal::Move(IllegalReason::Occupied);
                let expected = Rejection::illegal(full, problem);
                assert_eq!(judged, Err(expected), "{board}");
            }
        }
    }

    // Every line has one mark only, is as long as it can be, and together they are all fours.
    let mut covered = Vec::new();
    for (line, place) in FourInARow.winning_lines(position) {
        let cells = cells_of(&line, &place);
        assert!(cells.len() >= 4, "{line} {place}\n{board}");
        assert!(
            cells.iter().all(|&(r, c)| grid.0[r][c] == answered),
            "{line} {place}\n{board}"
        );
        let [(r0, c0), (r1, c1)] = [cells[0], cells[1]];
        let last = cells[cells.len() - 1];
        let next = |(r, c): naive::Cell, sign: isize| {
            let r = r.checked_add_signed(sign * (r1.cast_signed() - r0.cast_signed()))?;
            let c = c.checked_add_signed(sign * (c1.cast_signed() - c0.cast_signed()))?;
            grid.0.get(r)?.get(c).copied()
        };
        assert_ne!(
            next(cells[0], -1),
            Some(answered),
            "{line} {place}\n{board}"
        );
        assert_ne!(next(last, 1), Some(answered), "{line} {place}\n{board}");
        covered.extend(cells);
    }
    covered.sort_unstable();
    covered.dedup();
    assert_eq!(covered, fours, "{board}");

    let column = last.and_then(|(_, column)| Column::all().nth(column));
    let picture = FourInARow.picture(position, column);
    assert_eq!(picture.last, last, "{board}");
    let mut winning = picture.winning;
    winning.sort_unstable();
    winning.dedup();
    assert_eq!(winning, fours, "{board}");
    let shown: String = picture
        .cells
        .iter()
        .flatten()
        .map(|text| if text.is_empty() { "." } else { text })
        .collect();
    assert_eq!(shown, board);
}

/// Numbers to choose columns by, and whether wins are avoided, for longer games.
fn choices() -> impl Strategy<Value = (Vec<u8>, bool)> {
    (prop::collection::vec(any::<u8>(), 42), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        rng_seed: RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Every position of a game, up to its end.
    #[test]
    fn positions_are_as_the_second_implementation_says((numbers, avoiding) in choices()) {
        let mut position = FourInARow.start();
        let mut grid = Grid::empty();
        check(&position, &grid, 0, None);
        for (pieces, number) in numbers.into_iter().enumerate() {
            let mark = ['@', 'O'][pieces % 2];
            let mut room = grid.with_room();
            if avoiding && room.iter().any(|&column| !grid.wins_with(column, mark)) {
                room.retain(|&column| !grid.wins_with(column, mark));
            }
            let index = room[usize::from(number) % room.len()];
            let column = Column::all().nth(index).expect("a column");
            prop_assert_eq!(position.play(column), Ok(()));
            let cell = grid.drop(index, mark);
            check(&position, &grid, pieces + 1, Some(cell));
            if position.outcome().is_some() {
                for column in Column::all() {
                    let before = position;
                    prop_assert_eq!(position.play(column).is_err(), true);
                    prop_assert_eq!(before, position);
                }
                break;
            }
        }
    }
}

/// Games at random until each of the 69 fours has won one: none is missed, none ends a game
/// too late.
#[test]
fn every_four_wins() {
    let windows = Grid::windows();
    assert_eq!(windows.len(), 69);
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut won: BTreeSet<[naive::Cell; 4]> = BTreeSet::new();
    for game in 0..20_000 {
        if won.len() == windows.len() {
            return;
        }
        let mut position = FourInARow.start();
        let mut grid = Grid::empty();
        let mut last = ((0, 0), '.');
        for pieces in 0..42 {
            let moves: Vec<Column> = position.moves().collect();
            let Some(&column) = moves.choose(&mut rng) else {
                break;
            };
            position.play(column).expect("a legal move");
            let mark = ['@', 'O'][pieces % 2];
            last = (grid.drop(usize::from(column.number()) - 1, mark), mark);
        }
        let (last, mark) = last;
        let fours: Vec<_> = windows
            .iter()
            .filter(|window| grid.is_four(window, mark))
            .collect();
        assert_eq!(
            !fours.is_empty(),
            matches!(position.outcome(), Some(Outcome::Win(_))),
            "game {game}: {}",
            grid.text()
        );
        // Otherwise the game should have ended before.
        assert!(
            fours.iter().all(|window| window.contains(&last)),
            "game {game}: {}",
            grid.text()
        );
        won.extend(fours);
    }
    panic!("only {} of the fours won a game", won.len());
}

#[test]
fn lines_are_named_in_full() {
    for (start, column, expected) in [
        (
            "............................OOO.OOO@@@.@@@",
            4,
            &[("row 6", "columns 1 to 7")][..],
        ),
        // One piece, four lines: the column, then the row and both diagonals.
        (
            "..............@@@....OO@@@OOO@O@O@O@OO@OO@",
            4,
            &[
                ("row 3", "columns 1 to 4"),
                ("column 4", "rows 3 to 6"),
                ("diagonal", "column 4 row 3 to column 7 row 6"),
                ("diagonal", "column 1 row 6 to column 4 row 3"),
            ][..],
        ),
    ] {
        let mut position = FourInARow.start_from(start).expect("a board");
        let column = Column::from_number(column).expect("a column");
        position.play(column).expect("room");
        let lines = FourInARow.winning_lines(&position);
        let lines: Vec<_> = lines
            .iter()
            .map(|(l, p)| (l.as_str(), p.as_str()))
            .collect();
        assert_eq!(lines, expected, "{start}");
    }
}
