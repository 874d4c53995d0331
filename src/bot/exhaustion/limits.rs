//! This process's limits on processes and threads, and their use.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit, getuid};

use crate::sandbox::cgroup::{OwnGroup, own_groups};
use crate::sandbox::procfs;

/// With at most this many free, a limit has probably just been reached: failures free some again
/// before they are looked at.
pub(super) const SLACK: u64 = 64;

#[derive(Debug)]
pub(super) struct Limits {
    /// Its control groups with a limit, from its own upwards.
    groups: Vec<PidsGroup>,
}

#[derive(Debug)]
struct PidsGroup {
    directory: PathBuf,
    /// Counts refusals.
    events: Option<File>,
}

/// A limit and its use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LimitInUse {
    kind: LimitKind,
    pub(super) most: u64,
    pub(super) used: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LimitKind {
    /// `pids.max` in this directory.
    Group(PathBuf),
    /// `RLIMIT_NPROC` of this user.
    User(u32),
    ProcessIds,
    Threads,
}

impl LimitInUse {
    pub(super) const fn free(&self) -> u64 {
        self.most.saturating_sub(self.used)
    }

    /// Judged by the numbers.
    fn is_reached(&self) -> bool {
        self.free() <= (self.most / 16).min(SLACK)
    }

    /// Whose tasks it counts.
    pub(super) fn owner(&self) -> String {
        match &self.kind {
            LimitKind::Group(_) => "the referee's control group".to_owned(),
            LimitKind::User(user) => format!("user {user}"),
            LimitKind::ProcessIds | LimitKind::Threads => "this machine".to_owned(),
        }
    }

    pub(super) fn setting(&self) -> String {
        match &self.kind {
            LimitKind::Group(directory) => directory.join("pids.max").display().to_string(),
            LimitKind::User(_) => "ulimit -u, RLIMIT_NPROC".to_owned(),
            LimitKind::ProcessIds => "kernel.pid_max".to_owned(),
            LimitKind::Threads => "kernel.threads-max".to_owned(),
        }
    }

    pub(super) const fn fix(&self) -> &'static str {
        match &self.kind {
            LimitKind::Group(_) => {
                "of a container: --pids-limit; of a systemd unit or user: TasksMax="
            }
            LimitKind::User(_) => "ulimit -u, or nproc in /etc/security/limits.conf",
            LimitKind::ProcessIds => "sysctl kernel.pid_max",
            LimitKind::Threads => "sysctl kernel.threads-max",
        }
    }
}

impl Limits {
    pub(super) fn find() -> Self {
        let own = procfs::own_cgroups().unwrap_or_default();
        let mounts = procfs::own_mounts().unwrap_or_default();
        Self {
            groups: pids_groups(&own_groups(&own, &mounts, "pids")),
        }
    }

    /// How many processes and threads the control groups have refused. The kernel counts no
    /// refusals for other limits.
    pub(super) fn refusals(&self) -> u64 {
        self.groups.iter().filter_map(PidsGroup::refusals).sum()
    }

    /// The limit that has just refused a process or thread.
    pub(super) fn refusing(&self) -> Option<LimitInUse> {
        let reached = self.least_free().filter(LimitInUse::is_reached);
        reached.or_else(|| {
            let refusing = self
                .groups
                .iter()
                .filter(|group| group.refusals() > Some(0));
            refusing
                .filter_map(PidsGroup::in_use)
                .min_by_key(LimitInUse::free)
        })
    }

    /// A limit that is reached now, of those without refusal counts.
    pub(super) fn reached_uncounted(&self) -> Option<LimitInUse> {
        let uncounted = self.groups.iter().filter(|group| group.events.is_none());
        let groups = uncounted.filter_map(PidsGroup::in_use);
        groups
            .chain(of_system())
            .filter(LimitInUse::is_reached)
            .min_by_key(LimitInUse::free)
    }

    /// The limit with the fewest free. Reads a file for each process when a limit might be reached.
    pub(super) fn least_free(&self) -> Option<LimitInUse> {
        let groups = self.groups.iter().filter_map(PidsGroup::in_use);
        groups.chain(of_system()).min_by_key(LimitInUse::free)
    }
}

/// Available memory of the machine, or of a control group if less.
pub(super) fn memory() -> Option<(u64, &'static str)> {
    let own = procfs::own_cgroups().unwrap_or_default();
    let mounts = procfs::own_mounts().unwrap_or_default();
    let groups = own_groups(&own, &mounts, "memory");
    let limit = |directory: &Path| {
        let files = ["memory.max", "memory.limit_in_bytes"].into_iter();
        let mut texts = files.filter_map(|name| fs::read_to_string(directory.join(name)).ok());
        let bytes = texts.find_map(|text| text.trim().parse().ok())?;
        Some((bytes, "the referee's control group"))
    };
    let limits = groups.iter().flat_map(OwnGroup::levels).filter_map(limit);
    let machine = procfs::available_memory().map(|bytes| (bytes, "this machine"));
    limits.chain(machine).min_by_key(|&(bytes, _)| bytes)
}

/// Limits of the user and of the machine.
fn of_system() -> Vec<LimitInUse> {
    let Some(tasks) = procfs::tasks_of_system() else {
        return Vec::new();
    };
    let setting = |name| procfs::kernel_setting(name)?.parse::<u64>().ok();
    let mut found = Vec::new();
    if let Some(most) = setting("kernel/threads-max") {
        found.push(LimitInUse {
            kind: LimitKind::Threads,
            most,
            used: tasks,
        });
    }
    let counted = |kind: LimitKind, most: u64, of_user| {
        let might = LimitInUse {
            kind,
            most,
            used: tasks,
        };
        if might.free() <= SLACK {
            let used = procfs::count_tasks(of_user);
            return LimitInUse { used, ..might };
        }
        might
    };
    if let Some(most) = setting("kernel/pid_max") {
        found.push(counted(LimitKind::ProcessIds, most, None));
    }
    let user = getuid();
    if let (Some(most), false) = (getrlimit(Resource::Nproc).current, user.is_root()) {
        let user = user.as_raw();
        found.push(counted(LimitKind::User(user), most, Some(user)));
    }
    found
}

/// Those of these groups and their parents that count processes.
fn pids_groups(own: &[OwnGroup]) -> Vec<PidsGroup> {
    let levels = own.iter().flat_map(OwnGroup::levels);
    let with_limit = levels.filter(|directory| directory.join("pids.max").exists());
    let groups = with_limit.map(|directory| PidsGroup {
        directory: directory.to_owned(),
        events: File::open(directory.join("pids.events")).ok(),
    });
    groups.collect()
}

impl PidsGroup {
    /// `None` when it has no limit, or is gone.
    fn in_use(&self) -> Option<LimitInUse> {
        let number = |name| {
            let text = fs::read_to_string(self.directory.join(name)).ok()?;
            text.trim().parse().ok()
        };
        Some(LimitInUse {
            most: number("pids.max")?,
            used: number("pids.current")?,
            kind: LimitKind::Group(self.directory.clone()),
        })
    }

    fn refusals(&self) -> Option<u64> {
        let mut text = [0; 256];
        let length = self.events.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..length]).ok()?;
        let count = text.lines().find_map(|line| line.strip_prefix("max "))?;
        count.trim().parse().ok()
    }
}
