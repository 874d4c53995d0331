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
