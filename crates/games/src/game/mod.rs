//! The rules of the games: no process, no clock, no file.
//!
//! [`Position`] is what a search needs, which makes millions of moves a second. Everything else takes objects, which are of this
//! program ([`BuiltinGame`] adds to a position its text) or of a program of its own: a [`Ruleset`] is a game with its options,
//! a [`Game`] is in some position, with what people see of it and type ([`Interactive`]); a [`Solvable`] one can be proven.
//!
//! ```
//! use referee_games::game::registry::{self, Choices};
//!
//! let quarto = registry::find("quarto").expect("it is registered");
//! let mut game = quarto.ruleset(Choices::default()).start();
//! let mut turn = String::new();
//! game.play("k", &mut turn).expect_err("pieces are capital letters");
//! game.play("K", &mut turn).expect("the first turn only gives");
//! assert_eq!(turn, "- K");
//! assert_eq!(game.request(), "................ K");
//! ```

pub mod builtin;
pub mod four_in_a_row;
mod picture;
pub mod quarto;
pub mod registry;
mod rejection;
mod ruleset;
mod solvable;

use std::fmt;

pub use builtin::{BuiltinGame, BuiltinInPlay, BuiltinRuleset, SolvableGame};
pub use picture::{Glyph, Picture};
pub use rejection::{Illegal, Malformed, Rejection, RejectionCause};
pub use ruleset::{BuiltinBot, GameFailure, GameSource, Info, RequestError, Ruleset, StartError};
pub use solvable::Solvable;

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

/// A state of a game, with its rules.
pub trait Position: Clone + Eq + fmt::Debug + Send + Sync + 'static {
    /// The smallest step that changes a position.
    type Move: Copy + Eq + fmt::Debug + Send + Sync;

    /// One answer of a bot: one or more moves.
    type Turn: Copy + Eq + fmt::Debug + Send + Sync;

    fn to_move(&self) -> Side;

    /// `None` while the game goes on.
    fn outcome(&self) -> Option<Outcome>;

    /// None when the game is over.
    fn moves(&self) -> impl Iterator<Item = Self::Move>;

    /// Leaves the position untouched when the move is illegal.
    fn play(&mut self, mv: Self::Move) -> Result<(), IllegalReason>;

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

/// How a turn is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// What a side does: `places K on 6, gives A`.
    Told,
    /// What to do: `place K on 6 and give A`.
    Advised,
}

/// The number that a cell or a column is written as.
fn one_or_two_digits(word: &str) -> Option<u8> {
    let is_number = word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| is_number)
}

/// Name and property, such as `("H4", "big")`.
pub type WinningLines = Vec<(String, String)>;

/// A turn, and the game after it.
#[derive(Clone, Debug)]
pub struct Turn {
    /// In canonical form.
    pub text: String,
    pub after: Box<dyn Game>,
}

/// A game in some position: whose turn it is, what is asked, and what follows from an answer. Sides need not alternate from
/// move to move.
pub trait Game: Interactive + fmt::Debug + Send + Sync {
    fn clone_box(&self) -> Box<dyn Game>;

    fn to_move(&self) -> Side;

    /// `None` while the game is not over.
    fn outcome(&self) -> Option<Outcome>;

    /// As requests and records have it.
    fn board(&self) -> String;

    /// The text from which [`Ruleset::start_from`] starts a game in this position.
    fn as_start(&self) -> String {
        self.board()
    }

    /// Without newline.
    fn request(&self) -> String;

    /// The legal answers, a tab before each, where [`Info::lists_answers`].
    fn answers(&self) -> String {
        String::new()
    }

    /// Makes the turn of an answer, one line without surrounding whitespace, and replaces `turn` by its canonical form.
    /// A rejected answer changes nothing.
    fn play(&mut self, answer: &str, turn: &mut String) -> Result<(), Rejection>;

    fn winning_lines(&self) -> WinningLines;

    /// A move is the smallest step that changes a position: a turn of Quarto is two.
    fn count_moves(&self) -> usize;

    /// `index` is below [`Game::count_moves`]; `false` when there is no such move. It does not count as the last turn.
    fn make_move(&mut self, index: usize) -> bool;

    /// Every legal one.
    fn turns(&self) -> Box<dyn Iterator<Item = Turn> + '_>;

    fn can_win_at_once(&self) -> bool {
        let won = Some(Outcome::Win(self.to_move()));
        self.turns().any(|turn| turn.after.outcome() == won)
    }

    /// What a solver can prove of it; `None` without a solver.
    fn solvable(&self) -> Option<&dyn Solvable> {
        None
    }
}

/// What people see of a game, and type in it.
pub trait Interactive {
    /// Empty before the first. A game that is a program has one form of words.
    fn describe_last_turn(&self, mood: Mood) -> String;

    /// What a person who plays this side may see; all of it without one. The last turn is marked.
    fn picture(&self, viewer: Option<Side>) -> Picture;

    /// What a person who is to move is asked for.
    fn question(&self) -> String;

    /// A move of a person; returns the turn in canonical form when it is complete. On an error nothing has changed.
    fn make_typed(&mut self, typed: &str) -> Result<Option<String>, Rejection>;

    /// Names the choices that lose immediately; `None` when none does.
    fn hint(&self) -> Option<String> {
        None
    }

    fn inventory(&self) -> String;
}

impl Clone for Box<dyn Game> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}

impl dyn Game + '_ {
    pub fn after(&self, answer: &str) -> Result<Turn, Rejection> {
        let (mut text, mut after) = (String::new(), self.clone_box());
        after.play(answer, &mut text)?;
        Ok(Turn { text, after })
    }

    /// Counts the legal turns by the positions that they lead to.
    pub fn outlook(&self) -> Outlook {
        let me = self.to_move();
        let mut outlook = Outlook::default();
        for Turn { after, .. } in self.turns() {
            let outcome = after.outcome();
            outlook.turns += 1;
            outlook.ending += usize::from(outcome.is_some());
            outlook.winning += usize::from(outcome == Some(Outcome::Win(me)));
            outlook.losing += usize::from(after.lets_win(me));
        }
        outlook
    }

    /// Whether the opponent of `side`, which moved last, can win immediately.
    pub fn lets_win(&self, side: Side) -> bool {
        self.outcome().is_none() && self.to_move() != side && self.can_win_at_once()
    }

    pub fn free_cells(&self) -> usize {
        self.board().matches('.').count()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    pub turns: usize,
    /// Turns after which the game is over.
    pub ending: usize,
    pub winning: usize,
    /// Turns after which the opponent can win immediately.
    pub losing: usize,
}
