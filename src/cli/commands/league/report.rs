//! What a league writes after its games: who plays, who does not and why, and the last line.

use std::io::Write as _;

use jiff::Timestamp;

use crate::cli::support::failure::Failure;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::league::season::LeagueDirectory;
use crate::league::state::League;
use crate::report::grades::students;
use crate::text::counted;

/// Says who plays with an older version, since the newest submission cannot play. Refuses a deadline by which nobody had handed in anything.
pub(super) fn older_versions(league: &League, deadline: Option<Timestamp>) -> Result<(), Failure> {
    let mut members = league.members.values();
    if let Some(deadline) = deadline
        && !members.any(|member| member.newest(Some(deadline)).is_some())
    {
        return Err(Failure::Usage(format!(
            "--deadline: nothing was handed in before {deadline:.0}; a date alone is the beginning of that day, in UTC"
        )));
    }
    for (name, member) in &league.members {
        if let Some(version) = member.playing(deadline)
            && member.problem(deadline).is_some()
        {
            print_stderr(&format!(
                "referee: {name} plays with the version of {:.0}, as the newest submission does not play",
                version.received
            ));
        }
    }
    Ok(())
}

/// Writes `students.csv`.
pub(super) fn write(
    directory: &LeagueDirectory,
    league: &League,
    deadline: Option<Timestamp>,
) -> Result<(), Failure> {
    let text = students(league, deadline);
    directory.tournament().write("students.csv", &text)?;
    Ok(())
}

/// Prints the last line.
pub(super) fn summary(new: u64, kept: u64) -> Result<(), Failure> {
    let new = counted(new, "new game", "new games");
    Ok(writeln!(Stdout, "{new}, {kept} kept")?)
}
