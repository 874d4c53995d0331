//! How much each bot is asked: block by block, until none of its pairs can stand out any more. Who is asked on depends on
//! answers alone, so that the verdict does not depend on how quick a bot or the machine is.

use serde::Serialize;

use super::questions::AskedPosition;
use super::{Answers, BLOCK, QUESTIONS};
use referee_stats::alike::{AlikeQuestion, undecided};

#[derive(Clone, Debug, Serialize)]
pub struct Stages {
    /// Without starter code, which comes after them.
    bots: usize,
    /// The block that is asked now.
    block: usize,
    /// Of bots and starter code: how many blocks each is asked, as far as is known.
    blocks: Vec<usize>,
}

impl Stages {
    pub fn new(bots: usize, starters: usize) -> Self {
        Self {
            bots,
            block: 0,
            blocks: vec![1; bots + starters],
        }
    }

    pub const fn block(&self) -> usize {
        self.block
    }

    /// How many positions are drawn for what is asked.
    pub fn positions(&self) -> usize {
        let bots = 0..self.blocks.len();
        bots.map(|bot| self.wanted(bot)).max().unwrap_or(0)
    }

    /// Who is asked the block.
    pub fn open(&self) -> impl Iterator<Item = usize> {
        let blocks = self.blocks.iter().enumerate();
        blocks
            .filter(|(_, blocks)| **blocks > self.block)
            .map(|(bot, _)| bot)
    }

    /// How many positions a bot is asked, as far as is known.
    pub fn wanted(&self, bot: usize) -> usize {
        (self.blocks[bot] * BLOCK).min(QUESTIONS)
    }

    /// Whether it is asked nothing more, as none of its pairs can stand out.
    pub fn is_decided(&self, bot: usize) -> bool {
        self.blocks[bot] <= self.block
    }

    /// Those answers of a bot that count, of all that are known.
    pub fn counted(&self, bot: usize, answers: &Answers) -> Answers {
        answers.first(self.blocks[bot] * BLOCK)
    }

    /// Goes on with the next block, when all have been asked this one; `false` where none is left, or all is decided.
    /// `answers` are those that count.
    pub fn advance(&mut self, positions: &[AskedPosition], answers: &[Answers]) -> bool {
        if self.positions() == QUESTIONS || positions.len() < self.positions() {
            return false;
        }
        let mut open = undecided(&questions(positions, answers), self.bots, QUESTIONS);
        let is_open = open.contains(&true);
        // What it explains is known as long as anything is open.
        open.resize(self.blocks.len(), is_open);
        self.block += 1;
        for (blocks, open) in self.blocks.iter_mut().zip(open) {
            if open && *blocks == self.block {
                *blocks += 1;
            }
        }
        is_open
    }
}

/// What is compared: of positions, with answers of bots and of starter code.
pub fn questions(positions: &[AskedPosition], answers: &[Answers]) -> Vec<AlikeQuestion> {
    let choices = |number: usize| answers.iter().map(move |answers| answers.choices[number]);
    let positions = positions.iter().enumerate();
    positions
        .map(|(number, position)| position.question(choices(number)))
        .collect()
}
