//! Answers: pages for people, JSON for scripts, a sentence for all others.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    LOCATION, REFERRER_POLICY, RETRY_AFTER, SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};

use crate::desk::NotTaken;
use crate::ledger::LedgerError;
use crate::links::LinksError;
use crate::pages::{Page, public, told};
use crate::upload::UploadError;
use referee_text::is_full;

const SAME_ORIGIN: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// What a client can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// A browser.
    Person,
    Script,
    /// One that takes anything, such as `curl`.
    Any,
}

impl Reader {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
        match accept {
            Some(accept) if accept.contains("text/html") => Self::Person,
            Some(accept) if accept.contains("application/json") => Self::Script,
            _ => Self::Any,
        }
    }
}

/// Headers of every answer.
pub(super) fn protect(response: &mut Response) {
    let headers = response.headers_mut();
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        // Not `no-referrer`, with which browsers send forms from `null`, which is another site.
        (REFERRER_POLICY, "same-origin"),
        (SAME_ORIGIN, "same-origin"),
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'",
        ),
    ] {
        let value = HeaderValue::from_static(value);
        headers.entry(name).or_insert(value);
    }
}

pub(super) fn content(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

pub(super) fn html(status: StatusCode, Page([html, policy]): Page) -> Response {
    let mut response = content(status, "text/html; charset=utf-8", html);
    // Words and hashes: always a valid header.
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response
            .headers_mut()
            .insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// A page of the report, which has its policy in it.
pub(super) fn report(page: String) -> Response {
    let mut response = content(StatusCode::OK, "text/html; charset=utf-8", page);
    let framing = HeaderValue::from_static("frame-ancestors 'none'");
    response
        .headers_mut()
        .insert(CONTENT_SECURITY_POLICY, framing);
    response
}

pub(super) fn data(status: StatusCode, value: &Value) -> Response {
    content(status, "application/json", format!("{value}\n"))
}

/// To be asked for by GET.
pub(super) fn redirect(to: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(LOCATION, to);
    }
    response
}

/// A file to be kept under this name, which has letters, digits and `-_.` alone.
pub(super) fn download(kind: &'static str, name: &str, body: impl Into<Body>) -> Response {
    let mut response = content(StatusCode::OK, kind, body);
    let name = format!("attachment; filename=\"{name}\"");
    if let Ok(name) = HeaderValue::from_str(&name) {
        response.headers_mut().insert(CONTENT_DISPOSITION, name);
    }
    response
}

/// `None`: to forget it.
pub(super) fn set_cookie(response: &mut Response, token: Option<&str>, is_secure: bool) {
    // Browsers keep none longer than 400 days.
    let (value, age) = token.map_or(("", 0), |token| (token, 400 * 24 * 3600));
    let secure = if is_secure { "; Secure" } else { "" };
    let cookie = format!(
        "{}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{secure}",
        super::session::COOKIE
    );
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
}

/// Why a request is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    sentence: String,
    retry_after: Option<Duration>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self {
            status,
            sentence: sentence.into(),
            retry_after: None,
        }
    }

    pub(super) fn no_link() -> Self {
        let sentence = "you are not signed in: open your own link first";
        Self::new(StatusCode::UNAUTHORIZED, sentence)
    }

    pub(super) fn foreign() -> Self {
        Self::new(StatusCode::FORBIDDEN, "this is not yours to see")
    }

    /// The server's own fault, which it has logged.
    pub(super) fn failed() -> Self {
        let sentence = "the server failed; tell your teacher, and try again";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, sentence)
    }

    pub(super) fn after(self, time: Duration) -> Self {
        Self {
            retry_after: Some(time),
            ..self
        }
    }

    pub(super) fn missing(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no such {what}"))
    }

    pub(super) fn answer(self, reader: Reader) -> Response {
        let Self {
            status,
            sentence,
            retry_after,
        } = self;
        let mut response = match reader {
            Reader::Person => {
                let title = status.canonical_reason().unwrap_or("Refused");
                html(status, told(title, &capitalised(&sentence), &public::NAV))
            }
            Reader::Script => data(status, &json!({ "error": sentence })),
            Reader::Any => content(status, "text/plain; charset=utf-8", format!("{sentence}\n")),
        };
        if let Some(after) = retry_after {
            let seconds = HeaderValue::from(after.as_secs().max(1));
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        response
    }
}

fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// Of a machine: the disk, mostly.
fn of_machine(error: &std::io::Error, sentence: &str) -> Refusal {
    if is_full(error) {
        let sentence =
            "there is no space left on the server; tell your teacher, and try again later";
        return Refusal::new(StatusCode::INSUFFICIENT_STORAGE, sentence);
    }
    tracing::error!(target: crate::LOG, "{sentence}");
    Refusal::failed()
}

impl From<LedgerError> for Refusal {
    fn from(error: LedgerError) -> Self {
        of_machine(&error.error, &error.to_string())
    }
}

impl From<LinksError> for Refusal {
    fn from(error: LinksError) -> Self {
        match &error {
            LinksError::Io { error: io, .. } => of_machine(io, &error.to_string()),
            _ => of_machine(&std::io::Error::other("links"), &error.to_string()),
        }
    }
}

impl From<NotTaken> for Refusal {
    fn from(error: NotTaken) -> Self {
        let sentence = error.to_string();
        let later = |status, time| Self::new(status, sentence.clone()).after(time);
        match error {
            NotTaken::Frozen => Self::new(StatusCode::CONFLICT, sentence),
            NotTaken::Waiting => later(StatusCode::TOO_MANY_REQUESTS, Duration::from_secs(5)),
            NotTaken::TooOften(after) => later(StatusCode::TOO_MANY_REQUESTS, after),
            NotTaken::Quota(_) => Self::new(StatusCode::PAYLOAD_TOO_LARGE, sentence),
            NotTaken::ClassQuota(_) => Self::new(StatusCode::INSUFFICIENT_STORAGE, sentence),
            NotTaken::Ledger(error) => error.into(),
        }
    }
}

impl From<UploadError> for Refusal {
    fn from(error: UploadError) -> Self {
        let status = match &error {
            UploadError::TooLarge | UploadError::LongText | UploadError::TooManyFiles => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            UploadError::Name { .. } | UploadError::Nothing => StatusCode::UNPROCESSABLE_ENTITY,
            UploadError::Broken(_) => StatusCode::BAD_REQUEST,
            UploadError::Full => StatusCode::INSUFFICIENT_STORAGE,
            UploadError::Io(io) => return of_machine(io, &error.to_string()),
        };
        Self::new(status, error.to_string())
    }
}
