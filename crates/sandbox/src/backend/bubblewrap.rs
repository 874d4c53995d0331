//! The arguments of bubblewrap: namespaces and mounts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{DEVICES, SandboxBackend};
use crate::settings::SandboxSettings;
use referee_host::executable::find_in_path;
use referee_host::paths::outside;

/// Where built-in bots find the referee's own file inside.
pub(crate) const REFEREE: &str = "/.referee";

/// The scratch directory inside. Outside, copies of bots' files are usually below the same path,
/// and mounted within it.
pub(crate) const SCRATCH: &str = "/tmp";

pub(crate) fn program_path() -> Option<PathBuf> {
    find_in_path("bwrap")
}

/// Bubblewrap's arguments for a bot that sees these paths and starts in `directory`, or in its
/// scratch directory. With `has_user` the program inside gives up root's rights.
pub(crate) fn backend(
    settings: &SandboxSettings,
    visible: &[PathBuf],
    directory: Option<&Path>,
    referee: bool,
    has_user: bool,
) -> SandboxBackend {
    let mut arguments = Arguments::default();
    arguments.add_rights(settings, has_user);
    arguments.add(&["--hostname", "sandbox"]);
    // Before anything that is mounted within it.
    let size = settings.request.limits.scratch.to_string();
    arguments.add(&["--perms", "1777", "--size", &size, "--tmpfs", SCRATCH]);
    arguments.add(&["--proc", "/proc"]);
    arguments.add_devices(visible);
    arguments.add_paths(visible);
    let program = settings.request.referee.to_string_lossy();
    if referee {
        arguments.add(&["--ro-bind", &program, REFEREE]);
    } else if visible
        .iter()
        .any(|path| settings.request.referee.starts_with(path))
    {
        // The referee can do for a bot what that has to do itself.
        arguments.add(&["--ro-bind", "/dev/null", &program]);
    }
    // Through its files a bot could change kernel settings outside, and the memory of bubblewrap.
    arguments.add(&["--remount-ro", "/proc"]);
    arguments.add(&["--remount-ro", "/"]);
    let start = directory.unwrap_or(Path::new(SCRATCH));
    arguments.add(&["--chdir", &start.to_string_lossy()]);
    let mut in_scratch = visible.to_vec();
    in_scratch.retain(|path| path.starts_with(SCRATCH));
    SandboxBackend::Bwrap {
        program: program_path().unwrap_or_else(|| PathBuf::from("bwrap")),
        arguments: arguments.0,
        kept: settings.keeps_box.then(|| outside(in_scratch, visible)),
    }
}

/// The order counts: what is mounted later covers what was there.
#[derive(Default)]
struct Arguments(Vec<String>);

impl Arguments {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(|&word| word.to_owned()));
    }

    /// Namespaces, user and capabilities.
    fn add_rights(&mut self, settings: &SandboxSettings, has_user: bool) {
        self.add(&["--die-with-parent", "--cap-drop", "ALL"]);
        if has_user {
            // In a user namespace bubblewrap knows only root.
            for space in ["ipc", "pid", "net", "uts", "cgroup-try"] {
                self.add(&[&format!("--unshare-{space}")]);
            }
            self.add(&["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]);
        } else {
            self.add(&["--unshare-all", "--unshare-user"]);
            // In a kept box every process gets a user namespace that allows no other.
            if !settings.keeps_box {
                self.add(&["--disable-userns"]);
            }
            self.add(&["--uid", "1000", "--gid", "1000"]);
        }
    }

    /// The directories above all that is mounted, and the devices.
    fn add_devices(&mut self, visible: &[PathBuf]) {
        // Bubblewrap makes parent directories accessible to its own user only.
        let devices = DEVICES.iter().map(Path::new);
        for directory in directories_above(devices.chain(visible.iter().map(PathBuf::as_path))) {
            self.add(&["--perms", "0755", "--dir", &directory.to_string_lossy()]);
        }
        for device in DEVICES {
            self.add(&["--dev-bind", device, device]);
        }
        for (name, target) in [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
            // What processes share counts as what they write.
            ("shm", SCRATCH),
        ] {
            self.add(&["--symlink", target, &format!("/dev/{name}")]);
        }
    }

    fn add_paths(&mut self, visible: &[PathBuf]) {
        for path in visible {
            let place = path.to_string_lossy();
            // `/bin` is a link to `usr/bin` on most systems.
            match fs::read_link(path) {
                Ok(target) => self.add(&["--symlink", &target.to_string_lossy(), &place]),
                Err(_) => self.add(&["--ro-bind", &place, &place]),
            }
        }
    }
}

fn directories_above<'a>(paths: impl Iterator<Item = &'a Path>) -> BTreeSet<&'a Path> {
    let made = |path: &&Path| ![Path::new("/"), Path::new(SCRATCH)].contains(path);
    let above = paths.flat_map(|path| path.ancestors().skip(1));
    above.filter(made).collect()
}
