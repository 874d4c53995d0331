//! Takes in what students send, builds and checks it, and plays what is missing: all term.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::ops::ControlFlow;
use std::path::Path;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc};
use tokio::time::sleep;

use super::analysing::{Analysis, is_put_aside};
use super::checking::{Found, check};
use super::final_games::Final;
use super::showing::{GamesShown, view};
use crate::cli::commands::league::decisions::{
    decide_of, log_end_of_final, log_renewal, replay_of, set_deadline_of, turn_of,
};
use crate::cli::commands::league::update::{Update, of_build};
use crate::cli::support::failure::{Failure, Result, bail};
use crate::cli::support::output::note;
use crate::cli::support::signals::{self, Stops};
use referee::class::league::intake::{self, Intake, RefusedSubmission, SubmissionError};
use referee::class::league::lineup::Lineup;
use referee::class::league::state::{self, Refusal, Status, TakenIn, VersionKey};
use referee::class::league::switch::Switch;
use referee::class_server::desk::{Decision, Desk, Order};
use referee::class_server::ledger::Outcome;
use referee::class_server::view::{ClassView, Work};
use referee::entrants::build::{self, BuildError};
use referee::play::stage::Stage;
use referee::server::Feed;
use referee::text::counted;
use referee::tournament::checkup::Questions;
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::entrants::Entrant;
use referee::tournament::plan::{Format, Plan};
use referee::tournament::results::Results;
use referee::tournament::{Arena, Ended, Event};

/// After a failure of the machine, such as a full disk.
const RETRY: Duration = Duration::from_secs(10);

/// Games that are being played when the plan changes have so long to end; then they are played again.
const GRACE: Duration = Duration::from_secs(10);

/// How long new versions wait for others, so that the plan changes once for all of them.
const PATIENCE: Duration = Duration::from_secs(15);

const SHOW_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// What is played has changed.
    Plan,
    Stop,
}

pub(super) struct Worker<'a> {
    update: Update<'a>,
    desk: Arc<Desk>,
    games: GamesShown,
    stage: Stage,
    orders: mpsc::UnboundedReceiver<Order>,
    stops: Stops,
    questions: Arc<Questions>,
    work: Option<(VersionKey, Work)>,
    trouble: Option<String>,
    /// A game to be played again, once none is played.
    replay: Option<Order>,
    final_games: Final,
    /// Since when what is played differs from the plan.
    changed: Option<Instant>,
    /// Versions that could not be built or checked for reasons of the machine, and since when.
    failed: HashMap<VersionKey, Instant>,
    /// What the pages show has been read.
    pub(super) shown: Rc<Notify>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        update: Update<'a>,
        desk: Arc<Desk>,
        feed: Arc<Feed>,
        stage: Stage,
        orders: mpsc::UnboundedReceiver<Order>,
    ) -> Self {
        Self {
            update,
            desk,
            games: GamesShown::new(feed),
            stage,
            orders,
            stops: signals::heed(),
            questions: Arc::default(),
            work: None,
            trouble: None,
            replay: None,
            final_games: Final::default(),
            changed: None,
            failed: HashMap::new(),
            shown: Rc::default(),
        }
    }

    pub(super) async fn run(mut self) -> Result<()> {
        self.update.league.retry();
        self.final_games.open(&self.update, &self.desk)?;
        loop {
            match Box::pin(self.step()).await {
                Ok(Next::Plan) => self.trouble = None,
                Ok(Next::Stop) | Err(Failure::Interrupted) => return Ok(()),
                Err(failure) => {
                    self.tell_trouble(&failure);
                    tokio::select! {
                        () = sleep(RETRY) => {}
                        _ = self.stops.recv() => return Ok(()),
                    }
                    self.reread()?;
                }
            }
        }
    }

    /// Of the machine.
    fn tell_trouble(&mut self, failure: &Failure) {
        let trouble = failure.message(0).unwrap_or_default();
        note!("{trouble}");
        self.trouble = Some(trouble);
        self.work = None;
        if self.show().is_err() {
            let view = ClassView::clone(&self.desk.view());
            let (work, trouble) = (None, self.trouble.clone());
            self.desk.show(ClassView {
                work,
                trouble,
                ..view
            });
            self.shown.notify_one();
        }
    }

    /// What is on the disk counts.
    fn reread(&mut self) -> Result<()> {
        if let Some(league) = state::League::read(self.update.directory.path())? {
            self.update.league = league;
        }
        self.update.old = self.update.directory.tournament().plan()?;
        Ok(())
    }

    /// Plays by the plan of now until it changes.
    async fn step(&mut self) -> Result<Next> {
        self.replay_game();
        // It was given up by a failure.
        self.final_games.end(false);
        if self.final_games.is_due() {
            return self.play_final().await;
        }
        self.changed = None;
        let Some((plan, entered)) = self.next_plan()? else {
            self.trouble = None;
            self.games.progress.borrow_mut().rest();
            self.show()?;
            return self.attend().await;
        };
        let tournament = self.update.directory.tournament();
        let journal = tournament.journal_file();
        let arena = self.open_arena((&tournament, &journal), plan, entered)?;
        Box::pin(self.play(arena, &tournament)).await
    }

    /// With the games that were played before, which pages show then. Games are kept in this folder and file.
    fn open_arena<'d>(
        &mut self,
        (tournament, journal): (&'d TournamentDirectory, &'d Path),
        plan: Plan,
        entered: Vec<Entrant>,
    ) -> Result<Arena<'d>> {
        self.update.old = Some(plan.clone());
        let venue = &self.update.venue;
        let mut arena = venue.arena(tournament, journal, plan, entered)?;
        self.trouble = None;
        arena.is_fair = true;
        arena.stage = Some(self.stage.clone());
        self.games.begin(&arena, journal)?;
        self.show()?;
        Ok(arena)
    }

    /// Plays and, when all is played, analyses, while it attends to what comes in: until something else is to be played.
    async fn play(&mut self, arena: Arena<'_>, tournament: &TournamentDirectory) -> Result<Next> {
        let games = self.games.clone();
        let mut observer = |plan: &Plan, results: &Results, event: &Event| {
            if let Event::Written(game) = event {
                games.add(game.record(), plan, results);
            }
            ControlFlow::Continue(())
        };
        let (stop, mut stopped) = mpsc::channel(2);
        let mut playing = pin!(arena.run(&mut stopped, &mut observer));
        let mut is_over = false;
        let is_solvable = self.update.venue.settings.ruleset.info().is_solvable();
        // What was played, until its analysis is added; and that analysis.
        let (mut played, mut analysis) = (None, None);
        let next = {
            let mut attending = pin!(self.attend());
            loop {
                tokio::select! {
                    biased;
                    next = &mut attending => break next,
                    ended = &mut playing, if !is_over => {
                        is_over = true;
                        let (ended, plan, results) = ended?;
                        games.finish(tournament, ended, &plan, results.clone())?;
                        if is_solvable && ended == Ended::Complete {
                            analysis = Some(Analysis::begin(tournament)?);
                            played = Some((plan, results));
                        }
                    }
                    is_complete = Analysis::ended(&mut analysis) => {
                        analysis = None;
                        if let Some((plan, results)) = played.take().filter(|_| is_complete) {
                            games.finish(tournament, Ended::Complete, &plan, results)?;
                        }
                    }
                }
            }
        };
        if let Some(analysis) = analysis {
            analysis.stop().await;
        }
        if !is_over {
            let finished = match ended_soon(playing, &stop).await {
                Ok((ended, plan, results)) => games.finish(tournament, ended, &plan, results),
                Err(error) => Err(error.into()),
            };
            match (finished, &next) {
                // Who stops it need not wait for what cannot be written.
                (Err(failure), Ok(Next::Stop)) => self.tell_trouble(&failure),
                (finished, _) => finished?,
            }
        }
        next
    }

    /// Of the versions that are fit now; `None` while there are not two.
    fn next_plan(&mut self) -> Result<Option<(Plan, Vec<Entrant>)>> {
        let found = self.update.settle()?;
        if found.entered.len() < 2 && found.rejected.is_empty() {
            return Ok(None);
        }
        let (plan, entered) = self.update.plan(found)?;
        let plan = match self.update.switch(plan.clone()) {
            Err(_) if is_put_aside(&self.update.directory.tournament())? => {
                self.update.switch(plan)?
            }
            plan => plan?,
        };
        Ok(Some((plan, entered)))
    }

    /// Takes in, builds, checks and decides, until something else is to be played.
    async fn attend(&mut self) -> Result<Next> {
        loop {
            // Also while there is much to check.
            while let Ok(order) = self.orders.try_recv() {
                self.carry_out(order).await?;
            }
            self.take_in()?;
            let is_due = |changed: Instant| changed.elapsed() >= PATIENCE;
            // The final is played to its end.
            let may_change = !self.final_games.is_played();
            let is_decided = self.replay.is_some() || self.final_games.is_due();
            if may_change && (is_decided || self.changed.is_some_and(is_due)) {
                return Ok(Next::Plan);
            }
            if let Some((name, version)) = self.unchecked() {
                match self.examine(&name, &version).await {
                    Ok(ControlFlow::Continue(())) => {
                        if self.failed.remove(&version).is_some() {
                            self.trouble = None;
                            self.show()?;
                        }
                    }
                    Ok(ControlFlow::Break(())) => return Ok(Next::Stop),
                    Err(Failure::Interrupted) => return Err(Failure::Interrupted),
                    // The games go on.
                    Err(failure) => {
                        self.tell_trouble(&failure);
                        self.failed.insert(version, Instant::now());
                        self.reread()?;
                    }
                }
                continue;
            }
            if may_change && self.changed.is_some() {
                return Ok(Next::Plan);
            }
            let desk = Arc::clone(&self.desk);
            tokio::select! {
                biased;
                _ = self.stops.recv() => return Ok(Next::Stop),
                Some(order) = self.orders.recv() => self.carry_out(order).await?,
                () = desk.arrival() => {}
                () = sleep(SHOW_INTERVAL) => self.show_progress()?,
            }
        }
    }

    fn has_changed(&mut self) {
        self.changed.get_or_insert_with(Instant::now);
    }

    /// What students have sent becomes versions of the league.
    fn take_in(&mut self) -> Result<()> {
        for (student, submission, files) in self.desk.waiting() {
            let received = submission.received;
            let taken = intake::of_student(&files, student.sender.clone(), &student.name, received);
            let folder = self.update.directory.path();
            let league = &mut self.update.league;
            let refused = match taken {
                Ok(intake) => {
                    league.receive(&intake);
                    let mut submissions = intake.submissions.iter();
                    match submissions
                        .next()
                        .map(|one| state::take_in(league, folder, one))
                    {
                        Some(Ok(TakenIn::Unusable(problem))) if problem.is_for_want_of_space => {
                            return Err(Failure::Referee(problem.to_string()));
                        }
                        Some(Ok(TakenIn::Unusable(problem))) => Some(problem.to_string()),
                        Some(taken) => taken.map(|_| None)?,
                        None => None,
                    }
                }
                Err(SubmissionError::Io(error)) => return Err(error.into()),
                Err(error) => Some(error.to_string()),
            };
            let outcome = match refused {
                None => league.newest_of(&student.sender).map(Outcome::Taken),
                Some(reason) => {
                    let mut intake = Intake::default();
                    intake.refused.push(RefusedSubmission {
                        sender: student.sender.clone(),
                        name: student.name.clone(),
                        reason: reason.clone(),
                        received,
                    });
                    league.receive(&intake);
                    let refusal = Refusal {
                        reason: reason.clone(),
                        received,
                    };
                    league.refuse(&student.sender, refusal);
                    Some(Outcome::Refused(reason))
                }
            };
            league.write(folder)?;
            let outcome =
                outcome.unwrap_or_else(|| Outcome::Refused("there are no files in it".to_owned()));
            let settled = self.desk.settle(&student.key, submission.number, outcome);
            settled.map_err(|error| Failure::Referee(error.to_string()))?;
            self.has_changed();
            self.show()?;
        }
        Ok(())
    }

    /// The version that is checked next. What the machine failed with is tried again later, and after all others.
    fn unchecked(&self) -> Option<(String, VersionKey)> {
        let failed_at = |version: &VersionKey| self.failed.get(version).copied();
        let mut queue = self.update.league.queue();
        queue.retain(|(_, version)| failed_at(version).is_none_or(|at| at.elapsed() >= RETRY));
        // Of equals the first.
        queue
            .into_iter()
            .min_by_key(|(_, version)| failed_at(version))
    }

    /// What is decided meanwhile is carried out; `None`: the program is to end.
    async fn beside<T>(&mut self, work: impl Future<Output = T>) -> Result<Option<T>> {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                _ = self.stops.recv() => return Ok(None),
                Some(order) = self.orders.recv() => self.carry_out(order).await?,
                done = &mut work => return Ok(Some(done)),
            }
        }
    }

    /// Breaks when the program is to end.
    async fn examine(&mut self, name: &str, version: &VersionKey) -> Result<ControlFlow<()>> {
        let folder = state::folder(self.update.directory.path(), version);
        let homes = self.update.league.bot(name);
        let homes = homes.map(|bot| bot.homes(self.update.directory.path()));
        let homes = homes.unwrap_or_default();
        let mut found = None;
        if build::is_needed(&folder) {
            self.begin(version, Work::Building)?;
            let sandbox = self.update.venue.options.play.sandbox.for_builds();
            let sandbox = sandbox.sandbox()?;
            let building = build::build(name, &folder, &sandbox);
            let Some(built) = self.beside(building).await? else {
                return Ok(ControlFlow::Break(()));
            };
            match built {
                Ok(_) => {}
                Err(error @ BuildError::Io(_)) => return Err(Failure::Referee(error.to_string())),
                Err(error) => {
                    found = Some(Found::unfit(name, &of_build(&error), &homes));
                }
            }
        }
        let found = if let Some(found) = found {
            found
        } else {
            self.begin(version, Work::Checking)?;
            let versions: Lineup = BTreeMap::from([(name.to_owned(), version.clone())]);
            let entrants = self.update.find(&versions)?;
            match (entrants.entered.first(), entrants.rejected.first()) {
                (Some(entrant), _) => {
                    let settings = self.update.venue.settings.clone();
                    let questions = Arc::clone(&self.questions);
                    let checking = check(&settings, entrant, questions, &homes);
                    let Some(found) = self.beside(checking).await? else {
                        return Ok(ControlFlow::Break(()));
                    };
                    let mut found = found?;
                    if self.update.venue.options.request.games.no_check {
                        found.status = Status::Fit;
                    }
                    found
                }
                (None, Some(rejected)) => Found::unfit(name, &rejected.absence, &homes),
                (None, None) => return Ok(ControlFlow::Continue(())),
            }
        };
        // Before the verdict: with it, no check is made any more.
        let kept = self.desk.keep_check(version, &found.check);
        kept.map_err(|error| Failure::Referee(error.to_string()))?;
        self.update.league.set_status(version, &found.status);
        self.update.league.write(self.update.directory.path())?;
        self.work = None;
        self.has_changed();
        self.show()?;
        Ok(ControlFlow::Continue(()))
    }

    fn begin(&mut self, version: &VersionKey, work: Work) -> Result<()> {
        self.work = Some((version.clone(), work));
        self.show()
    }

    fn show_progress(&mut self) -> Result<()> {
        if self.games.progress.borrow().is_changed {
            self.show()?;
        }
        Ok(())
    }

    fn show(&self) -> Result<()> {
        let folder = self.update.directory.path();
        let [is_frozen, has_open_tables] =
            [Switch::Frozen, Switch::OpenTables].map(|switch| switch.is_on(folder));
        let mut progress = self.games.progress.borrow_mut();
        progress.is_changed = false;
        let (work, trouble) = (self.work.clone(), self.trouble.clone());
        let view = view(&self.update, &progress)?;
        self.desk.show(ClassView {
            work,
            trouble,
            is_frozen,
            has_open_tables,
            final_view: self.final_games.view(),
            ..view
        });
        self.shown.notify_one();
        Ok(())
    }

    /// A decision counts when it is on the disk.
    async fn carry_out(&mut self, order: Order) -> Result<()> {
        if matches!(order.decision, Decision::ReplayGame { .. }) {
            let refused = if self.final_games.is_played() {
                "the final is being played; try again after it"
            } else if self.replay.is_some() {
                "another game is to be played again first; try again in a few seconds"
            } else {
                self.replay = Some(order);
                return Ok(());
            };
            let _ = order.answer.send(Err(refused.to_owned()));
            return Ok(());
        }
        let decided = match &order.decision {
            Decision::AnnounceFinal { format, pairs } => self.announce_final(*format, *pairs).await,
            decision => self.decide(decision),
        };
        let answer = decided.map_err(|failure| failure.message(0).unwrap_or_default());
        let mut shown = Ok(());
        if answer.is_ok() {
            if order.decision.changes_games() {
                self.has_changed();
            }
            // What the next request meets.
            shown = self.show();
        }
        let _ = order.answer.send(answer);
        shown
    }

    fn decide(&mut self, decision: &Decision) -> Result<String> {
        let (directory, league) = (self.update.directory, &mut self.update.league);
        let done = match decision {
            Decision::Withdraw { bot, why } => decide_of(league, bot, true, why)?,
            Decision::Restore { bot, why } => decide_of(league, bot, false, why)?,
            Decision::Deadline(deadline) => set_deadline_of(league, *deadline),
            Decision::Turn(switch, is_on) => turn_of(directory.path(), league, *switch, *is_on)?,
            Decision::PlayFinal => {
                self.final_games.begin()?;
                league.note("begins", "final", "");
                "the final begins".to_owned()
            }
            Decision::LinkReplaced(student) => {
                log_renewal(league, student);
                String::new()
            }
            Decision::ReplayGame { .. } | Decision::AnnounceFinal { .. } => {
                return Ok(String::new());
            }
        };
        league.write(directory.path())?;
        Ok(done)
    }

    /// What was sent before takes part.
    async fn announce_final(&mut self, format: Format, pairs: Option<u32>) -> Result<String> {
        self.take_in()?;
        let [played, games] = self.games.progress.borrow().games;
        if format != Format::RoundRobin && played < games {
            bail!(
                "{} of the class are still to be played, whose table seeds the final; announce it after them",
                counted(games - played, "game", "games")
            );
        }
        let statement = self
            .final_games
            .announce(&self.update, format, pairs)
            .await?;
        self.final_games.open(&self.update, &self.desk)?;
        let league = &mut self.update.league;
        league.note("announced", "final", &statement);
        league.write(self.update.directory.path())?;
        let until = league.accepted_until();
        let absent = league.bots().into_iter();
        let absent = absent.filter(|bot| bot.playing(until).is_none());
        let absent: Vec<String> = absent.map(|bot| bot.label).collect();
        if absent.is_empty() {
            return Ok(statement);
        }
        Ok(format!("{statement}; not in it: {}", absent.join(", ")))
    }

    /// Beside it what students send is taken in, and nothing else is played.
    async fn play_final(&mut self) -> Result<Next> {
        let (mut playing, stop) = match self.final_games.play(&self.update) {
            Ok(played) => played,
            Err(failure) => return self.end_final(Err(failure)),
        };
        self.show()?;
        loop {
            let (attended, played) = {
                let mut attending = pin!(self.attend());
                tokio::select! {
                    biased;
                    attended = &mut attending => (attended, None),
                    played = &mut playing => (Ok(Next::Plan), Some(played)),
                }
            };
            if let Some(played) = played {
                return self.end_final(played);
            }
            match attended {
                Err(failure) if !matches!(failure, Failure::Interrupted) => {
                    self.tell_trouble(&failure);
                }
                // The server ends.
                attended => {
                    let _ = ended_soon(playing.as_mut(), &stop).await;
                    return attended;
                }
            }
            tokio::select! {
                played = &mut playing => return self.end_final(played),
                () = sleep(RETRY) => {}
            }
            self.reread()?;
            self.trouble = None;
            self.show()?;
        }
    }

    /// The log says what came of it.
    fn end_final(&mut self, played: Result<()>) -> Result<Next> {
        self.final_games.end(played.is_ok());
        let league = &mut self.update.league;
        log_end_of_final(league, &played);
        if let Err(failure) = played {
            note!("the final: {}", failure.message(0).unwrap_or_default());
        }
        league.write(self.update.directory.path())?;
        self.show()?;
        Ok(Next::Plan)
    }

    fn replay_game(&mut self) {
        let Some(Order { decision, answer }) = self.replay.take() else {
            return;
        };
        if let Decision::ReplayGame { id, why } = decision {
            let update = &mut self.update;
            let done = replay_of(update.directory, &mut update.league, &id, &why);
            let read = done.and_then(|done| {
                update.old = update.directory.tournament().plan()?;
                Ok(done)
            });
            let _ = answer.send(read.map_err(|failure| failure.message(0).unwrap_or_default()));
        }
    }
}

/// What comes of games that are stopped: those that are being played end, if that does not take long.
async fn ended_soon<F: Future + ?Sized>(
    mut playing: Pin<&mut F>,
    stop: &mpsc::Sender<()>,
) -> F::Output {
    let _ = stop.try_send(());
    tokio::select! {
        ended = &mut playing => ended,
        () = sleep(GRACE) => {
            let _ = stop.try_send(());
            playing.await
        }
    }
}
