//! A bot as a process: the only place that starts and stops bots.
//!
//! Every bot is stopped with all its children: by its process group, on Windows by its job. What a
//! sandbox needs before `exec` its supervisor does. A [`Process`] goes through [`Process::start`],
//! [`Process::ready`], questions and answers, [`Process::stop`].

mod ask;
mod charge;
mod diagnosis;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

#[cfg(all(target_os = "linux", not(portable)))]
use tokio::process::ChildStdin;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use self::charge::Extension;
use self::platform::{AnswerPipe, Group, RequestPipe, exit_status};
#[cfg(unix)]
use self::unix as platform;
#[cfg(windows)]
use self::windows as platform;
use super::channel::Channel;
use super::children::{self, OwnedChild};
use super::exhaustion;
use super::fault::Exit;
use super::meter::{Meter, TurnUsage, Usage};
use super::spec::Program;
use super::stderr::{Pipe, Stderr, Tap};
use crate::log_target::{CLOCK, PROCESS};
use crate::protocol::env;
use referee_host::executable::interpreter::Language;
use referee_host::system::Pid;
use referee_sandbox::ResourceLimits;
use referee_sandbox::supervisor::client::SupervisorConnection;
use referee_text::{escape_said, format_duration, with_stderr};

/// How long the last of its stderr may take after its exit.
const LAST_STDERR: Duration = Duration::from_millis(10);

/// How long a sandbox may take to report that its program runs.
const BUILDING: Duration = Duration::from_secs(15);

/// How long a killed process may take to be gone. Much memory takes a while; without permission, or
/// hanging in the kernel, it takes for ever.
const KILLED: Duration = Duration::from_secs(2);

/// How long a supervisor may take to remove all of its bot; it stops waiting for processes after 5
/// s itself.
const REMOVING: Duration = Duration::from_secs(8);

const QUOTED_STDERR: usize = 400;

/// A start in a sandbox of which nothing was heard in time: neither that the program runs nor why it does not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", with_stderr(&format!("within {} its sandbox did not report that it runs", format_duration(*.waited)), .stderr))]
pub struct SilentStart {
    pub waited: Duration,
    /// What it wrote meanwhile; escaped.
    pub stderr: String,
}

impl SilentStart {
    /// If that is the error of a start.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

#[derive(Debug)]
struct Pipes {
    requests: RequestPipe,
    answers: AnswerPipe,
    errors: Pipe,
}

/// How long each step of stopping may take.
#[derive(Clone, Copy, Debug)]
pub struct GracePeriods {
    /// From the end of its input to SIGTERM.
    exit: Duration,
    term: Duration,
}

/// How long a bot may take to end by itself after the end of its input: protocol.md. In a check as after its games.
pub const END_OF_INPUT: Duration = Duration::from_secs(2);

impl GracePeriods {
    /// For a bot without a fault.
    pub const POLITE: Self = Self {
        exit: END_OF_INPUT,
        term: Duration::from_millis(250),
    };
    /// For a bot that forfeited: its opponent is waiting.
    pub const FAULT: Self = Self {
        exit: Duration::from_millis(10),
        term: Duration::from_millis(10),
    };
}

pub struct Process {
    child: Child,
    /// Keeps others from reaping the child; dropped after it.
    owned: OwnedChild,
    group: Option<Group>,
    /// In a sandbox.
    supervisor: Option<SupervisorConnection>,
    /// Whether it is stopped, if it is in its opponent's turns.
    frozen: Option<bool>,
    meter: Meter,
    asked: bool,
    channel: Channel<AnswerPipe, RequestPipe>,
    stderr: Stderr,
    stderr_reader: JoinHandle<()>,
    fresh: bool,
    answered: u32,
    /// The slowest of its answers, by the clock.
    slowest: Duration,
    exit: Option<ExitStatus>,
    stopped: bool,
    language: Option<Language>,
}

/// How a program exited that no supervisor has watched.
pub(crate) fn exit_of(status: ExitStatus) -> Exit {
    platform::describe(status)
}

/// As when a match is interrupted while it is being stopped.
impl Drop for Process {
    fn drop(&mut self) {
        if let (false, None, Some(group)) = (self.stopped, &self.supervisor, &self.group) {
            group.end(self.leader_lives());
        }
    }
}

impl Process {
    /// Starts a program with `environment` added to the referee's own.
    ///
    /// In a sandbox a supervisor starts it, with little of the referee's environment. Call
    /// [`Process::ready`] next. Must be called within a tokio runtime. The error is the kernel's.
    pub fn start(
        program: &Program,
        environment: &[(String, String)],
        tap: Option<Tap>,
    ) -> io::Result<Self> {
        #[cfg(all(target_os = "linux", not(portable)))]
        if let Some(confinement) = &program.confinement
            && let Some(request) = confinement.spawn_request(environment, &[env::PIECES])
        {
            log_starting(
                &request.argv,
                request.directory.as_ref(),
                &request.environment,
                confinement.sandbox.kind().name(),
                Some(&request.restrictions.limits),
            );
            // The supervisor outlives a killed referee, to kill the bot.
            let spawn = |command| spawn(&mut Command::from(command), program);
            let ((mut child, owned), stdin, connection) = confinement.launch(&request, spawn)?;
            let pipes = Pipes::of(&mut child, Some(ChildStdin::from_std(stdin)?))?;
            let (child, leads) = ((child, owned), (None, Some(connection)));
            return Ok(Self::new(program, child, pipes, leads, tap));
        }
        let Program {
            argv, directory, ..
        } = program;
        log_starting(argv, directory.as_ref(), environment, "none", None);
        let [command, arguments @ ..] = &program.argv[..] else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "an empty command"));
        };
        let mut command = Command::new(command);
        // The referee's own variables are not meant for this bot.
        for name in env::ALL {
            command.env_remove(name);
        }
        if let Some(directory) = &program.directory {
            command.current_dir(directory);
        }
        if let Some(confinement) = &program.confinement {
            let given = confinement.sandbox.environment().iter();
            command.envs(given.map(|(name, value)| (name, value)));
        }
        command
            .args(arguments)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .kill_on_drop(true);
        let (child, pipes, group) = platform::start(&mut command, program)?;
        Ok(Self::new(program, child, pipes, (Some(group), None), tap))
    }

    /// With a group the child is the bot, else its supervisor.
    fn new(
        program: &Program,
        (child, owned): (Child, OwnedChild),
        pipes: Pipes,
        (group, supervisor): (Option<Group>, Option<SupervisorConnection>),
        tap: Option<Tap>,
    ) -> Self {
        let confinement = program.confinement.as_ref();
        let freezes = confinement.is_some_and(|confinement| confinement.sandbox.freezes());
        let pid = owned.pid();
        let helpers = supervisor.as_ref().map(SupervisorConnection::helpers);
        let stderr = Stderr::new(pipes.errors, tap);
        let stderr_reader = tokio::spawn(stderr.clone().drain());
        Self {
            child,
            owned,
            group,
            supervisor,
            frozen: freezes.then_some(false),
            meter: Meter::new(pid, helpers),
            asked: false,
            channel: Channel::new(pipes.answers, pipes.requests),
            stderr,
            stderr_reader,
            fresh: true,
            answered: 0,
            slowest: Duration::ZERO,
            exit: None,
            stopped: false,
            language: program.language,
        }
    }

    /// Waits until a program in a sandbox runs: some milliseconds. The error says why it does not, or is a
    /// [`SilentStart`].
    pub async fn ready(&mut self) -> io::Result<()> {
        self.ready_within(BUILDING).await
    }

    /// [`Self::ready`] with another limit.
    pub async fn ready_within(&mut self, limit: Duration) -> io::Result<()> {
        let mut account = None;
        if let Some(supervisor) = &mut self.supervisor {
            let asked = Instant::now();
            let ready = timeout(limit, supervisor.ready()).await;
            let waited = asked.elapsed();
            match ready {
                Ok(Ok((leader, counting))) => {
                    self.group = leader.map(Group::led_by);
                    account = counting;
                }
                failed => {
                    self.stop(GracePeriods::FAULT).await?;
                    let stderr = escape_said(self.stderr_end(QUOTED_STDERR).trim_ascii_end());
                    let Ok(Err(error)) = failed else {
                        return Err(io::Error::other(SilentStart { waited, stderr }));
                    };
                    if let Some(refused) = exhaustion::refused(&error, &stderr) {
                        return Err(refused);
                    }
                    let cause = with_stderr(&error.to_string(), &stderr);
                    return Err(io::Error::new(error.kind(), cause));
                }
            }
        }
        self.log_start();
        self.meter.started(self.supervisor.is_some(), account);
        self.set_frozen(true);
        Ok(())
    }

    pub fn begin_game(&mut self) {
        self.meter.begin();
    }

    /// Usage in the game that has just ended; `None` when this system does not report it. Call it
    /// once a game: [`Process::begin_game`] starts the next count.
    pub fn take_usage(&mut self) -> Option<Usage> {
        let supervisor = self.supervisor.as_mut();
        let report = supervisor.and_then(SupervisorConnection::exit_report);
        let total = report.map(|report| {
            let cpu = Duration::try_from_secs_f64(report.cpu_ms / 1e3).unwrap_or_default();
            (cpu, report.memory_kb)
        });
        let mut usage = self.meter.end(total, !self.asked);
        let supervisor = self.supervisor.as_ref();
        if let Some(memory) = supervisor.and_then(SupervisorConnection::memory) {
            if memory.peak_kb > 0 {
                usage.memory_kb = memory.peak_kb;
            }
            usage.oom_kills = memory.oom_kills;
        }
        cfg!(all(target_os = "linux", not(portable))).then_some(usage)
    }

    /// Stops it until it is asked again, if that was wanted, or continues it: by the kernel where
    /// it can, else by signals.
    fn set_frozen(&mut self, frozen: bool) {
        if self.frozen != Some(!frozen) {
            return;
        }
        self.frozen = Some(frozen);
        let supervisor = self.supervisor.as_ref();
        let by_kernel = supervisor.is_some_and(|it| it.set_frozen(frozen));
        match &self.group {
            Some(group) if !by_kernel => group.set_stopped(frozen),
            _ => {}
        }
    }

    pub fn stderr_end(&self, bytes: usize) -> Vec<u8> {
        self.stderr.end(bytes)
    }

    pub const fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Closes its input and waits for its exit; `None` when it does not exit.
    pub async fn end_input(&mut self, wait: Duration) -> io::Result<Option<Exit>> {
        self.set_frozen(false);
        self.channel.close_writer();
        self.gone_within(wait).await?;
        Ok(self.exit.map(|status| self.describe(status)))
    }

    /// Stops it with its process group: closes its input, waits, SIGTERM, waits, SIGKILL, and reaps
    /// it.
    pub async fn stop(&mut self, grace: GracePeriods) -> io::Result<()> {
        self.set_frozen(false);
        self.channel.close_writer();
        if !self.gone_within(grace.exit).await? {
            log_signal("SIGTERM", grace.exit);
            if let Some(group) = &self.group {
                group.ask_to_end(self.leader_lives());
            }
            if !self.gone_within(grace.term).await? {
                log_signal("SIGKILL", grace.term);
                if let Some(supervisor) = &self.supervisor {
                    supervisor.end();
                    self.gone_within(REMOVING).await?;
                } else {
                    if let Some(group) = &self.group {
                        group.end(self.leader_lives());
                    }
                    self.gone_within(KILLED).await?;
                }
            }
        }
        if let Some(supervisor) = &mut self.supervisor {
            // It kills and removes all of the bot.
            supervisor.end();
            if timeout(REMOVING, self.child.wait()).await.is_err() {
                // The kernel kills the bot with it.
                self.child.start_kill()?;
                let _ = timeout(KILLED, self.child.wait()).await;
            }
        } else if let Some(group) = &self.group {
            // What the leader left behind. The group's number is not reused while it has members:
            // no other process is hit.
            group.end(false);
        }
        self.stopped = true;
        if self.child.id().is_some() {
            // The end of the run reports it: see `orphans::sweep`.
            tracing::warn!(target: PROCESS, pid = self.child.id(), "a bot's process could not be killed");
        }
        self.log_end();
        let _ = timeout(LAST_STDERR, &mut self.stderr_reader).await;
        self.stderr_reader.abort();
        Ok(())
    }

    /// Whether the bot's own process, a child of this one, has not been reaped.
    fn leader_lives(&self) -> bool {
        self.supervisor.is_none() && self.child.id().is_some()
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
            self.exit = Some(exit_status(report.status));
        }
        Ok(self.exit.is_some())
    }
}

/// Starts a child that only its owner reaps.
fn spawn(command: &mut Command, program: &Program) -> io::Result<(Child, OwnedChild)> {
    let starting = children::starting();
    let child = command.spawn()?;
    let pid = child.id().and_then(|id| i32::try_from(id).ok());
    let Some(pid) = pid.and_then(Pid::from_raw) else {
        return Err(io::Error::other("the id of a new process is missing"));
    };
    let owned = starting.own(pid, &program.name);
    Ok((child, owned))
}

fn log_starting(
    argv: &[String],
    directory: Option<&PathBuf>,
    environment: &[(String, String)],
    sandbox: &str,
    limits: Option<&ResourceLimits>,
) {
    let assignment = |(name, value): &(String, String)| format!("{name}={value}");
    let environment: Vec<String> = environment.iter().map(assignment).collect();
    tracing::info!(
        target: PROCESS,
        command = ?argv,
        directory = directory.map(tracing::field::debug),
        ?environment,
        sandbox,
        limits = limits.map(tracing::field::debug),
        "starting"
    );
}

fn log_extended(extension: Extension, usage: &TurnUsage) {
    // The others are a few milliseconds long.
    if extension.is_certain {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        tracing::debug!(
            target: CLOCK,
            limit_ms = ms(extension.limit),
            cpu_ms = ms(usage.cpu),
            run_queue_ms = usage.waited.map(ms),
            disk_ms = ms(usage.disk),
            "deadline extended"
        );
    }
}

fn log_signal(signal: &str, waited: Duration) {
    let waited_ms = waited.as_secs_f64() * 1e3;
    tracing::debug!(target: PROCESS, waited_ms, "sending {signal}");
}

impl Process {
    /// The id of the bot, once known, or of its supervisor.
    pub fn id(&self) -> Option<u32> {
        let leader = self.group.as_ref();
        let leader = leader.map(|group| group.leader().as_raw_pid().cast_unsigned());
        leader.or_else(|| self.child.id())
    }

    fn log_start(&self) {
        tracing::Span::current().record("pid", self.id());
        tracing::info!(
            target: PROCESS,
            supervisor = self.supervisor.as_ref().and_then(|_| self.child.id()),
            "started"
        );
    }

    fn log_end(&mut self) {
        if !tracing::enabled!(target: PROCESS, tracing::Level::INFO) {
            return;
        }
        let exit = self.exit.map(|status| self.describe(status).to_string());
        let exit = exit.as_deref().unwrap_or("it could not be killed");
        tracing::info!(target: PROCESS, "{exit}");
    }
}
