//! A bot as a process: the only place that starts and stops bots.
//!
//! Every bot leads a process group of its own, so that it can be ended with all its
//! children. It is started without `pre_exec`, so that the standard library can use
//! `posix_spawn`; what a sandbox needs before `exec` is the work of its supervisor. The life of a
//! [`Process`] is: [`Process::start`], [`Process::ready`], questions and answers, [`Process::stop`].
//!
//! - `ask`: a question and its answer
//! - `charge`: how long it may take on a busy machine
//! - `diagnosis`: why there was no answer
//! - `events`: what the log has of it
//! - `pipes`: those of a bot that shares its processor with the referee

mod ask;
mod charge;
mod diagnosis;
mod events;
mod pipes;

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};
use tokio::process::{Child, ChildStdin, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use pipes::{AnswerPipe, RequestPipe};

#[cfg(target_os = "linux")]
use super::bound;
use super::channel::Channel;
use super::children::{self, OwnedChild};
use super::exhaustion;
use super::fault::Exit;
use super::meter::{Meter, Usage};
use super::spec::Program;
use super::stderr::{self, Shared, Tap};
use crate::executable::interpreter::Language;
use crate::protocol::env;
#[cfg(target_os = "linux")]
use crate::sandbox::supervisor::client;
use crate::sandbox::supervisor::client::SupervisorConnection;
use crate::text::escape;

/// How long the last of its stderr may take to arrive after it is gone.
const LAST_STDERR: Duration = Duration::from_millis(10);

/// How long a sandbox may take to be built.
const BUILDING: Duration = Duration::from_secs(15);

/// How long a process may take to be gone once it has been killed. One that has much memory takes a
/// while, and one that this user may not kill, or that hangs in the kernel, for ever.
const KILLED: Duration = Duration::from_secs(2);

/// How long a supervisor may take to end and remove all that its bot had; it stops waiting for the
/// bot's processes after 5 s itself.
const REMOVING: Duration = Duration::from_secs(8);

/// How much of the stderr of a failed sandbox is quoted, in bytes.
const QUOTED_STDERR: usize = 400;

/// How long each step of ending a process may take.
#[derive(Clone, Copy, Debug)]
pub struct GracePeriods {
    /// From the end of its input to SIGTERM.
    exit: Duration,
    /// From SIGTERM to SIGKILL.
    term: Duration,
}

impl GracePeriods {
    /// For a bot that did nothing wrong.
    pub const POLITE: Self = Self {
        exit: Duration::from_millis(500),
        term: Duration::from_millis(250),
    };
    /// For a bot that forfeited: its opponent is waiting.
    pub const FAULT: Self = Self {
        exit: Duration::from_millis(10),
        term: Duration::from_millis(10),
    };
}

/// Whether a bot is stopped while its opponent thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Freeze {
    Never,
    /// It is, but runs now.
    Runs,
    Stopped,
}

/// A running bot.
#[derive(Debug)]
pub struct Process {
    /// The bot, or its supervisor.
    child: Child,
    /// Keeps others from reaping the child; dropped after it.
    owned: OwnedChild,
    /// The bot's process group, which has its leader's process id.
    group: Option<Pid>,
    /// The connection to its supervisor, when it is in a sandbox.
    supervisor: Option<SupervisorConnection>,
    freeze: Freeze,
    meter: Meter,
    /// Whether it has been asked and has not answered.
    asked: bool,
    channel: Channel<AnswerPipe, RequestPipe>,
    stderr: Shared,
    stderr_reader: JoinHandle<()>,
    fresh: bool,
    exit: Option<ExitStatus>,
    language: Option<Language>,
}

impl Process {
    /// Starts a program with `environment` added to the referee's own.
    ///
    /// A program in a sandbox gets little of the referee's own environment, and is started by a
    /// supervisor. Call [`Process::ready`] next. Must be called within a tokio runtime. The error is
    /// the kernel's.
    pub fn start(
        program: &Program,
        environment: &[(String, String)],
        tap: Option<Tap>,
    ) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(confinement) = &program.confinement
            && let Some(request) = confinement.spawn_request(environment)
        {
            events::starting_confined(&request);
            let launch = client::launch(confinement.referee(), &request)?;
            // The supervisor must outlive a referee that is killed, to end the bot.
            let child = spawn(&mut Command::from(launch.command), program, true)?;
            let stdin = ChildStdin::from_std(launch.stdin)?;
            let connection = SupervisorConnection::new(launch.control, &request)?;
            return Self::new(program, child, Some(stdin), Some(connection), tap);
        }
        events::starting(program, environment);
        let [command, arguments @ ..] = &program.argv[..] else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "an empty command"));
        };
        let mut command = Command::new(command);
        // Those of the referee's own environment are not meant for this bot.
        for name in env::ALL {
            command.env_remove(name);
        }
        if let Some(directory) = &program.directory {
            command.current_dir(directory);
        }
        if let Some(confinement) = &program.confinement {
            let given = confinement.environment().iter();
            command.envs(given.map(|(name, value)| (name, value)));
        }
        command
            .args(arguments)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = spawn(&mut command, program, false)?;
        let stdin = child.0.stdin.take();
        Self::new(program, child, stdin, None, tap)
    }

    fn new(
        program: &Program,
        (mut child, owned): (Child, OwnedChild),
        stdin: Option<ChildStdin>,
        supervisor: Option<SupervisorConnection>,
        tap: Option<Tap>,
    ) -> io::Result<Self> {
        let (Some(stdin), Some(stdout), Some(err)) =
            (stdin, child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the pipes of a new process are missing"));
        };
        let (requests, answers) = pipes::pipes(stdin, stdout);
        let pid = owned.pid();
        let helpers = supervisor.as_ref().map(SupervisorConnection::helpers);
        let group = helpers.is_none().then_some(pid);
        let kept = Shared::default();
        let stderr_reader = tokio::spawn(stderr::drain(err, kept.clone(), tap));
        Ok(Self {
            child,
            owned,
            group,
            supervisor,
            freeze: match &program.confinement {
                Some(confinement) if confinement.freezes() => Freeze::Runs,
                _ => Freeze::Never,
            },
            meter: Meter::new(pid, helpers),
            asked: false,
            channel: Channel::new(answers, requests),
            stderr: kept,
            stderr_reader,
            fresh: true,
            exit: None,
            language: program.language,
        })
    }

    /// Waits until a program in a sandbox runs, which takes its supervisor some milliseconds. The
    /// error says why it does not.
    pub async fn ready(&mut self) -> io::Result<()> {
        if let Some(supervisor) = &mut self.supervisor {
            let ready = timeout(BUILDING, supervisor.ready()).await;
            match ready.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut))) {
                Ok(group) => self.group = group,
                Err(error) => {
                    self.stop(GracePeriods::FAULT).await?;
                    let stderr = escape(self.stderr_end(QUOTED_STDERR).trim_ascii_end());
                    if let Some(refused) = exhaustion::refused(&error, &stderr) {
                        return Err(refused);
                    }
                    let cause = if stderr.is_empty() {
                        error.to_string()
                    } else {
                        format!("{error} ({stderr})")
                    };
                    return Err(io::Error::new(error.kind(), cause));
                }
            }
        }
        self.log_start();
        self.meter.started(self.supervisor.is_some());
        self.freeze();
        Ok(())
    }

    /// A game begins, in which what it uses is counted.
    pub fn begin_game(&mut self) {
        self.meter.begin();
    }

    /// What it has used in this game, which has just ended; `None` when this system does not report
    /// it. Call it once a game: [`Process::begin_game`] starts the next count.
    pub fn take_usage(&mut self) -> Option<Usage> {
        let gone = self.exit.is_some();
        let report = |supervisor: &mut SupervisorConnection| {
            if gone {
                supervisor.exit_report()
            } else {
                supervisor.noticed_exit_report()
            }
        };
        let total = self.supervisor.as_mut().and_then(report).map(|report| {
            let cpu = Duration::try_from_secs_f64(report.cpu_ms / 1e3).unwrap_or_default();
            (cpu, report.memory_kb)
        });
        let usage = self.meter.end(total, !self.asked);
        cfg!(target_os = "linux").then_some(usage)
    }

    /// Stops it until it is asked again, if that was wanted.
    fn freeze(&mut self) {
        if self.freeze == Freeze::Runs {
            self.signal(Signal::STOP);
            self.freeze = Freeze::Stopped;
        }
    }

    /// Lets it continue.
    fn thaw(&mut self) {
        if self.freeze == Freeze::Stopped {
            self.signal(Signal::CONT);
            self.freeze = Freeze::Runs;
        }
    }

    /// The end of what it wrote to stderr, at most `bytes`.
    pub fn stderr_end(&self, bytes: usize) -> Vec<u8> {
        self.stderr.with(|kept| kept.end(bytes))
    }

    /// Whether it has more processes than a bot may have without a sandbox. They are ended then.
    pub fn has_too_many_processes(&self) -> bool {
        #[cfg(target_os = "linux")]
        bound::enforce();
        self.owned.exceeded().is_some()
    }

    /// Whether it has not answered yet.
    pub const fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Closes its input and waits for it to end by itself; `None` when it does not.
    pub async fn end_input(&mut self, wait: Duration) -> io::Result<Option<Exit>> {
        self.thaw();
        self.channel.close_writer();
        self.gone_within(wait).await?;
        Ok(self.exit.map(|status| self.describe(status)))
    }

    /// Ends it with all its process group: closes its input, waits, asks it to end
    /// (SIGTERM), waits, ends it (SIGKILL), and reaps it.
    pub async fn stop(&mut self, grace: GracePeriods) -> io::Result<()> {
        self.thaw();
        self.channel.close_writer();
        if !self.gone_within(grace.exit).await? {
            events::log_signal("SIGTERM", grace.exit);
            self.signal_all(Signal::TERM);
            // A stopped process acts on SIGTERM once it goes on.
            self.signal_all(Signal::CONT);
            if !self.gone_within(grace.term).await? {
                events::log_signal("SIGKILL", grace.term);
                if let Some(supervisor) = &self.supervisor {
                    supervisor.end();
                    self.gone_within(REMOVING).await?;
                } else {
                    self.signal_all(Signal::KILL);
                    self.gone_within(KILLED).await?;
                }
            }
        }
        if let Some(supervisor) = &self.supervisor {
            // It ends and removes all that the bot had.
            supervisor.end();
            if timeout(REMOVING, self.child.wait()).await.is_err() {
                // The kernel ends the bot with it.
                self.child.start_kill()?;
                let _ = timeout(KILLED, self.child.wait()).await;
            }
        } else {
            // What the leader left behind. While a member of the group lives its number
            // is not given to another, so this reaches no other process.
            self.signal(Signal::KILL);
        }
        if self.child.id().is_some() {
            // Whoever ends the run tells people of it: see `orphans::sweep`.
            tracing::warn!(pid = self.child.id(), "a bot's process could not be ended");
        }
        self.log_end();
        let _ = timeout(LAST_STDERR, &mut self.stderr_reader).await;
        self.stderr_reader.abort();
        Ok(())
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // ESRCH: the group is empty.
            let _ = kill_process_group(group, signal);
        }
    }

    /// To its group, and to its own process when that has left the group.
    fn signal_all(&self, signal: Signal) {
        self.signal(signal);
        // Until it is reaped its number is not given to another.
        if let (None, Some(leader), Some(_)) = (&self.supervisor, self.group, self.child.id())
            && getpgid(Some(leader)) != Ok(leader)
        {
            // EPERM: it has the rights of another user.
            let _ = kill_process(leader, signal);
        }
    }

    async fn gone_within(&mut self, wait: Duration) -> io::Result<bool> {
        if self.exit.is_none()
            && let Ok(status) = timeout(wait, self.child.wait()).await
        {
            self.exit = Some(status?);
        }
        if self.exit.is_none()
            && let Some(supervisor) = &mut self.supervisor
            && let Some(report) = supervisor.exit_report()
        {
            // Its supervisor is still removing what the bot had.
            self.exit = Some(ExitStatus::from_raw(report.status));
        }
        Ok(self.exit.is_some())
    }
}

/// Starts a child that nobody but its owner reaps.
fn spawn(
    command: &mut Command,
    program: &Program,
    is_supervisor: bool,
) -> io::Result<(Child, OwnedChild)> {
    let starting = children::starting();
    let child = command.spawn()?;
    let pid = child.id().and_then(|id| i32::try_from(id).ok());
    let Some(pid) = pid.and_then(Pid::from_raw) else {
        return Err(io::Error::other("the id of a new process is missing"));
    };
    let owned = starting.own(pid, &program.name, is_supervisor);
    Ok((child, owned))
}
