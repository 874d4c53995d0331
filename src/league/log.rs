//! What a teacher decided over a term: `log.jsonl` in a league's folder, a line each; and what is to be looked at now.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::state::League;
use crate::arena::TournamentError;
use crate::record::text_file;
use crate::text::{escape_controls, unreadable};

const FILE: &str = "log.jsonl";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub time: Timestamp,
    /// In the past tense.
    pub action: String,
    /// A bot, or a game.
    pub of: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

pub(super) fn append(folder: &Path, entries: &[Entry]) -> Result<(), TournamentError> {
    let path = folder.join(FILE);
    let written = || -> io::Result<()> {
        let mut file = File::options().create(true).append(true).open(&path)?;
        for entry in entries {
            file.write_all((serde_json::to_string(entry)? + "\n").as_bytes())?;
        }
        file.sync_all()
    };
    written().map_err(TournamentError::io(&path))
}

/// Without lines that are torn.
pub fn read(folder: &Path) -> Result<Vec<Entry>, TournamentError> {
    let path = folder.join(FILE);
    let text = text_file::if_there(text_file::read(&path, text_file::KEPT));
    let text = text.map_err(|error| TournamentError::Input(unreadable(&path, &error)))?;
    let text = text.unwrap_or_default();
    let entries = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    Ok(entries.collect())
}

/// What a teacher should know of the bots, and has decided: what it is, of which bot, and the rest.
pub fn notes(folder: &Path, league: &League) -> Result<Vec<[String; 3]>, TournamentError> {
    let mut notes = Vec::new();
    let mut note = |what: &str, of: &str, rest: String| {
        notes.push([what.to_owned(), of.to_owned(), rest]);
    };
    let (missing, unknown) = league.missing_and_unknown();
    let playing = league
        .members
        .iter()
        .filter(|(_, member)| member.withdrawn.is_none());
    for (name, member) in playing {
        let Some(problem) = member.problem(league.deadline) else {
            continue;
        };
        let plays = member.playing(league.deadline);
        let plays = plays.map_or_else(String::new, |version| {
            let day = version.received.strftime("%Y-%m-%d %H:%M");
            format!("the version of {day} plays; ")
        });
        let first = problem.lines().next().unwrap_or_default();
        let kind = if member.is_late(league.deadline) {
            "late"
        } else {
            "unfit"
        };
        note(kind, name, plays + &escape_controls(first));
    }
    for names in &league.identical {
        note(
            "identical",
            &names.join(", "),
            "the same program; each of them plays".to_owned(),
        );
    }
    for name in &missing {
        note("missing", name, "nothing was handed in".to_owned());
    }
    for name in &unknown {
        note("unknown", name, "not in the list of students".to_owned());
    }
    for entry in read(folder)? {
        let why = [entry.time.strftime("%Y-%m-%d").to_string(), entry.why];
        let why = why.iter().filter(|part| !part.is_empty());
        let why: Vec<String> = why.map(|part| escape_controls(part)).collect();
        note(&entry.action, &entry.of, why.join(": "));
    }
    Ok(notes)
}
