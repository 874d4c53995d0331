//! Programs that tests make.
//!
//! Linux runs no file that is open for writing anywhere, and while another thread of these tests
//! starts a program, the child has a copy of every descriptor, also of a file that is just being
//! written here. So a process that has no other threads writes it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Makes a program of this text; `mode` as for chmod.
///
/// # Panics
///
/// When it cannot be made.
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
    assert!(written.success(), "{} cannot be made", path.display());
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
