//! One of the two players of a game: a person, or a program with the process that plays for it.

use std::fmt;
use std::io;
use std::time::Duration;

use super::clock::TimeControl;
use crate::bot::fault::Exit;
use crate::bot::human::Human;
use crate::bot::meter::Usage;
use crate::bot::process::{GracePeriods, Process};
use crate::bot::spec::{CannotStart, Program, reproduce_command};
use crate::bot::stderr::Tap;
use crate::bot::{Allowance, Fault, OtherOutput, Player, Reply};
use crate::protocol::{ForfeitReason, env};
use crate::session::Ruleset;
use crate::text::escape_lines;

/// A bot that fails to give a first answer this many times in a row is benched by a match.
const FAILED_STARTS: u32 = 3;

/// How much of a bot's stderr a record of a forfeit holds, in bytes.
const STDERR_TAIL: usize = 4096;

/// A player, its process, and how often it failed to get going.
#[derive(Debug)]
pub struct Seat {
    name: String,
    /// The command that records hold.
    command: Vec<String>,
    time: TimeControl,
    player: SeatPlayer,
    failed_starts: u32,
    benched: Option<ForfeitReason>,
}

/// Who plays.
#[derive(Debug)]
enum SeatPlayer {
    Human(Human),
    Program(Box<ProgramSeat>),
}

/// A program and its process.
struct ProgramSeat {
    program: Program,
    /// Who is shown what it writes to stderr while it runs.
    tap: Option<Tap>,
    /// For the process; the seed is added at each start.
    environment: Vec<(String, String)>,
    process: Option<Process>,
}

impl fmt::Debug for ProgramSeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramSeat")
            .field("program", &self.program)
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

impl Player for Seat {
    async fn ask(
        &mut self,
        request: &str,
        allowance: Allowance,
    ) -> io::Result<Result<Reply<'_>, Fault>> {
        match &mut self.player {
            SeatPlayer::Human(human) => human.ask(request, allowance).await,
            SeatPlayer::Program(seat) => match &mut seat.process {
                Some(process) => process.ask(request, allowance).await,
                None => Err(io::Error::other(
                    "a bot was asked that has not been started",
                )),
            },
        }
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
    /// A seat for a program in games by these rules. `pieces_path` is the path of the piece set's
    /// file when the set is not the built-in one: processes find it in their environment, with
    /// what else protocol.md promises.
    pub fn program(
        ruleset: &dyn Ruleset,
        pieces_path: Option<&str>,
        program: Program,
        time: TimeControl,
    ) -> Self {
        Self::new(
            program.name.clone(),
            program.command.clone(),
            time,
            SeatPlayer::Program(Box::new(ProgramSeat {
                environment: environment(ruleset, pieces_path, time.move_time),
                program,
                tap: None,
                process: None,
            })),
        )
    }

    /// The same under another name.
    #[must_use]
    pub fn named(mut self, name: String) -> Self {
        self.name = name;
        self
    }

    /// Adds variables to the environment of its processes.
    #[must_use]
    pub fn with_environment(
        mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        if let SeatPlayer::Program(seat) = &mut self.player {
            seat.environment.extend(variables);
        }
        self
    }

    /// Shows `tap` what its processes write to stderr, line by line.
    #[must_use]
    pub fn with_tap(mut self, tap: Tap) -> Self {
        if let SeatPlayer::Program(seat) = &mut self.player {
            seat.tap = Some(tap);
        }
        self
    }

    /// A seat for a person.
    pub fn human(name: String, human: Human, time: TimeControl) -> Self {
        let command = vec!["human".to_owned()];
        Self::new(name, command, time, SeatPlayer::Human(human))
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
        }
    }

    /// The process that plays now.
    fn process(&mut self) -> Option<&mut Process> {
        match &mut self.player {
            SeatPlayer::Human(_) => None,
            SeatPlayer::Program(seat) => seat.process.as_mut(),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The command that records hold.
    pub fn command(&self) -> &[String] {
        &self.command
    }

    /// The limits on its time.
    pub const fn time(&self) -> TimeControl {
        self.time
    }

    /// Why it plays no more games of this match, if it has been benched.
    pub const fn benched(&self) -> Option<ForfeitReason> {
        self.benched
    }

    /// How many times in a row it failed to give a first answer.
    pub const fn failed_starts(&self) -> u32 {
        self.failed_starts
    }

    /// A game begins: starts the process with this seed unless it runs.
    pub async fn start(&mut self, seed: u32) -> Result<(), CannotStart> {
        let SeatPlayer::Program(seat) = &mut self.player else {
            return Ok(());
        };
        if let Some(process) = &mut seat.process {
            process.begin_game();
            return Ok(());
        }
        seat.environment.retain(|(name, _)| name != env::SEED);
        let seed = (env::SEED.to_owned(), seed.to_string());
        seat.environment.push(seed);
        let cannot = |error| CannotStart {
            bot: self.name.clone(),
            cause: format!("the system says: {error}"),
            fix: "see that the file is still there and that it can be run by hand".to_owned(),
        };
        let process = Process::start(&seat.program, &seat.environment, seat.tap.clone());
        let process = seat.process.insert(process.map_err(cannot)?);
        if let Err(error) = process.ready().await {
            seat.process = None;
            return Err(cannot(error));
        }
        Ok(())
    }

    /// A game has ended: what the process used in it. Failed starts are forgiven once it has
    /// answered. `None` for people, and where the system does not measure it. Call it before
    /// [`Seat::forfeit`].
    pub fn end_game(&mut self) -> Option<Usage> {
        let process = self.process()?;
        let usage = process.take_usage();
        if !process.is_fresh() {
            self.failed_starts = 0;
        }
        usage
    }

    /// The command that asks a program again what it did not answer well; `None` for people.
    pub fn reproduce_command(&self, request: &str) -> Option<String> {
        let SeatPlayer::Program(seat) = &self.player else {
            return None;
        };
        // The part of the environment that an answer depends on.
        let matters = |name: &str, value: &str| match name {
            env::RULES => value != "standard",
            env::GAME => value != "quarto",
            env::PIECES => true,
            _ => false,
        };
        let environment: Vec<(String, String)> = seat
            .environment
            .iter()
            .filter(|(name, value)| matters(name, value))
            .cloned()
            .collect();
        Some(reproduce_command(&seat.program, &environment, request))
    }

    /// Ends the process after a fault; returns the end of its stderr, escaped.
    pub async fn forfeit(&mut self, fault: &Fault) -> io::Result<String> {
        let SeatPlayer::Program(seat) = &mut self.player else {
            return Ok(String::new());
        };
        let Some(mut process) = seat.process.take() else {
            return Ok(String::new());
        };
        if process.is_fresh() {
            self.failed_starts += 1;
            if self.failed_starts >= FAILED_STARTS {
                self.benched = Some(fault.reason());
            }
        }
        process.stop(GracePeriods::FAULT).await?;
        Ok(escape_lines(&process.stderr_end(STDERR_TAIL)))
    }

    /// Closes the program's input and waits for it to end; `None` when it does not, or when
    /// nothing runs.
    pub async fn end_input(&mut self, wait: Duration) -> io::Result<Option<Exit>> {
        match self.process() {
            Some(process) => process.end_input(wait).await,
            None => Ok(None),
        }
    }

    /// Ends the process, if there is one.
    pub async fn stop(&mut self, grace: GracePeriods) -> io::Result<()> {
        let SeatPlayer::Program(seat) = &mut self.player else {
            return Ok(());
        };
        match seat.process.take() {
            Some(mut process) => process.stop(grace).await,
            None => Ok(()),
        }
    }
}

/// Ends the processes of both, at the same time.
pub async fn stop_both([a, b]: &mut [Seat; 2], grace: GracePeriods) -> io::Result<()> {
    let (a, b) = tokio::join!(a.stop(grace), b.stop(grace));
    a.and(b)
}

/// What a bot finds in its environment, but for its seed. `pieces` is the path of the set's
/// file when the set is not the built-in one.
fn environment(
    ruleset: &dyn Ruleset,
    pieces: Option<&str>,
    move_time: Duration,
) -> Vec<(String, String)> {
    let mut variables = vec![
        (env::GAME, ruleset.name().to_owned()),
        (env::RULES, ruleset.rules().to_owned()),
        (env::MOVE_TIME, move_time.as_secs_f64().to_string()),
    ];
    variables.extend(pieces.map(|path| (env::PIECES, path.to_owned())));
    variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
