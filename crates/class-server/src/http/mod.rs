//! The addresses of a class.

mod answer;
mod events;
mod files;
mod guard;
mod public;
mod session;
mod student;
mod tables;
mod teacher;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::timeout::{RequestBodyTimeoutLayer, TimeoutLayer};

use self::answer::{Reader, Refusal};
use crate::desk::Desk;
use crate::limits;
use crate::served_page::ServedPage;
use referee_server::LivePage;

/// What all handlers use.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) desk: Arc<Desk>,
    /// Of all games: for everybody.
    pub(super) live: LivePage,
}

type Answer = Result<Response, Refusal>;

/// A refusal as this client reads it.
fn answered(headers: &HeaderMap, answer: Answer) -> Response {
    answer.unwrap_or_else(|refusal| refusal.answer(Reader::of(headers)))
}

async fn health() -> Response {
    answer::content(StatusCode::OK, "text/plain; charset=utf-8", "up\n")
}

async fn missing(headers: HeaderMap) -> Response {
    answered(&headers, Err(Refusal::missing("page")))
}

async fn not_allowed(headers: HeaderMap) -> Response {
    let sentence = "this address takes no such request";
    answered(
        &headers,
        Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, sentence)),
    )
}

pub(super) fn router(shared: Shared) -> Router {
    let uploads = Router::new()
        .route("/submissions", post(student::hand_in))
        .layer(DefaultBodyLimit::max(limits::BODY_BYTES))
        .layer(RequestBodyLimitLayer::new(limits::BODY_BYTES));
    let others = Router::new()
        .route("/", get(public::front))
        .route("/changes", get(events::public))
        .route("/games", get(public::games))
        .route("/events", get(public::live_events))
        .route("/standings.json", get(public::standings))
        .route("/health", get(health))
        .route("/join", post(public::join))
        .route("/in/{token}", get(public::enter))
        .route("/leave", post(public::leave))
        .route("/me", get(student::page))
        .route("/me/changes", get(events::student))
        .route("/me/games", get(student::games))
        .route("/submissions/{number}", get(student::submission))
        .route("/submissions/{number}/files", get(student::files))
        .route("/submissions/{number}/again", post(student::again))
        .route("/final/", get(public::final_page))
        .route("/final/events", get(public::final_events))
        .route("/tables", post(tables::open))
        .route("/tables/new", get(tables::new))
        .route("/tables/{number}/", get(tables::page))
        .route("/tables/{number}/leave", post(tables::leave))
        .route("/tables/{number}/events", get(tables::events))
        .route("/tables/{number}/answer/{secret}", post(tables::answer))
        .route("/class", get(teacher::page))
        .route("/class/changes", get(events::teacher))
        .route("/class/decisions", post(teacher::decide))
        .route("/class/students.csv", get(teacher::students_csv))
        .route("/class/games.jsonl", get(teacher::games))
        .route("/class/submissions.tar.gz", get(teacher::all_submissions))
        .route("/students/{key}", get(teacher::student))
        .route("/students/{key}/link", post(teacher::renew))
        .route(
            "/students/{key}/submissions/{number}/files",
            get(teacher::files),
        )
        .layer(DefaultBodyLimit::max(limits::FORM_BYTES))
        .layer(RequestBodyLimitLayer::new(limits::FORM_BYTES));
    uploads
        .merge(others)
        .fallback(missing)
        .method_not_allowed_fallback(not_allowed)
        .layer(RequestBodyTimeoutLayer::new(limits::IDLE_TIME))
        .layer(TimeoutLayer::with_status_code(
            StatusCode::REQUEST_TIMEOUT,
            limits::REQUEST_TIME,
        ))
        .layer(from_fn_with_state(shared.clone(), guard::guard))
        .with_state(shared)
}

/// As a handler takes it.
type Desked = State<Shared>;

/// What the live page of a table or of the final answers; a refusal names what is `missing` without one.
fn of_page(
    headers: &HeaderMap,
    page: Option<&ServedPage>,
    missing: &str,
    answer: impl FnOnce(&LivePage) -> axum::http::Response<referee_server::Body>,
) -> Response {
    let page = page.ok_or_else(|| Refusal::missing(missing));
    answered(headers, page.map(|page| converted(answer(page.live()))))
}

/// What the servers of the other crate answer with, as this one does.
fn converted(response: axum::http::Response<referee_server::Body>) -> Response {
    response.map(Body::new)
}
