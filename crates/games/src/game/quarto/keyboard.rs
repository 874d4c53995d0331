//! Quarto at the keyboard: pieces are typed as symbols, binary or decimal, cells as numbers or as row and column.

use std::fmt::Write as _;

use super::board::{Cell, Rules};
use super::game::Edition;
use super::notation::free_cells;
use super::piece_set::{Piece, PieceFormat};
use super::position::{Move, Position};
use crate::game::HumanInput;
use crate::game::{IllegalReason, Position as _};
use referee_text::quote;

impl Edition {
    fn read_piece(&self, typed: &str) -> Option<Piece> {
        match self.format() {
            PieceFormat::Binary => u8::from_str_radix(typed, 2)
                .ok()
                .filter(|_| typed.len() == 4)
                .and_then(Piece::new),
            PieceFormat::Decimal => typed.parse().ok().and_then(Piece::new),
            PieceFormat::Symbol => {
                let mut chars = typed.chars();
                let symbol = chars.next().filter(|_| chars.next().is_none())?;
                // People type k for K, unless the set has both.
                let other_case = || {
                    let mut upper = symbol.to_uppercase().chain(symbol.to_lowercase());
                    upper.find_map(|other| self.set().piece(other))
                };
                self.set().piece(symbol).or_else(other_case)
            }
        }
    }

    /// For messages.
    const fn piece_example(&self) -> &'static str {
        match self.format() {
            PieceFormat::Symbol => "one of the characters listed",
            PieceFormat::Binary => "four binary digits, such as 0101",
            PieceFormat::Decimal => "a number from 0 to 15",
        }
    }

    fn shown_list(&self, pieces: impl Iterator<Item = Piece>) -> String {
        let shown: Vec<String> = pieces.map(|piece| self.shown(piece)).collect();
        shown.join(" ")
    }
}

/// A cell as 1 to 16, or as row and column: `2 3`, `2,3`, `H2 V3`.
fn read_cell(typed: &str) -> Result<Cell, String> {
    let expected = "expected a cell, 1 to 16, or a row and a column, such as 2 3";
    let words: Vec<&str> = typed
        .split(|c: char| !c.is_ascii_digit() && c != '-' && c != '+' && c != '.')
        .filter(|word| !word.is_empty())
        .collect();
    let letters_ok = typed
        .chars()
        .all(|c| c.is_ascii_digit() || " ,;hHvVrRcC".contains(c));
    let numbers: Option<Vec<u8>> = words.iter().map(|word| word.parse::<u8>().ok()).collect();
    let found = quote(typed.as_bytes());
    match numbers.as_deref() {
        Some(&[number]) if letters_ok => {
            Cell::from_number(number).ok_or_else(|| format!("{number} is out of range: {expected}"))
        }
        Some(&[row @ 1..=4, column @ 1..=4]) if letters_ok => {
            Cell::from_number((row - 1) * 4 + column).ok_or_else(|| expected.to_owned())
        }
        Some(&[row, column]) if letters_ok => Err(format!(
            "row {row}, column {column} is out of range, both are 1 to 4: {expected}"
        )),
        _ => Err(format!("{found} is no cell: {expected}")),
    }
}

impl HumanInput for Edition {
    fn instructions(&self) -> String {
        let lines = match self.rule_set() {
            Rules::Squares => "row, column, diagonal or 2×2 square",
            Rules::Standard => "row, column or diagonal",
        };
        format!(
            "Quarto: whoever completes a {lines} of four pieces\n\
             that share a property wins.\n\
             Who begins only gives a piece. The other places it and gives one back, and so on.\n\
             Cells are 1 to 16, row by row from the top left, or a row and a column (2 3).\n\
             At any prompt: help, board, pieces, quit.\n"
        )
    }

    fn question(&self, position: &Position) -> String {
        match position.hand() {
            Some(piece) => format!("where to place {} (cell)?", self.in_words(piece)),
            None => "which piece for your opponent?".to_owned(),
        }
    }

    fn read_move(&self, position: &Position, typed: &str) -> Result<Move, String> {
        if position.hand().is_some() {
            return read_cell(typed).map(Move::Place);
        }
        self.read_piece(typed).map(Move::Give).ok_or_else(|| {
            format!(
                "{} is not a piece: expected {}; left: {}",
                quote(typed.as_bytes()),
                self.piece_example(),
                self.shown_list(self.left_in_order(position))
            )
        })
    }

    fn refusal(&self, position: &Position, mv: Move) -> String {
        let mut tried = *position;
        let Err(illegal) = tried.play(mv) else {
            return String::new();
        };
        match (mv, illegal.reason) {
            (Move::Place(cell), IllegalReason::Occupied) => {
                let piece = position.board().get(cell);
                format!(
                    "cell {} is occupied by {}; free: {}",
                    cell.number(),
                    piece.map_or_else(String::new, |piece| self.shown(piece)),
                    free_cells(position.board())
                )
            }
            (Move::Give(piece), IllegalReason::PieceUsed) => format!(
                "{} is already on the board; left: {}",
                self.shown(piece),
                self.shown_list(self.left_in_order(position))
            ),
            (_, reason) => reason.to_string(),
        }
    }

    fn hint(&self, position: &Position) -> Option<String> {
        let losing: Vec<String> = self
            .left_in_order(position)
            .filter(|&piece| position.winning_cell(piece).is_some())
            .map(|piece| self.shown(piece))
            .collect();
        if losing.is_empty() {
            return None;
        }
        let board = if position.hand().is_some() {
            "on the board as it is, "
        } else {
            ""
        };
        Some(format!(
            "{board}these gifts lose at once: {}",
            losing.join(" ")
        ))
    }

    fn inventory(&self, position: &Position) -> String {
        let mut text = String::new();
        if let Some(piece) = position.hand() {
            let _ = writeln!(text, "in hand: {}", self.in_words(piece));
        }
        text.push_str("left:\n");
        for piece in self.left_in_order(position) {
            let _ = writeln!(text, "  {}", self.in_words(piece));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_as_people_type_them() {
        for (typed, number) in [
            ("7", 7),
            ("16", 16),
            ("2 3", 7),
            ("2,3", 7),
            ("H2 V3", 7),
            ("h2v3", 7),
            ("r2c3", 7),
            (" 4 , 4 ", 16),
        ] {
            assert_eq!(read_cell(typed).map(Cell::number), Ok(number), "{typed}");
        }
        for typed in [
            "", "0", "17", "5 1", "1 5", "x", "1 2 3", "-1", "+3", "1.5", "999", "H", "2x3",
        ] {
            assert!(read_cell(typed).is_err(), "{typed}");
        }
        let wrong = read_cell("5x6").unwrap_err();
        assert!(wrong.starts_with("`5x6` is no cell"), "{wrong}");
    }
}
