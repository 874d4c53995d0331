//! The limits of bots, how each is enforced, and how a bot ended.

use referee_text::size;
use serde::{Deserialize, Serialize};

#[cfg(all(target_os = "linux", not(portable)))]
use super::cgroup::Controller;
#[cfg(all(target_os = "linux", not(portable)))]
use super::settings::Kind;
use super::settings::Settings;

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
    pub open_files: u64,
    /// Its scratch directory, and the largest file, in bytes.
    pub scratch: u64,
}

impl Default for ResourceLimits {
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
    pub(super) const SCRATCH_FILES: u64 = 4096;

    /// All its processes together; a runtime starts some for every core.
    pub(super) const fn threads(&self) -> u64 {
        let threads = self.processes.saturating_mul(4);
        if threads < 512 { 512 } else { threads }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExitReport {
    /// The status as `wait` returns it.
    pub status: i32,
    /// CPU time of all its processes, in milliseconds.
    pub cpu_ms: f64,
    pub memory_kb: u64,
    pub exceeded: Option<Exceeded>,
    pub limits: ResourceLimits,
    /// Whether it tried to open a network connection.
    pub network: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exceeded {
    /// Of all its processes.
    Memory,
    /// Not the bot's: the kernel killed a process because others used the memory.
    OthersMemory,
    Processes,
    /// Of all its processes.
    Threads,
    Scratch,
    Files,
    /// A part of its scratch directory cannot be read.
    Hidden,
}

impl ExitReport {
    /// Which limit the supervisor killed the bot for: the end of "it …".
    pub fn exceeded(&self) -> Option<String> {
        const KILLED_BY_FILE_SIZE: i32 = 25;
        let limits = &self.limits;
        let scratch = size(limits.scratch);
        Some(match self.exceeded {
            Some(Exceeded::Memory) => format!("used more than {} of memory", size(limits.memory)),
            Some(Exceeded::Processes) => format!("ran more than {} processes", limits.processes),
            Some(Exceeded::Threads) => format!("ran more than {} threads", limits.threads()),
            Some(Exceeded::Scratch) => {
                format!("wrote more than {scratch} into its scratch directory")
            }
            Some(Exceeded::Files) => {
                format!("made more than {} files", ResourceLimits::SCRATCH_FILES)
            }
            Some(Exceeded::Hidden) => {
                "hid a part of its scratch directory, which is watched".to_owned()
            }
            None if self.status == KILLED_BY_FILE_SIZE => {
                format!("wrote a file of more than {scratch}")
            }
            None | Some(Exceeded::OthersMemory) => return None,
        })
    }

    /// Whether the kernel killed a process of it because others used the memory.
    pub fn is_out_of_memory(&self) -> bool {
        self.exceeded == Some(Exceeded::OthersMemory)
    }
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
    pub fn kept(&self) -> String {
        let kind = if self.wall { "strict" } else { "checked" };
        format!("{kind}: {}", self.by)
    }

    /// The limit, then [`Bound::kept`].
    pub fn line(&self) -> String {
        format!("{}: {}", self.limit, self.kept())
    }
}

/// Elsewhere there is no sandbox.
#[cfg(any(not(target_os = "linux"), portable))]
pub(super) const fn bounds_of(_: &Settings) -> Vec<Bound> {
    Vec::new()
}

#[cfg(all(target_os = "linux", not(portable)))]
pub(super) fn bounds_of(settings: &Settings) -> Vec<Bound> {
    if settings.kind == Kind::None {
        return Vec::new();
    }
    let group = |controller| {
        let version = settings.groups.version(controller)?;
        Some(format!("the kernel (control group {version})"))
    };
    let memory = group(Controller::Memory);
    let (is_bounded, every) = (memory.is_some(), if memory.is_some() { 50 } else { 25 });
    let together = memory.unwrap_or_else(|| "its supervisor, which checks every 25 ms".to_owned());
    let alone = settings.kind == Kind::Bwrap || settings.own_view;
    let tasks = group(Controller::Pids);
    let tasks = tasks.or_else(|| alone.then(|| "the kernel (RLIMIT_NPROC)".to_owned()));
    let threads = settings.request.limits.threads();
    let tasks = tasks.map_or_else(String::new, |by| {
        format!("; {threads} processes and threads together by {by}")
    });
    let scratch = match settings.kind {
        Kind::Bwrap => "a file system of fixed size; its supervisor counts the files",
        _ if alone => "a file system of fixed size",
        _ => {
            "each file by RLIMIT_FSIZE, all together by its supervisor, which checks every 25 or 50 ms"
        }
    };
    let memory = format!("each process by RLIMIT_DATA, all together by {together}");
    let processes = format!("its supervisor, which counts every {every} ms{tasks}");
    let open_files = "the kernel (RLIMIT_NOFILE)".to_owned();
    let cpu = group(Controller::Cpu).map(|by| format!("one core by {by}"));
    let is_one_core = cpu.is_some();
    let cpu = cpu.unwrap_or_else(|| "not bounded, only reported in records".to_owned());
    let stopped = group(Controller::Freezer);
    let stopped =
        stopped.unwrap_or_else(|| "a signal (SIGSTOP), which a bot cannot undo".to_owned());
    let bound = |(limit, wall, by): (&str, bool, String)| Bound {
        limit: limit.to_owned(),
        wall,
        by,
    };
    let bounds = [
        (MEMORY, is_bounded, memory),
        ("--processes", false, processes),
        ("--scratch", alone, scratch.to_owned()),
        ("--open-files", true, open_files),
        ("CPU time", is_one_core, cpu),
        ("--freeze", true, stopped),
    ];
    bounds.map(bound).into()
}
