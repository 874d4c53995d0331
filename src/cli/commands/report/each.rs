//! `--each`: a page for each bot, with its games only, and what changed in a league since the last time.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::arena::directory::TournamentDirectory;
use crate::arena::entrants::slugs;
use crate::arena::results::Results;
use crate::cli::support::folder::{pieces_of, replace_file};
use crate::cli::support::pages::write;
use crate::cli::support::prelude::*;
use crate::league::archive::AllNews;
use crate::league::state::{League, at_home, homes};
use crate::record::reader::Reader;
use crate::record::{Record, RecordSummary};
use crate::report::html;
use crate::report::markup::as_html;
use crate::report::own::{OwnGames, Since, not_entered_text, own, since};
use crate::report::serve::Feed;
use crate::tournament::ratings::Model;
use crate::tournament::standings::{NotEntered, Ranking};

/// Writes `NAME.html` and `NAME.md` for each bot; for one that did not enter, with the reason. `members`: those of a league, by name.
pub(crate) fn write_each(
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
        added.map_err(|problem| usage!("{}: {problem}", file.display()))?;
        all.extend(record.bots.into_iter().map(|bot| bot.name));
        Ok(())
    })?;
    let not_entered = ranking.not_entered.clone();
    report.set_ranking(ranking, None);
    let places = report.figures().places()?;
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
            let reason = at_home(&absent.reason, &member.homes);
            let text = not_entered_text(name, &reason, since);
            let page = html::plain(&format!("{name}: did not enter"), &as_html(&text, None));
            replace_file(&with_ending(&place, ".html"), &page)?;
            replace_file(&with_ending(&place, ".md"), &text)?;
        } else {
            let options = html::Options {
                title: format!("{name}: your games"),
                own: Some((*name).to_owned()),
                standing: places.get(*name).cloned(),
                skip_copies: files.len() > 1,
                ..html::Options::default()
            };
            write_one(files, options, name, &place, (since, &member.homes))?;
        }
    }
    note!(
        "{} in {}, each with the games of one bot: NAME.html to look at, NAME.md for what to fix",
        counted(all.len() as u64, "page", "pages"),
        folder.display()
    );
    Ok(())
}

fn write_one(
    files: &[&Path],
    options: html::Options,
    name: &str,
    place: &Path,
    (since, homes): (Option<&Since>, &[String]),
) -> Result<(), Failure> {
    let mut text = OwnGames::new(name);
    let mut games = Vec::new();
    let mut seen = HashSet::new();
    for_each(files, |file, record| {
        if let Some(record) = own(record, name) {
            let problem = |problem| usage!("{}: {problem}", file.display());
            let record = record_at_home(record, homes)?;
            let line = record.to_line()?;
            let game = RecordSummary::parse(line.as_bytes()).map_err(problem)?;
            // A game may be in two files, in one with its analysis.
            if seen.insert(game.identity()) || !options.skip_copies {
                let pieces = record.pieces.as_ref().and_then(|_| pieces_of(file));
                text.add(&record, pieces.as_deref());
                games.push(record);
            }
        }
        Ok(())
    })?;
    let feed = Feed::new(html::Options {
        sheet: text.sheet(since),
        ..options
    });
    for record in &games {
        feed.publish(record).map_err(Failure::Referee)?;
    }
    write(&feed, &with_ending(place, ".html"))?;
    replace_file(&with_ending(place, ".md"), &text.text(since))
}

/// Calls these folders `.`.
fn record_at_home(record: Record, homes: &[String]) -> Result<Record, Failure> {
    if homes.is_empty() {
        return Ok(record);
    }
    let quoted = homes
        .iter()
        .map(|home| Ok(serde_json::to_string(home)?.trim_matches('"').to_owned()));
    let quoted: Result<Vec<String>, serde_json::Error> = quoted.collect();
    Ok(serde_json::from_str(&at_home(
        &record.to_line()?,
        &quoted?,
    ))?)
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
            each(file, line.record()?)?;
        }
    }
    Ok(())
}

/// What a member of a league is told beside its games.
#[derive(Default)]
pub(crate) struct OfMember {
    since: Option<Since>,
    /// The folders of all its versions, which its author knows as `.`.
    homes: Vec<String>,
}

/// By name; empty when `path` is not the folder of a league.
pub(crate) fn members(path: &Path) -> Result<BTreeMap<String, OfMember>, Failure> {
    if !path.is_dir() {
        return Ok(BTreeMap::new());
    }
    let directory = TournamentDirectory::at(path);
    let Some(league) = League::read(path)? else {
        return Ok(BTreeMap::new());
    };
    let member = |(name, member)| {
        let homes = homes(path, member);
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
    let standings = results.collector.ranked(&Model::default(), &ranking)?;
    let news = AllNews::read((path, &league), &plan, &games)?;
    for (name, of) in &mut members {
        let Some(mut news) = news.of(name, &league, &plan) else {
            continue;
        };
        if let Some(problem) = &mut news.problem {
            *problem = at_home(problem, &of.homes);
        }
        let place = standings.places.iter().find(|place| place.name == *name);
        let places = place.map(|place| (place.rank, standings.places.len(), place.before));
        of.since = Some(since(places, &news));
    }
    Ok(members)
}
