//! The program's whole output, frozen: games, plans, tables, pages and command lines.
//!
//! Each file of this folder that ends in `.txt` is a list of cases with what they print:
//!
//! ```text
//! == standings/csv                   the case's name; it runs in an empty directory of its own
//! # why, for readers
//! ~ times                            replace durations, which differ from run to run
//! ~ shell only                       the files in other languages that it names are not run
//! $ referee standings ../games/random.jsonl --format csv
//! | a line of stdout
//! ! a line of stderr
//! = 2                                the exit status, when it is not 0
//! ```
//!
//! A command is run by `sh`. Beside the case's directory are `../players`, `../sets`, `../puzzles`, `../bots`
//! (`tests/bots`) and `../games`, which has a file of records for each case of `games.txt`. Paths and the times in
//! records are normalised (`normalise.rs`).
//!
//! ```text
//! cargo test --test golden                                       compares
//! cargo test --test golden standings/                            only cases whose name contains this
//! UPDATE_GOLDEN=1 cargo test --test golden standings/csv         writes what these cases print now
//! ```
//!
//! A difference is a mistake, or a decision that its commit names. A new case is written as its commands and then
//! updated. Cases that read `../games` read what is stored: after a change of games, update twice.
//!
//! A case gives the same output on every machine: no measured times, no sandbox, nothing that depends on the number
//! of cores, on the user, on where the files are, or on what is installed. It finds `sh`, a few tools that all Unix
//! systems have. Cases whose commands run a file of Python or Perl are those of `golden_interpreters` (`interpreters.rs`).

#[cfg(unix)]
mod case;
#[cfg(unix)]
#[path = "../common/hangs.rs"]
mod hangs;
#[cfg(unix)]
mod normalise;
#[cfg(unix)]
mod world;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    world::run_all(world::Cases::ShellOnly)
}

/// The cases are written for a Unix shell.
#[cfg(not(unix))]
fn main() {}
