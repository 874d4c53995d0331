//! A referee for board games between external programs.
//!
//! Arrows point down only; `tests/floors.rs` holds the code to it.
//!
//! | floor | module | what it is |
//! |---|---|---|
//! | top | [`cli`] | one file a command; the only place that prints |
//! | 3 | [`live`] | the report's page, served while games go on |
//! | 3 | [`report`] | records and games in, text out |
//! | 3 | [`arena`] | a tournament as it is played: many games at once, journal, resume |
//! | 3 | [`checkup`] | is a bot fit to enter a tournament? |
//! | 2 | [`play`] | one game between two players: where rules, players and clocks meet |
//! | 2 | [`seat`] | a person, or a program with its process, at the table |
//! | 2 | [`scoresheet`] | what becomes a record when a game ends |
//! | 2 | [`series`] | a match: many games between the same two bots |
//! | 2 | [`replay`] | recorded games, checked against the rules |
//! | 2 | [`adjudication`] | games that end because their value is proven |
//! | 2 | [`analysis`] | where a recorded game was won and lost |
//! | 2 | [`tournament`] | schedules, openings, ratings, sequential tests, standings; pure |
//! | 1 | [`player`] | programs: starting, asking, stopping, and every way they misbehave |
//! | 2 | [`journal`] | a file of records that loses nothing |
//! | 1 | [`record`], [`annotation`] | what is written of a game, and of its analysis; data only |
//! | 1 | [`solver`] | the exact value of any position of Quarto |
//! | 1 | [`strategy`] | the built-in bots |
//! | 0 | [`game`] | the rules; knows no process, clock or file |
//! | 0 | [`protocol`] | the frame of a line, and the environment of a bot |
//! | 0 | [`text`], [`seed`] | untrusted text made safe; numbers drawn from a seed |
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

pub mod adjudication;
pub mod analysis;
pub mod annotation;
pub mod arena;
pub mod checkup;
pub mod cli;
pub mod game;
pub mod journal;
pub mod live;
pub mod play;
pub mod player;
pub mod protocol;
pub mod record;
pub mod replay;
pub mod report;
pub mod scoresheet;
pub mod seat;
pub mod seed;
pub mod series;
pub mod solver;
pub mod strategy;
pub mod text;
pub mod tournament;
