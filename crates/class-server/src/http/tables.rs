//! Tables: who asks for one, and their pages, which everybody may see.

use axum::Form;
use axum::body::Bytes;
use axum::extract::rejection::FormRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;

use super::answer::{self, Reader, Refusal};
use super::{Answer, Desked, Shared, answered, converted, session};
use crate::limits;
use crate::links::LinkOwner;
use crate::tables::{NotSeated, Table, TableKind};

#[derive(Deserialize)]
pub(super) struct TableForm {
    /// As the table of the class calls it.
    bot: String,
    kind: TableKind,
}

pub(super) async fn open(
    State(shared): Desked,
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
        let table = desk.seat(owner.as_ref(), form.kind, &form.bot)?;
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
            Reader::Person => answer::redirect(match owner {
                LinkOwner::Teacher => "/class",
                LinkOwner::Student(_) => "/me",
            }),
            Reader::Script | Reader::Any => {
                answer::data(StatusCode::OK, &json!({ "table": number }))
            }
        })
    };
    answered(&headers, leave())
}

fn with_table(
    shared: &Shared,
    headers: &HeaderMap,
    number: u32,
    answer: impl FnOnce(&Table) -> axum::http::Response<referee_server::Body>,
) -> Response {
    let table = shared.desk.table(number);
    let table = table.ok_or_else(|| Refusal::missing("table any more"));
    answered(headers, table.map(|table| converted(answer(&table))))
}

pub(super) async fn page(
    State(shared): Desked,
    headers: HeaderMap,
    Path(number): Path<u32>,
) -> Response {
    with_table(&shared, &headers, number, |table| table.page.live().page())
}

pub(super) async fn events(
    State(shared): Desked,
    Path(number): Path<u32>,
    request: Request,
) -> Response {
    let headers = request.headers().clone();
    with_table(&shared, &headers, number, |table| {
        table.page.live().events(&request)
    })
}

/// Of the person who plays there.
pub(super) async fn answer(
    State(shared): Desked,
    headers: HeaderMap,
    Path((number, secret)): Path<(u32, String)>,
    body: Bytes,
) -> Response {
    with_table(&shared, &headers, number, |table| {
        table.page.live().answer(&secret, &body)
    })
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
