//! Analysis: where a recorded game was won and lost.
//!
//! The solver evaluates the game from the end towards the start, as far as it can prove within its limits. Every turn
//! gets its value for the player who made it and the best value that the player could have had.

pub mod rerun;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::value::RawValue;

use crate::game::Game;
use crate::game::registry::find;
use crate::play::replay::{Violation, replay, start_of};
use crate::record::Record;
use crate::record::annotation::{Annotation, FIELD};
use crate::solver::{self, Solvers};
use crate::text::escape_controls;

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
pub fn steps(ruleset: &dyn Game, record: &Record) -> Result<Vec<Step>, Violation> {
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

fn solvable(record: &Record) -> Result<Arc<dyn Game>, String> {
    let game = find(&record.game).map(|_| record.ruleset());
    let game = game.transpose()?;
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
