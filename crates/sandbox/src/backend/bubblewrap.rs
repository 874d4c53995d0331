//! The arguments of bubblewrap: namespaces and mounts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Backend, DEVICES};
use crate::executable::find_in_path;
use crate::policy::outside;
use crate::settings::Settings;

/// Where built-in bots find the referee's own file inside.
pub(crate) const REFEREE: &str = "/.referee";

/// The scratch directory inside. Outside, copies of bots' files are usually below the same path,
/// and mounted within it.
pub(crate) const SCRATCH: &str = "/tmp";

pub(crate) fn program() -> Option<PathBuf> {
    find_in_path("bwrap")
}

/// Bubblewrap's arguments for a bot that sees these paths and starts in `directory`, or in its
/// scratch directory. With `own_user` the program inside gives up root's rights.
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
        // In a user namespace bubblewrap knows only root.
        for space in ["ipc", "pid", "net", "uts", "cgroup-try"] {
            add(&[&format!("--unshare-{space}")]);
        }
        add(&["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]);
    } else {
        add(&["--unshare-all", "--unshare-user"]);
        // In a kept box every process gets a user namespace that allows no other.
        if !settings.keeps_box {
            add(&["--disable-userns"]);
        }
        add(&["--uid", "1000", "--gid", "1000"]);
    }
    add(&["--hostname", "sandbox"]);
    // Before anything that is mounted within it.
    let size = settings.request.limits.scratch.to_string();
    add(&["--perms", "1777", "--size", &size, "--tmpfs", SCRATCH]);
    add(&["--proc", "/proc"]);
    // Bubblewrap makes parent directories accessible to its own user only.
    let program = settings.request.referee.to_string_lossy();
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
        .any(|path| settings.request.referee.starts_with(path))
    {
        // The referee holds a solver, which bots must not use.
        add(&["--ro-bind", "/dev/null", &program]);
    }
    // Through its files a bot could change kernel settings outside, and the memory of bubblewrap.
    add(&["--remount-ro", "/proc"]);
    add(&["--remount-ro", "/"]);
    let start = directory.unwrap_or(Path::new(SCRATCH));
    add(&["--chdir", &start.to_string_lossy()]);
    let mut in_scratch = visible.to_vec();
    in_scratch.retain(|path| path.starts_with(SCRATCH));
    Backend::Bwrap {
        program: self::program().unwrap_or_else(|| PathBuf::from("bwrap")),
        arguments,
        kept: settings.keeps_box.then(|| outside(in_scratch, visible)),
    }
}

fn directories_above<'a>(paths: impl Iterator<Item = &'a Path>) -> BTreeSet<&'a Path> {
    let made = |path: &&Path| ![Path::new("/"), Path::new(SCRATCH)].contains(path);
    let above = paths.flat_map(|path| path.ancestors().skip(1));
    above.filter(made).collect()
}
