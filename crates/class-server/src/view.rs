//! What the worker tells of the class: all that pages show besides links and submissions.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::links::StudentLink;
use referee_class::league::log::LogEntry;
use referee_class::league::roster::{PersonId, SenderId};
use referee_class::league::state::{Status, VersionKey};
use referee_class::league::zone::Zone;
use referee_stats::standings::{Absence, Standings};

/// What is done with a version that is not yet fit or unfit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Building,
    Checking,
}

/// How far the final is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalState {
    Announced,
    Playing,
    /// It has begun, and is not being played.
    Interrupted,
    Over,
}

/// A final that has been announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalView {
    /// What was published of it.
    pub statement: String,
    pub state: FinalState,
}

/// A bot of the class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BotView {
    pub label: String,
    /// Those of the list.
    pub people: Vec<String>,
    pub playing: Option<VersionKey>,
    /// When the playing version came.
    pub received: Option<Timestamp>,
    /// The newest version in time that has not failed the check, and when it came: it plays, or is checked next.
    pub candidate: Option<(VersionKey, Timestamp)>,
    /// Begun hours after the deadline.
    pub hours_late: Option<u64>,
    /// Why the newest submission does not play.
    pub problem: Option<Absence>,
    pub withdrawn: Option<String>,
    pub played: u64,
    /// As planned.
    pub games: u64,
}

/// A version of a bot. The same files of several members of a team are one, and are checked once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionView {
    /// Of who sent these files first: by it the version is built and checked.
    pub checked_as: VersionKey,
    pub status: Status,
}

#[derive(Clone, Debug, Default)]
pub struct ClassView {
    /// By label.
    pub bots: Vec<BotView>,
    /// Places in `bots`, by who has submitted.
    pub bot_of: HashMap<SenderId, usize>,
    /// Places in `bots`, by the people of the list: also by those whose team-mate has submitted.
    pub bot_of_person: HashMap<PersonId, usize>,
    /// By the folder of each member of a team, even of one who has not sent it.
    pub versions: HashMap<VersionKey, VersionView>,
    pub work: Option<(VersionKey, Work)>,
    /// Versions that are to be checked, in this order; the first may be the one of `work`.
    pub queue: Vec<VersionKey>,
    pub standings: Option<Arc<Standings>>,
    /// As `referee standings --format json` prints them.
    pub standings_json: Option<Arc<str>>,
    pub played: u64,
    pub games: u64,
    /// Of whom nothing came.
    pub missing: Vec<String>,
    /// What it is, of whom, and the rest: for the teacher.
    pub notes: Vec<[String; 3]>,
    /// Oldest first.
    pub log: Vec<LogEntry>,
    /// In which times are shown.
    pub zone: Zone,
    pub deadline: Option<Timestamp>,
    /// Until when what comes plays.
    pub accepted_until: Option<Timestamp>,
    pub is_frozen: bool,
    /// Visitors without a link may play against bots.
    pub has_open_tables: bool,
    pub final_view: Option<FinalView>,
    /// What keeps the worker from working: for the teacher.
    pub trouble: Option<String>,
}

impl ClassView {
    /// Whether a bot of this label plays.
    pub(super) fn has_playing(&self, label: &str) -> bool {
        let mut bots = self.bots.iter();
        bots.any(|bot| bot.label == label && bot.playing.is_some())
    }

    /// By which the check of a version is found.
    pub fn checked_as<'a>(&'a self, version: &'a VersionKey) -> &'a VersionKey {
        let known = self.versions.get(version);
        known.map_or(version, |known| &known.checked_as)
    }

    /// Theirs, or that of their team.
    pub fn bot(&self, student: &StudentLink) -> Option<&BotView> {
        let of_person = || self.bot_of_person.get(student.person.as_ref()?);
        let place = self.bot_of.get(&student.sender).or_else(of_person);
        self.bots.get(*place?)
    }

    /// Whether there is nothing that counts to be played, or checked.
    pub fn is_resting(&self) -> bool {
        self.work.is_none() && self.played >= self.games && !self.is_final_played()
    }

    /// Whether it is being played.
    pub fn is_final_played(&self) -> bool {
        let shown = self.final_view.as_ref();
        shown.is_some_and(|shown| shown.state == FinalState::Playing)
    }

    pub fn is_open(&self, at: Timestamp) -> bool {
        !self.is_frozen && self.accepted_until.is_none_or(|until| at <= until)
    }
}
