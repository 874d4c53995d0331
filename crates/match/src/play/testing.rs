//! What tests of this crate and of those above share. Compiled always: with a feature of their own for tests, crates would be
//! built twice.

use std::path::Path;
use std::time::Duration;

use referee_sandbox::snapshot::FileScope;

use super::clock::TimeControl;
use crate::bot::spec::Program;

/// Silent when it is the first to start, and plays well from then on: a free column.
pub const SILENT_AT_FIRST: &str = "
    mkdir \"$0/first\" 2>/dev/null && exec sleep 1000
    while read -r mark cells; do
        column=1
        while :; do
            case $cells in .*) break ;; esac
            cells=${cells#?} column=$((column + 1))
        done
        echo $column
    done";

/// Knows its directory as `$0`.
pub fn program(script: &str, directory: &Path) -> Program {
    let directory = directory.to_string_lossy();
    Program {
        name: "script".to_owned(),
        argv: ["sh", "-c", script, &*directory]
            .map(str::to_owned)
            .to_vec(),
        command: Vec::new(),
        language: None,
        directory: None,
        scope: FileScope::default(),
        beside: Vec::new(),
        confinement: None,
        sources: None,
        is_prepared: false,
    }
}

/// Long enough for a program to answer on a busy machine.
pub const LONG: Duration = Duration::from_secs(2);

/// For the first answer of a process, and for each further one.
pub fn limits(time: Duration) -> TimeControl {
    TimeControl {
        move_time: Some(time),
        start_time: Duration::ZERO,
        ..TimeControl::default()
    }
}
