//! Tests of the library and of the built program, a module a feature:
//!
//! ```text
//! cargo test --test integration faults::
//! ```
//!
//! One program, since each would link the whole crate again, and since tests of all features then
//! run in parallel. Tests that need more than Rust and a shell are in `tests/environment`, which
//! says why it is the second.
//!
//! All tests share this process. What belongs to a whole process is therefore left alone (its
//! directory, environment, signals and limits), and a test finds its own processes by the path of
//! its scratch directory. One thing is shared whether a test wants it or not: while any test starts
//! a program, the child holds a copy of all descriptors of this process until it has become that
//! program. So a program is made by [`common::files::executable`], or it might still be open for
//! writing when it is to run, and a lock may last a moment longer than the file that held it.
//!
//! Modules with bots of `tests/bots`, which are shell scripts, are for Unix. The others are also built
//! for Windows, where `tests/environment/windows` runs some of them.

#[cfg(unix)]
mod adjudication;
#[cfg(unix)]
mod agreement;
#[cfg(unix)]
mod alike;
#[cfg(unix)]
mod analysis;
#[cfg(unix)]
mod architecture;
#[cfg(unix)]
mod archives;
#[cfg(unix)]
mod ask;
#[cfg(unix)]
mod at_page;
#[cfg(unix)]
mod bot_pages;
#[cfg(unix)]
mod builtins;
mod channel;
#[cfg(unix)]
mod check;
#[cfg(unix)]
mod class;
#[cfg(unix)]
mod classroom;
#[cfg(unix)]
mod cli;
mod clock;
#[cfg(unix)]
#[path = "../common/mod.rs"]
mod common;
#[cfg(unix)]
mod compare;
mod conformance;
#[cfg(unix)]
mod debug;
mod destinations;
mod drawing;
#[cfg(unix)]
mod examples;
#[cfg(unix)]
mod exit_status;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod folders;
#[cfg(unix)]
mod four_in_a_row;
#[cfg(unix)]
mod game_program;
#[cfg(unix)]
mod grades;
#[cfg(unix)]
mod hunt;
#[cfg(unix)]
mod info;
#[cfg(unix)]
mod intake;
mod journal;
#[cfg(unix)]
mod league;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod logging;
#[cfg(unix)]
mod matches;
#[cfg(unix)]
mod messages;
mod openings;
#[cfg(unix)]
mod outcomes;
#[cfg(unix)]
mod output;
mod parsers;
#[cfg(unix)]
mod perfect;
#[cfg(unix)]
mod pictures;
#[cfg(unix)]
mod printed;
mod protocol_doc;
#[cfg(unix)]
mod puzzles;
mod ranking;
#[cfg(unix)]
mod record_files;
mod replay_check;
#[cfg(unix)]
mod report;
#[cfg(unix)]
mod rerun;
#[cfg(unix)]
mod resume;
#[cfg(unix)]
mod robustness;
#[cfg(unix)]
mod sandbox;
mod scheduler;
#[cfg(unix)]
mod schemas;
mod scripted;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod shards;
#[cfg(unix)]
mod shown;
#[cfg(unix)]
mod snapshot;
#[cfg(unix)]
mod solve;
#[cfg(unix)]
mod stage;
#[cfg(unix)]
mod standings;
#[cfg(unix)]
mod starting;
#[cfg(unix)]
mod stopping;
#[cfg(unix)]
mod tournament;
#[cfg(unix)]
mod untrusted;
