//! Notation: boards, requests and answers as lines of text. Only their form is read and written here.

use std::fmt;

use referee_text::quote;

use super::board::{Board, CELLS, Cell, Rules};
use super::piece_set::{FEATURES, Piece, PieceSet};
use super::position::Position;
use super::position::Turn;

/// An answer as it was written, not compared with a position.
pub(super) struct Answer<'a> {
    /// One or two digits, unchecked; `None` for `-` or no word.
    pub(super) cell: Option<u8>,
    pub(super) gift: Gift<'a>,
}

/// The second word of an answer.
pub(super) enum Gift<'a> {
    Missing,
    /// `-`
    Dash,
    /// Perhaps a piece of the set.
    Symbol(char),
    /// More than one character.
    Word(&'a str),
}

/// One character a cell, row by row, `.` for a free cell.
pub(super) fn write_board(set: &PieceSet, board: &Board, out: &mut String) {
    for cell in Cell::all() {
        out.push(match board.get(cell) {
            Some(piece) => set.symbol(piece),
            None => '.',
        });
    }
}

/// The board, a space, and the piece in hand or `-`.
pub(super) fn write_request(set: &PieceSet, position: &Position, out: &mut String) {
    write_board(set, position.board(), out);
    out.push(' ');
    out.push(position.hand().map_or('-', |piece| set.symbol(piece)));
}

/// The cell or `-`, a space, and the gift or `-`.
pub(super) fn write_turn(set: &PieceSet, turn: Turn, out: &mut String) {
    match turn.cell.map(Cell::number) {
        None => out.push('-'),
        Some(number) => {
            if number > 9 {
                out.push('1');
            }
            out.push(char::from(b'0' + number % 10));
        }
    }
    out.push(' ');
    out.push(turn.gift.map_or('-', |piece| set.symbol(piece)));
}

/// A piece may stand on several cells. An error names the cell and what was expected.
pub(super) fn read_board(set: &PieceSet, text: &str) -> Result<Board, String> {
    let mut board = Board::default();
    let mut count = 0;
    for symbol in text.chars() {
        let cell = u8::try_from(count).ok().and_then(Cell::from_index);
        count += 1;
        let Some(cell) = cell else { continue };
        match set.piece(symbol) {
            Some(piece) => {
                let _ = board.place(cell, piece);
            }
            None if symbol == '.' => {}
            None if symbol == ' ' || symbol == '\t' => {
                count -= 1;
                break;
            }
            None => {
                return Err(format!(
                    "cell {} holds {}, which is no piece of this set; expected a piece or `.`",
                    cell.number(),
                    quote(symbol.to_string().as_bytes())
                ));
            }
        }
    }
    if count != CELLS {
        return Err(format!(
            "a board is {CELLS} characters, one a cell, row by row; found {count}"
        ));
    }
    Ok(board)
}

/// The board, and everything after its 16 characters.
pub(super) fn split_request(line: &str) -> (&str, &str) {
    let mut chars = line.char_indices();
    let split = chars.nth(CELLS).map_or(line.len(), |(byte, _)| byte);
    line.split_at(split)
}

/// The board, and the piece in hand, if there is one.
pub(super) fn split_start<'a>(
    set: &PieceSet,
    text: &'a str,
) -> Result<(&'a str, Option<Piece>), String> {
    let Some((board, hand)) = text.split_once([' ', '\t']) else {
        return Ok((text, None));
    };
    let hand = hand.trim_matches([' ', '\t']);
    let mut symbols = hand.chars();
    match (symbols.next(), symbols.next()) {
        (Some('-'), None) => Ok((board, None)),
        (Some(symbol), None) => match set.piece(symbol) {
            Some(piece) => Ok((board, Some(piece))),
            None => Err(format!(
                "{} is in hand, which is no piece of this set; expected a piece or `-`",
                quote(hand.as_bytes())
            )),
        },
        _ => Err(format!(
            "{} comes after the board; expected the piece in hand or `-`",
            quote(hand.as_bytes())
        )),
    }
}

/// `rest` is the second part of `line`; `None` for `-`.
pub(super) fn read_hand(set: &PieceSet, line: &str, rest: &str) -> Result<Option<Piece>, String> {
    let separated = rest.starts_with([' ', '\t']);
    let mut symbols = rest.trim_matches([' ', '\t']).chars();
    match (symbols.next(), symbols.next()) {
        (Some('-'), None) if separated => Ok(None),
        (Some(symbol), None) if separated => set
            .piece(symbol)
            .map(Some)
            .ok_or_else(|| format!("{symbol:?} is no piece of this set")),
        _ => Err(format!(
            "expected a board and a piece or `-`, found {}",
            quote(line.as_bytes())
        )),
    }
}

/// A single word is the cell when `placing`, the gift otherwise.
pub(super) fn parse_answer(answer: &str, placing: bool) -> Result<Answer<'_>, String> {
    let mut words = answer.split([' ', '\t']).filter(|word| !word.is_empty());
    let (cell, gift) = match (words.next(), words.next(), words.next()) {
        (None, ..) => return Err("an empty line".to_owned()),
        (Some(gift), None, _) if !placing => (None, Some(gift)),
        (Some(cell), gift, None) => (Some(cell), gift),
        (_, _, Some(_)) => {
            return Err("more than two words".to_owned());
        }
    };
    let cell =
        match cell {
            None | Some("-") => None,
            Some(word) => Some(cell_number(word).ok_or_else(|| {
                format!("{} is no cell (one or two digits)", quote(word.as_bytes()))
            })?),
        };
    let gift = match gift {
        None => Gift::Missing,
        Some("-") => Gift::Dash,
        Some(word) => {
            let mut chars = word.chars();
            match (chars.next(), chars.next()) {
                (Some(symbol), None) => Gift::Symbol(symbol),
                _ => Gift::Word(word),
            }
        }
    };
    Ok(Answer { cell, gift })
}

/// One or two ASCII digits.
fn cell_number(word: &str) -> Option<u8> {
    match word.as_bytes() {
        [a @ b'0'..=b'9'] => Some(a - b'0'),
        [a @ b'0'..=b'9', b @ b'0'..=b'9'] => Some((a - b'0') * 10 + (b - b'0')),
        _ => None,
    }
}

/// `2 3 7`.
pub(super) fn free_cells(board: &Board) -> String {
    let numbers: Vec<String> = board.free().map(|cell| cell.number().to_string()).collect();
    numbers.join(" ")
}

/// The text has another length than 16 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationError {
    /// The number of characters.
    pub found: usize,
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.found == 1 { "" } else { "s" };
        write!(
            f,
            "a configuration is {CELLS} characters, one a cell, row by row; found {} character{s}",
            self.found
        )
    }
}

impl std::error::Error for ConfigurationError {}

/// For each cell of each row four properties, or none.
pub type Grid<'a> = [[Option<[&'a str; FEATURES]>; 4]; 4];

impl PieceSet {
    /// A configuration is any board as 16 characters, possible in a game or not; a character that is not a piece is
    /// an empty cell.
    pub fn configuration(&self, text: &str) -> Result<Board, ConfigurationError> {
        let found = text.chars().count();
        if found != CELLS {
            return Err(ConfigurationError { found });
        }
        let mut board = Board::default();
        for (cell, symbol) in Cell::all().zip(text.chars()) {
            if let Some(piece) = self.piece(symbol) {
                // Every cell is visited once, so it is free.
                let _ = board.place(cell, piece);
            }
        }
        Ok(board)
    }

    /// The properties on every cell of a configuration.
    ///
    /// ```
    /// use referee_games::game::quarto::PieceSet;
    ///
    /// let set = PieceSet::default();
    /// let grid = set.grid("N?BI??JO?FDLMEAG")?;
    /// assert_eq!(grid[0][0], Some(["small", "red", "circular", "solid"]));
    /// assert_eq!(grid[0][1], None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn grid(&self, configuration: &str) -> Result<Grid<'_>, ConfigurationError> {
        let board = self.configuration(configuration)?;
        let mut grid: Grid<'_> = [[None; 4]; 4];
        for (cell, piece) in board.pieces() {
            grid[cell.row()][cell.column()] = Some(self.words(piece));
        }
        Ok(grid)
    }

    /// The quartos of a configuration: line and property.
    ///
    /// ```
    /// use referee_games::game::quarto::{PieceSet, Rules};
    ///
    /// let set = PieceSet::default();
    /// assert_eq!(
    ///     set.quartos("N?BI??JO?FDLMEAG", Rules::Standard)?,
    ///     [("H4", "big"), ("V3", "square"), ("D2", "red")],
    /// );
    /// assert_eq!(
    ///     set.quartos("KHEF#DCMXABJPGOL", Rules::Standard)?,
    ///     [("H4", "blue"), ("V2", "hollow"), ("D1", "square")],
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn quartos(
        &self,
        configuration: &str,
        rules: Rules,
    ) -> Result<Vec<(&'static str, &str)>, ConfigurationError> {
        Ok(self.name_quartos(&self.configuration(configuration)?, rules))
    }

    pub fn name_quartos(&self, board: &Board, rules: Rules) -> Vec<(&'static str, &str)> {
        board
            .quartos(rules)
            .map(|quarto| {
                (
                    quarto.line.name(),
                    self.property(quarto.feature, quarto.value),
                )
            })
            .collect()
    }
}
