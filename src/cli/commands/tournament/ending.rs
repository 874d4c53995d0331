//! The end of a tournament: the tables in its folder and the printed summary.

use std::io;

use crate::arena::Ended;
use crate::arena::directory::TournamentDirectory;
use crate::arena::plan::Plan;
use crate::arena::results::{Distinct, Results};
use crate::bot::shell;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::cli::support::setup::{palette, terminal_width};
use crate::report::tournament_summary::{SummaryError, summary, tables};

/// Writes the tables into the folder.
pub(super) fn write(
    directory: &TournamentDirectory,
    plan: &Plan,
    results: &Results,
) -> Result<(), Failure> {
    for (name, text) in tables(plan, results)? {
        directory.write(name, &text)?;
    }
    Ok(())
}

/// Prints the standings, the summary of the games, and a warning when many games were the same.
pub(super) fn print(ended: Ended, plan: &Plan, results: &Results) -> Result<(), Failure> {
    let out = summary(
        ended,
        plan,
        results,
        &palette(&io::stdout()),
        terminal_width(&io::stdout()),
    )?;
    io::Write::write_all(&mut Stdout, out.as_bytes())?;
    warn_of_repetition(&results.distinct);
    Ok(())
}

/// Warns when many games were the same.
pub(in crate::cli) fn warn_of_repetition(distinct: &Distinct) {
    if distinct.is_repetitive() {
        print_stderr(
            "referee: warning: deterministic bots play the same game again from the same opening, so \
             the errors of the ratings are larger than shown; use more openings (--opening-plies)",
        );
    }
}

/// Prints what was planned and how to play it.
pub(in crate::cli) fn print_plan(plan: &Plan, directory: &TournamentDirectory) {
    let path = directory.path().to_string_lossy();
    let path = shell::quoted(&path);
    print_stderr(&format!(
        "referee: {} games of {} bots in round{} {}; play them in parts: referee run {path} --shard \
         I/N, then referee merge {path}",
        2 * plan.pairs_so_far(),
        plan.bots.len(),
        if plan.rounds.len() == 1 { "" } else { "s" },
        match plan.rounds.len() {
            1 => "1".to_owned(),
            many => format!("1 to {many}"),
        },
    ));
}

impl From<SummaryError> for Failure {
    fn from(error: SummaryError) -> Self {
        match error {
            SummaryError::Sprt(error) => Self::Usage(error.to_string()),
            error @ SummaryError::Ratings(_) => Self::Referee(error.to_string()),
        }
    }
}
