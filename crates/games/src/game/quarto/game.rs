//! [`Game`] for an edition of Quarto: rules, notation and pictures behind one trait.

use super::board::Board;
use super::cell::Cell;
use super::edition::Edition;
use super::judge;
use super::notation;
use super::position::{Move, Position, StartError};
use super::turn::Turn;
use crate::game::Position as _;
use crate::game::{Game, Picture, Rejection, WinningLines};

impl Edition {
    /// The position at the start of a game on this board, with nothing in hand.
    fn read_position(&self, board: &str) -> Result<Position, String> {
        let board = notation::read_board(self.set(), board)?;
        Position::from_board(board, self.rule_set())
            .map_err(|error| self.start_error(&board, error))
    }

    /// Why a game cannot start from a board, in words.
    fn start_error(&self, board: &Board, error: StartError) -> String {
        match error {
            StartError::Duplicate(piece, first, second) => format!(
                "the piece {} stands on cells {} and {}; every piece exists once",
                self.shown(piece),
                first.number(),
                second.number()
            ),
            StartError::HasQuarto => {
                let (line, property) = self.set().name_quartos(board, self.rule_set())[0];
                format!("there is a quarto already, {line} {property}; a game starts without one")
            }
            StartError::Full => "no cell is free; a game needs one".to_owned(),
        }
    }
}

impl Game for Edition {
    type Position = Position;
    type Turn = Turn;

    const NAME: &'static str = "quarto";
    const SETS: bool = true;

    fn rules(&self) -> &'static str {
        self.rule_set().name()
    }

    fn pieces(&self) -> Option<&str> {
        (!self.has_builtin_set()).then(|| self.set().text())
    }

    fn start(&self) -> Position {
        Position::new(self.rule_set())
    }

    fn start_from(&self, text: &str) -> Result<Position, String> {
        let (board, hand) = notation::split_start(self.set(), text)?;
        let position = self.read_position(board)?;
        let Some(piece) = hand else {
            return Ok(position);
        };
        position.holding(piece).ok_or_else(|| {
            let shown = self.shown(piece);
            let mut cells = Cell::all().filter(|&cell| position.board().get(cell) == Some(piece));
            let cell = cells.next().map_or(0, Cell::number);
            format!("the piece {shown} is in hand, but it stands on cell {cell}; every piece exists once")
        })
    }

    fn write_start(&self, position: &Position, out: &mut String) {
        if position.hand().is_some() {
            self.write_request(position, out);
        } else {
            self.write_board(position, out);
        }
    }

    fn write_board(&self, position: &Position, out: &mut String) {
        notation::write_board(self.set(), position.board(), out);
    }

    fn write_request(&self, position: &Position, out: &mut String) {
        notation::write_request(self.set(), position, out);
    }

    fn read_request(&self, line: &str) -> Result<Position, String> {
        let (board, rest) = notation::split_request(line);
        let mut position = self.read_position(board)?;
        if let Some(piece) = notation::read_hand(self.set(), line, rest)? {
            position
                .play(Move::Give(piece))
                .map_err(|illegal| format!("{:?}: {}", self.set().symbol(piece), illegal.reason))?;
        }
        Ok(position)
    }

    fn write_turn(&self, turn: Turn, out: &mut String) {
        notation::write_turn(self.set(), turn, out);
    }

    fn judge(&self, position: &Position, answer: &str) -> Result<(Turn, Position), Rejection> {
        judge::judge(self.set(), position, answer)
    }

    fn turns(&self, position: &Position) -> Vec<(Turn, Position)> {
        position.turns()
    }

    fn turn_of(&self, moves: &[Move]) -> Option<Turn> {
        Turn::from_moves(moves)
    }

    fn winning_lines(&self, position: &Position) -> WinningLines {
        self.set()
            .name_quartos(position.board(), self.rule_set())
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
