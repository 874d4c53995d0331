//! What bots leave behind when a run is over.

use super::output::print_stderr;
use crate::bot::orphans;

/// Ends it, and says what could not be ended. Only call it when every bot has been stopped.
pub(in crate::cli) fn end_orphans() {
    for survivor in orphans::sweep() {
        print_stderr(&format!("referee: warning: {survivor}"));
    }
}
