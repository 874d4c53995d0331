//! The limits of bots, and how a bot ended.

use std::fmt;

use referee_text::size;
use serde::{Deserialize, Serialize};

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
    /// Processes of it that the kernel killed for want of memory.
    pub oom_kills: u64,
    pub exceeded: Option<ExceededLimit>,
    pub limits: ResourceLimits,
    /// Whether it tried to open a network connection.
    pub network: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExceededLimit {
    /// Of all its processes.
    Memory,
    /// Not the bot's: the kernel killed a process because others used the memory.
    OthersMemory,
    Processes,
    /// Of all its processes.
    Threads,
    Scratch,
    /// A mapped file could not grow: the kernel killed it by SIGBUS, and its scratch directory was full.
    MappedScratch,
    /// It had not ignored the signal SIGXFSZ.
    FileSize,
    Files,
    /// A part of its scratch directory cannot be read.
    Hidden,
}

/// A limit that ended a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetLimit {
    pub exceeded: ExceededLimit,
    pub limits: ResourceLimits,
}

/// The end of "it …".
impl fmt::Display for MetLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = &self.limits;
        let scratch = size(limits.scratch);
        match self.exceeded {
            ExceededLimit::Memory => write!(f, "used more than {} of memory", size(limits.memory)),
            ExceededLimit::OthersMemory => f.write_str("had no memory, which others used"),
            ExceededLimit::Processes => write!(f, "ran more than {} processes", limits.processes),
            ExceededLimit::Threads => write!(f, "ran more than {} threads", limits.threads()),
            ExceededLimit::Scratch => {
                write!(f, "wrote more than {scratch} into its scratch directory")
            }
            ExceededLimit::MappedScratch => {
                return write!(
                    f,
                    "was killed by the signal SIGBUS while its scratch directory of {scratch} was full"
                );
            }
            ExceededLimit::FileSize => write!(f, "wrote a file of more than {scratch}"),
            ExceededLimit::Files => {
                write!(f, "made more than {} files", ResourceLimits::SCRATCH_FILES)
            }
            ExceededLimit::Hidden => {
                f.write_str("hid a part of its scratch directory, which is watched")
            }
        }?;
        f.write_str(", and was killed")
    }
}

impl ExitReport {
    /// The limit of its own for which the bot was killed.
    pub fn limit(&self) -> Option<MetLimit> {
        const KILLED_BY_FILE_SIZE: i32 = 25;
        let by_file_size = (self.status == KILLED_BY_FILE_SIZE).then_some(ExceededLimit::FileSize);
        let exceeded = self.exceeded.or(by_file_size)?;
        let limits = self.limits;
        (exceeded != ExceededLimit::OthersMemory).then_some(MetLimit { exceeded, limits })
    }

    /// Whether the kernel killed a process of it because others used the memory.
    pub fn is_out_of_memory(&self) -> bool {
        self.exceeded == Some(ExceededLimit::OthersMemory)
    }
}
