//! The referee's side of a supervisor.

use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{ChildStdin, Command, Output, Stdio};
use std::sync::Arc;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;
use tokio::io::Interest;

use super::kept_box::KeptBox;
use super::kept_boxes::KeptBoxes;
use super::message::{COMMAND, SupervisorEvent, receive_some, send_descriptors};
use crate::backend::SandboxBackend;
use crate::cgroup::{ControlGroup, GroupMemory, OpenAccount, OpenMemory};
use crate::limits::ExitReport;
use crate::procfs;
use crate::spawn_request::SpawnRequest;

/// Starts a supervisor, which is the program `referee`, in one of these boxes if it has one for the request.
pub(crate) fn launch<C>(
    referee: &Path,
    boxes: &Arc<KeptBoxes>,
    request: &SpawnRequest,
    spawn: impl FnOnce(Command) -> io::Result<C>,
) -> io::Result<(C, ChildStdin, SupervisorConnection)> {
    let kept = boxes.take(&request.backend);
    let (child, stdin, control) = start(referee, request, kept.as_ref(), spawn)?;
    control.set_nonblocking(true)?;
    let connection = SupervisorConnection {
        control: tokio::net::UnixStream::from_std(control)?,
        inbox: EventInbox::default(),
        report: None,
        freezer: None,
        memory: None,
        kept,
        backend: request.backend.clone(),
        boxes: Arc::clone(boxes),
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
struct EventInbox {
    bytes: Vec<u8>,
    /// Descriptors of a new box.
    descriptors: Vec<OwnedFd>,
}

impl EventInbox {
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
    let mut inbox = EventInbox::default();
    control.read_to_end(&mut inbox.bytes)?;
    let mut last_event = None;
    while let Some(event) = inbox.next() {
        last_event = Some(event?);
    }
    Ok((output, last_event))
}

#[derive(Debug)]
pub struct SupervisorConnection {
    control: tokio::net::UnixStream,
    inbox: EventInbox,
    report: Option<ExitReport>,
    /// Stops the bot's processes; `None` where only signals do.
    freezer: Option<ControlGroup>,
    /// What counts the memory of the bot's processes together, if anything does.
    memory: Option<OpenMemory>,
    kept: Option<KeptBox>,
    backend: SandboxBackend,
    boxes: Arc<KeptBoxes>,
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
                    memory,
                }) => {
                    let built = KeptBox::of(std::mem::take(&mut self.inbox.descriptors));
                    self.kept = built.or(self.kept.take());
                    self.freezer = freezer;
                    self.memory = memory.and_then(|group| group.open_memory());
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
        while self.report.is_none() {
            // It may have come with the event before.
            while let Some(Ok(event)) = self.inbox.next() {
                if let SupervisorEvent::Ended(report) = event {
                    self.report = Some(report);
                }
            }
            // Not by the runtime, which may not have noticed yet what has arrived.
            let mut is_more = || self.inbox.read(&self.control).is_ok_and(|count| count > 0);
            if self.report.is_none() && !is_more() {
                break;
            }
        }
        self.report
    }

    /// The memory of the bot's processes together until now, or until they ended; `None` where nothing
    /// counts it.
    pub fn memory(&self) -> Option<GroupMemory> {
        let ended = self.report.map(|report| GroupMemory {
            peak_kb: report.memory_kb,
            oom_kills: report.oom_kills,
        });
        ended.or_else(|| self.memory.as_ref()?.read())
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
            self.boxes.put(&self.backend, kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A bot may exit before the referee has read that it runs.
    #[tokio::test]
    async fn an_end_that_came_with_the_start_is_known() -> io::Result<()> {
        let (control, mut theirs) = UnixStream::pair()?;
        control.set_nonblocking(true)?;
        let report = ExitReport {
            status: 256,
            ..ExitReport::default()
        };
        for event in [
            SupervisorEvent::Ready {
                pid: 1,
                freezer: None,
                account: None,
                memory: None,
            },
            SupervisorEvent::Ended(report),
        ] {
            serde_json::to_writer(&theirs, &event)?;
            theirs.write_all(b"\n")?;
        }
        let mut connection = SupervisorConnection {
            control: tokio::net::UnixStream::from_std(control)?,
            inbox: EventInbox::default(),
            report: None,
            freezer: None,
            memory: None,
            kept: None,
            backend: SandboxBackend::Landlock {
                read: Vec::new(),
                scratch: "/tmp".into(),
                private_view: false,
                closed: Vec::new(),
            },
            boxes: Arc::default(),
        };
        connection.ready().await?;
        let status = connection.exit_report().map(|report| report.status);
        assert_eq!(status, Some(256));
        Ok(())
    }
}
