//! Quarto as people see it: pieces in words, boards as pictures.

use super::board::Board;
use super::cell::Cell;
use super::configuration::doubles;
use super::edition::{Edition, Turn};
use super::piece::{Piece, PieceFormat};
use super::position::Position;
use crate::game::Picture;
use crate::text::safe;

impl Edition {
    /// A piece as people see it; sets for looking at may use characters that must be escaped.
    pub(super) fn shown(&self, piece: Piece) -> String {
        match self.format() {
            PieceFormat::Symbol => safe(self.set().symbol(piece).encode_utf8(&mut [0; 4])),
            PieceFormat::Binary => format!("{:04b}", piece.bits()),
            PieceFormat::Decimal => piece.bits().to_string(),
        }
    }

    /// A piece with its properties: `K big blue square solid`.
    pub(super) fn in_words(&self, piece: Piece) -> String {
        let [a, b, c, d] = self.set().words(piece);
        format!("{} {a} {b} {c} {d}", self.shown(piece))
    }

    /// Sentences about pieces that stand on two cells: possible in a drawing, not in a game.
    pub fn double_notes(&self, board: &Board) -> Vec<String> {
        doubles(board)
            .into_iter()
            .map(|(piece, first, second)| {
                format!(
                    "the piece {} stands on cells {} and {}; in a game every piece exists once",
                    self.shown(piece),
                    first.number(),
                    second.number()
                )
            })
            .collect()
    }

    /// A board without a game around it.
    pub fn board_picture(&self, board: &Board) -> Picture {
        let grid = |text: &dyn Fn(Cell) -> String| -> Vec<Vec<String>> {
            let texts: Vec<String> = Cell::all().map(text).collect();
            texts.chunks(4).map(<[String]>::to_vec).collect()
        };
        Picture {
            cells: grid(&|cell| {
                board
                    .get(cell)
                    .map_or_else(String::new, |piece| self.shown(piece))
            }),
            columns: ["V1", "V2", "V3", "V4"].map(str::to_owned).to_vec(),
            rows: ["H1", "H2", "H3", "H4"].map(str::to_owned).to_vec(),
            winning: board
                .quartos(self.rules)
                .flat_map(|quarto| quarto.line.cells())
                .map(place)
                .collect(),
            cell_names: grid(&|cell| cell.number().to_string()),
            ..Picture::default()
        }
    }

    /// A turn in words.
    pub(super) fn turn_in_words(&self, before: &Position, turn: Turn) -> String {
        let placed = turn
            .cell
            .zip(before.hand())
            .map(|(cell, piece)| format!("places {} on {}", self.shown(piece), cell.number()));
        let gives = turn
            .gift
            .map(|piece| format!("gives {}", self.shown(piece)));
        let parts: Vec<String> = placed.into_iter().chain(gives).collect();
        parts.join(", ")
    }

    /// A position, with the cell of the last turn.
    pub(super) fn position_picture(&self, position: &Position, last: Option<Turn>) -> Picture {
        Picture {
            last: last.and_then(|turn| turn.cell).map(place),
            hand: position.hand().map(|piece| self.in_words(piece)),
            left: self
                .set()
                .order()
                .iter()
                .filter(|&&piece| position.is_left(piece))
                .map(|&piece| self.in_words(piece))
                .collect(),
            ..self.board_picture(position.board())
        }
    }
}

/// A cell's row and column.
const fn place(cell: Cell) -> (usize, usize) {
    (cell.row(), cell.column())
}
