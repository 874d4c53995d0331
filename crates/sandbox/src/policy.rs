//! What a sandboxed bot sees of the system, read-only: libraries, interpreters, common settings,
//! and exposed paths.

use std::fs;
use std::path::{Path, PathBuf};

use super::settings::Settings;
use super::snapshot::SYSTEM;

/// What programs look up in `/etc` when they start. None of it is secret; the rest is hidden.
const SETTINGS: &str = "\
    alternatives default/locale group guile java ld.so.cache ld.so.conf ld.so.conf.d locale.alias localtime lua \
    nsswitch.conf passwd perl php profile.d/lang.sh python3 R sbclrc ssl/openssl.cnf timezone";

/// Debian's list of GHC's libraries.
const GHC: &str = "/var/lib/ghc";

/// Prefixes of further settings, such as `java-17-openjdk`.
const SETTINGS_OF: &[&str] = &["java-", "python3."];

/// The list of CPUs, which runtimes count.
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// `PATH` where none is set.
pub(super) const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What every bot may read, as far as this system has it.
pub(super) fn visible_paths(settings: &Settings) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    paths.extend(SETTINGS.split(' ').map(|name| Path::new("/etc").join(name)));
    paths.extend([GHC, PROCESSORS].map(PathBuf::from));
    for entry in fs::read_dir("/etc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        if SETTINGS_OF
            .iter()
            .any(|start| name.to_string_lossy().starts_with(start))
        {
            paths.push(entry.path());
        }
    }
    paths.extend(settings.request.expose.iter().cloned());
    paths.retain(|path| path.exists());
    paths
}

/// Those of the paths that do not lie within one of `others`.
pub(crate) fn outside(mut paths: Vec<PathBuf>, others: &[PathBuf]) -> Vec<PathBuf> {
    paths.retain(|path| {
        let holds_it = |other: &PathBuf| other != path && path.starts_with(other);
        !others.iter().any(holds_it)
    });
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

/// Whether a sandbox shows a path of the system.
pub(super) fn is_visible(settings: &Settings, path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else {
        return false;
    };
    let expose = settings.request.expose.iter().map(PathBuf::as_path);
    let mut shown = SYSTEM.iter().map(Path::new).chain(expose);
    shown.any(|shown| path.starts_with(shown))
}
