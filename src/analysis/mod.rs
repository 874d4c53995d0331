//! Analysis: where a recorded game of Quarto was won and lost.
//!
//! The solver evaluates the game from the end towards the start, as far as it can prove within its
//! limits. Every turn gets its value for the player who made it and the best value that the player
//! could have had.
//!
//! - [`appraisal`]: the value of a single position and of its turns
//! - [`rerun`]: what became of the mistakes when the bot was asked again
//! - `sentence`: a turn's analysis as a sentence
//! - `field`: an annotation put into a record's line without changing anything else

pub mod appraisal;
mod field;
pub mod rerun;
mod sentence;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use field::with_analysis;

use crate::game::quarto::{Edition, PieceSet, Position, Rules, Turn};
use crate::game::{Game as _, Outcome, Position as _};
use crate::play::replay::{ReplayError, Violation, replay};
use crate::record::Record;
use crate::record::annotation::{Annotation, FIELD, Mark, Note};
use crate::solver::{self, Goal, Limits, Progress, Solver, Value};
use sentence::Sentence;

/// The effort for a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// This much time.
    Time(Duration),
    /// This many nodes: with one thread the result is the same every time.
    Nodes(u64),
}

/// The resources of an analyst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// For the value of each turn. The search for better turns takes about as much again.
    pub effort: Effort,
    /// Memory and threads.
    pub solver: solver::Options,
}

/// Why a record cannot be analysed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Another game.
    #[error("it is a game of {}; only Quarto can be solved", crate::text::escape_controls(.0))]
    NotQuarto(String),
    /// Unknown rules.
    #[error("the rules {} are unknown; expected standard or squares", crate::text::quote(.0.as_bytes()))]
    UnknownRules(String),
    /// Its piece set is invalid.
    #[error("its piece set: {0}")]
    Pieces(String),
    /// It violates the rules.
    #[error("{}{}", .0.turn.map_or_else(String::new, |turn| format!("turn {turn}: ")), .0.problem)]
    Violation(Violation),
}

/// After this many unsolved positions in a row, the positions before them, which are harder, get less
/// effort.
const FULL_EFFORT_FAILURES: u32 = 2;

/// Those positions get the effort divided by this number.
const REDUCED_SHARE: u32 = 10;

/// With at most this many free cells the other turns are solved, to mark only and forced turns.
const CHOICES_UP_TO: usize = 10;

/// With at most this many free cells distances are cheap.
const DISTANCES_UP_TO: usize = 9;

/// Nodes for every other turn in a first pass, before any of them gets the whole effort.
const FIRST_PASS_NODES: u64 = 1 << 15;

/// Analyses games. One analyst for many games is faster: its solver keeps what it has proven.
#[derive(Debug)]
pub struct Analyst {
    solver: Solver,
    effort: Effort,
    stop: Arc<AtomicBool>,
}

/// A turn of a game.
struct Step {
    before: Position,
    turn: Turn,
    after: Position,
}

impl Analyst {
    /// An analyst with a new solver.
    pub fn new(options: Options) -> Self {
        Self {
            solver: Solver::new(options.solver),
            effort: options.effort,
            stop: Arc::default(),
        }
    }

    /// Stops when this flag is set, with what was proven so far.
    #[must_use]
    pub fn or_when(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = stop;
        self
    }

    /// The progress of the solver. Other threads may call this while it searches.
    pub fn progress(&self) -> Progress {
        self.solver.progress()
    }

    /// Analyses a game and writes the result into the record's field `analysis`.
    pub fn annotate(&self, record: &mut Record) -> Result<Annotation, Problem> {
        let annotation = self.analyse(record, |_| {})?;
        record.more.insert(FIELD.to_owned(), annotation.to_json());
        Ok(annotation)
    }

    /// Analyses a game. `at` is called with the number of each turn, from the last to the first.
    pub fn analyse(
        &self,
        record: &Record,
        mut at: impl FnMut(usize),
    ) -> Result<Annotation, Problem> {
        let (edition, steps, last) = steps(record)?;
        let mut failures = 0;
        // A game without turns has nothing to analyse.
        let mut later = (!steps.is_empty())
            .then(|| self.value(&last, &mut failures))
            .flatten();
        let mut turns = Vec::new();
        for (index, step) in steps.iter().enumerate().rev() {
            at(index + 1);
            let value = later.map(|value| for_player(step, value));
            let best = match value {
                // Nothing is better than a win.
                Some(Value::Win) => value,
                _ => self.value(&step.before, &mut failures),
            };
            let mut note = self.note(&edition, step, value, best);
            note.turn = index + 1;
            // A turn about which nothing is known is not written.
            if note.is_known() {
                turns.push(note);
            }
            later = best;
        }
        turns.reverse();
        Ok(Annotation {
            by: concat!("referee ", env!("CARGO_PKG_VERSION")).to_owned(),
            turns,
        })
    }

    /// As much as `effort` allows, divided by `share`.
    fn limits(&self, share: u32) -> Limits {
        let limits = match self.effort {
            Effort::Time(time) => Limits::within(time / share),
            Effort::Nodes(nodes) => Limits::nodes(nodes / u64::from(share)),
        };
        limits.or_when(Arc::clone(&self.stop))
    }

    /// The value of a position for the side to move. `failures` counts positions in a row that
    /// could not be solved.
    fn value(&self, position: &Position, failures: &mut u32) -> Option<Value> {
        let share = if *failures < FULL_EFFORT_FAILURES {
            1
        } else {
            REDUCED_SHARE
        };
        let evaluation = self
            .solver
            .solve(position, Goal::Value, &self.limits(share));
        let value = evaluation.value();
        *failures = if value.is_some() { 0 } else { *failures + 1 };
        value
    }

    fn note(
        &self,
        edition: &Edition,
        step: &Step,
        value: Option<Value>,
        best: Option<Value>,
    ) -> Note {
        let others: Vec<_> = {
            let mut others = step.before.turns();
            others.retain(|(turn, _)| *turn != step.turn);
            // A better turn on the same cell is the most instructive one.
            others.sort_by_key(|(turn, _)| turn.cell != step.turn.cell);
            others
        };
        let won = has_won(&step.after);
        let win_at_once = others
            .iter()
            .find(|(_, after)| has_won(after))
            .filter(|_| !won);
        let refutation = step.after.winning_placement();
        let safe = others.iter().find(|(_, after)| !after.can_win_at_once());
        let mut note = Note {
            value,
            best,
            missed_win: win_at_once.is_some(),
            lost_at_once: refutation.is_some() && safe.is_some(),
            plies: self.plies(&step.after, value),
            ..Note::default()
        };
        let mut better = win_at_once;
        if let (None, Some((best, _))) = (better, note.value_loss()) {
            better = self.keeper(&others, best);
        }
        note.mark = if note.value_loss().is_some() {
            Some(if note.missed_win {
                Mark::MissedWin
            } else {
                Mark::Blunder
            })
        } else if won {
            None
        } else {
            self.choice(step, &others, &note)
        };
        let write = |turn: Turn| {
            let mut text = String::new();
            edition.write_turn(turn, &mut text);
            text
        };
        note.better = better.map(|(turn, _)| write(*turn));
        let sentence = Sentence {
            edition,
            note: &note,
            played: write(step.turn),
            after: &step.after,
            refutation,
            win_at_once: win_at_once.map(|(turn, after)| (*turn, *after)),
            safe: safe.map(|(turn, _)| write(*turn)),
        };
        let text = sentence.text();
        note.text = text;
        note
    }

    /// The number of placements to the end, when a side wins and it is cheap to determine.
    fn plies(&self, after: &Position, value: Option<Value>) -> Option<u32> {
        let decided = matches!(value, Some(Value::Win | Value::Loss));
        if !decided || after.outcome().is_some() || after.board().free_count() > DISTANCES_UP_TO {
            return None;
        }
        let limits = self.limits(1);
        self.solver.solve(after, Goal::Distance, &limits).plies()
    }

    /// A turn that keeps the value `best`.
    fn keeper<'a>(
        &self,
        turns: &'a [(Turn, Position)],
        best: Value,
    ) -> Option<&'a (Turn, Position)> {
        let limits = self.limits(1);
        // Most turns are in the table already, or easy. So all turns are tried with little effort
        // before any of them gets all of it.
        let brief = Limits {
            nodes: Some(
                limits
                    .nodes
                    .map_or(FIRST_PASS_NODES, |nodes| nodes.min(FIRST_PASS_NODES)),
            ),
            ..limits.clone()
        };
        [brief, limits].iter().find_map(|limits| {
            turns
                .iter()
                .find(|(_, after)| self.solver.keeps(after, best, limits) == Some(true))
        })
    }

    /// Whether a turn that kept the value was the only one, or could not have been worse.
    fn choice(&self, step: &Step, others: &[(Turn, Position)], note: &Note) -> Option<Mark> {
        if others.is_empty() {
            return Some(Mark::Forced);
        }
        let best = note.best.filter(|_| note.is_proven())?;
        if best == Value::Loss {
            // Everything loses, but not everything at once.
            return (!note.lost_at_once).then_some(Mark::Forced);
        }
        if note.missed_win || step.before.board().free_count() > CHOICES_UP_TO {
            return None;
        }
        let limits = self.limits(1);
        let (mut some_keep, mut some_do_not) = (false, false);
        for (_, after) in others {
            let keeps = self.solver.keeps(after, best, &limits)?;
            some_keep |= keeps;
            some_do_not |= !keeps;
            if some_keep && some_do_not {
                return None;
            }
        }
        Some(if some_keep { Mark::Forced } else { Mark::Only })
    }

    /// Whether the stop flag is set.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Whether a record can be analysed: it is Quarto, and by the rules.
pub fn check(record: &Record) -> Result<(), Problem> {
    steps(record).map(|_| ())
}

/// The turns of a record and the position that they lead to, checked.
fn steps(record: &Record) -> Result<(Edition, Vec<Step>, Position), Problem> {
    let edition = edition(record)?;
    replay(&edition, record, &mut ()).map_err(|error| {
        Problem::Violation(match error {
            ReplayError::Violation(violation) => violation,
            ReplayError::Io(error) => whole_game(error.to_string()),
        })
    })?;
    let start = edition.start_from(&record.start);
    let mut position = start.map_err(|problem| Problem::Violation(whole_game(problem)))?;
    let mut steps = Vec::with_capacity(record.turns.len());
    for answer in &record.turns {
        let before = position;
        // Every turn has been checked.
        let Ok((turn, after)) = edition.judge(&before, answer) else {
            break;
        };
        position = after;
        steps.push(Step {
            before,
            turn,
            after,
        });
    }
    Ok((edition, steps, position))
}

const fn whole_game(problem: String) -> Violation {
    Violation {
        turn: None,
        problem,
    }
}

/// The rules and the pieces of a record.
fn edition(record: &Record) -> Result<Edition, Problem> {
    if record.game != Edition::NAME {
        return Err(Problem::NotQuarto(record.game.clone()));
    }
    let rules = Rules::from_name(&record.rules)
        .ok_or_else(|| Problem::UnknownRules(record.rules.clone()))?;
    let set = match record.pieces.as_deref().map(PieceSet::parse) {
        None => PieceSet::default(),
        Some(Ok(set)) => set,
        Some(Err(error)) => return Err(Problem::Pieces(error.to_string())),
    };
    Ok(Edition::new(rules, set))
}

/// The value of a turn for the side that made it, from the value for the side to move after it.
const fn for_player(step: &Step, value: Value) -> Value {
    // Without a gift the game is over, and the side to move is still the side that placed.
    if step.turn.gift.is_none() {
        value
    } else {
        value.opposite()
    }
}

fn has_won(after: &Position) -> bool {
    matches!(after.outcome(), Some(Outcome::Win(_)))
}
