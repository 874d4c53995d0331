//! What every request has to keep before it is looked at: its host, and the page that sends it.

use std::time::Instant;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::Shared;
use super::answer::{Reader, Refusal, protect};
use crate::desk::Reach;
use referee_server::is_own_name;

/// The longest path that is looked at.
const PATH_BYTES: usize = 1024;

/// Whether requests for this host are this server's: a website that points its name at this machine (DNS rebinding) sends
/// that name.
fn is_host(reach: &Reach, host: &str) -> bool {
    if reach.proxy.is_some() {
        let own = reach.base.split_once("://").map(|(_, own)| own);
        return own.is_some_and(|own| own.eq_ignore_ascii_case(host));
    }
    is_own_name(host)
}

/// Browsers name the page that sends a form.
fn is_foreign(reach: &Reach, headers: &HeaderMap, host: &str) -> bool {
    if let Some(site) = headers.get("sec-fetch-site")
        && !["same-origin", "none"].iter().any(|own| site == own)
    {
        return true;
    }
    let Some(origin) = headers.get(ORIGIN) else {
        return false;
    };
    let own = if reach.proxy.is_some() {
        reach.base.clone()
    } else {
        format!("http://{host}")
    };
    !origin.as_bytes().eq_ignore_ascii_case(own.as_bytes())
}

fn refused(reach: &Reach, request: &Request<Body>) -> Option<Refusal> {
    let headers = request.headers();
    let mut hosts = headers.get_all(HOST).into_iter();
    let host = hosts.next().and_then(|host| host.to_str().ok());
    let Some(host) = host.filter(|host| hosts.next().is_none() && is_host(reach, host)) else {
        let fix = if reach.proxy.is_some() {
            format!("use {}", reach.base)
        } else {
            "use an IP address or localhost, with the port".to_owned()
        };
        let why = format!("{fix}: other names are refused to protect against DNS rebinding");
        return Some(Refusal::new(StatusCode::FORBIDDEN, why));
    };
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    if !is_read && is_foreign(reach, headers, host) {
        let why = "this was sent by another site's page; use this server's own";
        return Some(Refusal::new(StatusCode::FORBIDDEN, why));
    }
    if request.uri().path().len() > PATH_BYTES {
        return Some(Refusal::new(
            StatusCode::URI_TOO_LONG,
            "the address is too long",
        ));
    }
    None
}

/// Of the log: without the secret of a link, or of a person at a table.
fn logged(path: &str) -> &str {
    if path.starts_with("/in/") {
        "/in/…"
    } else if path.starts_with("/tables/") && path.contains("/answer/") {
        "/tables/…/answer/…"
    } else {
        path
    }
}

pub(super) async fn guard(
    State(shared): State<Shared>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let reader = Reader::of(request.headers());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = match refused(&shared.desk.reach, &request) {
        Some(refusal) => refusal.answer(reader),
        None => next.run(request).await,
    };
    protect(&mut response);
    tracing::info!(
        target: crate::LOG,
        %method,
        path = logged(&path),
        status = response.status().as_u16(),
        ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        "answered"
    );
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee_server::Proxy;

    fn reach(has_proxy: bool) -> Reach {
        let base = if has_proxy {
            "https://class.example.org"
        } else {
            "http://127.0.0.1:8000"
        };
        Reach {
            base: base.to_owned(),
            proxy: has_proxy.then_some(Proxy::OnThisMachine),
        }
    }

    fn request(method: &str, headers: &[(&str, &str)]) -> Request<Body> {
        let mut request = Request::builder().method(method).uri("/submissions");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::empty()).unwrap()
    }

    #[test]
    fn other_hosts_and_pages_of_other_sites_are_refused() {
        let own = ("host", "127.0.0.1:8000");
        for (is_proxy, method, headers, is_refused) in [
            (false, "GET", &[own][..], false),
            (false, "GET", &[("host", "attacker.example")], true),
            (false, "GET", &[], true),
            (false, "GET", &[own, own], true),
            (
                false,
                "GET",
                &[own, ("origin", "http://attacker.example")],
                false,
            ),
            (false, "POST", &[own], false),
            (
                false,
                "POST",
                &[own, ("origin", "http://127.0.0.1:8000")],
                false,
            ),
            (
                false,
                "POST",
                &[own, ("origin", "http://127.0.0.1:9")],
                true,
            ),
            (false, "POST", &[own, ("origin", "null")], true),
            (
                false,
                "POST",
                &[own, ("sec-fetch-site", "cross-site")],
                true,
            ),
            (false, "POST", &[own, ("sec-fetch-site", "same-site")], true),
            (
                false,
                "POST",
                &[own, ("sec-fetch-site", "same-origin")],
                false,
            ),
            (true, "GET", &[own], true),
            (true, "GET", &[("host", "class.example.org")], false),
            (
                true,
                "POST",
                &[
                    ("host", "class.example.org"),
                    ("origin", "https://class.example.org"),
                ],
                false,
            ),
            (
                true,
                "POST",
                &[
                    ("host", "class.example.org"),
                    ("origin", "http://class.example.org"),
                ],
                true,
            ),
        ] {
            let found = refused(&reach(is_proxy), &request(method, headers));
            assert_eq!(found.is_some(), is_refused, "{method} {headers:?}");
        }
    }

    #[test]
    fn no_secret_is_logged() {
        assert_eq!(logged("/in/0123456789abcdef"), "/in/…");
        assert_eq!(logged("/me"), "/me");
    }
}
