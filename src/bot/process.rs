//! A bot as a process: the only place that starts and stops programs.
//!
//! Every bot leads a process group of its own, so that it can be ended with all its
//! children. It is started without `pre_exec`, so that the standard library can use
//! `posix_spawn`. Its life is: start, questions and answers, [`Process::stop`].

use std::fs;
use std::future::{Future as _, poll_fn};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::task::Poll;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::channel::{Channel, Trouble};
use super::fault::{Came, Doing, Exit, Fault, Stream, Timeout};
use super::interpreter::Language;
use super::meter::{Meter, Usage};
use super::spec::Program;
use super::stderr::{self, Shared, Tap};
use super::{Allowance, Player, Reply};
use crate::protocol::env;
use crate::sandbox::supervisor::client::Line;
use crate::text::escape;

/// How long a bot that timed out has to empty its output buffer once its input is
/// closed. With [`Patience::FAULT`] it stays within the 100 ms that a fault may cost.
const LAST_WORDS: Duration = Duration::from_millis(40);

/// How long it has before that, to be told from a bot that is merely late.
const LATE: Duration = Duration::from_millis(10);

/// How long after a senseless line a second one is waited for, to say that there were two.
const SECOND_LINE: Duration = Duration::from_millis(25);

/// How long a bot whose output ended has to be gone, before it counts as alive.
const EXIT_AFTER_EOF: Duration = Duration::from_millis(30);

/// How long the guard of a bot that has ended has to tell how, on a very busy machine.
const REPORT: Duration = Duration::from_secs(10);

/// How long the last of its stderr may take to arrive after it is gone.
const LAST_STDERR: Duration = Duration::from_millis(10);

/// How long a sandbox may take to be built.
const BUILDING: Duration = Duration::from_secs(15);

/// How much of a failed sandbox's own words is quoted, in bytes.
const WORDS: usize = 400;

/// How long each step of ending a process may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// From the end of its input to SIGTERM.
    exit: Duration,
    /// From SIGTERM to SIGKILL.
    term: Duration,
}

impl Patience {
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
    /// The bot, or its guard.
    child: Child,
    /// The bot's process group, which has its leader's process id.
    group: Option<Pid>,
    /// The line to its guard, when it is in a sandbox.
    guard: Option<Line>,
    freeze: Freeze,
    meter: Meter,
    /// Whether it has been asked and has not answered.
    asked: bool,
    channel: Channel<ChildStdout, ChildStdin>,
    stderr: Shared,
    drain: JoinHandle<()>,
    fresh: bool,
    exit: Option<ExitStatus>,
    language: Option<Language>,
}

impl Process {
    /// Starts a program with `environment` added to the referee's own.
    ///
    /// A program in a sandbox is told nothing of the referee's own environment, and is started by a
    /// guard. Call [`Process::ready`] next. Must be called within a tokio runtime. The error is
    /// the kernel's.
    pub fn start(
        program: &Program,
        environment: &[(String, String)],
        tap: Option<Tap>,
    ) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(confinement) = &program.confinement
            && let Some(order) = confinement.order(environment)
        {
            let launch = crate::sandbox::supervisor::client::launch(confinement.referee(), &order)?;
            // The guard must outlive a referee that is killed, to end the bot.
            let child = Command::from(launch.command).spawn()?;
            let stdin = ChildStdin::from_std(launch.stdin)?;
            let line = Line::new(launch.control, &order)?;
            return Self::new(program, child, Some(stdin), Some(line), tap);
        }
        let [command, arguments @ ..] = &program.argv[..] else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "an empty command"));
        };
        let mut command = Command::new(command);
        // The referee's own are not meant for this bot.
        for name in env::ALL {
            command.env_remove(name);
        }
        if let Some(directory) = &program.directory {
            command.current_dir(directory);
        }
        let mut child = command
            .args(arguments)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take();
        Self::new(program, child, stdin, None, tap)
    }

    fn new(
        program: &Program,
        mut child: Child,
        stdin: Option<ChildStdin>,
        guard: Option<Line>,
        tap: Option<Tap>,
    ) -> io::Result<Self> {
        let (Some(stdin), Some(stdout), Some(err)) =
            (stdin, child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the pipes of a new process are missing"));
        };
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let helpers = guard.as_ref().map(Line::helpers);
        let group = id.filter(|_| helpers.is_none()).and_then(Pid::from_raw);
        let kept = Shared::default();
        let drain = tokio::spawn(stderr::drain(err, kept.clone(), tap));
        tracing::debug!(name = program.name, pid = child.id(), "started");
        Ok(Self {
            child,
            group,
            guard,
            freeze: match &program.confinement {
                Some(confinement) if confinement.sandbox().freezes() => Freeze::Runs,
                _ => Freeze::Never,
            },
            meter: Meter::new(id.unwrap_or_default(), helpers),
            asked: false,
            channel: Channel::new(stdout, stdin),
            stderr: kept,
            drain,
            fresh: true,
            exit: None,
            language: program.language,
        })
    }

    /// Waits until a program in a sandbox runs, which takes its guard some milliseconds. The
    /// error says why it does not.
    pub async fn ready(&mut self) -> io::Result<()> {
        if let Some(guard) = &mut self.guard {
            let ready = timeout(BUILDING, guard.ready()).await;
            match ready.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut))) {
                Ok(group) => self.group = group,
                Err(error) => {
                    self.stop(Patience::FAULT).await?;
                    let said = escape(self.stderr_end(WORDS).trim_ascii_end());
                    let told = if said.is_empty() {
                        error.to_string()
                    } else {
                        format!("{error} ({said})")
                    };
                    return Err(io::Error::new(error.kind(), told));
                }
            }
        }
        self.meter.started(self.guard.is_some());
        self.freeze();
        Ok(())
    }

    /// A game begins, in which what it uses is counted.
    pub fn begin_game(&mut self) {
        self.meter.begin();
    }

    /// What it has used in this game, which has just ended; `None` when this system does not tell.
    pub fn used(&mut self) -> Option<Usage> {
        let gone = self.exit.is_some();
        let told = |guard: &mut Line| if gone { guard.ended() } else { guard.heard() };
        let total = self.guard.as_mut().and_then(told).map(|ended| {
            let cpu = Duration::try_from_secs_f64(ended.cpu_ms / 1e3).unwrap_or_default();
            (cpu, ended.memory_kb)
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

    /// Lets it go on.
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
    pub async fn stop(&mut self, patience: Patience) -> io::Result<()> {
        self.thaw();
        self.channel.close_writer();
        if !self.gone_within(patience.exit).await? {
            self.signal(Signal::TERM);
            // A stopped process acts on SIGTERM once it goes on.
            self.signal(Signal::CONT);
            if !self.gone_within(patience.term).await? {
                match &self.guard {
                    Some(guard) => guard.end(),
                    None => self.signal(Signal::KILL),
                }
                self.exit = Some(self.child.wait().await?);
            }
        }
        if let Some(guard) = &self.guard {
            // It clears away what the bot had, and leaves nothing.
            guard.end();
            self.child.wait().await?;
        } else {
            // What the leader left behind. While a member of the group lives its number
            // is not given to another, so this hits nobody else.
            self.signal(Signal::KILL);
        }
        let _ = timeout(LAST_STDERR, &mut self.drain).await;
        self.drain.abort();
        Ok(())
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // ESRCH: nobody is left in the group.
            let _ = kill_process_group(group, signal);
        }
    }

    async fn gone_within(&mut self, wait: Duration) -> io::Result<bool> {
        if self.exit.is_none()
            && let Ok(status) = timeout(wait, self.child.wait()).await
        {
            self.exit = Some(status?);
        }
        if self.exit.is_none()
            && let Some(ended) = self.guard.as_mut().and_then(Line::ended)
        {
            // Its guard is still clearing away.
            self.exit = Some(ExitStatus::from_raw(ended.status));
        }
        Ok(self.exit.is_some())
    }

    /// Its output or input ended: has the program, too?
    async fn ended(&mut self, stream: Stream, partial: Vec<u8>) -> io::Result<Fault> {
        self.gone_within(EXIT_AFTER_EOF).await?;
        if self.exit.is_none()
            && let (Some(guard), Some(leader)) = (&self.guard, self.group)
            && guard.bot_has_ended(leader)
        {
            // It has all the more to tell: it ends first what the bot had started.
            self.gone_within(REPORT).await?;
        }
        Ok(match self.exit {
            Some(status) => Fault::Exited {
                exit: self.describe(status),
                partial,
            },
            None => Fault::Closed { stream, partial },
        })
    }

    /// Finds out what a bot was doing while its time ran out.
    async fn timed_out(
        &mut self,
        request: &str,
        allowance: Allowance,
        fresh: bool,
        partial: Vec<u8>,
    ) -> Fault {
        let doing = self.doing();
        // What comes by itself now was late; what comes when its input is closed was stuck in
        // its buffer: a well-meaning program then ends, and empties it.
        let late = self.channel.overhear(LATE).await;
        self.channel.close_writer();
        let afterwards = if late.is_empty() {
            self.channel.overhear(LAST_WORDS).await
        } else {
            Vec::new()
        };
        let came = if !partial.is_empty() {
            Came::Partial(partial)
        } else if let Some(line) = first_line(&late) {
            Came::Late(line.to_vec(), allowance.total(fresh) + LATE)
        } else {
            Came::Nothing(doing)
        };
        Fault::Timeout(Box::new(Timeout {
            asked: request.trim_end_matches('\n').to_owned(),
            allowance,
            fresh,
            came,
            afterwards,
            unwatched: Duration::ZERO,
            language: self.language,
        }))
    }

    /// How it ended, in words. `status` is that of the bot, or of its guard.
    fn describe(&mut self, status: ExitStatus) -> Exit {
        let Some(guard) = &mut self.guard else {
            return describe(status);
        };
        if let Some(limit) = guard.exceeded() {
            return Exit::Limit(limit);
        }
        // Without a report the guard itself was killed.
        let ended = guard.ended();
        let exit = describe(ended.map_or(status, |ended| ExitStatus::from_raw(ended.status)));
        if guard.tried_network() {
            Exit::Refused(Box::new(exit), "open a network connection")
        } else {
            exit
        }
    }

    /// What the program is doing, as far as this system tells.
    fn doing(&self) -> Doing {
        let state = self
            .group
            .map(|leader| {
                self.guard
                    .as_ref()
                    .map_or(leader, |guard| guard.bot(leader))
            })
            .and_then(|pid| fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok())
            // The name before the state is in parentheses, and may hold some itself.
            .and_then(|stat| stat.rsplit_once(") ")?.1.chars().next());
        let unread = self
            .channel
            .writer()
            .and_then(|stdin| rustix::io::ioctl_fionread(stdin).ok())
            .is_some_and(|bytes| bytes > 0);
        match state {
            Some('T' | 't') => Doing::Stopped,
            _ if unread => Doing::NotReading,
            Some('R' | 'D') => Doing::Computing,
            _ => Doing::Waiting,
        }
    }
}

impl Player for Process {
    async fn ask(
        &mut self,
        request: &str,
        allowance: Allowance,
    ) -> io::Result<Result<Reply<'_>, Fault>> {
        let fresh = self.fresh;
        let limit = allowance.total(fresh);
        let mut asked = Instant::now();
        self.meter.asked(asked.into_std());
        self.asked = true;
        if self.freeze == Freeze::Stopped {
            self.thaw();
            asked = Instant::now();
        }
        let exchanged = {
            let mut exchange = pin!(self.channel.exchange_from(asked, request.as_bytes(), limit));
            let mut exit = pin!(self.child.wait());
            let over = self.exit.is_some();
            poll_fn(|cx| {
                // What it wrote before it ended counts, so the pipe is looked at first.
                if let Poll::Ready(exchanged) = exchange.as_mut().poll(cx) {
                    return Poll::Ready(exchanged.map(Ok));
                }
                // A child of the bot may hold the pipe open when the bot is gone.
                if over {
                    return Poll::Pending;
                }
                exit.as_mut().poll(cx).map(|status| status.map(Err))
            })
            .await?
        };
        let exchanged = match exchanged {
            Ok(exchanged) => exchanged,
            Err(status) => {
                self.exit = Some(status);
                return Ok(Err(Fault::Exited {
                    exit: self.describe(status),
                    partial: self.channel.partial().to_vec(),
                }));
            }
        };
        let trouble = match exchanged {
            Ok(exchange) => {
                self.fresh = false;
                self.freeze();
                self.meter.answered((asked + exchange.elapsed).into_std());
                self.asked = false;
                return Ok(Ok(Reply {
                    line: self.channel.line(exchange),
                    elapsed: exchange.elapsed,
                    fresh,
                }));
            }
            Err(trouble) => trouble,
        };
        Ok(Err(match trouble {
            Trouble::Early { previous, output } => Fault::ExtraOutput {
                first: previous,
                second: output,
                early: true,
            },
            Trouble::Extra { first, rest } => Fault::ExtraOutput {
                first,
                second: rest,
                early: false,
            },
            Trouble::Timeout { partial } => {
                self.timed_out(request, allowance, fresh, partial).await
            }
            Trouble::Late { line, elapsed } => Fault::Timeout(Box::new(Timeout {
                asked: request.trim_end_matches('\n').to_owned(),
                allowance,
                fresh,
                came: Came::Late(line, elapsed),
                afterwards: Vec::new(),
                // Had the referee been running, its timer would have gone off before.
                unwatched: elapsed.saturating_sub(limit),
                language: self.language,
            })),
            Trouble::TooLong { start } => Fault::LineTooLong { start },
            Trouble::Eof { partial } => self.ended(Stream::Output, partial).await?,
            Trouble::InputClosed => self.ended(Stream::Input, Vec::new()).await?,
        }))
    }

    async fn overhear(&mut self) -> Vec<u8> {
        self.thaw();
        self.channel.overhear(SECOND_LINE).await
    }
}

/// The first line, without its newline; `None` when it is not complete.
fn first_line(bytes: &[u8]) -> Option<&[u8]> {
    let newline = bytes.iter().position(|&byte| byte == b'\n')?;
    Some(&bytes[..newline])
}

/// A status in words.
fn describe(status: ExitStatus) -> Exit {
    if let Some(code) = status.code() {
        return Exit::Code(code);
    }
    // The standard library writes `signal: 11 (SIGSEGV) (core dumped)`.
    let text = status.to_string();
    let name = text.split(['(', ')']).find(|part| part.starts_with("SIG"));
    Exit::Signal(name.map_or_else(|| status.signal().unwrap_or(0).to_string(), str::to_owned))
}
