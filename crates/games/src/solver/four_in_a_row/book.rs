//! The book of Four In A Row: the score of every position with eleven discs. Earlier positions follow from it in
//! milliseconds, later ones are solved quickly without it.
//!
//! The shipped scores follow from Markus Thill's database (bitbully-databases 0.0.2, MIT licence); docs/internals/solver.md
//! says how they were checked.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::board::Board;
use crate::game::four_in_a_row::Position;
use crate::solver::compact_book::CompactBook;
use crate::solver::evaluation::Score;

pub const BOOK_DISCS: usize = 11;

pub(super) const BOOK_FREE: u8 = 31;

/// A web page has it only if its games need it ([`give`]): it is most of the module.
pub static SHIPPED_BYTES: &[u8] = if cfg!(target_family = "wasm") {
    &[]
} else {
    include_bytes!("../book/four_in_a_row.bin")
};

static SHIPPED: OnceLock<Option<CompactBook<'static>>> = OnceLock::new();

/// Gives all solvers of this game a book, if none has been made. Returns whether it is theirs.
pub fn give(bytes: Vec<u8>) -> bool {
    let book = CompactBook::from_bytes(bytes.leak());
    book.is_some() && SHIPPED.set(book).is_ok()
}

pub(super) fn shipped() -> Option<CompactBook<'static>> {
    *SHIPPED.get_or_init(|| CompactBook::from_bytes(SHIPPED_BYTES))
}

/// The same for a position and its mirror image.
pub fn book_key(position: &Position) -> u64 {
    Board::of(position).canonical_key()
}

/// The position must be in the book; neither side wins immediately.
#[inline]
pub(super) fn score(book: &CompactBook<'_>, board: &Board) -> Option<Score> {
    book.get(board.canonical_key()).map(u8::cast_signed)
}

/// Whether a game can come to this position; the book has no others.
pub(super) fn is_reachable(board: &Board) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![*board];
    while let Some(board) = open.pop() {
        if board.is_empty() {
            return true;
        }
        open.extend(board.before().filter(|before| seen.insert(before.key())));
    }
    false
}
