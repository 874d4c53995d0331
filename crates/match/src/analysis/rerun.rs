//! What became of a bot's mistakes in a recorded game, when it is asked the same again.

use serde::Serialize;

use super::appraisal::{Appraiser, Comparison};
use crate::play::examiner::{ImpossibleLine, Question};
use referee_games::game::Ruleset;
use referee_games::solver::Value;

/// The first answer that is not the recorded one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    pub index: usize,
    /// In canonical form; `None` where it forfeits now.
    pub now: Option<String>,
    /// What the recorded answer is worth, and the one of now; set by [`judge`].
    pub values: [Option<Comparison>; 2],
}

/// Whether a mistake is gone, new or still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RerunVerdict {
    /// It was in the game, and is not made again.
    Gone,
    /// It was in the game, and the answer to the same question is again one.
    StillThere,
    /// It was not in the game.
    New,
    /// It was in the game; the answer is another one, whose value was not proven in time.
    Unproven,
    /// It was in the game, after the turn at which the bot departs from it, and was not asked directly.
    NotReached,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// From 1.
    pub turn: usize,
    pub mistake: Mistake,
    pub verdict: RerunVerdict,
    /// Asked although the bot departs from the game before.
    pub directly: bool,
}

/// The best value and that of the turn; `None` for a forfeit.
pub type Mistake = Option<(Value, Value)>;

impl RerunVerdict {
    /// Whether something is wrong now, or may be.
    pub const fn is_wrong(self) -> bool {
        matches!(self, Self::StillThere | Self::New | Self::Unproven)
    }
}

impl Finding {
    pub const fn name(&self) -> &'static str {
        match self.mistake {
            Some(_) => "blunder",
            None => "forfeit",
        }
    }

    /// Without a full stop: `blunder at turn 9 is gone`.
    pub fn text(&self) -> String {
        let (what, turn) = (self.name(), self.turn);
        let text = match self.verdict {
            RerunVerdict::Gone => format!("{what} at turn {turn} is gone"),
            RerunVerdict::StillThere => format!("{what} at turn {turn} is still there"),
            RerunVerdict::New => format!("new: {what} at turn {turn}"),
            RerunVerdict::Unproven => format!("{what} at turn {turn}: the new turn is not proven"),
            RerunVerdict::NotReached => format!("{what} at turn {turn} is not reached"),
        };
        text + if self.directly {
            " (asked directly)"
        } else {
            ""
        }
    }

    /// After its question was asked directly, with this legal answer or `None` for a forfeit: the protocol has no memory.
    pub fn judge_directly(
        &mut self,
        ruleset: &dyn Ruleset,
        appraiser: Option<&Appraiser>,
        question: &Question,
        now: Option<&str>,
    ) -> Result<(), ImpossibleLine> {
        let before = question.line.position(ruleset)?;
        let found = now.zip(appraiser).and_then(|(now, appraiser)| {
            let turn = before.after(now).ok()?;
            Some(appraiser.compare(&*before, &turn))
        });
        let is_proven = found.and_then(Comparison::proven).is_some();
        self.directly = true;
        self.verdict = match mistake_of(now, found) {
            Some(_) => RerunVerdict::StillThere,
            None if self.mistake.is_some() && !is_proven => RerunVerdict::Unproven,
            None => RerunVerdict::Gone,
        };
        Ok(())
    }
}

fn mistake_of(answer: Option<&str>, found: Option<Comparison>) -> Option<Mistake> {
    if answer.is_none() {
        return Some(None);
    }
    let (value, best) = found?.proven()?;
    (value < best).then_some(Some((best, value)))
}

/// The mistakes at the question to which the bot gives another answer: that of the game, and that of now, whose value may not
/// be proven.
fn at_departure(
    then: Option<Mistake>,
    now: Option<Mistake>,
    is_proven: bool,
) -> Vec<(Mistake, RerunVerdict)> {
    match (then, now) {
        (None, None) => vec![],
        (Some(mistake), None) if mistake.is_some() && !is_proven => {
            vec![(mistake, RerunVerdict::Unproven)]
        }
        (Some(mistake), None) => vec![(mistake, RerunVerdict::Gone)],
        (Some(then @ Some(_)), Some(Some(_))) => vec![(then, RerunVerdict::StillThere)],
        // One kind in place of the other.
        (Some(then), Some(now)) => vec![(now, RerunVerdict::New), (then, RerunVerdict::Gone)],
        (None, Some(now)) => vec![(now, RerunVerdict::New)],
    }
}

/// Up to the first other answer, in the order of the turns. Without an appraiser only forfeits are mistakes.
pub fn judge(
    ruleset: &dyn Ruleset,
    appraiser: Option<&Appraiser>,
    questions: &[Question],
    mut departure: Option<&mut Departure>,
) -> Result<Vec<Finding>, ImpossibleLine> {
    let mut findings = Vec::new();
    let at = departure.as_ref().map_or(questions.len(), |it| it.index);
    // The last positions are the easiest ones, and what is proven about them helps with those before.
    for (index, question) in questions.iter().enumerate().rev() {
        let before = question.line.position(ruleset)?;
        let compare = |answer: Option<&str>| {
            // The answers have been judged already.
            let turn = before.after(answer?).ok()?;
            Some(appraiser?.compare(&*before, &turn))
        };
        let answered = question.answered.as_deref();
        let then = compare(answered);
        let was_wrong = mistake_of(answered, then);
        let mut add = |mistake, verdict| {
            findings.push(Finding {
                turn: question.turn,
                mistake,
                verdict,
                directly: false,
            });
        };
        let Some(departure) = departure.as_mut().filter(|_| index == at) else {
            let verdict = if index > at {
                RerunVerdict::NotReached
            } else {
                RerunVerdict::StillThere
            };
            if let Some(mistake) = was_wrong {
                add(mistake, verdict);
            }
            continue;
        };
        let new = departure.now.as_deref();
        let now = compare(new);
        let is_proven = now.and_then(Comparison::proven).is_some();
        for (mistake, verdict) in at_departure(was_wrong, mistake_of(new, now), is_proven) {
            add(mistake, verdict);
        }
        departure.values = [then, now];
    }
    findings.reverse();
    Ok(findings)
}
