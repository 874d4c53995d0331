//! How the books of proofs are made.

use std::collections::HashSet;

use proptest::prelude::*;
use referee_games::game::quarto::{Board, Cell, Edition, Move, Piece, Position, Rules};
use referee_games::game::{BuiltinGame as _, Position as _};
use referee_games::solver::four_in_a_row::BOOK_DISCS;
use referee_games::solver::{Goal, Limits, Solve as _, Solver, SolverOptions, Value, book_key};

use crate::books::compact_book::{CompactBook, HEADER};
use crate::books::{early_positions, four_positions, four_proofs, pack};

#[test]
fn every_key_has_its_value() {
    for n in [0_u64, 1, 2, 3, 10, 100, 5000, 70_000] {
        for bits in [1, 2, 5, 7] {
            let value =
                |key: u64| (key.wrapping_mul(7) >> 3).to_le_bytes()[0] & (u8::MAX >> (8 - bits));
            let entries: Vec<_> = (0..n)
                .map(|i| i * i + 3)
                .map(|key| (key, value(key)))
                .collect();
            let bytes = pack(&entries).unwrap();
            let read = CompactBook::from_bytes(&bytes).unwrap();
            for (key, value) in entries {
                assert_eq!(read.get(key), Some(value), "{key} of {n}, {bits} bits");
            }
        }
    }
}

#[test]
fn large_sets_take_little_more_than_their_values() {
    let entries: Vec<_> = (0..200_000_u64)
        .map(|key| (key, key.to_le_bytes()[0] & 3))
        .collect();
    let bytes = pack(&entries).unwrap().len();
    assert!(bytes < 200_000 / 4 * 120 / 100, "{bytes}");
}

#[test]
fn a_key_twice_is_refused() {
    assert_eq!(pack(&[(5, 0), (5, 1)]), None);
}

proptest! {
    #[test]
    fn other_bytes_are_refused_or_answered(bytes in prop::collection::vec(any::<u8>(), 0..200), key: u64) {
        if let Some(read) = CompactBook::from_bytes(&[HEADER, &bytes[..]].concat()) {
            read.get(key);
        }
    }

    #[test]
    fn shortened_bytes_are_refused(cut in 1usize..100) {
        let entries: Vec<_> = (0..1000).map(|key| (key, 1)).collect();
        let bytes = pack(&entries).unwrap();
        prop_assert!(CompactBook::from_bytes(&bytes[..bytes.len() - cut]).is_none());
    }
}

#[test]
fn proofs_of_four_in_a_row_are_read() {
    assert_eq!(four_positions(4).len(), 568);
    let file = [b"four in a row 1\n", &5_u64.to_le_bytes()[..], &[254]].concat();
    assert_eq!(four_proofs(&file).unwrap()[&5], 254);
    for wrong in [&b"referee notes 1\n"[..], &file[..file.len() - 1]] {
        let problem = four_proofs(wrong).unwrap_err();
        assert!(
            problem.contains(&format!("{BOOK_DISCS} discs")),
            "{problem}"
        );
    }
}

/// With the first piece in hand.
fn keys_of_all_boards(rules: Rules, placed: usize) -> HashSet<u64> {
    let mut boards = vec![(Board::default(), 0)];
    for _ in 1..placed {
        boards = boards
            .iter()
            .flat_map(|(board, from)| with_one_more(board, *from))
            .collect();
    }
    let last = boards.iter().flat_map(|(board, from)| match placed {
        0 => vec![(*board, 0)],
        _ => with_one_more(board, *from),
    });
    let keys = last.filter_map(|(board, _)| {
        let mut position = Position::from_board(board, rules)?;
        position.play(Move::Give(Piece::new(0)?)).ok()?;
        book_key(&position)
    });
    keys.collect()
}

/// With another piece on a later cell, and the first cell after it.
fn with_one_more(board: &Board, from: usize) -> Vec<(Board, usize)> {
    let mut boards = Vec::new();
    for cell in Cell::all().skip(from) {
        for piece in Piece::all().skip(1) {
            let mut next = *board;
            if next.place(cell, piece) {
                boards.push((next, cell.index() + 1));
            }
        }
    }
    boards
}

fn keys(rules: Rules, placed: usize) -> HashSet<u64> {
    early_positions(rules, placed)
        .iter()
        .filter_map(book_key)
        .collect()
}

/// A book answers for every position, so it must have been made of all of them.
#[test]
fn every_early_board_has_the_key_of_an_early_position() {
    for rules in [Rules::Standard, Rules::Squares] {
        for placed in 0..=2 {
            assert!(
                keys(rules, placed) == keys_of_all_boards(rules, placed),
                "{placed}"
            );
        }
    }
}

/// Four minutes.
#[test]
#[ignore = "60 million boards under both rule sets: cargo test --release -p referee-games early_positions -- --ignored"]
fn every_early_board_has_the_key_of_an_early_position_to_the_end() {
    for rules in [Rules::Standard, Rules::Squares] {
        for placed in 3..=4 {
            assert!(
                keys(rules, placed) == keys_of_all_boards(rules, placed),
                "{placed}"
            );
        }
    }
}

#[test]
fn what_a_solver_proves_can_go_into_a_book() {
    let edition = Edition::default();
    let position = edition.read_request("A..PC...J..EF... G").unwrap();
    let solver = Solver::without_book(SolverOptions {
        tt_bytes: 1 << 20,
        threads: 1,
    });
    let unknown = Some((book_key(&position).unwrap(), 14));
    assert_eq!(solver.book_value(&position), unknown);
    let value = solver.solve(&position, Goal::Value, &Limits::NONE).value();
    assert_eq!(value, Some(Value::Draw));
    let (_, bounds) = solver.book_value(&position).unwrap();
    assert_eq!(bounds, 7 << 4 | 7, "both bounds are a draw");
}

/// From the proofs in it, as `examples/make_books` makes it.
#[test]
#[ignore = "finds all early positions, some seconds in a release build"]
fn a_book_is_packed_as_it_is_shipped() {
    let solver = Solver::new(SolverOptions {
        tt_bytes: 1 << 20,
        threads: 1,
    });
    for rules in [Rules::Standard, Rules::Squares] {
        let levels = [0, 1, 2, 3, 4].map(|placed| early_positions(rules, placed));
        let shipped = format!(
            "{}/src/solver/book/{}.bin",
            env!("CARGO_MANIFEST_DIR"),
            rules.name()
        );
        let positions = levels.iter().flatten();
        let entries = positions.filter_map(|position| solver.book_value(position));
        let entries: Vec<_> = entries.collect();
        let packed = pack(&entries);
        assert!(packed == std::fs::read(shipped).ok(), "{}", rules.name());
    }
}
