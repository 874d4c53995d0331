//! The final of a class: announced, and played on the stage, as `referee league final` does.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::cli::commands::league::update::Update;
use crate::cli::commands::league::{FOLDER, FinalRequest, is_final_over, statement};
use crate::cli::commands::tournament::{Beginning, OpenTournament, Task, TournamentOptions};
use crate::cli::support::failure::{Result, bail};
use crate::cli::support::pages::{Pages, add_file};
use crate::cli::support::signals;
use referee::class_server::desk::Desk;
use referee::class_server::served_page::ServedPage;
use referee::class_server::view::{FinalState, FinalView};
use referee::server::LiveState;
use referee::text::counted;
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::plan::Format;
use referee::tournament::results::Results;

/// What is known of it; nothing before it is announced.
#[derive(Default)]
pub(super) struct Final {
    announced: Option<Announced>,
    /// The teacher wants it to be played.
    is_due: bool,
}

/// A final as it is played, and what stops it.
pub(super) type PlayedFinal = (Pin<Box<dyn Future<Output = Result<()>>>>, mpsc::Sender<()>);

struct Announced {
    page: Arc<ServedPage>,
    statement: String,
    state: FinalState,
}

fn folder_of(update: &Update<'_>) -> PathBuf {
    update.directory.path().join(FOLDER)
}

impl Final {
    /// Shows one that has been announced, with the games that have been played.
    pub(super) fn open(&mut self, update: &Update<'_>, desk: &Desk) -> Result<()> {
        let directory = TournamentDirectory::at(&folder_of(update));
        let Some(plan) = directory.plan()? else {
            return Ok(());
        };
        let title = format!("{}: final", desk.title);
        let page = ServedPage::new(title, &update.venue.settings.ruleset);
        let journal = directory.journal_file();
        let results = if journal.exists() {
            add_file(&journal, &page.feed)?;
            TournamentDirectory::read_journal(&journal, &plan)?
        } else {
            Results::new(&plan)
        };
        let overview = results.overview(&plan);
        page.feed
            .set_ranking(results.ranking(&plan), Some(overview));
        let is_over = is_final_over(update.directory, &plan)?;
        let state = if is_over {
            page.feed.set_state(LiveState::Finished);
            FinalState::Over
        } else if results.games > 0 {
            FinalState::Interrupted
        } else {
            FinalState::Announced
        };
        let page = Arc::new(page);
        desk.set_final_page(Arc::clone(&page));
        self.announced = Some(Announced {
            page,
            statement: statement(&plan),
            state,
        });
        Ok(())
    }

    /// Of the versions that play now.
    pub(super) async fn announce(
        &self,
        update: &Update<'_>,
        format: Format,
        pairs: Option<u32>,
    ) -> Result<String> {
        if self.announced.is_some() {
            bail!("the final has been announced before");
        }
        let Some(of_league) = &update.old else {
            bail!("no games of the class have been planned yet");
        };
        let unchecked = update.league.unchecked().len() as u64;
        if unchecked > 0 {
            let versions = counted(unchecked, "version is", "versions are");
            bail!("{versions} still to be checked; announce the final when that is done");
        }
        let mut options = TournamentOptions {
            play: update.venue.options.play.clone(),
            ..TournamentOptions::default()
        };
        options.request.schedule.format = Some(format);
        options.request.pairs = pairs;
        // All of them have passed it.
        options.request.games.no_check = true;
        let request = FinalRequest {
            folder: update.directory.path(),
            league: &update.league,
            of_league,
            deadline: None,
        };
        let options = request.options(options)?;
        let out = folder_of(update);
        let beginning = Beginning::of(&out);
        let announced = match OpenTournament::new(&[], options, Task::Announce, &out) {
            Ok(tournament) => Box::pin(tournament.run(None, signals::heed())).await,
            Err(failure) => Err(failure),
        };
        beginning.end(announced)?;
        let plan = TournamentDirectory::at(&out).plan()?;
        Ok(plan.as_ref().map(statement).unwrap_or_default())
    }

    /// It is to be played once nothing else is.
    pub(super) fn begin(&mut self) -> Result<()> {
        match self.announced.as_ref().map(|announced| announced.state) {
            None => bail!("the final has not been announced"),
            Some(FinalState::Over) => bail!("the final has been played"),
            Some(FinalState::Playing) => bail!("the final is being played"),
            Some(FinalState::Announced | FinalState::Interrupted) => self.is_due = true,
        }
        Ok(())
    }

    pub(super) const fn is_due(&self) -> bool {
        self.is_due
    }

    pub(super) fn is_played(&self) -> bool {
        let mut announced = self.announced.iter();
        announced.any(|announced| announced.state == FinalState::Playing)
    }

    /// The games that are missing, on the stage of its page.
    pub(super) fn play(&mut self, update: &Update<'_>) -> Result<PlayedFinal> {
        self.is_due = false;
        let Some(announced) = &mut self.announced else {
            bail!("the final has not been announced");
        };
        let out = folder_of(update);
        let options = TournamentOptions {
            play: update.venue.options.play.clone(),
            out: Some(out.clone()),
            ..TournamentOptions::default()
        };
        let tournament = OpenTournament::new(&[], options, Task::Play, &out)?;
        let page = &announced.page;
        let pages = Pages::served_elsewhere(&page.feed, &page.stage, &out);
        announced.state = FinalState::Playing;
        let (stop, stops) = mpsc::channel(2);
        Ok((Box::pin(tournament.run(Some(pages), stops)), stop))
    }

    /// It was played to its end, or is to be played on another time.
    pub(super) fn end(&mut self, is_over: bool) {
        if let Some(announced) = &mut self.announced
            && announced.state == FinalState::Playing
        {
            announced.state = if is_over {
                FinalState::Over
            } else {
                FinalState::Interrupted
            };
        }
    }

    pub(super) fn view(&self) -> Option<FinalView> {
        let announced = self.announced.as_ref()?;
        Some(FinalView {
            statement: announced.statement.clone(),
            state: announced.state,
        })
    }
}
