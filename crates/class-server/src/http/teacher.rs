//! What the teacher sees and decides.

use std::sync::Arc;

use axum::Form;
use axum::extract::rejection::FormRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;

use super::answer::{self, Reader, Refusal};
use super::{Answer, Desked, answered, files as downloads, session};
use crate::desk::{Decision, Desk};
use crate::limits;
use crate::links::StudentLink;
use crate::pages;
use referee_class::league::switch::Switch;
use referee_class::league::zone::UnknownDeadline;
use referee_text::{cut, escape_controls};
use referee_tournament::plan::Format;

pub(super) async fn page(State(shared): Desked, headers: HeaderMap) -> Response {
    let page = || -> Answer {
        session::teacher(&shared.desk, &headers)?;
        Ok(answer::html(
            StatusCode::OK,
            pages::teacher::whole(&shared.desk),
        ))
    };
    answered(&headers, page())
}

fn link_of(desk: &Desk, headers: &HeaderMap, key: &str) -> Result<StudentLink, Refusal> {
    session::teacher(desk, headers)?;
    let link = desk.links().student(key).cloned();
    link.ok_or_else(|| Refusal::missing("student"))
}

pub(super) async fn student(
    State(shared): Desked,
    headers: HeaderMap,
    Path(key): Path<String>,
) -> Response {
    let page = || -> Answer {
        let link = link_of(&shared.desk, &headers, &key)?;
        let page = pages::teacher::of_student(&shared.desk, &link);
        Ok(answer::html(StatusCode::OK, page))
    };
    answered(&headers, page())
}

pub(super) async fn files(
    State(shared): Desked,
    headers: HeaderMap,
    Path((key, number)): Path<(String, u32)>,
) -> Response {
    let answer = match link_of(&shared.desk, &headers, &key) {
        Ok(link) => downloads::of_submission(&shared.desk, None, &link.key, number).await,
        Err(refusal) => Err(refusal),
    };
    answered(&headers, answer)
}

pub(super) async fn renew(
    State(shared): Desked,
    headers: HeaderMap,
    Path(key): Path<String>,
) -> Response {
    let renew = || -> Answer {
        let link = link_of(&shared.desk, &headers, &key)?;
        let token = shared
            .desk
            .renew(&key)?
            .ok_or_else(|| Refusal::missing("student"))?;
        let url = token.address(&shared.desk.reach.base);
        let sentence = format!("The link of {}, which is shown this once: {url}", link.name);
        Ok(answer::html(
            StatusCode::OK,
            pages::teacher::told("A new link", &sentence),
        ))
    };
    answered(&headers, renew())
}

pub(super) async fn students_csv(State(shared): Desked, headers: HeaderMap) -> Response {
    of_term(
        &shared.desk,
        &headers,
        "students.csv",
        "text/csv; charset=utf-8",
    )
    .await
}

pub(super) async fn games(State(shared): Desked, headers: HeaderMap) -> Response {
    of_term(&shared.desk, &headers, "games.jsonl", "application/jsonl").await
}

async fn of_term(
    desk: &Arc<Desk>,
    headers: &HeaderMap,
    file: &'static str,
    kind: &'static str,
) -> Response {
    let answer = match session::teacher(desk, headers) {
        Ok(()) => downloads::of_term(desk, file, kind).await,
        Err(refusal) => Err(refusal),
    };
    answered(headers, answer)
}

pub(super) async fn all_submissions(State(shared): Desked, headers: HeaderMap) -> Response {
    let all = session::teacher(&shared.desk, &headers);
    answered(&headers, all.and_then(|()| downloads::of_all(&shared.desk)))
}

#[derive(Deserialize)]
pub(super) struct DecisionForm {
    action: String,
    #[serde(default)]
    of: String,
    #[serde(default)]
    why: String,
    #[serde(default)]
    deadline: String,
    format: Option<Format>,
    #[serde(default)]
    pairs: String,
}

impl DecisionForm {
    fn why(&self) -> String {
        match self.why.trim() {
            "" => "by the teacher".to_owned(),
            why => cut(&escape_controls(why), limits::WHY_CHARS),
        }
    }

    fn decision(&self) -> Result<Decision, Refusal> {
        let refused = |sentence: &str| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, sentence);
        let of = self.of.trim().to_owned();
        let needs_of = ["withdraw", "restore", "replay"].contains(&&*self.action);
        if needs_of && of.is_empty() {
            return Err(refused("say of which bot, or of which game"));
        }
        Ok(match &*self.action {
            "withdraw" => Decision::Withdraw {
                bot: of,
                why: self.why(),
            },
            "restore" => Decision::Restore {
                bot: of,
                why: self.why(),
            },
            "replay" => Decision::ReplayGame {
                id: of,
                why: self.why(),
            },
            "deadline" => {
                let deadline = self.deadline.trim().parse();
                let deadline =
                    deadline.map_err(|error: UnknownDeadline| refused(&error.to_string()));
                Decision::Deadline(deadline?)
            }
            "freeze" => Decision::Turn(Switch::Frozen, true),
            "thaw" => Decision::Turn(Switch::Frozen, false),
            "announce" => Decision::AnnounceFinal {
                format: self.format.unwrap_or(Format::RoundRobin),
                pairs: match self.pairs.trim() {
                    "" => None,
                    pairs => {
                        let pairs = pairs
                            .parse()
                            .ok()
                            .filter(|pairs| (1..=1000).contains(pairs));
                        let expected = || refused("expected a number of pairs from 1 to 1000");
                        Some(pairs.ok_or_else(expected)?)
                    }
                },
            },
            "play" => Decision::PlayFinal,
            "open-tables" => Decision::Turn(Switch::OpenTables, true),
            "close-tables" => Decision::Turn(Switch::OpenTables, false),
            _ => return Err(refused("there is no such decision")),
        })
    }
}

pub(super) async fn decide(
    State(shared): Desked,
    headers: HeaderMap,
    form: Result<Form<DecisionForm>, FormRejection>,
) -> Response {
    let decide = || async {
        session::teacher(&shared.desk, &headers)?;
        let Form(form) = form.map_err(|error| Refusal::new(error.status(), error.body_text()))?;
        let decided = shared.desk.decide(form.decision()?).await;
        let decided = decided.ok_or_else(Refusal::failed)?;
        let done =
            decided.map_err(|sentence| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, sentence))?;
        Ok(match Reader::of(&headers) {
            Reader::Person => answer::redirect("/class"),
            Reader::Script | Reader::Any => answer::data(StatusCode::OK, &json!({ "done": done })),
        })
    };
    answered(&headers, decide().await)
}
