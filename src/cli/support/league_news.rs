//! What has changed for the bots of a league since the last time.

use std::collections::BTreeMap;
use std::path::Path;

use super::failure::Failure;
use crate::arena::directory::TournamentDirectory;
use crate::arena::results::Results;
use crate::league::archive::AllNews;
use crate::league::state::{self, League, Member};
use crate::report::own::{Since, since};
use crate::tournament::ratings::Model;

/// What is new for each bot of a league, by name; nothing where a path is not the folder of a league.
pub(in crate::cli) fn of(path: &Path) -> Result<BTreeMap<String, Since>, Failure> {
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
    for (name, member) in &league.members {
        let Some(mut news) = news.of(name, &league, &plan) else {
            continue;
        };
        if let Some(problem) = &mut news.problem {
            *problem = at_home(path, member, problem);
        }
        let place = standings.places.iter().find(|place| place.name == *name);
        let places = place.map(|place| {
            let before = ranking.before.get(name).copied();
            (place.rank, standings.places.len(), before)
        });
        texts.insert(name.clone(), since(places, &news));
    }
    Ok(texts)
}

/// The folders of the versions of each bot of a league, by name; nothing where a path is not the folder of a league.
pub(in crate::cli) fn homes(path: &Path) -> Result<BTreeMap<String, Vec<String>>, Failure> {
    let mut homes = BTreeMap::new();
    if path.is_dir()
        && let Some(league) = League::read(path)?
    {
        for (name, member) in &league.members {
            homes.insert(name.clone(), folders(path, member));
        }
    }
    Ok(homes)
}

/// The folders of the versions of a member, as they are written, the whole paths first.
fn folders(league: &Path, member: &Member) -> Vec<String> {
    let folders = member.versions.iter().flat_map(|version| {
        let folder = state::folder(league, member, &version.id);
        let whole = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
        let real = whole.canonicalize().unwrap_or_else(|_| whole.clone());
        [real, whole, folder].map(|folder| folder.display().to_string())
    });
    folders.collect()
}

/// A text in which the files of a member are where their author has them, and not in the folder of the league.
fn at_home(league: &Path, member: &Member, text: &str) -> String {
    let mut text = text.to_owned();
    for folder in folders(league, member) {
        text = text.replace(&format!("{folder}/"), "./");
    }
    text
}
