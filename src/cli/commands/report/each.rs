//! `--each`: a page for each bot, with its games only, and what changed in a league since the last time.

use std::collections::{BTreeMap, BTreeSet};
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
use crate::record::Record;
use crate::record::atomic_file::replace;
use crate::record::reader::Reader;
use crate::report::html;
use crate::report::own::{OwnGames, Since, not_entered_text, own, since};
use crate::report::serve::Feed;
use crate::text::counted;
use crate::tournament::ratings::Model;
use crate::tournament::standings::{NotEntered, Ranking};

/// Writes `NAME.html` and `NAME.md` for each bot; for one that did not enter, `NAME.md` with
/// the reason. `members`: those of a league, by name.
pub(in crate::cli) fn write_each(
    files: &[&Path],
    ranking: Ranking,
    folder: &Path,
    members: &BTreeMap<String, OfMember>,
) -> Result<(), Failure> {
    let stranger = OfMember::default();
    let mut all = BTreeSet::new();
    let mut report = html::Report::new(html::Options {
        skip_copies: files.len() > 1,
        ..html::Options::default()
    });
    for_each(files, |file, record| {
        let added = report.add(&record);
        added.map_err(|problem| Failure::Usage(format!("{}: {problem}", file.display())))?;
        all.extend(record.bots.into_iter().map(|bot| bot.name));
        Ok(())
    })?;
    let not_entered = ranking.not_entered.clone();
    report.set_ranking(ranking, None);
    let places = report.figures().places();
    let places = places.map_err(|error| Failure::Referee(error.to_string()))?;
    let absent: Vec<&NotEntered> = not_entered
        .iter()
        .filter(|absent| !all.contains(&absent.name))
        .collect();
    all.extend(absent.iter().map(|absent| absent.name.clone()));
    fs::create_dir_all(folder).map_err(|error| unreadable(folder, &error))?;
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    for (name, slug) in all.iter().zip(slugs(&all)) {
        let place = folder.join(slug);
        let member = members.get(*name).unwrap_or(&stranger);
        let since = member.since.as_ref();
        if let Some(absent) = absent.iter().find(|absent| absent.name == *name) {
            write_text(&place, &not_entered_text(name, &absent.reason, since))?;
        } else {
            let options = html::Options {
                title: format!("{name}: your games"),
                own: Some((*name).to_owned()),
                standing: places.get(*name).cloned(),
                // A game may be in two files, in one with its analysis.
                skip_copies: files.len() > 1,
                ..html::Options::default()
            };
            write_one(files, options, name, &place, (since, &member.homes))?;
        }
    }
    print_stderr(&format!(
        "referee: {} in {}, each with the games of one bot: NAME.html to look at, NAME.md for what to fix",
        counted(all.len() as u64, "page", "pages"),
        folder.display()
    ));
    Ok(())
}

fn write_one(
    files: &[&Path],
    options: html::Options,
    name: &str,
    place: &Path,
    (since, homes): (Option<&Since>, &[String]),
) -> Result<(), Failure> {
    let feed = Feed::new(options);
    let mut text = OwnGames::new(name);
    for_each(files, |file, record| {
        if let Some(record) = own(record, name) {
            let problem = |problem| Failure::Usage(format!("{}: {problem}", file.display()));
            let record = at_home(record, homes)?;
            if feed.publish(&record).map_err(problem)? {
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
    let mut line = record.to_line()?;
    for home in homes {
        let quoted = serde_json::to_string(home)?;
        let inner = quoted.trim_matches('"');
        line = line.replace(&format!("{inner}/"), "./");
    }
    Ok(serde_json::from_str(&line)?)
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
            let record = line.record();
            let record = record.map_err(|error| Failure::Usage(error.to_string()))?;
            each(file, record)?;
        }
    }
    Ok(())
}

/// What a member of a league is told beside its games.
#[derive(Default)]
pub(in crate::cli) struct OfMember {
    since: Option<Since>,
    /// The folders of all its versions, which its author knows as `.`.
    homes: Vec<String>,
}

/// By name; empty when `path` is not the folder of a league.
pub(in crate::cli) fn members(path: &Path) -> Result<BTreeMap<String, OfMember>, Failure> {
    if !path.is_dir() {
        return Ok(BTreeMap::new());
    }
    let directory = TournamentDirectory::at(path);
    let Some(league) = League::read(path)? else {
        return Ok(BTreeMap::new());
    };
    let member = |(name, member)| {
        let homes = folders(path, member);
        (String::clone(name), OfMember { since: None, homes })
    };
    let mut members: BTreeMap<String, OfMember> = league.members.iter().map(member).collect();
    let Some(plan) = directory.plan()? else {
        return Ok(members);
    };
    let games = directory.journal_file();
    let mut results = Results::new(&plan);
    TournamentDirectory::read_journal(&games, &plan, &mut results)?;
    let ranking = results.ranking(&plan);
    let standings = results.collector.ranked(&Model::default(), &ranking);
    let standings = standings.map_err(|error| Failure::Referee(error.to_string()))?;
    let news = AllNews::read(path, &plan, &games)?;
    for (name, of) in &mut members {
        let Some(mut news) = news.of(name, &league, &plan) else {
            continue;
        };
        if let Some(problem) = &mut news.problem {
            // Its files as the author names them, not as the league's folder does.
            for folder in &of.homes {
                *problem = problem.replace(&format!("{folder}/"), "./");
            }
        }
        let place = standings.places.iter().find(|place| place.name == *name);
        let places = place.map(|place| (place.rank, standings.places.len(), place.before));
        of.since = Some(since(places, &news));
    }
    Ok(members)
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
