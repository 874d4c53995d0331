//! What a league knows of its bots: `league.json` in its folder.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::LeagueError;
use super::intake::{Intake, Submission};
use super::log::{self, LogEntry};
use super::roster::{Ownership, Person, Relabelled, Roster, Sender, SenderId};
use super::zone::{Deadline, Zone};
use referee_entrants::build::{self, BUILT};
use referee_host::executable::CannotStart;
use referee_match::bot::referee_files::REFEREE_FILES;
use referee_match::bot::shell::quoted;
use referee_match::play::setup::now;
use referee_match::record::atomic_file::{replace, sync_directory};
use referee_match::record::text_file;
use referee_sandbox::snapshot::copy_tree;
use referee_stats::standings::Absence;
use referee_tournament::TournamentError;

pub(super) const VERSION: u32 = 2;

const FILE: &str = "league.json";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "status")]
pub enum Status {
    #[default]
    New,
    Fit,
    Unfit(Absence),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The beginning of its files' hash; the name of their folder.
    pub id: String,
    pub received: Timestamp,
    #[serde(flatten)]
    pub status: Status,
}

/// Names a version in the whole league: the folder of its sender, and its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VersionKey {
    pub folder: String,
    pub version: String,
}

/// Something newer than the versions that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Reason and advice, a sentence.
    pub reason: String,
    /// The end of time if unknown.
    pub received: Timestamp,
}

/// All that one sender ever submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submissions {
    /// Oldest first; one submitted again is the last.
    pub versions: Vec<Version>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<String>,
}

/// A version as a bot has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BotVersion<'a> {
    /// Of the sender who submitted these files first.
    pub folder: &'a str,
    pub id: &'a str,
    pub received: Timestamp,
    pub status: &'a Status,
}

impl BotVersion<'_> {
    pub fn key(&self) -> VersionKey {
        VersionKey {
            folder: self.folder.to_owned(),
            version: self.id.to_owned(),
        }
    }
}

/// The bot of a team, a student or an unknown sender, with what its senders submitted.
#[derive(Clone, Debug)]
pub struct Bot<'a> {
    pub label: String,
    /// Those of the list whose bot it is.
    pub people: Vec<&'a Person>,
    senders: Vec<(&'a Sender, &'a Submissions)>,
    is_listed: bool,
    zone: Zone,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct League {
    /// Set when it is written.
    v: u32,
    /// Who submitted, who is in the list, and who is who.
    #[serde(default)]
    pub roster: Roster,
    /// By the sender's folder.
    #[serde(default)]
    submissions: BTreeMap<String, Submissions>,
    /// Holds until another one is given; without it, it is that of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zone: Option<Zone>,
    /// Holds until another one is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// How long after the deadline versions still play, and are marked as late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_late: Option<Duration>,
    /// Bots that play with the same program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identical: Vec<Vec<String>>,
    /// To be written to the log.
    #[serde(skip)]
    unlogged: Vec<LogEntry>,
    /// Whether updates analyse, and the time for a turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub analyse: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_per_move: Option<Duration>,
}

impl League {
    /// `None` if the folder has none.
    pub fn read(folder: &Path) -> Result<Option<Self>, LeagueError> {
        let path = folder.join(FILE);
        let text = text_file::if_there(text_file::read(&path, text_file::KEPT));
        let text = text.map_err(TournamentError::unreadable(&path))?;
        let Some(text) = text else {
            return Ok(None);
        };
        let mut league: Self = match serde_json::from_str(&text) {
            Ok(league) => league,
            Err(error) => return Err(LeagueError::State { path, error }),
        };
        if league.v != VERSION {
            let version = league.v;
            return Err(LeagueError::Version { path, version });
        }
        league.roster.restore();
        Ok(Some(league))
    }

    /// Also the notes, into the log.
    pub fn write(&mut self, folder: &Path) -> Result<(), TournamentError> {
        if !self.unlogged.is_empty() {
            log::append(folder, &self.unlogged)?;
            self.unlogged.clear();
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
        self.unlogged.push(LogEntry {
            time: now(),
            action: action.to_owned(),
            of: of.to_owned(),
            why: why.to_owned(),
        });
    }

    /// Forgets verdicts for which a machine was to blame.
    pub fn retry(&mut self) {
        let all = self.submissions.values_mut();
        for version in all.flat_map(|one| &mut one.versions) {
            if matches!(&version.status, Status::Unfit(absence) if absence.by_machine) {
                version.status = Status::New;
            }
        }
    }

    /// Takes over a list of students.
    pub fn enlist(&mut self, list: Vec<Person>) {
        let relabelled = self.roster.enlist(list);
        self.note_labels(relabelled);
    }

    /// Takes over who submitted, before the files.
    pub fn receive(&mut self, intake: &Intake) {
        let relabelled = self.roster.receive(intake.senders());
        for sender in &self.roster.senders {
            let known = self.submissions.contains_key(&sender.folder);
            if !known {
                let submissions = Submissions::default();
                self.submissions.insert(sender.folder.clone(), submissions);
            }
        }
        // A person who joins a withdrawn bot does not bring it back.
        let withdrawn = self.bots().into_iter().filter_map(|bot| {
            let (without, with): (Vec<_>, Vec<_>) = bot
                .senders
                .iter()
                .partition(|(_, submissions)| submissions.is_empty());
            let mut reasons = with.iter().map(|(_, one)| one.withdrawn.clone());
            let reason = reasons.next()??;
            let are_all = reasons.all(|reason| reason.is_some());
            let without = without.iter().map(|(sender, _)| sender.folder.clone());
            are_all.then(|| (without.collect::<Vec<_>>(), reason))
        });
        for (folders, reason) in withdrawn.collect::<Vec<_>>() {
            for folder in folders {
                if let Some(one) = self.submissions.get_mut(&folder) {
                    one.withdrawn = Some(reason.clone());
                }
            }
        }
        self.note_labels(relabelled);
    }

    fn note_labels(&mut self, relabelled: Vec<Relabelled>) {
        for Relabelled { now, before } in relabelled {
            self.note("renamed", &now, &format!("was {before}"));
        }
    }

    /// Those of whom something was submitted, by label.
    pub fn bots(&self) -> Vec<Bot<'_>> {
        let owned = self.roster.bots().into_iter();
        let bots = owned.filter(|bot| !bot.senders.is_empty());
        // That of the machine is looked up.
        let zone = self.zone();
        bots.map(|bot| self.with_submissions(bot, &zone)).collect()
    }

    fn with_submissions<'a>(&'a self, owned: Ownership<'a>, zone: &Zone) -> Bot<'a> {
        let senders = owned.senders.iter().filter_map(|sender| {
            let submissions = self.submissions.get(&sender.folder)?;
            Some((*sender, submissions))
        });
        Bot {
            senders: senders.collect(),
            is_listed: !owned.people.is_empty(),
            label: owned.label,
            people: owned.people,
            zone: zone.clone(),
        }
    }

    pub fn bot(&self, label: &str) -> Option<Bot<'_>> {
        self.bots().into_iter().find(|bot| bot.label == label)
    }

    pub fn is_empty(&self) -> bool {
        self.roster.senders.is_empty()
    }

    /// Bots of the list of which nothing was submitted, and of whom it is not asked about.
    pub fn missing(&self) -> Vec<Ownership<'_>> {
        let is_missing = |bot: &Ownership<'_>| {
            let mut people = bot.people.iter();
            bot.senders.is_empty() && !people.any(|person| self.roster.is_asked_about(person))
        };
        self.roster.bots().into_iter().filter(is_missing).collect()
    }

    /// Bots of senders whom the list does not know, and of whom it is not asked about.
    pub fn is_unknown(&self, bot: &Bot<'_>) -> bool {
        let is_asked = || {
            let questions = self.roster.questions();
            questions.iter().any(|one| one.bots.contains(&bot.label))
        };
        self.roster.has_list() && !bot.is_listed && bot.withdrawn().is_none() && !is_asked()
    }

    /// In which times are shown, and in which those are taken to be that have none.
    pub fn zone(&self) -> Zone {
        self.zone.clone().unwrap_or_default()
    }

    /// The deadline as all outputs have it: in the league's zone, with its offset.
    pub fn deadline_text(&self) -> Option<String> {
        self.deadline.map(|at| self.zone().show(at))
    }

    /// Remembers what is given, where something is; a deadline without a zone is in the league's.
    pub fn set_deadline(
        &mut self,
        zone: Option<Zone>,
        deadline: Option<Deadline>,
        accept_late: Option<Duration>,
    ) {
        self.zone = zone.or_else(|| self.zone.take());
        if let Some(deadline) = deadline {
            self.deadline = deadline.last(&self.zone());
        }
        if deadline == Some(Deadline::None) {
            self.accept_late = None;
        }
        self.accept_late = accept_late.or(self.accept_late);
    }

    /// Until when what is submitted plays.
    pub fn accepted_until(&self) -> Option<Timestamp> {
        let deadline = self.deadline?;
        let late = self.accept_late.unwrap_or_default();
        Some(deadline.checked_add(late).unwrap_or(Timestamp::MAX))
    }

    /// By how many begun hours a version was late; `None` if it was in time.
    pub fn hours_late(&self, version: &BotVersion<'_>) -> Option<u64> {
        let late = version.received.duration_since(self.deadline?);
        let seconds = u64::try_from(late.as_secs()).ok()?;
        let more = u64::from(late.subsec_nanos() > 0);
        let hours = (seconds + more).div_ceil(3600);
        (hours > 0).then_some(hours)
    }

    /// Withdraws a bot, or brings it back.
    pub fn decide(&mut self, label: &str, withdrawn: Option<&str>) {
        let bot = self.bot(label);
        let folders = bot.iter().flat_map(Bot::folders).map(str::to_owned);
        for folder in folders.collect::<Vec<_>>() {
            if let Some(one) = self.submissions.get_mut(&folder) {
                one.withdrawn = withdrawn.map(str::to_owned);
            }
        }
    }

    pub fn set_status(&mut self, of: &VersionKey, status: &Status) {
        let submissions = self.submissions.get_mut(&of.folder);
        for version in submissions.into_iter().flat_map(|one| &mut one.versions) {
            if version.id == of.version {
                version.status.clone_from(status);
            }
        }
    }

    pub fn refuse(&mut self, sender: &SenderId, refusal: Refusal) {
        if let Some((_, submissions)) = self.of_sender(sender) {
            submissions.refused = Some(refusal);
        }
    }

    /// The newest version of what this sender submitted.
    pub fn newest_of(&self, sender: &SenderId) -> Option<VersionKey> {
        let mut senders = self.roster.senders.iter();
        let folder = &senders.find(|known| known.id == *sender)?.folder;
        let newest = self.submissions.get(folder)?.versions.last()?;
        Some(VersionKey {
            folder: folder.clone(),
            version: newest.id.clone(),
        })
    }

    fn of_sender(&mut self, sender: &SenderId) -> Option<(String, &mut Submissions)> {
        let mut senders = self.roster.senders.iter();
        let folder = senders.find(|known| known.id == *sender)?.folder.clone();
        let submissions = self.submissions.entry(folder.clone()).or_default();
        Some((folder, submissions))
    }
}

impl Submissions {
    const fn is_empty(&self) -> bool {
        self.versions.is_empty() && self.refused.is_none()
    }
}

impl<'a> Bot<'a> {
    /// Of its senders.
    pub fn folders(&self) -> impl Iterator<Item = &'a str> {
        self.senders.iter().map(|(sender, _)| &*sender.folder)
    }

    pub fn senders(&self) -> impl Iterator<Item = &'a SenderId> {
        self.senders.iter().map(|(sender, _)| &sender.id)
    }

    /// The folder that is its own if no version plays.
    pub fn folder(&self) -> &'a str {
        self.folders().next().unwrap_or_default()
    }

    /// Why all that was submitted is withdrawn.
    pub fn withdrawn(&self) -> Option<&'a str> {
        let mut reasons = self.senders.iter().map(|(_, one)| one.withdrawn.as_deref());
        let first = reasons.next()??;
        reasons.all(|reason| reason.is_some()).then_some(first)
    }

    /// Oldest first: in the order of each sender, and of the times of different ones.
    pub fn versions(&self) -> Vec<BotVersion<'a>> {
        let are_all = self.withdrawn().is_some();
        let counted = self
            .senders
            .iter()
            .filter(|(_, one)| are_all || one.withdrawn.is_none());
        let mut left: Vec<(&'a str, &'a [Version])> = counted
            .map(|(sender, one)| (&*sender.folder, &*one.versions))
            .collect();
        let mut newest_first = Vec::new();
        loop {
            let lasts = left.iter().enumerate();
            let lasts = lasts.filter_map(|(place, (_, rest))| Some((place, rest.last()?)));
            let newest = lasts.max_by_key(|(place, last)| (last.received, Reverse(*place)));
            let Some((place, version)) = newest else {
                break;
            };
            let (folder, rest) = &mut left[place];
            newest_first.push((*folder, version));
            *rest = &rest[..rest.len() - 1];
        }
        // The same files are the same version, whichever member of a team submitted them again.
        let mut first: HashMap<&str, (&str, &Status)> = HashMap::new();
        let oldest_first = newest_first.into_iter().rev();
        oldest_first
            .map(|(folder, version)| {
                let known = first.entry(&version.id);
                let (folder, status) = *known.or_insert((folder, &version.status));
                BotVersion {
                    folder,
                    id: &version.id,
                    received: version.received,
                    status,
                }
            })
            .collect()
    }

    /// The newest fit or unchecked version submitted by `until`.
    pub fn playing(&self, until: Option<Timestamp>) -> Option<BotVersion<'a>> {
        self.newest_that(until, |status| !matches!(status, Status::Unfit(_)))
    }

    /// The newest version submitted by `until` that has passed its check.
    pub fn fit(&self, until: Option<Timestamp>) -> Option<BotVersion<'a>> {
        self.newest_that(until, |status| *status == Status::Fit)
    }

    fn newest_that(
        &self,
        until: Option<Timestamp>,
        is: impl Fn(&Status) -> bool,
    ) -> Option<BotVersion<'a>> {
        let mut newest = self.in_time(until).into_iter().rev();
        let found = newest.find(|version| is(version.status));
        found.filter(|_| self.withdrawn().is_none())
    }

    /// Why the newest submission does not play; `None` if it does.
    pub fn problem(&self, until: Option<Timestamp>) -> Option<Absence> {
        if let Some(why) = self.withdrawn() {
            return Some(Absence::new(format!("it was withdrawn: {why}")));
        }
        let newest = self.newest(None);
        let refused = self
            .senders
            .iter()
            .filter(|(_, one)| one.withdrawn.is_none());
        let refused = refused.filter_map(|(_, one)| one.refused.as_ref());
        let is_newest =
            |refusal: &&Refusal| newest.is_none_or(|newest| refusal.received >= newest.received);
        if let Some(refused) = refused.filter(is_newest).max_by_key(|one| one.received) {
            return Some(Absence::new(&*refused.reason));
        }
        match newest {
            None => Some(Absence::new("nothing was handed in")),
            Some(last) if let Some(end) = until.filter(|_| self.is_late(until)) => {
                Some(Absence::new(format!(
                    "it was handed in too late: at {}, after {}",
                    self.zone.show(last.received),
                    self.zone.show(end)
                )))
            }
            Some(last) => match last.status {
                Status::Unfit(absence) => Some(absence.clone()),
                Status::New | Status::Fit => None,
            },
        }
    }

    /// [`Self::problem`] for the teacher, for whom the command that shows it begins in the folder of the version.
    pub fn problem_within(&self, league: &Path, until: Option<Timestamp>) -> Option<Absence> {
        let mut absence = self.problem(until)?;
        if let (Some(again), Some(newest)) = (&mut absence.again, self.newest(None)) {
            let files = build::files(&folder(league, &newest.key()));
            again.insert_str(0, &going_to(&files.to_string_lossy()));
        }
        Some(absence)
    }

    /// Whether the newest version came after this time.
    pub fn is_late(&self, until: Option<Timestamp>) -> bool {
        self.newest(None) != self.newest(until)
    }

    pub fn newest(&self, until: Option<Timestamp>) -> Option<BotVersion<'a>> {
        self.in_time(until).pop()
    }

    fn in_time(&self, until: Option<Timestamp>) -> Vec<BotVersion<'a>> {
        let mut versions = self.versions();
        versions.retain(|version| until.is_none_or(|end| version.received <= end));
        versions
    }

    /// The folders of all its versions, as they are written, whole paths first. Its author knows them as `.`.
    pub fn homes(&self, league: &Path) -> Vec<String> {
        let keys: BTreeSet<VersionKey> = self.versions().iter().map(BotVersion::key).collect();
        let folders = keys.iter().flat_map(|key| {
            let folder = folder(league, key);
            let whole = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
            let real = whole.canonicalize().unwrap_or_else(|_| whole.clone());
            [real, whole, folder].map(|folder| folder.display().to_string())
        });
        folders.collect()
    }
}

const DIGITS: usize = 12;

pub fn folder(league: &Path, of: &VersionKey) -> PathBuf {
    league.join("bots").join(&of.folder).join(&of.version)
}

/// Before a command that is given in this folder.
fn going_to(folder: &str) -> String {
    format!("cd {} && ", quoted(folder))
}

/// Calls these folders, and what was built in them, `.`; who reads it is there.
pub fn at_home(text: &str, homes: &[String]) -> String {
    homes.iter().fold(text.to_owned(), |text, home| {
        let built = format!("{home}/{BUILT}");
        text.replace(&going_to(&built), "")
            .replace(&going_to(home), "")
            .replace(&format!("{built}/"), "./")
            .replace(&format!("{home}/"), "./")
    })
}

/// What became of a submission's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakenIn {
    NewVersion,
    /// They were the newest version before, or are not the newest.
    Known,
    /// The submission's problem.
    Unusable(CannotStart),
}

/// Copies a submission's files, unless known. Its sender must have been received.
pub fn take_in(
    league: &mut League,
    directory: &Path,
    submission: &Submission,
) -> Result<TakenIn, TournamentError> {
    let Some((folder, known)) = league.of_sender(&submission.sender) else {
        return Ok(TakenIn::Known);
    };
    let versions = directory.join("bots").join(&folder);
    fs::create_dir_all(&versions).map_err(TournamentError::io(&versions))?;
    let mut builder = tempfile::Builder::new();
    let copy = builder
        .prefix(".new-")
        .tempdir_in(&versions)
        .map_err(TournamentError::io(&versions))?;
    let hash = match copy_tree(
        &submission.name,
        &submission.folder,
        copy.path(),
        REFEREE_FILES,
    ) {
        Ok(files) => files.list.hash,
        Err(problem) => return Ok(TakenIn::Unusable(problem)),
    };
    let id: String = hash.to_string().chars().take(DIGITS).collect();
    let place = versions.join(&id);
    if !place.exists() {
        fs::rename(copy.path(), &place).map_err(TournamentError::io(&place))?;
        sync_directory(&versions).map_err(TournamentError::io(&versions))?;
    }
    let version = known.versions.iter().find(|version| version.id == id);
    if !submission.is_newest && version.is_some() {
        return Ok(TakenIn::Known);
    }
    let status = version.map_or(Status::New, |known| known.status.clone());
    known.refused = None;
    if known.versions.last().is_some_and(|last| last.id == id) {
        return Ok(TakenIn::Known);
    }
    known.versions.push(Version {
        id,
        received: submission.received,
        status,
    });
    Ok(TakenIn::NewVersion)
}
