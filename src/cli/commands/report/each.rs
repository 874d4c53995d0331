//! `--each`: a page for each bot, with its own games only, and what changed in a league since the last time.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::arena::directory::TournamentDirectory;
use crate::arena::entrants::slugs;
use crate::arena::results::Results;
use crate::cli::support::failure::Failure;
use crate::cli::support::folder::pieces_of;
use crate::cli::support::output::print_stderr;
use crate::cli::support::pages::write;
use crate::cli::support::setup::unreadable;
use crate::league::archive::AllNews;
use crate::league::state::{self, League, Member};
use crate::record::atomic_file::replace;
use crate::record::reader::Reader;
use crate::record::{Record, RecordSummary};
use crate::report::html;
use crate::report::own::{OwnGames, Since, not_entered_text, own, since};
use crate::report::serve::Feed;
use crate::text::counted;
use crate::tournament::ratings::Model;
use crate::tournament::standings::NotEntered;

/// Writes `NAME.html` and `NAME.md` for the bots of `names`, or for all; for a bot that did not enter, `NAME.md` with
/// the reason. `since`: what has changed, by name. `homes`: see [`homes_of`].
pub(in crate::cli) fn write_each(
    files: &[&Path],
    not_entered: &[NotEntered],
    names: &[String],
    folder: &Path,
    since: &BTreeMap<String, Since>,
    homes: &BTreeMap<String, Vec<String>>,
) -> Result<(), Failure> {
    let mut all = BTreeSet::new();
    for_each(files, |_, record| {
        all.extend(record.bots.into_iter().map(|bot| bot.name));
        Ok(())
    })?;
    let absent: Vec<&NotEntered> = not_entered
        .iter()
        .filter(|absent| !all.contains(&absent.name))
        .collect();
    all.extend(absent.iter().map(|absent| absent.name.clone()));
    if let Some(missing) = names.iter().find(|name| !all.contains(*name)) {
        return Err(Failure::Usage(format!(
            "--for {missing}: no game of this bot is there; there are games of {}",
            all.into_iter().collect::<Vec<_>>().join(", ")
        )));
    }
    fs::create_dir_all(folder).map_err(|error| unreadable(folder, &error))?;
    // File names do not depend on the choice.
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut written = 0;
    for (name, slug) in all.iter().zip(slugs(&all)) {
        if names.is_empty() || names.iter().any(|chosen| chosen == name) {
            let place = folder.join(slug);
            let since = since.get(*name);
            if let Some(absent) = absent.iter().find(|absent| absent.name == *name) {
                write_text(&place, &not_entered_text(name, &absent.reason, since))?;
            } else {
                let homes = homes.get(*name).map_or(&[][..], Vec::as_slice);
                write_one(files, name, &place, since, homes)?;
            }
            written += 1;
        }
    }
    print_stderr(&format!(
        "referee: {} in {}, each with the own games of a bot: NAME.html to look at the games, NAME.md for what to mend",
        counted(written, "page", "pages"),
        folder.display()
    ));
    Ok(())
}

fn write_one(
    files: &[&Path],
    name: &str,
    place: &Path,
    since: Option<&Since>,
    homes: &[String],
) -> Result<(), Failure> {
    let feed = Feed::new(html::Options {
        title: format!("{name}: own games"),
        private: false,
        one: false,
        own: Some(name.to_owned()),
        limits: Vec::new(),
        skip_copies: files.len() > 1,
        frame: None,
        game: None,
    });
    let mut text = OwnGames::new(name);
    // A game may be in two files, in one with its analysis.
    let mut seen = HashSet::new();
    for_each(files, |file, record| {
        if let Some(record) = own(record, name) {
            let problem = |problem| Failure::Usage(format!("{}: {problem}", file.display()));
            let record = at_home(record, homes)?;
            let game = RecordSummary::of(&record).map_err(problem)?;
            if files.len() == 1 || seen.insert(game.identity()) {
                feed.publish(&record).map_err(problem)?;
                let pieces = record.pieces.as_ref().and_then(|_| pieces_of(file));
                text.add(&record, pieces.as_deref());
            }
        }
        Ok(())
    })?;
    write(&feed, &with_ending(place, ".html"))?;
    write_text(place, &text.text(since))
}

/// Calls these folders `.`.
fn at_home(record: Record, homes: &[String]) -> Result<Record, Failure> {
    if homes.is_empty() {
        return Ok(record);
    }
    let failed = |error: serde_json::Error| Failure::Referee(error.to_string());
    let mut line = record.to_line().map_err(failed)?;
    for home in homes {
        let quoted = serde_json::to_string(home).map_err(failed)?;
        let inner = quoted.trim_matches('"');
        line = line.replace(&format!("{inner}/"), "./");
    }
    serde_json::from_str(&line).map_err(failed)
}

fn write_text(place: &Path, text: &str) -> Result<(), Failure> {
    let path = with_ending(place, ".md");
    replace(&path, text.as_bytes()).map_err(|error| unreadable(&path, &error))
}

/// The name may have dots.
fn with_ending(place: &Path, ending: &str) -> PathBuf {
    let mut path = place.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

fn for_each(
    files: &[&Path],
    mut each: impl FnMut(&Path, Record) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for file in files {
        let failed = |error| unreadable(file, &error);
        let mut reader = Reader::open(file).map_err(failed)?;
        while let Some(line) = reader.next_complete_line().map_err(failed)? {
            if line.bytes().trim_ascii().is_empty() {
                continue;
            }
            let record = line.record();
            let record = record.map_err(|error| Failure::Usage(error.to_string()))?;
            each(file, record)?;
        }
    }
    Ok(())
}

/// By bot; empty when `path` is not the folder of a league.
pub(in crate::cli) fn since_last(path: &Path) -> Result<BTreeMap<String, Since>, Failure> {
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
            *problem = text_at_home(path, member, problem);
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

/// The folders of all versions, by bot, which authors know as `.`; empty when `path` is not a league's folder.
pub(in crate::cli) fn homes_of(path: &Path) -> Result<BTreeMap<String, Vec<String>>, Failure> {
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

/// As they are written, whole paths first.
fn folders(league: &Path, member: &Member) -> Vec<String> {
    let folders = member.versions.iter().flat_map(|version| {
        let folder = state::folder(league, member, &version.id);
        let whole = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
        let real = whole.canonicalize().unwrap_or_else(|_| whole.clone());
        [real, whole, folder].map(|folder| folder.display().to_string())
    });
    folders.collect()
}

/// Names a member's files as its author does, not as the league's folder does.
fn text_at_home(league: &Path, member: &Member, text: &str) -> String {
    let mut text = text.to_owned();
    for folder in folders(league, member) {
        text = text.replace(&format!("{folder}/"), "./");
    }
    text
}
