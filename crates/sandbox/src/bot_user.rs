//! A user id without rights for every bot when root runs the referee.
//!
//! The ids come from a range above people and services (below 65,536), containers and subordinate
//! ids (up to 1,879,048,191) and company directories (usually below 2,000,200,000); in a container
//! without such ids, from unused ones below 65,536. Ids of a process are skipped.
//!
//! An id is taken while its file in a directory of root's is locked: several referees agree, and a
//! killed one leaves nothing taken.

use std::env;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;

use super::procfs;
use crate::trouble::described;

/// The first range that this process may use counts.
const RANGES: [RangeInclusive<u32>; 2] = [2_100_000_000..=2_100_065_535, 60_706..=61_183];

const LOCKS: &str = "/run/referee-users";

/// Used where there is no `/run`.
const OTHER_LOCKS: &str = "referee-users";

#[derive(Debug)]
pub(super) struct BotUser {
    id: u32,
    path: PathBuf,
    _lock: File,
}

impl BotUser {
    /// `None` when this process is not root, or is root only in a user namespace that maps no other
    /// ids.
    pub(super) fn take() -> io::Result<Option<Self>> {
        if !geteuid().is_root() {
            return Ok(None);
        }
        let maps = ["uid_map", "gid_map"]
            .map(|name| procfs::file_of_this_process(name).unwrap_or_default());
        let usable = |range: &&RangeInclusive<u32>| maps.iter().all(|map| is_mapped(map, range));
        let Some(range) = RANGES.iter().find(usable) else {
            return Ok(None);
        };
        let directory = locks()?;
        let running = procfs::users_of_processes();
        for id in range.clone() {
            if !running.contains(&id)
                && let Some(user) = Self::lock(&directory, id)?
            {
                return Ok(Some(user));
            }
        }
        Err(io::Error::other(format!(
            "all numbers of users from {} to {} are taken",
            range.start(),
            range.end()
        )))
    }

    /// `None` when another referee has this id.
    fn lock(directory: &Path, id: u32) -> io::Result<Option<Self>> {
        let path = directory.join(id.to_string());
        let mut options = File::options();
        let options = options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(&path).map_err(|error| {
            let cause = referee_text::cause(&error);
            described(format!("{}: {cause}", path.display()), None, &error)
        })?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(None);
        }
        // Its last owner removes the file just before unlocking it.
        let same = fs::metadata(&path).is_ok_and(|there| {
            lock.metadata()
                .is_ok_and(|ours| (ours.dev(), ours.ino()) == (there.dev(), there.ino()))
        });
        Ok(same.then_some(Self {
            id,
            path,
            _lock: lock,
        }))
    }

    pub(super) const fn id(&self) -> u32 {
        self.id
    }
}

impl Drop for BotUser {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn locks() -> io::Result<PathBuf> {
    let usual = PathBuf::from(LOCKS);
    let Err(error) = own_directory(&usual) else {
        return Ok(usual);
    };
    let other = env::temp_dir().join(OTHER_LOCKS);
    own_directory(&other).map(|()| other).map_err(|_| {
        let cause = referee_text::cause(&error);
        described(format!("{LOCKS} cannot be made: {cause}"), None, &error)
    })
}

/// Makes a directory that only root can write to, unless it exists.
fn own_directory(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let meta = fs::symlink_metadata(directory)?;
    if !meta.is_dir() || meta.uid() != 0 {
        return Err(io::Error::other("another user has made it"));
    }
    fs::set_permissions(directory, Permissions::from_mode(0o700))
}

/// Whether `uid_map` or `gid_map` maps a whole range.
fn is_mapped(map: &str, range: &RangeInclusive<u32>) -> bool {
    map.lines().any(|line| {
        let words = line.split_ascii_whitespace().map(str::parse);
        let Ok(&[first, _, count]) = words.collect::<Result<Vec<u64>, _>>().as_deref() else {
            return false;
        };
        first <= u64::from(*range.start()) && u64::from(*range.end()) < first.saturating_add(count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_have_some_numbers_only() {
        let [usual, few] = RANGES;
        let whole = "         0          0 4294967295\n";
        let container = "0 1000 1\n1 100000 65536\n";
        let alone = "0 1000 1\n";
        assert!(is_mapped(whole, &usual) && is_mapped(whole, &few));
        assert!(!is_mapped(container, &usual) && is_mapped(container, &few));
        assert!(!is_mapped(alone, &usual) && !is_mapped(alone, &few));
        assert!(!is_mapped("", &few) && !is_mapped("nonsense", &few));
    }

    #[test]
    fn two_referees_agree() {
        let directory = tempfile::tempdir().expect("a directory");
        let take = || BotUser::lock(directory.path(), 7).expect("a file");
        let first = take();
        assert!(first.is_some());
        assert!(take().is_none());
        drop(first);
        assert!(take().is_some());
        let left = fs::read_dir(directory.path()).expect("a directory").count();
        assert_eq!(left, 0);
    }
}
