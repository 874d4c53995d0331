//! The referee's side of a guard.

use std::fs;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;
use tokio::io::AsyncReadExt as _;

use super::order::{Bounds, Ended, Exceeded, News, Order, Wall};
use super::wire::send_descriptor;
use super::{COMMAND, tree};
use crate::text::size;

/// A guard about to be started.
pub(crate) struct Launch {
    /// Starts the guard. Its standard output and error are the bot's.
    pub(crate) command: Command,
    /// What the bot reads from.
    pub(crate) stdin: ChildStdin,
    /// Leads to the guard.
    pub(crate) control: UnixStream,
}

/// Prepares a guard, which will find its order waiting. `referee` is this program's file.
pub(crate) fn launch(referee: &Path, order: &Order) -> io::Result<Launch> {
    let (control, theirs) = UnixStream::pair()?;
    let (input, stdin) = pipe_with(PipeFlags::CLOEXEC)?;
    send(&control, order, &input)?;
    let mut command = Command::new(referee);
    command
        .arg(COMMAND)
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C is for the referee, which then ends its guards.
        .process_group(0);
    Ok(Launch {
        command,
        stdin: ChildStdin::from(stdin),
        control,
    })
}

fn send(control: &UnixStream, order: &Order, input: &OwnedFd) -> io::Result<()> {
    let mut line = serde_json::to_vec(order)?;
    line.push(b'\n');
    // Nobody reads yet: more than the socket takes would never be sent.
    control.set_nonblocking(true)?;
    send_descriptor(control, &line, input).map_err(|_| too_long())?;
    control.set_nonblocking(false)
}

fn too_long() -> io::Error {
    io::Error::new(
        io::ErrorKind::ArgumentListTooLong,
        "the command, its environment and the exposed paths are too long together",
    )
}

/// Takes whole lines off what has come from a guard.
#[derive(Debug, Default)]
pub(crate) struct Inbox(Vec<u8>);

impl Inbox {
    /// Adds what came.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next line.
    pub(crate) fn next(&mut self) -> Option<io::Result<News>> {
        let end = self.0.iter().position(|&byte| byte == b'\n')?;
        let line: Vec<u8> = self.0.drain(..=end).collect();
        Some(serde_json::from_slice(&line).map_err(io::Error::from))
    }
}

/// Runs a program in a sandbox to its end, without input: what it printed, what it or bubblewrap
/// wrote to stderr, and how it went. Waits; for probes.
pub(crate) fn run_to_end(
    referee: &Path,
    order: &Order,
) -> io::Result<(Vec<u8>, Vec<u8>, Option<News>)> {
    let Launch {
        mut command,
        stdin,
        mut control,
    } = launch(referee, order)?;
    drop(stdin);
    let child = command.spawn()?;
    // Its own end of the socket must be the only one.
    drop(command);
    let output = child.wait_with_output()?;
    let mut told = Vec::new();
    control.read_to_end(&mut told)?;
    let mut inbox = Inbox(told);
    let mut last = None;
    while let Some(news) = inbox.next() {
        last = Some(news?);
    }
    Ok((output.stdout, output.stderr, last))
}

/// The line to a running guard.
#[derive(Debug)]
pub(crate) struct Line {
    control: tokio::net::UnixStream,
    inbox: Inbox,
    ended: Option<Ended>,
    bounds: Bounds,
    /// Processes between the guard and the bot.
    helpers: usize,
}

impl Line {
    /// Must be called within a tokio runtime.
    pub(crate) fn new(control: UnixStream, order: &Order) -> io::Result<Self> {
        control.set_nonblocking(true)?;
        Ok(Self {
            control: tokio::net::UnixStream::from_std(control)?,
            inbox: Inbox::default(),
            ended: None,
            bounds: order.bounds,
            helpers: match order.wall {
                Wall::Landlock { .. } => 0,
                Wall::Bwrap { .. } => 2,
            },
        })
    }

    /// Waits until the bot runs; its process group. The error says why it does not.
    pub(crate) async fn ready(&mut self) -> io::Result<Option<Pid>> {
        loop {
            match self.inbox.next().transpose()? {
                Some(News::Ready { pid }) => return Ok(Pid::from_raw(pid)),
                Some(News::Failed { cause }) => return Err(io::Error::other(cause)),
                Some(News::Ended(ended)) => self.ended = Some(ended),
                None => {
                    let mut buffer = [0; 1024];
                    let count = self.control.read(&mut buffer).await?;
                    if count == 0 {
                        return Err(io::Error::other("its guard has ended"));
                    }
                    self.inbox.add(&buffer[..count]);
                }
            }
        }
    }

    /// Has the guard end the bot with all its processes.
    pub(crate) fn end(&self) {
        // ENOTCONN: the guard is gone.
        let _ = rustix::net::shutdown(&self.control, rustix::net::Shutdown::Write);
    }

    /// How the bot ended, once its guard has.
    pub(crate) fn ended(&mut self) -> Option<Ended> {
        // Everything is there already; nothing has to be waited for.
        self.hear(|control, buffer| Ok(rustix::io::read(control, buffer)?))
    }

    /// How the bot ended, if the runtime has noticed that its guard tells; asks the kernel nothing
    /// otherwise.
    pub(crate) fn heard(&mut self) -> Option<Ended> {
        self.hear(tokio::net::UnixStream::try_read)
    }

    fn hear(
        &mut self,
        read: impl Fn(&tokio::net::UnixStream, &mut [u8]) -> io::Result<usize>,
    ) -> Option<Ended> {
        let mut buffer = [0; 1024];
        while self.ended.is_none() {
            match read(&self.control, &mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(count) => self.inbox.add(&buffer[..count]),
            }
            while let Some(Ok(news)) = self.inbox.next() {
                if let News::Ended(ended) = news {
                    self.ended = Some(ended);
                }
            }
        }
        self.ended
    }

    /// How many processes are between the guard and the bot.
    pub(crate) const fn helpers(&self) -> usize {
        self.helpers
    }

    /// The bot's own process, which bubblewrap's are above.
    pub(crate) fn bot(&self, leader: Pid) -> Pid {
        let mut bot = leader;
        for _ in 0..self.helpers {
            match tree::children(&bot.as_raw_pid().to_string()).first() {
                Some(&child) => bot = child,
                None => break,
            }
        }
        bot
    }

    /// Whether the bot has ended, although its guard has not told yet.
    pub(crate) fn bot_has_ended(&self, leader: Pid) -> bool {
        const EXITING: u32 = 4;
        let mut bot = leader;
        for _ in 0..self.helpers {
            match tree::children(&bot.as_raw_pid().to_string()).first() {
                Some(&child) => bot = child,
                None => return true,
            }
        }
        let stat = fs::read_to_string(format!("/proc/{}/stat", bot.as_raw_pid()));
        let stat = stat.unwrap_or_default();
        // The name before is in parentheses, and may hold some itself.
        let mut fields = stat
            .rsplit_once(") ")
            .map_or("", |(_, rest)| rest)
            .split(' ');
        let state = fields.next().unwrap_or_default();
        let flags: u32 = fields
            .nth(5)
            .and_then(|flags| flags.parse().ok())
            .unwrap_or(0);
        matches!(state, "" | "Z" | "X") || flags & EXITING != 0
    }

    /// Whether it tried to open a network connection.
    pub(crate) fn tried_network(&mut self) -> bool {
        self.ended().is_some_and(|ended| ended.network)
    }

    /// Why the guard ended it, as the end of a sentence that begins with "it".
    pub(crate) fn exceeded(&mut self) -> Option<String> {
        const KILLED_BY_FILE_SIZE: i32 = 25;
        let bounds = self.bounds;
        let ended = self.ended()?;
        let scratch = size(bounds.scratch);
        Some(match ended.exceeded {
            Some(Exceeded::Memory) => {
                format!("used more than {} of memory", size(bounds.memory))
            }
            Some(Exceeded::Processes) => {
                format!("ran more than {} processes", bounds.processes)
            }
            Some(Exceeded::Threads) => {
                format!("ran more than {} threads", bounds.threads())
            }
            Some(Exceeded::Scratch) => {
                format!("wrote more than {scratch} into its scratch directory")
            }
            Some(Exceeded::Files) => {
                format!("made more than {} files", Bounds::FILES)
            }
            Some(Exceeded::Hidden) => {
                "hid a part of its scratch directory, which is watched".to_owned()
            }
            None if ended.status == KILLED_BY_FILE_SIZE => {
                format!("wrote a file of more than {scratch}")
            }
            None => return None,
        })
    }
}
