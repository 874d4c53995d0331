use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};

use super::Version;
use super::controller::{Allowance, Controller, Group};
use super::{ParentGroup, ParentGroups};
use crate::limits::Exceeded;
use crate::private_directory::PREFIX;

/// How long the kernel may take to notice that a group is empty.
const EMPTYING: Duration = Duration::from_secs(1);

/// The peak memory of a group (v1).
const MOST_MEMORY: &str = "memory.max_usage_in_bytes";

/// The kernel charges this many bytes at a time where it can, and may give up when fewer are left.
const CHARGED_AT_ONCE: u64 = 64 << 12;

/// A bot's groups, one in each hierarchy. Removed when dropped.
#[derive(Debug, Default)]
pub(crate) struct Groups(Vec<Part>);

#[derive(Debug)]
pub(super) struct Part {
    group: Group,
    controllers: Vec<Controller>,
    /// Counters of bounds met, each with how its line starts.
    events: Vec<(Controller, File, &'static [u8])>,
    _lock: File,
}

/// How a process becomes a member of groups. Moving a process between groups makes all processes of
/// the system wait before they start or exit, for up to 20 ms: processes are never moved.
#[derive(Debug, Default)]
pub(crate) struct Membership {
    /// The directory of the v2 group, in which the process is started.
    pub(crate) group: Option<File>,
    /// The `tasks` files of v1: a thread may write itself there without that wait.
    tasks: Vec<File>,
}

impl Membership {
    /// Makes this process, which has one thread, a member; it was started in `group`.
    pub(crate) fn take(&self) -> io::Result<()> {
        self.tasks
            .iter()
            .try_for_each(|mut file| file.write_all(b"0"))
    }
}

impl Groups {
    /// Groups named after this process.
    pub(crate) fn new(parents: &ParentGroups, allowance: Allowance) -> io::Result<Self> {
        let parts = parents.0.iter().map(|parent| Part::new(parent, allowance));
        Ok(Self(parts.collect::<Result<_, _>>()?))
    }

    pub(crate) fn membership(&self) -> io::Result<Membership> {
        let mut membership = Membership::default();
        for part in &self.0 {
            let Group { directory, version } = &part.group;
            match version {
                Version::One => {
                    let tasks = File::options().write(true).open(directory.join("tasks"))?;
                    membership.tasks.push(tasks);
                }
                Version::Two => membership.group = Some(File::open(directory)?),
            }
        }
        Ok(membership)
    }

    /// The bound that was met; processes and threads count together, as threads.
    pub(crate) fn exceeded(&self) -> Option<Exceeded> {
        self.0.iter().find_map(|part| {
            let mut events = part.events.iter();
            events.find_map(|(controller, file, start)| {
                let is_met = is_counted(file, start);
                match controller {
                    _ if !is_met => None,
                    Controller::Memory if has_had_all_memory(&part.group) => Some(Exceeded::Memory),
                    // The kernel counts it in the process's group even when a parent group ran out
                    // of memory.
                    Controller::Memory => Some(Exceeded::OthersMemory),
                    _ => has_had_all_tasks(&part.group).then_some(Exceeded::Threads),
                }
            })
        })
    }

    pub(crate) fn with(&self, controller: Controller) -> Option<&Group> {
        let mut parts = self.0.iter();
        let part = parts.find(|part| part.controllers.contains(&controller))?;
        Some(&part.group)
    }

    pub(crate) fn thaw(&self) {
        // v2 can kill stopped processes.
        let group = self.with(Controller::Freezer);
        if let Some(group) = group.filter(|group| group.version == Version::One) {
            let _ = group.set_frozen(false);
        }
    }
}

/// Kills all processes, stopped ones included; in v2 with one write.
pub(super) fn kill_all(group: &Group) {
    if group.version == Version::Two && group.set("cgroup.kill", "1").is_ok() {
        return;
    }
    // Stopped processes cannot start others meanwhile.
    let _ = group.set("freezer.state", "FROZEN");
    let list = fs::read_to_string(group.directory.join("cgroup.procs")).unwrap_or_default();
    for pid in list
        .lines()
        .filter_map(|line| Pid::from_raw(line.parse().ok()?))
    {
        // It may have exited.
        let _ = kill_process(pid, Signal::KILL);
    }
    // A stopped process dies only when it continues.
    let _ = group.set("freezer.state", "THAWED");
}

/// Whether a group has met its bound on tasks. When a parent group is full, which is not the bot's
/// fault, the kernel counts that here too.
fn has_had_all_tasks(group: &Group) -> bool {
    let Some(limit) = group.number("pids.max") else {
        return true;
    };
    // Kernels before 6.1 do not record the peak; a bot that met the bound is still close to it.
    match group.number("pids.peak") {
        Some(peak) => peak >= limit,
        None => group
            .number("pids.current")
            .is_none_or(|current| current > limit / 2),
    }
}

/// Whether the group itself, not only a parent, met its memory bound.
fn has_had_all_memory(group: &Group) -> bool {
    match group.version {
        Version::One => {
            let most = group.number(MOST_MEMORY);
            most.zip(group.number("memory.limit_in_bytes"))
                .is_none_or(|(most, limit)| most + CHARGED_AT_ONCE >= limit)
        }
        Version::Two => File::open(group.directory.join("memory.events"))
            .is_ok_and(|events| is_counted(&events, b"oom ")),
    }
}

/// Whether a file has a line that starts so, with a number other than 0.
fn is_counted(file: &File, start: &[u8]) -> bool {
    let mut text = [0; 1 << 10];
    let length = file.read_at(&mut text, 0).unwrap_or(0);
    let mut lines = text[..length].split(|&byte| byte == b'\n');
    let count = lines.find_map(|line| line.strip_prefix(start));
    count.is_some_and(|count| count.trim_ascii() != b"0")
}

impl Part {
    pub(super) fn new(parent: &ParentGroup, allowance: Allowance) -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir_in(&parent.group.directory)?
            .keep();
        Self::set_up(directory, parent, allowance)
    }

    fn set_up(directory: PathBuf, parent: &ParentGroup, allowance: Allowance) -> io::Result<Self> {
        let lock = File::open(&directory)?;
        flock(&lock, FlockOperation::NonBlockingLockShared)?;
        let version = parent.group.version;
        let mut part = Self {
            group: Group { directory, version },
            controllers: parent.controllers.clone(),
            events: Vec::new(),
            _lock: lock,
        };
        if part.controllers.contains(&Controller::Account) {
            let account = part.group.open_account()?;
            let used = account.and_then(|account| account.read());
            used.ok_or(io::ErrorKind::InvalidData)?;
        }
        for controller in &parent.controllers {
            for (file, value, is_needed) in controller.settings(version, allowance) {
                match part.group.set(file, &value) {
                    Err(error) if !is_needed && error.kind() == io::ErrorKind::NotFound => {}
                    done => done?,
                }
            }
            if let Some((file, start)) = controller.events(version)
                && let Ok(file) = File::open(part.group.directory.join(file))
            {
                part.events.push((*controller, file, start));
            }
        }
        Ok(part)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let deadline = Instant::now() + EMPTYING;
        while let Err(error) = fs::remove_dir(&self.group.directory) {
            if error.raw_os_error() != Some(libc::EBUSY) || Instant::now() > deadline {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(test)]
mod tests;
