//! What a league knows of its bots: `league.json` in its folder.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::build::BUILT;
use super::intake::Submission;
use super::intake::people::{self, Person};
use super::log::{self, Entry};
use crate::arena::TournamentError;
use crate::arena::entrants::slugs;
use crate::executable::CannotStart;
use crate::play::setup::now;
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct League {
    /// Set when it is written.
    v: u32,
    /// All who ever submitted, by name.
    pub members: BTreeMap<String, Member>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<Person>,
    /// That of the last update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Bots that play with the same program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identical: Vec<Vec<String>>,
    /// To be written to the log.
    #[serde(skip)]
    news: Vec<Entry>,
    /// Whether updates analyse, and the time for a turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub analyse: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_per_move: Option<Duration>,
}

impl League {
    /// `None` if the folder has none.
    pub fn read(folder: &Path) -> Result<Option<Self>, TournamentError> {
        let path = folder.join(FILE);
        let text = text_file::if_there(text_file::read(&path, text_file::KEPT));
        let text = text.map_err(|error| TournamentError::Input(unreadable(&path, &error)))?;
        let Some(text) = text else {
            return Ok(None);
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

    /// Also the notes, into the log.
    pub fn write(&mut self, folder: &Path) -> Result<(), TournamentError> {
        if !self.news.is_empty() {
            log::append(folder, &self.news)?;
            self.news.clear();
        }
        self.v = VERSION;
        let path = folder.join(FILE);
        let written = serde_json::to_string_pretty(self).map_err(io::Error::from);
        let written = written.and_then(|text| {
            replace(&path, format!("{text}\n").as_bytes())?;
            sync_directory(folder)
        });
        written.map_err(TournamentError::io(&path))
    }

    /// For the log.
    pub fn note(&mut self, action: &str, of: &str, why: &str) {
        self.news.push(Entry {
            time: now(),
            action: action.to_owned(),
            of: of.to_owned(),
            why: why.to_owned(),
        });
    }

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

    /// Takes over a list of students. Bots of people who are called otherwise now, by id or address, or are in another
    /// team, are renamed; one whose people all share another bot now is withdrawn.
    pub fn enlist(&mut self, mut people: Vec<Person>) {
        for person in &mut people {
            if let Some(before) = people::same(&self.people, person) {
                let names = before.also.iter().chain([&before.name]);
                let names = names.filter(|name| **name != person.name);
                person.also = names.cloned().collect();
            }
        }
        let names: Vec<String> = self.members.keys().cloned().collect();
        for old in names {
            let owners = self.people.iter().filter(|person| person.bot() == old);
            let owned = owners.map(|owner| Some(people::same(&people, owner)?.bot()));
            let mut owned: BTreeSet<Option<String>> = owned.collect();
            let new = match owned.len() {
                0 => people::bot_of(&people, &old, None),
                1 => owned.pop_first().flatten(),
                _ => None,
            };
            let Some(new) = new.filter(|new| *new != old) else {
                continue;
            };
            if !self.rename(&old, &new)
                && let Some(member) = self.members.get_mut(&old)
            {
                let why = format!("its people share the bot of {new}");
                member.withdrawn = Some(why.clone());
                self.note("withdrawn", &old, &why);
            }
        }
        self.people = people;
    }

    fn rename(&mut self, old: &str, new: &str) -> bool {
        if self.members.contains_key(new) {
            return false;
        }
        if let Some(mut member) = self.members.remove(old) {
            member.also.retain(|name| name != new);
            member.also.push(old.to_owned());
            self.members.insert(new.to_owned(), member);
            self.note("renamed", new, &format!("was {old}"));
        }
        true
    }

    /// The name of the student with this Moodle number, who is renamed unless a list says the name. Moodle adds numbers
    /// only where two students of one name are in a download: members keep their first names.
    pub fn called(&mut self, name: &str, id: &str) -> Option<String> {
        let mut known = self.members.iter();
        let (known, _) = known.find(|(_, member)| member.id.as_deref() == Some(id))?;
        let (known, number) = (known.clone(), format!(" ({id})"));
        let alone = |name: &str| name.strip_suffix(&number).unwrap_or(name).to_owned();
        let is_other = alone(&known) != alone(name);
        let is_renamed = is_other && self.people.is_empty() && self.rename(&known, name);
        Some(if is_renamed { name.to_owned() } else { known })
    }

    /// Of each name that a bot has or had, with each of its versions: its folder.
    pub fn folders(&self) -> HashMap<(&str, &str), &str> {
        let mut folders = HashMap::new();
        for (name, member) in &self.members {
            let names = member.also.iter().chain([name]);
            for name in names {
                let versions = member.versions.iter();
                folders.extend(versions.map(|version| ((&**name, &*version.id), &*member.folder)));
            }
        }
        folders
    }

    /// Listed bots without a submission, and members not in the list.
    pub fn missing_and_unknown(&self) -> (Vec<String>, Vec<String>) {
        if self.people.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let bots = people::by_bot(&self.people);
        let missing = bots.keys().filter(|bot| !self.members.contains_key(*bot));
        let is_unknown = |(name, member): &(&String, &Member)| {
            member.withdrawn.is_none() && !bots.contains_key(*name)
        };
        let unknown = self.members.iter().filter(is_unknown).map(|(name, _)| name);
        (missing.cloned().collect(), unknown.cloned().collect())
    }

    pub fn refuse(&mut self, name: &str, reason: String) {
        self.member(name).refused = Some(reason);
    }

    fn member(&mut self, name: &str) -> &mut Member {
        let taken = self.members.values().map(|member| &*member.folder);
        let names: Vec<&str> = taken.chain([name]).collect();
        let folder = slugs(&names).pop().unwrap_or_default();
        let new = Member {
            folder,
            ..Member::default()
        };
        self.members.entry(name.to_owned()).or_insert(new)
    }
}

impl Member {
    /// The newest fit or unchecked version submitted by `deadline`.
    pub fn playing(&self, deadline: Option<Timestamp>) -> Option<&Version> {
        let is_fit = |version: &&Version| !matches!(version.status, Status::Unfit { .. });
        let playing = self.in_time(deadline).rev().find(is_fit);
        playing.filter(|_| self.withdrawn.is_none())
    }

    /// Why the newest submission does not play; `None` if it does.
    pub fn problem(&self, deadline: Option<Timestamp>) -> Option<String> {
        if let Some(why) = &self.withdrawn {
            return Some(format!("it was withdrawn: {why}"));
        }
        if let Some(refused) = &self.refused {
            return Some(refused.clone());
        }
        match self.newest(None) {
            None => Some("nothing was handed in".to_owned()),
            Some(last) if self.is_late(deadline) => {
                Some(format!("it was handed in too late: {:.0}", last.received))
            }
            Some(last) => match &last.status {
                Status::Unfit { reason } => Some(reason.clone()),
                Status::New | Status::Fit => None,
            },
        }
    }

    /// Whether the newest version came after the deadline.
    pub fn is_late(&self, deadline: Option<Timestamp>) -> bool {
        self.newest(None) != self.newest(deadline)
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

const DIGITS: usize = 12;

pub fn folder(league: &Path, member: &Member, version: &str) -> PathBuf {
    league.join("bots").join(&member.folder).join(version)
}

/// The folders of all its versions, as they are written, whole paths first. Its author knows them as `.`.
pub fn homes(league: &Path, member: &Member) -> Vec<String> {
    let folders = member.versions.iter().flat_map(|version| {
        let folder = folder(league, member, &version.id);
        let whole = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
        let real = whole.canonicalize().unwrap_or_else(|_| whole.clone());
        [real, whole, folder].map(|folder| folder.display().to_string())
    });
    folders.collect()
}

/// Calls these folders, and what was built in them, `.`.
pub fn at_home(text: &str, homes: &[String]) -> String {
    homes.iter().fold(text.to_owned(), |text, home| {
        let built = format!("{home}/{BUILT}/");
        text.replace(&built, "./")
            .replace(&format!("{home}/"), "./")
    })
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
    let known = member.versions.iter().find(|version| version.id == id);
    if !submission.is_newest && known.is_some() {
        return Ok(Ok(false));
    }
    let status = known.map_or(Status::New, |known| known.status.clone());
    member.refused = None;
    if member.versions.last().is_some_and(|last| last.id == id) {
        return Ok(Ok(false));
    }
    member.versions.push(Version {
        id,
        received: submission.received,
        status,
    });
    Ok(Ok(true))
}
