//! The groups of one bot.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{FlockOperation, flock};

use super::controller::{GroupAllowance, GroupController, GroupVersion};
use super::group::{ControlGroup, OpenMemory, count};
use super::parent_groups::{ParentGroup, ParentGroups};
use crate::limits::ExceededLimit;
use crate::private_directory::PREFIX;

/// How long the kernel may take to notice that a group is empty.
const EMPTYING: Duration = Duration::from_secs(1);

/// A bot's groups, one in each hierarchy. Removed when dropped.
#[derive(Debug, Default)]
pub(crate) struct BotGroups(Vec<BotGroup>);

#[derive(Debug)]
pub(super) struct BotGroup {
    group: ControlGroup,
    controllers: Vec<GroupController>,
    /// The counter of processes killed for want of memory, with how its line starts.
    oom_kills: Option<(File, &'static [u8])>,
    _lock: File,
}

/// How a process becomes a member of groups. Moving a process between groups makes all processes of
/// the system wait before they start or exit, for up to 20 ms: processes are never moved.
#[derive(Debug, Default)]
pub(crate) struct GroupMembership {
    /// The directory of the v2 group, in which the process is started.
    pub(crate) group: Option<File>,
    /// The `tasks` files of v1: a thread may write itself there without that wait.
    tasks: Vec<File>,
}

impl GroupMembership {
    /// Makes this process, which has one thread, a member; it was started in `group`.
    pub(crate) fn take(&self) -> io::Result<()> {
        self.tasks
            .iter()
            .try_for_each(|mut file| file.write_all(b"0"))
    }
}

impl BotGroups {
    /// Groups named after this process.
    pub(crate) fn new(parents: &ParentGroups, allowance: GroupAllowance) -> io::Result<Self> {
        let bot_groups = parents
            .0
            .iter()
            .map(|parent| BotGroup::new(parent, allowance));
        Ok(Self(bot_groups.collect::<Result<_, _>>()?))
    }

    pub(crate) fn membership(&self) -> io::Result<GroupMembership> {
        let mut membership = GroupMembership::default();
        for bot_group in &self.0 {
            let ControlGroup { directory, version } = &bot_group.group;
            match version {
                GroupVersion::One => {
                    let tasks = File::options().write(true).open(directory.join("tasks"))?;
                    membership.tasks.push(tasks);
                }
                GroupVersion::Two => membership.group = Some(File::open(directory)?),
            }
        }
        Ok(membership)
    }

    /// The bound for which the kernel killed a process. That on processes and threads is an error for the bot.
    pub(crate) fn exceeded(&self) -> Option<ExceededLimit> {
        self.0.iter().find_map(|bot_group| {
            let (file, start) = bot_group.oom_kills.as_ref()?;
            if !is_counted(file, start) {
                return None;
            }
            // The kernel counts it in the process's group even when a parent group ran out of memory.
            Some(if has_had_all_memory(&bot_group.group) {
                ExceededLimit::Memory
            } else {
                ExceededLimit::OthersMemory
            })
        })
    }

    pub(crate) fn with(&self, controller: GroupController) -> Option<&ControlGroup> {
        let mut bot_groups = self.0.iter();
        let bot_group = bot_groups.find(|bot_group| bot_group.controllers.contains(&controller))?;
        Some(&bot_group.group)
    }

    /// Becomes readable when the kernel is about to kill a process of the group for want of memory. Only v1
    /// has it: in v2 the kernel kills all of them.
    pub(crate) fn out_of_memory(&self) -> Option<OwnedFd> {
        let group = self.with(GroupController::Memory)?;
        if group.version == GroupVersion::Two {
            return None;
        }
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok()?;
        let file = File::open(group.directory.join("memory.oom_control")).ok()?;
        let words = format!("{} {}", event.as_raw_fd(), file.as_raw_fd());
        group.set("cgroup.event_control", &words).ok()?;
        Some(event)
    }

    /// What the memory of the processes has been so far.
    pub(crate) fn memory(&self) -> Option<OpenMemory> {
        self.with(GroupController::Memory)?.open_memory()
    }

    pub(crate) fn thaw(&self) {
        // v2 can kill stopped processes.
        let group = self.with(GroupController::Freezer);
        if let Some(group) = group.filter(|group| group.version == GroupVersion::One) {
            let _ = group.set_frozen(false);
        }
    }
}

/// Whether the group itself, not only a parent, met its memory bound.
fn has_had_all_memory(group: &ControlGroup) -> bool {
    match group.version {
        // How often the bound refused memory. The peak may miss the bound by what several processes asked
        // for at the same time.
        GroupVersion::One => group.number("memory.failcnt").is_none_or(|times| times > 0),
        GroupVersion::Two => File::open(group.directory.join("memory.events"))
            .is_ok_and(|events| is_counted(&events, b"oom ")),
    }
}

/// Whether a file has a line that starts so, with a number other than 0.
fn is_counted(file: &File, start: &[u8]) -> bool {
    count(file, start).is_some_and(|count| count != 0)
}

impl BotGroup {
    pub(super) fn new(parent: &ParentGroup, allowance: GroupAllowance) -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir_in(&parent.group.directory)?
            .keep();
        Self::set_up(directory, parent, allowance)
    }

    fn set_up(
        directory: PathBuf,
        parent: &ParentGroup,
        allowance: GroupAllowance,
    ) -> io::Result<Self> {
        let lock = File::open(&directory)?;
        flock(&lock, FlockOperation::NonBlockingLockShared)?;
        let version = parent.group.version;
        let mut bot_group = Self {
            group: ControlGroup { directory, version },
            controllers: parent.controllers.clone(),
            oom_kills: None,
            _lock: lock,
        };
        if bot_group.controllers.contains(&GroupController::Account) {
            let account = bot_group.group.open_account()?;
            let used = account.and_then(|account| account.read());
            used.ok_or(io::ErrorKind::InvalidData)?;
        }
        for controller in &parent.controllers {
            for (file, value, is_needed) in controller.settings(version, allowance) {
                match bot_group.group.set(file, &value) {
                    Err(error) if !is_needed && error.kind() == io::ErrorKind::NotFound => {}
                    done => done?,
                }
            }
        }
        if bot_group.controllers.contains(&GroupController::Memory) {
            let (file, start) = GroupController::oom_kills(version);
            let file = File::open(bot_group.group.directory.join(file))?;
            bot_group.oom_kills = Some((file, start));
        }
        Ok(bot_group)
    }
}

impl Drop for BotGroup {
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
