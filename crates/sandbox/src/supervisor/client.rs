//! The referee's side of a supervisor.

use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::thread::Builder;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
};
use tokio::io::AsyncReadExt as _;
use tokio::io::unix::AsyncFd;

use super::fork_server::ForkServer;
use super::message::{SpawnRequest, SupervisorEvent};
use super::sys;
use crate::cgroup::{Freezer, OpenAccount};
use crate::limits::{ExitReport, ResourceLimits};
use crate::procfs::{self, Stat};

/// A supervisor that has been started.
pub struct Launch {
    /// A child of this process.
    pub supervisor: Pid,
    /// The bot's input.
    pub stdin: ChildStdin,
    /// The bot's output.
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    pub control: UnixStream,
}

/// Has the fork server start a supervisor.
pub fn launch(server: &ForkServer, request: &SpawnRequest) -> io::Result<Launch> {
    match launch_once(server, request) {
        // The server was killed. Anything it started for this request has lost its connection.
        Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {
            launch_once(server, request)
        }
        launched => launched,
    }
}

fn launch_once(server: &ForkServer, request: &SpawnRequest) -> io::Result<Launch> {
    let (control, theirs) = UnixStream::pair()?;
    let (input, stdin) = pipe_with(PipeFlags::CLOEXEC)?;
    let (stdout, output) = pipe_with(PipeFlags::CLOEXEC)?;
    let (stderr, errors) = pipe_with(PipeFlags::CLOEXEC)?;
    let descriptors = [
        theirs.as_fd(),
        input.as_fd(),
        output.as_fd(),
        errors.as_fd(),
    ];
    Ok(Launch {
        supervisor: server.fork(request, &descriptors)?,
        stdin: ChildStdin::from(stdin),
        stdout: ChildStdout::from(stdout),
        stderr: ChildStderr::from(stderr),
        control,
    })
}

/// Splits a supervisor's bytes into lines.
#[derive(Debug, Default)]
struct Inbox(Vec<u8>);

impl Inbox {
    fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next event, once its line is complete.
    fn next(&mut self) -> Option<io::Result<SupervisorEvent>> {
        let end = self.0.iter().position(|&byte| byte == b'\n')?;
        let line: Vec<u8> = self.0.drain(..=end).collect();
        Some(serde_json::from_slice(&line).map_err(io::Error::from))
    }
}

/// A finished run in a sandbox.
pub struct FinishedRun {
    /// The program's output.
    pub stdout: Vec<u8>,
    /// Stderr of the program or bubblewrap.
    pub stderr: Vec<u8>,
    /// The supervisor's last report.
    pub last: Option<SupervisorEvent>,
}

/// Runs a program in a sandbox to its end, without input. Blocks; for probes.
pub fn run_to_end(server: &ForkServer, request: &SpawnRequest) -> io::Result<FinishedRun> {
    let Launch {
        supervisor,
        stdin,
        stdout,
        stderr,
        mut control,
    } = launch(server, request)?;
    drop(stdin);
    let (stdout, stderr) = std::thread::scope(|scope| {
        // Thread creation may fail.
        let errors = Builder::new().spawn_scoped(scope, || read_all(stderr))?;
        let output = read_all(stdout);
        Ok::<_, io::Error>((output, errors.join().unwrap_or_default()))
    })?;
    wait_for(supervisor)?;
    let mut reports = Vec::new();
    control.read_to_end(&mut reports)?;
    let mut inbox = Inbox(reports);
    let mut last = None;
    while let Some(event) = inbox.next() {
        last = Some(event?);
    }
    Ok(FinishedRun {
        stdout,
        stderr,
        last,
    })
}

/// Reads to the end or an error.
fn read_all(mut from: impl io::Read) -> Vec<u8> {
    let mut all = Vec::new();
    let _ = from.read_to_end(&mut all);
    all
}

/// The connection to a running supervisor.
#[derive(Debug)]
pub struct SupervisorConnection {
    control: tokio::net::UnixStream,
    inbox: Inbox,
    report: Option<ExitReport>,
    limits: ResourceLimits,
    /// Stops the bot's processes; `None` where only signals do.
    freezer: Option<Freezer>,
    /// Counts their CPU time; until taken.
    account: Option<OpenAccount>,
    /// Helper processes between the supervisor and the bot.
    helpers: usize,
}

impl SupervisorConnection {
    pub fn new(control: UnixStream, request: &SpawnRequest) -> io::Result<Self> {
        control.set_nonblocking(true)?;
        Ok(Self {
            control: tokio::net::UnixStream::from_std(control)?,
            inbox: Inbox::default(),
            report: None,
            limits: request.limits,
            freezer: None,
            account: None,
            helpers: request.backend.helpers(),
        })
    }

    /// Waits until the bot runs; its process group. The error says why it does not.
    pub async fn ready(&mut self) -> io::Result<Option<Pid>> {
        loop {
            match self.inbox.next().transpose()? {
                Some(SupervisorEvent::Ready {
                    pid,
                    freezer,
                    account,
                }) => {
                    self.freezer = freezer;
                    self.account = account.map(|account| account.open()).transpose()?;
                    return Ok(Pid::from_raw(pid));
                }
                Some(SupervisorEvent::Failed { cause, errno }) => {
                    return Err(
                        errno.map_or_else(|| io::Error::other(cause), io::Error::from_raw_os_error)
                    );
                }
                Some(SupervisorEvent::Ended(report)) => self.report = Some(report),
                None => {
                    let mut buffer = [0; 1024];
                    let count = self.control.read(&mut buffer).await?;
                    if count == 0 {
                        return Err(io::Error::other("its supervisor has ended"));
                    }
                    self.inbox.add(&buffer[..count]);
                }
            }
        }
    }

    /// Counts the CPU time of the bot's processes, once it runs; `None` where nothing does.
    pub const fn take_account(&mut self) -> Option<OpenAccount> {
        self.account.take()
    }

    /// Stops or continues the bot's processes by the kernel; `false` where it cannot.
    pub fn set_frozen(&self, frozen: bool) -> bool {
        // An error means that the bot has exited and its group is gone.
        self.freezer
            .as_ref()
            .map(|freezer| freezer.set(frozen))
            .is_some()
    }

    /// Tells the supervisor to kill the bot with all its processes.
    pub fn end(&self) {
        // ENOTCONN: the supervisor is gone.
        let _ = rustix::net::shutdown(&self.control, rustix::net::Shutdown::Write);
    }

    /// How the bot ended, once reported. At least one system call until then.
    pub fn exit_report(&mut self) -> Option<ExitReport> {
        let mut buffer = [0; 1024];
        while self.report.is_none() {
            // Not by the runtime, which may not have noticed yet what has arrived.
            match rustix::io::read(&self.control, &mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(count) => self.inbox.add(&buffer[..count]),
            }
            while let Some(Ok(event)) = self.inbox.next() {
                if let SupervisorEvent::Ended(report) = event {
                    self.report = Some(report);
                }
            }
        }
        self.report
    }

    /// Helper processes between the supervisor and the bot.
    pub const fn helpers(&self) -> usize {
        self.helpers
    }

    /// The bot's own process, below the group leader and the helpers. `None` when one of those has no
    /// child any more.
    pub fn bot(&self, leader: Pid) -> Option<Pid> {
        (0..self.helpers).try_fold(leader, |pid, _| procfs::children(pid).first().copied())
    }

    /// Whether the bot has exited, although not yet reported.
    pub fn bot_has_ended(&self, leader: Pid) -> bool {
        let stat = self.bot(leader).and_then(Stat::read);
        stat.is_none_or(|stat| stat.has_ended())
    }

    /// Its limits.
    pub const fn limits(&self) -> &ResourceLimits {
        &self.limits
    }
}

/// A supervisor that runs, or has been waited for.
#[derive(Debug)]
pub struct Forked {
    pid: Pid,
    end: AsyncFd<OwnedFd>,
    status: Option<ExitStatus>,
}

impl Forked {
    /// For a child of this process. Must be called within a tokio runtime.
    pub fn new(pid: Pid) -> io::Result<Self> {
        Ok(Self {
            pid,
            end: sys::notice(pidfd_open(pid, PidfdFlags::empty())?)?,
            status: None,
        })
    }

    /// Its process id, until it has been waited for.
    pub fn id(&self) -> Option<u32> {
        let pid = self.pid.as_raw_pid().cast_unsigned();
        self.status.is_none().then_some(pid)
    }

    /// Waits for its exit. Cancel-safe.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.status {
                return Ok(status);
            }
            let mut ended = self.end.readable().await?;
            self.status = reap(self.end.as_fd())?;
            if self.status.is_none() {
                ended.clear_ready();
            }
        }
    }

    /// Sends SIGKILL.
    pub fn start_kill(&self) -> io::Result<()> {
        if self.status.is_none() {
            pidfd_send_signal(&self.end, Signal::KILL)?;
        }
        Ok(())
    }
}

/// The status of a child if it has exited; it is then reaped.
fn reap(end: BorrowedFd<'_>) -> io::Result<Option<ExitStatus>> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    let ended = waitid(WaitId::PidFd(end), options)?;
    Ok(ended.map(|status| {
        let code = status.exit_status().map(|code| code << 8);
        ExitStatus::from_raw(code.or(status.terminating_signal()).unwrap_or(0))
    }))
}

pub(super) fn wait_for(pid: Pid) -> io::Result<()> {
    let end = pidfd_open(pid, PidfdFlags::empty())?;
    waitid(WaitId::PidFd(end.as_fd()), WaitIdOptions::EXITED)?;
    Ok(())
}
