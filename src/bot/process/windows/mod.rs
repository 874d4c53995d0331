//! Bots on Windows: pipes, and job objects.
//!
//! Every bot is in a job of its own, which ends all its processes, bounds what they may use, and counts
//! what they have used. A job is closed with the referee, however that ends.
//!
//! - `job`: job objects
//! - `pipes`: a bot's standard streams

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

/// The referee's ends of the three pipes of a bot.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) requests: RequestPipe,
    pub(super) answers: AnswerPipe,
    pub(super) errors: ErrorPipe,
}

/// Starts a bot by `spawn`, in a job that keeps its `limits`.
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
    // It runs no instruction before it is in the job; and Ctrl-C is meant for the referee, which ends
    // its bots then.
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
    // Dropping the child ends it where this fails.
    job.take_in(handle)
        .map_err(|error| failed("it cannot be taken into its job", &error))?;
    job::resume(id).map_err(|error| failed("it cannot go on", &error))?;
    let group = Group {
        leader,
        job: Some(job),
    };
    Ok(((child, owned), pipes, group))
}

/// The error of a call, with what it was for.
fn failed(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// The processes of a bot.
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

    /// The first of its processes.
    pub(super) const fn leader(&self) -> Pid {
        self.leader
    }

    /// Nothing: processes cannot be stopped here.
    #[expect(clippy::unused_self, reason = "as on other systems")]
    pub(super) const fn suspend(&self) {}

    /// Nothing.
    #[expect(clippy::unused_self, reason = "as on other systems")]
    pub(super) const fn resume(&self) {}

    /// Nothing: the end of their input was the request.
    #[expect(clippy::unused_self, reason = "as on other systems")]
    pub(super) const fn ask_to_end(&self, _: bool) {}

    /// Ends all of them.
    pub(super) fn end(&self, _: bool) {
        if let Some(job) = &self.job {
            job.end();
        }
    }
}

/// A status as this system gives it.
pub(super) fn exit_status(status: i32) -> ExitStatus {
    use std::os::windows::process::ExitStatusExt as _;
    ExitStatus::from_raw(status.cast_unsigned())
}

/// A status in words.
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
