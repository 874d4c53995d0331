//! Plays whole games; the only place that does. Matches, tournaments, entry checks and `referee check` use it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument as _;

use super::clock::Clock;
use super::events;
use super::game::{End, GameEvent, Observer, Played, TextBuffers, TurnTime, play, take_turn};
use super::seat::{Seat, stop_both};
use super::setup::{GameSetup, bot_entries, now};
use super::stall::{Mark, StallDetector};
use crate::bot::Fault;
use crate::bot::exhaustion::{Exhausted, RefusalMark};
use crate::bot::fault::crash::{CrashAdvice, UnseenFile};
use crate::bot::fault::{Exit, crash};
use crate::bot::meter::Usage;
use crate::bot::process::GracePeriods;
use crate::bot::spec::CannotStart;
use crate::record::{BotIndex, Reason, Record, ResultEntry};
use referee_games::game::{Game, GameFailure, Outcome, Ruleset, StartError};
use referee_host::executable::interpreter::Language;
use referee_text::{milliseconds, size};

/// A fault by which a bot forfeited a game, and its circumstances.
#[derive(Debug)]
pub struct GameFault {
    pub by: BotIndex,
    pub fault: Box<Fault>,
    /// Without newline.
    pub request: String,
    /// The end of its stderr, escaped.
    pub stderr: String,
    /// The command that sends it the same request again, after those before it; `None` for people.
    pub reproduce: Option<String>,
    /// Whether the referee has seen the fault again with this command's only question.
    pub reproduced: bool,
    pub sandboxed: bool,
    /// The memory that its sandbox gives it, in bytes.
    pub memory_limit: Option<u64>,
    unseen: Option<UnseenFile>,
    /// Whether its process had not answered any request.
    pub never_answered: bool,
    /// Why the referee, and not the bot, may be to blame.
    void_reason: Option<String>,
}

#[derive(Debug)]
pub struct FinishedGame {
    pub record: Record,
    pub fault: Option<GameFault>,
}

#[derive(Debug, thiserror::Error)]
pub enum GameError {
    #[error(transparent)]
    CannotStart(#[from] CannotStart),
    /// The machine had run out of processes or the like, each time the game was tried.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// Its program exited or answered nonsense. No bot is to blame.
    #[error(transparent)]
    Game(#[from] GameFailure),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The game before one: it is played first, without counting, when processes are fresh, so that bots that draw random
/// numbers have drawn those of that game.
#[derive(Clone, Copy, Debug)]
pub struct WarmUp<'a> {
    pub game: &'a GameSetup<'a>,
    /// Whether the processes are fresh.
    pub is_due: bool,
}

impl WarmUp<'_> {
    /// Before a further attempt, for which processes are fresh.
    const fn again(self) -> Self {
        Self {
            is_due: true,
            ..self
        }
    }
}

/// A fault by which a bot forfeits, before its circumstances are known.
struct Forfeit {
    by: BotIndex,
    fault: Box<Fault>,
    /// Without newline.
    request: String,
}

/// When a game or a turn began: what the machine did since then may be to blame.
struct Marks {
    stalls: Mark,
    refusals: RefusalMark,
}

/// Plays games by one set of rules, several at a time if needed.
#[derive(Debug)]
pub struct GameRunner {
    ruleset: Arc<dyn Ruleset>,
    adjudicate: bool,
    stalls: StallDetector,
}

impl GameRunner {
    /// With `adjudicate`, games end as soon as their value is proven. The error says why its thread cannot be
    /// started.
    pub fn new(ruleset: Arc<dyn Ruleset>, adjudicate: bool) -> io::Result<Self> {
        Ok(Self {
            ruleset,
            adjudicate,
            stalls: StallDetector::start()?,
        })
    }

    /// For tests: every clock that runs out is the referee's fault, or none is.
    #[doc(hidden)]
    pub fn with_fixed_stalls(ruleset: Arc<dyn Ruleset>, late: bool) -> Self {
        Self {
            stalls: StallDetector::fixed(late),
            ..Self::new(ruleset, false).expect("a thread starts")
        }
    }

    pub fn ruleset(&self) -> &dyn Ruleset {
        &*self.ruleset
    }

    /// For sessions that must not borrow from the runner.
    pub fn shared_ruleset(&self) -> Arc<dyn Ruleset> {
        Arc::clone(&self.ruleset)
    }

    /// Plays a game until it counts. When the referee may be to blame for a clock that ran out, the game is void and
    /// is played again with fresh processes, twice at most; the last time an answer counts that may have been in time. When the machine has no process left, four times at most,
    /// within about two seconds.
    ///
    /// Processes are left running, except that of a bot that forfeits.
    pub async fn run(
        &self,
        seats: &mut [Seat; 2],
        setup: &GameSetup<'_>,
        mut warm_up: Option<WarmUp<'_>>,
        observer: &mut Observer<'_>,
    ) -> Result<FinishedGame, GameError> {
        let mut attempts = Attempts::default();
        let span = events::game(setup, seats, false);
        loop {
            span.in_scope(|| events::begins(setup, attempts.voids()));
            let game = async {
                if let Some(WarmUp { game, .. }) = warm_up.filter(|before| before.is_due) {
                    self.warm_up(seats, game).await?;
                }
                self.run_once(seats, setup, attempts.is_last(), observer)
                    .await
            };
            let mut game = match game.instrument(span.clone()).await {
                Err(GameError::Exhausted(limit)) => {
                    stop_both(seats, GracePeriods::FAULT).await?;
                    let is_first = attempts.exhausted == 0;
                    let wait = attempts.after_exhaustion(limit.clone().into())?;
                    span.in_scope(|| events::void(limit.cause(), true));
                    if is_first {
                        let (why, again) = (limit.cause(), true);
                        observer(&GameEvent::Stalled { why, again })?;
                    }
                    tokio::time::sleep(wait).await;
                    warm_up = warm_up.map(WarmUp::again);
                    continue;
                }
                game => game?,
            };
            let fault = game.fault.as_mut();
            if let Some(why) = fault.and_then(|fault| fault.void_reason.take()) {
                let again = attempts.after_stall();
                span.in_scope(|| events::void(&why, again));
                observer(&GameEvent::Stalled { why: &why, again })?;
                if again {
                    stop_both(seats, GracePeriods::FAULT).await?;
                    warm_up = warm_up.map(WarmUp::again);
                    continue;
                }
                // The record notes that the result is doubtful.
                game.record.delayed = Some(why);
            }
            game.record.voids = attempts.voids();
            if let Some(fault) = &game.fault
                && fault.never_answered
            {
                seats[fault.by].count_failed_start(fault.fault.reason());
            }
            span.in_scope(|| events::ended(&game.record));
            return Ok(game);
        }
    }

    async fn warm_up(&self, seats: &mut [Seat; 2], setup: &GameSetup<'_>) -> Result<(), GameError> {
        let span = events::game(setup, seats, true);
        let mut observer = |_: &GameEvent<'_>| Ok(());
        let playing = self.run_once(seats, setup, true, &mut observer);
        playing.instrument(span).await?;
        Ok(())
    }

    async fn run_once(
        &self,
        seats: &mut [Seat; 2],
        setup: &GameSetup<'_>,
        benefit_of_doubt: bool,
        observer: &mut Observer<'_>,
    ) -> Result<FinishedGame, GameError> {
        let mut session = self.session(setup.start)?;
        let started = now();
        let refusals = RefusalMark::recent();
        for (seat, seed) in seats.iter_mut().zip(setup.process_seeds) {
            seat.start(seed).await?;
        }
        let processes = seats.each_mut().map(|seat| seat.enter(&setup.id));
        let began = self.marks(refusals);
        let start = &*session;
        observer(&GameEvent::Begins { setup, start })?;
        let mut players = seats.each_mut();
        if setup.first == BotIndex::B {
            players.reverse();
        }
        let clocks = players.each_ref().map(|seat| Clock {
            benefit_of_doubt,
            ..Clock::new(seat.time())
        });
        let played = play(&mut *session, players, clocks, self.adjudicate, observer).await;
        let played = played.map_err(|error| self.failed(error))?;
        if matches!(played.end, End::Forfeit(..)) {
            self.check_game()?;
        }
        let mut record = setup.record(&*self.ruleset, bot_entries(seats), started);
        record.usage = usage(seats);
        let has_process = processes.iter().any(Option::is_some);
        record.processes = has_process.then_some(processes);
        let mut game_fault = None;
        match write_turns(&mut record, played) {
            End::Outcome(outcome) => record.result = self.result(setup, outcome, &*session),
            End::Adjudicated(outcome) => {
                record.result = self.result(setup, outcome, &*session);
                record.result.adjudicated = true;
            }
            End::Forfeit(side, fault) => {
                let forfeit = Forfeit {
                    by: setup.seats_by_side()[side.index()],
                    fault,
                    request: session.request(),
                };
                let seat = &mut seats[forfeit.by];
                let fault = self.forfeit(seat, forfeit, &began).await?;
                record.result = forfeit_result(&fault);
                game_fault = Some(fault);
            }
        }
        Ok(FinishedGame {
            record,
            fault: game_fault,
        })
    }

    fn session(&self, start: &str) -> Result<Box<dyn Game>, GameError> {
        let session = self.ruleset.start_from(start);
        session.map_err(|error| match error {
            StartError::Failed(failure) => failure.into(),
            StartError::Refused(problem) => {
                let problem = format!("a game cannot start from {start}: {problem}");
                GameError::Io(io::Error::other(problem))
            }
        })
    }

    /// Of this moment; `refusals` may be from before, when processes were started.
    fn marks(&self, refusals: RefusalMark) -> Marks {
        Marks {
            stalls: self.stalls.mark(),
            refusals,
        }
    }

    /// The error may come from a game that has failed.
    fn failed(&self, error: io::Error) -> GameError {
        self.check_game().err().unwrap_or_else(|| error.into())
    }

    /// When the game has failed, no bot forfeits.
    fn check_game(&self) -> Result<(), GameError> {
        self.ruleset
            .failure()
            .map_or(Ok(()), |failure| Err(failure.into()))
    }

    /// Asks a seat for one turn on this clock, outside of any match, and makes it. Starts the seat's process with
    /// this seed when none runs, and asks again when the referee may be to blame, as in [`GameRunner::run`].
    pub async fn ask(
        &self,
        seat: &mut Seat,
        seed: u32,
        session: &mut dyn Game,
        clock: &mut Clock,
        text: &mut TextBuffers,
    ) -> Result<Result<TurnTime, GameFault>, GameError> {
        let mut attempts = Attempts::default();
        loop {
            let asked = async {
                let refusals = RefusalMark::recent();
                seat.start(seed).await?;
                let began = self.marks(refusals);
                clock.benefit_of_doubt = attempts.is_last();
                let allowance = clock.allowance();
                let fault = match take_turn(session, seat, allowance, text, &mut |_| Ok(())).await?
                {
                    Ok(time) => return Ok(Ok(time)),
                    Err(fault) => Box::new(fault),
                };
                self.check_game()?;
                let forfeit = Forfeit {
                    by: BotIndex::A,
                    fault,
                    request: text.request.trim_end_matches('\n').to_owned(),
                };
                self.forfeit(seat, forfeit, &began).await.map(Err)
            };
            match asked.await {
                Ok(Err(fault)) if fault.void_reason.is_some() && attempts.after_stall() => {}
                Err(error) => tokio::time::sleep(attempts.after_exhaustion(error)?).await,
                asked => {
                    if let Ok(Ok(time)) = &asked {
                        clock.spend(time.charged, time.fresh);
                    }
                    return asked;
                }
            }
        }
    }

    /// Stops the bot's process and collects the circumstances. An error when the machine has refused processes
    /// meanwhile.
    async fn forfeit(
        &self,
        seat: &mut Seat,
        forfeit: Forfeit,
        began: &Marks,
    ) -> Result<GameFault, GameError> {
        let Forfeit {
            by,
            mut fault,
            request,
        } = forfeit;
        let void_reason = self.stalls.void_reason(&began.stalls, &fault).await;
        let has_group = seat.has_memory_group();
        let exhausted = began.refusals.void_reason(seat.name(), &fault, has_group);
        let (never_answered, stderr) = seat.forfeit(&fault).await?;
        if let Fault::Exited { exit, .. } = &mut *fault
            && !crash::is_about_network(&stderr)
        {
            exit.forgive_refusal();
        }
        let memory_limit = seat.memory_limit();
        if let Some(limit) = memory_limit
            && let Fault::Exited { exit, partial, .. } = &mut *fault
            && crash::is_about_memory(&(stderr.clone() + &String::from_utf8_lossy(partial)))
        {
            exit.blame_memory(limit);
        }
        if let Some(limit) = exhausted {
            return Err(limit.into());
        }
        let reproduce = seat.reproduce_command(&request, false, Some(&fault));
        Ok(GameFault {
            by,
            fault,
            sandboxed: seat.is_sandboxed(),
            memory_limit,
            unseen: seat.unseen(&stderr),
            never_answered,
            stderr,
            reproduce,
            reproduced: false,
            request,
            void_reason,
        })
    }

    fn result(&self, setup: &GameSetup<'_>, outcome: Outcome, last: &dyn Game) -> ResultEntry {
        match outcome {
            Outcome::Draw => ResultEntry::default(),
            Outcome::Win(side) => ResultEntry {
                winner: Some(setup.seats_by_side()[side.index()]),
                reason: self.ruleset.name().into(),
                lines: last.winning_lines(),
                ..ResultEntry::default()
            },
        }
    }
}

impl GameFault {
    /// Tries whether the last question is enough, where that takes no long time: no clock has run out.
    pub async fn try_alone(&mut self, seat: &mut Seat) {
        let is_quick = !matches!(*self.fault, Fault::Timeout(_));
        if is_quick && seat.was_asked_before() && seat.fails_alone(&self.request, &self.fault).await
        {
            self.reproduce = seat.reproduce_command(&self.request, true, Some(&self.fault));
            self.reproduced = true;
        }
    }

    /// What to do about the error that ended its program; `None` where none did, or where that says no more than how it
    /// exited.
    pub fn crash_advice(&self) -> Option<CrashAdvice> {
        match &*self.fault {
            Fault::Exited {
                exit: Exit::Code(1..),
                ..
            } => CrashAdvice::of(&self.stderr, self.sandboxed, self.unseen.as_ref()),
            _ => None,
        }
    }

    /// What to do, in this language: for an error that a sandbox is likely to have caused, what it allows.
    pub fn advice(&self, language: Option<Language>, is_program_game: bool) -> String {
        let advice = match self.crash_advice() {
            Some(advice) => advice.to_string(),
            None => self.fault.advice(language, is_program_game),
        };
        match (&*self.fault, self.memory_limit) {
            // It need not say that it was given no memory.
            (
                Fault::Exited {
                    exit: Exit::Signal(_),
                    ..
                },
                Some(limit),
            ) => format!(
                "{advice}; its sandbox gives it {} of memory (--memory)",
                size(limit)
            ),
            (Fault::PrintedError { error, .. }, Some(limit))
                if crash::is_about_memory(&error.line) =>
            {
                format!(
                    "use less memory, or play with more: its sandbox gives it {} (--memory); send no error messages to standard output (2>&1)",
                    size(limit)
                )
            }
            _ => advice,
        }
    }
}

/// Returns how the game ended, which is not written.
fn write_turns(record: &mut Record, played: Played) -> End {
    record.turns = played.turns;
    record.movers = played.movers;
    record.times_ms = played.times.into_iter().map(milliseconds).collect();
    record.charged_ms = played.charged.into_iter().map(milliseconds).collect();
    record.info = played.info;
    played.end
}

fn forfeit_result(fault: &GameFault) -> ResultEntry {
    ResultEntry {
        winner: Some(fault.by.other()),
        reason: Reason::Forfeit(fault.fault.reason()),
        by: Some(fault.by),
        answer: Some(fault.fault.answer()),
        detail: Some(fault.fault.to_string()),
        stderr: Some(fault.stderr.clone()),
        ..ResultEntry::default()
    }
}

/// In the game that has just ended; `None` when it is unknown for both.
fn usage(seats: &mut [Seat; 2]) -> Option<[Option<Usage>; 2]> {
    let usage = seats.each_mut().map(Seat::end_game);
    usage.iter().any(Option::is_some).then_some(usage)
}

/// The most times because the referee may be to blame.
const MOST_STALLS: u32 = 2;

/// The most times because the machine has no process left.
const MOST_EXHAUSTED: u32 = 4;

/// Waits for processes to exit; each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// How often a game, or a turn outside of a game, was tried without counting.
#[derive(Debug, Default)]
struct Attempts {
    stalls: u32,
    exhausted: u32,
}

impl Attempts {
    /// The referee may be to blame for the last one: whether there is another.
    fn after_stall(&mut self) -> bool {
        let again = self.stalls < MOST_STALLS;
        self.stalls += u32::from(again);
        again
    }

    /// Whether there is no further one after a stall.
    const fn is_last(&self) -> bool {
        self.stalls == MOST_STALLS
    }

    /// How long to wait for processes to exit before the next attempt; the error is that of the whole when there is none.
    fn after_exhaustion(&mut self, error: GameError) -> Result<Duration, GameError> {
        if !matches!(error, GameError::Exhausted(_)) || self.exhausted == MOST_EXHAUSTED {
            return Err(error);
        }
        self.exhausted += 1;
        Ok(FIRST_WAIT * (1 << (self.exhausted - 1)))
    }

    pub(super) const fn voids(&self) -> u32 {
        self.stalls + self.exhausted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_attempts_of_its_own() {
        let mut attempts = Attempts::default();
        let no_memory = io::Error::from_raw_os_error(12);
        let limit = Exhausted::from_error(&no_memory).unwrap();
        let none_left = || GameError::from(limit.clone());
        for ms in [100, 200, 400, 800] {
            let wait = attempts.after_exhaustion(none_left());
            assert_eq!(wait.ok(), Some(Duration::from_millis(ms)));
        }
        assert!(attempts.after_exhaustion(none_left()).is_err());
        assert_eq!(attempts.voids(), 4);
        assert_eq!(
            [(); 3].map(|()| attempts.after_stall()),
            [true, true, false]
        );
        assert_eq!(attempts.voids(), 6);
    }

    #[test]
    fn other_errors_are_not_tried_again() {
        let mut attempts = Attempts::default();
        let error = GameError::Io(io::ErrorKind::Other.into());
        assert!(attempts.after_exhaustion(error).is_err());
        assert_eq!(attempts.voids(), 0);
    }
}
