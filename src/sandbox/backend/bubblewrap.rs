//! How bubblewrap is called: which namespaces, and what is mounted where.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bot::executable::find_in_path;
use crate::sandbox::Setup;
use crate::sandbox::supervisor::order::Wall;

/// Where the referee's own file is found inside.
pub(crate) const REFEREE: &str = "/.referee";

/// Devices without which many programs do not start. There is no `/dev/zero`: memory mapped
/// from it counts for nobody.
const DEVICES: &[&str] = &["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];

/// Bubblewrap's program.
pub(crate) fn program() -> Option<PathBuf> {
    find_in_path("bwrap")
}

/// The wall around a bot that sees `seen`, and starts in `directory`.
pub(crate) fn wall(setup: &Setup, seen: &[PathBuf], directory: Option<&Path>) -> Wall {
    let mut arguments: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| arguments.extend(words.iter().map(|&word| word.to_owned()));
    add(&["--unshare-all", "--unshare-user", "--disable-userns"]);
    add(&["--die-with-parent", "--cap-drop", "ALL"]);
    add(&["--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]);
    // The scratch directory, before anything that is mounted within it.
    let size = setup.limits.scratch.to_string();
    add(&["--size", &size, "--tmpfs", "/tmp"]);
    add(&["--proc", "/proc"]);
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
    for path in seen {
        let shown = path.to_string_lossy();
        // `/bin` is a link to `usr/bin` on most systems.
        match fs::read_link(path) {
            Ok(target) => add(&["--symlink", &target.to_string_lossy(), &shown]),
            Err(_) => add(&["--ro-bind", &shown, &shown]),
        }
    }
    add(&["--ro-bind", &setup.referee.to_string_lossy(), REFEREE]);
    add(&["--remount-ro", "/"]);
    let start = directory.unwrap_or(Path::new("/tmp"));
    add(&["--chdir", &start.to_string_lossy()]);
    Wall::Bwrap {
        program: program().unwrap_or_else(|| PathBuf::from("bwrap")),
        arguments,
        inside: REFEREE.to_owned(),
    }
}
