//! Memory bounded by the kernel for all processes of a bot together, where this machine lets the
//! referee make control groups: a group for every bot, made, read and removed by its supervisor.
//!
//! A group is made beside the referee's own (as systemd's user sessions allow, where no group may
//! have both processes and groups below it) or below it. Nothing is assumed: the
//! sandbox's probe exceeds the bound, and must be ended for it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use super::hierarchy::{OwnGroup, Version, own_groups};
use super::procfs;

/// How a group's directory begins, before the process id of its supervisor.
const PREFIX: &str = "referee-";

/// How long the kernel may take to notice the end of a group's last process.
const EMPTYING: Duration = Duration::from_secs(1);

/// Where groups can be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ParentGroup {
    /// The directory of the group above them.
    directory: PathBuf,
    version: Version,
}

impl Version {
    /// The file with the bound in bytes.
    const fn bound(self) -> &'static str {
        match self {
            Self::One => "memory.limit_in_bytes",
            Self::Two => "memory.max",
        }
    }

    /// What else is set, where the kernel has it: memory must not go to disk instead, and a bot
    /// ends as a whole.
    fn more(self, bytes: u64) -> Vec<(&'static str, String)> {
        match self {
            Self::One => vec![("memory.memsw.limit_in_bytes", bytes.to_string())],
            Self::Two => vec![
                ("memory.swap.max", "0".to_owned()),
                ("memory.oom.group", "1".to_owned()),
            ],
        }
    }

    /// The file that counts processes ended for the bound, on a line `oom_kill N`.
    const fn events(self) -> &'static str {
        match self {
            Self::One => "memory.oom_control",
            Self::Two => "memory.events",
        }
    }
}

impl ParentGroup {
    /// A place where this process can make groups, if there is one.
    pub(crate) fn find() -> Option<Self> {
        let own = procfs::own_cgroups().ok()?;
        let mounts = procfs::own_mounts().ok()?;
        candidates(&own, &mounts).into_iter().find(Self::is_usable)
    }

    /// Whether a group with a bound can be made here; also removes those that supervisors left
    /// behind which were killed.
    fn is_usable(&self) -> bool {
        self.sweep();
        if self.version == Version::Two {
            // It may be on already; the attempt below shows whether it is.
            let _ = fs::write(self.directory.join("cgroup.subtree_control"), "+memory");
        }
        Group::new(self, 1 << 30).is_ok()
    }

    fn sweep(&self) {
        for entry in fs::read_dir(&self.directory)
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name();
            let supervisor = name
                .to_str()
                .and_then(|name| Pid::from_raw(name.strip_prefix(PREFIX)?.parse().ok()?));
            if supervisor.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH)) {
                // A bot that lives on because its supervisor and the referee were killed at once.
                // Only the newer version has the file; without it the group stays.
                let _ = fs::write(entry.path().join("cgroup.kill"), "1");
                // The kernel refuses while there are processes in it.
                let _ = fs::remove_dir(entry.path());
            }
        }
    }

    /// The version, for people: `v2`.
    pub(crate) const fn version(&self) -> &'static str {
        match self.version {
            Version::One => "v1",
            Version::Two => "v2",
        }
    }
}

/// Where groups might be made: `own` and `mounts` are this process's `cgroup` and `mountinfo` in
/// `/proc`.
fn candidates(own: &str, mounts: &str) -> Vec<ParentGroup> {
    let mut found = Vec::new();
    for group in own_groups(own, mounts, "memory") {
        let OwnGroup {
            directory,
            version,
            is_root,
            ..
        } = group;
        if version == Version::Two && !is_root {
            found.extend(directory.parent().map(|parent| ParentGroup {
                directory: parent.to_owned(),
                version,
            }));
        }
        found.push(ParentGroup { directory, version });
    }
    found
}

/// The group of one bot. Removed when dropped.
#[derive(Debug)]
pub(super) struct Group {
    directory: PathBuf,
    /// The count of processes that were ended for the bound; read often.
    events: Option<File>,
}

impl Group {
    /// A group of this process's name, in which all processes together have so many bytes.
    pub(super) fn new(parent: &ParentGroup, bytes: u64) -> io::Result<Self> {
        let directory = parent
            .directory
            .join(format!("{PREFIX}{}", std::process::id()));
        match fs::create_dir(&directory) {
            // A killed supervisor left it, and had this process's number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_dir(&directory)?;
                fs::create_dir(&directory)?;
            }
            made => made?,
        }
        let group = Self {
            events: File::open(directory.join(parent.version.events())).ok(),
            directory,
        };
        group.set(parent.version.bound(), &bytes.to_string())?;
        for (name, value) in parent.version.more(bytes) {
            match group.set(name, &value) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(group)
    }

    fn set(&self, name: &str, value: &str) -> io::Result<()> {
        // Never creates: on another file system it would be a file like any other.
        let mut file = File::options()
            .write(true)
            .open(self.directory.join(name))?;
        file.write_all(value.as_bytes())
    }

    /// The file that a process writes `0` to, to be in the group from then on with all that it starts.
    pub(super) fn procs_file(&self) -> io::Result<File> {
        File::options()
            .write(true)
            .open(self.directory.join("cgroup.procs"))
    }

    /// Whether the kernel has ended a process for the bound.
    pub(super) fn exceeded(&self) -> bool {
        let mut text = [0; 1 << 10];
        let length = self
            .events
            .as_ref()
            .and_then(|events| events.read_at(&mut text, 0).ok());
        text[..length.unwrap_or(0)]
            .split(|&byte| byte == b'\n')
            .find_map(|line| line.strip_prefix(b"oom_kill "))
            .is_some_and(|count| count.trim_ascii() != b"0")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
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
mod tests {
    use super::*;

    fn found(own: &str, mounts: &str) -> Vec<(String, Version)> {
        candidates(own, mounts)
            .into_iter()
            .map(|parent| {
                (
                    parent.directory.to_string_lossy().into_owned(),
                    parent.version,
                )
            })
            .collect()
    }

    #[test]
    fn a_session_of_systemd() {
        let mounts =
            "23 18 0:21 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
        let own = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-7.scope\n";
        let app = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice";
        assert_eq!(
            found(own, mounts),
            [
                (app.to_owned(), Version::Two),
                (format!("{app}/run-7.scope"), Version::Two)
            ]
        );
    }

    #[test]
    fn a_container() {
        let mounts = "30 20 0:26 /../.. /elsewhere ro - cgroup2 cgroup2 ro\n\
                      31 20 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup2 ro\n";
        assert_eq!(
            found("0::/\n", mounts),
            [("/sys/fs/cgroup/".to_owned(), Version::Two)]
        );
    }

    #[test]
    fn the_old_hierarchies_and_a_part_of_one() {
        let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      35 31 0:32 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let own = "5:cpu:/a\n4:memory:/docker/1/b\n";
        assert_eq!(
            found(own, mounts),
            [("/sys/fs/cgroup/memory/b".to_owned(), Version::One)]
        );
    }

    #[test]
    fn nothing_is_mounted() {
        assert_eq!(found("0::/a\n", "22 1 8:1 / / rw - ext4 /dev/sda rw\n"), []);
        assert_eq!(found("", ""), []);
        assert_eq!(found("nonsense\n", "nonsense - nonsense"), []);
    }
}
