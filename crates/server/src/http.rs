//! HTTP requests and responses: the page, an event stream, an answer that was taken, or a refusal.

use std::net::IpAddr;

use http_body_util::channel::Channel;
use http_body_util::{Either, Full};
use hyper::body::Bytes;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderMap,
    HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};

use super::events::{WantedEvents, position_of};

pub type Body = Either<Full<Bytes>, Channel<Bytes>>;

const SAME_ORIGIN: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// Before the secret of the person who plays.
pub(super) const ANSWER: &str = "/answer/";

/// Whether `Host` is an IP address or `localhost`. A website that points its name at this machine (DNS rebinding)
/// sends that name.
pub fn is_own_name(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

fn host_of<B>(request: &Request<B>) -> Option<&str> {
    request.headers().get(HOST)?.to_str().ok()
}

/// Why a request is not answered, and the status.
pub(super) fn refused<B>(request: &Request<B>) -> Option<(StatusCode, &'static str)> {
    if !host_of(request).is_some_and(is_own_name) {
        let why = "Use an IP address or localhost, with the port: other names are refused to protect against DNS rebinding.\n";
        return Some((StatusCode::FORBIDDEN, why));
    }
    if request.method() == Method::POST && request.uri().path().starts_with(ANSWER) {
        // Browsers name the page that sends it.
        let origin = request.headers().get(ORIGIN);
        let is_own = |origin: &HeaderValue| {
            let host = origin.to_str().ok()?.strip_prefix("http://");
            Some(host? == host_of(request)?)
        };
        let is_foreign = origin.is_some_and(|origin| is_own(origin) != Some(true));
        let why = "Answers are taken from this page only.\n";
        return is_foreign.then_some((StatusCode::FORBIDDEN, why));
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return Some((StatusCode::METHOD_NOT_ALLOWED, "This page is read only.\n"));
    }
    match request.uri().path() {
        "/" | "/events" => None,
        _ => Some((StatusCode::NOT_FOUND, "There is only the page /.\n")),
    }
}

/// What a client of `/events` asks for. `run` is this server's part of event ids.
pub(super) fn wanted<B>(request: &Request<B>, run: u32) -> WantedEvents {
    let query = request.uri().query().unwrap_or_default();
    let has = |name| query.split('&').any(|part| part == name);
    let from = query.split('&').find_map(|part| part.strip_prefix("from="));
    // The header is newer: a browser that reconnects repeats the address.
    let seen = request.headers().get(LAST_EVENT);
    let seen = seen.and_then(|id| id.to_str().ok()).or(from);
    WantedEvents {
        from: seen.and_then(|id| position_of(id, run)),
        stage: has("stage"),
    }
}

fn headers(kind: &'static str) -> HeaderMap {
    let fixed = [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (SAME_ORIGIN, "same-origin"),
    ];
    let headers = fixed.map(|(name, value)| (name, HeaderValue::from_static(value)));
    headers.into_iter().collect()
}

fn whole(status: StatusCode, kind: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(Bytes::from(text))));
    *response.status_mut() = status;
    *response.headers_mut() = headers(kind);
    response
}

/// `is_framed`: some origin may frame it; the policy says which.
pub(super) fn page([page, policy]: &[String; 2], is_framed: bool) -> Response<Body> {
    let mut response = whole(StatusCode::OK, "text/html; charset=utf-8", page.clone());
    let headers = response.headers_mut();
    // Words and hashes: always a valid header.
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    if is_framed {
        // It cannot name origins, and some browsers apply it beside the policy.
        headers.remove(X_FRAME_OPTIONS);
    }
    // An open page needs only its stream: free this connection.
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

pub(super) fn events(stream: Channel<Bytes>) -> Response<Body> {
    let mut response = Response::new(Either::Right(stream));
    *response.headers_mut() = headers("text/event-stream");
    response
}

/// The question and its answer in the body of a request.
pub(super) fn answered(body: &[u8]) -> Option<(&str, &str)> {
    let text = str::from_utf8(body).ok()?;
    let (question, answer) = text.strip_suffix('\n').unwrap_or(text).split_once('\n')?;
    (!answer.contains('\n')).then_some((question, answer))
}

/// A sentence: why not, or that it was done.
pub(super) fn refusal(status: StatusCode, why: &'static str) -> Response<Body> {
    let mut response = whole(status, "text/plain; charset=utf-8", why.to_owned());
    if status == StatusCode::METHOD_NOT_ALLOWED {
        let allowed = HeaderValue::from_static("GET, HEAD");
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_localhost_are_own_names() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost:4416",
            "LOCALHOST",
            "[::1]:80",
            "[::1]",
            "192.168.1.7:80",
        ] {
            assert!(is_own_name(host), "{host}");
        }
        for host in [
            "",
            ":80",
            "evil.example",
            "127.0.0.1.evil.example:80",
            "localhost.evil.example",
            "a@127.0.0.1",
            "[evil]:80",
        ] {
            assert!(!is_own_name(host), "{host}");
        }
    }

    #[test]
    fn only_the_page_and_its_events_are_served() {
        let ask = |method: &str, path: &str| {
            let request = Request::builder().method(method).uri(path);
            request.header(HOST, "[::1]:1").body(()).unwrap()
        };
        let status = |method: &str, path: &str| {
            let refused = refused(&ask(method, path));
            refused.map_or(200, |(status, _)| status.as_u16())
        };
        for (method, path, expected) in [
            ("GET", "/", 200),
            ("HEAD", "/?x", 200),
            ("GET", "/events?stage", 200),
            ("POST", "/", 405),
            ("POST", "/answer/1", 200),
            ("GET", "/answer/1", 404),
            ("DELETE", "/events", 405),
            ("GET", "/../etc/passwd", 404),
            ("GET", "/events/", 404),
        ] {
            assert_eq!(status(method, path), expected, "{method} {path}");
        }
        for (origin, expected) in [
            ("http://[::1]:1", None),
            ("http://[::1]:2", Some(403)),
            ("https://[::1]:1", Some(403)),
            ("null", Some(403)),
        ] {
            let request = Request::builder().method("POST").uri("/answer/1");
            let request = request.header(HOST, "[::1]:1").header(ORIGIN, origin);
            let refused = refused(&request.body(()).unwrap());
            let status = refused.map(|(status, _)| status.as_u16());
            assert_eq!(status, expected, "{origin}");
        }
        let nameless = Request::builder().uri("/").body(()).unwrap();
        assert_eq!(refused(&nameless).unwrap().0, StatusCode::FORBIDDEN);
        let events = |path| {
            let wanted = wanted(&ask("GET", path), 7);
            (wanted.from, wanted.stage)
        };
        assert_eq!(events("/events"), (None, false));
        assert_eq!(events("/events?stage"), (None, true));
        assert_eq!(events("/events?from=8-1"), (None, false));
        assert_eq!(events("/events?from=7-1&stage"), (Some(1), true));
    }
}
