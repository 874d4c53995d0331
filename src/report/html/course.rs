//! A tournament's course for the page.
//!
//! Bots are indices in `bots`: name and index on the page (`null` before the first game). A meeting is `[bot, bot,
//! half points, half points, games, first pair, last pair, who advances (0, 1 or -1), why]`.

use serde_json::{Value, json};

use super::NAME_CHARS;
use super::limits::cut;
use crate::arena::course::{BracketPlace, Course, Meeting};
use crate::text::escape_controls;
use crate::tournament::schedule::knockout::DecidedBy;

const fn why(by: DecidedBy) -> &'static str {
    match by {
        DecidedBy::Points => "",
        DecidedBy::WinsAsSecond => "by more wins as the second to move",
        DecidedBy::QuickerWins => "by quicker wins",
        DecidedBy::Seed => "as the better seed",
    }
}

fn meeting(meeting: &Meeting) -> Value {
    let side = meeting.winner.map_or(json!(-1), |(side, _)| json!(side));
    let by = meeting.winner.map_or("", |(_, by)| why(by));
    json!([
        meeting.bots[0],
        meeting.bots[1],
        meeting.half_points[0],
        meeting.half_points[1],
        meeting.games,
        meeting.pairs[0],
        meeting.pairs[1],
        side,
        by
    ])
}

fn place(place: &BracketPlace) -> Value {
    json!({
        "bots": place.bots,
        "bye": place.bye,
        "meeting": place.meeting.as_ref().map(meeting),
    })
}

/// `number`: a bot's index on the page, by name.
pub(super) fn packed(course: &Course, number: impl Fn(&str) -> Option<usize>) -> Value {
    let bots: Vec<Value> = course
        .names
        .iter()
        .map(|name| json!([cut(&escape_controls(name), NAME_CHARS), number(name)]))
        .collect();
    let rounds: Vec<Value> = course
        .rounds
        .iter()
        .map(|round| {
            let meetings: Vec<Value> = round.meetings.iter().map(meeting).collect();
            json!([meetings, round.byes])
        })
        .collect();
    let groups: Vec<Vec<Value>> = course
        .groups
        .iter()
        .map(|table| {
            let places = table.iter();
            let packed = places.map(|at| json!([at.bot, at.half_points, at.games, at.advances]));
            packed.collect()
        })
        .collect();
    let bracket: Vec<Vec<Value>> = course
        .bracket
        .iter()
        .map(|round| round.iter().map(place).collect())
        .collect();
    json!({
        "format": course.format.in_words(),
        "limits": course.limits,
        "pairs": course.pairs,
        "bots": bots,
        "planned": course.rounds_planned,
        "games": course.games_planned,
        "rounds": rounds,
        "groups": groups,
        "bracket": bracket,
        "seeds": course.seeds,
        "champion": course.champion,
        "early": course.early,
        "next": course.next.iter().map(|next| json!([next.bots[0], next.bots[1], next.pairs[0], next.pairs[1]])).collect::<Vec<_>>(),
    })
}
