//! How many puzzles a bot solves.

use std::time::Duration;

use super::puzzle::{HIGHEST_LEVEL, Kind, Puzzle};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// Legal, in canonical form.
    Turn(String),
    Fault {
        /// As in records.
        reason: &'static str,
        /// A sentence without a full stop.
        detail: String,
        /// The end of its stderr, escaped.
        stderr: String,
    },
    /// It was not asked, since it gave no first answer to those before.
    NotAsked,
}

#[derive(Clone, Debug)]
pub struct Attempt<'a> {
    pub puzzle: &'a Puzzle,
    pub response: Response,
    /// From the question to the answer.
    pub time: Duration,
}

/// How many were solved, of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub solved: u64,
    pub of: u64,
}

impl Attempt<'_> {
    pub fn is_solved(&self) -> bool {
        matches!(&self.response, Response::Turn(turn) if self.puzzle.is_right(turn))
    }

    /// A sentence without a full stop; `None` when nothing is wrong.
    pub fn problem(&self) -> Option<String> {
        if self.is_solved() {
            return None;
        }
        Some(match &self.response {
            Response::Turn(turn) => {
                let (value, answers) = (&self.puzzle.value, self.answers());
                format!("{turn} gives the {value} away; right: {answers}")
            }
            Response::Fault { reason, detail, .. } => format!("it forfeits ({reason}): {detail}"),
            Response::NotAsked => {
                "it was not asked: its process gave no first answer three times in a row".to_owned()
            }
        })
    }

    /// The first few of many.
    fn answers(&self) -> String {
        let answers = &self.puzzle.answers;
        let shown = answers
            .iter()
            .take(4)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        match answers.len().saturating_sub(4) {
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    }
}

impl Tally {
    pub fn of<'a>(attempts: impl IntoIterator<Item = &'a Attempt<'a>>) -> Self {
        let mut tally = Self::default();
        for attempt in attempts {
            tally.of += 1;
            tally.solved += u64::from(attempt.is_solved());
        }
        tally
    }

    /// From 0 to 1; of nothing it is 0.
    pub fn share(self) -> f64 {
        let [solved, of] =
            [self.solved, self.of.max(1)].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        f64::from(solved) / f64::from(of)
    }
}

/// Of the kinds of which there are puzzles.
pub fn by_kind(attempts: &[Attempt<'_>]) -> Vec<(Kind, Tally)> {
    let tally = |kind: Kind| {
        let own = attempts
            .iter()
            .filter(|attempt| attempt.puzzle.kind == kind);
        (kind, Tally::of(own))
    };
    let all = Kind::ALL.into_iter().map(tally);
    all.filter(|(_, tally)| tally.of > 0).collect()
}

/// Of the levels of which there are puzzles.
pub fn by_level(attempts: &[Attempt<'_>]) -> Vec<(u32, Tally)> {
    let tally = |level: u32| {
        let own = attempts
            .iter()
            .filter(|attempt| attempt.puzzle.level == level);
        (level, Tally::of(own))
    };
    let all = (1..=HIGHEST_LEVEL).map(tally);
    all.filter(|(_, tally)| tally.of > 0).collect()
}
