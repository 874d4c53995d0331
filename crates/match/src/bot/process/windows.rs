//! Bots on Windows: pipes, and job objects.
//!
//! Every bot has a job, which kills all its processes, bounds and counts their usage. A job is
//! closed with the referee, however that exits.
#![expect(unsafe_code, reason = "each block says why it is sound")]

use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io;
use std::mem::zeroed;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle, RawHandle};
use std::pin::pin;
use std::process::{ExitStatus, Stdio, id};
use std::ptr::null;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use tokio::net::windows::named_pipe::{NamedPipeServer, PipeMode, ServerOptions};
use tokio::process::{Child, Command};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_ACTIVE_PROCESS,
    JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION, JOB_OBJECT_LIMIT_JOB_MEMORY,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectExtendedLimitInformation, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP;

use super::{Pipes, spawn};
use crate::bot::children::OwnedChild;
use crate::bot::fault::Exit;
use crate::bot::spec::Program;
use referee_host::system::Pid;
use referee_sandbox::ResourceLimits;

/// In a job that enforces the limits of its sandbox.
pub(super) fn start(
    command: &mut Command,
    program: &Program,
) -> io::Result<((Child, OwnedChild), Pipes, Group)> {
    let confinement = program.confinement.as_ref();
    let limits = confinement.map(|confinement| confinement.sandbox.limits());
    let pipe_failed = |error| failed("its pipes cannot be made", &error);
    let job = Job::new(limits).map_err(|error| failed("its job cannot be made", &error))?;
    let (requests, stdin) = pipe(false).map_err(pipe_failed)?;
    let (answers, stdout) = pipe(true).map_err(pipe_failed)?;
    let (errors, stderr) = pipe(true).map_err(pipe_failed)?;
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    // Ctrl-C is for the referee, which then stops its bots.
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
    let (child, owned) = spawn(command, program)?;
    // The command keeps the bot's ends of the pipes open.
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let missing = || io::Error::other("the handle of a new process is missing");
    let handle = child.raw_handle().ok_or_else(missing)?;
    let leader = owned.pid();
    // Long before it has loaded its libraries and can start others. Dropping the child kills it if
    // this fails.
    job.take_in(handle)
        .map_err(|error| failed("it cannot be taken into its job", &error))?;
    let job = Some(job);
    let pipes = Pipes {
        requests,
        answers,
        errors,
    };
    Ok(((child, owned), pipes, Group { leader, job }))
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
    pub(super) const fn set_stopped(&self, _: bool) {}

    /// The end of their input was the request.
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

/// Of a bot without its own limits, as without a sandbox elsewhere.
const MOST_PROCESSES: u32 = 1000;

const ENDED: u32 = 1;

#[derive(Debug)]
struct Job(OwnedHandle);

impl Job {
    /// Memory is bounded when `bounds` are given, processes always.
    fn new(bounds: Option<ResourceLimits>) -> io::Result<Self> {
        // SAFETY: null pointers mean no security attributes and no name.
        let job = unsafe { CreateJobObjectW(null(), null()) };
        if job.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is new and has no other owner.
        let job = Self(unsafe { OwnedHandle::from_raw_handle(job) });
        // SAFETY: a struct of numbers; zeros mean no limit.
        let mut limits: JOBOBJECT_EXTENDED_LIMIT_INFORMATION = unsafe { zeroed() };
        let basic = &mut limits.BasicLimitInformation;
        basic.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
            | JOB_OBJECT_LIMIT_ACTIVE_PROCESS
            // A crash must not wait for a person to close its window.
            | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
        basic.ActiveProcessLimit = MOST_PROCESSES;
        if let Some(bounds) = bounds {
            basic.ActiveProcessLimit = u32::try_from(bounds.processes).unwrap_or(u32::MAX);
            basic.LimitFlags |= JOB_OBJECT_LIMIT_JOB_MEMORY;
            limits.JobMemoryLimit = usize::try_from(bounds.memory).unwrap_or(usize::MAX);
        }
        #[expect(clippy::cast_possible_truncation, reason = "structs are small")]
        let size = size_of_val(&limits) as u32;
        // SAFETY: the pointer leads to a struct of the named kind and size.
        let done = unsafe {
            SetInformationJobObject(
                job.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size,
            )
        };
        succeeded(done)?;
        Ok(job)
    }

    /// Takes in a process, and what it starts from now on.
    fn take_in(&self, process: RawHandle) -> io::Result<()> {
        // SAFETY: the caller owns the process's handle, which is open.
        succeeded(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), process) })
    }

    fn end(&self) {
        // All may have exited. SAFETY: the handle is this job's.
        let _ = unsafe { TerminateJobObject(self.0.as_raw_handle(), ENDED) };
    }
}

/// Such a call returns 0 when it fails.
fn succeeded(result: i32) -> io::Result<()> {
    if result == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Room for unread output.
const ROOM: u32 = 64 * 1024;

pub(super) type RequestPipe = NamedPipeServer;
pub(super) type AnswerPipe = NamedPipeServer;

/// The system does not say what the bot has not read.
pub(super) const fn unread(_: &RequestPipe) -> u64 {
    0
}

/// The referee's end of a new pipe, and the bot's, which the bot `writes` to or reads from.
fn pipe(writes: bool) -> io::Result<(NamedPipeServer, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let serial = NEXT.fetch_add(1, Ordering::Relaxed);
    // If another process made this name, creation fails; once the bot's end is open, no other can
    // open it.
    let name = format!(r"\\.\pipe\referee-{}-{serial}", id());
    let server = ServerOptions::new()
        .first_pipe_instance(true)
        .max_instances(1)
        .access_inbound(writes)
        .access_outbound(!writes)
        .pipe_mode(PipeMode::Byte)
        .in_buffer_size(ROOM)
        .out_buffer_size(ROOM)
        .create(&name)?;
    let end = OpenOptions::new().read(!writes).write(writes).open(&name)?;
    // It is connected: this is ready immediately.
    let connected = pin!(server.connect()).poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(connected) = connected else {
        let problem = "the pipe of a new process is not connected";
        return Err(io::Error::other(problem));
    };
    connected.map(|()| (server, end))
}
