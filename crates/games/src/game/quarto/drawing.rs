//! Drawing: positions as pictures, turns and duplicate pieces in words.

use super::board::Board;
use super::cell::Cell;
use super::edition::Edition;
use super::position::Position;
use super::turn::Turn;
use crate::game::Picture;

impl Edition {
    /// Sentences about pieces that stand on two cells: possible in a drawing, not in a game.
    pub fn duplicate_warnings(&self, board: &Board) -> Vec<String> {
        board
            .duplicates()
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

    /// The picture of a board that belongs to no game.
    pub fn board_picture(&self, board: &Board) -> Picture {
        let grid = |text: &dyn Fn(Cell) -> String| -> Vec<Vec<String>> {
            let texts: Vec<String> = Cell::all().map(text).collect();
            texts.chunks(4).map(<[String]>::to_vec).collect()
        };
        let mut lines: Vec<_> = board
            .quartos(self.rule_set())
            .map(|quarto| quarto.line.cells().map(place).to_vec())
            .collect();
        // A line with two properties is a quarto for each.
        lines.dedup();
        Picture {
            cells: grid(&|cell| {
                board
                    .get(cell)
                    .map_or_else(String::new, |piece| self.shown(piece))
            }),
            columns: ["V1", "V2", "V3", "V4"].map(str::to_owned).to_vec(),
            rows: ["H1", "H2", "H3", "H4"].map(str::to_owned).to_vec(),
            winning: lines.concat(),
            lines,
            cell_names: grid(&|cell| cell.number().to_string()),
            ..Picture::default()
        }
    }

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

    /// The picture of a position, with the cell of the last turn.
    pub(super) fn position_picture(&self, position: &Position, last: Option<Turn>) -> Picture {
        Picture {
            last: last.and_then(|turn| turn.cell).map(place),
            hand: position.hand().map(|piece| self.in_words(piece)),
            left: self
                .left_in_order(position)
                .map(|piece| self.in_words(piece))
                .collect(),
            ..self.board_picture(position.board())
        }
    }
}

/// A cell's row and column.
const fn place(cell: Cell) -> (usize, usize) {
    (cell.row(), cell.column())
}
