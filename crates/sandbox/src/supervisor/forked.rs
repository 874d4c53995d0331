//! Waits for a supervisor that [the fork server](super::fork_server) started: a child of this
//! process.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
};
use tokio::io::unix::AsyncFd;

use super::sys;

/// Those that are not waited for any more.
static LEFT: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());

/// A supervisor that runs, or has been waited for.
#[derive(Debug)]
pub struct Forked {
    pid: Pid,
    /// `None` only while being dropped.
    end: Option<AsyncFd<OwnedFd>>,
    status: Option<ExitStatus>,
}

impl Forked {
    /// For a child of this process. Must be called within a tokio runtime.
    pub fn new(pid: Pid) -> io::Result<Self> {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        left.retain(|end| matches!(reap(end.as_fd()), Ok(None)));
        let end = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Self {
            pid,
            end: Some(sys::notice(end)?),
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
            let Some(end) = &self.end else {
                return Err(io::Error::other("it is not waited for"));
            };
            let mut ended = end.readable().await?;
            self.status = reap(end.as_fd())?;
            if self.status.is_none() {
                ended.clear_ready();
            }
        }
    }

    /// Sends SIGKILL.
    pub fn start_kill(&self) -> io::Result<()> {
        match &self.end {
            Some(end) if self.status.is_none() => Ok(pidfd_send_signal(end, Signal::KILL)?),
            _ => Ok(()),
        }
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        if self.status.is_none()
            && let Some(end) = self.end.take()
            && let end = end.into_inner()
            && matches!(reap(end.as_fd()), Ok(None))
        {
            let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
            left.push(end);
        }
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
