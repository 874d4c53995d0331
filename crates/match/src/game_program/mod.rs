//! A game that is a program: it is asked in lines of JSON, as a bot is asked in lines of its game
//! (protocol-games.md).
//!
//! The program is a pure function: for a state and an answer it tells the state after it. So games can be replayed,
//! resumed and played many at a time. Its answers are checked; whatever is wrong with one is a *failure* of the game,
//! for which no bot is to blame ([`Ruleset::failure`]).

pub mod checks;
mod connection;
pub mod failure;
mod in_play;
pub mod messages;

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex, OnceLock};

use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use self::connection::Connection;
pub use self::connection::TIME;
use self::failure::{
    AnswerProblem, Expected, FailureCause, ProgramError, ProgramFailure, ProgramName,
};
use self::in_play::ProgramRuleset;
pub use self::messages::About;
use self::messages::{
    AnswersReply, Position, PositionReply, ProgramVerdict, Question, VERSION, picture,
};
use crate::bot::spec::Program;
use referee_games::game::{GameSource, Ruleset};
use referee_games::game::{Picture, Rejection, Side};
use referee_host::threads::locked;
use referee_text::hexadecimal;

/// The name of the rules without options, as in records.
pub const STANDARD: &str = "standard";

#[derive(Debug)]
pub struct GameProgram {
    program: Program,
    source: GameSource,
    about: About,
    options: BTreeMap<String, String>,
    rules: String,
    /// For seed 0.
    start: Position,
    /// Running programs that are asked nothing. Each thread that plays takes one of them for an answer.
    idle: Mutex<Vec<Connection>>,
    failure: OnceLock<ProgramFailure>,
    /// Of the last request, so that a person who is asked sees it.
    asked: Mutex<Option<Position>>,
}

impl GameProgram {
    /// Asks the program for its name and for the start of a game with these options.
    pub fn open(program: Program, options: BTreeMap<String, String>) -> Result<Self, ProgramError> {
        // Not of what lies beside it, where a page or records may be written.
        let text = program.own_file().and_then(|file| fs::read(file).ok());
        let hash = text.map(|text| hexadecimal(&Sha256::digest(text)));
        let mut game = Self {
            rules: rules_of(&options),
            source: GameSource {
                command: program.command.clone(),
                hash: hash.unwrap_or_default(),
            },
            program,
            options,
            about: About::default(),
            start: Position::default(),
            idle: Mutex::new(Vec::new()),
            failure: OnceLock::new(),
            asked: Mutex::new(None),
        };
        let question = Question::About { version: VERSION };
        game.about = game.ask(&question, |about: About| about.check().map(|()| about))?;
        game.start = game.position_at(0)?;
        Ok(game)
    }

    pub fn into_ruleset(self) -> Arc<dyn Ruleset> {
        Arc::new(ProgramRuleset(Arc::new(self)))
    }

    pub const fn about(&self) -> &About {
        &self.about
    }

    fn instructions(&self) -> String {
        format!("{}\n", self.about.about)
    }

    /// `None` when the rules are not those of a game's program.
    pub fn options_of(rules: &str) -> Option<BTreeMap<String, String>> {
        if rules == STANDARD {
            return Some(BTreeMap::new());
        }
        let words = rules.split(' ').map(|word| word.split_once('='));
        words
            .map(|word| word.map(|(name, value)| (name.to_owned(), value.to_owned())))
            .collect()
    }

    fn position_at(&self, seed: u32) -> Result<Position, ProgramError> {
        let options = &self.options;
        let question = Question::Start { options, seed };
        // Who is drawn to begin is side 0.
        let check = |reply: PositionReply| match reply.verdict(None)? {
            Ok(played) if played.position.side != Side::First => Err(Expected::from(
                "\"side\":0 at the start: side 0 is the one that begins",
            )),
            verdict => Ok(verdict),
        };
        let played = self
            .ask(&question, check)?
            .map_err(|refusal| ProgramError::RefusedStart {
                program: self.name(),
                refusal,
            })?;
        Ok(played.position)
    }

    /// The program may refuse the state.
    fn position(&self, state: &str) -> Result<Result<Position, Rejection>, ProgramFailure> {
        if state == self.start.state {
            return Ok(Ok(self.start.clone()));
        }
        let check = |reply: PositionReply| match reply.verdict(None)? {
            Ok(played) if played.position.state != state => Err(Expected::from(
                "a position with the same \"state\" that was asked about",
            )),
            verdict => Ok(verdict),
        };
        let verdict = self.ask(&Question::Position { state }, check)?;
        Ok(verdict.map(|played| played.position))
    }

    fn play(&self, state: &str, answer: &str) -> Result<ProgramVerdict, ProgramFailure> {
        self.verdict(&Question::Play { state, answer }, Some(answer))
    }

    /// None when the program does not list them.
    fn answers(&self, state: &str) -> Result<Vec<String>, ProgramFailure> {
        if !self.about.answers {
            return Ok(Vec::new());
        }
        let question = Question::Answers { state };
        self.ask(&question, AnswersReply::answers)
    }

    /// What people see, or what a person who plays this side may see; `None` when the program does not draw.
    fn drawing(
        &self,
        state: &str,
        viewer: Option<Side>,
    ) -> Result<Option<Picture>, ProgramFailure> {
        if !self.about.drawing {
            return Ok(None);
        }
        let viewer = viewer.filter(|_| self.about.hidden);
        let side = viewer.map(Side::index);
        let question = Question::Drawing { state, side };
        self.ask(&question, |reply| picture(reply).map(Some))
    }

    fn verdict(
        &self,
        question: &Question<'_>,
        answer: Option<&str>,
    ) -> Result<ProgramVerdict, ProgramFailure> {
        self.ask(question, |reply: PositionReply| reply.verdict(answer))
    }

    /// In a process of its own if all others are being asked. `check` says what was expected, if the answer is
    /// something else.
    fn ask<T: DeserializeOwned, U>(
        &self,
        question: &Question<'_>,
        check: impl FnOnce(T) -> Result<U, Expected>,
    ) -> Result<U, ProgramFailure> {
        if let Some(failure) = self.failure.get() {
            return Err(failure.clone());
        }
        // Only maps whose keys are not strings, and writers, can fail.
        let mut line = serde_json::to_string(question).unwrap_or_default();
        line.push('\n');
        let idle = locked(&self.idle).pop();
        let connection = idle.map_or_else(|| Connection::start(&self.program), Ok);
        let mut connection =
            connection.map_err(|problem| self.fail(FailureCause::CannotStart(problem)))?;
        let failed = |problem| {
            let question = line.trim_end().to_owned();
            self.fail(FailureCause::Answer { question, problem })
        };
        let answer = connection.ask(&line).map_err(failed)?;
        let checked = read(&answer).and_then(|reply| {
            check(reply).map_err(|expected| AnswerProblem::Unexpected {
                answer: answer.clone(),
                expected,
            })
        });
        let checked = checked.map_err(failed)?;
        locked(&self.idle).push(connection);
        Ok(checked)
    }

    fn name(&self) -> ProgramName {
        ProgramName(self.program.command.clone())
    }

    /// The first failure: nothing is asked any more.
    fn fail(&self, cause: FailureCause) -> ProgramFailure {
        let first = self.failure.get_or_init(|| ProgramFailure {
            program: self.name(),
            cause,
        });
        first.clone()
    }
}

fn read<T: DeserializeOwned>(answer: &str) -> Result<T, AnswerProblem> {
    serde_json::from_str(answer).map_err(|error| {
        let answer = answer.to_owned();
        if serde_json::from_str::<serde::de::IgnoredAny>(&answer).is_err() {
            return AnswerProblem::NotJson { answer };
        }
        let problem = error.to_string();
        let problem = problem.split(" at line ").next().unwrap_or_default();
        // The type of sides; all of the text is JSON.
        let problem = problem.replace("expected u8", "expected 0 or 1");
        let problem = problem.replace("trailing characters", "a list in it has too many items");
        AnswerProblem::OtherJson { answer, problem }
    })
}

fn rules_of(options: &BTreeMap<String, String>) -> String {
    if options.is_empty() {
        return STANDARD.to_owned();
    }
    let words = options
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    words.collect::<Vec<_>>().join(" ")
}
