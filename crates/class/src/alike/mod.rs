//! Which bots decide alike? All are asked the same positions; [`referee_stats::alike`] compares their answers.

pub mod asking_queue;
pub mod findings;
pub mod interview;
pub mod kept_answers;
pub mod questions;
pub mod stages;

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::questions::AskedPosition;
use referee_games::game::Ruleset;
use referee_match::bot::process::GracePeriods;
use referee_match::play::examiner::{Examiner, PlayedLine, wait_until};
use referee_match::play::game_runner::{GameError, GameRunner};
use referee_match::play::seat::Seat;
use referee_stats::alike::{Choices, ROUNDS};

/// Enough to tell bots apart; the odds were measured with so many.
pub const QUESTIONS: usize = 100;

/// So many positions of a round are asked of one process. What a bot that draws random numbers answers depends on what its
/// process was asked before: with fixed blocks it does not depend on where a run ended.
pub const BLOCK: usize = 25;

/// After so many faults a bot is asked nothing more in a round.
const MOST_FAULTS: usize = 5;

/// What all bots are asked.
#[derive(Debug)]
pub struct Questionnaire<'a> {
    pub ruleset: &'a Arc<dyn Ruleset>,
    pub positions: &'a [AskedPosition],
    /// Of the first round; those of the others follow.
    pub seed: u32,
}

/// Of one bot. What it answers depends on nothing but the questions, so answers of several runs go together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// By position.
    pub choices: Vec<Choices>,
    /// By position: whether it was asked in each round, whatever it answered.
    asked: Vec<[bool; ROUNDS]>,
}

impl Answers {
    /// Of a bot that answers nothing.
    pub fn none(positions: usize) -> Self {
        Self {
            choices: vec![[None; ROUNDS]; positions],
            asked: vec![[true; ROUNDS]; positions],
        }
    }

    /// How many questions it was asked, each in each round counted.
    pub fn asked(&self) -> usize {
        self.asked.iter().flatten().filter(|asked| **asked).count()
    }

    /// How many of them it answered.
    pub fn answered(&self) -> usize {
        self.choices.iter().flatten().flatten().count()
    }

    /// Whether it was asked, and answered nothing.
    pub fn is_silent(&self) -> bool {
        self.asked() > 0 && self.answered() == 0
    }

    /// Those to so many positions.
    #[must_use]
    pub fn first(&self, positions: usize) -> Self {
        let mut first = self.clone();
        for (choices, asked) in first
            .choices
            .iter_mut()
            .zip(&mut first.asked)
            .skip(positions)
        {
            (*choices, *asked) = ([None; ROUNDS], [false; ROUNDS]);
        }
        first
    }

    /// Makes room for so many positions.
    pub fn fit(&mut self, positions: usize) {
        self.choices.resize(positions, [None; ROUNDS]);
        self.asked.resize(positions, [false; ROUNDS]);
    }

    pub fn has(&self, part: Part) -> bool {
        let asked = part.places(self.asked.len());
        self.asked[asked].iter().all(|asked| asked[part.round])
    }

    pub fn keep(&mut self, part: Part, choices: &[Option<usize>]) {
        for (place, choice) in part.places(self.asked.len()).zip(choices) {
            self.choices[place][part.round] = *choice;
            self.asked[place][part.round] = true;
        }
    }

    /// In the blocks before it, of the same round.
    pub fn faults_before(&self, part: Part) -> usize {
        let before = self.choices.iter().zip(&self.asked);
        let before = before.take(part.block * BLOCK);
        let is_fault = |(choices, asked): &(&Choices, &[bool; ROUNDS])| {
            asked[part.round] && choices[part.round].is_none()
        };
        before.filter(is_fault).count()
    }

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

/// What one process is asked: a block of positions in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub block: usize,
    pub round: usize,
}

impl Part {
    /// The parts of a block.
    pub fn of(block: usize) -> impl Iterator<Item = Self> {
        (0..ROUNDS).map(move |round| Self { block, round })
    }

    /// Of so many positions.
    fn places(self, positions: usize) -> Range<usize> {
        let begin = (self.block * BLOCK).min(positions);
        begin..(begin + BLOCK).min(positions)
    }
}

/// What one process answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnsweredPart {
    pub choices: Vec<Option<usize>>,
    /// The first of its faults, a sentence.
    pub fault: Option<String>,
}

impl Questionnaire<'_> {
    /// Has a fresh process answer a part, completely: `None` when the time is over before its last answer. `faults` are
    /// those before in the round.
    pub async fn ask(
        &self,
        seat: Seat,
        part: Part,
        faults: usize,
        is_over: impl Fn() -> bool,
    ) -> Result<Option<AnsweredPart>, GameError> {
        let runner = Rc::new(GameRunner::new(Arc::clone(self.ruleset), false)?);
        let number = u32::try_from(part.round).unwrap_or_default();
        let seed = self.seed.wrapping_add(number) & 0x7fff_ffff;
        let time = seat.time();
        let examiner = Examiner::new(&runner, seat, seed, time);
        let positions = &self.positions[part.places(self.positions.len())];
        Self::ask_block(examiner, positions, part.round, faults, is_over).await
    }

    async fn ask_block(
        mut examiner: Examiner,
        positions: &[AskedPosition],
        round: usize,
        mut faults: usize,
        is_over: impl Fn() -> bool,
    ) -> Result<Option<AnsweredPart>, GameError> {
        let mut choices = vec![None; positions.len()];
        let mut first_fault = None;
        let mut is_complete = true;
        for (position, choice) in positions.iter().zip(&mut choices) {
            if faults > MOST_FAULTS {
                break;
            }
            let line = PlayedLine::at(position.starts[round].clone());
            let asked = tokio::select! {
                biased;
                asked = examiner.ask(&line) => asked?,
                () = wait_until(&is_over) => {
                    is_complete = false;
                    break;
                }
            };
            match asked {
                Ok(answer) => {
                    let mut turns = position.turns[round].iter();
                    *choice = turns.position(|turn| *turn == answer.turn);
                }
                Err(fault) => {
                    faults += 1;
                    first_fault.get_or_insert_with(|| fault.fault.to_string());
                }
            }
        }
        examiner.seat.stop(GracePeriods::FAULT).await?;
        Ok(is_complete.then_some(AnsweredPart {
            choices,
            fault: first_fault,
        }))
    }
}
