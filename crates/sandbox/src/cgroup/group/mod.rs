use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};

use super::Version;
use super::controller::Account;
use super::controller::Freezer;
use super::controller::{Allowance, Controller};
use super::{PREFIX, ParentGroup, ParentGroups};

/// How long the kernel may take to notice that a group is empty.
const EMPTYING: Duration = Duration::from_secs(1);

/// The peak memory of a group (v1).
const MOST_MEMORY: &str = "memory.max_usage_in_bytes";

/// The kernel charges this many bytes at a time where it can, and may give up when fewer are left.
const CHARGED_AT_ONCE: u64 = 64 << 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The kernel killed a process for its memory; others of the bot may live.
    Memory,
    /// The same, but other programs used the memory.
    OthersMemory,
    /// The kernel refused a process or thread.
    Tasks,
}

/// A bot's groups, one in each hierarchy. Removed when dropped by the process that made them.
#[derive(Debug)]
pub(crate) struct Groups(Vec<Part>);

#[derive(Debug)]
pub(super) struct Part {
    directory: PathBuf,
    version: Version,
    controllers: Vec<Controller>,
    /// Counters of bounds met, each with how its line starts.
    events: Vec<(Bound, File, &'static [u8])>,
    /// Held while the group is in use.
    _lock: File,
    /// The process that made it.
    maker: u32,
}

/// How a process becomes a member of groups. Moving a process between groups makes all processes of
/// the system wait before they start or exit, for up to 20 ms: processes are never moved.
#[derive(Debug)]
pub(crate) struct Membership {
    /// The directory of the v2 group, in which a process can be started.
    group: Option<File>,
    /// `cgroup.procs`, for processes that were not started there.
    procs: Option<File>,
    /// The `tasks` files of v1: a thread may write itself there without that wait.
    tasks: Vec<File>,
}

impl Membership {
    /// The group in which to start the process.
    pub(crate) const fn group(&self) -> Option<&File> {
        self.group.as_ref()
    }

    /// Makes this process, which has one thread, a member; `started` says whether it was started in
    /// the [group](Self::group).
    pub(crate) fn take(&mut self, started: bool) -> io::Result<()> {
        let procs = self.procs.as_mut().filter(|_| !started);
        let mut files = procs.into_iter().chain(&mut self.tasks);
        files.try_for_each(|file| file.write_all(b"0"))
    }
}

impl Groups {
    /// Groups named after this process.
    pub(crate) fn new(parents: &ParentGroups, allowance: Allowance) -> io::Result<Self> {
        let parts = parents.0.iter().map(|parent| Part::new(parent, allowance));
        Ok(Self(parts.collect::<Result<_, _>>()?))
    }

    /// Resets them for another bot; `false` when a process is in them or a bound was met.
    pub(crate) fn renew(&self) -> io::Result<bool> {
        for part in &self.0 {
            let is_met = |(_, file, start): &(Bound, File, &'static [u8])| is_counted(file, start);
            let members = fs::read(part.directory.join("cgroup.procs"))?;
            if !members.is_empty() || part.events.iter().any(is_met) {
                return Ok(false);
            }
            if part.version == Version::One && part.controllers.contains(&Controller::Memory) {
                // The peak starts again for the next bot.
                set(&part.directory, MOST_MEMORY, "0")?;
            }
            // The last bot may have been stopped when it was killed.
            if part.controllers.contains(&Controller::Freezer) {
                for setting in Controller::Freezer.settings(part.version, Allowance::default()) {
                    set(&part.directory, setting.file, &setting.value)?;
                }
            }
        }
        Ok(true)
    }

    pub(crate) fn membership(&self) -> io::Result<Membership> {
        let mut membership = Membership {
            group: None,
            procs: None,
            tasks: Vec::new(),
        };
        for part in &self.0 {
            let open = |name: &str| {
                let path = part.directory.join(name);
                File::options().write(true).open(path)
            };
            match part.version {
                Version::One => membership.tasks.push(open("tasks")?),
                Version::Two => {
                    membership.group = Some(File::open(&part.directory)?);
                    membership.procs = Some(open("cgroup.procs")?);
                }
            }
        }
        Ok(membership)
    }

    pub(crate) fn exceeded(&self) -> Option<Bound> {
        let is_met = |part: &Part, bound: Bound, file, start| {
            is_counted(file, start) && (bound != Bound::Tasks || has_had_all_tasks(&part.directory))
        };
        self.0.iter().find_map(|part| {
            let mut events = part.events.iter();
            let met = events.find(|(bound, file, start)| is_met(part, *bound, file, start));
            met.map(|(bound, ..)| match bound {
                // The kernel counts it in the process's group even when a parent group ran out of
                // memory.
                Bound::Memory if !part.has_had_all_memory() => Bound::OthersMemory,
                bound => *bound,
            })
        })
    }

    pub(crate) fn has(&self, controller: Controller) -> bool {
        self.0
            .iter()
            .any(|part| part.controllers.contains(&controller))
    }

    /// `None` where there is no freezer.
    pub(crate) fn freezer(&self) -> Option<Freezer> {
        let part = self
            .0
            .iter()
            .find(|part| part.controllers.contains(&Controller::Freezer))?;
        Some(Freezer {
            file: part.directory.join(match part.version {
                Version::One => "freezer.state",
                Version::Two => "cgroup.freeze",
            }),
            version: part.version,
        })
    }

    /// Counts CPU time from now on; `None` where nothing does.
    pub(crate) fn account(&self) -> Option<Account> {
        let counts = |part: &&Part| part.controllers.contains(&Controller::Account);
        let part = self.0.iter().find(counts)?;
        Account::new(&part.directory, part.version).ok()
    }

    pub(crate) fn thaw(&self) {
        for part in &self.0 {
            // v2 can kill stopped processes.
            if part.version == Version::One && part.controllers.contains(&Controller::Freezer) {
                let _ = set(&part.directory, "freezer.state", "THAWED");
            }
        }
    }

    /// Kills all processes, stopped ones included. A process started in a v2 group afterwards may
    /// be killed at its start (Linux 6.18): the groups must not be reused.
    pub(crate) fn kill(&self) {
        // All groups hold the same processes.
        let at_once = |part: &Part| {
            part.version == Version::Two && set(&part.directory, "cgroup.kill", "1").is_ok()
        };
        if self.0.iter().any(at_once) {
            return;
        }
        for part in &self.0 {
            kill_all(&part.directory, part.version);
        }
    }
}

/// In v2 with one write.
pub(super) fn kill_all(directory: &Path, version: Version) {
    if version == Version::Two && set(directory, "cgroup.kill", "1").is_ok() {
        return;
    }
    // Stopped processes cannot start others meanwhile.
    let _ = set(directory, "freezer.state", "FROZEN");
    let list = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    for pid in list
        .lines()
        .filter_map(|line| Pid::from_raw(line.parse().ok()?))
    {
        // It may have exited.
        let _ = kill_process(pid, Signal::KILL);
    }
    // A stopped process dies only when it continues.
    let _ = set(directory, "freezer.state", "THAWED");
}

/// Whether a group has met its bound on tasks. When a parent group is full, which is not the bot's
/// fault, the kernel counts that here too.
fn has_had_all_tasks(directory: &Path) -> bool {
    let number = |name| number(directory, name);
    let Some(limit) = number("pids.max") else {
        return true;
    };
    // Kernels before 6.1 do not record the peak; a bot that met the bound is still close to it.
    match number("pids.peak") {
        Some(peak) => peak >= limit,
        None => number("pids.current").is_none_or(|current| current > limit / 2),
    }
}

fn number(directory: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(directory.join(name)).ok()?;
    text.trim().parse().ok()
}

/// Whether a file has a line that starts so, with a number other than 0.
fn is_counted(file: &File, start: &[u8]) -> bool {
    let mut text = [0; 1 << 10];
    let length = file.read_at(&mut text, 0).unwrap_or(0);
    let mut lines = text[..length].split(|&byte| byte == b'\n');
    let count = lines.find_map(|line| line.strip_prefix(start));
    count.is_some_and(|count| count.trim_ascii() != b"0")
}

fn set(directory: &Path, name: &str, value: &str) -> io::Result<()> {
    // Never creates a file, in case this is another file system.
    let mut file = File::options().write(true).open(directory.join(name))?;
    file.write_all(value.as_bytes())
}

impl Part {
    pub(super) fn new(parent: &ParentGroup, allowance: Allowance) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = parent
            .directory
            .join(format!("{PREFIX}{}-{number}", std::process::id()));
        match fs::create_dir(&directory) {
            // Left by a killed process that had this process's id.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_dir(&directory)?;
                fs::create_dir(&directory)?;
            }
            made => made?,
        }
        Self::set_up(directory, parent, allowance)
    }

    fn set_up(directory: PathBuf, parent: &ParentGroup, allowance: Allowance) -> io::Result<Self> {
        let lock = File::open(&directory)?;
        flock(&lock, FlockOperation::NonBlockingLockShared)?;
        let mut part = Self {
            directory,
            version: parent.version,
            controllers: parent.controllers.clone(),
            events: Vec::new(),
            _lock: lock,
            maker: std::process::id(),
        };
        if part.controllers.contains(&Controller::Account) {
            Account::new(&part.directory, part.version)?;
        }
        for controller in &parent.controllers {
            for setting in controller.settings(parent.version, allowance) {
                match set(&part.directory, setting.file, &setting.value) {
                    Err(error) if setting.optional && error.kind() == io::ErrorKind::NotFound => {}
                    done => done?,
                }
            }
            let bound = match controller {
                Controller::Memory => Bound::Memory,
                _ => Bound::Tasks,
            };
            if let Some((file, start)) = controller.events(parent.version)
                && let Ok(file) = File::open(part.directory.join(file))
            {
                part.events.push((bound, file, start));
            }
        }
        Ok(part)
    }

    /// Whether the group itself, not only a parent, met its memory bound.
    fn has_had_all_memory(&self) -> bool {
        let number = |name| number(&self.directory, name);
        match self.version {
            Version::One => {
                let most = number(MOST_MEMORY);
                most.zip(number("memory.limit_in_bytes"))
                    .is_none_or(|(most, limit)| most + CHARGED_AT_ONCE >= limit)
            }
            Version::Two => File::open(self.directory.join("memory.events"))
                .is_ok_and(|events| is_counted(&events, b"oom ")),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if self.maker != std::process::id() {
            return;
        }
        let deadline = Instant::now() + EMPTYING;
        while let Err(error) = fs::remove_dir(&self.directory) {
            if error.raw_os_error() != Some(libc::EBUSY) || Instant::now() > deadline {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(test)]
mod tests;
