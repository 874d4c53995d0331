//! What a hunt has found, asked once more of a fresh process: whether it comes again, and what would have been better.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use super::hunt::{FaultKind, FoundFault, record};
use referee_games::game::{Game, Ruleset};
use referee_games::solver::Value;
use referee_match::analysis::Analyst;
use referee_match::play::TimeControl;
use referee_match::play::examiner::Examiner;
use referee_match::play::game_runner::{GameError, GameRunner};
use referee_match::play::seat::Seat;
use referee_match::record::Record;

/// A fault that was found, and what is known of it.
#[derive(Debug)]
pub struct HuntFinding {
    pub found: FoundFault,
    pub kind: FaultKind,
    /// Whether a fresh process answered the same.
    pub repeats: bool,
    /// As `--start` takes it.
    pub start: String,
    /// What the answer is worth: `win in 3 placements`.
    pub words: Option<String>,
    /// What a best answer is worth, and it.
    pub better: Option<(String, String)>,
    /// A command that asks the bot again.
    pub reproduce: Option<String>,
    /// A game in which it happens.
    pub record: Option<Record>,
}

impl HuntFinding {
    /// Half points that were given away: 2 for a won position that is lost now.
    fn cost(&self) -> u8 {
        self.kind.1.map_or(0, |(best, value)| {
            let points = |value: Value| match value {
                Value::Loss => 0,
                Value::Draw => 1,
                Value::Win => 2,
            };
            points(best) - points(value)
        })
    }

    /// `a win given away: now a loss`, or `forfeit (illegal-move)`.
    pub fn title(&self) -> String {
        match self.kind.1 {
            Some((best, value)) => format!("a {} given away: now a {}", best.name(), value.name()),
            None => format!("forfeit ({})", self.kind.0),
        }
    }
}

/// What an answer is worth, in words, and a better one: what that is worth, and it.
type JudgedAnswer = (Option<String>, Option<(String, String)>);

/// Asks a fresh process again what showed each fault.
pub struct SecondTry<'a> {
    pub ruleset: &'a Arc<dyn Ruleset>,
    /// Of the bot, without a process.
    pub seat: &'a dyn Fn() -> Seat,
    /// For each answer.
    pub time: TimeControl,
    pub analyst: &'a Analyst,
    /// Of the bot's processes.
    pub seed: u32,
    /// Whether a game of each finding is recorded.
    pub records: bool,
}

impl SecondTry<'_> {
    /// What costs most comes first, and of equals the shortest.
    pub async fn try_all(
        &self,
        all: BTreeMap<FaultKind, FoundFault>,
    ) -> Result<Vec<HuntFinding>, GameError> {
        let runner = Rc::new(GameRunner::new(Arc::clone(self.ruleset), false)?);
        let mut findings = Vec::new();
        for (number, (kind, found)) in all.into_iter().enumerate() {
            findings.push(self.try_again(&runner, number, kind, found).await?);
        }
        // A forfeit loses whatever the position is worth.
        findings.sort_by_key(|finding| {
            let is_forfeit = finding.found.fault.is_some();
            let turns = finding.found.line.turns.len();
            (!is_forfeit, Reverse(finding.cost()), turns)
        });
        Ok(findings)
    }

    async fn try_again(
        &self,
        runner: &Rc<GameRunner>,
        number: usize,
        kind: FaultKind,
        found: FoundFault,
    ) -> Result<HuntFinding, GameError> {
        let mut examiner = Examiner::new(runner, (self.seat)(), self.seed, self.time);
        let asked = examiner.ask(&found.line).await?;
        let repeats = match (&asked, &found.fault, &found.answer) {
            (Err(now), Some(then), _) => now.fault.reason() == then.fault.reason(),
            (Ok(now), None, Some(then)) => now.turn == *then,
            _ => false,
        };
        let reproduce = match &found.fault {
            // The question alone is not enough: with those before it.
            Some(fault) if !repeats => fault.reproduce.clone(),
            fault => {
                let fault = fault.as_ref().map(|fault| &*fault.fault);
                let seat = &examiner.seat;
                seat.reproduce_command(&found.question, true, fault)
            }
        };
        examiner.stop().await?;
        let game = found.line.position(&**self.ruleset);
        let game = game.map_err(io::Error::other)?;
        // What the bot of a game's program is sent need not be the state of the game.
        let start = match self.ruleset.program() {
            Some(_) => game.as_start(),
            None => found.question.clone(),
        };
        let (words, better) = match &found.answer {
            Some(answer) => self.judge(&*game, answer),
            None => (None, None),
        };
        let is_whole = found.game.is_some() || found.fault.is_some() && repeats;
        let record = if is_whole && self.records {
            let id = format!("hunt-{}", number + 1);
            let recorded = record(runner, (self.seat)(), &found, id, self.seed);
            Some(recorded.await?.record)
        } else {
            None
        };
        Ok(HuntFinding {
            found,
            kind,
            repeats,
            start,
            words,
            better,
            reproduce,
            record,
        })
    }

    fn judge(&self, game: &dyn Game, answer: &str) -> JudgedAnswer {
        let Some(appraiser) = self.analyst.appraiser(&**self.ruleset) else {
            return (None, None);
        };
        let worth = |turn: &str| {
            let turn = game.after(turn).ok()?;
            Some(appraiser.words(appraiser.turn(game, &turn)))
        };
        let best = appraiser.position(game).best.into_iter().next();
        let better = best.and_then(|best| Some((worth(&best)?, best)));
        (worth(answer), better)
    }
}
