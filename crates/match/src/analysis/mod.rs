//! Analysis: where a recorded game was won and lost.
//!
//! The solver evaluates the game from the end towards the start, as far as it can prove within its limits. Every turn
//! gets its value for the player who made it and the best value that the player could have had.

pub mod rerun;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::value::RawValue;

use crate::play::replay::{replay, start_of};
use crate::play::violation::Violation;
use crate::record::Record;
use crate::record::annotation::{Annotation, FIELD};
use referee_games::game::registry::{UnknownRuleset, find};
use referee_games::game::{Info, Ruleset};
use referee_games::solver::{self, Solvers};
use referee_text::escape_controls;

use self::appraisal::Appraiser;

pub use referee_analysis::Step;
pub use referee_analysis::appraisal::{self, Effort};

/// One analyst for many games is faster: its solvers keep what they have proven.
#[derive(Debug)]
pub struct Analyst {
    solvers: Solvers,
    effort: Effort,
    stop: Arc<AtomicBool>,
}

/// Checks the record against the rules.
pub fn steps(ruleset: &dyn Ruleset, record: &Record) -> Result<Vec<Step>, Violation> {
    replay(ruleset, record, &mut |_| {})?;
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

/// Why a game cannot be analysed.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    #[error("it is a game of {}; there is no solver for it", escape_controls(.game))]
    NoSolver { game: String },
    #[error(transparent)]
    Ruleset(#[from] UnknownRuleset),
    #[error(transparent)]
    Violation(#[from] Violation),
}

fn solvable(record: &Record) -> Result<Arc<dyn Ruleset>, AnalysisError> {
    let ruleset = find(&record.game).map(|_| record.ruleset()).transpose()?;
    let solvable = ruleset.filter(|ruleset| ruleset.info().is_solvable());
    solvable.ok_or_else(|| AnalysisError::NoSolver {
        game: record.game.clone(),
    })
}

/// Its game has a solver, and it follows the rules.
pub fn check(record: &Record) -> Result<(), AnalysisError> {
    steps(&*solvable(record)?, record)?;
    Ok(())
}

impl Analyst {
    /// `effort` is for the value of each turn; the search for better turns takes about as much again. Stops when `stop`
    /// is set, with what was proven so far.
    pub fn new(effort: Effort, options: solver::SolverOptions, stop: &Arc<AtomicBool>) -> Self {
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
        let info = ruleset.info();
        info.is_solvable().then(|| self.appraiser_of(&info))
    }

    fn appraiser_of(&self, info: &Info<'_>) -> Appraiser {
        let (solvers, stop) = (self.solvers.clone(), Arc::clone(&self.stop));
        Appraiser::new(solvers, info.words, self.effort, stop)
    }

    /// `at` is called with the number of each turn, from the last to the first.
    pub fn analyse(
        &self,
        record: &Record,
        at: impl FnMut(usize),
    ) -> Result<Annotation, AnalysisError> {
        let ruleset = solvable(record)?;
        let steps = steps(&*ruleset, record)?;
        let appraiser = self.appraiser_of(&ruleset.info());
        Ok(Annotation {
            by: concat!("referee ", env!("CARGO_PKG_VERSION")).to_owned(),
            turns: appraiser.notes(&steps, at),
        })
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
