//! Asks a bot what it was asked in a recorded game, without a clock or with a limit for each answer.

use std::io;

use super::clock::{Clock, TimeControl};
use super::game::{TextBuffers, take_turn};
use super::replay::{ReplayError, Violation, replay};
use super::seat::{ForfeitedProcess, Seat, StartError};
use crate::bot::Fault;
use crate::bot::process::GracePeriods;
use crate::record::{BotIndex, Record, TurnText};
use crate::session::{Ruleset, Session};

/// A position, and how it came about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// As [`Ruleset::start_from`] reads it.
    pub start: String,
    /// In canonical form.
    pub turns: Vec<TurnText>,
}

impl Line {
    /// The error is a sentence about the start or a turn.
    pub fn session<'a>(&self, ruleset: &'a dyn Ruleset) -> Result<Box<dyn Session + 'a>, String> {
        let mut session = ruleset.start_from(&self.start)?;
        let mut canonical = String::new();
        for turn in &self.turns {
            let played = session.play(turn, &mut canonical);
            played.map_err(|_| format!("the turn {turn} is not legal"))?;
        }
        Ok(session)
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
    pub line: Line,
    /// In canonical form; `None` where it forfeited.
    pub answered: Option<TurnText>,
}

/// In order. Checks the record against the rules.
pub fn questions(
    ruleset: &dyn Ruleset,
    record: &Record,
    bot: BotIndex,
) -> Result<Vec<Question>, Violation> {
    let replayed = replay(ruleset, record, &mut ()).map_err(|error| match error {
        ReplayError::Violation(violation) => violation,
        ReplayError::Io(error) => Violation {
            turn: None,
            problem: error.to_string(),
        },
    });
    replayed?;
    let wrong = |problem| Violation {
        turn: None,
        problem,
    };
    let mut line = Line {
        start: record.start.clone(),
        turns: Vec::new(),
    };
    let sides = [record.first, record.first.other()];
    let mut questions = Vec::new();
    let forfeited = record.was_played() && record.result.by == Some(bot);
    let answers = record.turns.iter().map(Some);
    for answered in answers.chain(forfeited.then_some(None)) {
        let session = line.session(ruleset).map_err(wrong)?;
        if sides[session.to_move().index()] == bot {
            questions.push(Question {
                turn: line.turns.len() + 1,
                line: line.clone(),
                answered: answered.cloned(),
            });
        }
        line.turns.extend(answered.cloned());
    }
    Ok(questions)
}

#[derive(Debug)]
pub enum Answer {
    /// Legal, in canonical form.
    Turn(String),
    /// The process has been stopped.
    Fault(Box<Fault>, ForfeitedProcess),
}

impl Answer {
    pub fn turn(&self) -> Option<&str> {
        match self {
            Self::Turn(turn) => Some(turn),
            Self::Fault(..) => None,
        }
    }
}

/// A bot that is asked one line after the other; without a clock, unless it has a limit.
#[derive(Debug)]
pub struct Conversation<'a> {
    ruleset: &'a dyn Ruleset,
    seat: Seat,
    seed: u32,
    limit: Option<TimeControl>,
    asked: Vec<Line>,
    text: TextBuffers,
}

impl<'a> Conversation<'a> {
    /// Its processes find this seed in their environment. Nothing is started yet.
    pub fn new(ruleset: &'a dyn Ruleset, seat: Seat, seed: u32) -> Self {
        Self {
            ruleset,
            seat,
            seed,
            limit: None,
            asked: Vec::new(),
            text: TextBuffers::default(),
        }
    }

    /// Every answer has the time for a move, as in a match without a game clock. Later is a fault.
    #[must_use]
    pub fn with_limit(mut self, time: TimeControl) -> Self {
        self.limit = Some(TimeControl {
            game_time: None,
            ..time
        });
        self
    }

    /// Stops its process, if one runs, and starts another, which has been asked nothing yet. Returns its id.
    pub async fn start(&mut self) -> Result<Option<u32>, StartError> {
        let stopped = self.seat.stop(GracePeriods::FAULT).await;
        stopped.map_err(|error| crate::bot::spec::CannotStart {
            bot: self.seat.name().to_owned(),
            cause: format!("its last process cannot be ended: {error}"),
            fix: "end it by hand".to_owned(),
        })?;
        self.seat.start(self.seed).await?;
        Ok(self.seat.process_id())
    }

    /// None runs before the first start and after a fault.
    pub fn is_running(&self) -> bool {
        self.seat.process_id().is_some()
    }

    /// In order, by whichever process: the history of a new one.
    pub fn asked(&self) -> &[Line] {
        &self.asked
    }

    /// Waits as long as it takes, if there is no limit.
    pub async fn ask(&mut self, line: &Line) -> io::Result<Answer> {
        self.asked.push(line.clone());
        self.ask_again(line).await
    }

    /// A position that an earlier process has been asked about.
    pub async fn ask_again(&mut self, line: &Line) -> io::Result<Answer> {
        let mut session = line.session(self.ruleset).map_err(io::Error::other)?;
        let limit = self.limit.unwrap_or(TimeControl {
            move_time: None,
            start_time: std::time::Duration::ZERO,
            ..TimeControl::default()
        });
        let allowance = Clock::new(limit).allowance();
        let Self { seat, text, .. } = self;
        let taken = take_turn(&mut *session, seat, allowance, text, &mut ()).await?;
        Ok(match taken {
            Ok(_) => Answer::Turn(self.text.turn.clone()),
            Err(fault) => {
                let ended = self.seat.forfeit(&fault).await?;
                Answer::Fault(Box::new(fault), ended)
            }
        })
    }

    pub async fn stop(&mut self) -> io::Result<()> {
        self.seat.stop(GracePeriods::POLITE).await
    }
}
