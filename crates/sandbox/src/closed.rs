//! Directories closed to a user without rights (such as root's home) on the way to what a bot may
//! see.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Permission of others to pass through a directory, or to run a program.
pub(super) const PASS: u32 = 0o001;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedDirectory {
    pub(super) path: PathBuf,
    /// Files, directories and links below it; none lies in another.
    pub(super) visible: Vec<PathBuf>,
}

impl ClosedDirectory {
    /// The topmost closed directories on the way to `paths`, which are absolute and without links.
    /// Never `/`.
    pub(super) fn above(mut paths: Vec<PathBuf>) -> Vec<Self> {
        // A directory sorts before its contents.
        paths.sort();
        paths.dedup();
        let mut found: Vec<Self> = Vec::new();
        for path in paths {
            let Some(closed) = topmost(&path).map(Path::to_owned) else {
                continue;
            };
            let within = |whole: &PathBuf| path.starts_with(whole) && !whole.is_symlink();
            match found.last_mut() {
                Some(previous) if previous.path == closed => {
                    if !previous.visible.iter().any(within) {
                        previous.visible.push(path);
                    }
                }
                _ => found.push(Self {
                    path: closed,
                    visible: vec![path],
                }),
            }
        }
        found
    }
}

fn topmost(path: &Path) -> Option<&Path> {
    let above = path.ancestors().skip(1);
    let above = above.filter(|above| above.parent().is_some());
    above.filter(|above| is_closed(above, PASS)).last()
}

/// Whether others lack any of these permissions. A missing path is closed.
pub(super) fn is_closed(path: &Path, rights: u32) -> bool {
    let mode = path.metadata().map_or(0, |meta| meta.permissions().mode());
    mode & rights != rights
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_seen_of_closed_directories() {
        let root = tempfile::tempdir().expect("a directory");
        let root = root.path().canonicalize().expect("a path");
        let set = |name: &str, mode: u32| {
            let path = root.join(name);
            fs::create_dir_all(&path).expect("a directory");
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
            path
        };
        set("", 0o755);
        let open = set("open", 0o755);
        let closed = set("closed", 0o700);
        let deeper = set("closed/way/deeper", 0o700);
        let inner = set("closed/way/deeper/inner", 0o755);
        let other = set("closed/other", 0o755);
        let link = closed.join("link");
        symlink("other", &link).expect("a link");
        let paths = [&inner, &open, &other, &deeper, &other, &link, &closed].map(PathBuf::clone);
        let expected = ClosedDirectory {
            path: closed.clone(),
            visible: vec![link, other, deeper],
        };
        assert_eq!(ClosedDirectory::above(paths.to_vec()), [expected]);
        assert_eq!(ClosedDirectory::above(vec![open, closed]), []);
    }
}
