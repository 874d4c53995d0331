//! The stable names by which `--log` and `RUST_LOG` select parts of the log; docs/log.md lists what each has. Every event has
//! one: the path of a module would tell users how the code is divided.

/// All spans, on with any event of level info or below.
pub const SPAN: &str = "referee::span";

/// The command, and how it ended.
pub const COMMAND: &str = "referee::command";

/// Rounds, pairs of games, benched bots.
pub const TOURNAMENT: &str = "referee::tournament";

/// Games: begun, ended, forfeited, void.
pub const GAME: &str = "referee::game";

/// Bots' processes: start, first answer, end, usage.
pub const PROCESS: &str = "referee::process";

/// Deadlines: set and met.
pub const CLOCK: &str = "referee::clock";

/// Every line each way.
pub const WIRE: &str = "referee::wire";

/// The chosen sandbox, and what a bot sees in it.
pub const SANDBOX: &str = referee_sandbox::LOG_TARGET;

/// The journal on the disk.
pub const JOURNAL: &str = "referee::journal";

/// Clients of the live page.
pub const PAGE: &str = "referee::page";

pub const ALL: [&str; 10] = [
    SPAN, COMMAND, TOURNAMENT, GAME, PROCESS, CLOCK, WIRE, SANDBOX, JOURNAL, PAGE,
];
