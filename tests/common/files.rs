//! Writes programs for tests.
//!
//! Linux does not run a file that is open for writing in any process. While another thread of these
//! tests starts a program, its child has copies of all descriptors, also of a file being written. So
//! another, single-threaded process writes the file.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program with this text; `mode` as for chmod.
///
/// # Panics
///
/// When it cannot be written.
#[track_caller]
pub(crate) fn executable(path: &Path, text: impl AsRef<[u8]>, mode: u32) {
    let mut child = Command::new("sh")
        .args(["-c", "cat > \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("sh starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(text.as_ref()).expect("it is read");
    drop(stdin);
    let written = child.wait().expect("a child");
    assert!(written.success(), "{} cannot be written", path.display());
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its mode");
}

/// Copies a program, with its mode.
///
/// # Panics
///
/// When it cannot be copied.
#[track_caller]
pub(crate) fn copy_program(from: &Path, to: &Path) {
    let copied = Command::new("cp")
        .args([from, to])
        .status()
        .expect("cp starts");
    assert!(copied.success(), "{} cannot be copied", from.display());
}

/// Copies what is in a folder, with modes: programs, too.
///
/// # Panics
///
/// When it cannot be copied.
#[track_caller]
pub(crate) fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp")
        .arg("-R")
        .args([&from.join("."), to])
        .status()
        .expect("cp starts");
    assert!(copied.success(), "{} cannot be copied", from.display());
}
