//! Analysis: where a recorded game was won and lost.
//!
//! The solver evaluates the game from the end towards the start, as far as it can prove within its limits. Every turn
//! gets its value for the player who made it and the best value that the player could have had.

pub mod appraisal;
pub mod rerun;
mod sentence;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::play::replay::{ReplayError, Violation, replay};
use crate::record::Record;
use crate::record::annotation::{Annotation, FIELD, Mark, Note};
use crate::session::registry::of_record;
use crate::session::{Prover, Ruleset, Solvers, TurnFacts, registry};
use crate::solver;
use crate::solver::{Limits, Value};
use sentence::{Sentence, WinAtOnce};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    Time(Duration),
    /// With one thread the result is the same every time.
    Nodes(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// For the value of each turn. The search for better turns takes about as much again.
    pub effort: Effort,
    pub solver: solver::Options,
}

/// Why a record cannot be analysed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A game without a solver.
    #[error("it is a game of {}; there is no solver for it", crate::text::escape_controls(.0))]
    NoSolver(String),
    /// Its rules or its piece set; the text is a sentence.
    #[error("{0}")]
    Rules(String),
    #[error("{}{}", .0.turn.map_or_else(String::new, |turn| format!("turn {turn}: ")), .0.problem)]
    Violation(Violation),
}

impl Problem {
    const fn unreadable(problem: String) -> Self {
        Self::Violation(whole_game(problem))
    }
}

/// After this many unsolved positions in a row, the positions before them, which are harder, get less effort.
const FULL_EFFORT_FAILURES: u32 = 2;

/// Those positions get the effort divided by this number.
const REDUCED_SHARE: u32 = 10;

/// For every other turn in a first pass, before any of them gets the whole effort.
const FIRST_PASS_NODES: u64 = 1 << 15;

/// One analyst for many games is faster: its solvers keep what they have proven.
#[derive(Debug)]
pub struct Analyst {
    solvers: Solvers,
    effort: Effort,
    stop: Arc<AtomicBool>,
}

struct Step {
    /// As the bot was sent it.
    request: String,
    /// In canonical form.
    turn: String,
    /// `None` when the game is over then.
    after: Option<String>,
}

impl Analyst {
    pub fn new(options: Options) -> Self {
        Self {
            solvers: Solvers::new(options.solver),
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

    /// Writes the result into the record's field `analysis`.
    pub fn annotate(&self, record: &mut Record) -> Result<Annotation, Problem> {
        let annotation = self.analyse(record, |_| {})?;
        record.more.insert(FIELD.to_owned(), annotation.to_json());
        Ok(annotation)
    }

    /// `at` is called with the number of each turn, from the last to the first.
    pub fn analyse(
        &self,
        record: &Record,
        mut at: impl FnMut(usize),
    ) -> Result<Annotation, Problem> {
        let (ruleset, steps) = steps(record)?;
        let prover = prover(&*ruleset, &self.solvers)?;
        let mut failures = 0;
        // A game without turns has nothing to analyse, and a finished one no position after it.
        let mut later = match steps.last().and_then(|step| step.after.as_deref()) {
            Some(last) => self.value(&prover, last, &mut failures)?,
            None => None,
        };
        let mut turns = Vec::new();
        for (index, step) in steps.iter().enumerate().rev() {
            at(index + 1);
            let value = match &step.after {
                Some(_) => later.map(Value::opposite),
                None => ended(&prover, step)?,
            };
            let best = match value {
                // Nothing is better than a win.
                Some(Value::Win) => value,
                _ => self.value(&prover, &step.request, &mut failures)?,
            };
            let note = self.note(&prover, step, value, best);
            let mut note = note.map_err(Problem::unreadable)?;
            note.turn = index + 1;
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

    /// The effort divided by `share`.
    fn limits(&self, share: u32) -> Limits {
        let limits = match self.effort {
            Effort::Time(time) => Limits::within(time / share),
            Effort::Nodes(nodes) => Limits::nodes(nodes / u64::from(share)),
        };
        limits.or_when(Arc::clone(&self.stop))
    }

    /// For the side to move. `failures` counts positions in a row that could not be solved.
    fn value(
        &self,
        prover: &Prover,
        request: &str,
        failures: &mut u32,
    ) -> Result<Option<Value>, Problem> {
        let share = if *failures < FULL_EFFORT_FAILURES {
            1
        } else {
            REDUCED_SHARE
        };
        let value = prover.value(request, &self.limits(share));
        let value = value.map_err(Problem::unreadable)?;
        *failures = if value.is_some() { 0 } else { *failures + 1 };
        Ok(value)
    }

    fn note(
        &self,
        prover: &Prover,
        step: &Step,
        value: Option<Value>,
        best: Option<Value>,
    ) -> Result<Note, String> {
        let mut others = prover.turns(&step.request)?;
        let played = others.iter().position(|turn| turn.text == step.turn);
        let played = played.map(|index| others.remove(index));
        let won = played.as_ref().is_some_and(|turn| turn.wins);
        // A better turn on the same cell is the most instructive one.
        let place = |turn: &str| turn.split(' ').next().map(str::to_owned);
        others.sort_by_key(|turn| place(&turn.text) != place(&step.turn));
        let win_at_once = others.iter().find(|turn| turn.wins).filter(|_| !won);
        let refutation = match &step.after {
            Some(after) if played.is_some_and(|turn| turn.lets_win) => winning_turn(prover, after)?,
            _ => None,
        };
        let safe = others.iter().find(|turn| !turn.lets_win);
        let is_quick = prover.is_quick(&step.request)?;
        let mut note = Note {
            value,
            best,
            missed_win: win_at_once.is_some(),
            lost_at_once: refutation.is_some() && safe.is_some(),
            ..Note::default()
        };
        let is_decided = matches!(value, Some(Value::Win | Value::Loss));
        if is_decided && is_quick && step.after.is_some() {
            let limits = self.limits(1);
            note.plies = prover
                .turn_value(&step.request, &step.turn, true, &limits)?
                .plies;
        }
        let mut better = win_at_once.cloned();
        if let (None, Some((best, _))) = (&better, note.value_loss()) {
            better = self.keeper(prover, step, &others, best)?;
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
            self.choice(prover, step, &others, &note, is_quick)?
        };
        note.better = better.map(|turn| turn.text);
        let win_at_once = win_at_once.map(|turn| WinAtOnce::of(prover, &step.request, &turn.text));
        let sentence = Sentence {
            place: prover.place(),
            unit: prover.unit(),
            note: &note,
            played: &step.turn,
            refutation,
            win_at_once: win_at_once.transpose()?,
            safe: safe.map(|turn| turn.text.as_str()),
        };
        note.text = sentence.text();
        if is_quick && note.value_loss().is_some() {
            note.played_line = self.line(prover, &step.request, &step.turn)?;
            if let Some(better) = &note.better {
                note.better_line = self.line(prover, &step.request, better)?;
            }
        }
        Ok(note)
    }

    /// A turn and perfect play after it, as far as it is proven.
    fn line(&self, prover: &Prover, request: &str, turn: &str) -> Result<Vec<String>, String> {
        let mut line = vec![turn.to_owned()];
        if let Some(after) = prover.request_after(request, turn)? {
            line.extend(prover.line(&after, &self.limits(1))?);
        }
        Ok(line)
    }

    /// A turn that keeps the value `best`.
    fn keeper(
        &self,
        prover: &Prover,
        step: &Step,
        turns: &[TurnFacts],
        best: Value,
    ) -> Result<Option<TurnFacts>, String> {
        let limits = self.limits(1);
        // Most turns are in the table already, or easy: all are tried with little effort before any of them gets all
        // of it.
        let brief = Limits {
            nodes: Some(
                limits
                    .nodes
                    .map_or(FIRST_PASS_NODES, |nodes| nodes.min(FIRST_PASS_NODES)),
            ),
            ..limits.clone()
        };
        for limits in [brief, limits] {
            for turn in turns {
                if prover.keeps(&step.request, &turn.text, best, &limits)? == Some(true) {
                    return Ok(Some(turn.clone()));
                }
            }
        }
        Ok(None)
    }

    /// Whether a turn that kept the value was the only one, or could not have been worse.
    fn choice(
        &self,
        prover: &Prover,
        step: &Step,
        others: &[TurnFacts],
        note: &Note,
        is_quick: bool,
    ) -> Result<Option<Mark>, String> {
        if others.is_empty() {
            return Ok(Some(Mark::Forced));
        }
        let Some(best) = note.best.filter(|_| note.is_proven()) else {
            return Ok(None);
        };
        if best == Value::Loss {
            return Ok((!note.lost_at_once).then_some(Mark::Forced));
        }
        if note.missed_win || !is_quick {
            return Ok(None);
        }
        let limits = self.limits(1);
        let (mut some_keep, mut some_do_not) = (false, false);
        for turn in others {
            let Some(keeps) = prover.keeps(&step.request, &turn.text, best, &limits)? else {
                return Ok(None);
            };
            some_keep |= keeps;
            some_do_not |= !keeps;
            if some_keep && some_do_not {
                return Ok(None);
            }
        }
        Ok(Some(if some_keep { Mark::Forced } else { Mark::Only }))
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Its game has a solver, and it follows the rules.
pub fn check(record: &Record) -> Result<(), Problem> {
    steps(record).map(|_| ())
}

fn prover(ruleset: &dyn Ruleset, solvers: &Solvers) -> Result<Prover, Problem> {
    let prover = ruleset.prover(solvers);
    prover.ok_or_else(|| Problem::NoSolver(ruleset.name().to_owned()))
}

/// Of a turn that ends the game.
fn ended(prover: &Prover, step: &Step) -> Result<Option<Value>, Problem> {
    let value = prover.turn_value(&step.request, &step.turn, false, &Limits::nodes(0));
    Ok(value.map_err(Problem::unreadable)?.value)
}

fn winning_turn(prover: &Prover, request: &str) -> Result<Option<WinAtOnce>, String> {
    let turns = prover.turns(request)?;
    let wins = turns.iter().find(|turn| turn.wins);
    wins.map(|turn| WinAtOnce::of(prover, request, &turn.text))
        .transpose()
}

/// Checked.
fn steps(record: &Record) -> Result<(Arc<dyn Ruleset>, Vec<Step>), Problem> {
    if !registry::find(&record.game).is_some_and(|game| game.is_solvable) {
        return Err(Problem::NoSolver(record.game.clone()));
    }
    let ruleset = of_record(&record.game, &record.rules, record.pieces.as_deref());
    let ruleset = ruleset.map_err(Problem::Rules)?;
    replay(&*ruleset, record, &mut ()).map_err(|error| {
        Problem::Violation(match error {
            ReplayError::Violation(violation) => violation,
            ReplayError::Io(error) => whole_game(error.to_string()),
        })
    })?;
    let session = ruleset.start_from(&record.start);
    let mut session = session.map_err(Problem::unreadable)?;
    let mut steps = Vec::<Step>::with_capacity(record.turns.len());
    for answer in &record.turns {
        let (mut request, mut turn) = (String::new(), String::new());
        session.write_request(&mut request);
        if session.play(answer, &mut turn).is_err() {
            break;
        }
        if let Some(before) = steps.last_mut() {
            before.after = Some(request.clone());
        }
        steps.push(Step {
            request,
            turn,
            after: None,
        });
    }
    if let (None, Some(last)) = (session.outcome(), steps.last_mut()) {
        let mut request = String::new();
        session.write_request(&mut request);
        last.after = Some(request);
    }
    drop(session);
    Ok((ruleset, steps))
}

const fn whole_game(problem: String) -> Violation {
    Violation {
        turn: None,
        problem,
    }
}

/// The fields of an object in their order, as they are written.
struct Fields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// The line of a record with this analysis in place of another, without a newline. Turns, times and unknown fields
/// stay byte for byte.
pub fn with_analysis(line: &[u8], annotation: &Annotation) -> serde_json::Result<String> {
    let mut fields: Fields = serde_json::from_slice(line)?;
    let value = to_raw_value(&annotation.to_json())?;
    fields.0.retain(|(name, _)| name != FIELD);
    fields.0.push((FIELD.to_owned(), value));
    serde_json::to_string(&fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_else_stays_as_it_is() {
        let line =
            br#"{"v":1, "times_ms":[1.20, 3e0],"analysis":7,"later":{"b":1,"a":[ ]},"x\n":1e400}"#;
        let annotation = Annotation {
            by: "a test".to_owned(),
            turns: Vec::new(),
        };
        assert_eq!(
            with_analysis(line, &annotation).unwrap(),
            r#"{"v":1,"times_ms":[1.20, 3e0],"later":{"b":1,"a":[ ]},"x\n":1e400,"analysis":{"by":"a test","turns":[]}}"#
        );
        assert!(with_analysis(b"[]", &annotation).is_err());
    }
}
