//! What a league writes after its games: who plays, who does not and why, and the last line.

use std::io::Write as _;

use jiff::Timestamp;

use crate::cli::support::failure::Failure;
use crate::cli::support::output::Stdout;
use crate::league::season::LeagueDirectory;
use crate::league::state::League;
use crate::report::league::students;
use crate::text::counted;

/// Writes `students.csv`.
pub(super) fn write(
    directory: &LeagueDirectory,
    league: &League,
    deadline: Option<Timestamp>,
) -> Result<(), Failure> {
    let text = students(league, deadline).map_err(|error| Failure::Referee(error.to_string()))?;
    directory.tournament().write("students.csv", &text)?;
    Ok(())
}

/// Prints the last line.
pub(super) fn summary(new: u64, kept: u64) -> Result<(), Failure> {
    let new = counted(new, "new game", "new games");
    Ok(writeln!(Stdout, "{new}, {kept} kept")?)
}
