//! The targets of events and spans in the log: the names by which `--log` and `RUST_LOG` select them.
//!
//! They are stable, while modules move. An event without one of them has the path of its module,
//! which begins with `referee::`, too. docs/troubleshooting.md lists what each target has.

/// All spans. They are switched on with any event of level info or below, whatever its target.
pub const SPAN: &str = "referee::span";

/// The command that was given, and how it ended.
pub const COMMAND: &str = "referee::command";

/// Rounds, pairs of games, benched bots.
pub const TOURNAMENT: &str = "referee::tournament";

/// Games: begun, ended, forfeited, void.
pub const GAME: &str = "referee::game";

/// Processes of bots: started, answered for the first time, ended, and what they used.
pub const PROCESS: &str = "referee::process";

/// Deadlines: set and met.
pub const CLOCK: &str = "referee::clock";

/// Every line each way.
pub const WIRE: &str = "referee::wire";

/// Which sandbox was chosen, and what a bot sees in it.
pub const SANDBOX: &str = crate::sandbox::LOG_TARGET;

/// What is on the disk.
pub const JOURNAL: &str = "referee::journal";

/// Clients of the live page.
pub const PAGE: &str = "referee::page";

/// Whether somebody reads what is printed.
pub const OUTPUT: &str = "referee::output";

pub const ALL: [&str; 11] = [
    SPAN, COMMAND, TOURNAMENT, GAME, PROCESS, CLOCK, WIRE, SANDBOX, JOURNAL, PAGE, OUTPUT,
];
