//! One name for all positions of Quarto that are equal by symmetry, and for no others: where [`super::symmetry`] is quick,
//! this is complete.

use super::symmetry::Symmetries;
use crate::game::quarto::{Piece, Position};

const CELLS: usize = 16;

/// What stands for an empty cell, and for an empty hand: no piece.
const NONE: u8 = 16;

/// The name of a position under symmetry, the piece in hand first and then every cell: the smallest of all positions that
/// arise when cells change places so that lines remain lines, features change places, and the two properties of a
/// feature do.
pub fn class(position: &Position) -> [u8; CELLS + 1] {
    let mut cells = [NONE; CELLS];
    for (cell, piece) in position.board().pieces() {
        cells[cell.index()] = piece.bits();
    }
    let hand = position.hand().map(Piece::bits);
    // With a piece in hand the smallest image has piece 0 there.
    let complements: Vec<u8> = match hand {
        Some(piece) => vec![piece],
        None => (0..16).collect(),
    };
    let permutations = Symmetries::of(position.rules()).permutations();
    let mut best = [u8::MAX; CELLS + 1];
    for order in orders() {
        for &complement in &complements {
            let image = |piece: u8| {
                let piece = piece ^ complement;
                (0..4).fold(0, |image, bit| image | (piece >> bit & 1) << order[bit])
            };
            for to in &permutations {
                let mut name = [NONE; CELLS + 1];
                if hand.is_some() {
                    name[0] = 0;
                }
                for (cell, &piece) in cells.iter().enumerate() {
                    if piece != NONE {
                        name[to[cell] + 1] = image(piece);
                    }
                }
                best = best.min(name);
            }
        }
    }
    best
}

/// The orders of the four features.
fn orders() -> impl Iterator<Item = [u8; 4]> {
    (0..=u8::MAX)
        .map(|n| [n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6])
        .filter(|order| (0..4).all(|feature| order.contains(&feature)))
}
