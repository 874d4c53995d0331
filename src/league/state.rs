//! What a league knows of its bots: `league.json` in its folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::intake::Submission;
use super::intake::people::{self, Person};
use crate::arena::TournamentError;
use crate::arena::entrants::slugs;
use crate::executable::CannotStart;
use crate::record::atomic_file::{replace, sync_directory};
use crate::record::text_file;
use crate::sandbox::snapshot::copy_tree;
use crate::text::unreadable;

const VERSION: u32 = 1;

const FILE: &str = "league.json";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "status")]
pub enum Status {
    #[default]
    New,
    Fit,
    Unfit {
        /// Reason and advice, a sentence.
        reason: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The beginning of its files' hash; the name of their folder.
    pub id: String,
    pub received: Timestamp,
    #[serde(flatten)]
    pub status: Status,
}

/// The bot of a student or team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub folder: String,
    /// Moodle's participant number when first seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Oldest first; one submitted again is the last.
    pub versions: Vec<Version>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct League {
    pub v: u32,
    /// All who ever submitted, by name.
    pub members: BTreeMap<String, Member>,
    /// The last list of students.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<Person>,
}

impl Default for League {
    fn default() -> Self {
        Self {
            v: VERSION,
            members: BTreeMap::new(),
            people: Vec::new(),
        }
    }
}

impl League {
    /// `None` if the folder has none.
    pub fn read(folder: &Path) -> Result<Option<Self>, TournamentError> {
        let path = folder.join(FILE);
        let text = match text_file::read(&path, text_file::KEPT) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(TournamentError::Input(unreadable(&path, &error))),
        };
        let wrong = |problem| TournamentError::Input(format!("{}: {problem}", path.display()));
        let league: Self = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("it is not the state of a league: {error}")))?;
        if league.v == VERSION {
            Ok(Some(league))
        } else {
            Err(wrong(format!(
                "it has version {}; this program reads version {VERSION}",
                league.v
            )))
        }
    }

    pub fn write(&self, folder: &Path) -> Result<(), TournamentError> {
        let path = folder.join(FILE);
        let written = serde_json::to_string_pretty(self).map_err(io::Error::from);
        let written = written.and_then(|text| {
            replace(&path, format!("{text}\n").as_bytes())?;
            sync_directory(folder)
        });
        written.map_err(TournamentError::io(&path))
    }
}

impl League {
    /// Forgets verdicts whose reason begins so.
    pub fn retry(&mut self, beginning: &str) {
        let members = self.members.values_mut();
        for version in members.flat_map(|member| &mut member.versions) {
            if matches!(&version.status, Status::Unfit { reason } if reason.starts_with(beginning))
            {
                version.status = Status::New;
            }
        }
    }

    /// Takes over a list of students: members get their names from it, including those whose id or address had
    /// another name in the list before.
    pub fn enlist(&mut self, people: Vec<Person>) {
        let names: Vec<String> = self.members.keys().cloned().collect();
        for old in names {
            let new = people::bot_of(&people, &old, None);
            let Some(new) = new.or_else(|| people::renamed(&self.people, &people, &old)) else {
                continue;
            };
            if !self.members.contains_key(&new)
                && let Some(member) = self.members.remove(&old)
            {
                self.members.insert(new, member);
            }
        }
        self.people = people;
    }

    /// The name of the student with this Moodle number. Moodle adds numbers only where two students of one name are
    /// in a download: members keep their first names.
    pub fn called(&self, name: &str, id: &str) -> Option<String> {
        let number = format!(" ({id})");
        let alone = name.strip_suffix(&number).unwrap_or(name);
        let numbered = format!("{alone}{number}");
        if self.members.contains_key(&numbered) {
            return Some(numbered);
        }
        let member = self.members.get(alone)?;
        (member.id.as_deref() == Some(id)).then(|| alone.to_owned())
    }

    /// Listed bots without a submission, and members not in the list.
    pub fn missing_and_unknown(&self) -> (Vec<String>, Vec<String>) {
        if self.people.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let bots = people::by_bot(&self.people);
        let missing = bots.keys().filter(|bot| !self.members.contains_key(*bot));
        let unknown = self.members.keys().filter(|name| !bots.contains_key(*name));
        (missing.cloned().collect(), unknown.cloned().collect())
    }

    pub fn refuse(&mut self, name: &str, reason: String) {
        self.member(name).refused = Some(reason);
    }

    pub(super) fn member(&mut self, name: &str) -> &mut Member {
        let folder = self.free_folder(name);
        self.members
            .entry(name.to_owned())
            .or_insert_with(|| Member {
                folder,
                ..Member::default()
            })
    }

    fn free_folder(&self, name: &str) -> String {
        let mut names: Vec<&str> = self
            .members
            .values()
            .map(|member| &*member.folder)
            .collect();
        names.push(name);
        slugs(&names).pop().unwrap_or_default()
    }
}

impl Member {
    /// The newest fit or unchecked version submitted by `deadline`.
    pub fn playing(&self, deadline: Option<Timestamp>) -> Option<&Version> {
        let mut versions = self.in_time(deadline).rev();
        versions.find(|version| !matches!(version.status, Status::Unfit { .. }))
    }

    /// Why the newest submission does not play; `None` if it does.
    pub fn problem(&self, deadline: Option<Timestamp>) -> Option<String> {
        if let Some(refused) = &self.refused {
            return Some(refused.clone());
        }
        let Some(newest) = self.newest(deadline) else {
            return Some("nothing was handed in in time".to_owned());
        };
        match &newest.status {
            Status::Unfit { reason } => Some(reason.clone()),
            Status::New | Status::Fit => None,
        }
    }

    pub fn newest(&self, deadline: Option<Timestamp>) -> Option<&Version> {
        self.in_time(deadline).next_back()
    }

    fn in_time(&self, deadline: Option<Timestamp>) -> impl DoubleEndedIterator<Item = &Version> {
        let is_late = move |version: &&Version| deadline.is_none_or(|end| version.received <= end);
        self.versions.iter().filter(is_late)
    }

    pub fn set(&mut self, id: &str, status: &Status) {
        for version in self.versions.iter_mut().filter(|version| version.id == id) {
            version.status.clone_from(status);
        }
    }
}

/// Digits of the files' hash that name a version.
const DIGITS: usize = 12;

pub fn folder(league: &Path, member: &Member, version: &str) -> PathBuf {
    league.join("bots").join(&member.folder).join(version)
}

/// Copies a submission's files, unless known. Returns whether the version is new, or the submission's problem.
pub fn take_in(
    league: &mut League,
    directory: &Path,
    submission: &Submission,
) -> Result<Result<bool, CannotStart>, TournamentError> {
    let member = league.member(&submission.name);
    member.id = member.id.take().or_else(|| submission.id.clone());
    let versions = directory.join("bots").join(&member.folder);
    fs::create_dir_all(&versions).map_err(TournamentError::io(&versions))?;
    let mut builder = tempfile::Builder::new();
    let copy = builder
        .prefix(".new-")
        .tempdir_in(&versions)
        .map_err(TournamentError::io(&versions))?;
    let hash = match copy_tree(&submission.name, &submission.folder, copy.path()) {
        Ok((hash, _)) => hash,
        Err(problem) => return Ok(Err(problem)),
    };
    let id: String = hash.to_string().chars().take(DIGITS).collect();
    let place = versions.join(&id);
    if !place.exists() {
        fs::rename(copy.path(), &place).map_err(TournamentError::io(&place))?;
        sync_directory(&versions).map_err(TournamentError::io(&versions))?;
    }
    if !submission.is_newest && member.versions.iter().any(|version| version.id == id) {
        return Ok(Ok(false));
    }
    member.refused = None;
    if member.versions.last().is_some_and(|last| last.id == id) {
        return Ok(Ok(false));
    }
    let mut known = member.versions.iter();
    let known = known.find(|version| version.id == id);
    let status = known.map_or(Status::New, |known| known.status.clone());
    member.versions.push(Version {
        id,
        received: submission.received,
        status,
    });
    Ok(Ok(true))
}
