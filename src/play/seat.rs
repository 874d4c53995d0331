//! A seat at the table: a person, or a program with the process that plays for it now.

use std::io;
use std::time::Duration;

use crate::bot::fault::Exit;
use crate::bot::human::Human;
use crate::bot::meter::Usage;
use crate::bot::process::{GracePeriods, Process};
use crate::bot::spec::{CannotStart, Program, reproduce_command};
use crate::bot::stderr::Tap;
use crate::bot::{Allowance, Fault, Player, Reason, Reply};
use crate::game::Game;
use crate::game::dialogue::Dialogue;
use crate::play::TimeControl;
use crate::protocol::env;
use crate::text::escape_lines;

/// A bot that fails to give a first answer this many times in a row is benched.
const FAILED_STARTS: u32 = 3;

/// How much of a bot's stderr a record of a forfeit holds, in bytes.
const STDERR_TAIL: usize = 4096;

/// Who sits at one side of the table.
pub enum Occupant<G> {
    /// A program, and who is shown what it writes to stderr while it runs.
    Program(Program, Option<Tap>),
    /// A person.
    Human(Human<G>),
}

/// One of the two parties of a match.
pub struct Entrant<G> {
    /// What it is called in this match.
    pub name: String,
    /// Who it is.
    pub occupant: Occupant<G>,
    /// The limits on its time.
    pub time: TimeControl,
}

/// A party, its process, and how often it failed to get going.
pub struct Seat<G> {
    name: String,
    /// The command that records hold.
    command: Vec<String>,
    time: TimeControl,
    chair: Chair<G>,
    failed_starts: u32,
    benched: Option<Reason>,
}

/// How a party is asked.
enum Chair<G> {
    Human(Human<G>),
    Program(Box<Running>),
}

/// A program and its process.
struct Running {
    program: Program,
    tap: Option<Tap>,
    /// For the process; the seed is added at each start.
    environment: Vec<(String, String)>,
    process: Option<Process>,
}

impl<G: Dialogue> Player for Seat<G> {
    async fn ask(
        &mut self,
        request: &str,
        allowance: Allowance,
    ) -> io::Result<Result<Reply<'_>, Fault>> {
        match &mut self.chair {
            Chair::Human(human) => human.ask(request, allowance).await,
            Chair::Program(running) => match &mut running.process {
                Some(process) => process.ask(request, allowance).await,
                None => Err(io::Error::other(
                    "a bot was asked that has not been started",
                )),
            },
        }
    }

    async fn drain(&mut self) -> Vec<u8> {
        match &mut self.chair {
            Chair::Program(running) => match &mut running.process {
                Some(process) => process.drain().await,
                None => Vec::new(),
            },
            Chair::Human(_) => Vec::new(),
        }
    }
}

impl<G> Seat<G> {
    /// A seat for `entrant`. A program finds `environment` beside the referee's own, and its seed.
    pub fn new(entrant: Entrant<G>, environment: Vec<(String, String)>) -> Self {
        let (command, chair) = match entrant.occupant {
            Occupant::Human(human) => (vec!["human".to_owned()], Chair::Human(human)),
            Occupant::Program(program, tap) => (
                program.command.clone(),
                Chair::Program(Box::new(Running {
                    program,
                    tap,
                    environment,
                    process: None,
                })),
            ),
        };
        Self {
            name: entrant.name,
            command,
            time: entrant.time,
            chair,
            failed_starts: 0,
            benched: None,
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

    /// Why it plays no more, if it has been benched.
    pub const fn benched(&self) -> Option<Reason> {
        self.benched
    }

    /// How many times in a row it failed to give a first answer.
    pub const fn failed_starts(&self) -> u32 {
        self.failed_starts
    }

    /// Forgives failed starts once its process has answered.
    pub fn see_whether_it_goes(&mut self) {
        if let Chair::Program(running) = &self.chair
            && running.process.as_ref().is_some_and(|p| !p.is_fresh())
        {
            self.failed_starts = 0;
        }
    }

    /// A game begins: starts the process unless it runs.
    pub async fn start(&mut self, seed: u32) -> Result<(), CannotStart> {
        let Chair::Program(running) = &mut self.chair else {
            return Ok(());
        };
        if let Some(process) = &mut running.process {
            process.begin_game();
            return Ok(());
        }
        running.environment.retain(|(name, _)| name != env::SEED);
        let seed = (env::SEED.to_owned(), seed.to_string());
        running.environment.push(seed);
        let cannot = |error| CannotStart {
            bot: self.name.clone(),
            cause: format!("the system says: {error}"),
            fix: "see that the file is still there and that it can be run by hand".to_owned(),
        };
        let process = Process::start(&running.program, &running.environment, running.tap.clone());
        let process = running.process.insert(process.map_err(cannot)?);
        if let Err(error) = process.ready().await {
            running.process = None;
            return Err(cannot(error));
        }
        Ok(())
    }

    /// What its process has used in the game that has just ended; call it before
    /// [`Seat::forfeited`]. `None` for people, and where the system does not tell.
    pub fn used(&mut self) -> Option<Usage> {
        match &mut self.chair {
            Chair::Program(running) => running.process.as_mut()?.take_usage(),
            Chair::Human(_) => None,
        }
    }

    /// The command that asks again what a program did not answer well; `None` for people.
    pub fn ask_again(&self, request: &str) -> Option<String> {
        let Chair::Program(running) = &self.chair else {
            return None;
        };
        // The part of the environment that an answer depends on.
        let telling = |name: &str, value: &str| match name {
            env::RULES => value != "standard",
            env::GAME => value != "quarto",
            env::PIECES => true,
            _ => false,
        };
        let environment: Vec<(String, String)> = running
            .environment
            .iter()
            .filter(|(name, value)| telling(name, value))
            .cloned()
            .collect();
        Some(reproduce_command(&running.program, &environment, request))
    }

    /// Ends the process after a fault; gives the end of its stderr, escaped.
    pub async fn forfeited(&mut self, fault: &Fault) -> io::Result<String> {
        let Chair::Program(running) = &mut self.chair else {
            return Ok(String::new());
        };
        let Some(mut process) = running.process.take() else {
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
        let Chair::Program(running) = &mut self.chair else {
            return Ok(None);
        };
        match &mut running.process {
            Some(process) => process.end_input(wait).await,
            None => Ok(None),
        }
    }

    /// Ends the process, if there is one.
    pub async fn stop(&mut self, patience: GracePeriods) -> io::Result<()> {
        let Chair::Program(running) = &mut self.chair else {
            return Ok(());
        };
        match running.process.take() {
            Some(mut process) => process.stop(patience).await,
            None => Ok(()),
        }
    }
}

/// What a bot finds in its environment, but for its seed. `pieces` is the path of the set's
/// file when the set is not the built-in one.
pub fn environment<G: Game>(
    game: &G,
    pieces: Option<&str>,
    move_time: Duration,
) -> Vec<(String, String)> {
    let mut variables = vec![
        (env::GAME, G::NAME.to_owned()),
        (env::RULES, game.rules().to_owned()),
        (env::MOVE_TIME, move_time.as_secs_f64().to_string()),
    ];
    variables.extend(pieces.map(|path| (env::PIECES, path.to_owned())));
    variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
