//! Streams of what changes on a page: the sections anew, whenever they have changed.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use http_body_util::channel::{Channel, Sender};
use tokio::time::{sleep, timeout};

use super::{Answer, Desked, answer, answered, session};
use crate::desk::Desk;
use crate::links::LinkOwner;
use crate::pages::tree::Node;
use crate::pages::{self, as_json};

/// What changes within it is sent together.
const PAUSE: Duration = Duration::from_millis(400);

/// Between two comments, without which a proxy might end a silent connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

const SEND_TIME: Duration = Duration::from_secs(30);

type Sections = dyn Fn(&Desk) -> Option<Vec<Node>> + Send + Sync;

pub(super) async fn public(State(shared): Desked) -> Response {
    stream(
        shared.desk,
        Box::new(|desk| Some(pages::public::sections(desk))),
    )
}

pub(super) async fn student(State(shared): Desked, headers: HeaderMap) -> Response {
    let begin = || -> Answer {
        let link = session::student(&shared.desk, &headers)?;
        let key = link.key;
        // The link may be renewed, or the student leave the list.
        Ok(stream(
            Arc::clone(&shared.desk),
            Box::new(move |desk| {
                let link = desk.links().student(&key).cloned()?;
                let owner = session::visitor(desk, &headers)?;
                let is_same = owner == LinkOwner::Student(link.clone());
                is_same.then(|| pages::student::sections(desk, &link))
            }),
        ))
    };
    let answer = begin();
    answered(&HeaderMap::new(), answer)
}

pub(super) async fn teacher(State(shared): Desked, headers: HeaderMap) -> Response {
    let begin = || -> Answer {
        session::teacher(&shared.desk, &headers)?;
        Ok(stream(
            Arc::clone(&shared.desk),
            Box::new(|desk| Some(pages::teacher::sections(desk))),
        ))
    };
    answered(&headers, begin())
}

/// `sections`: `None` once the reader may see them no more.
fn stream(desk: Arc<Desk>, sections: Box<Sections>) -> Response {
    let (mut sender, channel) = Channel::<Bytes>::new(1);
    tokio::spawn(async move {
        // The reader left.
        let _ = send_changes(&desk, &sections, &mut sender).await;
    });
    answer::content(StatusCode::OK, "text/event-stream", Body::new(channel))
}

async fn send_changes(desk: &Desk, sections: &Sections, sender: &mut Sender<Bytes>) -> Option<()> {
    let mut changes = desk.changes.subscribe();
    let mut sent = String::new();
    send(sender, "retry: 2000\n\n".to_owned()).await?;
    loop {
        changes.borrow_and_update();
        let text = as_json(&sections(desk)?);
        if text != sent {
            send(sender, format!("event: sections\ndata: {text}\n\n")).await?;
            sent = text;
        }
        sleep(PAUSE).await;
        while timeout(KEEP_ALIVE, changes.changed()).await.is_err() {
            send(sender, ": keep-alive\n\n".to_owned()).await?;
        }
        if changes.has_changed().is_err() {
            return None;
        }
    }
}

async fn send(sender: &mut Sender<Bytes>, text: String) -> Option<()> {
    let sent = timeout(SEND_TIME, sender.send_data(text.into())).await;
    sent.ok()?.ok()
}
