//! Quarto as bots, records and people read it: boards, requests and answers as text.

use super::board::Board;
use super::cell::{CELLS, Cell, Rules};
use super::piece::{Piece, PieceFormat};
use super::position::{BadStart, Move, Position};
use super::set::PieceSet;
use crate::game::{Game, IllegalReason, Outcome, Picture, Position as _, Rejection, WinningLines};
use crate::text::quote;

/// An edition of Quarto: a rule set and a piece set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edition {
    pub(super) rules: Rules,
    set: PieceSet,
    is_builtin: bool,
    format: PieceFormat,
}

/// What a player does in one turn: place the piece in hand, then give one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turn {
    /// Where the piece went; `None` on a turn that only gives.
    pub cell: Option<Cell>,
    /// The piece given; `None` when the placement ended the game.
    pub gift: Option<Piece>,
}

/// An answer as it was written, before anybody asked whether it makes sense.
struct Answer<'a> {
    /// The cell's number, unchecked; `None` for `-` or no word.
    cell: Option<u8>,
    gift: Gift<'a>,
}

enum Gift<'a> {
    /// No second word.
    Missing,
    /// `-`
    Dash,
    Symbol(char),
    /// More than one character: no piece of any set.
    Word(&'a str),
}

impl Default for Edition {
    /// The standard rules with the built-in pieces.
    fn default() -> Self {
        Self::new(Rules::Standard, PieceSet::default())
    }
}

impl Edition {
    /// An edition with these rules and words.
    pub fn new(rules: Rules, set: PieceSet) -> Self {
        let is_builtin = set.is_builtin();
        Self {
            rules,
            set,
            is_builtin,
            format: PieceFormat::default(),
        }
    }

    /// Its words.
    pub const fn set(&self) -> &PieceSet {
        &self.set
    }

    /// Shows pieces to people in this way; bots and records always see the set's characters.
    #[must_use]
    pub const fn with_format(mut self, format: PieceFormat) -> Self {
        self.format = format;
        self
    }

    /// How people see pieces.
    pub const fn format(&self) -> PieceFormat {
        self.format
    }

    fn symbols(&self, pieces: impl Iterator<Item = Piece>) -> String {
        let symbols: Vec<String> = pieces.map(|p| self.set.symbol(p).to_string()).collect();
        symbols.join(" ")
    }

    /// Syntax only. `placing` tells the short forms apart.
    fn parse(answer: &str, placing: bool) -> Result<Answer<'_>, String> {
        let mut words = answer.split([' ', '\t']).filter(|word| !word.is_empty());
        let (cell, gift) = match (words.next(), words.next(), words.next()) {
            (None, ..) => return Err("an empty line".to_owned()),
            (Some(gift), None, _) if !placing => (None, Some(gift)),
            (Some(cell), gift, None) => (Some(cell), gift),
            (_, _, Some(_)) => {
                return Err("more than two words".to_owned());
            }
        };
        let cell = match cell {
            None | Some("-") => None,
            Some(word) => Some(number(word).ok_or_else(|| {
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

    /// An example of what could have been answered, for messages.
    fn example(&self, position: &Position) -> String {
        let mut example = String::new();
        if let Some((turn, _)) = self.turns(position).first() {
            self.write_turn(*turn, &mut example);
        }
        format!("expected a cell and a gift, such as `{example}`")
    }

    /// The cell to place on, if the answer's is one where the piece can go.
    fn legal_cell(&self, position: &Position, number: Option<u8>) -> Result<Option<Cell>, String> {
        let free = || {
            let numbers: Vec<String> = position
                .board()
                .free()
                .map(|cell| cell.number().to_string())
                .collect();
            format!("free cells: {}", numbers.join(" "))
        };
        match (position.hand(), number) {
            (None, None) => Ok(None),
            (None, Some(number)) => Err(format!(
                "there is no piece in hand to place on cell {number}; expected `-` as the cell, this turn only gives"
            )),
            (Some(piece), None) => Err(format!(
                "`-` as the cell, but the piece {} is in hand and must be placed; {}",
                self.set.symbol(piece),
                free()
            )),
            (Some(_), Some(number)) => {
                let Some(cell) = Cell::from_number(number) else {
                    return Err(format!("there is no cell {number}; {}", free()));
                };
                match position.board().get(cell) {
                    None => Ok(Some(cell)),
                    Some(piece) => Err(format!(
                        "cell {number} is occupied by {}; {}",
                        self.set.symbol(piece),
                        free()
                    )),
                }
            }
        }
    }

    /// The gift, in a position where the placement is done and the game goes on.
    fn legal_gift(
        &self,
        before: &Position,
        after: &Position,
        gift: &Gift<'_>,
    ) -> Result<Piece, String> {
        let symbol = match gift {
            Gift::Symbol(symbol) => *symbol,
            Gift::Missing | Gift::Dash | Gift::Word(_) => '-',
        };
        let reason = match self.set.piece(symbol) {
            Some(piece) if after.is_left(piece) => return Ok(piece),
            Some(piece) if before.hand() == Some(piece) => {
                format!("the gift {symbol} is the piece that was in hand")
            }
            Some(_) => format!("the gift {symbol} is on the board already"),
            None if symbol == '-' => "`-` as the gift, but one is due".to_owned(),
            None => format!(
                "the gift {} is no piece of this set",
                quote(symbol.to_string().as_bytes())
            ),
        };
        Err(format!(
            "{reason}; pieces left: {}",
            self.symbols(after.left())
        ))
    }
}

/// One or two ASCII digits.
fn number(word: &str) -> Option<u8> {
    match word.as_bytes() {
        [a @ b'0'..=b'9'] => Some(a - b'0'),
        [a @ b'0'..=b'9', b @ b'0'..=b'9'] => Some((a - b'0') * 10 + (b - b'0')),
        _ => None,
    }
}

impl Game for Edition {
    type Position = Position;
    type Turn = Turn;

    const NAME: &'static str = "quarto";
    const SETS: bool = true;

    fn rules(&self) -> &'static str {
        self.rules.name()
    }

    fn pieces(&self) -> Option<&str> {
        (!self.is_builtin).then(|| self.set.text())
    }

    fn start(&self) -> Position {
        Position::new(self.rules)
    }

    fn start_from(&self, text: &str) -> Result<Position, String> {
        let mut board = Board::default();
        let mut count = 0;
        for symbol in text.chars() {
            let cell = u8::try_from(count).ok().and_then(Cell::from_index);
            count += 1;
            let Some(cell) = cell else { continue };
            match self.set.piece(symbol) {
                Some(piece) => {
                    // Each cell comes once, so it is free.
                    let _ = board.place(cell, piece);
                }
                None if symbol == '.' => {}
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
        Position::from_board(board, self.rules).map_err(|bad| match bad {
            BadStart::Twice(piece, first, second) => format!(
                "the piece {} stands on cells {} and {}; every piece exists once",
                self.shown(piece),
                first.number(),
                second.number()
            ),
            BadStart::HasQuarto => {
                let (line, property) = self.set.name_quartos(&board, self.rules)[0];
                format!("there is a quarto already, {line} {property}; a game starts without one")
            }
            BadStart::Full => "no cell is free; a game needs one".to_owned(),
        })
    }

    fn write_board(&self, position: &Position, out: &mut String) {
        for cell in Cell::all() {
            out.push(match position.board().get(cell) {
                Some(piece) => self.set.symbol(piece),
                None => '.',
            });
        }
    }

    fn write_request(&self, position: &Position, out: &mut String) {
        self.write_board(position, out);
        out.push(' ');
        out.push(position.hand().map_or('-', |piece| self.set.symbol(piece)));
    }

    fn read_request(&self, line: &str) -> Result<Position, String> {
        let mut chars = line.char_indices();
        let split = chars.nth(CELLS).map_or(line.len(), |(byte, _)| byte);
        let (board, rest) = line.split_at(split);
        let mut position = self.start_from(board)?;
        let separated = rest.starts_with([' ', '\t']);
        let mut symbols = rest.trim_matches([' ', '\t']).chars();
        match (symbols.next(), symbols.next()) {
            (Some('-'), None) if separated => Ok(position),
            (Some(symbol), None) if separated => {
                let piece = self
                    .set
                    .piece(symbol)
                    .ok_or_else(|| format!("{symbol:?} is no piece of this set"))?;
                position
                    .play(Move::Give(piece))
                    .map_err(|illegal| format!("{symbol:?}: {}", illegal.reason))?;
                Ok(position)
            }
            _ => Err(format!(
                "expected a board and a piece or `-`, found {}",
                quote(line.as_bytes())
            )),
        }
    }

    fn write_turn(&self, turn: Turn, out: &mut String) {
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
        out.push(turn.gift.map_or('-', |piece| self.set.symbol(piece)));
    }

    fn judge(&self, position: &Position, answer: &str) -> Result<(Turn, Position), Rejection> {
        if position.outcome().is_some() {
            return Err(Rejection::Illegal(IllegalReason::GameOver.to_string()));
        }
        let malformed =
            |reason: String| Rejection::Malformed(format!("{reason}; {}", self.example(position)));
        let answer = Self::parse(answer, position.hand().is_some()).map_err(malformed)?;
        let mut after = *position;
        let cell = self.legal_cell(position, answer.cell);
        if let Ok(Some(cell)) = cell
            && after.play(Move::Place(cell)).is_ok()
            && let Some(Outcome::Win(_)) = after.outcome()
        {
            // A quarto wins at once; whatever gift came with it is ignored.
            return Ok((
                Turn {
                    cell: Some(cell),
                    gift: None,
                },
                after,
            ));
        }
        // Syntax comes before meaning.
        let any_left = after.left().next().is_some();
        match answer.gift {
            Gift::Missing if any_left => {
                return Err(malformed("the gift is missing".to_owned()));
            }
            Gift::Word(word) => {
                return Err(malformed(format!(
                    "the gift {} is not one character",
                    quote(word.as_bytes())
                )));
            }
            Gift::Missing | Gift::Dash | Gift::Symbol(_) => {}
        }
        let cell = cell.map_err(Rejection::Illegal)?;
        if !any_left {
            return match answer.gift {
                Gift::Symbol(symbol) => Err(Rejection::Illegal(format!(
                    "{} as the gift, but no piece is left to give; expected `-`",
                    quote(symbol.to_string().as_bytes())
                ))),
                _ => Ok((Turn { cell, gift: None }, after)),
            };
        }
        let gift = self
            .legal_gift(position, &after, &answer.gift)
            .map_err(Rejection::Illegal)?;
        after
            .play(Move::Give(gift))
            .map_err(|illegal| Rejection::Illegal(illegal.to_string()))?;
        Ok((
            Turn {
                cell,
                gift: Some(gift),
            },
            after,
        ))
    }

    fn turns(&self, position: &Position) -> Vec<(Turn, Position)> {
        let mut placed = Vec::new();
        if position.hand().is_none() {
            placed.push((None, *position));
        }
        for mv in position.moves() {
            let mut after = *position;
            if let Move::Place(cell) = mv
                && after.play(mv).is_ok()
            {
                placed.push((Some(cell), after));
            }
        }
        let mut turns = Vec::new();
        for (cell, position) in placed {
            if position.outcome().is_some() {
                if cell.is_some() {
                    turns.push((Turn { cell, gift: None }, position));
                }
                continue;
            }
            for gift in position.left() {
                let mut after = position;
                if after.play(Move::Give(gift)).is_ok() {
                    let gift = Some(gift);
                    turns.push((Turn { cell, gift }, after));
                }
            }
        }
        turns
    }

    fn turn_of(&self, moves: &[Move]) -> Option<Turn> {
        match *moves {
            [Move::Give(gift)] => Some(Turn {
                cell: None,
                gift: Some(gift),
            }),
            [Move::Place(cell)] => Some(Turn {
                cell: Some(cell),
                gift: None,
            }),
            [Move::Place(cell), Move::Give(gift)] => Some(Turn {
                cell: Some(cell),
                gift: Some(gift),
            }),
            _ => None,
        }
    }

    fn winning_lines(&self, position: &Position) -> WinningLines {
        self.set
            .name_quartos(position.board(), self.rules)
            .into_iter()
            .map(|(line, property)| (line.to_owned(), property.to_owned()))
            .collect()
    }

    fn describe(&self, before: &Position, turn: Turn) -> String {
        self.turn_in_words(before, turn)
    }

    fn picture(&self, position: &Position, last: Option<Turn>) -> Picture {
        self.position_picture(position, last)
    }
}
