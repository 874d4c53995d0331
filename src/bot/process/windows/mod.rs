//! Bots on Windows: pipes, and job objects.
//!
//! Every bot has a job, which kills all its processes, bounds and counts their usage. A job is
//! closed with the referee, however that exits.

mod job;
mod pipes;

use std::io;
use std::process::ExitStatus;

use tokio::process::{Child, Command};
use windows_sys::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, CREATE_SUSPENDED};

use self::job::Job;
pub(super) use self::pipes::{AnswerPipe, ErrorPipe, RequestPipe};
use crate::bot::fault::Exit;
use crate::sandbox::ResourceLimits;
use crate::system::Pid;

#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) requests: RequestPipe,
    pub(super) answers: AnswerPipe,
    pub(super) errors: ErrorPipe,
}

/// In a job that enforces `limits`.
pub(super) fn start<T>(
    command: &mut Command,
    limits: Option<ResourceLimits>,
    spawn: impl FnOnce(&mut Command) -> io::Result<(Child, T)>,
) -> io::Result<((Child, T), Pipes, Group)> {
    let pipe_failed = |error| failed("its pipes cannot be made", &error);
    let job = Job::new(limits).map_err(|error| failed("its job cannot be made", &error))?;
    let pipes = Pipes {
        requests: RequestPipe::new(command).map_err(pipe_failed)?,
        answers: AnswerPipe::new(|end| command.stdout(end)).map_err(pipe_failed)?,
        errors: ErrorPipe::new(|end| command.stderr(end)).map_err(pipe_failed)?,
    };
    // It runs no instruction before it is in the job. Ctrl-C is for the referee, which then stops
    // its bots.
    command.creation_flags(CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP);
    let (child, owned) = spawn(command)?;
    // The command keeps the bot's ends of the pipes open.
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let missing = || io::Error::other("the id of a new process is missing");
    let (Some(handle), Some(id)) = (child.raw_handle(), child.id()) else {
        return Err(missing());
    };
    let leader = Pid::from_raw(id.cast_signed()).ok_or_else(missing)?;
    // Dropping the child kills it if this fails.
    job.take_in(handle)
        .map_err(|error| failed("it cannot be taken into its job", &error))?;
    job::resume(id).map_err(|error| failed("it cannot go on", &error))?;
    let group = Group {
        leader,
        job: Some(job),
    };
    Ok(((child, owned), pipes, group))
}

fn failed(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
    job: Option<Job>,
}

impl Group {
    /// A process alone.
    pub(super) const fn led_by(leader: Pid) -> Self {
        Self { leader, job: None }
    }

    pub(super) const fn leader(&self) -> Pid {
        self.leader
    }

    /// Processes cannot be stopped here.
    #[expect(clippy::unused_self, reason = "as on other systems")]
    pub(super) const fn suspend(&self) {}

    #[expect(clippy::unused_self, reason = "as on other systems")]
    pub(super) const fn resume(&self) {}

    /// The end of their input was the request.
    #[expect(clippy::unused_self, reason = "as on other systems")]
    pub(super) const fn ask_to_end(&self, _: bool) {}

    pub(super) fn end(&self, _: bool) {
        if let Some(job) = &self.job {
            job.end();
        }
    }
}

pub(super) fn exit_status(status: i32) -> ExitStatus {
    use std::os::windows::process::ExitStatusExt as _;
    ExitStatus::from_raw(status.cast_unsigned())
}

pub(super) fn describe(status: ExitStatus) -> Exit {
    let code = status.code().unwrap_or(0);
    let name = match code.cast_unsigned() {
        0xC000_0005 => "an access violation (0xC0000005)",
        0xC000_00FD => "a stack overflow (0xC00000FD)",
        0xC000_0094 => "a division by zero (0xC0000094)",
        0xC000_001D => "an illegal instruction (0xC000001D)",
        0xC000_0409 => "an abort (0xC0000409)",
        0xC000_0374 => "a damaged heap (0xC0000374)",
        0xC000_0135 => "a missing DLL (0xC0000135)",
        0xC000_013A => "Ctrl-C (0xC000013A)",
        code @ 0xC000_0000.. => return Exit::Signal(format!("an exception (0x{code:08X})")),
        _ => return Exit::Code(code),
    };
    Exit::Signal(name.to_owned())
}
