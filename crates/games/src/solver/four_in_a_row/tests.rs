//! The search against one that knows nothing but the rules.

use std::collections::{HashMap, HashSet};

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;

use super::*;
use crate::game::BuiltinGame as _;
use crate::game::four_in_a_row::{Column, FourInARow};
use crate::solver::Value;

/// Tries all turns to the end.
fn brute_force(position: &Position) -> Value {
    match position.outcome() {
        // Only the side that moved last can have won.
        Some(Outcome::Win(_)) => return Value::Loss,
        Some(Outcome::Draw) => return Value::Draw,
        None => {}
    }
    let turns = position.turns();
    let values = turns.iter().map(|(_, after)| brute_force(after).opposite());
    values.max().expect("a turn")
}

/// Plies to the end, as the winner wants few and the loser many.
fn brute_plies(position: &Position) -> (Value, u32) {
    if position.outcome().is_some() {
        return (brute_force(position), 0);
    }
    let turns = position.turns();
    let all = turns.iter().map(|(_, after)| {
        let (value, plies) = brute_plies(after);
        (value.opposite(), plies + 1)
    });
    let key = |&(value, plies): &(Value, u32)| match value {
        Value::Win => (value, 100 - plies),
        Value::Draw => (value, 0),
        Value::Loss => (value, plies),
    };
    all.max_by_key(key).expect("a turn")
}

fn random_positions(discs: usize, count: usize) -> Vec<Position> {
    let mut rng = ChaCha8Rng::seed_from_u64(discs as u64);
    let mut found = Vec::new();
    while found.len() < count {
        let mut position = Position::default();
        for _ in 0..discs {
            let moves: Vec<Column> = position.moves().collect();
            let Some(&column) = moves.choose(&mut rng) else {
                break;
            };
            position.play(column).expect("legal");
        }
        if position.outcome().is_none() {
            found.push(position);
        }
    }
    found
}

#[test]
fn values_and_distances_are_those_of_brute_force() {
    let solver = Solver::new(1 << 20);
    for discs in 30..42 {
        for position in random_positions(discs, 12) {
            let (value, plies) = brute_plies(&position);
            let found = solver.solve(&position, Goal::Distance, &Limits::NONE);
            assert_eq!(found.value(), Some(value), "{position:?}");
            if value != Value::Draw {
                assert_eq!(found.plies(), Some(plies), "{position:?}");
            }
            let turns = solver.solve_turns(&position, Goal::Value, &Limits::NONE);
            let expected = position.turns();
            assert_eq!(turns.len(), expected.len());
            for ((column, found), (turn, after)) in turns.iter().zip(&expected) {
                assert_eq!(column, turn);
                let expected = brute_force(after).opposite();
                assert_eq!(found.value(), Some(expected), "{position:?} {column:?}");
            }
        }
    }
}

/// Positions and scores of the sets that most solvers are measured with (docs/internals/solver.md): the columns played, and the
/// score. A win before the winner's disc number 21 scores 2 and so on; a loss is negative.
const PUBLISHED: &str = include_str!("published.txt");

#[test]
fn published_scores_are_found() {
    let solver = Solver::new(1 << 22);
    for line in PUBLISHED.lines() {
        let (columns, score) = line.split_once(' ').expect("two words");
        let mut position = Position::default();
        for number in columns.chars() {
            let answer = number.to_string();
            let (_, after) = FourInARow.judge(&position, &answer).expect("legal");
            position = after;
        }
        let found = solver.solve(&position, Goal::Distance, &Limits::NONE);
        let discs = u32::try_from(columns.len()).expect("few");
        // The winner's discs that are left when it wins, with the last one.
        let left = || i64::from(22 - (discs + found.plies().expect("proven")).div_ceil(2));
        let expected = match found.value().expect("proven") {
            Value::Win => left(),
            Value::Draw => 0,
            Value::Loss => -left(),
        };
        assert_eq!(score.parse(), Ok(expected), "{line}");
    }
}

#[test]
fn bounds_without_a_search_hold() {
    let (mut at_most, mut at_least) = (0, 0);
    for discs in 32..40 {
        for position in random_positions(discs, 200) {
            let future = Board::of(&position).future();
            let value = brute_force(&position);
            if !future.can_win {
                at_most += 1;
                assert!(value <= Value::Draw, "{position:?}");
            }
            if !future.can_lose {
                at_least += 1;
                assert!(value >= Value::Draw, "{position:?}");
            }
        }
    }
    assert!(at_most > 0 && at_least > 0, "no bound was tried");
}

/// The table takes them for one.
#[test]
fn positions_with_the_same_future_have_the_same_score() {
    let mut scores = HashMap::new();
    let (mut seen, mut merged) = (HashSet::new(), 0);
    let mut open = random_positions(30, 40);
    while let Some(position) = open.pop() {
        let board = Board::of(&position);
        if position.outcome().is_some() || board.can_win() || !seen.insert(board.canonical_key()) {
            continue;
        }
        let hash = board.future().hash;
        let score = brute_plies(&position);
        match scores.insert((hash.slot, hash.signature), score) {
            Some(before) => {
                merged += 1;
                assert_eq!(before, score, "{position:?}");
            }
            None => open.extend(position.turns().into_iter().map(|(_, after)| after)),
        }
    }
    assert!(merged > 1000, "{merged} of {}", seen.len());
}

#[test]
fn the_table_changes_nothing() {
    let (with, small, without) = (
        Solver::new(1 << 22),
        Solver::new(1 << 8),
        Solver::without_book(0),
    );
    for position in random_positions(24, 12) {
        let found = with.solve(&position, Goal::Distance, &Limits::NONE);
        for other in [&small, &without] {
            let same = other.solve(&position, Goal::Distance, &Limits::NONE);
            assert_eq!(found, same, "{position:?}");
        }
    }
}

#[test]
fn a_limit_leaves_bounds() {
    let solver = Solver::new(1 << 20);
    let start = Position::default();
    let found = solver.solve(&start, Goal::Value, &Limits::nodes(5000));
    assert_eq!(found.value(), None);
    assert!(solver.nodes() < 10_000);
}

#[test]
fn the_book_is_of_boards_with_as_many_discs() {
    assert_eq!(BOOK_DISCS + usize::from(BOOK_FREE), 42);
}

#[test]
fn the_empty_board_is_a_win_in_the_middle_column() {
    let solver = Solver::new(1 << 22);
    let start = Position::default();
    let found = solver.solve(&start, Goal::Distance, &Limits::NONE);
    assert_eq!((found.value(), found.plies()), (Some(Value::Win), Some(41)));
    let turns = solver.solve_turns(&start, Goal::Value, &Limits::NONE);
    let values = turns.iter().filter_map(|(_, found)| found.value());
    let (win, draw, loss) = (Value::Win, Value::Draw, Value::Loss);
    assert_eq!(
        values.collect::<Vec<_>>(),
        [loss, loss, draw, win, draw, loss, loss]
    );
    let line = solver.principal_variation(&start, &Limits::NONE);
    assert_eq!((line.len(), line[0].number()), (41, 4));
}

/// Positions of the book are searched without it, within `nodes` nodes each; returns how many were solved.
fn compare_with_the_book(count: usize, nodes: u64) -> usize {
    let with = Solver::new(1 << 20);
    let without = Solver::without_book(1 << 24);
    let mut solved = 0;
    for position in random_positions(BOOK_DISCS, count) {
        let found = without.solve(&position, Goal::Distance, &Limits::nodes(nodes));
        let expected = with.solve(&position, Goal::Distance, &Limits::NONE);
        let ((low, high), (score, same)) = (found.rank(), expected.rank());
        assert_eq!(score, same, "not exact: {position:?}");
        assert!(
            low <= score && score <= high,
            "{position:?}: {found:?}, {expected:?}"
        );
        solved += usize::from(low == high);
    }
    solved
}

#[test]
fn the_book_has_the_scores_that_a_search_finds() {
    let solved = compare_with_the_book(60, 20_000);
    assert!(solved > 5, "{solved} of 60 were solved within the limit");
}

/// Five to ten minutes.
#[test]
#[ignore = "solves 4,000 positions: cargo test --release --lib the_book_has -- --ignored"]
fn the_book_has_the_scores_that_a_search_finds_of_thousands() {
    assert_eq!(compare_with_the_book(4000, u64::MAX), 4000);
}

/// The second player's discs lie at the bottom everywhere, so the first player cannot have begun.
#[test]
fn positions_that_no_game_reaches_are_not_looked_up() {
    let text = [
        ".".repeat(21),
        "O.@.@..".into(),
        "@.@.@.@".into(),
        "O.O.O.O".into(),
    ]
    .concat();
    let position = FourInARow
        .start_from(&format!("O {text}"))
        .expect("a position");
    let board = Board::of(&position);
    assert_eq!((board.free(), board.can_win()), (BOOK_FREE, false));
    assert!(!book::is_reachable(&board));
    for discs in [0, 1, 5, 10, 11] {
        for position in random_positions(discs, 20) {
            assert!(book::is_reachable(&Board::of(&position)), "{position:?}");
        }
    }
}
