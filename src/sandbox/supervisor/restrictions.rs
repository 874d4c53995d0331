//! What every process gives up before it becomes a bot, whatever the backend: resources,
//! capabilities, and system calls. All of it is inherited, and none of it can be undone.

use std::io;
use std::os::unix::net::UnixStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities, set_no_new_privs,
};
use seccompiler::apply_filter;

use super::sys;
use super::wire::send_descriptor;
use crate::sandbox::limits::ResourceLimits;
use crate::sandbox::seccomp::Filters;

/// Signals that wait to be delivered. Those without further data are delivered in any case.
const PENDING_SIGNALS: u64 = 256;

fn failed(what: &str, error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("{what}: {error}"))
}

/// Restricts this process: limits, capabilities and, last of all, system calls. `own_users` says that
/// no processes but the bot's count for its user. The descriptor that reports attempts to use the
/// network is sent to `supervisor`.
pub(super) fn restrict_self(
    limits: &ResourceLimits,
    filters: &Filters,
    own_users: bool,
    supervisor: &UnixStream,
) -> io::Result<()> {
    let mut most = vec![
        (Resource::Core, 0),
        (Resource::Data, limits.reservable_memory()),
        (Resource::Fsize, limits.scratch),
        (Resource::Nofile, limits.open_files),
        (Resource::Memlock, 1 << 16),
        (Resource::Msgqueue, 0),
        // What its user has pending altogether counts; others may have more.
        (Resource::Sigpending, PENDING_SIGNALS),
        (Resource::Rtprio, 0),
    ];
    if own_users {
        // Elsewhere all of a user's processes count, and a desktop's are many. Threads count.
        most.push((Resource::Nproc, limits.threads()));
    }
    for (resource, most) in most {
        let now = getrlimit(resource);
        let most = now.maximum.map_or(most, |maximum| maximum.min(most));
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit).map_err(|error| failed("a limit", error))?;
    }
    set_no_new_privs(true)?;
    clear_ambient_capability_set()?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none).map_err(|error| failed("capabilities", error))?;
    sys::close_on_exec_from(3)?;
    let listener = sys::listen_for_calls(&filters.network)?;
    send_descriptor(supervisor, b"", &listener)?;
    drop(listener);
    for filter in &filters.others {
        apply_filter(filter).map_err(|error| failed("seccomp", error))?;
    }
    Ok(())
}
