//! Shims: small programs in `PATH` that start one of several installed versions of an interpreter. Their manager, such as
//! pyenv, rbenv, asdf or rustup, is asked which.

use std::collections::HashMap;
use std::env;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use super::installation::find_users;
use super::{all_in_path, is_executable_file, start_of};

const LONGEST: u64 = 4096;

/// The program that a shim starts in `directory`; `None` when `path` is not a shim or starts none. Asked once for each.
pub(super) fn behind(path: &Path, directory: &Path) -> Option<PathBuf> {
    type Known = HashMap<(PathBuf, PathBuf), Option<PathBuf>>;
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let (manager, root) = manager_of(path)?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (path.to_owned(), directory.to_owned());
    let answer = known.entry(key).or_insert_with(|| {
        let mut command = Command::new(manager);
        command.arg("which").arg(path.file_name()?);
        // rustup would install a toolchain that a file there names.
        command.env("RUSTUP_AUTO_INSTALL", "0");
        command.current_dir(directory).stdin(Stdio::null());
        let output = command.stderr(Stdio::null()).output().ok()?;
        Some(PathBuf::from(str::from_utf8(&output.stdout).ok()?.trim()))
    });
    // A file in the directory may name a version by a path.
    let is_installed = |program: &PathBuf| {
        let climbs = program.components().any(|it| it == Component::ParentDir);
        program.starts_with(&root) && !climbs && is_executable_file(program)
    };
    let installed = answer.clone().filter(is_installed);
    // Else what `PATH` has besides the shims.
    let mut others = all_in_path(path.file_name()?.to_str()?);
    installed
        .or_else(|| others.find(|other| other.is_absolute() && other.parent() != path.parent()))
}

/// The manager of a shim, and the directory below which it installs.
fn manager_of(shim: &Path) -> Option<(PathBuf, PathBuf)> {
    let end = shim.canonicalize().ok()?;
    if end.file_name()? == "rustup" && shim.file_name()? != "rustup" {
        let root = env::var_os("RUSTUP_HOME").map(PathBuf::from);
        let root = root.or_else(|| Some(env::home_dir()?.join(".rustup")));
        return Some((end, root?));
    }
    let directory = shim.parent()?;
    if directory.file_name()? != "shims" {
        return None;
    }
    let text = String::from_utf8(start_of(shim, LONGEST).ok()?).ok()?;
    let manager = text.lines().find_map(|line| {
        let words = shell_words::split(line).ok()?;
        let at = words
            .windows(3)
            .find(|it| it[0] == "exec" && it[2] == "exec")?;
        find_users(&at[1])
    })?;
    Some((manager, directory.parent()?.to_owned()))
}
