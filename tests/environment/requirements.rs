//! What tests need that may be missing, and how much of it may run at once.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};

use libtest_mimic::Trial;

/// Whether this machine decides about a change: everything that tests need must be there.
pub(crate) fn is_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// A program in the search path, or in one of these folders besides.
pub(crate) fn program(name: &str, besides: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(besides.iter().map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|file| {
            let meta = fs::metadata(file);
            meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
}

/// A test that cannot be run here for want of a program: ignored by name, and failed in CI.
pub(crate) fn lacking(
    name: impl Into<String>,
    command: &'static str,
    package: &'static str,
) -> Trial {
    let fail = move || Err(format!("there is no {command} here; apt install {package}").into());
    Trial::test(name, fail)
        .with_kind(format!("no {command}"))
        .with_ignored_flag(!is_ci())
}

/// How many large programs (a browser, a small cluster) run at once, however many processors
/// there are.
const LARGE_AT_ONCE: usize = 2;

static LARGE: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// The right to run a large program, until it is dropped.
pub(crate) struct Large(());

impl Large {
    /// Waits until there is room for one more.
    pub(crate) fn wait() -> Self {
        let running = LARGE.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running = LARGE
            .1
            .wait_while(running, |running| *running >= LARGE_AT_ONCE)
            .unwrap_or_else(PoisonError::into_inner);
        *running += 1;
        Self(())
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        *LARGE.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        LARGE.1.notify_one();
    }
}
