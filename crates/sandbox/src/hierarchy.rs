//! The control groups of this process, and their directories.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The version of the cgroup interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    One,
    Two,
}

/// A control group of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnGroup {
    pub directory: PathBuf,
    /// The topmost directory of its hierarchy that this process sees.
    pub top: PathBuf,
    pub version: Version,
    /// Whether it is that topmost group.
    pub is_root: bool,
}

impl OwnGroup {
    /// Its directory and its parents', as far as this process sees them.
    pub fn levels(&self) -> impl Iterator<Item = &Path> {
        let above = self.directory.ancestors();
        above.take_while(|directory| directory.starts_with(&self.top))
    }
}

/// The groups of this process in which `controller` may be enabled. `own` and `mounts` are its
/// `cgroup` and `mountinfo` in `/proc`.
pub fn own_groups(own: &str, mounts: &str, controller: &str) -> Vec<OwnGroup> {
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
        Some(OwnGroup {
            directory,
            top,
            version,
            is_root: path == "/",
        })
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
