//! `--watch`: waits for submissions.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::cli::support::failure::Failure;
use crate::cli::support::interruptible::run_interruptible;

/// Time between two looks at a source.
const INTERVAL: Duration = Duration::from_secs(2);

/// Time between two looks at the stop flag.
const TICK: Duration = Duration::from_millis(100);

/// What a source looks like: names, sizes and times of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look(u64);

impl Look {
    /// Looks at a source. What cannot be read looks empty: taking it in says why.
    pub(super) fn at(source: &Path) -> Self {
        let mut hasher = DefaultHasher::new();
        add(source, &mut hasher);
        Self(hasher.finish())
    }
}

fn add(path: &Path, hasher: &mut DefaultHasher) {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return;
    };
    path.hash(hasher);
    if meta.is_symlink()
        && let Ok(target) = fs::metadata(path)
    {
        add_file(&target, hasher);
    }
    if !meta.is_dir() {
        add_file(&meta, hasher);
        return;
    }
    let Ok(entries) = fs::read_dir(path) else {
        return;
    };
    let mut entries: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    // Of a repository's own files those that name commits.
    let is_repository = path.file_name().is_some_and(|name| name == ".git");
    let counts = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        !is_repository
            || ["HEAD", "packed-refs", "refs"]
                .iter()
                .any(|own| name == *own)
    };
    for entry in entries.iter().filter(|entry| counts(entry)) {
        add(entry, hasher);
    }
}

fn add_file(meta: &fs::Metadata, hasher: &mut DefaultHasher) {
    meta.len().hash(hasher);
    let modified = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    modified.hash(hasher);
}

/// Waits until a source looks other than `before`, and has looked the same for a while: files that are being
/// copied have not arrived. Returns its new look; `None` when the wait was interrupted.
pub(super) fn wait(source: &Path, before: Look) -> Result<Option<Look>, Failure> {
    let (look, _) = run_interruptible(|stop| {
        let mut last = before;
        while pause(stop) {
            let now = Look::at(source);
            if now != before && now == last {
                return Ok(Some(now));
            }
            last = now;
        }
        Ok(None)
    })?;
    Ok(look)
}

/// Waits for the next look. Returns false when it is not to be taken any more.
fn pause(stop: &AtomicBool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < INTERVAL {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        thread::sleep(TICK);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_sees_what_is_handed_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let look = || Look::at(folder.path());
        let mut looks = vec![look()];
        fs::create_dir_all(path("anna/.git/objects")).expect("a folder");
        fs::write(path("anna/.git/HEAD"), "a").expect("a file");
        looks.push(look());
        fs::write(path("anna/bot.py"), "print()").expect("a file");
        looks.push(look());
        fs::write(path("anna/.git/HEAD"), "a branch").expect("a file");
        looks.push(look());
        for pair in looks.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
        fs::write(path("anna/.git/objects/a"), "of another branch").expect("a file");
        assert_eq!(looks.pop(), Some(look()));
    }
}
