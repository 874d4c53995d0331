//! The page and its events, for the server that sends them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::channel::Channel;
use hyper::{Request, Response, StatusCode};
use tokio::sync::watch;
use tokio::time::sleep;

use super::Feed;
use super::events::{SharedEvents, send_events};
use super::http::{Body, answered, events, page, refusal, wanted};
use referee_match::log_target::PAGE;
use referee_report::html::served;

const FIGURES_INTERVAL: Duration = Duration::from_secs(1);

/// Of a feed.
#[derive(Clone)]
pub struct LivePage {
    pub(super) shared: Arc<SharedEvents>,
}

impl LivePage {
    pub fn new(feed: Arc<Feed>) -> Self {
        feed.tell(|now| now.last = false);
        let shared = SharedEvents {
            served: served(&feed.options),
            feed,
            run: rand::random(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    pub fn page(&self) -> Response<Body> {
        tracing::debug!(target: PAGE, "the page is sent");
        let is_framed = self.shared.feed.options.frame.is_some();
        page(&self.shared.served, is_framed)
    }

    /// The stream that a request for `events` asks for.
    pub fn events<B>(&self, request: &Request<B>) -> Response<Body> {
        let shared = Arc::clone(&self.shared);
        let wanted = wanted(request, shared.run.wrapping_add(shared.feed.sequence()));
        tracing::debug!(target: PAGE, from = wanted.from, stage = wanted.stage, "events are sent");
        let (mut sender, stream) = Channel::new(1);
        tokio::spawn(async move {
            // The client left.
            let _ = send_events(&mut sender, &shared, wanted).await;
        });
        events(stream)
    }

    /// What a person who plays here has sent: the question and the answer, a line each. Only who knows the secret of the
    /// [inbox](Feed::seat) is that person.
    pub async fn answer(&self, secret: &str, text: &[u8]) -> Response<Body> {
        let watched = self.shared.feed.watched();
        let inbox = watched.and_then(|watched| watched.inbox.get());
        let Some(inbox) = inbox.filter(|inbox| inbox.secret() == secret) else {
            let why = "This is not the address of the player.\n";
            return refusal(StatusCode::FORBIDDEN, why);
        };
        let (status, text) = match answered(text) {
            None => {
                let expected = "Expected two lines: the question, and the answer to it.\n";
                (StatusCode::BAD_REQUEST, expected)
            }
            Some((question, answer)) if inbox.answer(question, answer).await => {
                (StatusCode::OK, "It is judged.\n")
            }
            Some(_) => {
                let why = "This question does not wait for an answer.\n";
                (StatusCode::CONFLICT, why)
            }
        };
        tracing::debug!(target: PAGE, status = status.as_u16(), "a person has answered");
        refusal(status, text)
    }

    /// Calculates the figures, and looks at the games in play, until the shutdown.
    pub async fn run(&self, shutdown: watch::Receiver<bool>) {
        let feed = Arc::clone(&self.shared.feed);
        let stage = tokio::spawn(async move {
            if let Some(watched) = feed.watched().cloned() {
                watched.run(feed).await;
            }
        });
        calculate(Arc::clone(&self.shared.feed), shutdown).await;
        stage.abort();
    }
}

/// While there are new games, and once at the end.
async fn calculate(feed: Arc<Feed>, mut shutdown: watch::Receiver<bool>) {
    let mut changes = feed.now.subscribe();
    loop {
        let last = *shutdown.borrow_and_update();
        let revision = changes.borrow_and_update().revision;
        let began = Instant::now();
        // A copy: no game waits for calculations.
        let figures = feed.report().figures.clone();
        let standings = figures.standings();
        let json = standings.map(|standings| figures.as_json(&standings).to_string());
        feed.tell(|now| {
            now.last = last;
            match json {
                Ok(json) => now.figures = json.into(),
                Err(error) => tracing::warn!(target: PAGE, "no figures for the page: {error}"),
            }
        });
        if last {
            return;
        }
        // At most a tenth of a core: the bots come first.
        let pause = FIGURES_INTERVAL.max(10 * began.elapsed());
        tokio::select! {
            () = sleep(pause) => {}
            () = wait_for_shutdown(&mut shutdown) => continue,
        }
        tokio::select! {
            _ = changes.wait_for(|now| now.revision != revision) => {}
            () = wait_for_shutdown(&mut shutdown) => {}
        }
    }
}

pub(super) async fn wait_for_shutdown(shutdown: &mut watch::Receiver<bool>) {
    // An error means that the sender was dropped: a shutdown.
    let _ = shutdown.wait_for(|&shutdown| shutdown).await;
}
