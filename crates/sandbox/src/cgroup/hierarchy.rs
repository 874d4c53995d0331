//! Where the groups of this process are mounted.

use std::path::{Path, PathBuf};

use super::controller::GroupVersion;
use super::group::ControlGroup;
use crate::procfs;

/// The groups of this process in which `controller` may be enabled, and those above.
pub fn levels_of_this_process(controller: &str) -> Vec<PathBuf> {
    let groups = procfs::file_of_this_process("cgroup").unwrap_or_default();
    let mounts = procfs::file_of_this_process("mountinfo").unwrap_or_default();
    let mut levels = Vec::new();
    for (group, top) in groups_of_this_process(&groups, &mounts, controller) {
        let above = group.directory.ancestors();
        let seen = above.take_while(|directory| directory.starts_with(&top));
        levels.extend(seen.map(Path::to_owned));
    }
    levels
}

/// The groups of this process in which `controller` may be enabled, each with the topmost directory of its
/// hierarchy that this process sees. `groups` and `mounts` are its `cgroup` and `mountinfo` in `/proc`.
pub(super) fn groups_of_this_process(
    groups: &str,
    mounts: &str,
    controller: &str,
) -> Vec<(ControlGroup, PathBuf)> {
    let group = |line: &str| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let version = match controllers {
            "" => GroupVersion::Two,
            _ if controllers.split(',').any(|name| name == controller) => GroupVersion::One,
            _ => return None,
        };
        let found = |line| mounted(line, version, controller, path);
        let (top, directory) = mounts.lines().find_map(found)?;
        Some((ControlGroup { directory, version }, top))
    };
    groups.lines().filter_map(group).collect()
}

/// Where this `mountinfo` line mounts the hierarchy, and the directory of the group `path` there.
fn mounted(
    line: &str,
    version: GroupVersion,
    controller: &str,
    path: &str,
) -> Option<(PathBuf, PathBuf)> {
    let (place, system) = line.split_once(" - ")?;
    let mut system = system.split(' ');
    let kind = match version {
        GroupVersion::One => "cgroup",
        GroupVersion::Two => "cgroup2",
    };
    if system.next() != Some(kind) {
        return None;
    }
    if version == GroupVersion::One && !system.nth(1)?.split(',').any(|option| option == controller)
    {
        return None;
    }
    let mut place = place.split(' ').skip(3);
    let (root, point) = (place.next()?, place.next()?);
    // A container without a cgroup namespace sees a part of the whole tree mounted.
    let below = Path::new(path).strip_prefix(root).ok()?;
    let top = PathBuf::from(point);
    Some((top.clone(), top.join(below)))
}
