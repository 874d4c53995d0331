//! The limits of bots, and how each is enforced.

use serde::{Deserialize, Serialize};

use super::cgroup::Controller;
use super::settings::{Kind, Settings};

/// What a sandboxed bot may use. Nothing bounds a bot without a sandbox.
///
/// ```
/// use referee_sandbox::ResourceLimits;
///
/// let limits = ResourceLimits { memory: 256 << 20, ..ResourceLimits::default() };
/// assert_eq!(limits.processes, 64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// All its processes together, in bytes.
    pub memory: u64,
    pub processes: u64,
    /// Of one process.
    pub open_files: u64,
    /// Its scratch directory, and the largest file, in bytes.
    pub scratch: u64,
}

impl Default for ResourceLimits {
    /// 1 GiB of memory, 64 processes, 256 open files, 64 MiB of scratch space.
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            processes: 64,
            open_files: 256,
            scratch: 64 << 20,
        }
    }
}

impl ResourceLimits {
    /// All its processes together; a runtime starts some for every core.
    pub(super) const fn threads(&self) -> u64 {
        let threads = self.processes.saturating_mul(4);
        if threads < 512 { 512 } else { threads }
    }
}

#[cfg(all(target_os = "linux", not(portable)))]
impl ResourceLimits {
    /// The most files in a scratch directory.
    pub(super) const SCRATCH_FILES: u64 = 4096;

    /// Private memory that one process may reserve, in bytes. More than it may use: runtimes
    /// reserve what they never touch.
    pub(super) const fn reservable_memory(&self) -> u64 {
        self.memory.saturating_mul(2).saturating_add(256 << 20)
    }
}

/// The most games of one bot at the same time, as far as its processes are counted together. Read
/// once: the number of CPUs is in files of control groups.
#[cfg(all(target_os = "linux", not(portable)))]
pub(super) fn games_at_once() -> u64 {
    use std::sync::LazyLock;

    static GAMES: LazyLock<u64> = LazyLock::new(|| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        // A bot may play against itself.
        (processors as u64).max(8) * 2
    });
    *GAMES
}

pub(super) const MEMORY: &str = "--memory";

/// How a limit is enforced on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Its option, or its subject.
    pub limit: String,
    /// Whether the kernel enforces it at any moment.
    pub wall: bool,
    /// The mechanism, for people.
    pub by: String,
}

impl Bound {
    /// How it is enforced, for people.
    pub fn kept(&self) -> String {
        let kind = if self.wall { "strict" } else { "checked" };
        format!("{kind}: {}", self.by)
    }

    /// The limit, then [`Bound::kept`].
    pub fn line(&self) -> String {
        format!("{}: {}", self.limit, self.kept())
    }
}

pub(super) fn bounds_of(settings: &Settings) -> Vec<Bound> {
    if settings.kind == Kind::None {
        return Vec::new();
    }
    let bound = |limit: &str, (wall, by): (bool, String)| Bound {
        limit: limit.to_owned(),
        wall,
        by,
    };
    vec![
        bound(MEMORY, memory(settings)),
        bound("--processes", processes(settings)),
        bound("--scratch", scratch(settings)),
        bound(
            "--open-files",
            (true, "the kernel (RLIMIT_NOFILE)".to_owned()),
        ),
        bound("processor time", processor_time(settings)),
        bound("--freeze", freeze(settings)),
    ]
}

fn group(settings: &Settings, controller: Controller) -> Option<String> {
    let version = settings.groups.version(controller)?;
    Some(format!("the kernel (control group {version})"))
}

fn memory(settings: &Settings) -> (bool, String) {
    let by = group(settings, Controller::Memory);
    let wall = by.is_some();
    let by = by.unwrap_or_else(|| "its supervisor, which checks every 25 ms".to_owned());
    (
        wall,
        format!("each process by RLIMIT_DATA, all together by {by}"),
    )
}

fn processes(settings: &Settings) -> (bool, String) {
    let every = if group(settings, Controller::Memory).is_some() {
        50
    } else {
        25
    };
    let threads = settings.limits.threads();
    let more = match group(settings, Controller::Pids) {
        Some(by) => format!("; {threads} processes and threads together by {by}"),
        None if settings.kind == Kind::Bwrap || settings.own_view => {
            format!("; {threads} processes and threads together by the kernel (RLIMIT_NPROC)")
        }
        None => String::new(),
    };
    (
        false,
        format!("its supervisor, which counts every {every} ms{more}"),
    )
}

fn scratch(settings: &Settings) -> (bool, String) {
    match settings.kind {
        Kind::Bwrap => {
            let by = "a file system of fixed size; its supervisor counts the files";
            (true, by.to_owned())
        }
        _ if settings.own_view => (true, "a file system of fixed size".to_owned()),
        _ => {
            let by = "each file by RLIMIT_FSIZE, all together by its supervisor, which checks every 25 or 50 ms";
            (false, by.to_owned())
        }
    }
}

fn processor_time(settings: &Settings) -> (bool, String) {
    match group(settings, Controller::Cpu) {
        Some(by) => (true, format!("one processor by {by}")),
        None => (false, "not bounded, only reported in records".to_owned()),
    }
}

fn freeze(settings: &Settings) -> (bool, String) {
    match group(settings, Controller::Freezer) {
        Some(by) => (true, by),
        None => (
            true,
            "a signal (SIGSTOP), which a bot cannot undo".to_owned(),
        ),
    }
}
