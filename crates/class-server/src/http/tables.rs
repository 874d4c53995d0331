//! Tables: who asks for one, and their pages, which everybody may see.

use axum::body::Bytes;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Form};
use serde::Deserialize;
use serde_json::json;

use super::answer::{self, Reader, Refusal};
use super::{Answer, Desked, Shared, answered, converted, of_page, public, session};
use crate::client::Client;
use crate::limits;
use crate::pages;
use crate::tables::{NotSeated, TableKind};
use referee_server::LivePage;

#[derive(Deserialize)]
pub(super) struct TableForm {
    /// As the table of the class calls it.
    bot: String,
    kind: TableKind,
}

#[derive(Deserialize)]
pub(super) struct NewTable {
    /// As the table of the class calls it.
    bot: String,
}

/// From a bot's page: its buttons.
pub(super) async fn new(
    State(shared): Desked,
    headers: HeaderMap,
    query: Result<Query<NewTable>, QueryRejection>,
) -> Response {
    let show = || -> Answer {
        let desk = &shared.desk;
        let reader = session::visitor(desk, &headers);
        let Query(wanted) =
            query.map_err(|error| Refusal::new(error.status(), error.body_text()))?;
        let view = desk.view();
        if !view.has_playing(&wanted.bot) {
            return Err(NotSeated::NoBot.into());
        }
        match pages::tables::of_bot(desk, reader.as_ref(), &wanted.bot) {
            Some(page) => Ok(answer::html(StatusCode::OK, page)),
            None if reader.is_none() && !view.has_open_tables => Err(Refusal::no_link()),
            None => Err(NotSeated::NotDrawn.into()),
        }
    };
    answered(&headers, show())
}

pub(super) async fn open(
    State(shared): Desked,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
    form: Result<Form<TableForm>, FormRejection>,
) -> Response {
    let open = || -> Answer {
        let desk = &shared.desk;
        let owner = session::visitor(desk, &headers);
        if owner.is_none() && !desk.view().has_open_tables {
            return Err(Refusal::no_link());
        }
        let Form(form) = form.map_err(|error| Refusal::new(error.status(), error.body_text()))?;
        let table = desk.seat(owner.as_ref(), client, form.kind, &form.bot)?;
        let (number, url) = (table.number, table.path());
        Ok(match Reader::of(&headers) {
            Reader::Person => answer::redirect(&url),
            Reader::Script | Reader::Any => answer::data(
                StatusCode::ACCEPTED,
                &json!({ "table": number, "url": url }),
            ),
        })
    };
    answered(&headers, open())
}

/// By its host, who has asked for it.
pub(super) async fn leave(
    State(shared): Desked,
    headers: HeaderMap,
    Path(number): Path<u32>,
) -> Response {
    let leave = || -> Answer {
        let owner = session::owner(&shared.desk, &headers)?;
        if !shared.desk.leave_table(&owner, number) {
            return Err(Refusal::missing("table of yours"));
        }
        Ok(match Reader::of(&headers) {
            Reader::Person => answer::redirect(public::home(&owner).unwrap_or("/me")),
            Reader::Script | Reader::Any => {
                answer::data(StatusCode::OK, &json!({ "table": number }))
            }
        })
    };
    answered(&headers, leave())
}

/// What is missing where a table's page is no longer kept.
const TABLE: &str = "table any more";

/// What the page of a table answers, while it is kept.
fn of_table(
    shared: &Shared,
    headers: &HeaderMap,
    number: u32,
    answer: impl FnOnce(&LivePage) -> axum::http::Response<referee_server::Body>,
) -> Response {
    let table = shared.desk.table(number);
    let page = table.as_deref().map(|table| &table.page);
    of_page(headers, page, TABLE, answer)
}

pub(super) async fn page(
    State(shared): Desked,
    headers: HeaderMap,
    Path(number): Path<u32>,
) -> Response {
    of_table(&shared, &headers, number, LivePage::page)
}

pub(super) async fn events(
    State(shared): Desked,
    Path(number): Path<u32>,
    request: Request,
) -> Response {
    let headers = request.headers().clone();
    of_table(&shared, &headers, number, |live| live.events(&request))
}

/// Of the person who plays there.
pub(super) async fn answer(
    State(shared): Desked,
    headers: HeaderMap,
    Path((number, secret)): Path<(u32, String)>,
    body: Bytes,
) -> Response {
    let response = match shared.desk.table(number) {
        Some(table) => Ok(converted(table.page.live().answer(&secret, &body).await)),
        None => Err(Refusal::missing(TABLE)),
    };
    answered(&headers, response)
}

impl From<NotSeated> for Refusal {
    fn from(error: NotSeated) -> Self {
        let again = match error {
            NotSeated::Full => Some(limits::IDLE_TABLE),
            NotSeated::TooSoon => Some(limits::TABLE_INTERVAL),
            NotSeated::NoBot
            | NotSeated::NoBotOfYours
            | NotSeated::NoStudent
            | NotSeated::OwnBot
            | NotSeated::NotDrawn => None,
        };
        let sentence = error.to_string();
        match again {
            Some(again) => Self::new(StatusCode::TOO_MANY_REQUESTS, sentence).after(again),
            None => Self::new(StatusCode::UNPROCESSABLE_ENTITY, sentence),
        }
    }
}
