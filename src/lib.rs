//! A referee for board games between external programs.
//!
//! The program `referee` is a thin layer over this library. What other programs need of it is
//! re-exported here; `examples/` shows each in use:
//!
//! | to | use | example |
//! |---|---|---|
//! | play a match | [`MatchRunner`], [`GameRunner`], [`Seat`] | `play_match.rs` |
//! | run a tournament | [`PlanRequest`], [`GameSettings`], [`Arena`] | `tournament.rs` |
//! | read records | [`Record`], [`record::reader::Reader`] | `library/` |
//! | add a game | [`Ruleset`], [`Game`] | |
//!
//! Until version 1.0 the library promises nothing: names and signatures change when that makes
//! the program better. The program's commands, records and protocol are stable.
//!
//! A `Cargo.toml` leaves out what only the program needs, such as the command line:
//!
//! ```toml
//! [dependencies]
//! referee = { path = "../referee", default-features = false }
//! tokio = { version = "1", features = ["rt", "macros"] }   # to play: matches are futures
//! ```
//!
//! Rules, notation, exact solvers and the built-in bots are the crate `referee-games`, re-exported here as [`game`],
//! [`solver`] and [`strategy`].
//!
//! # The rules
//!
//! ```
//! use referee::game::quarto::{PieceSet, Rules};
//!
//! let set = PieceSet::default();
//! let quartos = set.quartos("N?BI??JO?FDLMEAG", Rules::Standard)?;
//! assert_eq!(quartos[0], ("H4", "big"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A record
//!
//! ```
//! use referee::{BotIndex, Ending, Record};
//!
//! let line = r#"{"v":1,"game":"quarto","rules":"standard","id":"7-1",
//!     "bots":[{"name":"a.py","command":["a.py"]},{"name":"b.py","command":["b.py"]}],
//!     "first":0,"seed":7,"start":"................","turns":["- K"],"times_ms":[1.2],
//!     "result":{"winner":0,"reason":"timeout","by":1},"started":"2026-01-31T10:00:00Z"}"#;
//! let record = Record::from_line(line.replace('\n', "").as_bytes())?;
//! assert_eq!(record.ending().map(Ending::winner), Ok(Some(BotIndex::A)));
//! assert_eq!(record.result_line(), "a.py wins: b.py forfeits (timeout).");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ARCHITECTURE.md says what each module is.

// Hidden modules are public for the program and its tests only.
#[doc(hidden)]
pub use referee_class as class;
#[cfg(feature = "class-server")]
#[doc(hidden)]
pub use referee_class_server as class_server;
#[doc(hidden)]
pub use referee_entrants as entrants;
pub use referee_match::{analysis, bot, game_program, log_target, play, protocol, record, seed};
pub use referee_report as report;
#[doc(hidden)]
pub use referee_server as server;
pub use referee_stats as stats;
pub use referee_study as study;
pub use referee_tournament as tournament;

#[doc(inline)]
pub use bot::process::GracePeriods;
pub use entrants::argument::BotSpec;
#[doc(inline)]
pub use play::{
    GameEvent, Observer, TimeControl,
    game_runner::GameRunner,
    match_runner::{MatchPlan, MatchRunner, Score},
    seat::Seat,
};
#[doc(inline)]
pub use record::{BotIndex, Ending, Record};
#[doc(inline)]
pub use referee_games::game::{Game, Ruleset, registry};
#[doc(no_inline)]
pub use referee_games::{drawing, game, solver, strategy};
#[doc(hidden)]
pub use referee_host::executable;
#[doc(hidden)]
pub use referee_host::system;
#[doc(hidden)]
pub use referee_host::threads;
#[doc(no_inline)]
pub use referee_sandbox::{self as sandbox, Sandbox};
#[doc(hidden)]
pub use referee_text as text;
#[doc(inline)]
pub use report::{terminal::Palette, tournament_summary::summary as tournament_summary};
#[doc(inline)]
pub use tournament::plan::request::PlanRequest;
#[doc(inline)]
pub use tournament::{Arena, GameSettings, directory::TournamentDirectory, results::Results};
