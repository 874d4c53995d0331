//! Games without type parameters, for everything above the rules.
//!
//! The rules of a game are statically typed ([`crate::game::Game`]), because a search makes millions
//! of moves a second. Code that plays, records, replays or shows games needs one turn every few
//! microseconds at most, and uses a [`Ruleset`] and its [`Session`]s as trait objects: a virtual call
//! takes a thousandth of the time of a turn.
//!
//! - [`Ruleset`]: a game with its rules and its pieces; starts sessions
//! - [`Session`]: one game being played
//! - [`HumanTurn`]: a turn that a person types move by move
//! - [`registry`]: from a game's name to its rules
//! - `typed`: implements these traits for every [`crate::game::Game`]
//! - `builtin`: the solver and the built-in bots of each game
//! - [`prover`]: the exact solvers of the games, for positions and turns as text
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

mod builtin;
pub mod prover;
pub mod registry;
mod typed;

use std::fmt;
use std::time::Duration;

use crate::game::{Outcome, Picture, Rejection, Side, WinningLines};

pub use builtin::Builtins;
pub use prover::{Proof, ProvenTurn, Prover, Solvers, TurnFacts, TurnValue};

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

    /// A game that starts from this position, as records hold it: a board, or a request. The error is a sentence about
    /// the text.
    fn start_from(&self, text: &str) -> Result<Box<dyn Session + '_>, String>;

    /// A game in the position of this request, without newline. The error is a sentence about the
    /// request.
    fn read_request(&self, line: &str) -> Result<Box<dyn Session + '_>, String>;

    /// The rules in short and the order of play, for people.
    fn instructions(&self) -> String;

    /// A game at the start that this seed draws, for games whose start is random. The error is a sentence.
    fn start_drawn(&self, seed: u32) -> Result<Box<dyn Session + '_>, String> {
        let _ = seed;
        Ok(self.start())
    }

    /// Whether the start of a game is random.
    fn has_drawn_start(&self) -> bool {
        false
    }

    /// Whether the bot that moves first is drawn at random; otherwise it is the first one named.
    fn is_first_drawn(&self) -> bool;

    /// Whether positions can be proven ([`Session::prove`], [`Ruleset::prover`]), and `builtin:perfect` plays.
    fn is_solvable(&self) -> bool;

    /// Whether [`Session::write_answers`] writes the legal answers: then built-in bots are told them after each request of
    /// a game that they do not know.
    fn lists_answers(&self) -> bool {
        false
    }

    /// The program that the game is; `None` for games of this program.
    fn program(&self) -> Option<&GameSource> {
        None
    }

    /// Why the game itself has failed, if it has: its program ended or answered nonsense. From then on answers are rejected
    /// that may be right, so no bot is to blame for anything. The games of this program do not fail.
    fn failure(&self) -> Option<String> {
        None
    }

    /// The built-in bot of this name, with its parameters if it has some (`search?depth=3`); `None` when there is none for this game.
    fn builtin_bot(&self, name: &str, options: BuiltinOptions) -> Option<BuiltinBot<'_>>;

    /// What proves positions of the game with these solvers, if there is one for it.
    fn prover(&self, solvers: &Solvers) -> Option<Box<dyn Prover>> {
        let _ = solvers;
        None
    }

    /// The smallest depth at which `builtin:search` is sure to give one of these answers, in canonical form, to a
    /// request; `None` when it is not even at the largest. The error is a sentence about the request.
    fn look_ahead(&self, request: &str, answers: &[String]) -> Result<Option<u32>, String> {
        let _ = (request, answers);
        Ok(None)
    }
}

/// The program that a game is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameSource {
    /// The command that starts it, as people write it.
    pub command: Vec<String>,
    /// The hash of its files; empty where it has none of its own.
    pub hash: String,
}

/// The options of a built-in bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinOptions {
    /// The seed of its random numbers.
    pub seed: u64,
    /// The time for a turn; only bots that search use it.
    pub move_time: Duration,
}

/// A built-in bot: takes a request without newline, and returns its answer in canonical form. The error
/// is a sentence about the request.
pub type BuiltinBot<'a> = Box<dyn FnMut(&str) -> Result<String, String> + 'a>;

/// One game being played: a position, and the turn that led to it.
///
/// A rejected answer changes nothing. Sides need not alternate from move to move: in Quarto, the side
/// that places a piece also gives the next one. See [`Session::to_move`].
pub trait Session: fmt::Debug {
    fn to_move(&self) -> Side;

    /// How the game ended by the rules; `None` while it is not over.
    fn outcome(&self) -> Option<Outcome>;

    /// Appends the board, as in requests and records.
    fn write_board(&self, out: &mut String);

    /// Appends the text from which [`Ruleset::start_from`] starts a game in this position: the board, and in Quarto the
    /// piece in hand, if there is one.
    fn write_start(&self, out: &mut String);

    /// Appends the request to the side to move, without newline.
    fn write_request(&self, out: &mut String);

    /// Appends all legal answers, with a tab before each, where [`Ruleset::lists_answers`].
    fn write_answers(&self, out: &mut String) {
        let _ = out;
    }

    /// Checks whether this answer (one line, without surrounding blanks) would be accepted.
    fn judge(&self, answer: &str) -> Result<(), Rejection>;

    /// Makes the turn of an answer, and replaces `turn` by its canonical form.
    fn play(&mut self, answer: &str, turn: &mut String) -> Result<(), Rejection>;

    /// The lines that decided the game, if any.
    fn winning_lines(&self) -> WinningLines;

    /// The last turn in words, such as `places K on 6, gives A`; empty before the first.
    fn describe_last_turn(&self) -> String;

    /// The position as it is shown to people, with the last turn marked.
    fn picture(&self) -> Picture;

    /// What a person who plays this side may see of it.
    fn picture_for(&self, viewer: Side) -> Picture {
        let _ = viewer;
        self.picture()
    }

    /// A copy that can be played independently.
    fn clone_box(&self) -> Box<dyn Session + '_>;

    /// The number of legal moves. A move is the smallest step that changes a position: a turn of
    /// Quarto is two, a placement and a gift.
    fn count_moves(&self) -> usize;

    /// Makes the legal move with this index, below [`Session::count_moves`]; `false` when there is
    /// none. It does not count as the last turn.
    fn make_move(&mut self, index: usize) -> bool;

    /// Whether the side to move has a move that wins.
    fn can_win_at_once(&self) -> bool;

    /// Counts the legal turns by the positions that they lead to.
    fn outlook(&self) -> Outlook;

    /// The result of best play from here; `None` when a search of `nodes` nodes does not prove it, and
    /// always for games without a solver. It is the same on every machine.
    fn prove(&self, nodes: u64) -> Option<Outcome>;

    /// Begins a turn that a person types.
    fn human_turn(&self) -> Box<dyn HumanTurn + '_>;
}

/// Counts of the legal turns by the positions that they lead to.
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
    /// The question for the next move.
    fn question(&self) -> String;

    /// Makes the move that was typed. The error explains to that person what is wrong; then nothing
    /// has changed.
    fn make(&mut self, typed: &str) -> Result<(), String>;

    /// Whether the turn is complete.
    fn is_complete(&self) -> bool;

    /// The turn in canonical form; `None` while it is not complete.
    fn answer(&self) -> Option<String>;

    /// A warning that names the choices that lose at once; `None` when none does.
    fn hint(&self) -> Option<String>;

    /// The piece in hand and the remaining pieces, in words.
    fn inventory(&self) -> String;

    /// The board with the moves so far.
    fn picture(&self) -> Picture;
}
