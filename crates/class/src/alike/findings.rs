//! What came of an interview.

use serde::Serialize;

use super::Answers;
use super::questions::AskedPosition;
use super::stages::Stages;
use referee_stats::alike::{AlikePair, ROUNDS};

/// How much alike the bots of a class decide, and what that is seen by.
#[derive(Clone, Debug, Serialize)]
pub struct AlikeFindings {
    /// Draws the positions.
    pub seed: u32,
    /// Of the bots, without starter code.
    pub names: Vec<String>,
    /// The most striking first.
    pub pairs: Vec<AlikePair>,
    pub positions: Vec<AskedPosition>,
    /// How many positions are still to be drawn.
    pub undrawn: usize,
    /// Those that count: of the bots, then of starter code.
    pub answers: Vec<Answers>,
    /// Who is asked how many of the positions.
    pub stages: Stages,
}

impl AlikeFindings {
    /// How many positions a bot is asked.
    pub fn wanted(&self, bot: usize) -> usize {
        let all = self.positions.len() + self.undrawn;
        self.stages.wanted(bot).min(all)
    }

    /// Questions that a bot has not been asked.
    pub fn missing(&self, bot: usize) -> usize {
        let wanted = self.wanted(bot) * ROUNDS;
        wanted.saturating_sub(self.answers[bot].asked())
    }

    /// Whether nothing is left to ask.
    pub fn is_complete(&self) -> bool {
        self.undrawn == 0 && (0..self.answers.len()).all(|bot| self.missing(bot) == 0)
    }

    /// Bots that answered nothing of what they were asked.
    pub fn silent(&self) -> impl Iterator<Item = usize> {
        (0..self.names.len()).filter(|bot| self.answers[*bot].is_silent())
    }
}
