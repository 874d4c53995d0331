//! What a student does.

use std::sync::Arc;

use axum::extract::multipart::{Multipart, MultipartRejection};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::answer::{self, Reader, Refusal};
use super::{Answer, Desked, Shared, answered, files as downloads, public, session};
use crate::desk::{State as SubmissionState, SubmissionView};
use crate::ledger::{FILES, Submission};
use crate::pages;
use crate::upload;
use referee_class::league::intake::{self, SubmissionError};
use referee_class::report::student_page::student_page;
use referee_match::play::setup::now;
use referee_text::is_full;

pub(super) async fn page(State(shared): Desked, headers: HeaderMap) -> Response {
    let owner = match session::owner(&shared.desk, &headers) {
        Ok(owner) => owner,
        Err(refusal) => return come_back(&headers, refusal),
    };
    match public::home(&owner) {
        Some(path) => answer::redirect(path),
        None => answered(&headers, student_home(&shared, &headers)),
    }
}

fn student_home(shared: &Shared, headers: &HeaderMap) -> Answer {
    let link = session::student(&shared.desk, headers)?;
    let page = pages::student::whole(&shared.desk, &link);
    Ok(answer::html(StatusCode::OK, page))
}

/// A browser that comes by a link on another site's page sends the new cookie from the second request on, which is this
/// server's own page's.
fn come_back(headers: &HeaderMap, refusal: Refusal) -> Response {
    let is_from_other = headers
        .get("sec-fetch-site")
        .is_some_and(|site| site == "cross-site");
    let mut response = refusal.answer(Reader::of(headers));
    if is_from_other && Reader::of(headers) == Reader::Person {
        let again = axum::http::HeaderValue::from_static("0; url=/me");
        response.headers_mut().insert("refresh", again);
    }
    response
}

/// As scripts are told it.
fn as_json(one: &SubmissionView) -> Value {
    let [played, of] = one.games;
    let check = match (&one.check, &one.refused) {
        (Some(check), _) => (**check).clone(),
        (None, Some(why)) => json!({ "fit": false, "refused": why }),
        (None, None) => Value::Null,
    };
    let replaced_by = match one.state {
        SubmissionState::Replaced(by) => by,
        _ => None,
    };
    json!({
        "version": one.submission.number,
        "state": one.state.word(),
        "replaced_by": replaced_by,
        "received": one.submission.received.to_string(),
        "plays": one.plays,
        "check": check,
        "games": { "played": played, "of": of },
    })
}

pub(super) async fn submission(
    State(shared): Desked,
    headers: HeaderMap,
    Path(number): Path<u32>,
) -> Response {
    let find = || -> Answer {
        let link = session::student(&shared.desk, &headers)?;
        let one = shared.desk.submission(&link, number);
        let one = one.ok_or_else(|| Refusal::missing("submission"))?;
        Ok(match Reader::of(&headers) {
            Reader::Person => answer::redirect("/me"),
            Reader::Script | Reader::Any => answer::data(StatusCode::OK, &as_json(&one)),
        })
    };
    answered(&headers, find())
}

pub(super) async fn files(
    State(shared): Desked,
    headers: HeaderMap,
    Path(number): Path<u32>,
) -> Response {
    let answer = match session::student(&shared.desk, &headers) {
        Ok(link) => {
            downloads::of_submission(&shared.desk, Some(&link.key), &link.key, number).await
        }
        Err(refusal) => Err(refusal),
    };
    answered(&headers, answer)
}

pub(super) async fn again(
    State(shared): Desked,
    headers: HeaderMap,
    Path(number): Path<u32>,
) -> Response {
    let again = || async {
        let link = session::student(&shared.desk, &headers)?;
        let desk = shared.desk.clone();
        let done = spawn_blocking(move || desk.again(&link.key, number)).await;
        let done = done.map_err(|_| Refusal::failed())??;
        let submission = done.ok_or_else(|| Refusal::missing("submission"))?;
        Ok(accepted(&headers, &submission))
    };
    answered(&headers, again().await)
}

fn accepted(headers: &HeaderMap, submission: &Submission) -> Response {
    let number = submission.number;
    let url = format!("/submissions/{number}");
    match Reader::of(headers) {
        Reader::Person => answer::redirect("/me"),
        Reader::Script | Reader::Any => {
            let told = json!({ "version": number, "url": url });
            answer::data(StatusCode::ACCEPTED, &told)
        }
    }
}

pub(super) async fn hand_in(
    State(shared): Desked,
    headers: HeaderMap,
    form: Result<Multipart, MultipartRejection>,
) -> Response {
    let answer = match form {
        Ok(form) => receive(&shared, &headers, form).await,
        Err(error) => {
            let expected = "expected a form with files (multipart/form-data)";
            let sentence = format!("{expected}: {}", error.body_text());
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, sentence);
            // A visitor without a link is told that first.
            session::owner(&shared.desk, &headers).and(Err(refusal))
        }
    };
    let mut response = answered(&headers, answer);
    if response.status().is_client_error() || response.status().is_server_error() {
        // The rest of the upload is not read.
        let close = axum::http::HeaderValue::from_static("close");
        response
            .headers_mut()
            .insert(axum::http::header::CONNECTION, close);
    }
    response
}

async fn receive(shared: &Shared, headers: &HeaderMap, form: Multipart) -> Answer {
    let desk = &shared.desk;
    let link = session::student(desk, headers)?;
    let reception = desk.begin(&link.key)?;
    let incoming = desk.ledger().incoming();
    let upload = upload::receive(form, &incoming).await?;
    let files = upload.staged.path().join(FILES);
    let (sender, name) = (link.sender.clone(), link.name.clone());
    // It is never closed.
    let permit = Arc::clone(&desk.unpacking).acquire_owned().await;
    let unpacked = spawn_blocking(move || {
        let _permit = permit;
        // What it holds is looked at again when it is taken in: here it is whether it can be unpacked.
        intake::of_student(&files, sender, &name, now()).map(drop)
    });
    unpacked.await.map_err(|_| Refusal::failed())??;
    let kept = spawn_blocking(move || {
        let upload::Upload {
            staged,
            bytes,
            names,
        } = upload;
        let files = Submission {
            bytes,
            names,
            ..Submission::default()
        };
        reception.accept(staged, files)
    });
    let submission = kept.await.map_err(|_| Refusal::failed())??;
    Ok(accepted(headers, &submission))
}

impl From<SubmissionError> for Refusal {
    fn from(error: SubmissionError) -> Self {
        match error {
            SubmissionError::Io(error) if is_full(&error) => upload::UploadError::Full.into(),
            SubmissionError::Io(error) => upload::UploadError::Io(error).into(),
            error @ SubmissionError::Refused(_) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
            }
        }
    }
}

pub(super) async fn games(State(shared): Desked, headers: HeaderMap) -> Response {
    let page = || async {
        let link = session::student(&shared.desk, &headers)?;
        let view = shared.desk.view();
        let label = view.bot(&link).map(|bot| bot.label.clone());
        let term = shared.desk.term().to_owned();
        let made = spawn_blocking(move || match label {
            Some(label) => student_page(&term, &label),
            None => Ok(None),
        });
        let made = made.await.map_err(|_| Refusal::failed())?;
        let made = made.map_err(|error| {
            tracing::error!(target: crate::LOG, "a student's page: {error}");
            Refusal::failed()
        })?;
        let none = || {
            let sentence = "No games yet: they begin when two bots have been accepted.";
            answer::html(StatusCode::OK, pages::student::told("My games", sentence))
        };
        Ok(made.map_or_else(none, answer::report))
    };
    answered(&headers, page().await)
}
