//! The places of the last time, for the arrows in the table.

use crate::arena::directory::TournamentDirectory;
use crate::arena::plan::Plan;
use crate::arena::results::Results;
use crate::cli::support::failure::Failure;
use crate::tournament::ratings::Model;

/// Notes in a new plan the places that its bots have in the table of the old one; or had before it, while games of
/// the old one are missing.
pub(super) fn note(
    new: &mut Plan,
    old: &Plan,
    directory: &TournamentDirectory,
) -> Result<(), Failure> {
    let mut results = Results::new(old);
    TournamentDirectory::read_journal(&directory.journal_file(), old, &mut results)?;
    let ranking = results.ranking(old);
    let mut places = ranking.before.clone();
    if results.is_done(old) {
        let standings = results.collector.ranked(&Model::default(), &ranking);
        let standings = standings.map_err(|error| Failure::Referee(error.to_string()))?;
        let ranks = standings.places.into_iter();
        places = ranks.map(|place| (place.name, place.rank)).collect();
    }
    for bot in &mut new.bots {
        bot.place_before = places.get(&bot.name).copied();
    }
    Ok(())
}
