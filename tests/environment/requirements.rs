//! Programs that tests need and that may be missing, and a limit on large ones at once.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};

use libtest_mimic::Trial;

/// Whether this is CI, where everything that tests need must be installed.
pub(crate) fn is_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// A program in the search path or in one of the `more` folders.
pub(crate) fn program(name: &str, more: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(more.iter().map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|file| {
            let meta = fs::metadata(file);
            meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
}

/// A test that cannot run because a program is missing: ignored here, failed in CI.
pub(crate) fn unavailable(
    name: impl Into<String>,
    command: &'static str,
    package: &'static str,
) -> Trial {
    let fail = move || Err(format!("there is no {command} here; apt install {package}").into());
    Trial::test(name, fail)
        .with_kind(format!("no {command}"))
        .with_ignored_flag(!is_ci())
}

/// How many large programs (a browser, a small cluster) run at once.
const LARGE_AT_ONCE: usize = 2;

static LARGE: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// A permit to run a large program, until it is dropped.
pub(crate) struct LargePermit(());

impl LargePermit {
    /// Waits for a permit.
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

impl Drop for LargePermit {
    fn drop(&mut self) {
        *LARGE.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        LARGE.1.notify_one();
    }
}
