//! `referee puzzles`, and the sets that are shipped: each proven anew, and none equal by symmetry.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;

use referee::game::four_in_a_row::FourInARow;
use referee::game::quarto::{Cell, Edition, Rules};
use referee::game::{BuiltinGame, Outcome, Position as _};
use referee::solver::{Goal, Limits, Solve as _, Solver, SolverOptions, Value, four_in_a_row};
use referee::study::puzzles::{Puzzle, PuzzleKind, SHIPPED};
use serde_json::{Value as Json, json};

use crate::common::{RECORDS, Referee, Run};

/// Only `7 J` and `15 J` keep the draw.
const START: &str = "NC.AMO....D..L.G E";

/// A bot that answers this first, and then plays perfectly.
fn bot(first: &str) -> String {
    let referee = env!("CARGO_BIN_EXE_referee");
    format!("sh -c 'read -r line; echo {first}; exec {referee} bot \"perfect?slips=0\"'")
}

/// A bot that gives these answers, and then none.
fn answering(answers: &[&str]) -> String {
    let lines = answers
        .iter()
        .map(|answer| format!("read -r line; echo {answer}; "));
    format!("sh -c '{}'", lines.collect::<String>())
}

/// A game from that position, in which anna gives the draw away.
fn a_mistake() -> Run {
    let run = Referee::new(["--seed", "3", "--first", "1", "--start", START])
        .args(["--sandbox", "none"])
        .args(["--name1", "anna", "--name2", "ben"])
        .args([&bot("7 B"), "builtin:perfect?slips=0"])
        .recorded()
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    run
}

fn puzzles(arguments: &[&str]) -> Run {
    Referee::new(["puzzles"]).args(arguments).run()
}

fn shipped(name: &str) -> Vec<Puzzle> {
    let (_, text) = SHIPPED
        .iter()
        .find(|(known, _)| *known == name)
        .expect("a set");
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("puzzles")
}

#[test]
fn a_page_is_made_of_a_set_and_overwrites_nothing_else() {
    let scratch = tempfile::tempdir().expect("a directory");
    let of = |arguments: &[&str]| {
        let referee = Referee::new(["puzzles", "page"]).args(arguments);
        referee.directory(scratch.path()).run()
    };
    let run = of(&["builtin:four-in-a-row", "--title", "Friday <3"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.stdout, "puzzles.html: a page of 300 puzzles.\n");
    let page = fs::read_to_string(scratch.path().join("puzzles.html")).expect("a page");
    assert!(page.contains("<title>Friday &lt;3</title>"));
    assert!(page.contains("four-in-a-row-0002316990"));
    let set = scratch.path().join("set.jsonl");
    let line = SHIPPED[0].1.lines().next().expect("a puzzle");
    fs::write(&set, line).expect("written");
    for (arguments, problem) in [
        (&["builtin:chess"][..], "no set of puzzles"),
        (&["set.jsonl", "-o", "set.jsonl"], "overwritten"),
        (&["set.jsonl", "-o", "no/folder.html"], "cannot be written"),
    ] {
        let run = of(arguments);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(problem), "{run}");
        assert_eq!(fs::read_to_string(&set).expect("the set"), line);
    }
}

#[test]
fn a_mistake_becomes_a_puzzle() {
    let game = a_mistake();
    let records = game.scratch().join(RECORDS);
    let records = records.to_str().expect("UTF-8");
    let run = puzzles(&["make", records]);
    assert_eq!(run.code, Some(0), "{run}");
    let made: Vec<Json> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let puzzle = made.iter().find(|puzzle| puzzle["position"] == START);
    let puzzle = puzzle.unwrap_or_else(|| panic!("{run}"));
    assert_eq!(puzzle["answers"], json!(["7 J", "15 J"]));
    assert_eq!(puzzle["kind"], "hold-the-draw");
    assert_eq!(puzzle["value"], "draw");
    assert_eq!(
        (&puzzle["asked"], &puzzle["failed"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(puzzle["free"], 8);
    // Eight cells, and seven pieces to give.
    assert_eq!(puzzle["turns"], 56);
}

#[test]
fn a_pipe_is_read() {
    let game = a_mistake();
    let records = fs::read(game.scratch().join(RECORDS)).expect("records");
    let run = Referee::new(["puzzles", "make", "/dev/stdin"])
        .shell("cat | \"$0\" \"$@\"")
        .stdin(records)
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains(START), "{run}");
}

/// A file with the puzzle of [`START`] alone.
fn a_file(game: &Run) -> String {
    let scratch = game.scratch();
    let (records, file) = (scratch.join(RECORDS), scratch.join("class.jsonl"));
    let run = puzzles(&["make", records.to_str().expect("UTF-8")]);
    let line = run.stdout.lines().find(|line| line.contains(START));
    fs::write(&file, format!("{}\n", line.expect("the puzzle"))).expect("written");
    file.to_str().expect("UTF-8").to_owned()
}

#[test]
fn answers_are_scored() {
    let game = a_mistake();
    let file = a_file(&game);
    let run = |answers: &[&str], options: &[&str]| {
        let bot = answering(answers);
        let fixed = ["run", "--sandbox", "none", &file, &bot];
        puzzles(&[&fixed[..], options].concat())
    };
    let right = run(&["15 J"], &["--require", "100%"]);
    assert_eq!(right.code, Some(0), "{right}");
    assert!(
        right.stdout.ends_with("sh solves 1 of 1: 100.0 %\n"),
        "{right}"
    );
    let wrong = run(&["7 B"], &["--require", "50"]);
    assert_eq!(wrong.code, Some(3), "{wrong}");
    assert!(
        wrong
            .stdout
            .contains("hold the draw: 7 B lets the draw slip; right: 7 J, 15 J"),
        "{wrong}"
    );
    assert!(
        wrong
            .stdout
            .ends_with("sh solves 0 of 1: 0.0 %, less than 50 %\n"),
        "{wrong}"
    );
    let fault = run(&["z"], &["--json"]);
    assert_eq!(fault.code, Some(0), "{fault}");
    let json: Json = serde_json::from_str(&fault.stdout).expect("JSON");
    assert_eq!(json["solved"], 0);
    assert_eq!(
        json["kinds"],
        json!({"hold-the-draw": {"solved": 0, "of": 1}})
    );
    assert_eq!(json["puzzles"][0]["forfeit"]["reason"], "malformed");
    assert_eq!(json["complete"], true);
}

#[test]
fn a_bot_that_never_answers_is_not_asked_for_ever() {
    let run = puzzles(&[
        "run",
        "--sandbox",
        "none",
        "builtin:quarto",
        "sh -c 'exit 4'",
        "--json",
    ]);
    assert_eq!(run.code, Some(0), "{run}");
    let json: Json = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!((&json["solved"], &json["of"]), (&json!(0), &json!(300)));
    let asked = json["puzzles"].as_array().expect("a list").iter();
    assert_eq!(
        asked
            .filter(|puzzle| puzzle.get("forfeit").is_some())
            .count(),
        3
    );
}

/// After a fault the next puzzle is asked, in a fresh process.
#[test]
fn a_fault_costs_one_puzzle() {
    let run = puzzles(&[
        "run",
        "--sandbox",
        "none",
        "builtin:four-in-a-row",
        "sh -c 'read -r line; echo 1; read -r line; exit 1'",
        "--json",
    ]);
    assert_eq!(run.code, Some(0), "{run}");
    let json: Json = serde_json::from_str(&run.stdout).expect("JSON");
    let all = json["puzzles"].as_array().expect("a list");
    assert_eq!(all.len(), 300);
    let exited = all
        .iter()
        .filter(|puzzle| puzzle["forfeit"]["reason"] == "exited");
    assert!(exited.count() > 50, "{run}");
    assert!(json["solved"].as_u64().is_some_and(|solved| solved > 0));
}

#[test]
fn wrong_files_are_named() {
    let scratch = tempfile::tempdir().expect("a directory");
    let path = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        fs::write(&path, text).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let (_, text) = SHIPPED[0];
    let line = text.lines().next().expect("a puzzle");
    let id: Puzzle = serde_json::from_str(line).expect("a puzzle");
    let other = line.replace(&id.id, "quarto-0000000000");
    let wrong_answer = line.replace("\"answers\":[", "\"answers\":[\"17 A\",");
    for (file, part) in [
        (path("empty", ""), "there are no puzzles in it"),
        (path("text", "hello\n"), ":1: it is not a puzzle"),
        (
            path("twice", &format!("{line}\n{line}\n")),
            ":2: the puzzle ",
        ),
        (path("id", &format!("{other}\n")), ":1: its id is"),
        (
            path("answer", &format!("{wrong_answer}\n")),
            "its answer `17 A` is not a turn there",
        ),
        (
            path("version", &line.replace("\"v\":1", "\"v\":2")),
            "version 2",
        ),
        (
            scratch.path().to_str().expect("UTF-8").to_owned(),
            "it is a folder",
        ),
        ("no-such-file.jsonl".to_owned(), "no-such-file.jsonl"),
        ("builtin:qarto".to_owned(), "did you mean builtin:quarto?"),
    ] {
        let run = puzzles(&["run", &file, "builtin:random"]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(part), "`{part}` is missing\n{run}");
    }
    let run = puzzles(&["run", "builtin:quarto", "human"]);
    assert_eq!(run.code, Some(2), "{run}");
    let run = puzzles(&["make", &path("no-record", "{}\n")]);
    assert_eq!(run.code, Some(2), "{run}");
    let none = puzzles(&["make", &path("no-games", "")]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""), "{none}");
}

#[test]
fn shipped_sets_are_graded() {
    for (name, _) in SHIPPED {
        let set = shipped(name);
        assert_eq!(set.len(), 300, "{name}");
        let ids: HashSet<&str> = set.iter().map(|puzzle| puzzle.id.as_str()).collect();
        assert_eq!(ids.len(), 300, "{name}");
        let mut levels: BTreeMap<u32, u32> = BTreeMap::new();
        let mut kinds: BTreeMap<PuzzleKind, u32> = BTreeMap::new();
        for puzzle in &set {
            assert_eq!(puzzle.id, puzzle.id_of_question());
            *levels.entry(puzzle.level).or_default() += 1;
            *kinds.entry(puzzle.kind).or_default() += 1;
        }
        assert!(
            levels.len() == 5 && levels.values().all(|&count| count >= 20),
            "{name}: {levels:?}"
        );
        assert!(
            kinds.len() == 4 && kinds.values().all(|&count| count >= 15),
            "{name}: {kinds:?}"
        );
    }
}

/// The 32 permutations of the cells of Quarto that make lines of lines: all that follow from four of them.
fn permutations() -> Vec<[usize; 16]> {
    let by_order = |order: [usize; 4]| -> [usize; 16] {
        std::array::from_fn(|cell| 4 * order[cell / 4] + order[cell % 4])
    };
    let generators: [[usize; 16]; 4] = [
        // Mirrored at the diagonal, and upside down.
        std::array::from_fn(|cell| 4 * (cell % 4) + cell / 4),
        std::array::from_fn(|cell| 4 * (3 - cell / 4) + cell % 4),
        by_order([1, 0, 3, 2]),
        by_order([0, 2, 1, 3]),
    ];
    let mut found: BTreeSet<[usize; 16]> = BTreeSet::from([std::array::from_fn(|cell| cell)]);
    loop {
        let more: Vec<[usize; 16]> = found
            .iter()
            .flat_map(|known| generators.map(|next| known.map(|cell| next[cell])))
            .collect();
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            break;
        }
    }
    let lines: Vec<BTreeSet<usize>> = Rules::Standard
        .lines()
        .map(|line| line.cells().map(Cell::index).into())
        .collect();
    for to in &found {
        for line in &lines {
            let image = line.iter().map(|&cell| to[cell]).collect();
            assert!(lines.contains(&image));
        }
    }
    assert_eq!(found.len(), 32);
    found.into_iter().collect()
}

/// The smallest of all requests that are the same question.
fn smallest_image(request: &str, permutations: &[[usize; 16]]) -> String {
    let (board, hand) = request.split_once(' ').expect("a board and a piece");
    let mut orders = Vec::new();
    for n in 0..256usize {
        let order = [n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6];
        if (0..4).all(|feature| order.contains(&feature)) {
            orders.push(order);
        }
    }
    assert_eq!(orders.len(), 24);
    let mut best = String::new();
    for order in &orders {
        for flip in 0..16u8 {
            let image = |piece: u8| {
                if !piece.is_ascii_uppercase() {
                    return char::from(piece);
                }
                let bits = (piece - b'A') ^ flip;
                let moved = (0..4).fold(0, |moved, bit| moved | (bits >> bit & 1) << order[bit]);
                char::from(b'A' + moved)
            };
            for to in permutations {
                let mut cells = ['.'; 16];
                for (cell, &piece) in board.as_bytes().iter().enumerate() {
                    cells[to[cell]] = image(piece);
                }
                let hand: String = hand.bytes().map(image).collect();
                let text = format!("{} {hand}", cells.iter().collect::<String>());
                if best.is_empty() || text < best {
                    best = text;
                }
            }
        }
    }
    best
}

#[test]
fn no_two_are_equal_by_symmetry() {
    let permutations = permutations();
    let set = shipped("quarto");
    let images: HashSet<String> = set
        .iter()
        .map(|puzzle| smallest_image(&puzzle.position, &permutations))
        .collect();
    assert_eq!(images.len(), set.len());
    let set = shipped("four-in-a-row");
    let images: HashSet<String> = set
        .iter()
        .map(|puzzle| {
            let (mark, board) = puzzle.position.split_once(' ').expect("a board");
            let rows = board.as_bytes().chunks(7);
            let mirrored: String = rows
                .flat_map(|row| row.iter().rev().map(|&cell| char::from(cell)))
                .collect();
            format!("{mark} {}", mirrored.min(board.to_owned()))
        })
        .collect();
    assert_eq!(images.len(), set.len());
}

/// The value for the side to move, by the rules alone: every turn is tried until one wins.
fn brute_force<G: BuiltinGame>(game: &G, position: &G::Position) -> Value {
    let side = position.to_move();
    let mut best = Value::Loss;
    for (_, after) in position.turns() {
        best = best.max(value_of_turn(game, side, &after));
        if best == Value::Win {
            break;
        }
    }
    best
}

fn value_of_turn<G: BuiltinGame>(
    game: &G,
    side: referee::game::Side,
    after: &G::Position,
) -> Value {
    match after.outcome() {
        Some(Outcome::Draw) => Value::Draw,
        Some(Outcome::Win(winner)) if winner == side => Value::Win,
        Some(Outcome::Win(_)) => Value::Loss,
        None => brute_force(game, after).opposite(),
    }
}

/// Checks everything that a puzzle says, where `value` gives the value of a position that is not over.
fn verify<G: BuiltinGame>(game: &G, puzzle: &Puzzle, value: impl Fn(&G::Position) -> Value) {
    let position = game.read_request(&puzzle.position).expect("a position");
    let side = position.to_move();
    let mut turns = Vec::new();
    for (turn, after) in position.turns() {
        let text = game.turn_text(turn);
        let worth = match after.outcome() {
            None => value(&after).opposite(),
            Some(_) => value_of_turn(game, side, &after),
        };
        turns.push((text, worth, after));
    }
    let best = turns
        .iter()
        .map(|(_, worth, _)| *worth)
        .max()
        .expect("a turn");
    assert_eq!(puzzle.value, best.name(), "{}", puzzle.id);
    let right = turns.iter().filter(|(_, worth, _)| *worth == best);
    let answers: Vec<&String> = right.map(|(text, _, _)| text).collect();
    assert_eq!(
        answers,
        puzzle.answers.iter().collect::<Vec<_>>(),
        "{}",
        puzzle.id
    );
    assert_eq!(turns.len(), puzzle.turns);
    assert!(answers.len() < turns.len() && best != Value::Loss);
    let wins = turns
        .iter()
        .any(|(_, _, after)| after.outcome() == Some(Outcome::Win(side)));
    let mut wrong = turns.iter().filter(|(_, worth, _)| *worth != best);
    let all_at_once = wrong.all(|(_, _, after)| after.can_win_at_once());
    let kind = if wins {
        PuzzleKind::TakeTheWin
    } else if answers.len() == 1 {
        PuzzleKind::OnlyTurn
    } else if all_at_once {
        PuzzleKind::GiveNoWin
    } else if best == Value::Win {
        PuzzleKind::TakeTheWin
    } else {
        PuzzleKind::HoldTheDraw
    };
    assert_eq!(puzzle.kind, kind, "{}", puzzle.id);
}

/// Every `step`-th puzzle of both sets: with few free cells by the rules alone, else by a solver without a table.
fn verify_sets(step: usize, brute: [usize; 2], most: [usize; 2]) {
    let edition = Edition::default();
    let quarto = Solver::without_book(SolverOptions {
        tt_bytes: 0,
        threads: 1,
    });
    let mut counts = [0; 4];
    for puzzle in shipped("quarto")
        .iter()
        .step_by(step)
        .filter(|puzzle| puzzle.free <= most[0])
    {
        if puzzle.free <= brute[0] {
            counts[0] += 1;
            verify(&edition, puzzle, |position| brute_force(&edition, position));
        } else {
            counts[1] += 1;
            verify(&edition, puzzle, |position| {
                let solved = quarto.solve(position, Goal::Value, &Limits::NONE);
                solved.value().expect("no limit")
            });
        }
    }
    let four = four_in_a_row::Solver::without_book(0);
    for puzzle in shipped("four-in-a-row")
        .iter()
        .step_by(step)
        .filter(|puzzle| puzzle.free <= most[1])
    {
        if puzzle.free <= brute[1] {
            counts[2] += 1;
            verify(&FourInARow, puzzle, |position| {
                brute_force(&FourInARow, position)
            });
        } else {
            counts[3] += 1;
            verify(&FourInARow, puzzle, |position| {
                let solved = four.solve(position, Goal::Value, &Limits::NONE);
                solved.value().expect("no limit")
            });
        }
    }
    println!("by the rules alone, and without a table: {counts:?}");
    assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
}

#[test]
fn a_sample_is_proven_again() {
    verify_sets(5, [5, 9], [7, 14]);
}

/// `cargo test --release --test integration puzzles:: -- --ignored`
#[test]
#[ignore = "seconds in a release build, minutes in a debug build"]
fn all_are_proven_again() {
    verify_sets(1, [7, 14], [16, 42]);
}
