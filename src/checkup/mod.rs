//! A walk-through for authors: is a bot fit to enter a tournament, and if not, why?

mod advice;
mod questions;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use self::questions::{is_last_turn, is_lost_at_once, lets_win, positions, reopened, request_of};
use crate::bot::fault::Exit;
use crate::bot::process::GracePeriods;
use crate::bot::spec::{CannotStart, Program};
use crate::bot::{Fault, Player as _};
use crate::game::Outcome;
use crate::play::TimeControl;
use crate::play::game_runner::{GameError, GameFault, GameRunner};
use crate::play::seat::Seat;
use crate::play::turn::{TextBuffers, TurnTime};
use crate::seed;
use crate::session::{Ruleset, Session};
use crate::text::{format_duration, quote};

/// Random positions that it is asked about.
const POSITIONS: usize = 200;
/// Whole games that it plays against itself in one process.
const GAMES: usize = 10;
/// Positions for each of: a win that is there, gifts that can be told apart.
const ADVICE: usize = 20;
/// How long it has to end when its input ends.
const END: Duration = Duration::from_secs(2);

/// What came of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be; what was seen.
    Good(String),
    /// What is wrong, and what to do.
    Bad(String, String),
    /// Could not be found out, because of something before it.
    Skipped,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// Whether a tournament needs it; otherwise it is advice.
    pub required: bool,
    /// What came of it.
    pub verdict: Verdict,
}

impl Check {
    /// Whether it stands in the way of a tournament.
    pub const fn is_fault(&self) -> bool {
        self.required && !matches!(self.verdict, Verdict::Good(_))
    }
}

/// Times of all answers, but for the first of each process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Half of the answers were quicker.
    pub median: Duration,
    /// 99 of 100 were.
    pub p99: Duration,
    /// The slowest.
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

/// A bot under examination.
pub struct Checkup<'a> {
    runner: GameRunner,
    program: Program,
    time: TimeControl,
    pieces: Option<String>,
    seat: Seat,
    checks: Vec<Check>,
    times: Vec<Duration>,
    text: TextBuffers,
    /// A fault that makes all further questions pointless.
    hopeless: bool,
    /// An answer came only when its input was closed.
    buffers: bool,
    /// Shown every check as soon as it is made: a bot that thinks takes minutes.
    show: ShowCheck<'a>,
}

/// Somebody who is shown a check.
pub type ShowCheck<'a> = &'a mut dyn FnMut(&Check);

/// Every seed that a check-up uses comes from this one: the same bot sees the same questions.
const SEED: u64 = 1;

/// A legal turn in answer to a question.
struct Answered {
    /// In canonical form.
    turn: String,
    /// Whether the turn won the game.
    won: bool,
    /// Whether it lets the opponent win at once.
    lets_win: bool,
}

impl<'a> Checkup<'a> {
    /// An examination of `program`. `pieces` is the path of the set's file when it is not the
    /// built-in one.
    pub fn new(
        ruleset: Arc<dyn Ruleset>,
        program: Program,
        time: TimeControl,
        pieces: Option<String>,
        show: ShowCheck<'a>,
    ) -> Self {
        let runner = GameRunner::new(ruleset, false);
        let seat = seat(&runner, &program, time, pieces.as_deref());
        Self {
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
        }
    }

    /// All checks. An `Err` is a failure of the referee.
    pub async fn run(mut self) -> io::Result<(Vec<Check>, Option<Times>)> {
        self.starts().await?;
        self.kinds_of_turn().await?;
        self.random_positions().await?;
        self.games().await?;
        self.silence().await?;
        self.times_kept();
        self.end().await?;
        self.advice().await?;
        self.repeats().await?;
        self.seat.stop(GracePeriods::FAULT).await?;
        Ok((self.checks, Times::of(self.times)))
    }

    /// Only random positions: for another piece set than the one examined so far.
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

    /// Up to `count` positions of a kind, as requests.
    fn positions(&self, count: usize, kind: impl Fn(&dyn Session) -> bool) -> Vec<String> {
        positions(self.runner.ruleset(), count, kind)
    }

    /// Asks for a turn in this position and makes it; a process that misbehaves is replaced. The
    /// error is the fault as a sentence, with the question and the end of stderr.
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
                    self.times.push(time.elapsed);
                }
                Ok(time)
            }
            Ok(Err(fault)) => {
                self.buffers |= fault.fault.was_buffered();
                Err(in_words(&fault))
            }
            Err(GameError::CannotStart(error)) => Err(error.to_string()),
            Err(GameError::Io(error)) => return Err(error),
        })
    }

    /// Asks about positions up to the first fault.
    async fn ask_all(&mut self, requests: &[String]) -> io::Result<Result<Vec<Answered>, String>> {
        let mut answers = Vec::new();
        // A checkup outlives what it asks about.
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

    async fn starts(&mut self) -> io::Result<()> {
        match self.seat.start(seed::for_bot(SEED, 0, 0)).await {
            Ok(()) => self.note("starts", true, Verdict::Good(String::new())),
            Err(CannotStart { cause, fix, .. }) => {
                self.note("starts", true, Verdict::Bad(cause, fix));
                self.hopeless = true;
            }
        }
        let verdict = if self.hopeless {
            Verdict::Skipped
        } else {
            let ruleset = self.runner.shared_ruleset();
            match self.ask(&mut *ruleset.start()).await? {
                Ok(time) => Verdict::Good(format!("after {}", format_duration(time.elapsed))),
                Err(fault) => {
                    self.hopeless = true;
                    let again = self.seat.reproduce_command(&self.text.request);
                    let again = again.unwrap_or_default();
                    Verdict::Bad(fault, format!("see it by hand: {again}"))
                }
            }
        };
        let flushes = match &verdict {
            Verdict::Good(_) => Verdict::Good(String::new()),
            Verdict::Bad(..) if self.buffers => Verdict::Bad(
                "its answer came only when its input was closed".to_owned(),
                "flush standard output after every line".to_owned(),
            ),
            _ => Verdict::Skipped,
        };
        self.note("answers the opening", true, verdict);
        self.note("flushes its answers", true, flushes);
        Ok(())
    }

    /// Every kind of turn that the protocol knows.
    async fn kinds_of_turn(&mut self) -> io::Result<()> {
        let ruleset = self.runner.shared_ruleset();
        let reopen = |request: &str| reopened(&*ruleset, request);
        let opened = self.positions(8, |session| reopen(&request_of(session)).is_some());
        let opened = opened
            .iter()
            .filter_map(|request| reopen(request))
            .collect();
        let kinds: [(&'static str, Vec<String>); 5] = [
            ("an opening with pieces on the board", opened),
            (
                "a turn in the middle",
                self.positions(8, |session| !is_last_turn(session)),
            ),
            (
                "the last turn, one cell left",
                self.positions(8, is_last_turn),
            ),
            (
                "a win is there",
                self.positions(8, |session| session.can_win_at_once()),
            ),
            ("every turn loses", self.positions(8, is_lost_at_once)),
        ];
        for (name, positions) in kinds {
            let verdict = self.all_legal(&positions).await?;
            self.note(name, true, verdict);
        }
        Ok(())
    }

    async fn all_legal(&mut self, positions: &[String]) -> io::Result<Verdict> {
        if self.hopeless {
            return Ok(Verdict::Skipped);
        }
        Ok(match self.ask_all(positions).await? {
            Ok(_) => Verdict::Good(format!("{} positions", positions.len())),
            Err(fault) => Verdict::Bad(fault, "see protocol.md for what is legal".to_owned()),
        })
    }

    async fn random_positions(&mut self) -> io::Result<()> {
        let positions = self.positions(POSITIONS, |_| true);
        let verdict = self.all_legal(&positions).await?;
        self.note("random positions, all answers legal", true, verdict);
        Ok(())
    }

    /// Against itself, one process asked for both sides.
    async fn games(&mut self) -> io::Result<()> {
        if self.hopeless {
            self.note("many games in one process", true, Verdict::Skipped);
            return Ok(());
        }
        let ruleset = self.runner.shared_ruleset();
        let mut problem = None;
        'games: for _ in 0..GAMES {
            let mut session = ruleset.start();
            while session.outcome().is_none() {
                if let Err(fault) = self.ask(&mut *session).await? {
                    problem = Some(fault);
                    break 'games;
                }
            }
        }
        let verdict = match problem {
            None => Verdict::Good(format!("{GAMES} games against itself")),
            Some(fault) => Verdict::Bad(
                fault,
                "keep nothing from line to line: the line is the whole state".to_owned(),
            ),
        };
        self.note("many games in one process", true, verdict);
        Ok(())
    }

    /// After an answer nothing more may come.
    async fn silence(&mut self) -> io::Result<()> {
        let name = "nothing extra on stdout";
        if self.hopeless {
            self.note(name, true, Verdict::Skipped);
            return Ok(());
        }
        let ruleset = self.runner.shared_ruleset();
        let extra = if let Err(fault) = self.ask(&mut *ruleset.start()).await? {
            Some(fault)
        } else {
            let extra = self.seat.drain().await;
            let told = format!("after its answer it wrote {}", quote(&extra));
            (!extra.is_empty()).then_some(told)
        };
        let verdict = match extra {
            None => Verdict::Good(String::new()),
            Some(problem) => Verdict::Bad(
                problem,
                "one answer is one line; print debugging text to stderr".to_owned(),
            ),
        };
        self.note(name, true, verdict);
        Ok(())
    }

    fn times_kept(&mut self) {
        let name = "time per move";
        let Some(times) = Times::of(self.times.clone()).filter(|_| !self.hopeless) else {
            self.note(name, true, Verdict::Skipped);
            return;
        };
        let limit = self.time.move_time;
        let told = format!(
            "median {}, 99 of 100 within {}, worst {}; the limit is {}",
            format_duration(times.median),
            format_duration(times.p99),
            format_duration(times.worst),
            format_duration(limit)
        );
        let verdict = if times.worst * 2 > limit {
            Verdict::Bad(
                told,
                "leave a margin: a busy machine makes every program slower".to_owned(),
            )
        } else {
            Verdict::Good(told)
        };
        // It was in time, or there would have been a fault.
        self.note(name, false, verdict);
    }

    async fn end(&mut self) -> io::Result<()> {
        let name = "ends when its input ends";
        if self.hopeless {
            self.note(name, true, Verdict::Skipped);
            return Ok(());
        }
        let verdict = match self.seat.end_input(END).await? {
            Some(Exit::Code(0)) => Verdict::Good(String::new()),
            Some(exit) => Verdict::Good(format!("{exit}")),
            None => Verdict::Bad(
                format!(
                    "it still runs {} after the end of its input",
                    format_duration(END)
                ),
                "leave the loop when reading a line gives the end of the file".to_owned(),
            ),
        };
        self.seat.stop(GracePeriods::FAULT).await?;
        self.note(name, true, verdict);
        Ok(())
    }
}

/// A fault as a sentence, with the question and the end of stderr.
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
