//! What a bot in a sandbox sees of the system: libraries and interpreters, settings that every
//! program looks up, and what was exposed to it. All of it read-only.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::settings::Settings;
use super::snapshot::SYSTEM;
use crate::executable::{CannotStart, check_header, find_in_path, install, is_executable_file};
use crate::text::escape;

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
];

/// Settings whose names begin so: `java-17-openjdk` and the like.
const SETTINGS_OF: &[&str] = &["java-", "python3."];

/// The system's list of processors, which runtimes count.
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// The search path of a system that has none.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

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

/// The directories of the search path that can be seen in a sandbox.
pub(super) fn search_path(settings: &Settings) -> String {
    let given = env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    let seen: Vec<PathBuf> = env::split_paths(&given)
        .filter(|directory| is_visible(settings, directory))
        .collect();
    env::join_paths(seen)
        .ok()
        .and_then(|path| path.into_string().ok())
        .filter(|path| !path.is_empty())
        .unwrap_or_else(|| USUAL_PATH.to_owned())
}

/// Whether something of this system can be seen in a sandbox.
fn is_visible(settings: &Settings, path: &Path) -> bool {
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

/// Checks that the program and its interpreter can be seen in the sandbox. `bot` is its name,
/// `search_path` its search path, and `private` the directory that its files were copied to.
pub(super) fn check_that_it_starts(
    settings: &Settings,
    bot: &str,
    argv: &[String],
    search_path: &str,
    private: &Path,
) -> Result<(), CannotStart> {
    let Some(first) = argv.first() else {
        return Ok(());
    };
    let mut needed = first.clone();
    if Path::new(first).starts_with(private) {
        // A script needs its interpreter.
        match check_header(Path::new(first), first)? {
            Some(interpreter) => needed = interpreter,
            None => return Ok(()),
        }
    }
    let seen = if needed.contains('/') {
        is_visible(settings, Path::new(&needed))
    } else {
        env::split_paths(search_path).any(|directory| is_executable_file(&directory.join(&needed)))
    };
    if seen {
        return Ok(());
    }
    let (cause, fix) = match find_in_path(&needed) {
        Some(found) => {
            let found = escape(found.to_string_lossy().as_bytes());
            (
                format!("it needs {found}, which a bot in a sandbox does not see"),
                format!(
                    "expose the directory that it is installed in (--expose DIRECTORY), or {}",
                    install(&needed)
                ),
            )
        }
        None => (
            format!(
                "it needs {}, which a bot in a sandbox does not see",
                escape(needed.as_bytes())
            ),
            "expose the directory that it is in (--expose DIRECTORY)".to_owned(),
        ),
    };
    Err(CannotStart {
        bot: bot.to_owned(),
        cause,
        fix,
    })
}
