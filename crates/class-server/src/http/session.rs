//! Whose a request is: by the cookie that a link was exchanged for, or by the link's secret as a bearer token.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE as COOKIES};

use super::answer::Refusal;
use crate::desk::Desk;
use crate::links::{LinkOwner, StudentLink};
use crate::token::Token;

pub(super) const COOKIE: &str = "referee";

fn token_of(headers: &HeaderMap) -> Option<Token> {
    let bearer = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    if let Some(token) = bearer.and_then(|value| value.strip_prefix("Bearer ")) {
        return Some(Token::given(token.trim()));
    }
    let cookies = headers.get_all(COOKIES).into_iter();
    let cookies = cookies.filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';'));
    pairs.find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == COOKIE).then(|| Token::given(value))
    })
}

pub(super) fn visitor(desk: &Desk, headers: &HeaderMap) -> Option<LinkOwner> {
    desk.owner(&token_of(headers)?)
}

pub(super) fn owner(desk: &Desk, headers: &HeaderMap) -> Result<LinkOwner, Refusal> {
    visitor(desk, headers).ok_or_else(Refusal::no_link)
}

pub(super) fn student(desk: &Desk, headers: &HeaderMap) -> Result<StudentLink, Refusal> {
    match owner(desk, headers)? {
        LinkOwner::Student(student) => Ok(student),
        LinkOwner::Teacher => Err(Refusal::foreign()),
    }
}

pub(super) fn teacher(desk: &Desk, headers: &HeaderMap) -> Result<(), Refusal> {
    match owner(desk, headers)? {
        LinkOwner::Teacher => Ok(()),
        LinkOwner::Student(_) => Err(Refusal::foreign()),
    }
}
