//! What the pages of a class are told.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::analysing::add_or_leave;
use crate::cli::commands::league::update::Update;
use crate::cli::commands::tournament::write_tables;
use crate::cli::support::failure::Result;
use crate::cli::support::pages::add_file;
use referee::class::league::log;
use referee::class::league::state::{Bot, VersionKey};
use referee::class_server::view::{BotView, ClassView, VersionView};
use referee::record::Record;
use referee::report::standings::as_json;
use referee::server::{Feed, LiveState};
use referee::stats::standings::Standings;
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::plan::Plan;
use referee::tournament::results::Results;
use referee::tournament::{Arena, Ended, games_expected};

/// Between two tables.
const INTERVAL: Duration = Duration::from_secs(1);

/// How far the games are.
#[derive(Default)]
pub(super) struct ClassProgress {
    standings: Option<Arc<Standings>>,
    json: Option<Arc<str>>,
    /// By name: the version, and its games played and planned.
    bots: HashMap<String, (Option<String>, [u64; 2])>,
    /// Played and planned.
    pub(super) games: [u64; 2],
    ranked: Option<Instant>,
    /// Since it was shown.
    pub(super) is_changed: bool,
}

impl ClassProgress {
    /// Nothing more is planned.
    pub(super) fn rest(&mut self) {
        self.games[1] = self.games[0];
        for (_, games) in self.bots.values_mut() {
            games[1] = games[0];
        }
    }

    /// Not more often than people can read, unless it `is_last`.
    pub(super) fn note(&mut self, plan: &Plan, results: &Results, is_last: bool) {
        let is_soon = |ranked: Instant| ranked.elapsed() < INTERVAL;
        if !is_last && self.ranked.is_some_and(is_soon) {
            return;
        }
        self.ranked = Some(Instant::now());
        self.is_changed = true;
        self.games = [results.games, games_expected(plan, None)];
        let mut planned = vec![0; plan.bots.len()];
        for pair in plan.pairs() {
            planned[pair.pairing.a.index()] += 2;
            planned[pair.pairing.b.index()] += 2;
        }
        let bots = plan.bots.iter().zip(results.games_of.iter().zip(planned));
        let bots = bots.map(|(bot, (played, planned))| {
            let games = [*played, planned];
            (bot.name.clone(), (bot.version.clone(), games))
        });
        self.bots = bots.collect();
        // Everybody may read it.
        let ranking = results.ranking(plan).without_reasons();
        match results.collector.standings(&ranking) {
            Ok(standings) => {
                self.json = Some(format!("{}\n", as_json(&standings, true)).into());
                self.standings = Some(Arc::new(standings));
            }
            Err(error) => tracing::warn!(target: referee::class_server::LOG, "no table: {error}"),
        }
    }
}

/// Where games of the class are shown when they have been played: on its pages, and on the page of all games.
#[derive(Clone)]
pub(super) struct GamesShown {
    pub(super) progress: Rc<RefCell<ClassProgress>>,
    feed: Arc<Feed>,
}

impl GamesShown {
    pub(super) fn new(feed: Arc<Feed>) -> Self {
        Self {
            progress: Rc::default(),
            feed,
        }
    }

    /// What was played before, in this file.
    pub(super) fn begin(&self, arena: &Arena<'_>, journal: &Path) -> Result<()> {
        self.feed.begin_again();
        add_file(journal, &self.feed)?;
        self.note(&arena.plan, &arena.results, true);
        self.feed.expect(arena.expected());
        Ok(())
    }

    /// One game more; `results` are those with it.
    pub(super) fn add(&self, game: &Record, plan: &Plan, results: &Results) {
        if let Err(error) = self.feed.publish(game) {
            tracing::warn!(target: referee::log_target::PAGE, "a game is not on the page: {error}");
        }
        self.note(plan, results, false);
    }

    /// Writes the tables, too.
    pub(super) fn finish(
        &self,
        directory: &TournamentDirectory,
        ended: Ended,
        plan: &Plan,
        mut results: Results,
    ) -> Result<()> {
        add_or_leave(&mut results, directory)?;
        self.note(plan, &results, true);
        write_tables(directory, plan, &results)?;
        self.feed.set_state(if ended == Ended::Complete {
            LiveState::Finished
        } else {
            LiveState::Playing
        });
        Ok(())
    }

    fn note(&self, plan: &Plan, results: &Results, is_last: bool) {
        let mut progress = self.progress.borrow_mut();
        progress.note(plan, results, is_last);
        if progress.is_changed {
            let (ranking, overview) = (results.ranking(plan), results.overview(plan));
            self.feed.set_ranking(ranking, Some(overview));
        }
    }
}

/// Without what is done now.
pub(super) fn view(update: &Update<'_>, progress: &ClassProgress) -> Result<ClassView> {
    let league = &update.league;
    let bots = league.bots();
    let mut view = ClassView {
        standings: progress.standings.clone(),
        standings_json: progress.json.clone(),
        played: progress.games[0],
        games: progress.games[1],
        notes: log::notes(update.directory.path(), league)?,
        log: log::read(update.directory.path())?,
        zone: league.zone(),
        deadline: league.deadline,
        accepted_until: league.accepted_until(),
        ..ClassView::default()
    };
    let logged = view.log.len();
    // Decisions have a section of their own.
    view.notes.truncate(view.notes.len().saturating_sub(logged));
    let queue = league.queue().into_iter();
    view.queue = queue.map(|(_, version)| version).collect();
    view.missing = league.missing().into_iter().map(|bot| bot.label).collect();
    for bot in &bots {
        for sender in bot.senders() {
            view.bot_of.insert(sender.clone(), view.bots.len());
        }
        for person in &bot.people {
            view.bot_of_person.insert(person.person, view.bots.len());
        }
        for version in bot.versions() {
            for folder in bot.folders().chain([version.folder]) {
                let key = VersionKey {
                    folder: folder.to_owned(),
                    version: version.id.to_owned(),
                };
                let version = VersionView {
                    checked_as: version.key(),
                    status: version.status.clone(),
                };
                view.versions.insert(key, version);
            }
        }
        view.bots.push(bot_view(bot, update, progress));
    }
    Ok(view)
}

fn bot_view(bot: &Bot<'_>, update: &Update<'_>, progress: &ClassProgress) -> BotView {
    let league = &update.league;
    let until = league.accepted_until();
    let playing = bot.fit(until);
    // While a new version is not planned yet, the games are those of the one before.
    let planned = progress.bots.get(&bot.label).filter(|(version, _)| {
        let playing = playing.as_ref().map(|version| version.id);
        version.as_deref() == playing
    });
    let [played, games] = planned.map_or([0, 0], |(_, games)| *games);
    BotView {
        label: bot.label.clone(),
        people: bot
            .people
            .iter()
            .map(|person| person.name.clone())
            .collect(),
        playing: playing.map(|version| version.key()),
        received: playing.map(|version| version.received),
        candidate: bot
            .playing(until)
            .map(|version| (version.key(), version.received)),
        hours_late: playing.and_then(|version| league.hours_late(&version)),
        problem: bot.problem(until),
        withdrawn: bot.withdrawn().map(str::to_owned),
        played,
        games,
    }
}
