//! What every process gives up before it becomes a bot: resources, capabilities, system calls.
//! Inherited and irreversible.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use rustix::process::{
    Gid, Resource, Rlimit, Signal, Uid, getrlimit, set_parent_process_death_signal, setrlimit,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};
use seccompiler::sock_filter;

use super::message::Restrictions;
use super::sys;
use super::wire::send_descriptors;
use crate::limits::games_at_once;

/// Signals with data that wait to be delivered; plain ones are delivered anyway.
const PENDING_SIGNALS: u64 = 256;

fn failed(what: &str, error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("{what}: {error}"))
}

/// Processes and threads that the kernel lets a bot's user have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    /// The user has other processes: no bound.
    WithOthers,
    /// This process of the bot only.
    Alone,
    /// All processes of the bot, in all its games.
    WithItsGames,
}

/// Sets limits, user, capabilities and, last, the filter. The descriptor that reports network
/// attempts is sent to `supervisor`.
pub(super) fn restrict_self(
    Restrictions { limits, user, .. }: Restrictions,
    filter: &[sock_filter],
    counted: Counted,
    supervisor: &UnixStream,
) -> io::Result<()> {
    let mut most = vec![
        // Not 0: then the system's core dump program would run, outside and with full rights. A
        // file of one byte is never written.
        (Resource::Core, 1),
        (Resource::Data, limits.reservable_memory()),
        (Resource::Fsize, limits.scratch),
        (Resource::Nofile, limits.open_files),
        (Resource::Memlock, 1 << 16),
        (Resource::Msgqueue, 0),
        // Counts all pending of the user; others may have more.
        (Resource::Sigpending, PENDING_SIGNALS),
        (Resource::Rtprio, 0),
    ];
    // Threads count.
    let processes = match counted {
        // A desktop user has many.
        Counted::WithOthers => None,
        Counted::Alone => Some(limits.threads()),
        Counted::WithItsGames => Some(limits.threads().saturating_mul(games_at_once())),
    };
    most.extend(processes.map(|most| (Resource::Nproc, most)));
    for (resource, most) in most {
        let exactly = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        // The only limit where less is worse.
        if resource == Resource::Core && setrlimit(resource, exactly).is_ok() {
            continue;
        }
        let now = getrlimit(resource);
        let most = now.maximum.map_or(most, |maximum| maximum.min(most));
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit).map_err(|error| failed("a limit", error))?;
    }
    set_no_new_privs(true)?;
    // Where this is not permitted there is nothing to gain either: no program can give more rights.
    CapabilitySet::all()
        .iter()
        .take_while(|&one| remove_capability_from_bounding_set(one).is_ok())
        .for_each(drop);
    if let Some(user) = user {
        become_user(user).map_err(|error| failed("a user of its own", error))?;
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none).map_err(|error| failed("capabilities", error))?;
    sys::close_on_exec_from(3)?;
    // Not later: the filter forbids it. Not earlier: changing the user resets it.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let listener = sys::listen_for_calls(filter).map_err(|error| failed("seccomp", error))?;
    send_descriptors(supervisor, b"", &[listener.as_fd()])
}

/// Gives up root for a user and group without rights.
fn become_user(number: u32) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(number), Gid::from_raw(number));
    set_thread_groups(&[])?;
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)?;
    Ok(())
}
