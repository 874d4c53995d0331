//! Four In A Row as bots, records and people read it.

use super::lines::{lines_of, reading_order, row_number};
use super::position::{CELLS, COLUMNS, Column, HEIGHT, Position, ROWS};
use crate::game::Position as _;
use crate::game::{Game, IllegalMove, IllegalReason, Picture, Rejection, Side, WinningLines};
use referee_text::quote;

/// The game as bots, records and people read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FourInARow;

/// The character of a side in requests and records.
pub(super) const fn mark(side: Side) -> char {
    match side {
        Side::First => '@',
        Side::Second => 'O',
    }
}

impl FourInARow {
    /// The position on this board, on which the game may be over. The error is a sentence about the text.
    pub fn read_board(board: &str) -> Result<Position, String> {
        let found = board.chars().count();
        if found != CELLS as usize {
            return Err(format!(
                "a board is {CELLS} characters, row by row from the top left; found {found}"
            ));
        }
        let mut position = Position::default();
        for ((column, row), symbol) in reading_order().zip(board.chars()) {
            let bit = 1u64 << (HEIGHT * column + row);
            match symbol {
                '@' => position.pieces[0] |= bit,
                'O' => position.pieces[1] |= bit,
                '.' => {}
                _ => {
                    return Err(format!(
                        "{} in column {}, row {}; expected `@`, `O` or `.`",
                        quote(symbol.to_string().as_bytes()),
                        column + 1,
                        row_number(row)
                    ));
                }
            }
        }
        for column in Column::all() {
            let fallen =
                (0..position.height(column)).all(|row| position.get(column.0, row).is_some());
            if !fallen {
                return Err(format!(
                    "a piece in column {} hangs in the air; pieces fall to the lowest free cell",
                    column.number()
                ));
            }
        }
        let [first, second] = position.pieces.map(u64::count_ones);
        if first != second && first != second + 1 {
            return Err(format!(
                "{first} `@` and {second} `O`; `@` moves first, then they alternate"
            ));
        }
        Ok(position)
    }

    /// The position on this board, in which the game goes on.
    fn read_position(board: &str) -> Result<Position, String> {
        let position = Self::read_board(board)?;
        if position.outcome().is_some() || position.has_won(position.to_move()) {
            return Err("the game is over on this board; a game starts without four in a row, and with room".to_owned());
        }
        Ok(position)
    }

    /// The columns with room, in words.
    pub(super) fn free_columns(position: &Position) -> String {
        let numbers: Vec<String> = position
            .moves()
            .map(|column| column.number().to_string())
            .collect();
        format!("columns with room: {}", numbers.join(" "))
    }
}

impl Game for FourInARow {
    type Position = Position;
    type Turn = Column;

    const NAME: &'static str = "four-in-a-row";
    const IS_FIRST_DRAWN: bool = false;

    fn rules(&self) -> &'static str {
        "standard"
    }

    fn pieces(&self) -> Option<&str> {
        None
    }

    fn start(&self) -> Position {
        Position::default()
    }

    fn start_from(&self, text: &str) -> Result<Position, String> {
        if text.contains(' ') {
            self.read_request(text)
        } else {
            Self::read_position(text)
        }
    }
    fn write_board(&self, position: &Position, out: &mut String) {
        for (column, row) in reading_order() {
            out.push(position.get(column, row).map_or('.', mark));
        }
    }

    fn write_request(&self, position: &Position, out: &mut String) {
        out.push(mark(position.to_move()));
        out.push(' ');
        self.write_board(position, out);
    }

    fn read_request(&self, line: &str) -> Result<Position, String> {
        let Some((side, board)) = line.split_once(' ') else {
            return Err(format!(
                "expected a mark, a blank and a board, found {}",
                quote(line.as_bytes())
            ));
        };
        let position = Self::read_position(board)?;
        let to_move = mark(position.to_move()).to_string();
        if side == to_move {
            Ok(position)
        } else {
            Err(format!(
                "{} is asked, but by the board it is {to_move}'s turn",
                quote(side.as_bytes())
            ))
        }
    }

    fn write_turn(&self, turn: Column, out: &mut String) {
        out.push(char::from(b'0' + turn.number()));
    }

    fn judge(&self, position: &Position, answer: &str) -> Result<(Column, Position), Rejection> {
        let number = match answer.as_bytes() {
            [digit @ b'0'..=b'9'] => digit - b'0',
            [a @ b'0'..=b'9', b @ b'0'..=b'9'] => 10 * (a - b'0') + (b - b'0'),
            [] => {
                return Err(Rejection::Malformed(
                    "an empty line; expected a column, 1 to 7".to_owned(),
                ));
            }
            word => {
                return Err(Rejection::Malformed(format!(
                    "{} is no column; expected a number, 1 to 7",
                    quote(word)
                )));
            }
        };
        let illegal = |problem: String| {
            Rejection::Illegal(format!("{problem}; {}", Self::free_columns(position)))
        };
        let column = Column::from_number(number)
            .ok_or_else(|| illegal(format!("there is no column {number}")))?;
        let mut after = *position;
        match after.play(column) {
            Ok(()) => Ok((column, after)),
            Err(IllegalMove {
                reason: IllegalReason::Occupied,
                ..
            }) => Err(illegal(format!("column {number} is full"))),
            Err(refused) => Err(illegal(refused.reason.to_string())),
        }
    }

    fn turns(&self, position: &Position) -> Vec<(Column, Position)> {
        position
            .moves()
            .filter_map(|column| {
                let mut after = *position;
                after.play(column).ok()?;
                Some((column, after))
            })
            .collect()
    }

    fn turn_of(&self, moves: &[Column]) -> Option<Column> {
        match *moves {
            [column] => Some(column),
            _ => None,
        }
    }

    fn winning_lines(&self, position: &Position) -> WinningLines {
        Side::BOTH
            .into_iter()
            .flat_map(|side| lines_of(position.pieces[side.index()]))
            .map(|(line, place, _)| (line, place))
            .collect()
    }

    fn describe(&self, _: &Position, turn: Column) -> String {
        format!("drops into column {}", turn.number())
    }

    fn picture(&self, position: &Position, last: Option<Column>) -> Picture {
        let place = |column: u8, row: u8| (usize::from(ROWS - 1 - row), usize::from(column));
        let texts: Vec<String> = reading_order()
            .map(|(column, row)| {
                let side = position.get(column, row);
                side.map_or_else(String::new, |side| mark(side).to_string())
            })
            .collect();
        let lines: Vec<Vec<_>> = Side::BOTH
            .into_iter()
            .flat_map(|side| lines_of(position.pieces[side.index()]))
            .map(|(_, _, cells)| cells.iter().map(|&(c, r)| place(c, r)).collect())
            .collect();
        Picture {
            cells: texts
                .chunks(usize::from(COLUMNS))
                .map(<[String]>::to_vec)
                .collect(),
            columns: Column::all().map(|c| c.number().to_string()).collect(),
            last: last.map(|column| place(column.0, position.height(column).saturating_sub(1))),
            winning: lines.concat(),
            lines,
            ..Picture::default()
        }
    }
}
