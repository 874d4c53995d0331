use std::time::Duration;

use referee_text::quote;

use super::{CELLS, COLUMNS, Column, HEIGHT, Position, PositionError, ROWS};
use crate::game::builtin::Choose;
use crate::game::{
    BuiltinGame, BuiltinInPlay, Glyph, Illegal, IllegalReason, Info, Malformed, Mood, Picture,
    Position as _, Rejection, Side, Solvable, SolvableGame, WinningLines, one_or_two_digits,
};
use crate::solver::{Solve, Solvers};
use crate::strategy::perfect_four::PerfectFour;

/// The game as bots, records and people read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FourInARow;

/// Mark and colour of the first and of the second side.
pub(crate) const DISCS: [(char, &str); 2] = [('@', "yellow"), ('O', "red")];

pub(super) const fn mark(side: Side) -> char {
    DISCS[side.index()].0
}

impl FourInARow {
    /// The game may be over on it.
    pub fn read_board(board: &str) -> Result<Position, PositionError> {
        let found = board.chars().count();
        if found != CELLS as usize {
            return Err(PositionError::Length { found });
        }
        let mut position = Position::default();
        for ((column, row), symbol) in reading_order().zip(board.chars()) {
            let bit = 1u64 << (HEIGHT * column + row);
            match symbol {
                '@' => position.pieces[0] |= bit,
                'O' => position.pieces[1] |= bit,
                '.' => {}
                _ => {
                    return Err(PositionError::UnknownMark {
                        symbol,
                        column: Column(column),
                        row: row_number(row),
                    });
                }
            }
        }
        for column in Column::all() {
            let mut below = 0..position.height(column);
            if !below.all(|row| position.get(column.0, row).is_some()) {
                return Err(PositionError::Hanging(column));
            }
        }
        let [first, second] = position.pieces.map(u64::count_ones);
        if first != second && first != second + 1 {
            return Err(PositionError::Unequal { first, second });
        }
        Ok(position)
    }

    /// Refuses positions in which the game is over.
    fn read_position(board: &str) -> Result<Position, PositionError> {
        let position = Self::read_board(board)?;
        if position.outcome().is_some() || position.has_won(position.to_move()) {
            return Err(PositionError::GameOver);
        }
        Ok(position)
    }

    pub(super) fn free_columns(position: &Position) -> String {
        let numbers = position.moves().map(|column| column.number().to_string());
        let numbers: Vec<String> = numbers.collect();
        format!("columns with room: {}", numbers.join(" "))
    }
}

impl BuiltinGame for FourInARow {
    type Position = Position;
    type PositionError = PositionError;

    const INFO: Info<'static> = Info {
        is_first_drawn: false,
        provable_cells: 28,
        words: ["column", "disc"],
        ..Info::named("four-in-a-row")
    };

    fn start(&self) -> Position {
        Position::default()
    }

    fn start_from(&self, text: &str) -> Result<Position, PositionError> {
        if text.contains(' ') {
            self.read_request(text)
        } else {
            Self::read_position(text)
        }
    }

    fn board(&self, position: &Position) -> String {
        let cells = reading_order().map(|(column, row)| position.get(column, row));
        cells.map(|side| side.map_or('.', mark)).collect()
    }

    fn request(&self, position: &Position) -> String {
        format!("{} {}", mark(position.to_move()), self.board(position))
    }

    fn read_request(&self, line: &str) -> Result<Position, PositionError> {
        let Some((side, board)) = line.split_once(' ') else {
            return Err(PositionError::NoMark {
                found: line.to_owned(),
            });
        };
        let position = Self::read_position(board)?;
        let to_move = mark(position.to_move());
        if side.chars().eq([to_move]) {
            return Ok(position);
        }
        Err(PositionError::OtherSide {
            asked: side.to_owned(),
            to_move,
        })
    }

    fn turn_text(&self, turn: Column) -> String {
        turn.number().to_string()
    }

    fn judge(&self, position: &Position, answer: &str) -> Result<(Column, Position), Rejection> {
        let number = one_or_two_digits(answer).ok_or_else(|| {
            if answer.is_empty() {
                let problem = "an empty line; expected a column, 1 to 7";
                return Rejection::malformed(Malformed::Empty, problem);
            }
            let problem = format!(
                "{} is not a column; expected a number, 1 to 7",
                quote(answer.as_bytes())
            );
            Rejection::malformed(Malformed::NotAColumn, problem)
        })?;
        let illegal = |cause, problem: String| {
            let free = Self::free_columns(position);
            Rejection::illegal(cause, format!("{problem}; {free}"))
        };
        let column = Column::from_number(number).ok_or_else(|| {
            illegal(
                Illegal::NoSuchColumn,
                format!("there is no column {number}"),
            )
        })?;
        let mut after = *position;
        match after.play(column) {
            Ok(()) => Ok((column, after)),
            Err(reason) => {
                let problem = match reason {
                    IllegalReason::Occupied => format!("column {number} is full"),
                    reason => reason.to_string(),
                };
                Err(illegal(Illegal::Move(reason), problem))
            }
        }
    }

    fn winning_lines(&self, position: &Position) -> WinningLines {
        let lines = position.pieces.into_iter().flat_map(lines_of);
        lines.map(|(line, place, _)| (line, place)).collect()
    }

    fn describe(&self, _: &Position, turn: Column, mood: Mood) -> String {
        let drop = match mood {
            Mood::Told => "drops",
            Mood::Advised => "drop",
        };
        format!("{drop} into column {}", turn.number())
    }

    fn picture(&self, position: &Position, last: Option<Column>) -> Picture {
        let place = |column: u8, row: u8| (usize::from(ROWS - 1 - row), usize::from(column));
        let texts: Vec<String> = reading_order()
            .map(|(column, row)| {
                let side = position.get(column, row);
                side.map_or_else(String::new, |side| mark(side).to_string())
            })
            .collect();
        let lines = position.pieces.into_iter().flat_map(lines_of);
        let lines = lines.map(|(_, _, cells)| cells.iter().map(|&(c, r)| place(c, r)).collect());
        let (lines, shape): (Vec<Vec<_>>, char) = (lines.collect(), '●');
        Picture {
            cells: texts
                .chunks(usize::from(COLUMNS))
                .map(<[String]>::to_vec)
                .collect(),
            columns: Column::all().map(|c| c.number().to_string()).collect(),
            last: last.map(|column| place(column.0, position.height(column).saturating_sub(1))),
            winning: lines.concat(),
            lines,
            glyphs: DISCS
                .map(|(mark, colour)| (mark.to_string(), Glyph { shape, colour }))
                .to_vec(),
            ..Picture::default()
        }
    }

    fn instructions(&self) -> String {
        "Four In A Row: the first to have four in a row, column or diagonal wins.\n\
         In turn both choose a column, 1 to 7; the piece falls to its lowest free cell. Who\n\
         begins plays @, the other O. At any prompt: help, board, pieces, quit.\n"
            .to_owned()
    }

    fn question(&self, position: &Position) -> String {
        let mark = mark(position.to_move());
        format!("which column for {mark} (1 to 7)?")
    }

    fn hint(&self, position: &Position) -> Option<String> {
        let mut losing = position.turns();
        losing.retain(|(_, after)| after.can_win_at_once());
        let losing: Vec<String> = losing
            .into_iter()
            .map(|(turn, _)| self.turn_text(turn))
            .collect();
        (!losing.is_empty())
            .then(|| format!("these columns lose immediately: {}", losing.join(" ")))
    }

    fn inventory(&self, _: &Position) -> String {
        "who begins plays @, the other O\n".to_owned()
    }

    fn perfect(time: Option<Duration>) -> Option<Choose<Self>> {
        let mut perfect = PerfectFour::new(time);
        Some(Box::new(move |position, rng| perfect.choose(position, rng)))
    }

    fn solvable(game: &BuiltinInPlay<Self>) -> Option<&dyn Solvable> {
        Some(game)
    }
}

impl SolvableGame for FourInARow {
    fn solver(solvers: &Solvers) -> &dyn Solve<Position> {
        solvers.four_in_a_row()
    }

    /// The smaller board of the position and its mirror image.
    fn class(&self, position: &Position) -> String {
        let board = self.board(position);
        let rows = board.as_bytes().chunks(usize::from(COLUMNS));
        let mirrored: String = rows
            .flat_map(|row| row.iter().rev().map(|&cell| char::from(cell)))
            .collect();
        board.min(mirrored)
    }
}

/// Cells, as column and row, in the order of a request: row by row from the top left. Rows count from 0 at the
/// bottom.
fn reading_order() -> impl Iterator<Item = (u8, u8)> {
    (0..ROWS)
        .rev()
        .flat_map(|row| (0..COLUMNS).map(move |column| (column, row)))
}

/// 1 to 6, from the top.
const fn row_number(row: u8) -> u8 {
    ROWS - row
}

/// A line of four or more: its name, where it runs, and its cells.
type LineOf = (String, String, Vec<(u8, u8)>);

/// Rows, columns, then diagonals.
pub(super) fn lines_of(board: u64) -> Vec<LineOf> {
    let has = |column: i8, row: i8| {
        let bit = u8::try_from(column).ok().zip(u8::try_from(row).ok());
        bit.is_some_and(|(column, row)| {
            column < COLUMNS && row < ROWS && board & 1 << (HEIGHT * column + row) != 0
        })
    };
    let mut lines = Vec::new();
    for (dx, dy) in [(1, 0), (0, -1), (1, -1), (1, 1)] {
        for (column, row) in reading_order() {
            let (x, y) = (column.cast_signed(), row.cast_signed());
            // A line begins where no piece comes before it.
            if !has(x, y) || has(x - dx, y - dy) {
                continue;
            }
            let cells: Vec<(u8, u8)> = (0..COLUMNS.cast_signed())
                .map(|step| (x + step * dx, y + step * dy))
                .take_while(|&(x, y)| has(x, y))
                .map(|(x, y)| (x.cast_unsigned(), y.cast_unsigned()))
                .collect();
            let Some(&(end_column, end_row)) = cells.last().filter(|_| cells.len() >= 4) else {
                continue;
            };
            let (from, to) = (row_number(row), row_number(end_row));
            let (left, right) = (column + 1, end_column + 1);
            let (line, place) = match (dx, dy) {
                (1, 0) => (format!("row {from}"), format!("columns {left} to {right}")),
                (0, _) => (format!("column {left}"), format!("rows {from} to {to}")),
                _ => (
                    "diagonal".to_owned(),
                    format!("column {left} row {from} to column {right} row {to}"),
                ),
            };
            lines.push((line, place, cells));
        }
    }
    lines
}
