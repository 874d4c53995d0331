//! What a league writes after its games: who plays, who does not and why, and the last line.

use std::io::Write as _;
use std::path::Path;

use jiff::Timestamp;

use crate::arena::results::Results;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::Stdout;
use crate::league::season::LeagueDirectory;
use crate::league::state::League;
use crate::report::league::students;
use crate::text::counted;
use crate::tournament::ratings::Model;

/// The title of the league's page: the name of its folder.
pub(super) fn title(folder: &Path) -> String {
    let path = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Writes `students.csv`, and remembers the places.
pub(super) fn finish(
    directory: &LeagueDirectory,
    league: &mut League,
    results: &Results,
    deadline: Option<Timestamp>,
) -> Result<(), Failure> {
    let standings = results.collector.standings(&Model::default());
    let standings = standings.map_err(|error| Failure::Usage(error.to_string()))?;
    for place in standings.places {
        if let Some(member) = league.members.get_mut(&place.name) {
            member.last_rank = Some(place.rank);
        }
    }
    league.write(directory.path())?;
    let text = students(league, deadline).map_err(|error| Failure::Referee(error.to_string()))?;
    directory.tournament().write("students.csv", &text)?;
    Ok(())
}

/// Prints the last line.
pub(super) fn summary(new: u64, kept: u64) -> Result<(), Failure> {
    let new = counted(new, "new game", "new games");
    Ok(writeln!(Stdout, "{new}, {kept} kept")?)
}
