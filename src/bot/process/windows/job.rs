//! Job objects: kill all processes of a bot, and bound them.
//!
//! No crate: `win32job` and `process-wrap` set none of the limits on memory and processes.
#![expect(unsafe_code, reason = "each block says why it is sound")]

use std::io;
use std::mem::{size_of, zeroed};
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle, RawHandle};
use std::ptr::null;

use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_ACTIVE_PROCESS,
    JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION, JOB_OBJECT_LIMIT_JOB_MEMORY,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectExtendedLimitInformation, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{OpenThread, ResumeThread, THREAD_SUSPEND_RESUME};

use crate::sandbox::ResourceLimits;

/// Of a bot without its own limits, as without a sandbox elsewhere.
const MOST_PROCESSES: u32 = 1000;

/// The exit status of killed processes.
const ENDED: u32 = 1;

/// Kills its processes when dropped.
#[derive(Debug)]
pub(super) struct Job(OwnedHandle);

impl Job {
    /// Memory is bounded when `bounds` are given, processes always.
    pub(super) fn new(bounds: Option<ResourceLimits>) -> io::Result<Self> {
        // SAFETY: null pointers mean no security attributes and no name.
        let job = unsafe { CreateJobObjectW(null(), null()) };
        if job.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is new and has no other owner.
        let job = Self(unsafe { OwnedHandle::from_raw_handle(job) });
        // SAFETY: a struct of numbers; zeros mean no limit.
        let mut limits: JOBOBJECT_EXTENDED_LIMIT_INFORMATION = unsafe { zeroed() };
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
            | JOB_OBJECT_LIMIT_ACTIVE_PROCESS
            // A crash must not wait for a person to close its window.
            | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
        limits.BasicLimitInformation.ActiveProcessLimit = MOST_PROCESSES;
        if let Some(bounds) = bounds {
            let most = u32::try_from(bounds.processes).unwrap_or(u32::MAX);
            limits.BasicLimitInformation.ActiveProcessLimit = most;
            limits.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_JOB_MEMORY;
            limits.JobMemoryLimit = usize::try_from(bounds.memory).unwrap_or(usize::MAX);
        }
        // SAFETY: the pointer leads to a struct of the named kind and size.
        let done = unsafe {
            SetInformationJobObject(
                job.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>(),
            )
        };
        succeeded(done)?;
        Ok(job)
    }

    /// Takes in a process, and what it starts from now on.
    pub(super) fn take_in(&self, process: RawHandle) -> io::Result<()> {
        // SAFETY: the caller owns the process's handle, which is open.
        succeeded(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), process) })
    }

    pub(super) fn end(&self) {
        // All may have exited. SAFETY: the handle is this job's.
        let _ = unsafe { TerminateJobObject(self.0.as_raw_handle(), ENDED) };
    }
}

/// Runs a process that was started suspended, with one thread.
pub(super) fn resume(process: u32) -> io::Result<()> {
    // SAFETY: a snapshot takes no pointers.
    let snapshot = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) };
    if snapshot == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new and has no other owner.
    let snapshot = unsafe { OwnedHandle::from_raw_handle(snapshot) };
    // SAFETY: a struct of numbers, for which zeros are valid.
    let mut entry: THREADENTRY32 = unsafe { zeroed() };
    entry.dwSize = size::<THREADENTRY32>();
    // SAFETY: the pointer leads to a struct whose size is in it.
    let mut found = unsafe { Thread32First(snapshot.as_raw_handle(), &raw mut entry) };
    while found != 0 {
        if entry.th32OwnerProcessID == process {
            return resume_thread(entry.th32ThreadID);
        }
        // SAFETY: as above.
        found = unsafe { Thread32Next(snapshot.as_raw_handle(), &raw mut entry) };
    }
    Err(io::Error::other("the thread of a new process is missing"))
}

fn resume_thread(id: u32) -> io::Result<()> {
    // SAFETY: the call takes no pointers.
    let thread = unsafe { OpenThread(THREAD_SUSPEND_RESUME, 0, id) };
    if thread.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new and has no other owner.
    let thread = unsafe { OwnedHandle::from_raw_handle(thread) };
    // SAFETY: the handle is a thread's, with the right to resume it.
    match unsafe { ResumeThread(thread.as_raw_handle()) } {
        u32::MAX => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

const fn size<T>() -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "structs are small")]
    let size = size_of::<T>() as u32;
    size
}

/// Such a call returns 0 when it fails.
fn succeeded(result: i32) -> io::Result<()> {
    if result == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
