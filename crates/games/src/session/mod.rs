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
use crate::solver::{Evaluation, Goal, Limits, Value};

pub use prover::{Proof, ProvenTurn, Prover, Solvers, TurnFacts, TurnValue};

/// A game with its rules and pieces: of this program (every [`crate::game::Game`]), or a program of its own.
pub trait Ruleset: fmt::Debug + Send + Sync {
    /// In records, in a bot's environment and on the command line.
    fn name(&self) -> &str;

    /// In records.
    fn rules(&self) -> &str;

    /// `None` for the built-in one.
    fn pieces(&self) -> Option<&str> {
        None
    }

    fn start(&self) -> Box<dyn Session + '_>;

    /// A board, or a request. The error is a sentence about the text.
    fn start_from(&self, text: &str) -> Result<Box<dyn Session + '_>, String>;

    /// Without newline. The error is a sentence about the request.
    fn read_request(&self, line: &str) -> Result<Box<dyn Session + '_>, String>;

    fn instructions(&self) -> String;

    /// For games whose start is random. The error is a sentence.
    fn start_drawn(&self, _seed: u32) -> Result<Box<dyn Session + '_>, String> {
        Ok(self.start())
    }

    fn has_drawn_start(&self) -> bool {
        false
    }

    fn is_first_drawn(&self) -> bool;

    /// Whether positions can be proven ([`Ruleset::prover`]), and `builtin:perfect` plays.
    fn is_solvable(&self) -> bool {
        false
    }

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
    fn builtin_bot(&self, _name: &str, _options: BuiltinOptions) -> Option<BuiltinBot<'_>> {
        None
    }

    fn prover(&self, _solvers: &Solvers) -> Option<Prover> {
        None
    }

    /// The smallest depth at which `builtin:search` is sure to give one of these answers, in canonical form; `None`
    /// when none is. The error is a sentence about the request.
    fn look_ahead(&self, _request: &str, _answers: &[String]) -> Result<Option<u32>, String> {
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

/// A turn in canonical form, and the game after it.
pub type TurnAndAfter<'a> = (String, Box<dyn Session + 'a>);

/// One game being played: a position, and the turn that led to it. A rejected answer changes nothing. In Quarto, the
/// side that places a piece also gives the next one: sides need not alternate from move to move.
pub trait Session: fmt::Debug {
    fn to_move(&self) -> Side;

    /// `None` while the game is not over.
    fn outcome(&self) -> Option<Outcome>;

    /// As in requests and records.
    fn write_board(&self, out: &mut String);

    /// Appends the text from which [`Ruleset::start_from`] starts a game in this position.
    fn write_start(&self, out: &mut String) {
        self.write_board(out);
    }

    /// Without newline.
    fn write_request(&self, out: &mut String);

    /// With a tab before each, where [`Ruleset::lists_answers`].
    fn write_answers(&self, _out: &mut String) {}

    /// One line, without surrounding whitespace.
    fn judge(&self, answer: &str) -> Result<(), Rejection> {
        self.clone_box().play(answer, &mut String::new())
    }

    /// Makes the turn of an answer, and replaces `turn` by its canonical form.
    fn play(&mut self, answer: &str, turn: &mut String) -> Result<(), Rejection>;

    fn winning_lines(&self) -> WinningLines;

    /// Such as `places K on 6, gives A`; empty before the first.
    fn describe_last_turn(&self) -> String;

    /// With the last turn marked.
    fn picture(&self) -> Picture;

    /// What a person who plays this side may see.
    fn picture_for(&self, _viewer: Side) -> Picture {
        self.picture()
    }

    fn clone_box(&self) -> Box<dyn Session + '_>;

    /// A move is the smallest step that changes a position: a turn of Quarto is two.
    fn count_moves(&self) -> usize;

    /// `index` is below [`Session::count_moves`]; `false` when there is no such move. It does not count as the last
    /// turn.
    fn make_move(&mut self, index: usize) -> bool;

    /// Every legal one.
    fn turns(&self) -> Box<dyn Iterator<Item = TurnAndAfter<'_>> + '_>;

    fn can_win_at_once(&self) -> bool {
        let won = Some(Outcome::Win(self.to_move()));
        self.turns().any(|(_, after)| after.outcome() == won)
    }

    /// Counts the legal turns by the positions that they lead to.
    fn outlook(&self) -> Outlook {
        let me = self.to_move();
        let mut outlook = Outlook::default();
        for (_, after) in self.turns() {
            let outcome = after.outcome();
            outlook.turns += 1;
            outlook.ending += usize::from(outcome.is_some());
            outlook.winning += usize::from(outcome == Some(Outcome::Win(me)));
            outlook.losing += usize::from(after.lets_win(me));
        }
        outlook
    }

    /// Whether the opponent of `side`, which moved last, can win immediately.
    fn lets_win(&self, side: Side) -> bool {
        self.outcome().is_none() && self.to_move() != side && self.can_win_at_once()
    }

    fn free_cells(&self) -> usize {
        let mut board = String::new();
        self.write_board(&mut board);
        board.matches('.').count()
    }

    /// What a person who is to move is asked for.
    fn question(&self) -> String;

    /// A person makes a turn one move after the other; returns the turn in canonical form when it is complete. On an
    /// error, a sentence for the person, nothing has changed.
    fn make_typed(&mut self, typed: &str) -> Result<Option<String>, String>;

    /// Names the choices that lose immediately; `None` when none does.
    fn hint(&self) -> Option<String> {
        None
    }

    /// In words.
    fn inventory(&self) -> String;

    /// The result of best play; `None` when a search of `nodes` nodes does not prove it. It is the same on every
    /// machine.
    fn prove(&self, _nodes: u64) -> Option<Outcome> {
        None
    }

    /// What is proven for the side to move; `None` without a solver.
    fn solve(&self, _: &Solvers, _: Goal, _: &Limits) -> Option<Evaluation> {
        None
    }

    /// Whether the turn that led here is worth at least this value to the side that made it; `None` when a limit was
    /// reached.
    fn keeps(&self, _: &Solvers, _: Value, _: &Limits) -> Option<bool> {
        None
    }

    /// A game that both sides play perfectly from here, as far as it is proven: the winner wins as soon as it can,
    /// the loser loses as late as it can.
    fn line(&self, _: &Solvers, _: &Limits) -> Vec<String> {
        Vec::new()
    }

    /// The same text for all positions that are equal by symmetry, and for no others.
    fn class(&self) -> String {
        let mut text = String::new();
        self.write_start(&mut text);
        text
    }
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
