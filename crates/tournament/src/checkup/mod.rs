//! The checks of a bot: whether it may enter a tournament, and if not, why. `referee check` makes them all; a
//! tournament makes those that it requires of every bot before its first game.

mod budget;
mod checks;
mod held_back;
mod questions;

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use referee_games::game::{Game, Outcome};
use referee_match::bot::fault::crash::{self, CrashAdvice};
use referee_match::bot::process::GracePeriods;
use referee_match::bot::spec::CannotStart;
use referee_match::bot::{ClockKind, Fault};
use referee_match::play::clock::Clock;
use referee_match::play::examiner::{Answer, Examiner};
use referee_match::play::game_runner::{GameError, GameFault, GameRunner};
use referee_match::play::seat::Seat;
use referee_match::seed;
use referee_stats::standings::Absence;
use referee_text::escape_controls;

use self::budget::Budget;
pub use self::budget::{Coverage, THINKING, Thoroughness};
pub use self::questions::Questions;

/// How long late answers are waited for, all together: then no more is asked, as the bot fails anyway.
const PATIENCE: Duration = Duration::from_millis(1500);

/// All random choices are derived from it, so every check-up asks the same.
const SEED: u64 = 1;

/// What is wrong with a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    CannotStart,
    Fault {
        fault: Box<Fault>,
        /// A fresh process that was asked this alone did not do it.
        depends: bool,
        /// What its stderr says to do about the error that ended it.
        crash: Option<CrashAdvice>,
    },
    /// No answer came, not even when its input ended.
    Silent,
    /// No answer came, although it read on: it exited when its input ended.
    ReadsOn,
    /// Answers came when its input ended.
    HeldBack(HoldsBack),
    /// It wrote more after its answer.
    ExtraOutput,
    SomeTooLate,
    /// In time, and not by much.
    Slow,
    /// After the end of its input.
    RunsOn,
    MissesWins,
    LetsWin,
    NotRepeatable,
    /// An `info score` that is none of -1 to 1.
    ScoreOutside,
}

/// Why a bot answers only when its input ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldsBack {
    Output,
    /// It reads blocks.
    Input,
    /// It reads to the end.
    AllInput,
    Unknown,
}

impl Cause {
    /// Whether it is the same mistake: questions, answers and numbers may differ.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Fault {
                    fault,
                    depends,
                    crash,
                },
                Self::Fault {
                    fault: other,
                    depends: other_depends,
                    crash: other_crash,
                },
            ) => (depends, crash) == (other_depends, other_crash) && fault.is_like(other),
            (one, other) => one == other,
        }
    }

    /// In a word or a few: `illegal-move`, as in tables, or `late answers`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::CannotStart => "it cannot be started",
            Self::Fault { fault, .. } => fault.reason().name(),
            Self::Silent | Self::ReadsOn => "no answer",
            Self::HeldBack(_) => "answers are held back",
            Self::ExtraOutput => "more than an answer on stdout",
            Self::SomeTooLate => "late answers",
            Self::Slow => "slow answers",
            Self::RunsOn => "it does not end",
            Self::MissesWins => "wins are missed",
            Self::LetsWin => "wins are given to the opponent",
            Self::NotRepeatable => "it cannot be repeated",
            Self::ScoreOutside => "a score out of range",
        }
    }

    /// Whether the game says what its author is likely to have got wrong.
    fn has_hint(&self) -> bool {
        match self {
            Self::Fault { fault, .. } => {
                matches!(&**fault, Fault::Rejected { rejection, .. } if rejection.hint.is_some())
            }
            _ => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub cause: Cause,
    pub what: String,
    /// All that a compiler said of it, of which `what` quotes the beginning.
    pub printed: Vec<String>,
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
    pub fn new(cause: Cause, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            cause,
            what: what.into(),
            printed: Vec::new(),
            asked: None,
            stderr: None,
            fix: fix.into(),
            again: None,
        }
    }

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
        // The program's own words: addresses, line numbers and what it was asked differ.
        let stderr = |problem: &Self| {
            let words = problem.stderr.as_deref().unwrap_or_default();
            let words = words.split_whitespace();
            let words = words.filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
            words.collect::<Vec<_>>().join(" ")
        };
        self.cause.is_like(&other.cause) && stderr(self) == stderr(other)
    }
}

impl From<CannotStart> for Problem {
    fn from(error: CannotStart) -> Self {
        let what = format!("cannot start {}: {}", error.bot, error.cause);
        let printed = error.printed.map(|output| output.lines);
        // One line is the cause.
        let printed = printed.filter(|lines| lines.len() > 1);
        Self {
            printed: printed.unwrap_or_default(),
            ..Self::new(Cause::CannotStart, what, error.fix)
        }
    }
}

impl From<Problem> for Absence {
    fn from(problem: Problem) -> Self {
        let absence = Self {
            problem: problem.what,
            asked: problem.asked,
            stderr: problem.stderr,
            fix: Some(problem.fix),
            again: problem.again,
            printed: problem.printed,
            by_machine: false,
        };
        absence.map(escape_controls)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckVerdict {
    /// Passed, with what was measured, or empty.
    Good(String),
    Bad(Box<Problem>),
    /// Left out because of an earlier fault.
    Skipped,
    LeftOut,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub name: &'static str,
    /// Whether a bot has to pass it to enter a tournament; otherwise it is advice.
    pub required: bool,
    pub verdict: CheckVerdict,
    /// Where the budget was spent before all was asked.
    pub cut_short: Option<Coverage>,
}

impl Check {
    pub const fn problem(&self) -> Option<&Problem> {
        match &self.verdict {
            CheckVerdict::Bad(problem) => Some(problem),
            CheckVerdict::Good(_) | CheckVerdict::Skipped | CheckVerdict::LeftOut => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckupReport {
    pub checks: Vec<Check>,
    /// Times of all answers except the first of each process.
    pub times: Option<CheckedTimes>,
}

impl CheckupReport {
    /// It fails no required check. What was not asked keeps no bot from entering.
    pub fn is_fit(&self) -> bool {
        let failed =
            |check: &Check| matches!(check.verdict, CheckVerdict::Bad(_) | CheckVerdict::Skipped);
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
        failed.min_by_key(|(check, problem)| (!check.required, !problem.cause.has_hint()))
    }

    /// How many required checks failed each by a fault of its own, and how many checks by one of a check before.
    pub fn faults(&self) -> (usize, u64) {
        let mut told: Vec<&Problem> = Vec::new();
        let (mut distinct, mut repeated) = (0, 0);
        for check in &self.checks {
            match check.problem() {
                Some(problem) if told.iter().any(|other| other.is_like(problem)) => repeated += 1,
                Some(_) if check.required => distinct += 1,
                _ => {}
            }
            told.extend(check.problem());
        }
        (distinct, repeated)
    }

    /// The checks for which the budget was not enough, and how much of each was made.
    pub fn cut_short(&self) -> Vec<(&'static str, Coverage)> {
        let checks = self.checks.iter();
        checks
            .filter_map(|check| Some((check.name, check.cut_short?)))
            .collect()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckedTimes {
    pub median: Duration,
    pub p99: Duration,
    pub worst: Duration,
}

impl CheckedTimes {
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

/// To show to the user: a check-up takes a while.
#[derive(Clone, Copy, Debug)]
pub enum CheckNotice<'a> {
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
    budget: Budget,
    /// Of the check that is made.
    cut_short: Option<Coverage>,
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
    scores: ScoresSaid,
    /// The last question, if its answer may be held back until the input ends.
    held_back: Option<String>,
    show: &'a mut dyn FnMut(CheckNotice<'_>),
}

/// Its `info score`s.
#[derive(Default)]
struct ScoresSaid {
    count: u64,
    /// The first that is out of range, as a number or as text, and the question.
    outside: Option<(String, String)>,
}

impl ScoresSaid {
    fn add(&mut self, score: &serde_json::Value, request: impl FnOnce() -> String) {
        self.count += 1;
        let is_inside = |score: f64| (-1.0..=1.0).contains(&score);
        if !score.as_f64().is_some_and(is_inside) && self.outside.is_none() {
            let score = score
                .as_str()
                .map_or_else(|| score.to_string(), str::to_owned);
            self.outside = Some((request(), score));
        }
    }
}

enum Halt {
    CheckVerdict(CheckVerdict),
    /// An error of the referee or of the machine.
    Error(GameError),
}

impl From<Problem> for Halt {
    fn from(problem: Problem) -> Self {
        Self::CheckVerdict(CheckVerdict::Bad(Box::new(problem)))
    }
}

impl From<GameError> for Halt {
    fn from(error: GameError) -> Self {
        match error {
            GameError::CannotStart(error) => {
                Self::from(Problem::new(Cause::CannotStart, error.cause, error.fix))
            }
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

const SKIPPED: Made = Err(Halt::CheckVerdict(CheckVerdict::Skipped));

fn bad(cause: Cause, what: String, fix: &str, again: Option<String>) -> Made {
    Err(Halt::from(Problem {
        again,
        ..Problem::new(cause, what, fix)
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
    /// Check-ups by the same ruleset share their questions.
    pub fn new(
        runner: &Rc<GameRunner>,
        seat: Seat,
        thoroughness: Thoroughness,
        questions: Arc<Questions>,
        show: &'a mut dyn FnMut(CheckNotice<'_>),
    ) -> Self {
        let limit = seat.time();
        Self {
            runner: Rc::clone(runner),
            examiner: Examiner::new(runner, seat, seed::for_bot(SEED, 0, 0), limit),
            questions,
            budget: Budget::new(thoroughness),
            cut_short: None,
            patience: PATIENCE,
            checks: Vec::new(),
            times: Vec::new(),
            answered: 0,
            slowest: Duration::ZERO,
            late: 0,
            hopeless: false,
            first_only: false,
            extra: None,
            scores: ScoresSaid::default(),
            held_back: None,
            show,
        }
    }

    /// `first_only`: what is required, up to the first that is not passed, as a bot that hangs costs its time once. An
    /// `Err` is a failure of the referee or of the machine.
    pub async fn run(mut self, first_only: bool) -> Result<CheckupReport, GameError> {
        self.first_only = first_only;
        self.requirements().await?;
        if !first_only {
            self.advice().await?;
        }
        self.examiner.seat.stop(GracePeriods::FAULT).await?;
        Ok(CheckupReport {
            checks: self.checks,
            times: CheckedTimes::of(self.times),
        })
    }

    fn note(&mut self, name: &'static str, required: bool, made: Made) -> Result<(), GameError> {
        let verdict = match made {
            Ok(what) => CheckVerdict::Good(what),
            Err(Halt::CheckVerdict(verdict)) => verdict,
            Err(Halt::Error(error)) => return Err(error),
        };
        let check = Check {
            name,
            required,
            verdict,
            cut_short: self.cut_short.take(),
        };
        (self.show)(CheckNotice::Checked(&check));
        self.hopeless |= self.first_only && required && check.problem().is_some();
        self.checks.push(check);
        Ok(())
    }

    fn asks(&mut self, check: &'static str, done: usize, of: usize) {
        (self.show)(CheckNotice::Asking { check, done, of });
    }

    fn unless_hopeless(&self) -> Result<(), Halt> {
        if self.hopeless {
            return SKIPPED.map(drop);
        }
        Ok(())
    }

    /// What a check says that asked so much of all that it has; notes what the budget was not enough for.
    fn counted(&mut self, asked: usize, of: usize, one: &str, more: &str) -> Made {
        if asked < of {
            self.cut_short = Some(Coverage { asked, of });
        }
        if asked == 0 && of > 0 {
            return Err(Halt::CheckVerdict(CheckVerdict::LeftOut));
        }
        let what = if of == 1 { one } else { more };
        Ok(if asked < of {
            format!("{asked} of {of} {what}")
        } else {
            format!("{of} {what}")
        })
    }

    /// A check that is one question, or one after the other.
    fn left_out(&mut self, of: usize) -> Halt {
        self.cut_short = Some(Coverage::none_of(of));
        Halt::CheckVerdict(CheckVerdict::LeftOut)
    }

    /// Up to `count` positions that `kind` accepts, as records hold them. The same name stands for the same kind.
    fn positions(
        &self,
        name: &'static str,
        count: usize,
        kind: impl Fn(&dyn Game) -> bool,
    ) -> Arc<[String]> {
        if self.hopeless {
            return Arc::default();
        }
        let ruleset = self.runner.ruleset();
        self.questions.positions(ruleset, name, count, kind)
    }

    /// For a question or a game. A time for all moves has waits for a CPU taken off each that is not short, so that a quick
    /// bot does not use up its budget on a busy machine.
    const fn clock(&self) -> Clock {
        let control = self.examiner.seat.time();
        let mut clock = Clock::new(control);
        if clock.left.is_none() && control.move_time.is_some() {
            clock.left = Some(Duration::MAX);
        }
        clock
    }

    /// A process that commits a fault is replaced.
    async fn ask(&mut self, session: &mut dyn Game, clock: &mut Clock) -> Result<Answer, Halt> {
        let request = session.request();
        match self.examiner.ask_on(session, clock).await {
            Ok(Ok(answer)) => {
                // On a clock of CPU time a sleep costs a bot nothing, and people wait for it all the same.
                let thought = match clock.control.kind {
                    ClockKind::Wall => answer.time.charged,
                    ClockKind::Cpu => answer.time.elapsed,
                };
                self.budget.spend(thought, answer.time.fresh);
                if let Some(score) = self.examiner.info().get("score") {
                    self.scores.add(score, || request);
                }
                self.answered += 1;
                self.slowest = self.slowest.max(answer.time.elapsed);
                if !answer.time.fresh {
                    self.times.push(answer.time.charged);
                }
                Ok(answer)
            }
            Ok(Err(mut fault)) => {
                // Of other faults it is not known; looking into them takes time, too, and is not the bot's.
                if let Fault::Timeout(timeout) = &*fault.fault {
                    self.budget.spend(timeout.elapsed, true);
                }
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
        let is_wrong = matches!(*fault.fault, Fault::Rejected { .. });
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
        let is_extra = matches!(*fault.fault, Fault::ExtraOutput { .. });
        let may_be_held_back = fault.fault.may_be_held_back();
        let crash = fault.crash_advice();
        let problem = Problem {
            cause: Cause::Fault {
                fault: fault.fault,
                depends: depends && is_wrong,
                crash,
            },
            what,
            printed: Vec::new(),
            asked,
            stderr: crash::explaining_line(&fault.stderr),
            fix,
            again: fault.reproduce,
        };
        if is_extra {
            self.extra.get_or_insert_with(|| problem.clone());
        }
        self.held_back = may_be_held_back.then_some(fault.request);
        problem
    }

    /// Until the first fault, or until its part of the budget is spent. At least one is answered.
    async fn ask_all(
        &mut self,
        check: &'static str,
        positions: &[String],
        parts: u32,
    ) -> Result<Vec<Answered>, Halt> {
        self.unless_hopeless()?;
        let share = self.budget.share(parts);
        let mut answers = Vec::new();
        let ruleset = self.runner.shared_ruleset();
        for (done, position) in positions.iter().enumerate() {
            if self.budget.is_over(share, done == 0) {
                break;
            }
            let of = positions.len();
            self.asks(check, done, of);
            let mut session = ruleset.start_from(position).map_err(io::Error::other)?;
            let me = session.to_move();
            let request = session.request();
            let mut clock = self.clock();
            let answer = self.ask(&mut *session, &mut clock).await?;
            answers.push(Answered {
                request,
                turn: answer.turn,
                won: session.outcome() == Some(Outcome::Win(me)),
                lets_win: ruleset.program().is_none() && session.lets_win(me),
            });
        }
        let (asked, of) = (answers.len(), positions.len());
        if asked < of {
            self.cut_short = Some(Coverage { asked, of });
        }
        if asked == 0 && of > 0 {
            return Err(Halt::CheckVerdict(CheckVerdict::LeftOut));
        }
        Ok(answers)
    }

    async fn all_legal(&mut self, name: &'static str, positions: &[String], parts: u32) -> Made {
        let answers = self.ask_all(name, positions, parts).await?;
        self.counted(answers.len(), positions.len(), "position", "positions")
    }
}
