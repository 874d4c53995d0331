//! Starts a process that becomes the bot: in its control groups and its own session, killed when
//! its supervisor exits.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Gid, Pid, PidfdFlags, Resource, Rlimit, Signal, Uid, WaitOptions, getpid, getrlimit,
    pidfd_open, set_parent_process_death_signal, setrlimit, setsid, waitpid,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

use serde::{Deserialize, Serialize};

use super::message::{SupervisorFailure, send_descriptors};
use super::sys;
use crate::cgroup::{BotGroups, GroupMembership};
use crate::limits::ResourceLimits;
use crate::procfs;
use crate::seccomp;
use crate::spawn_request::BotRestrictions;
use crate::trouble::described;

/// The exit status when a process could not become its program; not read.
const FAILED: i32 = 127;

pub(super) struct ProcessEntry {
    supervisor: OwnedFd,
    membership: GroupMembership,
}

impl ProcessEntry {
    pub(super) fn new(groups: &BotGroups) -> io::Result<Self> {
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

    /// Forks, calls `become_it` in the child, and returns once the child, or what replaced it, has executed
    /// another program. The error is the child's.
    pub(super) fn start(
        self,
        become_it: impl FnOnce(&Self, &StartReport) -> io::Result<Infallible>,
    ) -> io::Result<Pid> {
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
        let (mut ours, theirs) = (File::from(ours), StartReport(File::from(theirs)));
        let child = match &self.membership.group {
            Some(group) => sys::fork_into(group.as_fd())?,
            None => sys::fork(0)?,
        };
        let Some(child) = child else {
            // Whatever happens, this process must not continue as the supervisor.
            let _exit = ExitOnDrop;
            drop(ours);
            let entered = self.lead().and_then(|()| self.membership.take());
            let Err(error) = entered.and_then(|()| become_it(&self, &theirs));
            theirs.failed(&error);
            return Err(error);
        };
        drop(theirs);
        let mut report = Vec::new();
        ours.read_to_end(&mut report)?;
        let mut started = child;
        for note in serde_json::Deserializer::from_slice(&report).into_iter() {
            match note? {
                StartNote::Instead(pid) => started = Pid::from_raw(pid).unwrap_or(child),
                StartNote::Failed(failure) => {
                    let _ = waitpid(Some(child), WaitOptions::empty());
                    return Err(failure.into());
                }
            }
        }
        if started != child {
            let _ = waitpid(Some(child), WaitOptions::empty());
        }
        Ok(started)
    }
}

/// What a new process reports before it has become another program.
#[derive(Serialize, Deserialize)]
enum StartNote {
    /// Another process, with this id, replaces the started one.
    Instead(i32),
    Failed(SupervisorFailure),
}

pub(super) struct StartReport(File);

impl StartReport {
    /// Starts a process in place of this one, which exits: returns in the new one. It is in what
    /// this one has prepared for its children, such as process ids, and is a child of the
    /// supervisor.
    pub(super) fn continue_instead(&self) -> io::Result<()> {
        match sys::fork(libc::CLONE_PARENT)? {
            None => Ok(()),
            Some(pid) => {
                self.write(&StartNote::Instead(pid.as_raw_pid()));
                sys::exit(0)
            }
        }
    }

    pub(super) fn failed(&self, error: &io::Error) {
        self.write(&StartNote::Failed(error.into()));
    }

    /// In one write: the process that replaces this one may report at the same time. Without a supervisor there is no
    /// reader.
    fn write(&self, note: &StartNote) {
        if let Ok(text) = serde_json::to_vec(note) {
            let _ = (&self.0).write_all(&text);
        }
    }
}

struct ExitOnDrop;

impl Drop for ExitOnDrop {
    fn drop(&mut self) {
        sys::exit(FAILED);
    }
}

/// Signals with data that wait to be delivered; plain ones are delivered anyway.
const PENDING_SIGNALS: u64 = 256;

fn failed(what: &str, error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    described(format!("{what}: {error}"), None, &error)
}

/// Sets limits, user, capabilities and, last, the filter. Its descriptor is sent to `supervisor`, with one
/// of the scratch directory.
pub(super) fn restrict_self(
    restrictions: BotRestrictions,
    scratch: &Path,
    supervisor: &UnixStream,
) -> io::Result<()> {
    let BotRestrictions {
        limits,
        tasks,
        situation,
        user,
    } = restrictions;
    let filter = seccomp::filter(situation)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let place = open(scratch, flags, Mode::empty())?;
    limit_resources(&limits, tasks)?;
    // A program is told by an error, as by other limits.
    sys::ignore_large_files();
    set_no_new_privs(true)?;
    // Where this is not permitted there is nothing to gain either: no program can give more rights.
    CapabilitySet::all()
        .iter()
        .take_while(|&capability| remove_capability_from_bounding_set(capability).is_ok())
        .for_each(drop);
    if let Some(user) = user {
        become_user(user).map_err(|error| failed("a user of its own", error))?;
    }
    clear_ambient_capability_set()?;
    keep(CapabilitySet::empty()).map_err(|error| failed("capabilities", error))?;
    sys::close_range(3, libc::CLOSE_RANGE_CLOEXEC)?;
    // Not later: the filter forbids it. Not earlier: changing the user resets it.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let listener = sys::listen_for_calls(&filter).map_err(|error| failed("seccomp", error))?;
    send_descriptors(supervisor, b".", &[listener.as_fd(), place.as_fd()])
}

/// Sets what the kernel allows this process and its children; `tasks` as in [`BotRestrictions`].
fn limit_resources(limits: &ResourceLimits, tasks: Option<u64>) -> io::Result<()> {
    // More than it may use: runtimes reserve what they never touch.
    let reservable = limits.memory.saturating_mul(2).saturating_add(256 << 20);
    let mut most = vec![
        // Not 0: then the system's core dump program would run, outside and with full rights. A
        // file of one byte is never written.
        (Resource::Core, 1),
        (Resource::Data, reservable),
        (Resource::Fsize, limits.scratch),
        (Resource::Nofile, limits.open_files),
        (Resource::Memlock, 1 << 16),
        (Resource::Msgqueue, 0),
        // Counts all pending of the user; others may have more.
        (Resource::Sigpending, PENDING_SIGNALS),
        (Resource::Rtprio, 0),
    ];
    most.extend(tasks.map(|most| (Resource::Nproc, most)));
    for (resource, most) in most {
        let bound = |most| Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        // The only limit where less is worse.
        if resource == Resource::Core && setrlimit(resource, bound(most)).is_ok() {
            continue;
        }
        let now = getrlimit(resource).maximum;
        let most = now.map_or(most, |maximum| maximum.min(most));
        setrlimit(resource, bound(most)).map_err(|error| failed("a limit", error))?;
    }
    Ok(())
}

/// Gives up all capabilities but these.
pub(super) fn keep(capabilities: CapabilitySet) -> rustix::io::Result<()> {
    let sets = CapabilitySets {
        effective: capabilities,
        permitted: capabilities,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets)
}

/// Gives up root for a user and group without rights.
fn become_user(number: u32) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(number), Gid::from_raw(number));
    set_thread_groups(&[])?;
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_one_write() {
        // Each read of such a pipe gives what one write has written.
        let (reader, writer) = pipe_with(PipeFlags::DIRECT).unwrap();
        StartReport(File::from(writer)).failed(&io::Error::from_raw_os_error(libc::EAGAIN));
        let mut bytes = [0; 4096];
        let length = File::from(reader).read(&mut bytes).unwrap();
        let note = serde_json::from_slice(&bytes[..length]);
        assert!(matches!(note, Ok(StartNote::Failed(_))), "{length} bytes");
    }
}
