//! The transposition table and the symmetries, against searching without them.

use rand::rngs::ChaCha8Rng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _};

use super::bitboard::{Bitboard, has_squares};
use super::symmetry::LiveLines;
use super::symmetry::Symmetries;
use super::*;
use crate::game::quarto::{Board, Cell, Move, Piece, Rules};

const SMALL: SolverOptions = SolverOptions {
    tt_bytes: 1 << 16,
    threads: 1,
};

/// Pieces anywhere and one in hand; no quarto.
fn random_position(rng: &mut ChaCha8Rng, free: usize, rules: Rules) -> Position {
    loop {
        let mut pieces: Vec<Piece> = Piece::all().collect();
        let mut cells: Vec<Cell> = Cell::all().collect();
        pieces.shuffle(rng);
        cells.shuffle(rng);
        if let Some(position) = position(&cells, &pieces, free, rules) {
            return position;
        }
    }
}

fn position(cells: &[Cell], pieces: &[Piece], free: usize, rules: Rules) -> Option<Position> {
    let mut board = Board::default();
    for (cell, piece) in cells.iter().zip(pieces).take(16 - free) {
        assert!(board.place(*cell, *piece));
    }
    let mut position = Position::from_board(board, rules)?;
    position.play(Move::Give(pieces[16 - free])).ok()?;
    Some(position)
}

/// Cells permuted, features in another order and some complemented.
fn symmetric(rng: &mut ChaCha8Rng, position: &Position, to: &[usize; 16]) -> Position {
    let mut order = [0, 1, 2, 3];
    order.shuffle(rng);
    let complemented = rng.random_range(0..16u8);
    let piece = |piece: Piece| {
        let bits = (0..4).fold(0, |bits, f| bits | (piece.bits() >> f & 1) << order[f]);
        Piece::new(bits ^ complemented).unwrap()
    };
    let mut board = Board::default();
    for (cell, old) in position.board().pieces() {
        let cell = Cell::from_index(u8::try_from(to[cell.index()]).unwrap()).unwrap();
        assert!(board.place(cell, piece(old)));
    }
    let mut like = Position::from_board(board, position.rules()).unwrap();
    let hand = position.hand().unwrap();
    like.play(Move::Give(piece(hand))).unwrap();
    like
}

fn key(position: &Position) -> symmetry::Key {
    let (board, hand) = Bitboard::of(position);
    let symmetries = Symmetries::of(position.rules());
    let hand = hand.unwrap();
    if has_squares(position.rules()) {
        let live = LiveLines::of::<true>(&board);
        symmetries.key::<true>(&board, &live, hand, true)
    } else {
        let live = LiveLines::of::<false>(&board);
        symmetries.key::<false>(&board, &live, hand, true)
    }
}

#[test]
fn the_symmetries_are_those_of_the_lines() {
    assert_eq!(Symmetries::of(Rules::Standard).permutations().len(), 32);
    assert_eq!(Symmetries::of(Rules::Squares).permutations().len(), 8);
}

#[test]
fn symmetric_positions_have_the_same_value_and_mostly_the_same_key() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for rules in [Rules::Standard, Rules::Squares] {
        let permutations = Symmetries::of(rules).permutations();
        let mut same = 0;
        let (total, exact) = (300, 40);
        for count in 0..total {
            let free = if count < exact { 6 } else { 4 + count % 12 };
            let position = random_position(&mut rng, free, rules);
            let to = permutations[count % permutations.len()];
            let like = symmetric(&mut rng, &position, &to);
            same += usize::from(key(&position) == key(&like));
            if count < exact {
                // Neither uses the table of the other.
                let [one, two] = [&position, &like].map(|position| {
                    let solver = Solver::without_book(SMALL);
                    solver.solve(position, Goal::Distance, &Limits::NONE)
                });
                assert_eq!(one, two, "{position:?}");
            }
        }
        // Features with equal descriptions may be in another order.
        assert!(same * 100 >= total * 90, "{rules:?}: {same} of {total}");
    }
}

#[test]
fn looking_up_is_as_good_as_searching() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    for rules in [Rules::Standard, Rules::Squares] {
        let mut early = Solver::without_book(SMALL);
        early.tt_from = 1;
        for count in 0..if cfg!(debug_assertions) { 120 } else { 4000 } {
            let position = random_position(&mut rng, 4 + count % 5, rules);
            let mut never = Solver::without_book(SMALL);
            never.tt_from = 17;
            let [one, two] = [&early, &never]
                .map(|solver| solver.solve(&position, Goal::Distance, &Limits::NONE));
            assert_eq!(one, two, "{position:?}");
        }
    }
}

#[test]
fn equal_keys_mean_equal_scores() {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let mut shared = 0;
    for rules in [Rules::Standard, Rules::Squares] {
        for _ in 0..if cfg!(debug_assertions) { 2 } else { 40 } {
            let start = random_position(&mut rng, 6, rules);
            let mut seen = std::collections::HashMap::new();
            for _ in 0..1500 {
                let mut later = start;
                for _ in 0..4 {
                    if let Some((_, next)) = later.turns().choose(&mut rng) {
                        later = *next;
                    }
                }
                if later.outcome().is_some() || later.can_win_at_once() {
                    continue;
                }
                let mut solver = Solver::without_book(SolverOptions {
                    tt_bytes: 0,
                    ..SMALL
                });
                solver.tt_from = 17;
                let evaluation = solver.solve(&later, Goal::Distance, &Limits::NONE);
                let first = *seen.entry(key(&later)).or_insert((evaluation, later));
                shared += usize::from(first.1 != later);
                assert_eq!(first.0, evaluation, "{later:?} and {:?}", first.1);
            }
        }
    }
    assert!(shared > 50, "only {shared} positions shared a key");
}

fn has_quarto(board: &Bitboard) -> bool {
    Rules::Standard.lines().any(|line| {
        let cells = line
            .cells()
            .iter()
            .fold(0, |set, c| set | 1u64 << c.index());
        (0..4).any(|feature| {
            let whole = cells << (16 * feature);
            board.with.iter().any(|with| with & whole == whole)
        })
    })
}

/// The diagonals are filled first: that leaves the most symmetry. Boards with the same key have as many ways to be
/// filled, so they are counted together: that checks the keys as well.
#[test]
#[ignore = "half a minute of one core in a release build, 2 GB of memory"]
fn full_boards_without_a_quarto() {
    let symmetries = Symmetries::of(Rules::Standard);
    // The first piece is 0000; the other fifteen are the same under complement.
    let first = Bitboard {
        with: [0; 2],
        free: 0xffff,
        left: 0xfffe,
    }
    .place(0, 0);
    let mut level = vec![(first, 1u64)];
    let order = [5, 10, 15, 3, 6, 9, 12, 1, 2, 13, 14, 4, 8, 7, 11];
    for cell in order {
        let mut next: std::collections::HashMap<symmetry::Hash, (Bitboard, u64)> =
            std::collections::HashMap::new();
        for (board, ways) in level {
            for piece in bitboard::bits(board.left) {
                let placed = board.give(piece).place(cell, piece);
                if has_quarto(&placed) {
                    continue;
                }
                let live = LiveLines::of::<false>(&placed);
                let key = symmetries.key::<false>(&placed, &live, 0, true);
                next.entry(symmetries.hash(&key)).or_insert((placed, 0)).1 += ways;
            }
        }
        level = next.into_values().collect();
    }
    let full: u64 = level.iter().map(|(_, ways)| ways).sum();
    assert_eq!(full * 16, 414_298_141_056);
}
