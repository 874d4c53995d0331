use std::fmt::Write as _;
use std::time::Duration;

use referee_text::{escape_controls, quote};

use super::board::{Board, Cell, Rules};
use super::piece_set::{Piece, PieceFormat, PieceSet};
use super::position::{Move, Position, Turn};
use super::position_error::{PositionError, StandsTwice};
use super::slip::slip;
use crate::drawing::glyphs;
use crate::game::builtin::Choose;
use crate::game::{
    BuiltinGame, BuiltinInPlay, Illegal, IllegalReason, Info, Malformed, Mood, Outcome, Picture,
    Position as _, Rejection, Solvable, SolvableGame, WinningLines, one_or_two_digits,
};
use crate::solver::{self, Solve, Solvers};
use crate::strategy::perfect::Perfect;

/// An edition of Quarto: a rule set and a piece set. It is a [`BuiltinGame`].
///
/// ```
/// use referee_games::game::{BuiltinGame as _, Mood};
/// use referee_games::game::quarto::Edition;
///
/// let edition = Edition::default();
/// let position = edition.read_request("A..PC...J..EF... G")?;
/// let (turn, after) = edition.judge(&position, "6 O").unwrap();
/// assert_eq!(edition.describe(&position, turn, Mood::Told), "places G on 6, gives O");
///
/// let request = edition.request(&after);
/// assert_eq!(request, "A..PCG..J..EF... O");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edition {
    pub rules: Rules,
    pub set: PieceSet,
    /// For people; bots and records always see the set's characters.
    pub format: PieceFormat,
}

impl Edition {
    pub fn new(rules: Rules, set: PieceSet) -> Self {
        Self {
            rules,
            set,
            format: PieceFormat::default(),
        }
    }

    /// As people see it. Sets that are used for drawing only may have characters that must be escaped.
    fn shown(&self, piece: Piece) -> String {
        match self.format {
            PieceFormat::Symbol => escape_controls(self.set.symbol(piece).encode_utf8(&mut [0; 4])),
            PieceFormat::Binary => format!("{:04b}", piece.bits()),
            PieceFormat::Decimal => piece.bits().to_string(),
        }
    }

    /// `K big blue square solid`.
    fn in_words(&self, piece: Piece) -> String {
        let [a, b, c, d] = self.set.words(piece);
        format!("{} {a} {b} {c} {d}", self.shown(piece))
    }

    /// In the order of the set.
    fn left_in_order(&self, position: &Position) -> impl Iterator<Item = Piece> {
        let order = self.set.order().iter().copied();
        order.filter(|&piece| position.is_left(piece))
    }

    fn read_piece(&self, typed: &str) -> Option<Piece> {
        match self.format {
            PieceFormat::Binary if typed.len() != 4 => None,
            PieceFormat::Binary => u8::from_str_radix(typed, 2).ok().and_then(Piece::new),
            PieceFormat::Decimal => typed.parse().ok().and_then(Piece::new),
            PieceFormat::Symbol => {
                let symbol = only_char(typed)?;
                // People type k for K, unless the set has both.
                let mut cases = symbol.to_uppercase().chain(symbol.to_lowercase());
                let other_case = || cases.find_map(|other| self.set.piece(other));
                self.set.piece(symbol).or_else(other_case)
            }
        }
    }

    /// A position with nothing in hand.
    fn read_position(&self, board: &str) -> Result<Position, PositionError> {
        let cells = board;
        let board = self.set.configuration(cells);
        let board = board.map_err(|error| PositionError::Length { found: error.found })?;
        let mut symbols = Cell::all().zip(cells.chars());
        let unknown = symbols.find(|&(cell, symbol)| symbol != '.' && board.get(cell).is_none());
        if let Some((cell, symbol)) = unknown {
            return Err(PositionError::UnknownPiece { cell, symbol });
        }
        if let Some(twice) = self.pieces_twice(&board).next() {
            return Err(PositionError::Twice(twice));
        }
        if let Some((line, property)) = self.set.name_quartos(&board, self.rules).first() {
            return Err(PositionError::Quarto {
                line: (*line).to_owned(),
                property: (*property).to_owned(),
            });
        }
        Position::from_board(board, self.rules).ok_or(PositionError::Full)
    }

    /// Where the piece in hand goes; `None` when nothing is in hand and the answer names no cell.
    fn legal_cell(
        &self,
        position: &Position,
        number: Option<u8>,
    ) -> Result<Option<Cell>, Rejection> {
        let free = || format!("free cells: {}", free_cells(position.board()));
        match (position.hand(), number) {
            (None, None) => Ok(None),
            (None, Some(number)) => Err(Rejection::illegal(
                Illegal::Move(IllegalReason::NothingInHand),
                format!(
                    "there is no piece in hand to place on cell {number}; expected `-` as the cell, this turn only gives"
                ),
            )),
            (Some(piece), None) => Err(Rejection::illegal(
                Illegal::NotPlaced,
                format!(
                    "`-` as the cell, but the piece {} is in hand and must be placed; {}",
                    self.set.symbol(piece),
                    free()
                ),
            )),
            (Some(_), Some(number)) => {
                let Some(cell) = Cell::from_number(number) else {
                    let problem = format!("there is no cell {number}; {}", free());
                    return Err(Rejection::illegal(Illegal::NoSuchCell, problem));
                };
                let Some(piece) = position.board().get(cell) else {
                    return Ok(Some(cell));
                };
                let piece = self.set.symbol(piece);
                Err(Rejection::illegal(
                    Illegal::Move(IllegalReason::Occupied),
                    format!("cell {number} is occupied by {piece}; {}", free()),
                ))
            }
        }
    }

    /// In the position `after` the placement the game goes on.
    fn legal_gift(
        &self,
        before: &Position,
        after: &Position,
        symbol: char,
    ) -> Result<Piece, Rejection> {
        let (cause, problem) = match self.set.piece(symbol) {
            Some(piece) if after.is_left(piece) => return Ok(piece),
            Some(piece) if before.hand() == Some(piece) => (
                Illegal::GivenBack,
                format!("the gift {symbol} is the piece that was in hand"),
            ),
            Some(_) => (
                Illegal::Move(IllegalReason::PieceUsed),
                format!("the gift {symbol} is on the board already"),
            ),
            None if symbol == '-' => (
                Illegal::NotGiven,
                "`-` as the gift, but one is due".to_owned(),
            ),
            None => (
                Illegal::NoSuchPiece,
                format!("the gift {} is not a piece of this set", quote_char(symbol)),
            ),
        };
        let left = joined(after.left().map(|piece| self.set.symbol(piece)));
        Err(Rejection::illegal(
            cause,
            format!("{problem}; pieces left: {left}"),
        ))
    }

    /// A legal answer, for messages.
    fn example(&self, position: &Position) -> String {
        let turns = position.turns();
        let example = turns
            .first()
            .map_or_else(String::new, |(turn, _)| self.turn_text(*turn));
        format!("expected a cell and a gift, such as `{example}`")
    }

    /// Pieces that stand on two cells: possible in a drawing, not in a game.
    pub fn pieces_twice(&self, board: &Board) -> impl Iterator<Item = StandsTwice> {
        board
            .duplicates()
            .map(|(piece, first, second)| StandsTwice {
                piece: self.shown(piece),
                first,
                second,
            })
    }

    /// The board belongs to no game.
    pub fn board_picture(&self, board: &Board) -> Picture {
        let grid = |text: &dyn Fn(Cell) -> String| -> Vec<Vec<String>> {
            let texts: Vec<String> = Cell::all().map(text).collect();
            texts.chunks(4).map(<[String]>::to_vec).collect()
        };
        let mut lines: Vec<_> = board
            .quartos(self.rules)
            .map(|quarto| quarto.line.cells().map(place).to_vec())
            .collect();
        // A line with two properties is a quarto for each.
        lines.dedup();
        Picture {
            cells: grid(&|cell| {
                let piece = board.get(cell);
                piece.map_or_else(String::new, |piece| self.shown(piece))
            }),
            columns: ["V1", "V2", "V3", "V4"].map(str::to_owned).to_vec(),
            rows: ["H1", "H2", "H3", "H4"].map(str::to_owned).to_vec(),
            winning: lines.concat(),
            lines,
            cell_names: grid(&|cell| cell.number().to_string()),
            glyphs: glyphs(&self.set)
                .map(|(piece, glyph)| (self.shown(piece), glyph))
                .collect(),
            ..Picture::default()
        }
    }

    fn judged(&self, position: &Position, answer: &str) -> Result<(Turn, Position), Rejection> {
        if position.outcome().is_some() {
            return Err(IllegalReason::GameOver.into());
        }
        let malformed = |cause, problem: &str| {
            Rejection::malformed(cause, format!("{problem}; {}", self.example(position)))
        };
        // A single word is the cell when there is a piece to place, the gift otherwise.
        let mut words = answer.split([' ', '\t']).filter(|word| !word.is_empty());
        let (cell, gift) = match (words.next(), words.next(), words.next()) {
            (None, ..) => return Err(malformed(Malformed::Empty, "an empty line")),
            (Some(gift), None, _) if position.hand().is_none() => ("-", Some(gift)),
            (Some(cell), gift, None) => (cell, gift),
            (_, _, Some(_)) => {
                return Err(malformed(Malformed::TooManyWords, "more than two words"));
            }
        };
        let number = one_or_two_digits(cell);
        if number.is_none() && cell != "-" {
            let found = quote(cell.as_bytes());
            let problem = format!("{found} is not a cell (one or two digits)");
            return Err(malformed(Malformed::NotACell, &problem));
        }
        let mut after = *position;
        let cell = self.legal_cell(position, number);
        if let Ok(Some(cell)) = cell
            && after.play(Move::Place(cell)).is_ok()
            && let Some(Outcome::Win(_)) = after.outcome()
        {
            // A quarto wins immediately; whatever gift the answer names is ignored.
            let cell = Some(cell);
            return Ok((Turn { cell, gift: None }, after));
        }
        // Errors of form are reported before errors of the rules.
        let is_over = after.left().next().is_none();
        let symbol = match gift {
            None if is_over => '-',
            None => return Err(malformed(Malformed::NoGift, "the gift is missing")),
            Some(word) => only_char(word).ok_or_else(|| {
                let found = quote(word.as_bytes());
                let problem = format!("the gift {found} is not one character");
                malformed(Malformed::NotAPiece, &problem)
            })?,
        };
        let cell = cell?;
        if is_over {
            if symbol == '-' {
                return Ok((Turn { cell, gift: None }, after));
            }
            return Err(Rejection::illegal(
                Illegal::NothingToGive,
                format!(
                    "{} as the gift, but no piece is left to give; expected `-`",
                    quote_char(symbol)
                ),
            ));
        }
        let gift = self.legal_gift(position, &after, symbol)?;
        after.play(Move::Give(gift))?;
        let gift = Some(gift);
        Ok((Turn { cell, gift }, after))
    }
}

impl BuiltinGame for Edition {
    type Position = Position;
    type PositionError = PositionError;

    const INFO: Info<'static> = Info {
        provable_cells: 10,
        words: ["cell", "placement"],
        ..Info::named("quarto")
    };

    fn info(&self) -> Info<'_> {
        Info {
            rules: self.rules.name(),
            pieces: (!self.set.is_builtin()).then(|| self.set.text()),
            ..Self::INFO
        }
    }

    fn start(&self) -> Position {
        Position::new(self.rules)
    }

    fn start_from(&self, text: &str) -> Result<Position, PositionError> {
        let (board, hand) = text.split_once([' ', '\t']).unwrap_or((text, "-"));
        let position = self.read_position(board)?;
        let hand = hand.trim_matches([' ', '\t']);
        let piece = match only_char(hand) {
            Some('-') => return Ok(position),
            Some(symbol) => self.set.piece(symbol),
            None => None,
        };
        let piece = piece.ok_or_else(|| PositionError::UnknownHand {
            hand: hand.to_owned(),
        })?;
        let on_board = Cell::all().find(|&cell| position.board().get(cell) == Some(piece));
        if let Some(cell) = on_board {
            let piece = self.shown(piece);
            return Err(PositionError::HandOnBoard { piece, cell });
        }
        // A piece that is not on the board is left.
        Ok(position.holding(piece).unwrap_or(position))
    }

    fn as_start(&self, position: &Position) -> String {
        match position.hand() {
            Some(_) => self.request(position),
            None => self.board(position),
        }
    }

    /// One character a cell, row by row, `.` for a free cell.
    fn board(&self, position: &Position) -> String {
        let symbol = |piece| self.set.symbol(piece);
        let symbols = Cell::all().map(|cell| position.board().get(cell).map_or('.', symbol));
        // With room for what a request adds.
        let mut board = String::with_capacity(20);
        board.extend(symbols);
        board
    }

    /// The board, a space, and the piece in hand or `-`.
    fn request(&self, position: &Position) -> String {
        let hand = position.hand().map_or('-', |piece| self.set.symbol(piece));
        let mut request = self.board(position);
        request.extend([' ', hand]);
        request
    }

    fn read_request(&self, line: &str) -> Result<Position, PositionError> {
        let position = self.start_from(line)?;
        if line.contains([' ', '\t']) {
            return Ok(position);
        }
        Err(PositionError::NoHand {
            found: line.to_owned(),
        })
    }

    /// The cell or `-`, a space, and the gift or `-`.
    fn turn_text(&self, turn: Turn) -> String {
        let gift = turn.gift.map_or('-', |piece| self.set.symbol(piece));
        let cell = turn.cell.map(|cell| cell.number().to_string());
        let mut text = cell.unwrap_or_else(|| "-".to_owned());
        text.extend([' ', gift]);
        text
    }

    fn judge(&self, position: &Position, answer: &str) -> Result<(Turn, Position), Rejection> {
        self.judged(position, answer).map_err(|rejection| {
            let is_symbol = |symbol| self.set.piece(symbol).is_some();
            let slip = slip(answer, position.hand().is_some(), is_symbol);
            Rejection {
                hint: slip.map(str::to_owned),
                ..rejection
            }
        })
    }

    fn winning_lines(&self, position: &Position) -> WinningLines {
        let quartos = self.set.name_quartos(position.board(), self.rules);
        let owned = |(line, property): (&str, &str)| (line.to_owned(), property.to_owned());
        quartos.into_iter().map(owned).collect()
    }

    fn describe(&self, before: &Position, turn: Turn, mood: Mood) -> String {
        let (place, give, and) = match mood {
            Mood::Told => ("places", "gives", ", "),
            Mood::Advised => ("place", "give", " and "),
        };
        let placed = turn.cell.zip(before.hand());
        let placed = placed
            .map(|(cell, piece)| format!("{place} {} on {}", self.shown(piece), cell.number()));
        let given = turn
            .gift
            .map(|piece| format!("{give} {}", self.shown(piece)));
        let parts: Vec<String> = placed.into_iter().chain(given).collect();
        parts.join(and)
    }

    fn picture(&self, position: &Position, last: Option<Turn>) -> Picture {
        let left = self.left_in_order(position);
        Picture {
            last: last.and_then(|turn| turn.cell).map(place),
            hand: position.hand().map(|piece| self.in_words(piece)),
            left: left.map(|piece| self.in_words(piece)).collect(),
            ..self.board_picture(position.board())
        }
    }

    fn instructions(&self) -> String {
        let lines = match self.rules {
            Rules::Squares => "row, column, diagonal or 2×2 square",
            Rules::Standard => "row, column or diagonal",
        };
        format!(
            "Quarto: the first to complete a {lines} of four pieces\n\
             that share a property wins.\n\
             The first player only gives a piece. The other places it and gives one back, and so on.\n\
             Cells are 1 to 16, row by row from the top left, or a row and a column (2 3).\n\
             At any prompt: help, board, pieces, quit.\n"
        )
    }

    fn question(&self, position: &Position) -> String {
        match position.hand() {
            Some(piece) => format!("place {} on which cell?", self.in_words(piece)),
            None => "which piece for your opponent?".to_owned(),
        }
    }

    /// Pieces are typed as symbols, binary or decimal, cells as numbers or as row and column.
    fn read_move(&self, position: &Position, typed: &str) -> Result<Move, Rejection> {
        let left = || joined(self.left_in_order(position).map(|piece| self.shown(piece)));
        if position.hand().is_some() {
            let cell = read_cell(typed)?;
            return match position.board().get(cell) {
                None => Ok(Move::Place(cell)),
                Some(piece) => Err(Rejection::illegal(
                    Illegal::Move(IllegalReason::Occupied),
                    format!(
                        "cell {} is occupied by {}; free: {}",
                        cell.number(),
                        self.shown(piece),
                        free_cells(position.board())
                    ),
                )),
            };
        }
        let piece = self.read_piece(typed).ok_or_else(|| {
            let expected = match self.format {
                PieceFormat::Symbol => "one of the characters listed",
                PieceFormat::Binary => "four binary digits, such as 0101",
                PieceFormat::Decimal => "a number from 0 to 15",
            };
            let (found, left) = (quote(typed.as_bytes()), left());
            let problem = format!("{found} is not a piece: expected {expected}; left: {left}");
            Rejection::malformed(Malformed::NotAPiece, problem)
        })?;
        if position.is_left(piece) {
            return Ok(Move::Give(piece));
        }
        let shown = self.shown(piece);
        Err(Rejection::illegal(
            Illegal::Move(IllegalReason::PieceUsed),
            format!("{shown} is already on the board; left: {}", left()),
        ))
    }

    fn hint(&self, position: &Position) -> Option<String> {
        let losing = self.left_in_order(position);
        let losing = losing.filter(|&piece| position.winning_cell(piece).is_some());
        let losing = joined(losing.map(|piece| self.shown(piece)));
        let board = match position.hand() {
            Some(_) => "on the board as it is, ",
            None => "",
        };
        (!losing.is_empty()).then(|| format!("{board}these gifts lose immediately: {losing}"))
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

    fn perfect(time: Option<Duration>) -> Option<Choose<Self>> {
        let mut perfect = Perfect::new(time);
        Some(Box::new(move |position, rng| perfect.choose(position, rng)))
    }

    fn solvable(game: &BuiltinInPlay<Self>) -> Option<&dyn Solvable> {
        Some(game)
    }
}

impl SolvableGame for Edition {
    fn solver(solvers: &Solvers) -> &dyn Solve<Position> {
        solvers.quarto()
    }

    fn class(&self, position: &Position) -> String {
        let name = solver::class(position).into_iter();
        name.map(|piece| char::from(b'A' + piece)).collect()
    }
}

const fn place(cell: Cell) -> (usize, usize) {
    (cell.row(), cell.column())
}

pub(super) fn only_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

fn quote_char(symbol: char) -> String {
    quote(symbol.to_string().as_bytes())
}

/// `2 3 7`.
fn free_cells(board: &Board) -> String {
    joined(board.free().map(Cell::number))
}

/// With a space between them.
fn joined<T: ToString>(items: impl Iterator<Item = T>) -> String {
    let texts = items.map(|item| item.to_string());
    texts.collect::<Vec<_>>().join(" ")
}

/// A cell as 1 to 16, or as row and column: `2 3`, `2,3`, `H2 V3`.
fn read_cell(typed: &str) -> Result<Cell, Rejection> {
    let expected = "expected a cell, 1 to 16, or a row and a column, such as 2 3";
    let outside = |what: &str| Rejection::illegal(Illegal::NoSuchCell, format!("{what}{expected}"));
    let words: Vec<&str> = typed
        .split(|c: char| !c.is_ascii_digit() && c != '-' && c != '+' && c != '.')
        .filter(|word| !word.is_empty())
        .collect();
    let letters_ok = typed
        .chars()
        .all(|c| c.is_ascii_digit() || " ,;hHvVrRcC".contains(c));
    let numbers: Option<Vec<u8>> = words.iter().map(|word| word.parse::<u8>().ok()).collect();
    match numbers.as_deref() {
        Some(&[number]) if letters_ok => {
            Cell::from_number(number).ok_or_else(|| outside(&format!("{number} is out of range: ")))
        }
        Some(&[row @ 1..=4, column @ 1..=4]) if letters_ok => {
            Cell::from_number((row - 1) * 4 + column).ok_or_else(|| outside(""))
        }
        Some(&[row, column]) if letters_ok => Err(outside(&format!(
            "row {row}, column {column} is out of range, both are 1 to 4: "
        ))),
        _ => {
            let found = quote(typed.as_bytes());
            let problem = format!("{found} is not a cell: {expected}");
            Err(Rejection::malformed(Malformed::NotACell, problem))
        }
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
        let wrong = read_cell("5x6").unwrap_err().to_string();
        assert!(wrong.starts_with("`5x6` is not a cell"), "{wrong}");
    }
}
