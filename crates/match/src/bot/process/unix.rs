//! Bots on Linux, macOS and the BSDs: pipes, and process groups.
//!
//! Every bot leads a process group, by which it is stopped with its children. It is started without
//! `pre_exec`, which lets the standard library use `posix_spawn`.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, ready};
use std::thread::available_parallelism;

use rustix::io::Errno;
use rustix::process::{Signal, getpgid, kill_process, kill_process_group};
use rustix::thread::sched_yield;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::coop::poll_proceed;

use super::{Pipes, spawn};
use crate::bot::children::OwnedChild;
use crate::bot::fault::Exit;
use crate::bot::spec::Program;
use crate::bot::stderr::Pipe;
use crate::protocol::env;
use referee_host::system::Pid;
use referee_sandbox::procfs;
use referee_sandbox::supervisor::watch;

impl Pipes {
    /// A supervisor is not given the bot's `stdin`.
    pub(super) fn of(child: &mut Child, stdin: Option<ChildStdin>) -> io::Result<Self> {
        // Whether the referee and its bots have only one CPU. Read once: the number is in files of control groups.
        static SHARED: LazyLock<bool> =
            LazyLock::new(|| available_parallelism().is_ok_and(|number| number.get() == 1));
        let stdin = stdin.or_else(|| child.stdin.take());
        let (Some(stdin), Some(stdout), Some(errors)) =
            (stdin, child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the pipes of a new process are missing"));
        };
        let asked = SHARED.then(Asked::default);
        Ok(Self {
            requests: RequestPipe {
                pipe: stdin,
                asked: asked.clone(),
            },
            answers: AnswerPipe {
                pipe: stdout,
                asked,
            },
            errors: Pipe::from_owned_fd(errors.into_owned_fd()?)?,
        })
    }
}

/// Without a sandbox. Limits are enforced by sandboxes only.
pub(super) fn start(
    command: &mut Command,
    program: &Program,
) -> io::Result<((Child, OwnedChild), Pipes, Group)> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let seed = command.as_std().get_envs().find_map(|(name, value)| {
        let value = value.filter(|_| name == env::SEED)?.to_str()?;
        Some(format!("{}={value}", env::SEED))
    });
    let watched = seed.map(watch::starting);
    let (mut child, owned) = spawn(command, program)?;
    if let Some(watched) = watched {
        watched.started(owned.pid());
    }
    let pipes = Pipes::of(&mut child, None)?;
    procfs::kill_first(Some(owned.pid()));
    let group = Group(owned.pid());
    Ok(((child, owned), pipes, group))
}

/// The number is the leader's process id.
#[derive(Debug)]
pub(super) struct Group(Pid);

impl Group {
    pub(super) const fn led_by(leader: Pid) -> Self {
        Self(leader)
    }

    pub(super) const fn leader(&self) -> Pid {
        self.0
    }

    pub(super) fn set_stopped(&self, stopped: bool) {
        self.signal(if stopped { Signal::STOP } else { Signal::CONT });
    }

    /// Sends SIGTERM, and to a leader that `lives` outside the group.
    pub(super) fn ask_to_end(&self, lives: bool) {
        self.signal_all(Signal::TERM, lives);
        // A stopped process acts on SIGTERM once it continues.
        self.signal_all(Signal::CONT, lives);
    }

    /// Kills all, and a leader that `lives` outside the group.
    pub(super) fn end(&self, lives: bool) {
        self.signal_all(Signal::KILL, lives);
    }

    fn signal(&self, signal: Signal) {
        // ESRCH: the group is empty.
        let _ = kill_process_group(self.0, signal);
    }

    fn signal_all(&self, signal: Signal, lives: bool) {
        self.signal(signal);
        // Its number is not reused until it is reaped.
        if lives && getpgid(Some(self.0)) != Ok(self.0) {
            // EPERM: it has another user's rights.
            let _ = kill_process(self.0, signal);
        }
    }
}

pub(super) fn exit_status(status: i32) -> ExitStatus {
    ExitStatus::from_raw(status)
}

pub(super) fn describe(status: ExitStatus) -> Exit {
    if let Some(code) = status.code() {
        return Exit::Code(code);
    }
    // The standard library writes `signal: 11 (SIGSEGV) (core dumped)`.
    let text = status.to_string();
    let name = text.split(['(', ')']).find(|part| part.starts_with("SIG"));
    Exit::Signal(name.map_or_else(|| status.signal().unwrap_or(0).to_string(), str::to_owned))
}

/// Whether a question was written and the bot has not had the CPU since.
type Asked = Arc<AtomicBool>;

#[derive(Debug)]
pub(super) struct RequestPipe {
    pipe: ChildStdin,
    asked: Option<Asked>,
}

#[derive(Debug)]
pub(super) struct AnswerPipe {
    pipe: ChildStdout,
    asked: Option<Asked>,
}

/// The bytes that the bot has not read; none where the system does not say.
pub(super) fn unread(requests: &RequestPipe) -> u64 {
    rustix::io::ioctl_fionread(&requests.pipe).unwrap_or(0)
}

impl AsyncWrite for RequestPipe {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.pipe).poll_write(cx, bytes));
        if let Some(asked) = &this.asked {
            asked.store(true, Ordering::Relaxed);
        }
        Poll::Ready(written)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().pipe).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().pipe).poll_shutdown(cx)
    }
}

impl AnswerPipe {
    /// Yields to the bot, and reads its answer if there is one.
    fn read_at_once(
        cx: &mut Context<'_>,
        pipe: &ChildStdout,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<bool>> {
        // Now and then the runtime needs its turn.
        let turn = ready!(poll_proceed(cx));
        sched_yield();
        match rustix::io::read(pipe, buffer.initialize_unfilled()) {
            Ok(count) => {
                turn.made_progress();
                buffer.advance(count);
                Poll::Ready(Ok(true))
            }
            Err(Errno::AGAIN | Errno::INTR) => Poll::Ready(Ok(false)),
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }
}

impl AsyncRead for AnswerPipe {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(asked) = &this.asked
            && asked.load(Ordering::Relaxed)
        {
            let read = ready!(Self::read_at_once(cx, &this.pipe, buffer))?;
            asked.store(false, Ordering::Relaxed);
            if read {
                return Poll::Ready(Ok(()));
            }
        }
        Pin::new(&mut this.pipe).poll_read(cx, buffer)
    }
}
