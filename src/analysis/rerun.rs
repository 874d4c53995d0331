//! What became of a bot's mistakes in a recorded game, when it is asked the same again.

use super::appraisal::{Appraiser, Comparison};
use crate::solver::Value;

/// After this many answers in a row without a proven value, those before them, which are harder, get less effort.
const FULL_EFFORT_FAILURES: u32 = 2;

/// Those answers get the time of a position divided by this number.
const REDUCED_SHARE: u32 = 10;

/// A question of the recorded game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// From 1.
    pub turn: usize,
    /// As the bot was sent it.
    pub request: String,
    /// In canonical form; `None` where it forfeited.
    pub then: Option<String>,
}

/// The first answer that is not the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Of its question.
    pub index: usize,
    /// In canonical form; `None` where it forfeits now.
    pub now: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    Blunder { best: Value, value: Value },
    Forfeit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was in the game, and is not made again.
    Gone,
    /// It was in the game, and the answer to the same question is again one.
    Still,
    /// It was not in the game.
    New,
    /// It was in the game; the answer is another one, whose value was not proven in time.
    Unproven,
    /// It was in the game, after the turn at which the bot departs from it.
    NotReached,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// From 1.
    pub turn: usize,
    pub mistake: Mistake,
    pub verdict: Verdict,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// In the order of the turns.
    pub findings: Vec<Finding>,
    /// At the departure, of the recorded turn.
    pub then: Option<Comparison>,
    /// Of the new turn.
    pub now: Option<Comparison>,
}

impl Mistake {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blunder { .. } => "blunder",
            Self::Forfeit => "forfeit",
        }
    }

    fn of(comparison: Comparison) -> Option<Self> {
        let (value, best) = comparison.proven()?;
        (value < best).then_some(Self::Blunder { best, value })
    }
}

impl Verdict {
    /// In JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Still => "still-there",
            Self::New => "new",
            Self::Unproven => "unproven",
            Self::NotReached => "not-reached",
        }
    }

    /// Whether something is wrong now, or may be.
    pub const fn is_wrong(self) -> bool {
        matches!(self, Self::Still | Self::New | Self::Unproven)
    }
}

impl Finding {
    /// Without a full stop: `blunder at turn 9 is gone`.
    pub fn text(&self) -> String {
        let (what, turn) = (self.mistake.name(), self.turn);
        match self.verdict {
            Verdict::Gone => format!("{what} at turn {turn} is gone"),
            Verdict::Still => format!("{what} at turn {turn} is still there"),
            Verdict::New => format!("new: {what} at turn {turn}"),
            Verdict::Unproven => format!("{what} at turn {turn}: the new turn is not proven"),
            Verdict::NotReached => format!("{what} at turn {turn} is not reached"),
        }
    }
}

/// Up to the first other answer. Without an appraiser only forfeits are mistakes. The error is a sentence about a
/// question.
pub fn judge(
    appraiser: Option<&Appraiser>,
    asked: &[Asked],
    departure: Option<&Departure>,
) -> Result<Judgement, String> {
    let mut judged = Judgement::default();
    let mut failures = 0;
    // The last positions are the easiest ones, and what is proven about them helps with those before.
    for (index, question) in asked.iter().enumerate().rev() {
        let mut compare = |answer: &Option<String>| {
            let (Some(appraiser), Some(answer)) = (appraiser, answer) else {
                return Ok(None);
            };
            let share = if failures < FULL_EFFORT_FAILURES {
                1
            } else {
                REDUCED_SHARE
            };
            let found = appraiser.compare(&question.request, answer, share)?;
            let is_proven = found.proven().is_some();
            failures = if is_proven { 0 } else { failures + 1 };
            Ok::<_, String>(Some(found))
        };
        let then = compare(&question.then)?;
        let then_wrong = match &question.then {
            None => Some(Mistake::Forfeit),
            Some(_) => then.and_then(Mistake::of),
        };
        let mut add = |mistake, verdict| {
            judged.findings.push(Finding {
                turn: question.turn,
                mistake,
                verdict,
            });
        };
        let at = departure.map_or(asked.len(), |departure| departure.index);
        if index != at {
            let verdict = if index > at {
                Verdict::NotReached
            } else {
                Verdict::Still
            };
            if let Some(mistake) = then_wrong {
                add(mistake, verdict);
            }
            continue;
        }
        let new = departure.and_then(|departure| departure.now.clone());
        let now = compare(&new)?;
        let now_wrong = match &new {
            None => Some(Mistake::Forfeit),
            Some(_) => now.and_then(Mistake::of),
        };
        let is_proven = now.and_then(Comparison::proven).is_some();
        match (then_wrong, now_wrong) {
            (None, None) => {}
            (None, Some(mistake)) => add(mistake, Verdict::New),
            (Some(mistake @ Mistake::Forfeit), None) => add(mistake, Verdict::Gone),
            (Some(mistake), None) if is_proven => add(mistake, Verdict::Gone),
            (Some(mistake), None) => add(mistake, Verdict::Unproven),
            (Some(then @ Mistake::Blunder { .. }), Some(Mistake::Blunder { .. })) => {
                add(then, Verdict::Still);
            }
            // One kind in place of the other.
            (Some(then), Some(now)) => {
                add(now, Verdict::New);
                add(then, Verdict::Gone);
            }
        }
        (judged.then, judged.now) = (then, now);
    }
    judged.findings.reverse();
    Ok(judged)
}
