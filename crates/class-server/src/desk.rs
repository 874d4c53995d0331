//! Where the pages and the worker of a class meet: what came in, who may come in, and what is decided.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::{Notify, Semaphore, mpsc, oneshot, watch};

use super::client::Client;
use super::guesses::Guesses;
use super::ledger::{Entry, FILES, Filled, Ledger, LedgerError, Outcome, Submission, copy_files};
use super::limits;
use super::links::{LinkOwner, Links, LinksError, StudentLink};
use super::served_page::ServedPage;
use super::tables::{NotSeated, Table, TableEnd, TableHost, TableKind, TableRequest, Tables};
use super::token::Token;
use super::view::{BotView, ClassView, Work};
use referee_class::league::roster::Person;
use referee_class::league::state::{self, Status, VersionKey};
use referee_class::league::switch::{SERVER_FOLDER, Switch};
use referee_class::league::zone::Deadline;
use referee_games::game::Ruleset;
use referee_host::paths::bytes_within;
use referee_host::threads::locked;
use referee_match::play::setup::now;
use referee_server::Proxy;
use referee_text::join_parts;
use referee_tournament::plan::Format;

/// What a teacher decides; each is a line of the league's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Withdraw {
        bot: String,
        why: String,
    },
    Restore {
        bot: String,
        why: String,
    },
    ReplayGame {
        id: String,
        why: String,
    },
    Deadline(Deadline),
    /// Whether it is to be on.
    Turn(Switch, bool),
    AnnounceFinal {
        format: Format,
        /// Of games in each pairing.
        pairs: Option<u32>,
    },
    PlayFinal,
    /// Of a student, who was given a new link. It is done before: the log says so.
    LinkReplaced(String),
}

impl Decision {
    /// Whether other games are to be played than before.
    pub const fn changes_games(&self) -> bool {
        match self {
            Self::Withdraw { .. }
            | Self::Restore { .. }
            | Self::ReplayGame { .. }
            | Self::Deadline(_) => true,
            Self::Turn(..)
            | Self::AnnounceFinal { .. }
            | Self::PlayFinal
            | Self::LinkReplaced(_) => false,
        }
    }
}

/// A decision on its way to the worker, which answers with a sentence: what was done, or why not.
#[derive(Debug)]
pub struct Order {
    pub decision: Decision,
    pub answer: oneshot::Sender<Result<String, String>>,
}

/// How a class is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Without a path: `http://127.0.0.1:8000`.
    pub base: String,
    /// Which answers there for this server.
    pub proxy: Option<Proxy>,
}

/// The state of one submission, as scripts are told it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Waiting,
    Building,
    Checking,
    Playing,
    Done,
    Refused,
    /// By a newer one, before it was checked: the student's submission of this number; `None` if it came by a team-mate or the
    /// command.
    Replaced(Option<u32>),
}

impl State {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Building => "building",
            Self::Checking => "checking",
            Self::Playing => "playing",
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Replaced(_) => "replaced",
        }
    }

    /// As pages tell it.
    pub fn text(self) -> String {
        match self {
            Self::Replaced(Some(number)) => format!("replaced by version {number}"),
            Self::Replaced(None) => "replaced by a newer version".to_owned(),
            state => state.word().to_owned(),
        }
    }
}

/// All that is known of a submission.
#[derive(Clone, Debug)]
pub struct SubmissionView {
    pub submission: Submission,
    pub state: State,
    /// Whether its version is the one that plays.
    pub plays: bool,
    /// Of those ahead of it in the queue, while it waits in it: also the one that is being checked.
    pub ahead: Option<usize>,
    /// Why it was refused: a sentence.
    pub refused: Option<String>,
    pub check: Option<Arc<Value>>,
    /// Played, and of how many.
    pub games: [u64; 2],
}

/// Why a submission is not taken.
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    #[error("the class is frozen: nothing is taken any more; ask your teacher")]
    Frozen,
    #[error("your last upload is still waiting; try again when it is being checked")]
    Waiting,
    #[error(
        "{} submissions an hour are taken; try again later",
        limits::SUBMISSIONS
    )]
    TooOften(Duration),
    #[error("{}; ask your teacher", match .0 {
        Filled::Sent => format!("your submissions have filled the {} MB that each student has", limits::STUDENT_BYTES >> 20),
        Filled::Made => format!("what was unpacked and built of your submissions has filled the {} GB that each student has", limits::STUDENT_MADE_BYTES >> 30),
    })]
    Quota(Filled),
    #[error("{}; tell your teacher", match .0 {
        Filled::Sent => format!("the submissions of the class have filled the {} GB that they have", limits::CLASS_BYTES >> 30),
        Filled::Made => format!("what was unpacked and built of the submissions of the class has filled the {} GB that it has", limits::CLASS_MADE_BYTES >> 30),
    })]
    ClassQuota(Filled),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

pub struct Desk {
    /// Of the term.
    folder: PathBuf,
    pub title: String,
    pub reach: Reach,
    links: Mutex<Links>,
    ledger: Mutex<Ledger>,
    /// Students whose upload is being received.
    receiving: Mutex<HashSet<String>>,
    guesses: Mutex<Guesses>,
    view: watch::Sender<Arc<ClassView>>,
    orders: mpsc::UnboundedSender<Order>,
    /// Something was handed in.
    arrival: Notify,
    /// Changes with what pages show of submissions.
    pub(super) changes: watch::Sender<u64>,
    /// By whom downloads are read now; `None`: the teacher.
    downloads: Mutex<Vec<Option<String>>>,
    /// For uploads that have come whole.
    pub(super) unpacking: Arc<Semaphore>,
    ruleset: Arc<dyn Ruleset>,
    tables: Mutex<Tables>,
    final_page: Mutex<Option<Arc<ServedPage>>>,
}

/// A class cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Links(#[from] LinksError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("{}: {}", .path.display(), referee_text::cause(.error))]
    Io { path: PathBuf, error: io::Error },
}

/// Of a class that is opened.
#[derive(Clone)]
pub struct DeskOptions {
    pub title: String,
    pub reach: Reach,
    /// The list of students; empty where there is none.
    pub people: Vec<Person>,
    /// With which students join.
    pub code: Option<String>,
    pub ruleset: Arc<dyn Ruleset>,
}

impl Desk {
    /// In the folder of a term that is locked.
    pub fn open(
        term: &Path,
        options: DeskOptions,
    ) -> Result<(Arc<Self>, mpsc::UnboundedReceiver<Order>), OpenError> {
        let folder = term.join(SERVER_FOLDER);
        fs::create_dir_all(&folder).map_err(|error| OpenError::Io {
            path: folder.clone(),
            error,
        })?;
        let mut ledger = Ledger::read(&folder)?;
        for version in ledger.versions() {
            ledger.note_size(&version, bytes_within(&state::folder(term, &version)));
        }
        let mut links = Links::read(&folder)?;
        links.serve_at(&options.reach.base);
        let new = links.complete(&options.people)?;
        if let Some(code) = &options.code {
            links.open(code);
        }
        // Before their hashes: a kill in between would leave links that are lost.
        links.hand_out(term, &options.reach.base, new)?;
        links.write(&folder)?;
        let (orders, received) = mpsc::unbounded_channel();
        let desk = Self {
            folder: term.to_owned(),
            title: options.title,
            reach: options.reach,
            links: Mutex::new(links),
            ledger: Mutex::new(ledger),
            receiving: Mutex::default(),
            guesses: Mutex::default(),
            view: watch::Sender::default(),
            orders,
            arrival: Notify::new(),
            changes: watch::Sender::default(),
            downloads: Mutex::default(),
            unpacking: Arc::new(Semaphore::new(limits::UNPACKED)),
            ruleset: options.ruleset,
            tables: Mutex::default(),
            final_page: Mutex::default(),
        };
        Ok((Arc::new(desk), received))
    }

    pub fn term(&self) -> &Path {
        &self.folder
    }

    pub fn view(&self) -> Arc<ClassView> {
        Arc::clone(&self.view.borrow())
    }

    /// The worker tells what it has done.
    pub fn show(&self, view: ClassView) {
        self.view.send_replace(Arc::new(view));
        self.change();
    }

    fn change(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Until something is handed in, also since the last time.
    pub async fn arrival(&self) {
        self.arrival.notified().await;
    }

    /// `None` if the worker has ended.
    pub async fn decide(&self, decision: Decision) -> Option<Result<String, String>> {
        let (answer, answered) = oneshot::channel();
        self.orders.send(Order { decision, answer }).ok()?;
        answered.await.ok()
    }

    pub(super) fn links(&self) -> MutexGuard<'_, Links> {
        locked(&self.links)
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        locked(&self.ledger)
    }

    pub fn students(&self) -> usize {
        self.links().students().len()
    }

    pub fn owner(&self, token: &Token) -> Option<LinkOwner> {
        self.links().owner(token)
    }

    fn write_links(&self, links: &mut Links) -> Result<(), LinksError> {
        links.write(&self.folder.join(SERVER_FOLDER))
    }

    /// Another link for a student; `None` if there is no such student.
    pub(super) fn renew(&self, key: &str) -> Result<Option<Token>, LinksError> {
        let mut links = self.links();
        let mut renewed = links.clone();
        let token = renewed.renew(key);
        if token.is_some() {
            self.write_links(&mut renewed)?;
            if let Some(student) = renewed.student(key) {
                let (answer, _) = oneshot::channel();
                let decision = Decision::LinkReplaced(student.name.clone());
                // A worker that has ended writes no log.
                let _ = self.orders.send(Order { decision, answer });
            }
            *links = renewed;
        }
        Ok(token)
    }

    /// Who joins a class that is open; `None` if another one has the name.
    pub(super) fn join(&self, name: &str) -> Result<Option<Token>, LinksError> {
        let mut links = self.links();
        let mut joined = links.clone();
        let token = joined.join(name);
        if token.is_some() {
            self.write_links(&mut joined)?;
            *links = joined;
            drop(links);
            self.change();
        }
        Ok(token)
    }

    /// Whether the code of the class need not be protected by limits.
    pub fn withstands_guessing(&self) -> bool {
        self.links().withstands_guessing()
    }

    /// Whether this is the code of the class; how long to wait, where too many wrong ones were tried to be told.
    pub(super) fn try_code(&self, code: &str, client: Client) -> Result<bool, Duration> {
        let (is_right, withstands_guessing) = {
            let links = self.links();
            (links.is_code(code), links.withstands_guessing())
        };
        // However many are tried: without this, one student keeps all of a lecture hall out, which has one address.
        if is_right && withstands_guessing {
            return Ok(true);
        }
        let mut guesses = locked(&self.guesses);
        let (network, now) = (client.network(), Instant::now());
        if let Some(wait) = guesses.wait(network, now) {
            return Err(wait);
        }
        if !is_right {
            guesses.note_wrong(network, now);
        }
        Ok(is_right)
    }

    /// Whether this student may hand in something now, and no other upload of theirs is received meanwhile.
    pub(super) fn begin(self: &Arc<Self>, key: &str) -> Result<Reception, NotTaken> {
        if self.view().is_frozen {
            return Err(NotTaken::Frozen);
        }
        let ledger = self.ledger();
        let entries = ledger.of(key);
        if entries.iter().any(|entry| entry.outcome.is_none()) {
            return Err(NotTaken::Waiting);
        }
        check_rate(entries, now())?;
        let quotas = [limits::STUDENT_BYTES, limits::STUDENT_MADE_BYTES];
        if let Some(filled) = ledger.usage_of(key).filled(quotas) {
            return Err(NotTaken::Quota(filled));
        }
        check_quota_of_class(&ledger)?;
        drop(ledger);
        if !locked(&self.receiving).insert(key.to_owned()) {
            return Err(NotTaken::Waiting);
        }
        Ok(Reception {
            desk: Arc::clone(self),
            key: key.to_owned(),
        })
    }

    /// A download of the student with this key, or else of the teacher; `None` while students have too many.
    pub(super) fn begin_download(self: &Arc<Self>, key: Option<&str>) -> Option<Download> {
        let mut downloads = locked(&self.downloads);
        let of_reader = downloads.iter().filter(|of| of.as_deref() == key);
        let is_full = downloads.len() >= limits::DOWNLOADS_OF_ALL;
        if key.is_some() && (is_full || of_reader.count() >= limits::DOWNLOADS) {
            return None;
        }
        let reader = key.map(str::to_owned);
        downloads.push(reader.clone());
        Some(Download {
            desk: Arc::clone(self),
            reader,
        })
    }

    /// The files of an earlier submission once more, as the newest one.
    pub(super) fn again(
        self: &Arc<Self>,
        key: &str,
        number: u32,
    ) -> Result<Option<Submission>, NotTaken> {
        let known = self.ledger().entry(key, number).cloned();
        let Some(Entry { submission, .. }) = known else {
            return Ok(None);
        };
        let reception = self.begin(key)?;
        let (incoming, from) = {
            let ledger = self.ledger();
            (ledger.incoming(), ledger.path(key, number).join(FILES))
        };
        let failed = |error| LedgerError {
            path: incoming.clone(),
            error,
        };
        let staged = tempfile::tempdir_in(&incoming).map_err(failed)?;
        copy_files(&from, &staged.path().join(FILES)).map_err(failed)?;
        let again = Submission {
            again: Some(number),
            ..submission
        };
        let accepted = reception.accept(staged, again)?;
        Ok(Some(accepted))
    }

    /// What waits for the worker, in the order in which it came: the student, the submission and its files.
    pub fn waiting(&self) -> Vec<(StudentLink, Submission, PathBuf)> {
        let links = self.links();
        let ledger = self.ledger();
        let waiting = ledger
            .waiting()
            .into_iter()
            .filter_map(|(key, submission)| {
                let student = links.student(&key)?.clone();
                let files = ledger.path(&key, submission.number).join(FILES);
                Some((student, submission, files))
            });
        waiting.collect()
    }

    /// The worker has taken a submission in, or refused it.
    pub fn settle(&self, student: &str, number: u32, outcome: Outcome) -> Result<(), LedgerError> {
        if let Outcome::Taken(version) = &outcome {
            self.measure(version);
        }
        self.ledger().settle(student, number, outcome)?;
        self.change();
        Ok(())
    }

    /// What a check found of a version.
    pub fn keep_check(&self, version: &VersionKey, check: &Value) -> Result<(), LedgerError> {
        self.measure(version);
        self.ledger().keep_check(version, check)?;
        self.change();
        Ok(())
    }

    /// What a version takes on the disk counts for who has sent it.
    fn measure(&self, version: &VersionKey) {
        let bytes = bytes_within(&state::folder(&self.folder, version));
        self.ledger().note_size(version, bytes);
    }

    /// Opens a table at which who asks plays, or their bot does, against the bot of this label. `owner`: `None`: a visitor.
    pub(super) fn seat(
        &self,
        owner: Option<&LinkOwner>,
        client: Client,
        kind: TableKind,
        bot: &str,
    ) -> Result<Arc<Table>, NotSeated> {
        let view = self.view();
        let own = match owner {
            Some(LinkOwner::Student(link)) => view.bot(link),
            Some(LinkOwner::Teacher) | None => None,
        };
        if !view.has_playing(bot) {
            return Err(NotSeated::NoBot);
        }
        let asking = match kind {
            TableKind::Person if self.ruleset.program().is_some() => {
                return Err(NotSeated::NotDrawn);
            }
            TableKind::Person => name_of(owner),
            TableKind::Friendly => {
                if !matches!(owner, Some(LinkOwner::Student(_))) {
                    return Err(NotSeated::NoStudent);
                }
                let own = own.filter(|own| own.playing.is_some());
                own.ok_or(NotSeated::NoBotOfYours)?.label.clone()
            }
        };
        if kind == TableKind::Friendly && asking == bot {
            return Err(NotSeated::OwnBot);
        }
        let request = TableRequest {
            host: owner.map_or_else(|| TableHost::Visitor(client.network()), host_of),
            kind,
            players: [asking, bot.to_owned()],
        };
        let table = locked(&self.tables).open(request, &self.ruleset)?;
        self.change();
        Ok(table)
    }

    pub(super) fn table(&self, number: u32) -> Option<Arc<Table>> {
        locked(&self.tables).find(number).cloned()
    }

    /// Those that their host has not left, and whose pages are kept.
    pub(super) fn tables_of(&self, host: &TableHost) -> Vec<Arc<Table>> {
        let tables = locked(&self.tables);
        let is_left = |table: &&Arc<Table>| table.ended() == Some(TableEnd::Left);
        let all = tables.of(host).filter(|table| !is_left(table));
        all.cloned().collect()
    }

    /// The host of this table gives it up: whether it is theirs.
    pub(super) fn leave_table(&self, owner: &LinkOwner, number: u32) -> bool {
        let is_left = locked(&self.tables).leave(&host_of(owner), number);
        self.change();
        is_left
    }

    /// A person can play where a page can draw the game.
    pub(super) fn is_drawn(&self) -> bool {
        self.ruleset.program().is_none()
    }

    /// The next table at which is to be played; `None` while the class has games to play, or bots to check.
    pub fn next_table(&self) -> Option<Arc<Table>> {
        if !self.view().is_resting() || !self.waiting().is_empty() {
            return None;
        }
        let next = locked(&self.tables).next()?;
        self.change();
        Some(next)
    }

    /// The page of a final that has been announced.
    pub fn set_final_page(&self, page: Arc<ServedPage>) {
        *locked(&self.final_page) = Some(page);
    }

    pub(super) fn final_page(&self) -> Option<Arc<ServedPage>> {
        locked(&self.final_page).clone()
    }

    /// The games of a table are over.
    pub fn close(&self, table: &Table, end: TableEnd) {
        table.end(end);
        self.change();
    }

    /// The games of the class come first: this table begins anew after them.
    pub fn postpone(&self, table: &Table) {
        table.wait_again();
        self.change();
    }

    /// Newest first.
    pub(super) fn submissions(&self, student: &StudentLink) -> Vec<SubmissionView> {
        let view = self.view();
        let ledger = self.ledger();
        let queue = ledger.waiting();
        let newest_first = ledger.of(&student.key).iter().rev();
        newest_first
            .map(|entry| {
                let is_it = |(key, waiting): &(String, Submission)| {
                    *key == student.key && waiting.number == entry.submission.number
                };
                let unsettled = queue.iter().position(is_it);
                view_of(entry, student, &view, &ledger, unsettled)
            })
            .collect()
    }

    pub(super) fn submission(&self, student: &StudentLink, number: u32) -> Option<SubmissionView> {
        let mut all = self.submissions(student).into_iter();
        all.find(|one| one.submission.number == number)
    }
}

/// An upload that is being received; no other one of this student is, until it is dropped.
pub(super) struct Reception {
    desk: Arc<Desk>,
    key: String,
}

impl Reception {
    /// It is on the disk when this returns.
    pub(super) fn accept(
        self,
        staged: tempfile::TempDir,
        files: Submission,
    ) -> Result<Submission, NotTaken> {
        let mut ledger = self.desk.ledger();
        // Others were received meanwhile.
        check_quota_of_class(&ledger)?;
        let accepted = ledger.accept(&self.key, staged.path(), files)?;
        drop(ledger);
        // It has been renamed.
        let _ = staged.keep();
        self.desk.arrival.notify_one();
        self.desk.change();
        Ok(accepted)
    }
}

impl Drop for Reception {
    fn drop(&mut self) {
        locked(&self.desk.receiving).remove(&self.key);
    }
}

/// A download that is being read, until it is dropped.
pub(super) struct Download {
    desk: Arc<Desk>,
    reader: Option<String>,
}

impl Drop for Download {
    fn drop(&mut self) {
        let mut downloads = locked(&self.desk.downloads);
        if let Some(place) = downloads.iter().position(|of| *of == self.reader) {
            downloads.swap_remove(place);
        }
    }
}

/// As a person is called at a table.
fn name_of(owner: Option<&LinkOwner>) -> String {
    match owner {
        Some(LinkOwner::Student(link)) => link.name.clone(),
        Some(LinkOwner::Teacher) => "teacher".to_owned(),
        None => "visitor".to_owned(),
    }
}

fn host_of(owner: &LinkOwner) -> TableHost {
    match owner {
        LinkOwner::Student(link) => TableHost::Student(link.key.clone()),
        LinkOwner::Teacher => TableHost::Teacher,
    }
}

fn check_quota_of_class(ledger: &Ledger) -> Result<(), NotTaken> {
    let quotas = [limits::CLASS_BYTES, limits::CLASS_MADE_BYTES];
    match ledger.usage().filled(quotas) {
        Some(filled) => Err(NotTaken::ClassQuota(filled)),
        None => Ok(()),
    }
}

fn check_rate(entries: &[Entry], now: Timestamp) -> Result<(), NotTaken> {
    let Some(place) = entries.len().checked_sub(limits::SUBMISSIONS) else {
        return Ok(());
    };
    let since = now.duration_since(entries[place].submission.received);
    let since = Duration::try_from(since).unwrap_or_default();
    match limits::RATE_TIME.checked_sub(since) {
        Some(left) if !left.is_zero() => Err(NotTaken::TooOften(left)),
        _ => Ok(()),
    }
}

/// `unsettled`: its place among those that have not been taken in, if it is one of them.
fn view_of(
    entry: &Entry,
    student: &StudentLink,
    view: &ClassView,
    ledger: &Ledger,
    unsettled: Option<usize>,
) -> SubmissionView {
    let mut seen = SubmissionView {
        submission: entry.submission.clone(),
        state: State::Waiting,
        plays: false,
        // All that have been taken in come first.
        ahead: unsettled.map(|place| view.queue.len() + place),
        refused: None,
        check: None,
        games: [0, 0],
    };
    let version = match &entry.outcome {
        None => return seen,
        Some(Outcome::Refused(why)) => {
            seen.state = State::Refused;
            seen.refused = Some(why.clone());
            return seen;
        }
        Some(Outcome::Taken(version)) => version,
    };
    let checked_as = view.checked_as(version);
    seen.check = ledger.check(checked_as);
    if let Some((_, work)) = view.work.as_ref().filter(|(of, _)| of == checked_as) {
        seen.state = match work {
            Work::Building => State::Building,
            Work::Checking => State::Checking,
        };
        return seen;
    }
    match view.versions.get(version).map(|known| &known.status) {
        None | Some(Status::New) => see_unchecked(&mut seen, (version, student), view, ledger),
        Some(Status::Unfit(absence)) => {
            seen.state = State::Refused;
            // These files came by the command, too, which keeps no more of their check.
            if seen.check.is_none() {
                seen.refused = Some(join_parts(absence, "\n"));
            }
        }
        Some(Status::Fit) => {
            let is_it = |bot: &&BotView| bot.playing.as_ref() == Some(checked_as);
            see_games(&mut seen, view.bot(student).filter(is_it));
        }
    }
    seen
}

/// Of a student's version that has not been checked: whether it waits, or will not be checked.
fn see_unchecked(
    seen: &mut SubmissionView,
    (version, student): (&VersionKey, &StudentLink),
    view: &ClassView,
    ledger: &Ledger,
) {
    let checked_as = view.checked_as(version);
    let Submission {
        received, number, ..
    } = seen.submission;
    let candidate = view.bot(student).and_then(|bot| bot.candidate.as_ref());
    let newer = candidate.filter(|(newer, at)| newer != checked_as && *at > received);
    if let Some((newer, _)) = newer {
        let is_it = |version| view.checked_as(version) == newer;
        let mut of_student = ledger.of(&student.key).iter().rev();
        let by = of_student.find(|entry| entry.version().is_some_and(is_it));
        let by = by.map(|entry| entry.submission.number);
        seen.state = State::Replaced(by.filter(|by| *by > number));
    } else if view.accepted_until.is_some_and(|until| received > until) {
        seen.state = State::Refused;
        seen.refused = Some("it came after the deadline, and does not play".to_owned());
    } else {
        seen.ahead = view.queue.iter().position(|waiting| waiting == checked_as);
    }
}

/// Of a version that has passed the check; `bot` plays it, if one does.
fn see_games(seen: &mut SubmissionView, bot: Option<&BotView>) {
    seen.plays = bot.is_some();
    seen.games = bot.map_or([0, 0], |bot| [bot.played, bot.games]);
    seen.state = match seen.games {
        // Also before its games are planned, as while there is no opponent.
        [played, games] if seen.plays && (games == 0 || played < games) => State::Playing,
        _ => State::Done,
    };
}

/// A class that is joined by this code, in a folder of its own.
#[cfg(test)]
pub(super) fn opened_class(code: &str) -> (tempfile::TempDir, Arc<Desk>) {
    let folder = tempfile::tempdir().unwrap();
    let options = DeskOptions {
        title: "class".to_owned(),
        reach: Reach {
            base: "http://127.0.0.1:8000".to_owned(),
            proxy: None,
        },
        people: Vec::new(),
        code: Some(code.to_owned()),
        ruleset: referee_games::game::registry::of_record("quarto", "standard", None).unwrap(),
    };
    let (desk, _) = Desk::open(folder.path(), options).unwrap();
    (folder, desk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_who_download_keep_no_teacher_waiting() {
        let (_folder, desk) = opened_class("green-owl");
        let students = (0..limits::DOWNLOADS_OF_ALL).map(|number| {
            let key = format!("s{}", number / limits::DOWNLOADS);
            desk.begin_download(Some(&key))
        });
        let downloads: Option<Vec<Download>> = students.collect();
        assert!(downloads.is_some());
        assert!(desk.begin_download(Some("anna")).is_none());
        assert!(desk.begin_download(None).is_some());
    }

    fn entry(number: u32, second: i64) -> Entry {
        Entry {
            submission: Submission {
                number,
                received: Timestamp::from_second(second).unwrap(),
                ..Submission::default()
            },
            ..Entry::default()
        }
    }

    #[test]
    fn a_student_hands_in_so_often_an_hour() {
        let of = |count: u32| -> Vec<Entry> {
            (1..=count)
                .map(|number| entry(number, i64::from(number)))
                .collect()
        };
        let at = |second| Timestamp::from_second(second).unwrap();
        let most = u32::try_from(limits::SUBMISSIONS).unwrap();
        assert!(check_rate(&of(most - 1), at(100)).is_ok());
        let refused = check_rate(&of(most), at(101));
        assert!(matches!(refused, Err(NotTaken::TooOften(left)) if left.as_secs() == 3500));
        assert!(check_rate(&of(most), at(3601)).is_ok());
    }
}
