//! The checks of a bot: whether it is fit to enter a tournament, and if not, why. `referee check` makes them all; a
//! tournament makes those that it requires of every bot before its first game.

mod checks;
mod held_back;
mod questions;
mod verdict;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::questions::lets_win;
use crate::bot::Fault;
use crate::bot::process::GracePeriods;
use crate::game::Outcome;
use crate::play::clock::Clock;
use crate::play::game::{TextBuffers, TurnTime};
use crate::play::game_runner::{GameError, GameFault, GameRunner};
use crate::play::seat::Seat;
use crate::seed;
use crate::session::Session;

pub use self::questions::Questions;
pub use self::verdict::{Check, Problem, Report, Times, Verdict};

/// All random choices are derived from it, so every check-up asks the same.
const SEED: u64 = 1;

/// To show to the user: a check-up may take a minute.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'a> {
    Checked(&'a Check),
    /// A question is about to be asked.
    Asking {
        check: &'static str,
        /// Questions that it has answered.
        done: usize,
        of: usize,
    },
}

pub type Show<'a> = &'a mut dyn FnMut(Notice<'_>);

pub struct Checkup<'a> {
    runner: &'a GameRunner,
    seat: Seat,
    questions: Arc<Questions>,
    budget: Budget,
    checks: Vec<Check>,
    times: Vec<Duration>,
    text: TextBuffers,
    /// Whether a fault makes all further checks pointless.
    hopeless: bool,
    /// Whether any problem does, since only the first one is asked for.
    first_only: bool,
    /// The first time that it wrote more than its answer.
    extra: Option<Problem>,
    show: Show<'a>,
}

struct Answered {
    /// In canonical form.
    turn: String,
    won: bool,
    /// Whether it lets the opponent win immediately.
    lets_win: bool,
}

impl<'a> Checkup<'a> {
    /// Once `time` is over, no more questions are asked and checks are left out.
    pub fn new(runner: &'a GameRunner, seat: Seat, time: Duration, show: Show<'a>) -> Self {
        Self {
            runner,
            seat,
            questions: Arc::default(),
            budget: Budget::new(time),
            checks: Vec::new(),
            times: Vec::new(),
            text: TextBuffers::default(),
            hopeless: false,
            first_only: false,
            extra: None,
            show,
        }
    }

    /// With the questions of other check-ups by the same ruleset, so that they are not searched for again.
    #[must_use]
    pub fn sharing(self, questions: Arc<Questions>) -> Self {
        Self { questions, ..self }
    }

    /// An `Err` is a failure of the referee or of the machine.
    pub async fn run(mut self) -> Result<Report, GameError> {
        self.requirements().await?;
        self.advice().await?;
        self.repeats().await?;
        self.report().await
    }

    /// Up to the first that is not passed: a bot that hangs costs its time once.
    pub async fn run_required(mut self) -> Result<Report, GameError> {
        self.first_only = true;
        self.requirements().await?;
        self.report().await
    }

    /// Only asks about random positions: for a second piece set.
    pub async fn run_set(mut self, name: &'static str) -> Result<Report, GameError> {
        let positions = self.positions("any", 40, |_| true);
        let asked = self.ask_all(name, &positions, Share::ALL).await?;
        let verdict = match asked {
            Ok(answers) => {
                Self::verdict_of(answers.len(), positions.len(), "position", "positions")
            }
            Err(problem) => Verdict::Bad(Problem {
                fix: "read the file that REFEREE_PIECES names when it is set".to_owned(),
                ..problem
            }),
        };
        self.note(name, false, verdict);
        self.report().await
    }

    /// Stops the bot.
    async fn report(mut self) -> Result<Report, GameError> {
        self.seat.stop(GracePeriods::FAULT).await?;
        Ok(Report {
            checks: self.checks,
            times: Times::of(self.times),
        })
    }

    fn note(&mut self, name: &'static str, required: bool, verdict: Verdict) {
        let check = Check {
            name,
            required,
            verdict,
        };
        (self.show)(Notice::Checked(&check));
        self.hopeless |= self.first_only && required && check.problem().is_some();
        self.checks.push(check);
    }

    /// All that was asked was answered well.
    fn verdict_of(answered: usize, of: usize, one: &str, more: &str) -> Verdict {
        if answered == 0 && of > 0 {
            return Verdict::LeftOut;
        }
        let what = if of == 1 { one } else { more };
        Verdict::Good(if answered < of {
            format!("{answered} of {of} {what}, for want of time")
        } else {
            format!("{of} {what}")
        })
    }

    /// Up to `count` positions that `kind` accepts, as records hold them. The same name stands for the same kind.
    fn positions(
        &self,
        name: &'static str,
        count: usize,
        kind: impl Fn(&dyn Session) -> bool,
    ) -> Arc<[String]> {
        let ruleset = self.runner.ruleset();
        self.questions.positions(ruleset, name, count, kind)
    }

    /// With its own clock; a process that commits a fault is replaced.
    async fn ask(
        &mut self,
        session: &mut dyn Session,
    ) -> Result<Result<TurnTime, Problem>, GameError> {
        let mut clock = Clock::new(self.seat.time());
        self.ask_on(session, &mut clock).await
    }

    /// On a clock that runs through a game.
    async fn ask_on(
        &mut self,
        session: &mut dyn Session,
        clock: &mut Clock,
    ) -> Result<Result<TurnTime, Problem>, GameError> {
        let asked = self.ask_for_fault(session, clock).await?;
        Ok(asked.map_err(|fault| *fault.problem))
    }

    /// With the fault itself.
    async fn ask_for_fault(
        &mut self,
        session: &mut dyn Session,
        clock: &mut Clock,
    ) -> Result<Result<TurnTime, FoundFault>, GameError> {
        let seed = seed::for_bot(SEED, 0, 0);
        let asked = self
            .runner
            .ask(&mut self.seat, seed, session, clock, &mut self.text)
            .await;
        match asked {
            Ok(Ok(time)) => {
                if !time.fresh {
                    self.times.push(time.charged);
                }
                Ok(Ok(time))
            }
            Ok(Err(fault)) => {
                let found = FoundFault {
                    may_be_held_back: fault.fault.may_be_held_back(),
                    problem: Box::new(self.problem(fault)),
                };
                Ok(Err(found))
            }
            Err(GameError::CannotStart(error)) => Ok(Err(FoundFault {
                may_be_held_back: false,
                problem: Box::new(Problem {
                    what: error.cause,
                    fix: error.fix,
                    again: None,
                }),
            })),
            Err(error) => Err(error),
        }
    }

    /// With the request and the end of stderr.
    fn problem(&mut self, fault: GameFault) -> Problem {
        let mut what = format!("{}: {}", fault.fault.reason(), fault.fault);
        if !matches!(*fault.fault, Fault::Timeout(_)) {
            what = format!("{what} (asked `{}`)", fault.request);
        }
        if let Some(line) = fault.last_words() {
            what = format!("{what}; its last words on stderr: {line}");
        }
        let is_program_game = self.runner.ruleset().program().is_some();
        let problem = Problem {
            what,
            fix: fault.fault.advice(self.seat.language(), is_program_game),
            again: fault.reproduce,
        };
        if matches!(*fault.fault, Fault::ExtraOutput { .. }) {
            self.extra.get_or_insert_with(|| problem.clone());
        }
        problem
    }

    /// Until the first fault, or until this share of the time is over.
    async fn ask_all(
        &mut self,
        check: &'static str,
        positions: &[String],
        share: Share,
    ) -> Result<Result<Vec<Answered>, Problem>, GameError> {
        let end = self.budget.end(share);
        let mut answers = Vec::new();
        let ruleset = self.runner.shared_ruleset();
        for (done, position) in positions.iter().enumerate() {
            if self.budget.is_over(end, done == 0) {
                break;
            }
            let of = positions.len();
            (self.show)(Notice::Asking { check, done, of });
            let mut session = ruleset.start_from(position).map_err(io::Error::other)?;
            let me = session.to_move();
            if let Err(problem) = self.ask(&mut *session).await? {
                return Ok(Err(problem));
            }
            answers.push(Answered {
                turn: self.text.turn.clone(),
                won: session.outcome() == Some(Outcome::Win(me)),
                lets_win: ruleset.program().is_none() && lets_win(&*session),
            });
        }
        Ok(Ok(answers))
    }
}

struct FoundFault {
    /// Whether it may hold its answers back until its input ends.
    may_be_held_back: bool,
    problem: Box<Problem>,
}

/// A part of the time that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share(u32);

impl Share {
    const ALL: Self = Self(1);

    const fn one_of(parts: u32) -> Self {
        Self(parts)
    }
}

#[derive(Clone, Copy, Debug)]
struct Budget {
    end: Instant,
}

impl Budget {
    fn new(time: Duration) -> Self {
        Self::from(Instant::now(), time)
    }

    fn from(now: Instant, time: Duration) -> Self {
        // A time too large for the clock has no end in practice.
        let forever = Duration::from_hours(24 * 365);
        Self {
            end: now + time.min(forever),
        }
    }

    /// When this share of what is left is over.
    fn end(&self, share: Share) -> Instant {
        self.end_from(Instant::now(), share)
    }

    fn end_from(&self, now: Instant, Share(parts): Share) -> Instant {
        now + self.end.saturating_duration_since(now) / parts
    }

    /// Whether no further question is asked in a check whose share ends then. The `first` question of a check is
    /// asked as long as there is any time.
    fn is_over(&self, share: Instant, first: bool) -> bool {
        self.is_over_at(Instant::now(), share, first)
    }

    fn is_over_at(&self, now: Instant, share: Instant, first: bool) -> bool {
        now >= if first { self.end } else { share }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_share_and_one_question() {
        let second = Duration::from_secs(1);
        let begun = Instant::now();
        let budget = Budget::from(begun, 10 * second);
        let half = budget.end_from(begun, Share::one_of(2));
        assert!(!budget.is_over_at(begun, half, false));
        let later = begun + 6 * second;
        assert!(budget.is_over_at(later, half, false) && !budget.is_over_at(later, half, true));
        assert_eq!(budget.end_from(later, Share::one_of(2)), later + 2 * second);
        assert!(budget.is_over_at(begun + 10 * second, half, true));
    }
}
