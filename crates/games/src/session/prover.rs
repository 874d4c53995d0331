//! The exact solvers of the games, for positions and turns as text.

use std::sync::{Arc, OnceLock};

use super::{Ruleset, Session};
use crate::game::{Outcome, Side, WinningLines};
use crate::solver::{self, Evaluation, Goal, Limits, Options, Value};

/// Proves positions of a game, and keeps what it has proven.
///
/// A request is of a position that is not over; an answer is a legal one there. Errors are sentences about one of
/// these texts.
#[derive(Clone, Debug)]
pub struct Prover {
    game: Arc<dyn Ruleset>,
    words: [&'static str; 2],
    quick_cells: usize,
    solvers: Solvers,
}

/// What is proven of a position that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// For the side to move.
    pub value: Value,
    pub turns: Vec<ProvenTurn>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenTurn {
    pub facts: TurnFacts,
    /// Whether it is worth as much as the position.
    pub keeps: bool,
}

/// What can be seen of a turn without a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnFacts {
    /// In canonical form.
    pub text: String,
    pub wins: bool,
    /// Whether the opponent can win immediately after it.
    pub lets_win: bool,
}

/// For the side that makes the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnValue {
    /// `None` when it could not be proven within the limits.
    pub value: Option<Value>,
    /// Placements or discs until a side wins; 0 when the turn ends the game.
    pub plies: Option<u32>,
}

impl Prover {
    pub(super) fn new(
        game: Arc<dyn Ruleset>,
        words: [&'static str; 2],
        quick_cells: usize,
        solvers: Solvers,
    ) -> Self {
        Self {
            game,
            words,
            quick_cells,
            solvers,
        }
    }

    /// What a turn names as its place: `cell`, `column`.
    pub const fn place(&self) -> &'static str {
        self.words[0]
    }

    /// What fills the board, one a turn: `placement`, `disc`.
    pub const fn unit(&self) -> &'static str {
        self.words[1]
    }

    fn read(&self, request: &str) -> Result<Box<dyn Session + '_>, String> {
        let session = self.game.read_request(request)?;
        if session.outcome().is_some() {
            return Err("the game is over there".to_owned());
        }
        Ok(session)
    }

    /// The side that answers, and the position after it.
    fn played(&self, request: &str, answer: &str) -> Result<(Side, Box<dyn Session + '_>), String> {
        let mut session = self.read(request)?;
        let side = session.to_move();
        let played = session.play(answer, &mut String::new());
        played.map_err(|_| format!("{answer} is not legal there"))?;
        Ok((side, session))
    }

    fn solve(&self, session: &dyn Session, goal: Goal, limits: &Limits) -> Option<Evaluation> {
        session.solve(&self.solvers, goal, limits)
    }

    pub fn free_cells(&self, request: &str) -> Result<usize, String> {
        Ok(self.read(request)?.free_cells())
    }

    /// Whether all turns, and how long they last, are proven in less than a second.
    pub fn is_quick(&self, request: &str) -> Result<bool, String> {
        Ok(self.free_cells(request)? <= self.quick_cells)
    }

    /// For the side to move; `None` when a limit was reached.
    pub fn value(&self, request: &str, limits: &Limits) -> Result<Option<Value>, String> {
        let found = self.solve(&*self.read(request)?, Goal::Value, limits);
        Ok(found.and_then(Evaluation::value))
    }

    /// For the side that answers, as far as it is proven. `lasts`: also how long the game lasts, where a side wins.
    pub fn turn_value(
        &self,
        request: &str,
        answer: &str,
        lasts: bool,
        limits: &Limits,
    ) -> Result<TurnValue, String> {
        let (side, after) = self.played(request, answer)?;
        if let Some(outcome) = after.outcome() {
            return Ok(TurnValue {
                value: Some(value_of(outcome, side)),
                plies: Some(0),
            });
        }
        let mut found = self.solve(&*after, Goal::Value, limits);
        let is_decided =
            |found: &Evaluation| matches!(found.value(), Some(Value::Win | Value::Loss));
        if lasts && found.as_ref().is_some_and(is_decided) {
            let nearer = self.solve(&*after, Goal::Distance, limits);
            found = nearer.filter(is_decided).or(found);
        }
        Ok(TurnValue {
            value: found.and_then(Evaluation::value).map(Value::opposite),
            plies: found.and_then(Evaluation::plies),
        })
    }

    /// Whether an answer is worth at least this value; `None` when a limit was reached.
    pub fn keeps(
        &self,
        request: &str,
        answer: &str,
        value: Value,
        limits: &Limits,
    ) -> Result<Option<bool>, String> {
        let (_, after) = self.played(request, answer)?;
        Ok(after.keeps(&self.solvers, value, limits))
    }

    /// The value, and which turns keep it; `None` when a limit was reached.
    pub fn prove(&self, request: &str, limits: &Limits) -> Result<Option<Proof>, String> {
        let session = self.read(request)?;
        let found = self.solve(&*session, Goal::Value, limits);
        let Some(value) = found.and_then(Evaluation::value) else {
            return Ok(None);
        };
        let turns = session.turns().map(|(text, after)| {
            Some(ProvenTurn {
                facts: TurnFacts::of(session.to_move(), text, &*after),
                keeps: after.keeps(&self.solvers, value, limits)?,
            })
        });
        let turns = turns.collect::<Option<_>>();
        Ok(turns.map(|turns| Proof { value, turns }))
    }

    /// Every turn, and what can be seen of it without a search.
    pub fn turns(&self, request: &str) -> Result<Vec<TurnFacts>, String> {
        let session = self.read(request)?;
        let facts =
            |(text, after): (_, Box<dyn Session>)| TurnFacts::of(session.to_move(), text, &*after);
        Ok(session.turns().map(facts).collect())
    }

    /// As a request; `None` when the game is over after the answer.
    pub fn request_after(&self, request: &str, answer: &str) -> Result<Option<String>, String> {
        let (_, after) = self.played(request, answer)?;
        let mut text = String::new();
        after.write_request(&mut text);
        Ok(after.outcome().is_none().then_some(text))
    }

    pub fn completed(&self, request: &str, answer: &str) -> Result<WinningLines, String> {
        Ok(self.played(request, answer)?.1.winning_lines())
    }

    /// A game that both sides play perfectly from there, as far as it is proven: the winner wins as soon as it can,
    /// the loser loses as late as it can.
    pub fn line(&self, request: &str, limits: &Limits) -> Result<Vec<String>, String> {
        Ok(self.read(request)?.line(&self.solvers, limits))
    }

    /// The same text for all positions that are equal by symmetry, and for no others.
    pub fn class(&self, request: &str) -> Result<String, String> {
        Ok(self.read(request)?.class())
    }
}

fn value_of(outcome: Outcome, side: Side) -> Value {
    match outcome {
        Outcome::Draw => Value::Draw,
        Outcome::Win(winner) if winner == side => Value::Win,
        Outcome::Win(_) => Value::Loss,
    }
}

impl TurnFacts {
    fn of(side: Side, text: String, after: &dyn Session) -> Self {
        Self {
            text,
            wins: after.outcome() == Some(Outcome::Win(side)),
            lets_win: after.lets_win(side),
        }
    }
}

/// The solvers of all games. Each is made when it is first needed, and shared by all clones.
#[derive(Clone, Debug)]
pub struct Solvers {
    options: Options,
    quarto: Arc<OnceLock<solver::Solver>>,
    four_in_a_row: Arc<OnceLock<solver::four_in_a_row::Solver>>,
}

impl Solvers {
    pub fn new(options: Options) -> Self {
        Self {
            options,
            quarto: Arc::default(),
            four_in_a_row: Arc::default(),
        }
    }

    pub(crate) fn quarto(&self) -> &solver::Solver {
        self.quarto
            .get_or_init(|| solver::Solver::new(self.options))
    }

    pub(crate) fn four_in_a_row(&self) -> &solver::four_in_a_row::Solver {
        let made = || solver::four_in_a_row::Solver::new(self.options.tt_bytes);
        self.four_in_a_row.get_or_init(made)
    }
}
