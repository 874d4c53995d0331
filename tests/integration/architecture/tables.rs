//! What the invariants allow, in one place: the order of the modules, the outside crates, and the
//! places that do what others may not.

/// The largest file of `src/`, in lines.
pub(super) const MOST_LINES: usize = 450;

/// Modules above the rules, in which no type parameter is bounded by a trait of a game.
pub(super) const WITHOUT_TYPES_OF_GAMES: &[&str] = &[
    "sandbox",
    "bot",
    "record",
    "play",
    "analysis",
    "puzzles",
    "tournament",
    "checkup",
    "arena",
    "report",
    "cli",
];

/// The modules from below to above, and what each uses of those below it.
pub(super) const MODULES: &[(&str, &[&str])] = &[
    ("system", &[]),
    ("text", &[]),
    ("seed", &[]),
    ("protocol", &[]),
    ("threads", &[]),
    ("log_target", &[]),
    ("game", &["text"]),
    ("solver", &["game"]),
    ("strategy", &["game", "solver", "text"]),
    ("session", &["game", "solver", "strategy", "text"]),
    ("executable", &["system", "text"]),
    (
        "sandbox",
        &["executable", "log_target", "protocol", "system", "text"],
    ),
    (
        "bot",
        &[
            "executable",
            "game",
            "log_target",
            "protocol",
            "sandbox",
            "session",
            "strategy",
            "system",
            "text",
        ],
    ),
    (
        "game_program",
        &[
            "bot",
            "game",
            "log_target",
            "protocol",
            "seed",
            "session",
            "system",
            "text",
        ],
    ),
    (
        "record",
        &[
            "log_target",
            "protocol",
            "solver",
            "system",
            "text",
            "threads",
        ],
    ),
    (
        "play",
        &[
            "bot",
            "executable",
            "game",
            "log_target",
            "protocol",
            "record",
            "sandbox",
            "seed",
            "session",
            "text",
        ],
    ),
    (
        "analysis",
        &["game", "play", "record", "session", "solver", "text"],
    ),
    ("puzzles", &["play", "record", "session", "solver", "text"]),
    (
        "tournament",
        &["game", "record", "seed", "session", "text", "threads"],
    ),
    (
        "checkup",
        &[
            "bot", "game", "play", "sandbox", "seed", "session", "text", "threads",
        ],
    ),
    (
        "arena",
        &[
            "analysis",
            "bot",
            "checkup",
            "game",
            "log_target",
            "play",
            "record",
            "sandbox",
            "seed",
            "session",
            "solver",
            "strategy",
            "system",
            "text",
            "tournament",
        ],
    ),
    (
        "league",
        &[
            "arena",
            "bot",
            "executable",
            "record",
            "sandbox",
            "system",
            "text",
            "tournament",
        ],
    ),
    (
        "report",
        &[
            "arena",
            "bot",
            "checkup",
            "game",
            "league",
            "log_target",
            "play",
            "puzzles",
            "record",
            "sandbox",
            "session",
            "system",
            "text",
            "tournament",
        ],
    ),
    (
        "cli",
        &[
            "analysis",
            "arena",
            "bot",
            "checkup",
            "executable",
            "game",
            "game_program",
            "league",
            "log_target",
            "play",
            "protocol",
            "puzzles",
            "record",
            "report",
            "sandbox",
            "seed",
            "session",
            "solver",
            "strategy",
            "system",
            "text",
            "tournament",
        ],
    ),
];

/// Every outside crate, and the modules that may use it.
pub(super) const CRATES: &[(&str, &[&str])] = &[
    ("anstream", &["cli"]),
    ("anstyle", &["report"]),
    ("arrayvec", &["solver"]),
    ("askama", &["report"]),
    ("base64", &["report"]),
    ("bytemuck", &["solver"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("compact_str", &["record"]),
    ("csv", &["league", "arena", "report"]),
    ("http_body_util", &["report"]),
    ("flate2", &["league", "report"]),
    ("foldhash", &["arena", "record", "tournament"]),
    ("hyper", &["report"]),
    ("hyper_util", &["report"]),
    ("indicatif", &["cli"]),
    ("integer_blossom", &["tournament"]),
    ("jiff", &["league", "play", "arena", "report", "cli"]),
    ("json_subscriber", &["cli"]),
    ("landlock", &["sandbox"]),
    ("libc", &["sandbox", "bot", "system"]),
    ("libm", &["tournament"]),
    ("memchr", &["record"]),
    (
        "rand",
        &[
            "seed",
            "solver",
            "strategy",
            "session",
            "game_program",
            "tournament",
            "arena",
            "checkup",
            "report",
            "cli",
        ],
    ),
    ("parse_size", &["cli"]),
    ("quick_junit", &["cli"]),
    ("quick_xml", &["report"]),
    ("roxmltree", &["report"]),
    (
        "rustix",
        &["sandbox", "bot", "game_program", "play", "cli", "system"],
    ),
    ("rustyline", &["cli"]),
    ("same_file", &["cli"]),
    ("seccompiler", &["sandbox"]),
    (
        "serde",
        &[
            "league",
            "sandbox",
            "game_program",
            "record",
            "analysis",
            "puzzles",
            "tournament",
            "arena",
            "cli",
        ],
    ),
    (
        "serde_json",
        &[
            "league",
            "sandbox",
            "bot",
            "game_program",
            "record",
            "play",
            "analysis",
            "puzzles",
            "tournament",
            "arena",
            "report",
            "cli",
        ],
    ),
    (
        "sha2",
        &[
            "sandbox",
            "game_program",
            "arena",
            "league",
            "puzzles",
            "report",
        ],
    ),
    (
        "shell_words",
        &["league", "bot", "cli", "executable", "system"],
    ),
    ("strsim", &["text"]),
    ("tar", &["league"]),
    (
        "tempfile",
        &[
            "league", "sandbox", "record", "play", "arena", "cli", "system",
        ],
    ),
    ("terminal_size", &["cli"]),
    (
        "thiserror",
        &[
            "solver",
            "strategy",
            "league",
            "sandbox",
            "bot",
            "game_program",
            "record",
            "play",
            "analysis",
            "puzzles",
            "tournament",
            "arena",
            "executable",
            "report",
        ],
    ),
    (
        "tokio",
        &["sandbox", "bot", "play", "arena", "league", "report", "cli"],
    ),
    ("tokio_io_timeout", &["report"]),
    ("toml", &["league", "cli"]),
    (
        "tracing",
        &[
            "sandbox",
            "bot",
            "game_program",
            "record",
            "play",
            "arena",
            "report",
            "cli",
        ],
    ),
    ("tracing_subscriber", &["cli"]),
    ("unicode_segmentation", &["report"]),
    ("unicode_width", &["report"]),
    ("wide", &["solver"]),
    ("zip", &["league"]),
    ("windows_sys", &["bot", "system"]),
];

/// Modules that calculate: the same input gives the same output, whatever the machine does.
pub(super) const PURE: &[&str] = &["text", "protocol", "seed", "game", "tournament"];

/// What a pure module does not know, of the standard library and beyond.
pub(super) const IMPURE: &[&[&str]] = &[
    &["std", "env"],
    &["std", "fs"],
    &["std", "net"],
    &["std", "os"],
    &["std", "process"],
    &["std", "thread"],
    // A duration is a value; only clocks differ from run to run.
    &["std", "time", "Instant"],
    &["std", "time", "SystemTime"],
    &["jiff"],
    &["libc"],
    &["rustix"],
    &["tempfile"],
    &["tokio"],
];

/// The only places that start programs: bots, the supervisor between the referee and a bot, a game's program, and the
/// organiser's own command.
pub(super) const START_PROGRAMS: &[&str] = &[
    "bot/process",
    "sandbox/supervisor",
    "game_program/connection.rs",
    "cli/support/after.rs",
];

/// The only places that write to the terminal. The supervisor is a process of its own, whose
/// standard error is where it reports a failure.
pub(super) const PRINT: &[&str] = &["cli", "sandbox/supervisor"];

/// The traits that a game's type has.
pub(super) const GAME_TRAITS: &[&str] = &["Game", "HumanInput"];
