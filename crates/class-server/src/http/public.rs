//! What needs no link, and what makes one a cookie.

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Form};
use serde::Deserialize;

use super::answer::{self, Refusal};
use super::{Answer, Desked, Shared, answered, converted, of_page, session};
use crate::client::Client;
use crate::desk::Desk;
use crate::limits;
use crate::links::LinkOwner;
use crate::pages;
use crate::token::Token;
use referee_match::bot::naming::is_blank;
use referee_server::LivePage;
use referee_text::escape_controls;

pub(super) async fn front(State(shared): Desked, headers: HeaderMap) -> Response {
    let desk = &shared.desk;
    let is_known = session::visitor(desk, &headers).is_some();
    let is_open = desk.links().is_open() && !is_known;
    answer::html(StatusCode::OK, pages::public::front(desk, is_open))
}

pub(super) async fn games(State(shared): Desked) -> Response {
    converted(shared.live.page())
}

pub(super) async fn live_events(State(shared): Desked, request: Request) -> Response {
    converted(shared.live.events(&request))
}

/// What the page of the final answers, once it has been announced.
fn of_final(
    shared: &Shared,
    headers: &HeaderMap,
    answer: impl FnOnce(&LivePage) -> axum::http::Response<referee_server::Body>,
) -> Response {
    let page = shared.desk.final_page();
    of_page(headers, page.as_deref(), "final yet", answer)
}

pub(super) async fn final_page(State(shared): Desked, headers: HeaderMap) -> Response {
    of_final(&shared, &headers, LivePage::page)
}

pub(super) async fn final_events(State(shared): Desked, request: Request) -> Response {
    let headers = request.headers().clone();
    of_final(&shared, &headers, |live| live.events(&request))
}

pub(super) async fn standings(State(shared): Desked, headers: HeaderMap) -> Response {
    let standings = shared.desk.view().standings_json.clone();
    let found = standings
        .map(|text| answer::content(StatusCode::OK, "application/json", text.to_string()))
        .ok_or_else(|| Refusal::missing("table yet: no games are planned"));
    answered(&headers, found)
}

/// A link is exchanged for a cookie, and a clean address.
pub(super) async fn enter(
    State(shared): Desked,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Response {
    let desk = &shared.desk;
    let token = Token::given(&token);
    if desk.owner(&token).is_none() {
        let sentence =
            "this link is not known, or has been replaced by a new one; ask your teacher";
        return answered(
            &headers,
            Err(Refusal::new(StatusCode::UNAUTHORIZED, sentence)),
        );
    }
    signed_in(desk, &token)
}

fn signed_in(desk: &Desk, token: &Token) -> Response {
    let mut response = answer::redirect("/me");
    answer::set_cookie(&mut response, Some(token.text()), is_secure(desk));
    response
}

fn is_secure(desk: &Desk) -> bool {
    desk.reach.base.starts_with("https://")
}

pub(super) async fn leave(State(shared): Desked) -> Response {
    let mut response = answer::redirect("/");
    answer::set_cookie(&mut response, None, is_secure(&shared.desk));
    response
}

#[derive(Deserialize)]
pub(super) struct Joining {
    #[serde(default)]
    name: String,
    #[serde(default)]
    code: String,
}

pub(super) async fn join(
    State(shared): Desked,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
    form: Result<Form<Joining>, axum::extract::rejection::FormRejection>,
) -> Response {
    let joined = match form {
        Ok(Form(form)) => join_by(&shared.desk, &form, client),
        Err(error) => Err(Refusal::new(error.status(), error.body_text())),
    };
    answered(&headers, joined)
}

fn join_by(desk: &Desk, form: &Joining, client: Client) -> Answer {
    if !desk.links().is_open() {
        let sentence = "this class has a list of students: ask your teacher for your link";
        return Err(Refusal::new(StatusCode::FORBIDDEN, sentence));
    }
    let is_right = desk.try_code(&form.code, client).map_err(|wait| {
        let sentence = "too many wrong codes were tried; try again in a minute";
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, sentence).after(wait)
    })?;
    if !is_right {
        let sentence = "this is not the code of the class";
        return Err(Refusal::new(StatusCode::FORBIDDEN, sentence));
    }
    let name = form.name.trim();
    let is_plain = escape_controls(name) == name && !is_blank(name);
    if !is_plain || name.chars().count() > limits::NAME_CHARS {
        let sentence = format!(
            "a name has 1 to {} letters, digits, spaces or signs",
            limits::NAME_CHARS
        );
        return Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, sentence));
    }
    if desk.links().students().len() >= limits::STUDENTS {
        let sentence = format!("the class is full: it has {} students", limits::STUDENTS);
        return Err(Refusal::new(StatusCode::CONFLICT, sentence));
    }
    let Some(token) = desk.join(name)? else {
        let sentence = "another student has joined by this name; if it was you, open the link that you were shown, else take another name";
        return Err(Refusal::new(StatusCode::CONFLICT, sentence));
    };
    let link = token.address(&desk.reach.base);
    let page = pages::public::joined(&desk.title, &link);
    let mut response = answer::html(StatusCode::OK, page);
    answer::set_cookie(&mut response, Some(token.text()), is_secure(desk));
    Ok(response)
}

/// Whose page `/me` is.
pub(super) fn home(owner: &LinkOwner) -> Option<&'static str> {
    match owner {
        LinkOwner::Teacher => Some("/class"),
        LinkOwner::Student(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::opened_class;

    /// The status that a student is answered with.
    fn joining(desk: &Desk, name: &str, code: &str, client: Client) -> StatusCode {
        let form = Joining {
            name: name.to_owned(),
            code: code.to_owned(),
        };
        let answer = join_by(desk, &form, client);
        answered(&HeaderMap::new(), answer).status()
    }

    #[test]
    fn guessers_keep_no_student_of_another_network_out() {
        let (_folder, desk) = opened_class("green-owl");
        let client = |last: u8| Client([198, 51, 100, last].into());
        for last in 1..=8 {
            let status = || joining(&desk, "Eve", "red-owl", client(last));
            let guesses: Vec<StatusCode> = (0..100).map(|_| status()).collect();
            assert_eq!(guesses[0], StatusCode::FORBIDDEN, "{last}");
            assert_eq!(guesses[99], StatusCode::TOO_MANY_REQUESTS, "{last}");
        }
        // A guesser is not told the code.
        let of_guesser = joining(&desk, "Eve", "green-owl", client(1));
        assert_eq!(of_guesser, StatusCode::TOO_MANY_REQUESTS);
        // A student errs, and then does not.
        let [wrong, right] =
            ["green-owls", "green-owl"].map(|code| joining(&desk, "Anna", code, client(9)));
        assert_eq!([wrong, right], [StatusCode::FORBIDDEN, StatusCode::OK]);
    }
}
