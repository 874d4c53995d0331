//! Which bots decide alike? All are asked the same positions; [`crate::tournament::alike`] compares their answers.

pub mod questions;

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use self::questions::Position;
use crate::bot::process::GracePeriods;
use crate::game::Game;
use crate::hunt::wait_until;
use crate::play::TimeControl;
use crate::play::examiner::{Examiner, Line};
use crate::play::game_runner::{GameError, GameRunner};
use crate::play::seat::Seat;
use crate::tournament::alike::{Choices, ROUNDS};

/// Enough to tell bots apart; the odds were measured with so many.
pub const QUESTIONS: usize = 100;

/// After so many faults a bot is asked nothing more in a round.
const MOST_FAULTS: usize = 5;

/// What all bots are asked.
#[derive(Debug)]
pub struct Questionnaire<'a> {
    pub ruleset: &'a Arc<dyn Game>,
    pub positions: &'a [Position],
    /// Of the first round; those of the others follow.
    pub seed: u32,
}

/// Of one bot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answers {
    /// By position.
    pub choices: Vec<Choices>,
    /// Whether it had the time for all questions.
    pub is_complete: bool,
}

impl Answers {
    /// The share of the positions where it decides the same in every round.
    pub fn repeated(&self) -> f64 {
        let all = self.choices.iter().filter(|own| !own.contains(&None));
        let same = all
            .clone()
            .filter(|own| own.iter().all(|one| *one == own[0]));
        let count = |all: usize| u32::try_from(all).map_or(0.0, f64::from);
        count(same.count()) / count(all.count().max(1))
    }
}

impl Questionnaire<'_> {
    /// Of a bot that does not answer.
    pub fn none(&self) -> Answers {
        Answers {
            choices: vec![[None; ROUNDS]; self.positions.len()],
            is_complete: true,
        }
    }

    /// Asks a fresh process in each round. A slow bot answers the first questions only.
    pub async fn ask(
        &self,
        seat: impl Fn() -> Seat,
        time: TimeControl,
        budget: Duration,
        stop: &AtomicBool,
    ) -> Result<Answers, GameError> {
        let runner = Rc::new(GameRunner::new(Arc::clone(self.ruleset), false)?);
        let mut found = self.none();
        let begun = Instant::now();
        for (round, share) in (0..ROUNDS).zip(1_u32..) {
            let seed = self.seed.wrapping_add(share - 1) & 0x7fff_ffff;
            let mut examiner = Examiner::new(&runner, seat(), seed, time);
            let until = begun + budget / 4 * share;
            let is_over = || stop.load(Ordering::Relaxed) || Instant::now() >= until;
            let mut faults = 0;
            for (position, choices) in self.positions.iter().zip(&mut found.choices) {
                let line = Line::at(position.starts[round].clone());
                let asked = tokio::select! {
                    biased;
                    asked = examiner.ask(&line) => asked?,
                    () = wait_until(is_over) => {
                        found.is_complete = false;
                        break;
                    }
                };
                match asked {
                    Ok(answer) => {
                        let mut turns = position.turns[round].iter();
                        choices[round] = turns.position(|turn| *turn == answer.turn);
                    }
                    Err(_) if faults == MOST_FAULTS => break,
                    Err(_) => faults += 1,
                }
            }
            examiner.seat.stop(GracePeriods::FAULT).await?;
        }
        Ok(found)
    }
}
