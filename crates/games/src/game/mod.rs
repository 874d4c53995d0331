//! The rules of the games: no process, no clock, no file.
//!
//! [`Position`] is what a search needs: the side to move, the legal moves and turns, the outcome. [`Game`] is one
//! edition of a game (its rules and its piece set): it translates between positions and text, and names what else the
//! program has for the game.

pub mod four_in_a_row;
pub mod quarto;

use std::fmt;
use std::time::Duration;

use rand::rngs::ChaCha8Rng;

use crate::session::Solvers;
use crate::solver::Solve;

/// A role in one game, not a bot: bots swap sides between games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// In Quarto the side that gives the first piece.
    #[default]
    First,
    Second,
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// 0 for the first side, 1 for the second.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A forfeit is not an outcome: the rules know nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Win(Side),
    /// The board is full and no side has won.
    Draw,
}

/// Why a move is not allowed in a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IllegalReason {
    #[error("the game is over")]
    GameOver,
    /// A placement.
    #[error("there is no piece in hand to place")]
    NothingInHand,
    /// A gift.
    #[error("the piece in hand must be placed first")]
    PieceInHand,
    /// The cell (or the column) has no room.
    #[error("the cell is occupied")]
    Occupied,
    #[error("the piece is on the board already")]
    PieceUsed,
}

/// The position is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal move {attempted:?}: {reason}")]
pub struct IllegalMove<M: fmt::Debug> {
    pub attempted: M,
    pub reason: IllegalReason,
}

/// A state of a game, with its rules.
pub trait Position: Clone + Eq + fmt::Debug + 'static {
    /// The smallest step that changes a position.
    type Move: Copy + Eq + fmt::Debug;

    /// One answer of a bot: one or more moves.
    type Turn: Copy + Eq + fmt::Debug;

    /// In Quarto the side that places is also the side that then gives.
    fn to_move(&self) -> Side;

    /// `None` while the game goes on.
    fn outcome(&self) -> Option<Outcome>;

    /// None when the game is over.
    fn moves(&self) -> impl Iterator<Item = Self::Move>;

    /// Leaves the position untouched and returns the move when it is illegal.
    fn play(&mut self, mv: Self::Move) -> Result<(), IllegalMove<Self::Move>>;

    /// Every legal turn with the position it leads to, in the order of the moves; none when the game is over.
    fn turns(&self) -> Vec<(Self::Turn, Self)> {
        let mut turns = Vec::new();
        add_turns(self, self.to_move(), &mut Vec::new(), &mut turns);
        turns
    }

    /// `None` when no turn consists of these moves.
    fn turn_of(moves: &[Self::Move]) -> Option<Self::Turn>;

    fn can_win_at_once(&self) -> bool {
        let won = Outcome::Win(self.to_move());
        self.moves().any(|mv| {
            let mut after = self.clone();
            after.play(mv).is_ok() && after.outcome() == Some(won)
        })
    }
}

/// Those of `side` that begin with these moves, which led to this position.
fn add_turns<P: Position>(
    position: &P,
    side: Side,
    moves: &mut Vec<P::Move>,
    turns: &mut Vec<(P::Turn, P)>,
) {
    for mv in position.moves() {
        let mut after = position.clone();
        if after.play(mv).is_err() {
            continue;
        }
        moves.push(mv);
        if after.outcome().is_none() && after.to_move() == side {
            add_turns(&after, side, moves, turns);
        } else if let Some(turn) = P::turn_of(moves) {
            turns.push((turn, after));
        }
        moves.pop();
    }
}

/// Before a hint in the text of a rejection.
pub const HINT: &str = "; hint: ";

/// Why an answer was rejected, for people. It quotes what the bot sent, so it must be escaped before it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// Not a line of the protocol.
    Malformed(String),
    /// Well-formed, but against the rules.
    Illegal(String),
}

impl Rejection {
    pub fn text(&self) -> &str {
        let (Self::Malformed(text) | Self::Illegal(text)) = self;
        text
    }

    /// With what the bot's author is likely to have got wrong.
    #[must_use]
    pub fn with_hint(mut self, hint: &str) -> Self {
        let (Self::Malformed(text) | Self::Illegal(text)) = &mut self;
        text.push_str(HINT);
        text.push_str(hint);
        self
    }
}

/// Name and property, such as `("H4", "big")`.
pub type WinningLines = Vec<(String, String)>;

pub type MoveOf<G> = <<G as Game>::Position as Position>::Move;

pub type TurnOf<G> = <<G as Game>::Position as Position>::Turn;

/// How a bot chooses a turn; `None` when the game is over.
pub type Choose<G> = Box<dyn FnMut(&<G as Game>::Position, &mut ChaCha8Rng) -> Option<TurnOf<G>>>;

/// One edition of a game: its rules, and the text that bots, records and people read.
pub trait Game: Clone + fmt::Debug + Send + Sync + 'static {
    type Position: Position;

    /// In records and on the command line.
    const NAME: &'static str;

    /// Whether a random draw decides who acts first; otherwise the first bot named does.
    const IS_FIRST_DRAWN: bool = true;

    /// What a turn names as its place, and what fills the board, one a turn: `cell` and `placement`.
    const WORDS: [&'static str; 2] = ["cell", "mark"];

    /// Positions with at most so many free cells are proven in less than a second, with all their turns; 0 where
    /// there is no [`Game::solver`].
    const PROVABLE_CELLS: usize = 0;

    /// In records.
    fn rules(&self) -> &'static str {
        "standard"
    }

    /// CSV; `None` for the built-in set.
    fn pieces(&self) -> Option<&str> {
        None
    }

    fn start(&self) -> Self::Position;

    /// A prepared start: a board, or what [`Game::write_request`] writes. The error says what is wrong with the text.
    fn start_from(&self, text: &str) -> Result<Self::Position, String>;

    /// Appends the text from which [`Game::start_from`] makes this position, as in records.
    fn write_start(&self, position: &Self::Position, out: &mut String) {
        self.write_board(position, out);
    }

    /// As in requests and records.
    fn write_board(&self, position: &Self::Position, out: &mut String);

    /// Without newline.
    fn write_request(&self, position: &Self::Position, out: &mut String);

    /// Reads what [`Game::write_request`] writes, as a bot does.
    fn read_request(&self, line: &str) -> Result<Self::Position, String> {
        self.start_from(line)
    }

    /// In canonical form.
    fn write_turn(&self, turn: TurnOf<Self>, out: &mut String);

    /// `answer` is one line, without surrounding whitespace.
    fn judge(
        &self,
        position: &Self::Position,
        answer: &str,
    ) -> Result<(TurnOf<Self>, Self::Position), Rejection>;

    /// Empty when none decided it.
    fn winning_lines(&self, position: &Self::Position) -> WinningLines;

    /// Such as `places K on 6, gives A`.
    fn describe(&self, before: &Self::Position, turn: TurnOf<Self>) -> String;

    /// `last` is the turn that led to the position.
    fn picture(&self, position: &Self::Position, last: Option<TurnOf<Self>>) -> Picture;

    /// For a person at a terminal: the rules in short and the order of play.
    fn instructions(&self) -> String;

    /// A person makes one move after the other.
    fn question(&self, position: &Self::Position) -> String;

    /// The error is a sentence for the person.
    fn read_move(&self, position: &Self::Position, typed: &str) -> Result<MoveOf<Self>, String>;

    /// A warning that names every choice that loses at once; `None` when none does.
    fn hint(&self, position: &Self::Position) -> Option<String>;

    /// In words.
    fn inventory(&self, position: &Self::Position) -> String;

    fn solver(_: &Solvers) -> Option<&dyn Solve<Self::Position>> {
        None
    }

    /// The same text for all positions that are equal by symmetry, and for no others.
    fn class(&self, position: &Self::Position) -> String {
        let mut board = String::new();
        self.write_request(position, &mut board);
        board
    }

    /// A bot that plays perfectly, within this time for a turn; without one its turns are the same on every machine.
    fn perfect(_: Option<Duration>) -> Option<Choose<Self>> {
        None
    }
}

/// A drawing of a position as data: what is on the board, without colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Row by row; an empty string is a free cell.
    pub cells: Vec<Vec<String>>,
    /// Shown over the board.
    pub columns: Vec<String>,
    /// Left of the board; empty when rows have no names.
    pub rows: Vec<String>,
    /// The cell (row, column) that the last turn changed.
    pub last: Option<(usize, usize)>,
    pub winning: Vec<(usize, usize)>,
    /// The cells of each winning line, from one end to the other; of a square of Quarto row by row. Empty when the
    /// game names cells only.
    pub lines: Vec<Vec<(usize, usize)>>,
    /// Of free cells, row by row; empty when cells have none.
    pub cell_names: Vec<Vec<String>>,
    /// The piece that must be placed, in words.
    pub hand: Option<String>,
    /// In words.
    pub left: Vec<String>,
    /// Below the board.
    pub text: Vec<String>,
    /// The same picture as a game's program made it; not to be trusted.
    pub svg: Option<String>,
}
