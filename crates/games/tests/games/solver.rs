//! The solver held against a brute force that prunes nothing and shares no code with it: values and distances of
//! positions and of all their turns, under both rule sets.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::books::early_positions;
use rand::rngs::ChaCha8Rng;
use rand::seq::{IteratorRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _};
use referee_games::game::quarto::{Board, Cell, Edition, Move, Piece, PieceSet, Position, Rules};
use referee_games::game::{BuiltinGame as _, Position as _};
use referee_games::solver::{
    Evaluation, Goal, Limits, Solve as _, Solver, SolverOptions, Value, safe_turns,
};

/// For the side to move, in how many placements; `None` is a draw.
type Truth = Option<(Value, u32)>;

const VALUES: [Value; 3] = [Value::Loss, Value::Draw, Value::Win];

const LINES: [[usize; 4]; 19] = [
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9, 10, 11],
    [12, 13, 14, 15],
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [3, 6, 9, 12],
    [0, 1, 4, 5],
    [1, 2, 5, 6],
    [2, 3, 6, 7],
    [4, 5, 8, 9],
    [5, 6, 9, 10],
    [6, 7, 10, 11],
    [8, 9, 12, 13],
    [9, 10, 13, 14],
    [10, 11, 14, 15],
];

/// The test's own rules: cells, `16` for none.
#[derive(Clone)]
struct Plain {
    cells: [u8; 16],
    lines: usize,
}

impl Plain {
    fn of(position: &Position) -> Self {
        let mut cells = [16; 16];
        for (cell, piece) in position.board().pieces() {
            cells[cell.index()] = piece.bits();
        }
        let lines = match position.rules() {
            Rules::Standard => 10,
            Rules::Squares => 19,
        };
        Self { cells, lines }
    }

    fn has_quarto(&self) -> bool {
        LINES[..self.lines].iter().any(|line| {
            let pieces = line.map(|cell| self.cells[cell]);
            (0..4).any(|bit| {
                pieces.iter().all(|p| *p < 16 && p >> bit & 1 == 1)
                    || pieces.iter().all(|p| *p < 16 && p >> bit & 1 == 0)
            })
        })
    }

    fn give(&mut self, left: u16) -> Truth {
        (0..16u8)
            .filter(|piece| left >> piece & 1 == 1)
            .map(|piece| turned(self.place(piece, left & !(1 << piece)), 0))
            .max_by_key(|truth| rank(*truth))
            .unwrap_or(None)
    }

    fn place(&mut self, hand: u8, left: u16) -> Truth {
        let mut best = Some((Value::Loss, 0));
        for cell in 0..16 {
            if self.cells[cell] != 16 {
                continue;
            }
            self.cells[cell] = hand;
            let truth = if self.has_quarto() {
                Some((Value::Win, 1))
            } else {
                self.give(left).map(|(value, plies)| (value, plies + 1))
            };
            self.cells[cell] = 16;
            best = [best, truth]
                .into_iter()
                .max_by_key(|truth| rank(*truth))
                .unwrap();
        }
        best
    }
}

fn turned(truth: Truth, plies: u32) -> Truth {
    truth.map(|(value, before)| (value.opposite(), before + plies))
}

fn rank(truth: Truth) -> i64 {
    match truth {
        None => 0,
        Some((Value::Win, plies)) => 100 - i64::from(plies),
        Some((_, plies)) => i64::from(plies) - 100,
    }
}

fn truth(position: &Position) -> Truth {
    let mut plain = Plain::of(position);
    let left = position.left().fold(0, |set, piece| set | piece.mask());
    match position.hand() {
        Some(hand) => plain.place(hand.bits(), left),
        None => plain.give(left),
    }
}

fn said(answer: Evaluation) -> Truth {
    let value = answer.value().expect("no limit was set");
    assert_eq!(value == Value::Draw, answer.plies().is_none(), "{answer:?}");
    answer.plies().map(|plies| (value, plies))
}

/// Pieces anywhere, no quarto, perhaps nothing in hand.
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
        let Some(mut position) = Position::from_board(board, rules) else {
            continue;
        };
        if rng.random_ratio(4, 5) {
            let gift = position.left().choose(rng).unwrap();
            position.play(Move::Give(gift)).unwrap();
        }
        return position;
    }
}

fn shown(position: &Position) -> String {
    let edition = Edition::new(position.rules(), PieceSet::default());
    format!("{} {}", position.rules().name(), edition.request(position))
}

fn compare(solver: &Solver, position: &Position) {
    let expected = truth(position);
    let text = shown(position);
    let found = said(solver.solve(position, Goal::Distance, &Limits::NONE));
    assert_eq!(found, expected, "{text}");
    let value = solver.solve(position, Goal::Value, &Limits::NONE).value();
    assert_eq!(
        value,
        Some(expected.map_or(Value::Draw, |(value, _)| value))
    );
    for least in VALUES {
        let reached = solver.reaches(position, least, &Limits::NONE);
        assert_eq!(reached, value.map(|value| value >= least), "{text}");
    }
    let moves = solver.solve_turns(position, Goal::Distance, &Limits::NONE);
    let turns = position.turns();
    let names: Vec<_> = moves.iter().map(|(turn, _)| *turn).collect();
    assert_eq!(
        names,
        turns.iter().map(|t| t.0).collect::<Vec<_>>(),
        "{text}"
    );
    for ((turn, answer), (_, after)) in moves.into_iter().zip(turns) {
        let placed = u32::from(turn.cell.is_some());
        let expected = match turn.gift {
            Some(_) => turned(truth(&after), placed),
            None if Plain::of(&after).has_quarto() => Some((Value::Win, 1)),
            None => None,
        };
        assert_eq!(said(answer), expected, "{text}: {turn:?}");
        for least in VALUES {
            let kept = solver.keeps(&after, least, &Limits::NONE);
            let value = answer.value();
            assert_eq!(kept, value.map(|value| value >= least), "{text}: {turn:?}");
        }
    }
}

fn safe_turns_one_by_one(position: &Position) -> usize {
    let turns = position.turns();
    turns
        .iter()
        .filter(|(_, after)| !after.can_win_at_once())
        .count()
}

fn compare_many(seed: u64, options: SolverOptions, counts: &[(usize, u32)]) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for rules in [Rules::Standard, Rules::Squares] {
        let solver = Solver::new(options);
        for &(free, count) in counts {
            for _ in 0..count {
                compare(&solver, &random_position(&mut rng, free, rules));
            }
        }
    }
}

const ONE: SolverOptions = SolverOptions {
    tt_bytes: 1 << 20,
    threads: 1,
};

#[test]
fn values_and_distances_are_those_of_brute_force() {
    compare_many(1, ONE, &[(1, 20), (2, 50), (3, 100), (4, 60), (5, 12)]);
}

#[test]
#[ignore = "seconds in a release build, minutes in a debug build"]
fn values_and_distances_of_thousands_of_positions() {
    let counts = [
        (1, 200),
        (2, 500),
        (3, 2000),
        (4, 2000),
        (5, 1000),
        (6, 200),
        (7, 10),
    ];
    compare_many(2, ONE, &counts);
}

#[test]
fn safe_turns_are_counted() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for count in 0..200 {
        let rules = [Rules::Standard, Rules::Squares][count % 2];
        let position = random_position(&mut rng, 2 + count / 2 % 14, rules);
        if position.hand().is_some() && !position.can_win_at_once() {
            let expected = safe_turns_one_by_one(&position);
            assert_eq!(
                safe_turns(&position) as usize,
                expected,
                "{}",
                shown(&position)
            );
        }
    }
}

#[test]
fn any_table_will_do() {
    for bytes in [0, 64, 1000] {
        let options = SolverOptions {
            tt_bytes: bytes,
            threads: 1,
        };
        compare_many(3 + bytes as u64, options, &[(3, 20), (4, 15), (5, 3)]);
    }
}

#[test]
fn a_stop_flag_and_a_node_limit_stop_it() {
    let position = Position::new(Rules::Standard);
    let solver = Solver::without_book(ONE);
    let stop = Arc::new(AtomicBool::new(true));
    let answer = solver.solve(&position, Goal::Value, &Limits::NONE.or_when(stop));
    assert_eq!((answer.value(), answer.words()), (None, "nothing"));
    let answer = solver.solve(&position, Goal::Value, &Limits::nodes(10_000));
    assert_eq!(answer.value(), None);
    assert!(solver.nodes() < 100_000, "{}", solver.nodes());
}

#[test]
fn threads_agree() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for rules in [Rules::Standard, Rules::Squares] {
        for _ in 0..3 {
            let position = random_position(&mut rng, 9, rules);
            let answers = [1, 4].map(|threads| {
                let tt_bytes = 1 << 20;
                let solver = Solver::without_book(SolverOptions { tt_bytes, threads });
                solver.solve(&position, Goal::Distance, &Limits::NONE)
            });
            assert_eq!(answers[0], answers[1], "{}", shown(&position));
        }
    }
}

#[test]
fn a_perfect_line_is_perfect() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for rules in [Rules::Standard, Rules::Squares] {
        for free in [2, 3, 4, 5, 6, 7] {
            let solver = Solver::new(ONE);
            let mut position = random_position(&mut rng, free, rules);
            let mut expected = truth_if_few(&position, &solver);
            let line = solver.principal_variation(&position, &Limits::NONE);
            let placements = line.iter().filter(|turn| turn.cell.is_some()).count();
            let plies = expected.map_or(free, |(_, plies)| plies as usize);
            assert_eq!(placements, plies, "{}", shown(&position));
            for turn in line {
                let turns = position.turns();
                let (_, after) = turns.into_iter().find(|t| t.0 == turn).unwrap();
                expected = turned(expected, 0)
                    .map(|(value, plies)| (value, plies - u32::from(turn.cell.is_some())));
                position = after;
                if position.outcome().is_none() {
                    let found = said(solver.solve(&position, Goal::Distance, &Limits::NONE));
                    assert_eq!(found, expected, "{}", shown(&position));
                }
            }
            assert!(position.outcome().is_some());
        }
    }
}

/// Where that is quick, by the solver otherwise.
fn truth_if_few(position: &Position, solver: &Solver) -> Truth {
    if position.board().free().count() <= 5 {
        truth(position)
    } else {
        said(solver.solve(position, Goal::Distance, &Limits::NONE))
    }
}

#[test]
fn early_positions_are_known_at_once() {
    // Without those that are won immediately (66 of 3,382 with three on the board).
    let counts = [0, 1, 2, 3].map(|placed| early_positions(Rules::Standard, placed).len());
    assert_eq!(counts, [1, 8, 148, 3316]);
    let solver = Solver::new(ONE);
    let answer = solver.solve(&Position::new(Rules::Standard), Goal::Value, &Limits::NONE);
    assert_eq!(answer.value(), Some(Value::Draw));
    let nodes = solver.nodes();
    assert!(
        nodes < 100,
        "the book knows it, but {nodes} nodes were searched"
    );
}

/// The book does not know which positions it was made of.
fn early_positions_are_in_the_book(rules: Rules, placed: usize) {
    let goal = if placed < 4 {
        Goal::Distance
    } else {
        Goal::Value
    };
    let solver = Solver::new(ONE);
    for position in early_positions(rules, placed) {
        let begun = solver.nodes();
        let answer = solver.solve(&position, goal, &Limits::NONE);
        let nodes = solver.nodes() - begun;
        assert!(nodes < 1000, "{nodes} nodes: {position:?}, {answer:?}");
    }
}

#[test]
fn every_early_position_is_in_the_book() {
    for rules in [Rules::Standard, Rules::Squares] {
        for placed in 0..=3 {
            early_positions_are_in_the_book(rules, placed);
        }
    }
}

#[test]
#[ignore = "400,000 positions, half a minute in a release build"]
fn every_early_position_is_in_the_book_to_the_end() {
    for rules in [Rules::Standard, Rules::Squares] {
        early_positions_are_in_the_book(rules, 4);
    }
}
