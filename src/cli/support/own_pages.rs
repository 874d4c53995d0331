//! A page for each bot of some records, with its own games only.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::folder::pieces_of;
use super::output::print_stderr;
use super::pages::write;
use super::setup::unreadable;
use crate::arena::entrants::slugs;
use crate::game::quarto::{PieceSet, Rules};
use crate::play::questions::Line;
use crate::play::setup::recorded_reproduce_command;
use crate::record::atomic_file::replace;
use crate::record::reader::Reader;
use crate::record::{BotIndex, Record, RecordSummary};
use crate::report::html;
use crate::report::own::{Asked, OwnGames, Since, not_entered_text, own};
use crate::report::serve::Feed;
use crate::session::registry::{self, Choices};
use crate::text::counted;
use crate::tournament::standings::NotEntered;

/// Writes `NAME.html` and `NAME.md` into a folder, for each of these bots, or for all when there are no names. Whoever did not
/// enter gets a `NAME.md` with the reason. `since` is what has changed since the last time, by name; `homes` are the folders of
/// the versions of each bot in a league, which are called `.` as its author knows them.
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
    // The names of the files do not depend on who is chosen.
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
    // A game may be in one file with its analysis, and in another one without.
    let mut seen = HashSet::new();
    for_each(files, |file, record| {
        if let Some(record) = own(record, name) {
            let problem = |problem| Failure::Usage(format!("{}: {problem}", file.display()));
            let record = at_home(record, homes)?;
            let game = RecordSummary::of(&record).map_err(problem)?;
            if files.len() == 1 || seen.insert(game.identity()) {
                feed.publish(&record).map_err(problem)?;
                text.add(&record, |turns| asked(&record, name, turns, file));
            }
        }
        Ok(())
    })?;
    write(&feed, &with_ending(place, ".html"))?;
    write_text(place, &text.text(since))
}

/// A record in which these folders are called `.`.
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

/// A path with an ending added: the name before it may have dots.
fn with_ending(place: &Path, ending: &str) -> PathBuf {
    let mut path = place.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// What this bot was asked after so many turns of a game, and the command that asks it again; `None` where that is unknown.
fn asked(record: &Record, name: &str, turns: usize, file: &Path) -> Option<Asked> {
    let mut both = BotIndex::ALL.into_iter();
    let own = both.find(|&bot| record.bots[bot].name == name)?;
    let set = match &record.pieces {
        None => PieceSet::default(),
        Some(text) => PieceSet::parse(text).ok()?,
    };
    let ruleset = registry::find(&record.game)?.ruleset(Choices {
        rules: Rules::from_name(&record.rules)?,
        set,
        ..Choices::default()
    });
    let line = Line {
        start: record.start.clone(),
        turns: record.turns.get(..turns)?.to_vec(),
    };
    let mut request = String::new();
    line.session(&*ruleset).ok()?.write_request(&mut request);
    let request = request.trim_end_matches('\n').to_owned();
    let pieces = record.pieces.as_ref().and_then(|_| pieces_of(file));
    // The end of the game says how its last question is asked.
    let is_last = turns == record.turns.len();
    let command = (is_last || record.result.by != Some(own))
        .then(|| recorded_reproduce_command(record, own, pieces.as_deref(), &request))
        .flatten();
    Some((request, command))
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
