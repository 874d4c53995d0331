use std::io;
use std::path::Path;
use std::time::Duration;

use tracing::{Instrument as _, Span};

use super::clock::{Clock, TimeControl};
use super::events;
use super::game_runner::GameError;
use super::setup::{environment, is_told_answers, that_matter};
use crate::bot::exhaustion::Exhausted;
use crate::bot::fault::crash::{self, UnseenFile};
use crate::bot::human::Human;
use crate::bot::info::Info;
use crate::bot::meter::Usage;
use crate::bot::process::{GracePeriods, Process};
use crate::bot::spec::{CannotStart, PERSON, Program, reproduce_command};
use crate::bot::stderr::Tap;
use crate::bot::{Allowance, Fault, OtherOutput, Player, Reply};
use crate::protocol::{ForfeitReason, env};
use crate::record::ProcessEntry;
use referee_games::game::{BuiltinBot, Ruleset};
use referee_host::executable::interpreter::Language;
use referee_sandbox::Confinement;
use referee_text::{cause, escape_lines};

/// A bot that fails to give a first answer this many times in a row is benched by a match.
const FAILED_STARTS: u32 = 3;

/// Of the questions of a process that are kept, to ask them again: those of some five games.
const ASKED_BYTES: usize = 1024;

/// Of a bot's stderr in the record of a forfeit, in bytes.
const STDERR_TAIL: usize = 4096;

/// Why a bot cannot be started, although it passed all checks before.
pub(super) fn start_failure(bot: &str, error: &io::Error) -> GameError {
    if let Some(exhausted) = Exhausted::of_start(bot, error) {
        return exhausted.into();
    }
    let fix = match error.kind() {
        io::ErrorKind::NotFound => "see that its file is still there",
        _ => "see that it can be run by hand",
    };
    CannotStart::new(bot, format!("the system says: {}", cause(error)), fix).into()
}

/// One of the two players of a game: a person, or a program and its process.
pub struct Seat {
    name: String,
    command: Vec<String>,
    time: TimeControl,
    player: SeatPlayer,
    failed_starts: u32,
    benched: Option<ForfeitReason>,
    /// In the log, of the game that it plays or has played last.
    span: Span,
}

enum SeatPlayer {
    Human(Human),
    Script(Script),
    Program(Box<ProgramSeat>),
}

/// Answers immediately, without a process.
struct Script {
    bot: BuiltinBot,
    answer: String,
}

struct ProgramSeat {
    program: Program,
    tap: Option<Tap>,
    /// The seed is added at each start.
    environment: Vec<(String, String)>,
    process: Option<Process>,
    seed: u32,
    /// What this process has been asked: lines, up to [`ASKED_BYTES`].
    asked: String,
    /// The id of the first game that this process plays.
    since: Option<String>,
    is_told_answers: bool,
    /// The rules of the game are built in.
    has_rules: bool,
}

impl Player for Seat {
    async fn ask(
        &mut self,
        request: &str,
        allowance: Allowance,
    ) -> io::Result<Result<Reply<'_>, Fault>> {
        let Self { player, span, .. } = self;
        let reply = match player {
            SeatPlayer::Human(human) => {
                events::asked(span, request, allowance, false);
                human.ask(request, allowance).await?
            }
            SeatPlayer::Script(script) => {
                let answer = (script.bot)(request.trim_end_matches('\n'));
                script.answer = answer.map_err(io::Error::other)?;
                Ok(Reply {
                    line: script.answer.as_bytes(),
                    elapsed: Duration::ZERO,
                    charged: Duration::ZERO,
                    fresh: false,
                })
            }
            SeatPlayer::Program(seat) => match &mut seat.process {
                Some(process) => {
                    if seat.asked.len() + request.len() <= ASKED_BYTES {
                        seat.asked.push_str(request);
                    }
                    events::asked(span, request, allowance, process.is_fresh());
                    process.ask(request, allowance).await?
                }
                None => {
                    return Err(io::Error::other("a bot was asked before it was started"));
                }
            },
        };
        events::answered(span, reply.as_ref(), allowance);
        Ok(reply)
    }

    fn is_told_answers(&self) -> bool {
        self.program_seat().is_some_and(|seat| seat.is_told_answers)
    }

    fn take_info(&mut self) -> Info {
        self.process().map_or_else(Info::new, Player::take_info)
    }

    async fn drain(&mut self) -> Vec<u8> {
        match self.process() {
            Some(process) => process.drain().await,
            None => Vec::new(),
        }
    }

    async fn other_output(&mut self) -> OtherOutput {
        match self.process() {
            Some(process) => process.other_output().await,
            None => OtherOutput::Nothing,
        }
    }
}

impl Seat {
    /// `pieces_path` is the path of a piece set that is not the built-in one. Its processes get the environment that
    /// protocol.md describes.
    pub fn program(
        ruleset: &dyn Ruleset,
        pieces_path: Option<&str>,
        program: Program,
        time: TimeControl,
    ) -> Self {
        let is_told_answers = is_told_answers(ruleset, &program);
        let mut environment = environment(ruleset, pieces_path, time.move_time);
        environment.extend(is_told_answers.then(|| (env::ANSWERS.to_owned(), "listed".to_owned())));
        Self::new(
            program.name.clone(),
            program.command.clone(),
            time,
            SeatPlayer::Program(Box::new(ProgramSeat {
                environment,
                is_told_answers,
                has_rules: ruleset.program().is_none(),
                program,
                tap: None,
                process: None,
                seed: 0,
                asked: String::with_capacity(ASKED_BYTES),
                since: None,
            })),
        )
    }

    #[must_use]
    pub fn named(mut self, name: String) -> Self {
        self.name = name;
        self
    }

    #[must_use]
    pub fn with_environment(
        mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        if let Some(seat) = self.program_seat_mut() {
            seat.environment.extend(variables);
        }
        self
    }

    #[must_use]
    pub fn with_tap(mut self, tap: Option<Tap>) -> Self {
        if let Some(seat) = self.program_seat_mut() {
            seat.tap = tap;
        }
        self
    }

    pub fn human(name: String, human: Human, time: TimeControl) -> Self {
        let command = vec![PERSON.to_owned()];
        Self::new(name, command, time, SeatPlayer::Human(human))
    }

    /// Its answers need no clock.
    pub fn scripted(name: String, command: Vec<String>, bot: BuiltinBot) -> Self {
        let answer = String::new();
        let player = SeatPlayer::Script(Script { bot, answer });
        Self::new(name, command, TimeControl::default(), player)
    }

    const fn new(
        name: String,
        command: Vec<String>,
        time: TimeControl,
        player: SeatPlayer,
    ) -> Self {
        Self {
            name,
            command,
            time,
            player,
            failed_starts: 0,
            benched: None,
            span: Span::none(),
        }
    }

    fn program_seat(&self) -> Option<&ProgramSeat> {
        match &self.player {
            SeatPlayer::Human(_) | SeatPlayer::Script(_) => None,
            SeatPlayer::Program(seat) => Some(seat),
        }
    }

    fn program_seat_mut(&mut self) -> Option<&mut ProgramSeat> {
        match &mut self.player {
            SeatPlayer::Human(_) | SeatPlayer::Script(_) => None,
            SeatPlayer::Program(seat) => Some(seat),
        }
    }

    /// The one that runs.
    pub fn process(&mut self) -> Option<&mut Process> {
        self.program_seat_mut()?.process.as_mut()
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn command(&self) -> &[String] {
        &self.command
    }

    pub const fn time(&self) -> TimeControl {
        self.time
    }

    pub const fn benched(&self) -> Option<ForfeitReason> {
        self.benched
    }

    /// Processes in a row that failed to give a first answer.
    pub const fn failed_starts(&self) -> u32 {
        self.failed_starts
    }

    /// Begins a game: starts a process with this seed unless one runs.
    pub async fn start(&mut self, seed: u32) -> Result<(), GameError> {
        self.span = events::bot(&self.name);
        let seat = match &mut self.player {
            SeatPlayer::Program(seat) => seat,
            SeatPlayer::Human(human) => return Ok(human.start().await?),
            SeatPlayer::Script(_) => return Ok(()),
        };
        if let Some(process) = &mut seat.process {
            self.span.record("pid", process.id());
            process.begin_game();
            return Ok(());
        }
        seat.environment.retain(|(name, _)| name != env::SEED);
        seat.seed = seed;
        seat.asked.clear();
        seat.since = None;
        let seed = (env::SEED.to_owned(), seed.to_string());
        seat.environment.push(seed);
        let cannot = |error| {
            events::cannot_start(&self.span, &error);
            start_failure(&self.name, &error)
        };
        let start = || Process::start(&seat.program, &seat.environment, seat.tap.clone());
        let process = self.span.in_scope(start);
        let process = seat.process.insert(process.map_err(cannot)?);
        if let Err(error) = process.ready().instrument(self.span.clone()).await {
            seat.process = None;
            return Err(cannot(error));
        }
        Ok(())
    }

    /// Begins the game with this id: what the record has of its process; `None` for people.
    pub fn enter(&mut self, game: &str) -> Option<ProcessEntry> {
        let move_time = self.time.move_time.map(|time| time.as_secs_f64());
        let seat = self.program_seat_mut()?;
        let since = seat.since.get_or_insert_with(|| game.to_owned());
        Some(ProcessEntry {
            seed: seat.seed,
            move_time,
            since: (since != game).then(|| since.clone()),
        })
    }

    /// Once it runs; with a sandbox, once that is known.
    pub fn process_id(&self) -> Option<u32> {
        self.program_seat()?.process.as_ref()?.id()
    }

    /// What the process used in the game. Resets the failed starts if the process has answered. `None` for people,
    /// and where the system does not measure it. Call it before [`Seat::forfeit`].
    pub fn end_game(&mut self) -> Option<Usage> {
        let process = self.process()?;
        let usage = process.take_usage();
        if !process.is_fresh() {
            self.failed_starts = 0;
        }
        events::used(&self.span, usage.as_ref());
        usage
    }

    /// Whether this is a person who is asked before each further game.
    pub const fn wants_games(&self) -> bool {
        matches!(&self.player, SeatPlayer::Human(human) if human.wants_games())
    }

    pub fn has_memory_group(&self) -> bool {
        let confinement = self.confinement();
        confinement.is_some_and(|confinement| confinement.sandbox.has_memory_group())
    }

    fn confinement(&self) -> Option<&Confinement> {
        self.program_seat()?.program.confinement.as_ref()
    }

    /// The command that sends a program this request again, by which this fault can be seen; `None` for people. Unless
    /// it is asked `alone`, the request comes after those before, on which the fault may depend.
    pub fn reproduce_command(
        &self,
        request: &str,
        alone: bool,
        fault: Option<&Fault>,
    ) -> Option<String> {
        let seat = self.program_seat()?;
        let mut questions: Vec<&str> = seat.asked.lines().collect();
        // Not all of very many are kept.
        if alone || questions.last() != Some(&request) {
            questions = vec![request];
        }
        Some(reproduce_command(
            &seat.program,
            &that_matter(seat.environment.iter().cloned()),
            &questions,
            matches!(fault, Some(Fault::Timeout(_))),
            seat.has_rules,
        ))
    }

    /// Whether the last process was asked more than one question.
    pub fn was_asked_before(&self) -> bool {
        self.program_seat()
            .is_some_and(|seat| seat.asked.lines().count() > 1)
    }

    /// After this fault: whether a fresh process commits the same when it is asked this request only.
    pub async fn fails_alone(&mut self, request: &str, fault: &Fault) -> bool {
        let Some(seed) = self.program_seat().map(|seat| seat.seed) else {
            return false;
        };
        if self.start(seed).await.is_err() {
            return false;
        }
        let allowance = Clock::new(self.time).allowance();
        let asked = self.ask(&format!("{request}\n"), allowance).await;
        let fails = match asked {
            Ok(Ok(reply)) => fault.rejected() == Some(reply.line),
            Ok(Err(again)) => again.reason() == fault.reason(),
            Err(_) => false,
        };
        self.stop(GracePeriods::FAULT).await.is_ok() && fails
    }

    /// Stops the process: whether it had not answered any request, and its stderr, escaped. Call
    /// [`Seat::count_failed_start`] once it is known that the forfeit counts.
    pub async fn forfeit(&mut self, fault: &Fault) -> io::Result<(bool, String)> {
        events::fault(&self.span, fault);
        let seat = self.program_seat_mut();
        let Some(mut process) = seat.and_then(|seat| seat.process.take()) else {
            return Ok((false, String::new()));
        };
        let stopping = process.stop(GracePeriods::FAULT);
        stopping.instrument(self.span.clone()).await?;
        let mut stderr = escape_lines(&process.stderr_end(STDERR_TAIL));
        if let Some(copy) = self.private_copy() {
            // Its author knows these files by their paths in the bot's own folder.
            stderr = stderr.replace(&format!("{}/", copy.display()), "");
        }
        Ok((process.is_fresh(), stderr))
    }

    /// For a process that never answered. Too many of them in a row bench the bot.
    pub const fn count_failed_start(&mut self, reason: ForfeitReason) {
        self.failed_starts += 1;
        if self.failed_starts >= FAILED_STARTS {
            self.benched = Some(reason);
        }
    }

    /// The memory that a sandbox gives it, in bytes.
    pub fn memory_limit(&self) -> Option<u64> {
        let confinement = self.confinement()?;
        Some(confinement.sandbox.limits().memory)
    }

    /// Whether a sandbox may be the cause of an error.
    pub fn is_sandboxed(&self) -> bool {
        self.private_copy().is_some()
    }

    /// What of its folder a sandbox does not show it, and the end of its stderr speaks of.
    pub fn unseen(&self, stderr: &str) -> Option<UnseenFile> {
        let confinement = self.confinement()?;
        let hidden = confinement.hidden().iter();
        let mut hidden = hidden.filter(|name| crash::speaks_of(stderr, name));
        if let Some(name) = hidden.next() {
            return Some(UnseenFile::OfAnother(name.clone()));
        }
        let own = confinement.files().map(|files| files.list.files.keys());
        let own = own.into_iter().flatten().map(String::as_str);
        if let Some(name) = crash::in_other_case(stderr, own) {
            return Some(UnseenFile::OtherCase(name.to_owned()));
        }
        confinement.is_alone().then_some(UnseenFile::AllBesideIt)
    }

    /// The folder with its files in a sandbox.
    fn private_copy(&self) -> Option<&Path> {
        self.confinement()?.directory()
    }

    pub fn language(&self) -> Option<Language> {
        self.program_seat()?.program.language
    }

    pub async fn stop(&mut self, grace: GracePeriods) -> io::Result<()> {
        let seat = self.program_seat_mut();
        match seat.and_then(|seat| seat.process.take()) {
            Some(mut process) => process.stop(grace).instrument(self.span.clone()).await,
            None => Ok(()),
        }
    }
}

pub async fn stop_both([a, b]: &mut [Seat; 2], grace: GracePeriods) -> io::Result<()> {
    let (a, b) = tokio::join!(a.stop(grace), b.stop(grace));
    a.and(b)
}
