//! Plays the games that do not count, when those of the class are done: a person against a bot, or two bots for a student who
//! wants to see them play.

use std::cell::Cell;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep, sleep_until};

use crate::cli::commands::league::update::plan_of;
use crate::cli::commands::tournament::{TournamentOptions, Venue};
use crate::cli::support::building::SourceBuilder;
use crate::cli::support::failure::{Failure, Result, usage};
use crate::cli::support::games::start_of;
use crate::cli::support::setup::this_program;
use referee::bot::human::Human;
use referee::bot::process::GracePeriods;
use referee::class::league::state;
use referee::class_server::desk::Desk;
use referee::class_server::limits;
use referee::class_server::tables::{Table, TableEnd, TableKind};
use referee::entrants::build;
use referee::play::game_runner::GameRunner;
use referee::play::match_runner::{MatchPlan, MatchRunner};
use referee::play::seat::Seat;
use referee::play::{GameEvent, TimeControl};
use referee::record::BotIndex;
use referee::sandbox::Sandbox;
use referee::seed;
use referee::server::LiveState;
use referee::tournament::GameSettings;
use referee::tournament::entrants::{self, Entrant};

/// Between two looks for a table that waits.
const LOOK: Duration = Duration::from_millis(250);

pub(super) struct TableGames {
    desk: Arc<Desk>,
    /// Of the term.
    folder: PathBuf,
    options: TournamentOptions,
    sandbox: Sandbox,
    settings: GameSettings,
}

impl TableGames {
    pub(super) fn new(desk: &Arc<Desk>, venue: &Venue) -> Self {
        Self {
            desk: Arc::clone(desk),
            folder: desk.term().to_owned(),
            options: venue.options.clone(),
            sandbox: venue.sandbox.clone(),
            settings: venue.settings.clone(),
        }
    }

    /// Until it is dropped, which ends all games.
    pub(super) async fn run(self) {
        let this = Rc::new(self);
        let looking = async move {
            loop {
                while let Some(table) = this.desk.next_table() {
                    let this = Rc::clone(&this);
                    spawn_local(async move { this.serve(&table).await });
                }
                sleep(LOOK).await;
            }
        };
        LocalSet::new().run_until(looking).await;
    }

    async fn serve(&self, table: &Table) {
        let mut seated = Seated {
            desk: &self.desk,
            table,
            end: Some(TableEnd::Stopped),
        };
        seated.end = self.play(table).await.unwrap_or_else(|failure| {
            let why = failure.message(0).unwrap_or_default();
            tracing::warn!(target: referee::class_server::LOG, table = table.number, "{why}");
            Some(TableEnd::CannotPlay)
        });
    }

    /// Until the games of the class, which come first, leave no room for this table.
    async fn displaced(&self, kind: TableKind) -> Option<TableEnd> {
        loop {
            let view = self.desk.view();
            if view.is_final_played() {
                return Some(TableEnd::ForFinal);
            }
            // A bot that a person plays against thinks in its turns alone.
            if kind == TableKind::Friendly && !view.is_resting() {
                return None;
            }
            sleep(LOOK).await;
        }
    }

    /// How it ended; `None`: it begins anew later.
    async fn play(&self, table: &Table) -> Result<Option<TableEnd>> {
        let mut runner = self.match_of(table)?;
        let feed = &table.page.feed;
        let mut place = table.page.stage.table();
        place.seat(table.names.each_ref().map(String::as_str));
        let latest = Cell::new(Instant::now());
        let mut observer = |event: &GameEvent<'_>| {
            latest.set(Instant::now());
            place.note(event);
            if let GameEvent::Ended { game, .. } = event {
                feed.publish(game.record()).map_err(io::Error::other)?;
            }
            Ok(())
        };
        feed.expect(games_of(table.request.kind));
        feed.set_state(LiveState::Playing);
        let kind = table.request.kind;
        let played = tokio::select! {
            played = Box::pin(runner.run(&mut observer)) => played.map(|_| Some(TableEnd::Finished)),
            () = table.left() => Ok(Some(TableEnd::Left)),
            end = expiry(&latest) => Ok(Some(end)),
            end = self.displaced(kind) => Ok(end),
        };
        let grace = match &played {
            Ok(Some(TableEnd::Finished)) => GracePeriods::POLITE,
            Ok(_) | Err(_) => GracePeriods::FAULT,
        };
        runner.stop(grace).await?;
        Ok(played?)
    }

    fn match_of(&self, table: &Table) -> Result<MatchRunner> {
        let ruleset = &self.settings.ruleset;
        let pieces = self.settings.pieces_path.as_deref();
        let players = &table.request.players;
        let labels = match table.request.kind {
            TableKind::Person => &players[1..],
            TableKind::Friendly => &players[..],
        };
        let entrants = self.entrants(labels)?;
        let mut seats = Vec::new();
        for (name, label) in table.names.iter().zip(players) {
            seats.push(match &table.inbox {
                Some(inbox) if seats.is_empty() => Seat::human(
                    name.clone(),
                    Human::at_page(inbox.clone()),
                    time_of_person(),
                ),
                _ => {
                    let mut all = entrants.iter();
                    let entrant = all.find(|entrant| entrant.plan.name == *label);
                    let entrant = entrant.ok_or_else(|| not_there(label))?;
                    entrant.seat(&**ruleset, pieces, None).named(name.clone())
                }
            });
        }
        let seats = seats.try_into().map_err(|_| not_there(&players[1]))?;
        let seed = seed::drawn();
        let info = ruleset.info();
        let plan = MatchPlan {
            start: (!info.has_drawn_start)
                .then(|| start_of(&**ruleset, None))
                .transpose()?,
            games: games_of(table.request.kind),
            first: if info.is_first_drawn {
                BotIndex::ALL[seed::first_bot(seed)]
            } else {
                BotIndex::A
            },
            seed,
            restart: info.has_drawn_start,
        };
        let runner = GameRunner::new(Arc::clone(ruleset), false)?;
        Ok(MatchRunner::new(runner, plan, seats))
    }

    /// The versions that play now, confined.
    fn entrants(&self, labels: &[String]) -> Result<Vec<Entrant>> {
        let view = self.desk.view();
        let limits = self.options.play.time.control()?;
        let mut wanted = Vec::new();
        for label in labels {
            let mut bots = view.bots.iter();
            let bot = bots.find(|bot| bot.label == *label);
            let version = bot.and_then(|bot| bot.playing.as_ref());
            let version = version.ok_or_else(|| not_there(label))?;
            let folder = state::folder(&self.folder, version);
            let program = build::program(&folder)?;
            wanted.push(plan_of(label, &folder, &program, limits)?);
        }
        let (builder, this) = (SourceBuilder(&self.options.play.sandbox), this_program()?);
        let found = entrants::find(&wanted, builder.finder(&this), &self.sandbox)?;
        Ok(found.entered)
    }
}

/// A table at which is played; it is closed whatever happens.
struct Seated<'a> {
    desk: &'a Desk,
    table: &'a Table,
    /// How it ends; `None`: it begins anew later.
    end: Option<TableEnd>,
}

impl Drop for Seated<'_> {
    fn drop(&mut self) {
        match self.end {
            Some(end) => self.desk.close(self.table, end),
            None => self.desk.postpone(self.table),
        }
    }
}

fn not_there(label: &str) -> Failure {
    usage!("{label}: this bot does not play any more")
}

const fn games_of(kind: TableKind) -> u64 {
    match kind {
        TableKind::Person => limits::GAMES_OF_PERSON,
        // Each begins one.
        TableKind::Friendly => 2,
    }
}

fn time_of_person() -> TimeControl {
    TimeControl {
        move_time: Some(limits::PERSON_TIME),
        start_time: limits::PERSON_TIME,
        ..TimeControl::default()
    }
}

/// When a table has been played at long enough, or nothing has happened for a while.
async fn expiry(latest: &Cell<Instant>) -> TableEnd {
    let end = Instant::now() + limits::TABLE_TIME;
    loop {
        let idle = latest.get() + limits::IDLE_TABLE;
        if Instant::now() >= end {
            return TableEnd::TimeOver;
        }
        if Instant::now() >= idle {
            return TableEnd::Idle;
        }
        sleep_until(end.min(idle)).await;
    }
}
