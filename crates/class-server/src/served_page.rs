//! A live page beside that of the class: of a table, or of the final.

use std::sync::{Arc, OnceLock};

use tokio::sync::watch;

use referee_games::game::Ruleset;
use referee_match::play::stage::Stage;
use referee_report::html::ReportPageOptions;
use referee_server::{Feed, LivePage, LiveState};

/// It is served until it is dropped.
pub struct ServedPage {
    pub feed: Arc<Feed>,
    pub stage: Stage,
    /// Made at the first visit: it is large.
    live: OnceLock<LivePage>,
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
            feed,
            live: OnceLock::new(),
            shutdown: watch::Sender::default(),
        }
    }

    /// From the first visit on it is kept up to date, on the runtime of the server.
    pub(super) fn live(&self) -> &LivePage {
        self.live.get_or_init(|| {
            let live = LivePage::new(Arc::clone(&self.feed));
            let (served, shutdown) = (live.clone(), self.shutdown.subscribe());
            tokio::spawn(async move { served.run(shutdown).await });
            live
        })
    }
}

impl Drop for ServedPage {
    fn drop(&mut self) {
        self.shutdown.send_replace(true);
    }
}
