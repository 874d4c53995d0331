//! Options that are gone, each with what to use instead.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};

use super::failure::Failure;

/// The command, the option, and a sentence.
const RETIRED: &[(&str, &str, &str)] = &[
    (
        "league",
        "--budget",
        "a league plays all pairings; for fewer games, give a smaller --pairs",
    ),
    (
        "simulate",
        "--budget",
        "what fewer games tell, a smaller --pairs shows",
    ),
    (
        "simulate",
        "--oracle",
        "what more games tell, a larger --pairs shows",
    ),
    ("standings", "--drift", SINCE),
    ("standings", "--by day", SINCE),
    ("standings", "--by week", SINCE),
    ("standings", "--by month", SINCE),
    ("solve", "--table", MEASURED),
    ("solve", "--free", MEASURED),
    ("solve", "--positions", MEASURED),
    ("solve", "--empty", MEASURED),
    ("solve", "--resume", QUICK),
    ("solve", "--no-book", QUICK),
    ("solve", "--book", MADE),
    ("solve", "--placements", MADE),
    ("solve", "--pack", MADE),
];

/// In place of ratings over time.
const SINCE: &str = "--from TIME rates the games since then";

/// In place of the table of the solver's speed.
const MEASURED: &str = "every solve says how many nodes it took, and how long";

/// In place of long solves without the book.
const QUICK: &str = "early positions are always answered by the built-in book";

/// In place of books of the user's own.
const MADE: &str = "the books are made by crates/games/examples/make_books.rs";

/// The failure for an error of the parser that is about one of these options.
pub(in crate::cli) fn failure(error: &clap::Error, arguments: &[OsString]) -> Option<Failure> {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let wrong = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => format!("{} {value}", wrong.split(' ').next()?),
        _ => wrong.clone(),
    };
    let command = arguments.get(1)?;
    let (_, option, instead) = RETIRED
        .iter()
        .find(|(name, option, _)| command == name && wrong == *option)?;
    Some(Failure::Usage(format!("{option} is gone: {instead}")))
}
