//! Analysis: where a recorded game was won and lost.
//!
//! The solver evaluates the game from the end towards the start, as far as it can prove within its limits. Every turn
//! gets its value for the player who made it and the best value that the player could have had.

pub mod appraisal;
pub mod rerun;
mod sentence;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::value::RawValue;

use self::appraisal::Appraiser;
use self::sentence::{Sentence, WinAtOnce};
use crate::game::Side;
use crate::play::GameObserver;
use crate::play::examiner::request_of;
use crate::play::replay::{Violation, replay, start_of};
use crate::record::Record;
use crate::record::annotation::{Annotation, FIELD, Mark, Note};
use crate::session::registry::of_record;
use crate::session::{Ruleset, Session, Solvers, TurnFacts, registry};
use crate::solver;
use crate::solver::{Limits, Value};
use crate::text::escape_controls;

pub use self::appraisal::Effort;

/// For every other turn in a first pass, before any of them gets the whole effort.
const FIRST_PASS_NODES: u64 = 1 << 15;

/// One analyst for many games is faster: its solvers keep what they have proven.
#[derive(Debug)]
pub struct Analyst {
    solvers: Solvers,
    effort: Effort,
    stop: Arc<AtomicBool>,
}

/// A turn of a recorded game.
pub struct Step {
    /// As the bot was sent it.
    pub request: String,
    /// In canonical form.
    pub turn: String,
    /// `None` when the game is over then.
    after: Option<String>,
}

/// Checks the record against the rules.
pub fn steps(ruleset: &dyn Ruleset, record: &Record) -> Result<Vec<Step>, Violation> {
    struct Steps(String, Vec<Step>);

    impl GameObserver for Steps {
        fn turn(
            &mut self,
            _: Side,
            turn: &str,
            after: &dyn Session,
            _: Duration,
        ) -> io::Result<()> {
            let after = after.outcome().is_none().then(|| request_of(after));
            let next = after.clone().unwrap_or_default();
            self.1.push(Step {
                request: std::mem::replace(&mut self.0, next),
                turn: turn.to_owned(),
                after,
            });
            Ok(())
        }
    }

    let mut steps = Steps(request_of(&*start_of(ruleset, record)?), Vec::new());
    replay(ruleset, record, &mut steps)?;
    Ok(steps.1)
}

fn solvable(record: &Record) -> Result<Arc<dyn Ruleset>, String> {
    if registry::find(&record.game).is_some_and(|game| game.provable_cells > 0) {
        return of_record(&record.game, &record.rules, record.pieces.as_deref());
    }
    let game = escape_controls(&record.game);
    Err(format!("it is a game of {game}; there is no solver for it"))
}

/// Its game has a solver, and it follows the rules. The error is a sentence.
pub fn check(record: &Record) -> Result<(), String> {
    let steps = steps(&*solvable(record)?, record);
    steps.map(drop).map_err(|violation| violation.to_string())
}

impl Analyst {
    /// `effort` is for the value of each turn; the search for better turns takes about as much again. Stops when `stop`
    /// is set, with what was proven so far.
    pub fn new(effort: Effort, options: solver::Options, stop: &Arc<AtomicBool>) -> Self {
        Self {
            solvers: Solvers::new(options),
            effort,
            stop: Arc::clone(stop),
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// For one game; `None` for a game without a solver.
    pub fn appraiser(&self, ruleset: &dyn Ruleset) -> Option<Appraiser> {
        let prover = ruleset.prover(&self.solvers)?;
        Some(Appraiser::new(prover, self.effort, Arc::clone(&self.stop)))
    }

    /// `at` is called with the number of each turn, from the last to the first. The error is a sentence.
    pub fn analyse(&self, record: &Record, at: impl FnMut(usize)) -> Result<Annotation, String> {
        let ruleset = solvable(record)?;
        let steps = steps(&*ruleset, record).map_err(|violation| violation.to_string())?;
        let appraiser = self.appraiser(&*ruleset).ok_or("there is no solver")?;
        Ok(Annotation {
            by: concat!("referee ", env!("CARGO_PKG_VERSION")).to_owned(),
            turns: appraiser.notes(&steps, at)?,
        })
    }
}

impl Appraiser {
    fn notes(&self, steps: &[Step], mut at: impl FnMut(usize)) -> Result<Vec<Note>, String> {
        // A game without turns has nothing to analyse, and a finished one no position after it.
        let mut later = match steps.last().and_then(|step| step.after.as_deref()) {
            Some(last) => self.value(last)?,
            None => None,
        };
        let mut turns = Vec::new();
        for (index, step) in steps.iter().enumerate().rev() {
            at(index + 1);
            let value = if step.after.is_some() {
                later.map(Value::opposite)
            } else {
                // It ends the game.
                let (request, turn) = (&step.request, &step.turn);
                let found = self
                    .prover
                    .turn_value(request, turn, false, &Limits::nodes(0));
                found?.value
            };
            let best = match value {
                // Nothing is better than a win.
                Some(Value::Win) => value,
                _ => self.value(&step.request)?,
            };
            let mut note = self.note(step, value, best)?;
            note.turn = index + 1;
            if note.is_known() {
                turns.push(note);
            }
            later = best;
        }
        turns.reverse();
        Ok(turns)
    }

    fn note(&self, step: &Step, value: Option<Value>, best: Option<Value>) -> Result<Note, String> {
        let mut others = self.prover.turns(&step.request)?;
        let played = others.iter().position(|turn| turn.text == step.turn);
        let played = played.map(|index| others.remove(index));
        let won = played.as_ref().is_some_and(|turn| turn.wins);
        // A better turn on the same cell is the most instructive one.
        let place = |turn: &str| turn.split(' ').next().map(str::to_owned);
        others.sort_by_key(|turn| place(&turn.text) != place(&step.turn));
        let win_at_once = others.iter().find(|turn| turn.wins).filter(|_| !won);
        let refutation = match &step.after {
            Some(after) if played.is_some_and(|turn| turn.lets_win) => self.winning_turn(after)?,
            _ => None,
        };
        let safe = others.iter().find(|turn| !turn.lets_win);
        let is_quick = self.prover.is_quick(&step.request)?;
        let mut note = Note {
            value,
            best,
            missed_win: win_at_once.is_some(),
            lost_at_once: refutation.is_some() && safe.is_some(),
            ..Note::default()
        };
        let is_decided = matches!(value, Some(Value::Win | Value::Loss));
        if is_decided && is_quick && step.after.is_some() {
            let limits = self.limits();
            note.plies = self
                .prover
                .turn_value(&step.request, &step.turn, true, &limits)?
                .plies;
        }
        let mut better = win_at_once.cloned();
        if let (None, Some((best, _))) = (&better, note.value_loss()) {
            better = self.keeper(step, &others, best)?;
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
            self.choice(step, &others, &note, is_quick)?
        };
        note.better = better.map(|turn| turn.text);
        let win_at_once =
            win_at_once.map(|turn| WinAtOnce::of(&self.prover, &step.request, &turn.text));
        let sentence = Sentence {
            place: self.prover.place(),
            unit: self.prover.unit(),
            note: &note,
            played: &step.turn,
            refutation,
            win_at_once: win_at_once.transpose()?,
            safe: safe.map(|turn| turn.text.as_str()),
        };
        note.text = sentence.text();
        if is_quick && note.value_loss().is_some() {
            note.played_line = self.line(&step.request, &step.turn)?;
            if let Some(better) = &note.better {
                note.better_line = self.line(&step.request, better)?;
            }
        }
        Ok(note)
    }

    /// A turn and perfect play after it, as far as it is proven.
    fn line(&self, request: &str, turn: &str) -> Result<Vec<String>, String> {
        let mut line = vec![turn.to_owned()];
        if let Some(after) = self.prover.request_after(request, turn)? {
            line.extend(self.prover.line(&after, &self.limits())?);
        }
        Ok(line)
    }

    /// A turn that keeps the value `best`.
    fn keeper(
        &self,
        step: &Step,
        turns: &[TurnFacts],
        best: Value,
    ) -> Result<Option<TurnFacts>, String> {
        let limits = self.limits();
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
                if self
                    .prover
                    .keeps(&step.request, &turn.text, best, &limits)?
                    == Some(true)
                {
                    return Ok(Some(turn.clone()));
                }
            }
        }
        Ok(None)
    }

    /// Whether a turn that kept the value was the only one, or could not have been worse.
    fn choice(
        &self,
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
        let limits = self.limits();
        let (mut some_keep, mut some_do_not) = (false, false);
        for turn in others {
            let Some(keeps) = self
                .prover
                .keeps(&step.request, &turn.text, best, &limits)?
            else {
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

    fn winning_turn(&self, request: &str) -> Result<Option<WinAtOnce>, String> {
        let turns = self.prover.turns(request)?;
        let wins = turns.iter().find(|turn| turn.wins);
        wins.map(|turn| WinAtOnce::of(&self.prover, request, &turn.text))
            .transpose()
    }
}

/// The line of a record with this analysis in place of another, without a newline. Everything else stays byte for byte.
pub fn with_analysis(line: &[u8], annotation: &Annotation) -> serde_json::Result<String> {
    let line = line.trim_ascii();
    let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(line)?;
    let (start, end, before) = if let Some(old) = fields.get(FIELD) {
        let start = old.get().as_ptr().addr() - line.as_ptr().addr();
        (start, start + old.get().len(), String::new())
    } else {
        let comma = if fields.is_empty() { "" } else { "," };
        let end = line.len() - 1;
        (end, end, format!("{comma}\"{FIELD}\":"))
    };
    let text = |part| String::from_utf8_lossy(part);
    let (head, tail) = (text(&line[..start]), text(&line[end..]));
    Ok(format!("{head}{before}{}{tail}", annotation.to_json()))
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
            r#"{"v":1, "times_ms":[1.20, 3e0],"analysis":{"by":"a test","turns":[]},"later":{"b":1,"a":[ ]},"x\n":1e400}"#
        );
        assert_eq!(
            with_analysis(br#"{ "v":1 }"#, &annotation).unwrap(),
            r#"{ "v":1 ,"analysis":{"by":"a test","turns":[]}}"#
        );
        assert!(with_analysis(b"[]", &annotation).is_err());
    }
}
