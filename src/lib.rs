//! A referee for board games between external programs.
//!
//! Arrows point down only; `tests/floors.rs` holds the code to it.
//!
//! | room | module | what it is |
//! |---|---|---|
//! | rules | [`game`] | the rules; knows no process, clock or file |
//! | | [`solver`] | the exact value of any position of Quarto |
//! | | [`strategy`] | the built-in bots |
//! | | [`protocol`] | the frame of a line, and the environment of a bot |
//! | | [`text`], [`seed`] | untrusted text made safe; numbers drawn from a seed |
//! | bots | [`executable`] | files that can be run: found, checked, and their languages |
//! | | [`sandbox`] | what confines hostile bots |
//! | | [`bot`] | programs and people: starting, asking, stopping, and every fault |
//! | paper | [`record`] | what is written of games, and the files it is written to |
//! | one game | [`play`] | one game, and a match of many games between two bots |
//! | truth | [`analysis`] | where a recorded game was won and lost |
//! | many games | [`tournament`] | schedules, openings, ratings, sequential tests, standings; pure |
//! | | [`arena`] | a tournament as it is played: many games at once, journal, resume |
//! | | [`checkup`] | is a bot fit to enter a tournament? |
//! | to look at | [`report`] | records and games in, text and pages out |
//! | door | [`cli`] | one file a command; the only place that prints |
//!
//! # The rules as a library
//!
//! ```
//! use referee::game::quarto::{PieceSet, Rules};
//!
//! let set = PieceSet::default();
//! let quartos = set.quartos("N?BI??JO?FDLMEAG", Rules::Standard)?;
//! assert_eq!(quartos[0], ("H4", "big"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod analysis;
pub mod arena;
pub mod bot;
pub mod checkup;
pub mod cli;
pub mod executable;
pub mod game;
pub mod play;
pub mod protocol;
pub mod record;
pub mod report;
pub mod sandbox;
pub mod seed;
pub mod session;
pub mod solver;
pub mod strategy;
pub mod text;
pub mod tournament;
