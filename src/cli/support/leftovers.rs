//! What bots leave behind when a run is over.

use super::failure::Failure;
use super::output::print_stderr;
use super::runtime::runtime;
use crate::bot::orphans;

/// Does work that starts bots and stops them, then ends what they left behind.
pub(in crate::cli) fn with_bots<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        orphans::adopt();
        work.await
    });
    end_orphans();
    result
}

/// Ends it, and says what could not be ended. Only call it when every bot has been stopped.
pub(in crate::cli) fn end_orphans() {
    for survivor in orphans::sweep() {
        print_stderr(&format!("referee: warning: {survivor}"));
    }
}
