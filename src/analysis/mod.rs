//! Analysis: where a recorded game was won and lost.
//!
//! The solver evaluates the game from the end towards the start, as far as it can prove within its limits. Every turn
//! gets its value for the player who made it and the best value that the player could have had.

pub mod appraisal;
pub mod rerun;
mod sentence;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::value::RawValue;

use self::appraisal::Appraiser;
use self::sentence::Sentence;
use crate::game::registry::{find, of_record};
use crate::game::{Game, Turn};
use crate::play::replay::{Violation, replay, start_of};
use crate::record::Record;
use crate::record::annotation::{Annotation, FIELD, Mark, Note};
use crate::solver::{self, Limits, Solvers, Value};
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
    pub before: Box<dyn Game>,
    pub turn: Turn,
}

/// Checks the record against the rules.
pub fn steps(ruleset: &dyn Game, record: &Record) -> Result<Vec<Step>, Violation> {
    replay(ruleset, record, &mut ())?;
    let mut position = start_of(ruleset, record)?;
    let mut steps = Vec::new();
    for answer in &record.turns {
        // It is legal: it has just been replayed.
        let Ok(turn) = position.after(answer) else {
            break;
        };
        let before = std::mem::replace(&mut position, turn.after.clone());
        steps.push(Step { before, turn });
    }
    Ok(steps)
}

fn solvable(record: &Record) -> Result<Arc<dyn Game>, String> {
    let game = find(&record.game)
        .map(|_| of_record(&record.game, &record.rules, record.pieces.as_deref()))
        .transpose()?;
    game.filter(|game| game.info().is_solvable())
        .ok_or_else(|| {
            let game = escape_controls(&record.game);
            format!("it is a game of {game}; there is no solver for it")
        })
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
    pub fn appraiser(&self, game: &dyn Game) -> Option<Appraiser> {
        let info = game.info();
        info.is_solvable().then(|| {
            let (solvers, stop) = (self.solvers.clone(), Arc::clone(&self.stop));
            Appraiser::new(solvers, info.words[1], self.effort, stop)
        })
    }

    /// `at` is called with the number of each turn, from the last to the first. The error is a sentence.
    pub fn analyse(&self, record: &Record, at: impl FnMut(usize)) -> Result<Annotation, String> {
        let game = solvable(record)?;
        let steps = steps(&*game, record).map_err(|violation| violation.to_string())?;
        let appraiser = self.appraiser(&*game).ok_or("there is no solver")?;
        Ok(Annotation {
            by: concat!("referee ", env!("CARGO_PKG_VERSION")).to_owned(),
            turns: appraiser.notes(&steps, at),
        })
    }
}

impl Step {
    fn ends(&self) -> bool {
        self.turn.after.outcome().is_some()
    }

    fn wins(&self, turn: &Turn) -> bool {
        turn.wins(self.before.to_move())
    }

    fn lets_win(&self, turn: &Turn) -> bool {
        turn.after.lets_win(self.before.to_move())
    }
}

impl Appraiser {
    fn notes(&self, steps: &[Step], mut at: impl FnMut(usize)) -> Vec<Note> {
        // A game without turns has nothing to analyse, and a finished one no position after it.
        let last = steps.last().filter(|step| !step.ends());
        let mut later = last.and_then(|step| self.value(&*step.turn.after));
        let mut turns = Vec::new();
        for (index, step) in steps.iter().enumerate().rev() {
            at(index + 1);
            let value = if step.ends() {
                self.turn(&*step.before, &step.turn).value
            } else {
                later.map(Value::opposite)
            };
            let best = match value {
                // Nothing is better than a win.
                Some(Value::Win) => value,
                _ => self.value(&*step.before),
            };
            let mut note = self.note(step, value, best);
            note.turn = index + 1;
            if note.is_known() {
                turns.push(note);
            }
            later = best;
        }
        turns.reverse();
        turns
    }

    fn note(&self, step: &Step, value: Option<Value>, best: Option<Value>) -> Note {
        let Step { before, turn } = step;
        let mut others: Vec<Turn> = before.turns().collect();
        others.retain(|other| other.text != turn.text);
        // A better turn on the same cell is the most instructive one.
        let place = |turn: &Turn| turn.text.split(' ').next().map(str::to_owned);
        others.sort_by_key(|other| place(other) != place(turn));
        let won = step.wins(turn);
        let win_at_once = others.iter().find(|other| step.wins(other) && !won);
        let opponent = turn.after.to_move();
        let lets_win = step.lets_win(turn);
        let refutation = turn
            .after
            .turns()
            .find(|reply| lets_win && reply.wins(opponent));
        let safe = others.iter().find(|other| !step.lets_win(other));
        let is_quick = before.is_provable();
        let mut note = Note {
            value,
            best,
            missed_win: win_at_once.is_some(),
            lost_at_once: refutation.is_some() && safe.is_some(),
            ..Note::default()
        };
        let is_decided = matches!(value, Some(Value::Win | Value::Loss));
        if is_decided && is_quick && !step.ends() {
            note.plies = self.turn(&**before, turn).plies;
        }
        let better = match note.value_loss() {
            Some((best, _)) if win_at_once.is_none() => self.keeper(&others, best),
            _ => win_at_once,
        };
        note.mark = if note.value_loss().is_some() {
            Some(if note.missed_win {
                Mark::MissedWin
            } else {
                Mark::Blunder
            })
        } else if won {
            None
        } else {
            self.choice(&others, &note, is_quick)
        };
        note.better = better.map(|turn| turn.text.clone());
        let [place, unit] = before.info().words;
        let sentence = Sentence {
            place,
            unit,
            note: &note,
            played: &turn.text,
            refutation,
            win_at_once,
            safe: safe.map(|turn| turn.text.as_str()),
        };
        note.text = sentence.text();
        if is_quick && note.value_loss().is_some() {
            note.played_line = self.line(turn);
            note.better_line = better.map(|better| self.line(better)).unwrap_or_default();
        }
        note
    }

    /// A turn and perfect play after it, as far as it is proven.
    fn line(&self, turn: &Turn) -> Vec<String> {
        let mut line = vec![turn.text.clone()];
        line.extend(turn.after.line(&self.solvers, &self.limits()));
        line
    }

    /// A turn that keeps the value `best`.
    fn keeper<'a>(&self, turns: &'a [Turn], best: Value) -> Option<&'a Turn> {
        let limits = self.limits();
        // Most turns are in the table already, or easy: all are tried with little effort before any of them gets all
        // of it.
        let nodes = limits.nodes.unwrap_or(FIRST_PASS_NODES);
        let brief = Limits {
            nodes: Some(nodes.min(FIRST_PASS_NODES)),
            ..limits.clone()
        };
        let keeps =
            |turn: &&Turn, limits| turn.after.keeps(&self.solvers, best, limits) == Some(true);
        [brief, limits]
            .iter()
            .find_map(|limits| turns.iter().find(|turn| keeps(turn, limits)))
    }

    /// Whether a turn that kept the value was the only one, or could not have been worse.
    fn choice(&self, others: &[Turn], note: &Note, is_quick: bool) -> Option<Mark> {
        if others.is_empty() {
            return Some(Mark::Forced);
        }
        let best = note.best.filter(|_| note.is_proven())?;
        if best == Value::Loss {
            return (!note.lost_at_once).then_some(Mark::Forced);
        }
        if note.missed_win || !is_quick {
            return None;
        }
        let limits = self.limits();
        let (mut some_keep, mut some_do_not) = (false, false);
        for turn in others {
            let keeps = turn.after.keeps(&self.solvers, best, &limits)?;
            some_keep |= keeps;
            some_do_not |= !keeps;
            if some_keep && some_do_not {
                return None;
            }
        }
        Some(if some_keep { Mark::Forced } else { Mark::Only })
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
