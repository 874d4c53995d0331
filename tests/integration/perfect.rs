//! `builtin:perfect` gives away nothing that the solver can see.

use std::time::Duration;

use crate::common::Referee;
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use referee::game::quarto::{Board, Cell, Edition, Move, Piece, PieceSet, Position, Rules};
use referee::game::{BuiltinGame as _, Position as _};
use referee::solver::{Goal, Limits, Solve as _, Solver, SolverOptions, Value};
use referee::strategy::perfect::Perfect;

/// So long that it never matters how fast this machine is.
const LONG: Duration = Duration::from_mins(10);

fn solver() -> Solver {
    Solver::new(SolverOptions {
        tt_bytes: 4 << 20,
        threads: 1,
    })
}

fn random_position(rng: &mut ChaCha8Rng, free: usize, rules: Rules) -> Position {
    loop {
        let mut pieces: Vec<Piece> = Piece::all().collect();
        let mut cells: Vec<Cell> = Cell::all().collect();
        pieces.shuffle(rng);
        cells.shuffle(rng);
        let mut board = Board::default();
        for (cell, piece) in cells.iter().zip(&pieces).take(16 - free) {
            assert!(board.place(*cell, *piece));
        }
        let Some(position) = Position::from_board(board, rules) else {
            continue;
        };
        // One that does not lose at once, so that there is something to think about.
        let given = position.left().filter_map(|piece| {
            let mut given = position;
            given.play(Move::Give(piece)).ok()?;
            (!given.can_win_at_once()).then_some(given)
        });
        if let Some(position) = given.collect::<Vec<_>>().choose(rng) {
            return *position;
        }
    }
}

#[test]
fn it_keeps_every_value() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let solver = solver();
    let mut seen = [0; 3];
    for round in 0..150 {
        let rules = [Rules::Standard, Rules::Squares][round % 2];
        let edition = Edition::new(rules, PieceSet::default());
        let position = random_position(&mut rng, 2 + round % 7, rules);
        let value = |position: &Position| {
            let answer = solver.solve(position, Goal::Value, &Limits::NONE);
            answer.value().expect("no limits")
        };
        let mut perfect = Perfect::new(Some(LONG));
        let turn = perfect.choose(&position, &mut rng).expect("a turn");
        let answer = edition.turn_text(turn);
        let (_, after) = edition.judge(&position, &answer).expect("a legal turn");
        let kept = if turn.gift.is_some() {
            value(&after).opposite()
        } else {
            value(&after)
        };
        assert_eq!(kept, value(&position), "{answer} in {position:?}");
        seen[kept as usize] += 1;
    }
    assert!(seen.iter().all(|&count| count > 10), "{seen:?}");
}

#[test]
fn it_answers_everywhere_and_in_time() {
    let edition = Edition::default();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut perfect = Perfect::new(Some(Duration::from_millis(50)));
    // A whole game against itself, from the empty board.
    let mut position = edition.start();
    let mut turns = 0;
    while position.outcome().is_none() {
        let turn = perfect.choose(&position, &mut rng).expect("a turn");
        let answer = edition.turn_text(turn);
        position = edition.judge(&position, &answer).expect("a legal turn").1;
        turns += 1;
    }
    assert!(turns > 5);
    assert_eq!(perfect.choose(&position, &mut rng), None);
}

/// A board with eight free cells on which whoever begins, and nobody who plays well loses.
fn drawn_board(edition: &Edition) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let solver = solver();
    loop {
        let position = random_position(&mut rng, 8, Rules::Standard);
        let board = edition.board(&position);
        let start = edition.start_from(&board).expect("a board");
        let answer = solver.solve(&start, Goal::Value, &Limits::NONE);
        if answer.value() == Some(Value::Draw) {
            return board;
        }
    }
}

#[test]
fn as_a_program_it_never_loses_what_is_drawn() {
    let board = drawn_board(&Edition::default());
    for (pieces, seed) in [(None, "1"), (Some("../../sets/dutch.csv"), "2")] {
        let mut arguments = vec![
            "--start",
            &board,
            "-n",
            "8",
            "--seed",
            seed,
            "--move-time",
            "30s",
        ];
        arguments.extend(pieces.into_iter().flat_map(|file| ["--pieces", file]));
        arguments.extend(["builtin:perfect", "builtin:greedy"]);
        let run = Referee::new(arguments).recorded().run();
        assert_eq!(run.code, Some(0), "{run}");
        let records = run.records();
        assert_eq!(records.len(), 8, "{run}");
        for record in records {
            assert_ne!(record["result"]["winner"], 1, "{record}");
            assert!(record["result"].get("by").is_none(), "{record}");
        }
    }
}

#[test]
fn it_plays_four_in_a_row() {
    let run = Referee::new([
        "--game",
        "four-in-a-row",
        "--move-time",
        "1s",
        "--seed",
        "1",
        "builtin:perfect",
        "builtin:random",
    ])
    .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("builtin:perfect wins: "), "{run}");
}
