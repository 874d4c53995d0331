//! Checks for authors: whether a bot is fit to enter a tournament, and if not, why.
//!
//! - `requirements`: the checks that a tournament needs
//! - `advice`: the checks that are only advice
//! - `questions`: the positions that the bot is asked about

mod advice;
mod questions;
mod requirements;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use self::questions::{lets_win, positions};
use crate::bot::Fault;
use crate::bot::process::GracePeriods;
use crate::bot::spec::Program;
use crate::game::Outcome;
use crate::play::TimeControl;
use crate::play::game_runner::{GameError, GameFault, GameRunner};
use crate::play::seat::Seat;
use crate::play::turn::{TextBuffers, TurnTime};
use crate::seed;
use crate::session::{Ruleset, Session};

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Passed; what was measured, or empty.
    Good(String),
    /// Failed: what is wrong, and how to fix it.
    Bad(String, String),
    /// Not checked, because of an earlier fault.
    Skipped,
}

/// A check and its result: one line of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was checked.
    pub name: &'static str,
    /// Whether a bot has to pass it to enter a tournament; otherwise it is advice.
    pub required: bool,
    /// Its result.
    pub verdict: Verdict,
}

impl Check {
    /// Whether it keeps the bot from entering a tournament.
    pub const fn is_fault(&self) -> bool {
        self.required && !matches!(self.verdict, Verdict::Good(_))
    }
}

/// Times of all answers except the first of each process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The median.
    pub median: Duration,
    /// The 99th percentile.
    pub p99: Duration,
    /// The maximum.
    pub worst: Duration,
}

impl Times {
    fn of(mut times: Vec<Duration>) -> Option<Self> {
        times.sort_unstable();
        let at = |share: usize| times.get((times.len() * share / 100).min(times.len() - 1));
        Some(Self {
            worst: *times.last()?,
            median: *at(50)?,
            p99: *at(99)?,
        })
    }
}

/// The check-up of a bot.
pub struct Checkup<'a> {
    runner: GameRunner,
    program: Program,
    time: TimeControl,
    pieces: Option<String>,
    seat: Seat,
    checks: Vec<Check>,
    times: Vec<Duration>,
    text: TextBuffers,
    /// Whether a fault makes all further checks pointless.
    hopeless: bool,
    /// Whether an answer arrived only when the bot's input was closed.
    buffers: bool,
    /// Shows every check as soon as it is made: a check-up may take minutes.
    show: ShowCheck<'a>,
}

/// Shows a check to the user.
pub type ShowCheck<'a> = &'a mut dyn FnMut(&Check);

/// All random choices of a check-up are derived from this seed, so every check-up asks the same.
const SEED: u64 = 1;

/// The legal turn that answered a request.
struct Answered {
    /// In canonical form.
    turn: String,
    /// Whether the turn won the game.
    won: bool,
    /// Whether it lets the opponent win at once.
    lets_win: bool,
}

impl<'a> Checkup<'a> {
    /// A check-up of `program`. `pieces` is the path of the set's file when it is not the
    /// built-in one. The error says why a thread cannot be started.
    pub fn new(
        ruleset: Arc<dyn Ruleset>,
        program: Program,
        time: TimeControl,
        pieces: Option<String>,
        show: ShowCheck<'a>,
    ) -> io::Result<Self> {
        let runner = GameRunner::new(ruleset, false)?;
        let seat = seat(&runner, &program, time, pieces.as_deref());
        Ok(Self {
            runner,
            program,
            time,
            pieces,
            seat,
            checks: Vec::new(),
            times: Vec::new(),
            text: TextBuffers::default(),
            hopeless: false,
            buffers: false,
            show,
        })
    }

    /// Makes all checks. An `Err` is a failure of the referee.
    pub async fn run(mut self) -> io::Result<(Vec<Check>, Option<Times>)> {
        self.requirements().await?;
        self.advice().await?;
        self.repeats().await?;
        self.seat.stop(GracePeriods::FAULT).await?;
        Ok((self.checks, Times::of(self.times)))
    }

    /// Only asks about random positions: for a second piece set.
    pub async fn run_set(mut self, name: &'static str) -> io::Result<Vec<Check>> {
        let positions = self.positions(40, |_| true);
        let verdict = match self.ask_all(&positions).await? {
            Err(fault) => Verdict::Bad(
                fault,
                "read the file that REFEREE_PIECES names when it is set".to_owned(),
            ),
            Ok(_) => Verdict::Good(format!("{} answers, all legal", positions.len())),
        };
        self.seat.stop(GracePeriods::FAULT).await?;
        self.note(name, false, verdict);
        Ok(self.checks)
    }

    fn note(&mut self, name: &'static str, required: bool, verdict: Verdict) {
        let check = Check {
            name,
            required,
            verdict,
        };
        (self.show)(&check);
        self.checks.push(check);
    }

    /// Up to `count` positions that `kind` accepts, as requests.
    fn positions(&self, count: usize, kind: impl Fn(&dyn Session) -> bool) -> Vec<String> {
        positions(self.runner.ruleset(), count, kind)
    }

    /// Asks for a turn in this position and makes it; a process that commits a fault is replaced.
    /// The inner error is the fault as a sentence, with the request and the end of stderr.
    async fn ask(
        &mut self,
        session: &mut dyn Session,
    ) -> Result<Result<TurnTime, String>, io::Error> {
        let seed = seed::for_bot(SEED, 0, 0);
        let asked = self
            .runner
            .ask(&mut self.seat, seed, session, &mut self.text)
            .await;
        Ok(match asked {
            Ok(Ok(time)) => {
                if !time.fresh {
                    self.times.push(time.charged);
                }
                Ok(time)
            }
            Ok(Err(fault)) => {
                self.buffers |= fault.fault.was_buffered();
                Err(in_words(&fault))
            }
            Err(GameError::CannotStart(error)) => Err(error.to_string()),
            Err(GameError::Exhausted(limit)) => return Err(io::Error::other(limit)),
            Err(GameError::Io(error)) => return Err(error),
        })
    }

    /// Asks about positions until the first fault.
    async fn ask_all(&mut self, requests: &[String]) -> io::Result<Result<Vec<Answered>, String>> {
        let mut answers = Vec::new();
        // Sessions borrow from the ruleset, and `self` is borrowed mutably meanwhile.
        let ruleset = self.runner.shared_ruleset();
        for request in requests {
            let mut session = ruleset.read_request(request).map_err(io::Error::other)?;
            let me = session.to_move();
            if let Err(fault) = self.ask(&mut *session).await? {
                return Ok(Err(fault));
            }
            answers.push(Answered {
                turn: self.text.turn.clone(),
                won: session.outcome() == Some(Outcome::Win(me)),
                lets_win: lets_win(&*session),
            });
        }
        Ok(Ok(answers))
    }
}

/// A fault as a sentence, with the request and the end of stderr.
fn in_words(fault: &GameFault) -> String {
    let GameFault { request, .. } = fault;
    let mut text = format!("{}: {}", fault.fault.reason(), fault.fault);
    if !matches!(*fault.fault, Fault::Timeout(_)) {
        text = format!("{text} (asked `{request}`)");
    }
    if let Some(line) = fault.last_words() {
        text = format!("{text}; its last words on stderr: {line}");
    }
    text
}

fn seat(runner: &GameRunner, program: &Program, time: TimeControl, pieces: Option<&str>) -> Seat {
    Seat::program(runner.ruleset(), pieces, program.clone(), time)
}
