//! Games without type parameters, for everything above the rules.
//!
//! The rules of a game are statically typed ([`crate::game::Game`]), because a search makes millions
//! of moves a second. Code that plays, records, replays or shows games needs one turn every few
//! microseconds at most, and uses a [`Ruleset`] and its [`Session`]s as trait objects: a virtual call
//! takes a thousandth of the time of a turn.
//!
//! ```
//! use referee_games::session::registry;
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

pub mod prover;
pub mod registry;
mod typed;

use std::fmt;
use std::time::Duration;

use crate::game::{Outcome, Picture, Rejection, Side, WinningLines};

pub use prover::{Proof, ProvenTurn, Prover, Solvers, TurnFacts, TurnValue};
pub use registry::Builtins;

pub trait Ruleset: fmt::Debug + Send + Sync {
    /// In records, in a bot's environment and on the command line.
    fn name(&self) -> &str;

    /// In records.
    fn rules(&self) -> &str;

    /// `None` for the built-in one.
    fn pieces(&self) -> Option<&str>;

    fn start(&self) -> Box<dyn Session + '_>;

    /// A board, or a request. The error is a sentence about the text.
    fn start_from(&self, text: &str) -> Result<Box<dyn Session + '_>, String>;

    /// Without newline. The error is a sentence about the request.
    fn read_request(&self, line: &str) -> Result<Box<dyn Session + '_>, String>;

    fn instructions(&self) -> String;

    /// For games whose start is random. The error is a sentence.
    fn start_drawn(&self, seed: u32) -> Result<Box<dyn Session + '_>, String> {
        let _ = seed;
        Ok(self.start())
    }

    fn has_drawn_start(&self) -> bool {
        false
    }

    fn is_first_drawn(&self) -> bool;

    /// Whether positions can be proven ([`Ruleset::prover`]), and `builtin:perfect` plays.
    fn is_solvable(&self) -> bool;

    /// Whether [`Session::write_answers`] writes the legal answers: built-in bots are then told them after each
    /// request of a game that they do not know.
    fn lists_answers(&self) -> bool {
        false
    }

    /// `None` for games of this program.
    fn program(&self) -> Option<&GameSource> {
        None
    }

    /// Why the game itself has failed: its program exited or answered nonsense. From then on no bot is to blame for
    /// anything.
    fn failure(&self) -> Option<String> {
        None
    }

    /// With its parameters (`search?depth=3`); `None` when there is none for this game.
    fn builtin_bot(&self, name: &str, options: BuiltinOptions) -> Option<BuiltinBot<'_>>;

    fn prover(&self, solvers: &Solvers) -> Option<Box<dyn Prover>> {
        let _ = solvers;
        None
    }

    /// The smallest depth at which `builtin:search` is sure to give one of these answers, in canonical form; `None`
    /// when none is. The error is a sentence about the request.
    fn look_ahead(&self, request: &str, answers: &[String]) -> Result<Option<u32>, String> {
        let _ = (request, answers);
        Ok(None)
    }
}

/// The program that a game is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameSource {
    /// As people write it.
    pub command: Vec<String>,
    /// Of its files; empty where it has none of its own.
    pub hash: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinOptions {
    pub seed: u64,
    /// Only bots that search use it.
    pub move_time: Duration,
}

/// Takes a request without newline, and returns its answer in canonical form. The error is a sentence about the
/// request.
pub type BuiltinBot<'a> = Box<dyn FnMut(&str) -> Result<String, String> + 'a>;

/// One game being played: a position, and the turn that led to it. A rejected answer changes nothing. In Quarto, the
/// side that places a piece also gives the next one: sides need not alternate from move to move.
pub trait Session: fmt::Debug {
    fn to_move(&self) -> Side;

    /// `None` while the game is not over.
    fn outcome(&self) -> Option<Outcome>;

    /// As in requests and records.
    fn write_board(&self, out: &mut String);

    /// Appends the text from which [`Ruleset::start_from`] starts a game in this position.
    fn write_start(&self, out: &mut String);

    /// Without newline.
    fn write_request(&self, out: &mut String);

    /// With a tab before each, where [`Ruleset::lists_answers`].
    fn write_answers(&self, out: &mut String) {
        let _ = out;
    }

    /// One line, without surrounding whitespace.
    fn judge(&self, answer: &str) -> Result<(), Rejection>;

    /// Makes the turn of an answer, and replaces `turn` by its canonical form.
    fn play(&mut self, answer: &str, turn: &mut String) -> Result<(), Rejection>;

    fn winning_lines(&self) -> WinningLines;

    /// Such as `places K on 6, gives A`; empty before the first.
    fn describe_last_turn(&self) -> String;

    /// With the last turn marked.
    fn picture(&self) -> Picture;

    /// What a person who plays this side may see.
    fn picture_for(&self, viewer: Side) -> Picture {
        let _ = viewer;
        self.picture()
    }

    fn clone_box(&self) -> Box<dyn Session + '_>;

    /// A move is the smallest step that changes a position: a turn of Quarto is two.
    fn count_moves(&self) -> usize;

    /// `index` is below [`Session::count_moves`]; `false` when there is no such move. It does not count as the last
    /// turn.
    fn make_move(&mut self, index: usize) -> bool;

    fn can_win_at_once(&self) -> bool;

    /// Counts the legal turns by the positions that they lead to.
    fn outlook(&self) -> Outlook;

    /// The result of best play; `None` when a search of `nodes` nodes does not prove it. It is the same on every
    /// machine.
    fn prove(&self, nodes: u64) -> Option<Outcome>;

    fn human_turn(&self) -> Box<dyn HumanTurn + '_>;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    pub turns: usize,
    /// Those after which the game is over.
    pub ending: usize,
    pub winning: usize,
    /// Those after which the opponent can win immediately.
    pub losing: usize,
}

/// A turn that a person types, one move after the other.
pub trait HumanTurn {
    fn question(&self) -> String;

    /// On an error, a sentence for the person, nothing has changed.
    fn make(&mut self, typed: &str) -> Result<(), String>;

    fn is_complete(&self) -> bool;

    /// In canonical form; `None` while it is not complete.
    fn answer(&self) -> Option<String>;

    /// Names the choices that lose immediately; `None` when none does.
    fn hint(&self) -> Option<String>;

    /// In words.
    fn inventory(&self) -> String;

    fn picture(&self) -> Picture;
}
