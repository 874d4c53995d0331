//! The rules of the games: no process, no clock, no file.
//!
//! [`Position`] is what a search or a perft needs: the side to move, the legal moves and the
//! outcome. [`Game`] is one edition of a game (its rules and its piece set) and translates
//! between positions and text. [`human_input::HumanInput`] is what a person at the keyboard needs.

pub mod four_in_a_row;
pub mod human_input;
pub mod picture;
pub mod quarto;

use std::fmt;

pub use picture::Picture;

/// One of the two sides of a game.
///
/// A side is a role in one game, not a bot: bots swap sides between games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The side that acts first (in Quarto: the one that gives the first piece).
    First,
    /// The other side.
    Second,
}

impl Side {
    /// Both sides, in order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The opponent.
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

/// How a game ended by the rules. A forfeit is not an outcome: the rules know nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// This side won.
    Win(Side),
    /// The board is full and nobody has won.
    Draw,
}

/// Why a move is not allowed in a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IllegalReason {
    /// The game has an outcome.
    GameOver,
    /// A placement, but no piece is in hand.
    NothingInHand,
    /// A gift, but the piece in hand has not been placed yet.
    PieceInHand,
    /// The cell (or the column) has no room.
    Occupied,
    /// The piece is on the board already.
    PieceUsed,
}

impl fmt::Display for IllegalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GameOver => "the game is over",
            Self::NothingInHand => "there is no piece in hand to place",
            Self::PieceInHand => "the piece in hand must be placed first",
            Self::Occupied => "the cell is occupied",
            Self::PieceUsed => "the piece is on the board already",
        })
    }
}

/// A rejected move: the move itself and why. The position is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllegalMove<M> {
    /// The move that was tried.
    pub attempted: M,
    /// Why the rules forbid it here.
    pub reason: IllegalReason,
}

impl<M: fmt::Debug> fmt::Display for IllegalMove<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "illegal move {:?}: {}", self.attempted, self.reason)
    }
}

impl<M: fmt::Debug> std::error::Error for IllegalMove<M> {}

/// A state of a game, with its rules.
pub trait Position: Clone + Eq + fmt::Debug + 'static {
    /// The smallest step that changes a position.
    type Move: Copy + Eq + fmt::Debug;

    /// The side that acts next. Sides need not alternate: in Quarto the side
    /// that places is also the side that then gives.
    fn to_move(&self) -> Side;

    /// `None` while the game goes on.
    fn outcome(&self) -> Option<Outcome>;

    /// Every legal move; none when the game is over.
    fn moves(&self) -> impl Iterator<Item = Self::Move>;

    /// Plays a move, or leaves the position untouched and returns the move in the error.
    fn play(&mut self, mv: Self::Move) -> Result<(), IllegalMove<Self::Move>>;

    /// Whether the side to move has a move that wins the game.
    fn can_win_at_once(&self) -> bool {
        let won = Outcome::Win(self.to_move());
        self.moves().any(|mv| {
            let mut after = self.clone();
            after.play(mv).is_ok() && after.outcome() == Some(won)
        })
    }
}

/// Why an answer was rejected. The text is for people and names what was expected; it quotes
/// what the bot sent, so it must be escaped before it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// Not a line of the protocol.
    Malformed(String),
    /// A well-formed line that asks for what the rules forbid.
    Illegal(String),
}

/// The lines that decided a game: name and property, such as `("H4", "big")`.
pub type WinningLines = Vec<(String, String)>;

/// One edition of a game: its rules, and the text that bots, records and people read.
pub trait Game {
    type Position: Position;
    /// What a side does in one turn: one answer of a bot, one or more moves.
    type Turn: Copy + Eq + fmt::Debug;

    /// The name in records and on the command line.
    const NAME: &'static str;

    /// Whether a random draw decides who acts first; otherwise the first bot named does.
    const IS_FIRST_DRAWN: bool = true;

    /// Whether the game has piece sets, which name its pieces differently.
    const SETS: bool = false;

    /// The name of the rule set, as in records.
    fn rules(&self) -> &'static str;

    /// The CSV text of the piece set; `None` for the built-in one.
    fn pieces(&self) -> Option<&str>;

    /// The position at the start of a game.
    fn start(&self) -> Self::Position;

    /// The position at the start of a game that is prepared, or what is wrong with the text: a board, or what
    /// [`Game::write_request`] writes.
    fn start_from(&self, text: &str) -> Result<Self::Position, String>;

    /// Appends the text from which [`Game::start_from`] makes this position, as records hold it: the board, and what
    /// cannot be told from it.
    fn write_start(&self, position: &Self::Position, out: &mut String) {
        self.write_board(position, out);
    }

    /// Appends the board, as requests and records write it.
    fn write_board(&self, position: &Self::Position, out: &mut String);

    /// Appends the request, the line that a bot is sent, without the newline.
    fn write_request(&self, position: &Self::Position, out: &mut String);

    /// Reads what [`Game::write_request`] writes, as a bot does.
    fn read_request(&self, line: &str) -> Result<Self::Position, String>;

    /// Appends a turn in its canonical form.
    fn write_turn(&self, turn: Self::Turn, out: &mut String);

    /// Judges an answer (one line, without surrounding blanks): the turn and the
    /// position after it, or why not.
    fn judge(
        &self,
        position: &Self::Position,
        answer: &str,
    ) -> Result<(Self::Turn, Self::Position), Rejection>;

    /// Every legal turn with the position it leads to. Empty when the game is over.
    fn turns(&self, position: &Self::Position) -> Vec<(Self::Turn, Self::Position)>;

    /// The turn that consists of these moves; `None` when no turn does.
    fn turn_of(&self, moves: &[<Self::Position as Position>::Move]) -> Option<Self::Turn>;

    /// The lines that decided the game, empty when none did.
    fn winning_lines(&self, position: &Self::Position) -> WinningLines;

    /// A turn in words, such as `places K on 6, gives A`.
    fn describe(&self, before: &Self::Position, turn: Self::Turn) -> String;

    /// What people see of a position; `last` is the turn that led to it.
    fn picture(&self, position: &Self::Position, last: Option<Self::Turn>) -> Picture;
}
