//! The checks of a bot: whether it may enter a tournament, and if not, why. `referee check` makes them all; a
//! tournament makes those that it requires of every bot before its first game.

mod checks;
mod held_back;
mod questions;

use std::fmt;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::bot::Fault;
use crate::bot::fault::crash;
use crate::bot::process::GracePeriods;
use crate::bot::spec::CannotStart;
use crate::game::Game;
use crate::game::{HINT, Outcome};
use crate::play::clock::Clock;
use crate::play::examiner::{Answer, Examiner};
use crate::play::game_runner::{GameError, GameFault, GameRunner};
use crate::play::seat::Seat;
use crate::protocol::ForfeitReason;
use crate::seed;
use crate::text::escape_controls;

pub use self::questions::Questions;

/// All random choices are derived from it, so every check-up asks the same.
const SEED: u64 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    pub what: String,
    /// The question, where `what` does not name it.
    pub asked: Option<String>,
    /// The line of stderr that says why.
    pub stderr: Option<String>,
    /// An imperative, without a full stop.
    pub fix: String,
    /// The command that shows it again, where there is one.
    pub again: Option<String>,
}

impl Problem {
    /// The problem in one sentence, without the fix.
    pub fn sentence(&self) -> String {
        let mut text = self.what.clone();
        if let Some(asked) = &self.asked {
            text = format!("{text} (asked `{asked}`)");
        }
        if let Some(stderr) = &self.stderr {
            text = format!("{text}; stderr ended with: {stderr}");
        }
        text
    }

    /// Whether it is the same fault: questions, answers and numbers may differ.
    pub fn is_like(&self, other: &Self) -> bool {
        let shape = |problem: &Self| {
            let unquoted: String = problem.sentence().split('`').step_by(2).collect();
            let words = unquoted.split_whitespace().filter(|word| word.len() > 1);
            let words = words.filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
            words.collect::<Vec<_>>().join(" ")
        };
        let late = |problem: &Self| problem.what.starts_with(ForfeitReason::Timeout.name());
        self.fix == other.fix && (late(self) && late(other) || shape(self) == shape(other))
    }
}

impl From<CannotStart> for Problem {
    fn from(error: CannotStart) -> Self {
        Self {
            what: format!("cannot start {}: {}", error.bot, error.cause),
            fix: error.fix,
            ..Self::default()
        }
    }
}

impl fmt::Display for Problem {
    /// In parts, each a line with its title but for the first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape_controls(&self.what))?;
        let asked = self.asked.as_ref().map(|asked| format!("`{asked}`"));
        for (title, part) in [
            ("Asked", &asked),
            ("Stderr ended with", &self.stderr),
            ("Fix", &Some(self.fix.clone())),
            ("See it again", &self.again),
        ] {
            if let Some(part) = part {
                write!(f, "\n{title}: {}", escape_controls(part))?;
            }
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Passed, with what was measured, or empty.
    Good(String),
    Bad(Problem),
    /// Left out because of an earlier fault.
    Skipped,
    LeftOut,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub name: &'static str,
    /// Whether a bot has to pass it to enter a tournament; otherwise it is advice.
    pub required: bool,
    pub verdict: Verdict,
}

impl Check {
    pub const fn problem(&self) -> Option<&Problem> {
        match &self.verdict {
            Verdict::Bad(problem) => Some(problem),
            Verdict::Good(_) | Verdict::Skipped | Verdict::LeftOut => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub checks: Vec<Check>,
    /// Times of all answers except the first of each process.
    pub times: Option<Times>,
}

impl Report {
    /// It fails no required check. What was left out for want of time keeps no bot from entering.
    pub fn is_fit(&self) -> bool {
        let failed = |check: &Check| matches!(check.verdict, Verdict::Bad(_) | Verdict::Skipped);
        !self
            .checks
            .iter()
            .any(|check| check.required && failed(check))
    }

    /// What is required comes before what is advice, then what the rules of the game have a hint for, and then what was
    /// found first, as later faults may follow from it.
    pub fn first_problem(&self) -> Option<(&Check, &Problem)> {
        let checks = self.checks.iter();
        let failed = checks.filter_map(|check| Some((check, check.problem()?)));
        failed.min_by_key(|(check, problem)| (!check.required, !problem.what.contains(HINT)))
    }

    /// How many required checks failed each by a fault of its own, and how many checks by one of a check before.
    pub fn faults(&self) -> (usize, u64) {
        let mut told: Vec<&Problem> = Vec::new();
        let (mut own, mut repeated) = (0, 0);
        for check in &self.checks {
            match check.problem() {
                Some(problem) if told.iter().any(|other| other.is_like(problem)) => repeated += 1,
                Some(_) if check.required => own += 1,
                _ => {}
            }
            told.extend(check.problem());
        }
        (own, repeated)
    }

    pub fn left_out(&self) -> Vec<&'static str> {
        let checks = self.checks.iter();
        checks
            .filter(|check| check.verdict == Verdict::LeftOut)
            .map(|check| check.name)
            .collect()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    pub median: Duration,
    pub p99: Duration,
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

/// To show to the user: a check-up may take a minute.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'a> {
    Checked(&'a Check),
    Asking {
        check: &'static str,
        done: usize,
        of: usize,
    },
}

pub struct Checkup<'a> {
    runner: Rc<GameRunner>,
    examiner: Examiner,
    questions: Arc<Questions>,
    /// No question is asked after it, and checks are left out.
    end: Instant,
    checks: Vec<Check>,
    times: Vec<Duration>,
    answered: u32,
    slowest: Duration,
    late: u32,
    /// How long late answers may still be waited for.
    patience: Duration,
    /// Whether a fault makes all further checks pointless.
    hopeless: bool,
    /// Whether any problem does, since only the first one is asked for.
    first_only: bool,
    /// The first time that it wrote more than its answer.
    extra: Option<Problem>,
    /// The last question, if its answer may be held back until the input ends.
    held_back: Option<String>,
    show: &'a mut dyn FnMut(Notice<'_>),
}

enum Halt {
    Verdict(Verdict),
    /// An error of the referee or of the machine.
    Error(GameError),
}

impl From<Problem> for Halt {
    fn from(problem: Problem) -> Self {
        Self::Verdict(Verdict::Bad(problem))
    }
}

impl From<GameError> for Halt {
    fn from(error: GameError) -> Self {
        match error {
            GameError::CannotStart(error) => Self::from(Problem {
                what: error.cause,
                fix: error.fix,
                ..Problem::default()
            }),
            error => Self::Error(error),
        }
    }
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        Self::Error(error.into())
    }
}

/// Passed, with what was measured, or empty.
type Made = Result<String, Halt>;

const SKIPPED: Made = Err(Halt::Verdict(Verdict::Skipped));

fn bad(what: String, fix: &str, again: Option<String>) -> Made {
    Err(Halt::from(Problem {
        what,
        fix: fix.to_owned(),
        again,
        ..Problem::default()
    }))
}

struct Answered {
    request: String,
    /// In canonical form.
    turn: String,
    won: bool,
    lets_win: bool,
}

impl<'a> Checkup<'a> {
    /// Once `time` is over, no more questions are asked and checks are left out. Check-ups by the same ruleset share
    /// their questions.
    pub fn new(
        runner: &Rc<GameRunner>,
        seat: Seat,
        time: Duration,
        questions: Arc<Questions>,
        show: &'a mut dyn FnMut(Notice<'_>),
    ) -> Self {
        // A time too large for the clock has no end in practice.
        let time = time.min(Duration::from_hours(24 * 365));
        let limit = seat.time();
        Self {
            runner: Rc::clone(runner),
            examiner: Examiner::new(runner, seat, seed::for_bot(SEED, 0, 0), limit),
            questions,
            end: Instant::now() + time,
            patience: time / 6,
            checks: Vec::new(),
            times: Vec::new(),
            answered: 0,
            slowest: Duration::ZERO,
            late: 0,
            hopeless: false,
            first_only: false,
            extra: None,
            held_back: None,
            show,
        }
    }

    /// `first_only`: what is required, up to the first that is not passed, as a bot that hangs costs its time once. An
    /// `Err` is a failure of the referee or of the machine.
    pub async fn run(mut self, first_only: bool) -> Result<Report, GameError> {
        self.first_only = first_only;
        self.requirements().await?;
        if !first_only {
            self.advice().await?;
        }
        self.examiner.seat.stop(GracePeriods::FAULT).await?;
        Ok(Report {
            checks: self.checks,
            times: Times::of(self.times),
        })
    }

    fn note(&mut self, name: &'static str, required: bool, made: Made) -> Result<(), GameError> {
        let verdict = match made {
            Ok(what) => Verdict::Good(what),
            Err(Halt::Verdict(verdict)) => verdict,
            Err(Halt::Error(error)) => return Err(error),
        };
        let check = Check {
            name,
            required,
            verdict,
        };
        (self.show)(Notice::Checked(&check));
        self.hopeless |= self.first_only && required && check.problem().is_some();
        self.checks.push(check);
        Ok(())
    }

    fn asks(&mut self, check: &'static str, done: usize, of: usize) {
        (self.show)(Notice::Asking { check, done, of });
    }

    fn unless_hopeless(&self) -> Result<(), Halt> {
        if self.hopeless {
            return SKIPPED.map(drop);
        }
        Ok(())
    }

    fn counted(answered: usize, of: usize, one: &str, more: &str) -> Made {
        if answered == 0 && of > 0 {
            return Err(Halt::Verdict(Verdict::LeftOut));
        }
        let what = if of == 1 { one } else { more };
        Ok(if answered < of {
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
        kind: impl Fn(&dyn Game) -> bool,
    ) -> Arc<[String]> {
        let ruleset = self.runner.ruleset();
        self.questions.positions(ruleset, name, count, kind)
    }

    /// When a check is over that gets one of so many parts of the time that is left.
    fn end_of_share(&self, parts: u32) -> Instant {
        let now = Instant::now();
        now + self.end.saturating_duration_since(now) / parts
    }

    /// Whether no further question is asked in a check whose share ends then. The `first` question of a check is
    /// asked as long as there is any time.
    fn is_over(&self, share: Instant, first: bool) -> bool {
        Instant::now() >= if first { self.end } else { share }
    }

    /// A process that commits a fault is replaced.
    async fn ask(&mut self, session: &mut dyn Game, clock: &mut Clock) -> Result<Answer, Halt> {
        match self.examiner.ask_on(session, clock).await {
            Ok(Ok(answer)) => {
                self.answered += 1;
                self.slowest = self.slowest.max(answer.time.elapsed);
                if !answer.time.fresh {
                    self.times.push(answer.time.charged);
                }
                Ok(answer)
            }
            Ok(Err(mut fault)) => {
                let depends = !self.first_only && self.examiner.seat.was_asked_before();
                if depends {
                    fault.try_alone(&mut self.examiner.seat).await;
                }
                let depends = depends && !fault.reproduced;
                Err(self.problem(fault, depends).into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// With the request and the end of stderr. `depends`: a fresh process did not do the same when it was asked this only.
    fn problem(&mut self, mut fault: GameFault, depends: bool) -> Problem {
        if let Fault::Timeout(timeout) = &mut *fault.fault {
            // Also by processes before.
            timeout.answered = timeout.answered.max(self.answered);
            timeout.slowest = timeout.slowest.max(self.slowest);
            self.late += 1;
            self.patience = self.patience.saturating_sub(timeout.elapsed);
            self.hopeless |= self.patience.is_zero();
        }
        let mut what = format!("{}: {:#}", fault.fault.reason(), fault.fault);
        let asked = (!matches!(*fault.fault, Fault::Timeout(_))).then(|| fault.request.clone());
        let is_wrong = matches!(
            *fault.fault,
            Fault::IllegalMove { .. } | Fault::Malformed { .. }
        );
        if depends && is_wrong {
            what = format!("{what}; a fresh process that is asked this alone does not do it");
        }
        let is_program_game = self.runner.ruleset().program().is_some();
        let language = self.examiner.seat.language();
        let mut fix = fault.advice(language, is_program_game);
        if depends && is_wrong {
            fix =
                format!("keep nothing from line to line, as the line is the whole state; or {fix}");
        }
        if is_wrong && self.runner.ruleset().pieces().is_some() {
            fix.push_str("; the pieces are those of the file that REFEREE_PIECES names");
        }
        let problem = Problem {
            what,
            asked,
            stderr: crash::explaining_line(&fault.stderr),
            fix,
            again: fault.reproduce,
        };
        if matches!(*fault.fault, Fault::ExtraOutput { .. }) {
            self.extra.get_or_insert_with(|| problem.clone());
        }
        self.held_back = fault.fault.may_be_held_back().then_some(fault.request);
        problem
    }

    /// Until the first fault, or until the time is over. At least one is answered.
    async fn ask_all(
        &mut self,
        check: &'static str,
        positions: &[String],
        parts: u32,
    ) -> Result<Vec<Answered>, Halt> {
        self.unless_hopeless()?;
        let end = self.end_of_share(parts);
        let mut answers = Vec::new();
        let ruleset = self.runner.shared_ruleset();
        for (done, position) in positions.iter().enumerate() {
            if self.is_over(end, done == 0) {
                break;
            }
            let of = positions.len();
            self.asks(check, done, of);
            let mut session = ruleset.start_from(position).map_err(io::Error::other)?;
            let me = session.to_move();
            let request = session.request();
            let mut clock = Clock::new(self.examiner.seat.time());
            let answer = self.ask(&mut *session, &mut clock).await?;
            answers.push(Answered {
                request,
                turn: answer.turn,
                won: session.outcome() == Some(Outcome::Win(me)),
                lets_win: ruleset.program().is_none() && session.lets_win(me),
            });
        }
        if answers.is_empty() && !positions.is_empty() {
            return Err(Halt::Verdict(Verdict::LeftOut));
        }
        Ok(answers)
    }

    async fn all_legal(&mut self, name: &'static str, positions: &[String], parts: u32) -> Made {
        let answers = self.ask_all(name, positions, parts).await?;
        Self::counted(answers.len(), positions.len(), "position", "positions")
    }
}
