//! The referee's side of a supervisor.

use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{ChildStdin, Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;
use tokio::io::Interest;

use super::COMMAND;
use super::kept_box::KeptBox;
use super::message::{SpawnRequest, SupervisorEvent, receive_some, send_descriptors};
use crate::backend::Backend;
use crate::cgroup::{Group, OpenAccount};
use crate::limits::ExitReport;
use crate::procfs;
use crate::settings::Settings;
use crate::system::most_open_files;

/// The most boxes of bubblewrap kept without a process in them, four descriptors each; fewer where
/// the referee may have few files open.
const MOST_BOXES: usize = 48;

/// Boxes without a process in them, with what they were built for; the last used is the last.
#[derive(Debug, Default)]
pub struct Boxes(Mutex<Vec<(Backend, KeptBox)>>);

impl Boxes {
    fn take(&self, backend: &Backend) -> Option<KeptBox> {
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = boxes.iter().rposition(|(built, _)| built == backend)?;
        Some(boxes.remove(at).1)
    }

    fn put(&self, backend: &Backend, kept: KeptBox) {
        let files = most_open_files().and_then(|files| usize::try_from(files / 16).ok());
        let most = files.unwrap_or(MOST_BOXES).min(MOST_BOXES);
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        boxes.push((backend.clone(), kept));
        if boxes.len() > most {
            boxes.remove(0);
        }
    }
}

pub(crate) fn launch<C>(
    settings: &Arc<Settings>,
    request: &SpawnRequest,
    spawn: impl FnOnce(Command) -> io::Result<C>,
) -> io::Result<(C, ChildStdin, SupervisorConnection)> {
    let kept = settings.boxes.take(&request.backend);
    let (child, stdin, control) = start(&settings.request.referee, request, kept.as_ref(), spawn)?;
    control.set_nonblocking(true)?;
    let connection = SupervisorConnection {
        control: tokio::net::UnixStream::from_std(control)?,
        inbox: Inbox::default(),
        report: None,
        freezer: None,
        kept,
        backend: request.backend.clone(),
        settings: Arc::clone(settings),
    };
    Ok((child, stdin, connection))
}

fn start<C>(
    referee: &Path,
    request: &SpawnRequest,
    kept: Option<&KeptBox>,
    spawn: impl FnOnce(Command) -> io::Result<C>,
) -> io::Result<(C, ChildStdin, UnixStream)> {
    let (control, theirs) = UnixStream::pair()?;
    let (input, stdin) = pipe_with(PipeFlags::CLOEXEC)?;
    let mut command = Command::new(referee);
    command
        .arg(COMMAND)
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C is for the referee, which then stops its supervisors.
        .process_group(0);
    let child = spawn(command)?;
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    let mut descriptors = vec![input.as_fd()];
    descriptors.extend(kept.into_iter().flat_map(KeptBox::descriptors));
    send_descriptors(&control, &line, &descriptors)?;
    Ok((child, ChildStdin::from(stdin), control))
}

#[derive(Debug, Default)]
struct Inbox {
    bytes: Vec<u8>,
    /// Descriptors of a new box.
    descriptors: Vec<OwnedFd>,
}

impl Inbox {
    /// What has arrived, as far as one call reads it.
    fn read(&mut self, control: &tokio::net::UnixStream) -> io::Result<usize> {
        receive_some(control, &mut self.bytes, &mut self.descriptors)
    }

    /// The next event, once its line is complete.
    fn next(&mut self) -> Option<io::Result<SupervisorEvent>> {
        let end = self.bytes.iter().position(|&byte| byte == b'\n')?;
        let line: Vec<u8> = self.bytes.drain(..=end).collect();
        Some(serde_json::from_slice(&line).map_err(io::Error::from))
    }
}

/// Runs a program in a sandbox to its end, without input: what it and bubblewrap wrote, and the
/// last event. Blocks; for probes.
pub(crate) fn run_to_end(
    referee: &Path,
    request: &SpawnRequest,
) -> io::Result<(Output, Option<SupervisorEvent>)> {
    let (child, stdin, mut control) = start(referee, request, None, |mut command| command.spawn())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    let mut inbox = Inbox::default();
    control.read_to_end(&mut inbox.bytes)?;
    let mut last = None;
    while let Some(event) = inbox.next() {
        last = Some(event?);
    }
    Ok((output, last))
}

#[derive(Debug)]
pub struct SupervisorConnection {
    control: tokio::net::UnixStream,
    inbox: Inbox,
    report: Option<ExitReport>,
    /// Stops the bot's processes; `None` where only signals do.
    freezer: Option<Group>,
    kept: Option<KeptBox>,
    backend: Backend,
    settings: Arc<Settings>,
}

impl SupervisorConnection {
    /// Waits until the bot runs: its process group, and what counts the CPU time of its processes, if anything does.
    /// The error says why it does not run.
    pub async fn ready(&mut self) -> io::Result<(Option<Pid>, Option<OpenAccount>)> {
        loop {
            match self.inbox.next().transpose()? {
                Some(SupervisorEvent::Ready {
                    pid,
                    freezer,
                    account,
                }) => {
                    let built = KeptBox::of(std::mem::take(&mut self.inbox.descriptors));
                    self.kept = built.or(self.kept.take());
                    self.freezer = freezer;
                    let account = account.map(|account| account.open_account());
                    return Ok((Pid::from_raw(pid), account.transpose()?.flatten()));
                }
                Some(SupervisorEvent::Failed(failure)) => return Err(failure.into()),
                Some(SupervisorEvent::Ended(report)) => self.report = Some(report),
                None => {
                    let Self { control, inbox, .. } = self;
                    let read = || inbox.read(control);
                    if control.async_io(Interest::READABLE, read).await? == 0 {
                        return Err(io::Error::other("its supervisor has ended"));
                    }
                }
            }
        }
    }

    /// Stops or continues the bot's processes by the kernel; `false` where it cannot.
    pub fn set_frozen(&self, frozen: bool) -> bool {
        // An error means that the bot has exited and its group is gone.
        let freezer = self.freezer.as_ref();
        freezer.map(|group| group.set_frozen(frozen)).is_some()
    }

    /// Tells the supervisor to kill the bot with all its processes.
    pub fn end(&self) {
        // ENOTCONN: the supervisor is gone.
        let _ = rustix::net::shutdown(&self.control, rustix::net::Shutdown::Write);
    }

    /// How the bot ended, once reported. At least one system call until then.
    pub fn exit_report(&mut self) -> Option<ExitReport> {
        // Not by the runtime, which may not have noticed yet what has arrived.
        while self.report.is_none() && self.inbox.read(&self.control).is_ok_and(|count| count > 0) {
            while let Some(Ok(event)) = self.inbox.next() {
                if let SupervisorEvent::Ended(report) = event {
                    self.report = Some(report);
                }
            }
        }
        self.report
    }

    pub const fn helpers(&self) -> usize {
        self.backend.helpers()
    }

    /// The bot's own process, below the group leader and the helpers. `None` when one of those has no
    /// child any more.
    pub fn bot(&self, leader: Pid) -> Option<Pid> {
        (0..self.helpers()).try_fold(leader, |pid, _| procfs::children(pid).first().copied())
    }
}

impl Drop for SupervisorConnection {
    fn drop(&mut self) {
        // Once its end is reported, no process is left in its box.
        if self.exit_report().is_some()
            && let Some(kept) = self.kept.take()
        {
            self.settings.boxes.put(&self.backend, kept);
        }
    }
}
