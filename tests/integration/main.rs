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

mod adjudication;
mod analysis;
mod architecture;
mod budget;
mod channel;
mod check;
mod class;
mod classroom;
mod cli;
mod clock;
#[path = "../common/mod.rs"]
mod common;
mod conformance;
mod drawing;
mod examples;
mod faults;
mod four_in_a_row;
mod grades;
mod intake;
mod journal;
mod league;
mod logging;
mod matches;
mod messages;
mod notation;
mod openings;
mod output;
mod own_pages;
mod parsers;
mod perfect;
mod perft;
mod piece_sets;
mod protocol_doc;
mod quartos;
mod ranking;
mod ratings;
mod replay_check;
mod report;
mod robustness;
mod sandbox;
mod schedule;
mod scheduler;
mod schemas;
mod serve;
mod shards;
mod snapshot;
mod solve;
mod solver;
mod sprt;
mod standings;
mod starting;
mod stopping;
mod tournament;
