//! Games as everything above the rules sees them: without type parameters.
//!
//! The rules of a game are statically typed ([`crate::game::Game`]), because a search makes
//! millions of moves a second. Whoever plays, records, replays or shows games asks for one turn
//! every few microseconds at most, and takes a [`Ruleset`] and its [`Session`]s as trait objects:
//! one virtual call is a thousandth of the time of a turn.
//!
//! - [`Ruleset`]: a game with its rules and pieces; starts sessions
//! - [`Session`]: one game being played
//! - [`HumanTurn`]: a turn that a person types move by move
//! - [`registry`]: from a game's name to its rules
//! - `typed`: both traits for every game that is a [`crate::game::Game`]
//! - `builtin`: what the solver and the built-in bots know of each game
//!
//! ```
//! use referee::session::registry;
//!
//! let quarto = registry::find("quarto").expect("it is registered");
//! let ruleset = quarto.ruleset(registry::Choices::default());
//! let mut session = ruleset.start();
//! let mut turn = String::new();
//! session.play("k", &mut turn).expect_err("pieces are capital letters");
//! session.play("K", &mut turn).expect("the first turn only gives");
//! assert_eq!(turn, "- K");
//! let mut request = String::new();
//! session.write_request(&mut request);
//! assert_eq!(request, "................ K");
//! ```

mod builtin;
pub mod registry;
mod typed;

use std::fmt;
use std::time::Duration;

use crate::game::{Outcome, Picture, Rejection, Side, WinningLines};

pub use builtin::Builtins;

/// A game with its rules and its pieces.
pub trait Ruleset: fmt::Debug + Send + Sync {
    /// The game's name in records, in a bot's environment and on the command line.
    fn name(&self) -> &str;

    /// The name of the rules, as in records.
    fn rules(&self) -> &str;

    /// The piece set's CSV text when it is not the built-in one.
    fn pieces(&self) -> Option<&str>;

    /// A game at its start.
    fn start(&self) -> Box<dyn Session + '_>;

    /// A game at the start on a prepared board, as records write it. The error is a sentence
    /// about the text.
    fn start_from(&self, board: &str) -> Result<Box<dyn Session + '_>, String>;

    /// The game in which a bot is sent this line (without newline). The error is a sentence about
    /// the line.
    fn read_request(&self, line: &str) -> Result<Box<dyn Session + '_>, String>;

    /// The rules in short and the order of play, for people.
    fn instructions(&self) -> String;

    /// A built-in bot; `None` when this game has none of that name.
    fn builtin_bot(&self, name: &str, options: BuiltinOptions) -> Option<BuiltinBot<'_>>;
}

/// What a built-in bot is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinOptions {
    /// Its random numbers come from this seed.
    pub seed: u64,
    /// Time for a turn; only bots that search look at it.
    pub move_time: Duration,
}

/// A built-in bot: takes a request (without newline), gives the answer in canonical form. The
/// error is a sentence about the request.
pub type BuiltinBot<'a> = Box<dyn FnMut(&str) -> Result<String, String> + 'a>;

/// One game being played: a position, and the turn that led to it.
///
/// A rejected answer leaves it as it was. The side that acts next need not be the other one: in
/// Quarto, the side that places a piece also gives the next. Ask [`Session::to_move`].
pub trait Session: fmt::Debug {
    /// The side that acts next.
    fn to_move(&self) -> Side;

    /// How the game ended by the rules; `None` while it goes on.
    fn outcome(&self) -> Option<Outcome>;

    /// Appends the board, as the wire and the record write it.
    fn write_board(&self, out: &mut String);

    /// Appends what the bot to move is sent, without the newline.
    fn write_request(&self, out: &mut String);

    /// Whether this answer (one line, without surrounding blanks) would be accepted.
    fn judge(&self, answer: &str) -> Result<(), Rejection>;

    /// Makes the turn that an answer asks for and writes it into `turn` (which is cleared) in
    /// canonical form.
    fn play(&mut self, answer: &str, turn: &mut String) -> Result<(), Rejection>;

    /// The lines that decided the game; empty when none did.
    fn winning_lines(&self) -> WinningLines;

    /// The last turn in words, such as `places K on 6, gives A`; empty before the first.
    fn describe_last_turn(&self) -> String;

    /// What people see, with the last turn marked.
    fn picture(&self) -> Picture;

    /// The same game, to be played on apart from this one.
    fn clone_box(&self) -> Box<dyn Session + '_>;

    /// How many moves are legal. A move is the smallest step that changes a position: a turn of
    /// Quarto is two, a placement and a gift.
    fn count_moves(&self) -> usize;

    /// Makes the legal move with this index, below [`Session::count_moves`]; `false` when there is
    /// none. The turn that it is part of is not written down.
    fn make_move(&mut self, index: usize) -> bool;

    /// Whether the side to move has a move that wins.
    fn can_win_at_once(&self) -> bool;

    /// Counts the legal turns by what they lead to.
    fn outlook(&self) -> Outlook;

    /// What best play leads to from here, when at most `nodes` nodes of a search prove it; always
    /// `None` for games without a solver. The same on every machine.
    fn prove(&self, nodes: u64) -> Option<Outcome>;

    /// A turn that a person makes from here.
    fn human_turn(&self) -> Box<dyn HumanTurn + '_>;
}

/// How many legal turns lead to what, one step ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// All legal turns.
    pub turns: usize,
    /// Those after which the game is over.
    pub ending: usize,
    /// Those that win.
    pub winning: usize,
    /// Those after which the opponent can win at once.
    pub losing: usize,
}

/// A turn that a person types, one move after the other.
pub trait HumanTurn {
    /// What to ask for next.
    fn question(&self) -> String;

    /// Makes the move that was typed. The error is the reason, for that person; nothing has
    /// changed then.
    fn make(&mut self, typed: &str) -> Result<(), String>;

    /// Whether nothing more has to be typed.
    fn is_complete(&self) -> bool;

    /// The whole turn in the wire's canonical form; `None` while it is not complete.
    fn answer(&self) -> Option<String>;

    /// What would lose at once; `None` when nothing would.
    fn hint(&self) -> Option<String>;

    /// What there is to play with.
    fn inventory(&self) -> String;

    /// The board with the moves so far.
    fn picture(&self) -> Picture;
}
