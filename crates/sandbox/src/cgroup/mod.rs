//! Control groups: what the kernel bounds and stops for all processes of a bot together. The bot's
//! supervisor makes, reads and removes its groups.
//!
//! v2 has one hierarchy; v1 has one for each controller, and some systems have both, so each
//! controller is looked up separately. A group is made beside the referee's own (systemd's user
//! sessions allow no group with both processes and child groups) or below it. Nothing is assumed:
//! the sandbox's probe exceeds the memory bound in such groups and must be killed for it.

mod controller;
mod group;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::controller::{Allowance, Controller, Group, OpenAccount};
use self::group::Part;
pub(super) use self::group::{Groups, Membership};
use super::private_directory::is_left_behind;
use super::procfs;

/// Where groups can be made, and for which controllers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParentGroup {
    group: Group,
    controllers: Vec<Controller>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParentGroups(Vec<ParentGroup>);

impl ParentGroups {
    pub fn find() -> Self {
        let mut found = Self::default();
        let (Ok(own), Ok(mounts)) = (procfs::own_file("cgroup"), procfs::own_file("mountinfo"))
        else {
            return found;
        };
        for controller in Controller::ALL {
            // The kernel counts a refused process in the group it was to be started in. Where a
            // parent group may be full, that must be visible in the referee's own group, or the bot
            // would be blamed.
            if controller == Controller::Pids && is_bounded() {
                continue;
            }
            let usable = candidates(&own, &mounts, controller)
                .into_iter()
                .find(ParentGroup::is_usable);
            if let Some(parent) = usable {
                found.add(parent);
            }
        }
        found
    }

    fn add(&mut self, parent: ParentGroup) {
        let same = |known: &&mut ParentGroup| known.group == parent.group;
        match self.0.iter_mut().find(same) {
            Some(known) => known.controllers.extend(parent.controllers),
            None => self.0.push(parent),
        }
    }

    /// The version of the interface for a controller, for people: `v2`. `None` when it cannot be
    /// used.
    pub fn version(&self, controller: Controller) -> Option<&'static str> {
        let parent = self
            .0
            .iter()
            .find(|parent| parent.controllers.contains(&controller))?;
        Some(match parent.group.version {
            Version::One => "v1",
            Version::Two => "v2",
        })
    }

    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl ParentGroup {
    /// Whether a group can be made here for its controllers. Removes groups left behind by killed
    /// supervisors, with the processes in them.
    fn is_usable(&self) -> bool {
        self.sweep();
        if self.group.version == Version::Two {
            for controller in &self.controllers {
                // It may be enabled already, or need no switch; the attempt below shows that.
                let on = format!("+{}", controller.name());
                let _ = self.group.set("cgroup.subtree_control", &on);
            }
        }
        Part::new(self, Allowance::PROBE).is_ok()
    }

    fn sweep(&self) {
        let entries = fs::read_dir(&self.group.directory).into_iter().flatten();
        for entry in entries.flatten().filter(is_left_behind) {
            let (directory, version) = (entry.path(), self.group.version);
            // A bot whose supervisor and referee were killed at the same time.
            group::kill_all(&Group { directory, version });
            // Fails while there are processes in it.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Whether this process's group, or a parent, bounds the number of processes.
fn is_bounded() -> bool {
    own_levels(Controller::Pids.name())
        .iter()
        .filter_map(|directory| fs::read_to_string(directory.join("pids.max")).ok())
        .any(|limit| limit.trim() != "max")
}

/// Where groups for a controller might be made. `own` and `mounts` are this process's `cgroup` and
/// `mountinfo` in `/proc`.
fn candidates(own: &str, mounts: &str, controller: Controller) -> Vec<ParentGroup> {
    let mut found = Vec::new();
    for (group, top) in own_groups(own, mounts, controller.name()) {
        let Group { directory, version } = group;
        let is_top = directory == top;
        let place = |directory: PathBuf| ParentGroup {
            group: Group { directory, version },
            controllers: vec![controller],
        };
        if version == Version::Two && !is_top {
            found.extend(directory.parent().map(|parent| place(parent.to_owned())));
        }
        found.push(place(directory));
    }
    if matches!(controller, Controller::Freezer | Controller::Account) {
        // v2 first: it can kill stopped processes, and one group serves both.
        found.sort_by_key(|parent| parent.group.version == Version::One);
    }
    found
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    One,
    Two,
}

/// The groups of this process in which `controller` may be enabled, and those above.
pub fn own_levels(controller: &str) -> Vec<PathBuf> {
    let own = procfs::own_file("cgroup").unwrap_or_default();
    let mounts = procfs::own_file("mountinfo").unwrap_or_default();
    let mut levels = Vec::new();
    for (group, top) in own_groups(&own, &mounts, controller) {
        let above = group.directory.ancestors();
        let seen = above.take_while(|directory| directory.starts_with(&top));
        levels.extend(seen.map(Path::to_owned));
    }
    levels
}

/// The groups of this process in which `controller` may be enabled, each with the topmost directory of its
/// hierarchy that this process sees. `own` and `mounts` are its `cgroup` and `mountinfo` in `/proc`.
fn own_groups(own: &str, mounts: &str, controller: &str) -> Vec<(Group, PathBuf)> {
    let group = |line: &str| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let version = match controllers {
            "" => Version::Two,
            _ if controllers.split(',').any(|name| name == controller) => Version::One,
            _ => return None,
        };
        let found = |line| mounted(line, version, controller, path);
        let (top, directory) = mounts.lines().find_map(found)?;
        Some((Group { directory, version }, top))
    };
    own.lines().filter_map(group).collect()
}

/// Where this `mountinfo` line mounts the hierarchy, and the directory of the group `path` there.
fn mounted(
    line: &str,
    version: Version,
    controller: &str,
    path: &str,
) -> Option<(PathBuf, PathBuf)> {
    let (place, system) = line.split_once(" - ")?;
    let mut system = system.split(' ');
    let kind = match version {
        Version::One => "cgroup",
        Version::Two => "cgroup2",
    };
    if system.next() != Some(kind) {
        return None;
    }
    if version == Version::One && !system.nth(1)?.split(',').any(|option| option == controller) {
        return None;
    }
    let mut place = place.split(' ').skip(3);
    let (root, point) = (place.next()?, place.next()?);
    // A container without a cgroup namespace sees a part of the whole tree mounted.
    let below = Path::new(path).strip_prefix(root).ok()?;
    let top = PathBuf::from(point);
    Some((top.clone(), top.join(below)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(own: &str, mounts: &str, controller: Controller) -> Vec<(String, Version)> {
        let shown = |parent: ParentGroup| {
            assert_eq!(parent.controllers, [controller]);
            let Group { directory, version } = parent.group;
            (directory.to_string_lossy().into_owned(), version)
        };
        candidates(own, mounts, controller)
            .into_iter()
            .map(shown)
            .collect()
    }

    #[test]
    fn a_session_of_systemd() {
        let mounts =
            "23 18 0:21 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
        let own = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-7.scope\n";
        let app = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice";
        for controller in Controller::ALL {
            assert_eq!(
                found(own, mounts, controller),
                [
                    (app.to_owned(), Version::Two),
                    (format!("{app}/run-7.scope"), Version::Two)
                ]
            );
        }
    }

    #[test]
    fn a_container() {
        let mounts = "30 20 0:26 /../.. /elsewhere ro - cgroup2 cgroup2 ro\n\
                      31 20 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup2 ro\n";
        assert_eq!(
            found("0::/\n", mounts, Controller::Memory),
            [("/sys/fs/cgroup/".to_owned(), Version::Two)]
        );
    }

    #[test]
    fn the_old_hierarchies_and_a_part_of_one() {
        let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                      35 31 0:32 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let own = "5:cpu,cpuacct:/a\n4:memory:/docker/1/b\n";
        assert_eq!(
            found(own, mounts, Controller::Memory),
            [("/sys/fs/cgroup/memory/b".to_owned(), Version::One)]
        );
        assert_eq!(
            found(own, mounts, Controller::Cpu),
            [("/sys/fs/cgroup/cpu/a".to_owned(), Version::One)]
        );
        assert_eq!(found(own, mounts, Controller::Pids), []);
    }

    #[test]
    fn both_at_once() {
        let mounts = "32 31 0:29 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n\
                      35 31 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let own = "6:freezer:/\n0::/\n";
        let versions: Vec<_> = found(own, mounts, Controller::Freezer)
            .into_iter()
            .map(|(_, version)| version)
            .collect();
        assert_eq!(versions, [Version::Two, Version::One]);
    }

    #[test]
    fn one_directory_for_several_controllers() {
        let place = |directory: &str, version, controller| ParentGroup {
            group: Group {
                directory: directory.into(),
                version,
            },
            controllers: vec![controller],
        };
        let mut parents = ParentGroups::default();
        assert!(parents.is_empty());
        parents.add(place("/a", Version::Two, Controller::Memory));
        parents.add(place("/b", Version::One, Controller::Cpu));
        parents.add(place("/a", Version::Two, Controller::Pids));
        assert_eq!(parents.0.len(), 2);
        assert_eq!(parents.version(Controller::Pids), Some("v2"));
        assert_eq!(parents.version(Controller::Cpu), Some("v1"));
        assert_eq!(parents.version(Controller::Freezer), None);
    }

    #[test]
    fn nothing_is_mounted() {
        for controller in Controller::ALL {
            let disk = "22 1 8:1 / / rw - ext4 /dev/sda rw\n";
            assert_eq!(found("0::/a\n", disk, controller), []);
            assert_eq!(found("", "", controller), []);
            assert_eq!(found("nonsense\n", "nonsense - nonsense", controller), []);
        }
    }
}
