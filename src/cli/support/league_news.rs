//! What has changed for the bots of a league since the last time.

use std::collections::BTreeMap;
use std::path::Path;

use super::failure::Failure;
use crate::arena::directory::TournamentDirectory;
use crate::arena::results::Results;
use crate::league::news::AllNews;
use crate::league::state::League;
use crate::report::own::since_text;
use crate::tournament::ratings::Model;

/// A text for each bot of a league, by name; nothing where a path is not the folder of a league.
pub(in crate::cli) fn of(path: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut texts = BTreeMap::new();
    if !path.is_dir() {
        return Ok(texts);
    }
    let directory = TournamentDirectory::at(path);
    let (Some(league), Some(plan)) = (League::read(path)?, directory.plan()?) else {
        return Ok(texts);
    };
    let games = directory.journal_file();
    let mut results = Results::new(&plan);
    TournamentDirectory::read_journal(&games, &plan, &mut results)?;
    let ranking = results.ranking(&plan);
    let standings = results.collector.ranked(&Model::default(), &ranking);
    let standings = standings.map_err(|error| Failure::Referee(error.to_string()))?;
    let news =
        AllNews::read(path, &plan, &games).map_err(|error| Failure::Usage(error.to_string()))?;
    for name in league.members.keys() {
        let Some(news) = news.of(name, &league, &plan) else {
            continue;
        };
        let place = standings.places.iter().find(|place| place.name == *name);
        let places = place.map(|place| {
            let before = ranking.before.get(name).copied();
            (place.rank, standings.places.len(), before)
        });
        texts.insert(name.clone(), since_text(places, &news));
    }
    Ok(texts)
}
