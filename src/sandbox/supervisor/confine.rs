//! What a process does to itself before it becomes a bot. All of it is inherited, and none of it
//! can be undone.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    PathFd, RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _,
    RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities, set_no_new_privs,
};
use seccompiler::apply_filter;

use super::filter::{self, Programs};
use super::order::Bounds;
use super::sys;
use super::wire::send_descriptor;

/// The version whose promises are relied upon: signals stay inside since Linux 6.12.
const NEEDED: ABI = ABI::V6;

/// Devices without which many programs do not start.
const DEVICES: &[&str] = &["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];

fn failed(what: &str, error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("{what}: {error}"))
}

/// The filters of system calls, ready to be installed.
pub(super) fn filters() -> io::Result<Programs> {
    filter::programs().map_err(|error| failed("seccomp", error))
}

/// The walls of Landlock, ready to be put up.
pub(super) fn walls(read: &[impl AsRef<Path>], scratch: &Path) -> io::Result<RulesetCreated> {
    let wrong = |error: landlock::RulesetError| failed("Landlock", error);
    let read_only: BitFlags<AccessFs> = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
    let file = AccessFs::Execute | AccessFs::ReadFile;
    // Nothing can be removed: a file that is gone but open would be counted nowhere.
    let private = AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::MakeSym;
    let mut walls = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))
        .and_then(|walls| walls.handle_access(AccessNet::from_all(NEEDED)))
        .and_then(|walls| walls.scope(Scope::from_all(NEEDED)))
        .and_then(Ruleset::create)
        .map_err(wrong)?;
    let mut open = |path: &Path, access: BitFlags<AccessFs>| {
        let Ok(opened) = PathFd::new(path) else {
            // Systems differ in what they have.
            return Ok(());
        };
        (&mut walls)
            .add_rule(PathBeneath::new(opened, access))
            .map(|_| ())
            .map_err(wrong)
    };
    for path in read {
        let path = path.as_ref();
        open(path, if path.is_dir() { read_only } else { file })?;
    }
    open(Path::new("/proc"), AccessFs::ReadFile | AccessFs::ReadDir)?;
    for device in DEVICES {
        open(Path::new(device), AccessFs::ReadFile | AccessFs::WriteFile)?;
    }
    open(scratch, private)?;
    Ok(walls)
}

/// Puts up the walls.
pub(super) fn enclose(walls: RulesetCreated) -> io::Result<()> {
    let status = walls
        .restrict_self()
        .map_err(|error| failed("Landlock", error))?;
    match status {
        RestrictionStatus {
            ruleset: RulesetStatus::FullyEnforced,
            no_new_privs: true,
            ..
        } => Ok(()),
        _ => Err(io::Error::other("Landlock is not fully in force")),
    }
}

/// Limits, capabilities and, last of all, system calls. The guard is sent what it is asked through
/// when the network is tried.
pub(super) fn bind(
    bounds: &Bounds,
    filters: &Programs,
    own_users: bool,
    guard: &UnixStream,
) -> io::Result<()> {
    let mut limits = vec![
        (Resource::Core, 0),
        (Resource::Data, bounds.reserved()),
        (Resource::Fsize, bounds.scratch),
        (Resource::Nofile, bounds.open_files),
        (Resource::Memlock, 1 << 16),
        (Resource::Msgqueue, 0),
        (Resource::Rtprio, 0),
    ];
    if own_users {
        // Elsewhere all of a user's processes count, and a desktop's are many. Threads count.
        limits.push((Resource::Nproc, bounds.threads()));
    }
    for (resource, most) in limits {
        let now = rustix::process::getrlimit(resource);
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
    send_descriptor(guard, b"", &listener)?;
    drop(listener);
    for filter in &filters.others {
        apply_filter(filter).map_err(|error| failed("seccomp", error))?;
    }
    Ok(())
}
