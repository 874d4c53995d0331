//! How many puzzles a bot solves.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

use referee_match::play::examiner::{Asked, Examiner, PlayedLine};
use referee_match::play::game_runner::{GameError, GameFault};
use referee_text::milliseconds;

use super::{HIGHEST_LEVEL, Puzzle, PuzzleKind};

/// After this many starts in a row without an answer the rest is not asked.
const FAILED_STARTS: u32 = 3;

pub struct Attempt<'a> {
    pub puzzle: &'a Puzzle,
    /// `None` when it was not asked, since it gave no first answer to those before.
    pub asked: Option<Asked>,
    pub time: Duration,
}

/// What a bot was asked of a set of puzzles, as JSON what `referee puzzles run --json` prints.
pub struct PuzzleScore<'a> {
    bot: String,
    set: String,
    attempts: Vec<Attempt<'a>>,
    /// How many puzzles there are.
    size: usize,
    failed_starts: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub solved: usize,
    pub of: usize,
}

impl Puzzle {
    /// `None` for any.
    pub fn is_of(&self, kind: Option<PuzzleKind>, level: Option<u32>) -> bool {
        kind.is_none_or(|kind| self.kind == kind) && level.is_none_or(|level| self.level == level)
    }
}

impl Attempt<'_> {
    pub fn is_solved(&self) -> bool {
        matches!(&self.asked, Some(Ok(answer)) if self.puzzle.is_right(&answer.turn))
    }
}

impl<'a> PuzzleScore<'a> {
    /// `size`: the number of puzzles that will be asked.
    pub fn new(bot: &str, set: &str, size: usize) -> Self {
        Self {
            bot: bot.to_owned(),
            set: set.to_owned(),
            attempts: Vec::with_capacity(size),
            size,
            failed_starts: 0,
        }
    }

    pub async fn ask(
        &mut self,
        puzzle: &'a Puzzle,
        examiner: &mut Examiner,
    ) -> Result<(), GameError> {
        let begun = Instant::now();
        let mut asked = None;
        if self.failed_starts < FAILED_STARTS {
            let answer = examiner
                .ask(&PlayedLine::at(puzzle.position.clone()))
                .await?;
            let has_failed = matches!(&answer, Err(fault) if fault.never_answered);
            self.failed_starts = if has_failed {
                self.failed_starts + 1
            } else {
                0
            };
            asked = Some(answer);
        }
        self.attempts.push(Attempt {
            puzzle,
            asked,
            time: begun.elapsed(),
        });
        Ok(())
    }

    pub fn bot(&self) -> &str {
        &self.bot
    }

    pub fn attempts(&self) -> &[Attempt<'a>] {
        &self.attempts
    }

    /// Of one kind, or of one level, or of all.
    pub fn tally(&self, kind: Option<PuzzleKind>, level: Option<u32>) -> Tally {
        let attempts = self.attempts.iter();
        let attempts = attempts.filter(|attempt| attempt.puzzle.is_of(kind, level));
        let solved = attempts.clone().filter(|attempt| attempt.is_solved());
        Tally {
            solved: solved.count(),
            of: attempts.count(),
        }
    }

    /// From 0 to 1; of nothing it is 0.
    pub fn share(&self) -> f64 {
        let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let Tally { solved, of } = self.tally(None, None);
        number(solved) / number(of.max(1))
    }
}

#[derive(Serialize)]
struct ForfeitFields<'a> {
    reason: &'a str,
    detail: String,
    stderr: &'a str,
}

impl<'a> From<&'a GameFault> for ForfeitFields<'a> {
    fn from(fault: &'a GameFault) -> Self {
        Self {
            reason: fault.fault.reason().name(),
            detail: fault.fault.to_string(),
            stderr: fault.stderr.trim_end(),
        }
    }
}

#[derive(Serialize)]
struct AttemptFields<'a> {
    id: &'a str,
    kind: PuzzleKind,
    level: u32,
    position: &'a str,
    answers: &'a [String],
    solved: bool,
    answer: Option<&'a str>,
    time_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    forfeit: Option<ForfeitFields<'a>>,
}

impl Serialize for Attempt<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let asked = self.asked.as_ref();
        let answer = asked.and_then(|asked| asked.as_ref().ok());
        let fault = asked.and_then(|asked| asked.as_ref().err());
        AttemptFields {
            id: &self.puzzle.id,
            kind: self.puzzle.kind,
            level: self.puzzle.level,
            position: &self.puzzle.position,
            answers: &self.puzzle.answers,
            solved: self.is_solved(),
            answer: answer.map(|answer| answer.turn.as_str()),
            time_ms: milliseconds(self.time),
            forfeit: fault.map(ForfeitFields::from),
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct ScoreFields<'a> {
    bot: &'a str,
    set: &'a str,
    solved: usize,
    of: usize,
    share: f64,
    kinds: BTreeMap<PuzzleKind, Tally>,
    levels: BTreeMap<u32, Tally>,
    puzzles: &'a [Attempt<'a>],
    complete: bool,
}

impl Serialize for PuzzleScore<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Tally { solved, of } = self.tally(None, None);
        let kinds = PuzzleKind::ALL.map(|kind| (kind, self.tally(Some(kind), None)));
        let levels = (1..=HIGHEST_LEVEL).map(|level| (level, self.tally(None, Some(level))));
        ScoreFields {
            bot: &self.bot,
            set: &self.set,
            solved,
            of,
            share: self.share(),
            kinds: kinds
                .into_iter()
                .filter(|(_, tally)| tally.of > 0)
                .collect(),
            levels: levels.filter(|(_, tally)| tally.of > 0).collect(),
            puzzles: &self.attempts,
            complete: self.attempts.len() == self.size,
        }
        .serialize(serializer)
    }
}
