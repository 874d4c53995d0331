//! Where control groups for bots can be made.

use std::fs;
use std::path::PathBuf;

use super::bot_groups::BotGroup;
use super::controller::{GroupAllowance, GroupController, GroupVersion};
use super::group::ControlGroup;
use super::hierarchy::{groups_of_this_process, levels_of_this_process};
use super::parent_groups::{ParentGroup, ParentGroups};
use crate::private_directory::is_left_behind;
use crate::procfs;

/// Tries where groups can be made, and for which controllers.
pub fn find_parent_groups() -> ParentGroups {
    let mut found = ParentGroups::default();
    let (Ok(groups), Ok(mounts)) = (
        procfs::file_of_this_process("cgroup"),
        procfs::file_of_this_process("mountinfo"),
    ) else {
        return found;
    };
    for controller in GroupController::ALL {
        // The kernel counts a refused process in the group it was to be started in. Where a
        // parent group may be full, that must be visible in the referee's own group, or the bot
        // would be blamed.
        if controller == GroupController::Pids && is_bounded() {
            continue;
        }
        let usable = candidates(&groups, &mounts, controller)
            .into_iter()
            .find(is_usable);
        if let Some(parent) = usable {
            found.add(parent);
        }
    }
    found
}

/// Whether a group can be made there for its controllers. Removes groups left behind by killed
/// supervisors, with the processes in them.
fn is_usable(parent: &ParentGroup) -> bool {
    sweep(&parent.group);
    if parent.group.version == GroupVersion::Two {
        for controller in &parent.controllers {
            // It may be enabled already, or need no switch; the attempt below shows that.
            let on = format!("+{}", controller.name());
            let _ = parent.group.set("cgroup.subtree_control", &on);
        }
    }
    BotGroup::new(parent, GroupAllowance::PROBE).is_ok()
}

fn sweep(parent: &ControlGroup) {
    let entries = fs::read_dir(&parent.directory).into_iter().flatten();
    for entry in entries.flatten().filter(is_left_behind) {
        let (directory, version) = (entry.path(), parent.version);
        // A bot whose supervisor and referee were killed at the same time.
        ControlGroup { directory, version }.kill_all();
        // Fails while there are processes in it.
        let _ = fs::remove_dir(entry.path());
    }
}

/// Whether this process's group, or a parent, bounds the number of processes.
fn is_bounded() -> bool {
    levels_of_this_process(GroupController::Pids.name())
        .iter()
        .filter_map(|directory| fs::read_to_string(directory.join("pids.max")).ok())
        .any(|limit| limit.trim() != "max")
}

/// Where groups for a controller might be made. `groups` and `mounts` are this process's `cgroup` and
/// `mountinfo` in `/proc`.
fn candidates(groups: &str, mounts: &str, controller: GroupController) -> Vec<ParentGroup> {
    let mut found = Vec::new();
    for (group, top) in groups_of_this_process(groups, mounts, controller.name()) {
        let ControlGroup { directory, version } = group;
        let is_top = directory == top;
        let place = |directory: PathBuf| ParentGroup {
            group: ControlGroup { directory, version },
            controllers: vec![controller],
        };
        if version == GroupVersion::Two && !is_top {
            found.extend(directory.parent().map(|parent| place(parent.to_owned())));
        }
        found.push(place(directory));
    }
    if matches!(
        controller,
        GroupController::Freezer | GroupController::Account
    ) {
        // v2 first: it can kill stopped processes, and one group serves both.
        found.sort_by_key(|parent| parent.group.version == GroupVersion::One);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        groups: &str,
        mounts: &str,
        controller: GroupController,
    ) -> Vec<(String, GroupVersion)> {
        let place = |parent: ParentGroup| {
            assert_eq!(parent.controllers, [controller]);
            let ControlGroup { directory, version } = parent.group;
            (directory.to_string_lossy().into_owned(), version)
        };
        candidates(groups, mounts, controller)
            .into_iter()
            .map(place)
            .collect()
    }

    #[test]
    fn a_session_of_systemd() {
        let mounts =
            "23 18 0:21 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
        let groups = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-7.scope\n";
        let app = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice";
        for controller in GroupController::ALL {
            assert_eq!(
                found(groups, mounts, controller),
                [
                    (app.to_owned(), GroupVersion::Two),
                    (format!("{app}/run-7.scope"), GroupVersion::Two)
                ]
            );
        }
    }

    #[test]
    fn a_container() {
        let mounts = "30 20 0:26 /../.. /elsewhere ro - cgroup2 cgroup2 ro\n\
                      31 20 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup2 ro\n";
        assert_eq!(
            found("0::/\n", mounts, GroupController::Memory),
            [("/sys/fs/cgroup/".to_owned(), GroupVersion::Two)]
        );
    }

    #[test]
    fn the_old_hierarchies_and_a_part_of_one() {
        let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                      35 31 0:32 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let groups = "5:cpu,cpuacct:/a\n4:memory:/docker/1/b\n";
        assert_eq!(
            found(groups, mounts, GroupController::Memory),
            [("/sys/fs/cgroup/memory/b".to_owned(), GroupVersion::One)]
        );
        assert_eq!(
            found(groups, mounts, GroupController::Cpu),
            [("/sys/fs/cgroup/cpu/a".to_owned(), GroupVersion::One)]
        );
        assert_eq!(found(groups, mounts, GroupController::Pids), []);
    }

    #[test]
    fn both_at_once() {
        let mounts = "32 31 0:29 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n\
                      35 31 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let groups = "6:freezer:/\n0::/\n";
        let versions: Vec<_> = found(groups, mounts, GroupController::Freezer)
            .into_iter()
            .map(|(_, version)| version)
            .collect();
        assert_eq!(versions, [GroupVersion::Two, GroupVersion::One]);
    }

    #[test]
    fn nothing_is_mounted() {
        for controller in GroupController::ALL {
            let disk = "22 1 8:1 / / rw - ext4 /dev/sda rw\n";
            assert_eq!(found("0::/a\n", disk, controller), []);
            assert_eq!(found("", "", controller), []);
            assert_eq!(found("nonsense\n", "nonsense - nonsense", controller), []);
        }
    }
}
