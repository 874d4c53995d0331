//! How bubblewrap is called: which namespaces, and what is mounted where.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Backend, DEVICES};
use crate::executable::find_in_path;
use crate::settings::Settings;

/// Where the referee's own file is found inside, by built-in bots only.
pub(crate) const REFEREE: &str = "/.referee";

/// The scratch directory inside. On most systems the copies of bots' files are in a directory of this
/// name outside, and shown within it.
pub(crate) const SCRATCH: &str = "/tmp";

/// Bubblewrap's program.
pub(crate) fn program() -> Option<PathBuf> {
    find_in_path("bwrap")
}

/// The call of bubblewrap for a bot that sees these paths, and starts in `directory`: in its scratch
/// directory when there is none. With `own_user` the program inside gives up root's rights for those of
/// another user.
pub(crate) fn backend(
    settings: &Settings,
    visible: &[PathBuf],
    directory: Option<&Path>,
    referee: bool,
    own_user: bool,
) -> Backend {
    let mut arguments: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| arguments.extend(words.iter().map(|&word| word.to_owned()));
    add(&["--die-with-parent", "--cap-drop", "ALL"]);
    if own_user {
        // In a name space of users bubblewrap knows no other user than root outside.
        for space in ["ipc", "pid", "net", "uts", "cgroup-try"] {
            add(&[&format!("--unshare-{space}")]);
        }
        add(&["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]);
    } else {
        add(&["--unshare-all", "--unshare-user"]);
        // In a box that is kept, every process gets a name space of users that allows no other.
        if !settings.keeps_box {
            add(&["--disable-userns"]);
        }
        add(&["--uid", "1000", "--gid", "1000"]);
    }
    add(&["--hostname", "sandbox"]);
    // The scratch directory, before anything that is mounted within it.
    let size = settings.limits.scratch.to_string();
    add(&["--perms", "1777", "--size", &size, "--tmpfs", SCRATCH]);
    add(&["--proc", "/proc"]);
    // Bubblewrap makes the directories above what it shows for its own user only.
    let program = settings.referee.to_string_lossy();
    let devices = DEVICES.iter().map(Path::new);
    for directory in directories_above(devices.chain(visible.iter().map(PathBuf::as_path))) {
        add(&["--perms", "0755", "--dir", &directory.to_string_lossy()]);
    }
    for device in DEVICES {
        add(&["--dev-bind", device, device]);
    }
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        add(&["--symlink", target, &format!("/dev/{name}")]);
    }
    for path in visible {
        let shown = path.to_string_lossy();
        // `/bin` is a link to `usr/bin` on most systems.
        match fs::read_link(path) {
            Ok(target) => add(&["--symlink", &target.to_string_lossy(), &shown]),
            Err(_) => add(&["--ro-bind", &shown, &shown]),
        }
    }
    if referee {
        add(&["--ro-bind", &program, REFEREE]);
    } else if visible
        .iter()
        .any(|path| settings.referee.starts_with(path))
    {
        // It has a solver, which is not for bots.
        add(&["--ro-bind", "/dev/null", &program]);
    }
    // Through its files a bot could change the kernel's settings, also outside, and the memory of
    // bubblewrap's own process.
    add(&["--remount-ro", "/proc"]);
    add(&["--remount-ro", "/"]);
    let start = directory.unwrap_or(Path::new(SCRATCH));
    add(&["--chdir", &start.to_string_lossy()]);
    Backend::Bwrap {
        program: self::program().unwrap_or_else(|| PathBuf::from("bwrap")),
        arguments,
        kept: settings.keeps_box.then(|| within_scratch(visible)),
    }
}

/// Those of these paths that are in the scratch directory, but for those that are within others.
fn within_scratch(visible: &[PathBuf]) -> Vec<PathBuf> {
    let is_within = |path: &&PathBuf| path.starts_with(SCRATCH);
    let is_top = |path: &&PathBuf| {
        let above = |other: &PathBuf| other != *path && path.starts_with(other);
        !visible.iter().any(above)
    };
    visible
        .iter()
        .filter(is_within)
        .filter(is_top)
        .cloned()
        .collect()
}

/// The directories above these paths, those above others first.
fn directories_above<'a>(paths: impl Iterator<Item = &'a Path>) -> BTreeSet<&'a Path> {
    let made = |path: &&Path| ![Path::new("/"), Path::new(SCRATCH)].contains(path);
    let above = paths.flat_map(|path| path.ancestors().skip(1));
    above.filter(made).collect()
}
