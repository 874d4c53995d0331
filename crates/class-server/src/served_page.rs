//! A live page beside that of the class: of a table, or of the final.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

use referee_games::game::Ruleset;
use referee_match::play::stage::Stage;
use referee_report::html::ReportPageOptions;
use referee_server::{Feed, LivePage, LiveState};

/// It is served until it is dropped.
pub struct ServedPage {
    pub feed: Arc<Feed>,
    pub stage: Stage,
    live: LivePage,
    is_served: AtomicBool,
    shutdown: watch::Sender<bool>,
}

impl ServedPage {
    /// Without what bots write to stderr, and their commands: everybody may see it. Nothing is played yet.
    pub fn new(title: String, ruleset: &Arc<dyn Ruleset>) -> Self {
        let feed = Feed::new(ReportPageOptions {
            title,
            private: true,
            game: Some(Arc::clone(ruleset)).filter(|game| game.program().is_some()),
            ..ReportPageOptions::default()
        });
        let stage = feed.stage(ruleset);
        feed.set_state(LiveState::Waiting);
        Self {
            stage,
            live: LivePage::new(Arc::clone(&feed)),
            feed,
            is_served: AtomicBool::new(false),
            shutdown: watch::Sender::default(),
        }
    }

    /// From the first visit on it is kept up to date, on the runtime of the server.
    pub(super) fn live(&self) -> &LivePage {
        if !self.is_served.swap(true, Ordering::Relaxed) {
            let (live, shutdown) = (self.live.clone(), self.shutdown.subscribe());
            tokio::spawn(async move { live.run(shutdown).await });
        }
        &self.live
    }
}

impl Drop for ServedPage {
    fn drop(&mut self) {
        self.shutdown.send_replace(true);
    }
}
