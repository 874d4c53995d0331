//! What a sandboxed bot sees of the system, read-only: libraries, interpreters, common settings,
//! and exposed paths.

use std::fs;
use std::path::{Path, PathBuf};

use super::paths::{SYSTEM_DIRECTORIES, is_system, lies_in_any};

/// What programs look up in `/etc` when they start. None of it is secret; the rest is hidden.
const SETTINGS: &str = "\
    alternatives default/locale group guile java ld.so.cache ld.so.conf ld.so.conf.d locale.alias localtime lua \
    nsswitch.conf passwd perl php profile.d/lang.sh python3 R sbclrc ssl/openssl.cnf timezone";

/// Debian's list of GHC's libraries.
const GHC: &str = "/var/lib/ghc";

/// Prefixes of further settings, such as `java-17-openjdk`.
const SETTINGS_OF: &[&str] = &["java-", "python3."];

/// The list of CPUs, which runtimes count, and their share of them: some end where it is there and cannot be read.
const PROCESSORS: &str = "\
    /sys/devices/system/cpu /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us \
    /sys/fs/cgroup/cpu/cpu.cfs_period_us";

/// `PATH` where none is set.
pub(super) const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What every bot may read, as far as this system has it. `exposed`: what it may read besides.
pub(super) fn visible_paths(exposed: &[PathBuf]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = SYSTEM_DIRECTORIES.iter().map(PathBuf::from).collect();
    paths.extend(SETTINGS.split(' ').map(|name| Path::new("/etc").join(name)));
    paths.push(PathBuf::from(GHC));
    paths.extend(PROCESSORS.split(' ').map(PathBuf::from));
    for entry in fs::read_dir("/etc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        if SETTINGS_OF
            .iter()
            .any(|start| name.to_string_lossy().starts_with(start))
        {
            paths.push(entry.path());
        }
    }
    paths.extend(exposed.iter().cloned());
    paths.retain(|path| path.exists());
    paths
}

/// The paths that do not lie within others' targets: Landlock has rules for files and directories,
/// not for links such as `/bin`.
pub(super) fn without_repeats(paths: &[PathBuf]) -> Vec<PathBuf> {
    let ends: Vec<PathBuf> = paths
        .iter()
        .map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()))
        .collect();
    let is_repeated = |at: usize| {
        ends.iter()
            .enumerate()
            .any(|(other, end)| ends[at].starts_with(end) && (other < at || ends[at] != *end))
    };
    let kept = paths.iter().enumerate().filter(|(at, _)| !is_repeated(*at));
    kept.map(|(_, path)| path.clone()).collect()
}

/// Whether a bot may read a path: the system's, or in what is `exposed`.
pub(super) fn is_visible(exposed: &[PathBuf], path: &Path) -> bool {
    let is_inside = |path: PathBuf| lies_in_any(&path, exposed);
    is_system(path) || path.canonicalize().is_ok_and(is_inside)
}
