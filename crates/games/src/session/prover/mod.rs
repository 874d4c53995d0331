//! The exact solvers of the games, for positions and turns as text.
//!
//! - `typed`: implements them for every game that has a solver

mod typed;

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::game::WinningLines;
use crate::solver::{self, Limits, Options, Progress, Value, four_in_a_row};

pub(super) use typed::{of_four_in_a_row, of_quarto};

/// Positions of Quarto with at most so many free cells are proven in less than a second, with all their turns.
pub(super) const QUARTO_QUICK: usize = 10;

/// The same of Four In A Row.
pub(super) const FOUR_IN_A_ROW_QUICK: usize = 28;

/// Proves positions of a game. It keeps what it has proven.
///
/// A request is the line that a bot is sent, of a position that is not over; an answer is a legal one there. Errors are
/// sentences about one of these texts.
pub trait Prover: fmt::Debug + Send + Sync {
    /// What a turn names as its place: `cell`, `column`.
    fn place(&self) -> &'static str;

    /// What fills the board, one a turn: `placement`, `disc`.
    fn unit(&self) -> &'static str;

    /// Whether so few cells are free that all turns, and how long they last, are proven in less than a second.
    fn is_quick(&self, request: &str) -> Result<bool, String>;

    /// The value of the position for the side to move; `None` when a limit was reached.
    fn value(&self, request: &str, limits: &Limits) -> Result<Option<Value>, String>;

    /// What an answer is worth for the side that gives it, as far as it is proven. `lasts`: also how long the game
    /// lasts, where a side wins.
    fn turn_value(
        &self,
        request: &str,
        answer: &str,
        lasts: bool,
        limits: &Limits,
    ) -> Result<TurnValue, String>;

    /// Whether an answer is worth at least this value there; `None` when a limit was reached.
    fn keeps(
        &self,
        request: &str,
        answer: &str,
        value: Value,
        limits: &Limits,
    ) -> Result<Option<bool>, String>;

    /// The value of a position, and which of its turns keep it; `None` when a limit was reached.
    fn prove(&self, request: &str, limits: &Limits) -> Result<Option<Proof>, String>;

    /// Every turn, and what it leads to at once.
    fn turns(&self, request: &str) -> Result<Vec<TurnFacts>, String>;

    /// The position after an answer, as a request; `None` when the game is over then.
    fn request_after(&self, request: &str, answer: &str) -> Result<Option<String>, String>;

    fn completed(&self, request: &str, answer: &str) -> Result<WinningLines, String>;

    /// A game that both sides play perfectly from there, as far as it is proven: the winner wins as soon as it can, the
    /// loser loses as late as it can.
    fn line(&self, request: &str, limits: &Limits) -> Result<Vec<String>, String>;

    /// The same text for all positions that are equal by symmetry, and for no others.
    fn class(&self, request: &str) -> Result<String, String>;
}

/// What is proven of a position that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The value for the side to move.
    pub value: Value,
    pub turns: Vec<ProvenTurn>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenTurn {
    /// The turn, and what it leads to at once.
    pub facts: TurnFacts,
    /// Whether it is worth as much as the position.
    pub keeps: bool,
}

/// What can be seen of a turn without a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnFacts {
    /// In canonical form.
    pub text: String,
    /// Whether it wins at once.
    pub wins: bool,
    /// Whether the opponent can win at once after it.
    pub lets_win: bool,
}

/// What a turn is worth for the side that makes it, as far as it is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnValue {
    /// The value; `None` when it could not be proven within the limits.
    pub value: Option<Value>,
    /// How many placements or discs are left until a side wins; 0 when the turn ends the game.
    pub plies: Option<u32>,
}

/// The solvers of all games. Each is made when it is needed first, and shared by all provers.
#[derive(Debug)]
pub struct Solvers {
    options: Options,
    quarto: OnceLock<Arc<solver::Solver>>,
    four_in_a_row: OnceLock<Arc<four_in_a_row::Solver>>,
}

impl Solvers {
    /// None yet; each will have these resources.
    pub const fn new(options: Options) -> Self {
        Self {
            options,
            quarto: OnceLock::new(),
            four_in_a_row: OnceLock::new(),
        }
    }

    /// The progress of all that have begun. Other threads may call this while they search.
    pub fn progress(&self) -> Progress {
        let quarto = self.quarto.get().map(|solver| solver.progress());
        let four_in_a_row = self.four_in_a_row.get().map(|solver| solver.progress());
        let begun = [quarto, four_in_a_row].into_iter().flatten();
        begun.fold(Progress::default(), |sum, progress| Progress {
            nodes: sum.nodes + progress.nodes,
            decided: sum.decided + progress.decided,
            turns: sum.turns + progress.turns,
        })
    }

    pub(super) fn quarto(&self) -> Arc<solver::Solver> {
        let made = || Arc::new(solver::Solver::new(self.options));
        Arc::clone(self.quarto.get_or_init(made))
    }

    pub(super) fn four_in_a_row(&self) -> Arc<four_in_a_row::Solver> {
        let made = || Arc::new(four_in_a_row::Solver::new(self.options.tt_bytes));
        Arc::clone(self.four_in_a_row.get_or_init(made))
    }
}
