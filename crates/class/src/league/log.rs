//! What a teacher decided over a term: `log.jsonl` in a league's folder, a line each; and what is to be looked at now.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::archive;
use super::intake::names::ends_in_no_time;
use super::roster::Ownership;
use super::state::{Bot, League};
use referee_match::record::text_file;
use referee_text::{counted, escape_controls, join_parts};
use referee_tournament::TournamentError;

const FILE: &str = "log.jsonl";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    pub time: Timestamp,
    /// What was done: `withdrawn`.
    pub action: String,
    /// A bot, a game, or another thing that was decided about.
    pub of: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

pub(super) fn append(folder: &Path, entries: &[LogEntry]) -> Result<(), TournamentError> {
    let lines = entries.iter().map(serde_json::to_string);
    let lines: Vec<String> = lines
        .collect::<Result<_, _>>()
        .map_err(TournamentError::Unwritable)?;
    archive::append(&folder.join(FILE), &lines)
}

/// Without lines that are torn.
pub fn read(folder: &Path) -> Result<Vec<LogEntry>, TournamentError> {
    let path = folder.join(FILE);
    let bytes = text_file::if_there(fs::read(&path)).map_err(TournamentError::io(&path))?;
    let bytes = bytes.unwrap_or_default();
    // A full disk may have cut a letter.
    let entries = bytes
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok());
    Ok(entries.collect())
}

pub fn late_in_words(hours: u64) -> String {
    format!("{} late", counted(hours, "hour", "hours"))
}

/// What it is, of which bot, and the rest.
type NoteRow = [String; 3];

fn note(what: &str, of: &str, rest: impl Into<String>) -> NoteRow {
    [what.to_owned(), of.to_owned(), rest.into()]
}

/// What a teacher should know of the bots, and has decided: what it is, of which bot, and the rest.
pub fn notes(folder: &Path, league: &League) -> Result<Vec<NoteRow>, TournamentError> {
    let mut notes = Vec::new();
    for question in league.roster.questions() {
        notes.push(note("unclear", &question.bots.join(", "), question.text()));
    }
    let bots = league.bots();
    for bot in bots.iter().filter(|bot| bot.withdrawn().is_none()) {
        notes.extend(notes_of_bot(folder, league, bot));
    }
    notes.extend(notes_of_names(&bots));
    for names in &league.identical {
        let rest = "the same program; each of them plays";
        notes.push(note("identical", &names.join(", "), rest));
    }
    for bot in league.missing() {
        notes.push(note_of_missing(&bot));
    }
    for bot in bots.iter().filter(|bot| league.is_unknown(bot)) {
        notes.push(note("unknown", &bot.label, "not in the list of students"));
    }
    notes.extend(read(folder)?.into_iter().map(note_of_entry));
    Ok(notes)
}

/// Of bots that are called by their entries alone, and may be another's.
fn notes_of_names(bots: &[Bot<'_>]) -> Vec<NoteRow> {
    let bots = bots.iter().filter(|bot| bot.withdrawn().is_none());
    let entries = bots.flat_map(|bot| {
        let entries = bot.senders().filter(|sender| sender.number().is_none());
        entries.map(|sender| (&*bot.label, sender.text()))
    });
    let entries: Vec<(&str, &str)> = entries.collect();
    let mut notes = Vec::new();
    for (place, (label, entry)) in entries.iter().enumerate() {
        let first = first_download(entry);
        let first = first.and_then(|name| entries.iter().find(|(_, other)| *other == name));
        if let Some((other, _)) = first.filter(|(other, _)| other != label) {
            let rest =
                format!("it looks like a second download of {other}; if it is, withdraw one");
            notes.push(note("unclear", label, rest));
        }
        let folded = entry.to_lowercase();
        let mut before = entries[..place].iter();
        if let Some((other, _)) =
            before.find(|(other, name)| other != label && name.to_lowercase() == folded)
        {
            let rest = "their names differ in upper and lower case alone; if they are of one student, withdraw one";
            notes.push(note("unclear", &format!("{other}, {label}"), rest));
        }
        if ends_in_no_time(entry) {
            let rest = "its name ends in a date or a time that does not exist, so it counts as part of the name";
            notes.push(note("unclear", label, rest));
        }
    }
    notes
}

/// What a browser or a file manager has called `b (2)` or `b - Copy`, since there was a `b`.
fn first_download(name: &str) -> Option<&str> {
    let numbered = name.strip_suffix(')').and_then(|rest| {
        let (stem, number) = rest.rsplit_once('(')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then_some(stem)
    });
    let mut copies = [" - Copy", " - Kopie", " - Copie", " copy", " kopie"].iter();
    let stem = numbered.or_else(|| copies.find_map(|end| name.strip_suffix(*end)))?;
    let stem = stem.trim_end_matches([' ', '_']);
    (!stem.is_empty()).then_some(stem)
}

/// Of one that plays, or whose newest submission does not.
fn notes_of_bot(folder: &Path, league: &League, bot: &Bot<'_>) -> Vec<NoteRow> {
    let until = league.accepted_until();
    let zone = league.zone();
    let mut notes = Vec::new();
    let playing = bot.playing(until);
    if let Some(hours) = playing.and_then(|version| league.hours_late(&version)) {
        let deadline = league.deadline_text();
        let rest = format!(
            "handed in {}: the deadline was {}",
            late_in_words(hours),
            deadline.unwrap_or_default()
        );
        notes.push(note("late", &bot.label, rest));
    }
    if let Some(problem) = bot.problem_within(folder, until) {
        let plays = playing.map_or_else(String::new, |version| {
            let day = zone.at(version.received).strftime("%Y-%m-%d %H:%M %:z");
            format!("the version of {day} plays; ")
        });
        let what = if bot.is_late(until) { "late" } else { "unfit" };
        let rest = plays + &escape_controls(&join_parts(&problem, "; "));
        notes.push(note(what, &bot.label, rest));
    }
    notes
}

fn note_of_missing(bot: &Ownership<'_>) -> NoteRow {
    let mut people = bot.people.iter();
    match people.find_map(|person| person.bot_before.as_deref()) {
        None => note("missing", &bot.label, "nothing was handed in"),
        Some(before) => {
            let rest =
                format!("nothing of their own since the bot of {before} is not theirs any more");
            note("alone", &bot.label, rest)
        }
    }
}

/// The day and the reason, if any.
fn note_of_entry(entry: LogEntry) -> NoteRow {
    let rest = [entry.time.strftime("%Y-%m-%d").to_string(), entry.why];
    let rest = rest.iter().filter(|part| !part.is_empty());
    let rest: Vec<String> = rest.map(|part| escape_controls(part)).collect();
    note(&entry.action, &entry.of, rest.join(": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a full disk leaves it: within a letter.
    #[test]
    fn a_torn_line_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let entry = |why: &str| LogEntry {
            time: Timestamp::UNIX_EPOCH,
            action: "withdrawn".to_owned(),
            of: "Anna".to_owned(),
            why: why.to_owned(),
        };
        append(folder.path(), &[entry("first")]).unwrap();
        let path = folder.path().join(FILE);
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend(b"{\"time\":\"1970-01-01T00:00:00Z\",\"action\":\"f\xc3");
        fs::write(&path, bytes).unwrap();
        assert_eq!(read(folder.path()).unwrap(), [entry("first")]);
        append(folder.path(), &[entry("second")]).unwrap();
        let all = [entry("first"), entry("second")];
        assert_eq!(read(folder.path()).unwrap(), all);
    }
}
