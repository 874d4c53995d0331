//! Starts a process that becomes the bot: in its control groups and its own session, killed when
//! its supervisor exits.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, set_parent_process_death_signal,
    setsid, waitpid,
};

use super::sys;
use crate::cgroup::{Groups, Membership};
use crate::procfs;

/// The exit status when a process could not become its program; not read.
const FAILED: i32 = 127;

/// What a new process does first.
pub(super) struct Entry {
    supervisor: OwnedFd,
    membership: Membership,
}

impl Entry {
    pub(super) fn new(groups: &Groups) -> io::Result<Self> {
        Ok(Self {
            supervisor: pidfd_open(getpid(), PidfdFlags::empty())?,
            membership: groups.membership()?,
        })
    }

    /// An error when the supervisor exited before the death signal was set.
    pub(super) fn check(&self) -> io::Result<()> {
        let mut end = [PollFd::new(&self.supervisor, PollFlags::IN)];
        match poll(&mut end, Some(&Timespec::default()))? {
            0 => Ok(()),
            _ => Err(io::Error::other("the supervisor has ended")),
        }
    }

    /// Its own session and group, without a terminal; killed with its supervisor.
    pub(super) fn lead(&self) -> io::Result<()> {
        procfs::kill_first(None);
        setsid()?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        self.check()
    }

    /// Forks. In the new process: whether it is already in the v2 group.
    fn double(&self) -> io::Result<(Option<Pid>, bool)> {
        if let Some(group) = self.membership.group()
            && let Ok(doubled) = sys::fork_into(group.as_fd())
        {
            return Ok((doubled, true));
        }
        // Kernels before 5.7 cannot, and containers may forbid it.
        Ok((sys::fork()?, false))
    }

    /// Starts a process that does this, and returns when it, or its replacement, has become another
    /// program. The error says why not.
    pub(super) fn start(
        mut self,
        become_it: impl FnOnce(&Self, &Report) -> io::Result<Infallible>,
    ) -> io::Result<Pid> {
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
        let (mut ours, theirs) = (File::from(ours), Report(File::from(theirs)));
        let (child, is_member) = self.double()?;
        let Some(child) = child else {
            // Whatever happens, this process must not continue as the supervisor.
            let _end = EndOnDrop;
            drop(ours);
            let entered = self.lead().and_then(|()| self.membership.take(is_member));
            let Err(error) = entered.and_then(|()| become_it(&self, &theirs));
            theirs.failed(&error);
            return Err(error);
        };
        drop(theirs);
        let mut report = Vec::new();
        ours.read_to_end(&mut report)?;
        let mut started = child;
        let mut rest = &report[..];
        while let Some((&tag, more)) = rest.split_first()
            && let Some((number, more)) = more.split_first_chunk()
        {
            let number = i32::from_ne_bytes(*number);
            match Pid::from_raw(number) {
                Some(pid) if tag == INSTEAD => {
                    started = pid;
                    rest = more;
                }
                _ => {
                    let _ = waitpid(Some(child), WaitOptions::empty());
                    return Err(match number {
                        0 => {
                            let text = more.split(|&byte| byte == 0).next();
                            let text = String::from_utf8_lossy(text.unwrap_or_default());
                            io::Error::other(text.into_owned())
                        }
                        number => io::Error::from_raw_os_error(number),
                    });
                }
            }
        }
        if started != child {
            let _ = waitpid(Some(child), WaitOptions::empty());
        }
        Ok(started)
    }
}

/// Report: another process replaces the started one; its id follows.
const INSTEAD: u8 = b'i';

/// Report: failure; the system's error number follows, or 0 and a text terminated by a 0 byte.
const FAILURE: u8 = b'f';

/// What a new process reports before it has become another program.
pub(super) struct Report(File);

impl Report {
    /// Starts a process in place of this one, which exits: returns in the new one. It is in what
    /// this one has prepared for its children, such as process ids, and is a child of the
    /// supervisor.
    pub(super) fn continue_instead(&self) -> io::Result<()> {
        match sys::fork_beside()? {
            None => Ok(()),
            Some(pid) => {
                self.write(INSTEAD, pid.as_raw_pid(), "");
                sys::exit(0)
            }
        }
    }

    /// Says why nothing was started.
    pub(super) fn failed(&self, error: &io::Error) {
        match error.raw_os_error() {
            Some(number) => self.write(FAILURE, number, ""),
            None => self.write(FAILURE, 0, &format!("{error}\0")),
        }
    }

    /// Without a supervisor there is no reader.
    fn write(&self, tag: u8, number: i32, text: &str) {
        let report = [&[tag][..], &number.to_ne_bytes(), text.as_bytes()].concat();
        let _ = (&self.0).write_all(&report);
    }
}

struct EndOnDrop;

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        sys::exit(FAILED);
    }
}
