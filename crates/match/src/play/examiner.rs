//! Asks a bot questions outside of a game, with the clocks, faults and words of a game.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::sleep;

use super::clock::{Clock, TimeControl};
use super::game::{TextBuffers, TurnTime};
use super::game_runner::{GameError, GameFault, GameRunner};
use super::replay::replay;
use super::seat::Seat;
use super::violation::Violation;
use crate::bot::ClockKind;
use crate::bot::info::Info;
use crate::bot::process::GracePeriods;
use crate::record::{BotIndex, Record, TurnText};
use referee_games::game::{Game, Ruleset, StartError};

/// While a bot thinks: looks twenty times a second.
pub async fn wait_until(is_over: impl Fn() -> bool) {
    while !is_over() {
        sleep(Duration::from_millis(50)).await;
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayedLine {
    /// The start as [`Ruleset::start_from`] reads it.
    pub start: String,
    /// In canonical form.
    pub turns: Vec<TurnText>,
}

/// Why no game has these turns.
#[derive(Debug, thiserror::Error)]
pub enum ImpossibleLine {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("the turn {0} is not legal")]
    Turn(TurnText),
}

impl PlayedLine {
    pub const fn at(start: String) -> Self {
        Self {
            start,
            turns: Vec::new(),
        }
    }

    pub fn position(&self, ruleset: &dyn Ruleset) -> Result<Box<dyn Game>, ImpossibleLine> {
        let mut game = ruleset.start_from(&self.start)?;
        let mut canonical = String::new();
        for turn in &self.turns {
            let played = game.play(turn, &mut canonical);
            played.map_err(|_| ImpossibleLine::Turn(turn.clone()))?;
        }
        Ok(game)
    }

    /// What a bot is sent there, without a newline.
    pub fn request(&self, ruleset: &dyn Ruleset) -> Result<String, ImpossibleLine> {
        Ok(self.position(ruleset)?.request())
    }

    /// `turn` is in canonical form.
    #[must_use]
    pub fn then(&self, turn: &str) -> Self {
        let mut line = self.clone();
        line.turns.push(TurnText::from(turn));
        line
    }
}

/// What a bot was asked in a recorded game, and what it answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// From 1.
    pub turn: usize,
    pub line: PlayedLine,
    /// In canonical form; `None` where it forfeited.
    pub answered: Option<TurnText>,
}

/// In order. Checks the record against the rules.
pub fn questions(
    ruleset: &dyn Ruleset,
    record: &Record,
    bot: BotIndex,
) -> Result<Vec<Question>, Violation> {
    replay(ruleset, record, &mut |_| {})?;
    let sides = [record.first, record.first.other()];
    let question = |index: usize| Question {
        turn: index + 1,
        line: PlayedLine {
            start: record.start.clone(),
            turns: record.turns[..index].to_vec(),
        },
        answered: record.turns.get(index).cloned(),
    };
    let own = (0..record.turns.len()).filter(|&index| sides[record.side_of(index)] == bot);
    let forfeited = record.was_played() && record.result.by == Some(bot);
    let last = forfeited.then_some(record.turns.len());
    Ok(own.chain(last).map(question).collect())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Legal, in canonical form.
    pub turn: String,
    pub time: TurnTime,
}

/// After a fault the process has been stopped.
pub type Asked = Result<Answer, GameFault>;

/// A bot that is asked one question after the other, and what its process has been asked.
pub struct Examiner {
    runner: Rc<GameRunner>,
    pub seat: Seat,
    seed: u32,
    time: TimeControl,
    asked: Vec<PlayedLine>,
    text: TextBuffers,
}

impl Examiner {
    /// However long a debugger holds the bot.
    pub const NO_LIMIT: TimeControl = TimeControl {
        move_time: None,
        start_time: Duration::ZERO,
        game_time: None,
        increment: Duration::ZERO,
        kind: ClockKind::Wall,
    };

    /// Its processes find `seed` in their environment; `time` is for each answer. Nothing is started yet.
    pub fn new(runner: &Rc<GameRunner>, seat: Seat, seed: u32, time: TimeControl) -> Self {
        Self {
            runner: Rc::clone(runner),
            seat,
            seed,
            time,
            asked: Vec::new(),
            text: TextBuffers::default(),
        }
    }

    /// Stops its process, if one runs, and starts another.
    pub async fn start(&mut self) -> Result<(), GameError> {
        self.seat.stop(GracePeriods::FAULT).await?;
        self.asked.clear();
        self.seat.start(self.seed).await
    }

    /// None runs before the first start and after a fault.
    pub fn is_running(&self) -> bool {
        self.seat.process_id().is_some()
    }

    /// Since [`Self::start`], in order; after a fault by a further process.
    pub fn asked(&self) -> &[PlayedLine] {
        &self.asked
    }

    /// Starts a process when none runs.
    pub async fn ask(&mut self, line: &PlayedLine) -> Result<Asked, GameError> {
        self.asked.push(line.clone());
        let runner = Rc::clone(&self.runner);
        let game = line.position(runner.ruleset());
        let mut game = game.map_err(io::Error::other)?;
        self.ask_on(&mut *game, &mut Clock::new(self.time)).await
    }

    /// Makes the turn in `game`.
    pub async fn ask_on(
        &mut self,
        game: &mut dyn Game,
        clock: &mut Clock,
    ) -> Result<Asked, GameError> {
        let Self {
            runner, seat, text, ..
        } = self;
        let asked = runner.ask(seat, self.seed, game, clock, text).await?;
        Ok(asked.map(|time| Answer {
            turn: text.turn.clone(),
            time,
        }))
    }

    /// What the bot said of its thinking when it was asked last.
    pub const fn info(&self) -> &Info {
        &self.text.info
    }

    /// Until its process has been asked exactly this: goes on when it has been asked the beginning, and has a fresh one
    /// asked all of it otherwise. Ignores the answers.
    pub async fn catch_up<'a>(
        &mut self,
        lines: impl Iterator<Item = &'a PlayedLine> + Clone,
    ) -> Result<(), GameError> {
        let begins = lines.clone().take(self.asked.len()).eq(&self.asked);
        if !begins || !self.is_running() {
            self.start().await?;
        }
        for line in lines.skip(self.asked.len()) {
            // After a fault the next question is that of a fresh process.
            let _ = self.ask(line).await?;
        }
        Ok(())
    }

    pub async fn stop(&mut self) -> io::Result<()> {
        self.seat.stop(GracePeriods::POLITE).await
    }
}
