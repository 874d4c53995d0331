//! What a bot in a sandbox sees of the system: libraries and interpreters, settings that every
//! program looks up, and what was exposed to it. All of it read-only.

use std::fs;
use std::path::{Path, PathBuf};

use super::settings::Settings;
use super::snapshot::SYSTEM;

/// What programs look up at their start. Nothing here is secret on any system; the rest of
/// `/etc` is not shown.
const SETTINGS: &[&str] = &[
    "/etc/alternatives",
    "/etc/default/locale",
    "/etc/group",
    "/etc/guile",
    "/etc/java",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/lua",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/perl",
    "/etc/php",
    "/etc/profile.d/lang.sh",
    "/etc/python3",
    "/etc/R",
    "/etc/sbclrc",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
    // Debian's list of the libraries of GHC.
    "/var/lib/ghc",
];

/// Settings whose names begin so: `java-17-openjdk` and the like.
const SETTINGS_OF: &[&str] = &["java-", "python3."];

/// The system's list of processors, which runtimes count.
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// The search path of a system that has none.
pub(super) const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What every bot may read, as far as this system has it.
pub(super) fn visible_paths(settings: &Settings) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = SYSTEM.iter().chain(SETTINGS).map(PathBuf::from).collect();
    for entry in fs::read_dir("/etc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        if SETTINGS_OF
            .iter()
            .any(|start| name.to_string_lossy().starts_with(start))
        {
            paths.push(entry.path());
        }
    }
    paths.push(PROCESSORS.into());
    paths.extend(settings.expose.iter().cloned());
    paths.retain(|path| path.exists());
    paths
}

/// Those of the paths that lead to something that is not within what another leads to: Landlock has rules for files
/// and directories, and none for links, such as `/bin` is one on most systems.
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

/// Whether something of this system can be seen in a sandbox.
pub(super) fn is_visible(settings: &Settings, path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else {
        return false;
    };
    let system = SYSTEM.iter().any(|system| path.starts_with(system));
    system
        || settings
            .expose
            .iter()
            .any(|exposed| path.starts_with(exposed))
}
