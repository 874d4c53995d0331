//! What is said between the referee and a game's program: one line of JSON each way (protocol-games.md).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure::Expected;
use crate::protocol::ForfeitReason;
use referee_games::game::{Illegal, Malformed, Outcome, Picture, Rejection, Side};

pub const VERSION: u32 = 1;

/// The longest answer of the program, with its newline.
pub const MOST_BYTES: usize = 256 * 1024;

const MOST_STATE: usize = 4096;

/// Of a request to a bot. A bot's answer has at most [`crate::protocol::MAX_LINE_BYTES`].
const MOST_REQUEST: usize = 4096;

/// Of a turn, of a sentence, and of a text in a drawing.
pub(super) const MOST_TEXT: usize = 512;

/// Legal answers, winning lines, and cells of a drawing.
pub(super) const MOST_ITEMS: usize = 4096;

/// Every answer follows from the question alone.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(super) enum Question<'a> {
    About {
        version: u32,
    },
    Start {
        options: &'a BTreeMap<String, String>,
        seed: u32,
    },
    Position {
        state: &'a str,
    },
    /// The position after an answer of the side to move.
    Play {
        state: &'a str,
        answer: &'a str,
    },
    Answers {
        state: &'a str,
    },
    /// What people see; with a side, what may be shown to a person who plays it.
    Drawing {
        state: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        side: Option<usize>,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// In records and in a bot's environment.
    pub name: String,
    /// The rules in short, for people.
    #[serde(default)]
    pub about: String,
    /// Otherwise the bot named first moves first.
    #[serde(default)]
    pub first_drawn: bool,
    /// Whether the start of a game depends on the seed.
    #[serde(default)]
    pub chance: bool,
    #[serde(default)]
    pub answers: bool,
    #[serde(default)]
    pub drawing: bool,
    /// Whether it draws what one side may see.
    #[serde(default)]
    pub hidden: bool,
}

impl About {
    pub(super) fn check(&self) -> Result<(), Expected> {
        let is_letter = |symbol: char| symbol.is_ascii_lowercase() || symbol.is_ascii_digit();
        let words_fit = self
            .name
            .split('-')
            .all(|word| !word.is_empty() && word.chars().all(is_letter));
        if !words_fit || self.name.len() > 40 {
            return Err(
                "a \"name\" of small letters, digits and hyphens, such as \"tic-tac-toe\"".into(),
            );
        }
        let is_reason = ForfeitReason::ALL
            .iter()
            .any(|reason| reason.name() == self.name);
        if is_reason || self.name == "draw" {
            return Err(format!(
                "a \"name\" other than {:?}, which is how records name another end of a game",
                self.name
            )
            .into());
        }
        if self.hidden && !self.drawing {
            return Err(
                "\"hidden\" only with \"drawing\", which it then asks for each side".into(),
            );
        }
        check_text("about", &self.about, MOST_REQUEST)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    /// The position can be made again from it.
    pub(super) state: String,
    /// Meaningless when the game is over.
    pub(super) side: Side,
    /// What that side's bot is sent.
    pub(super) request: String,
    pub(super) end: Option<End>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) outcome: Outcome,
    /// The lines that decided it, and the points.
    pub(super) lines: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Played {
    pub(super) position: Position,
    /// In canonical form.
    pub(super) turn: String,
    /// Such as `takes 2 from heap 1`.
    pub(super) words: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PositionReply {
    state: Option<String>,
    side: Option<u8>,
    request: Option<String>,
    over: Option<OverReply>,
    turn: Option<String>,
    words: Option<String>,
    malformed: Option<String>,
    illegal: Option<String>,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OverReply {
    /// `null` for a draw. It must be there.
    #[serde(deserialize_with = "Option::deserialize")]
    winner: Option<u8>,
    points: Option<[f64; 2]>,
    #[serde(default)]
    lines: Vec<(String, String)>,
}

/// An answer that is refused is malformed, or illegal; options or a state that are not those of a game are malformed.
pub(super) type ProgramVerdict = Result<Played, Rejection>;

impl PositionReply {
    /// `answer` is the bot's line that was judged.
    pub(super) fn verdict(mut self, answer: Option<&str>) -> Result<ProgramVerdict, Expected> {
        if let Some(rejection) = self.rejection(answer.is_some())? {
            return Ok(Err(rejection));
        }
        let state = self.state.ok_or("a \"state\"")?;
        check_text("state", &state, MOST_STATE)?;
        if state.trim() != state || state.is_empty() {
            return Err("a \"state\" that is not empty, without spaces around it".into());
        }
        let turn = match (self.turn, answer) {
            (Some(_), None) => return Err("a \"turn\" only in answer to \"play\"".into()),
            (turn, answer) => turn.unwrap_or_else(|| canonical(answer.unwrap_or_default())),
        };
        check_text("turn", &turn, MOST_TEXT)?;
        let words = self.words.unwrap_or_default();
        check_text("words", &words, MOST_TEXT)?;
        let mut position = Position {
            state,
            ..Position::default()
        };
        if let Some(over) = self.over {
            if self.request.is_some() {
                return Err("no \"request\" when the game is over".into());
            }
            position.end = Some(over.end()?);
        } else {
            let to_move = side(self.side);
            position.side = to_move.ok_or("a \"side\", 0 or 1: who is to move; or \"over\"")?;
            let request = self.request;
            position.request = request.ok_or("a \"request\": what the bot to move is sent")?;
            check_text("request", &position.request, MOST_REQUEST)?;
            if position.request.is_empty() {
                return Err("a \"request\" that is not empty".into());
            }
        }
        Ok(Ok(Played {
            position,
            turn,
            words,
        }))
    }
}

impl PositionReply {
    /// Why there is no position; what may be said depends on whether an answer was judged.
    fn rejection(&mut self, is_of_answer: bool) -> Result<Option<Rejection>, Expected> {
        let refusals = [
            ("malformed", self.malformed.take(), is_of_answer),
            ("illegal", self.illegal.take(), is_of_answer),
            ("error", self.error.take(), !is_of_answer),
        ];
        for (name, text, is_possible) in refusals {
            let Some(text) = text else { continue };
            if !is_possible {
                return Err(if is_of_answer {
                    "a position, \"malformed\" or \"illegal\"".into()
                } else {
                    "a position or \"error\"".into()
                });
            }
            if self.state.is_some() {
                return Err(format!("either {name:?} or a \"state\", not both").into());
            }
            check_text(name, &text, MOST_TEXT)?;
            if text.trim().is_empty() {
                return Err(format!(
                    "a sentence in {name:?}: what is wrong, and what was expected"
                )
                .into());
            }
            return Ok(Some(match name {
                "illegal" => Rejection::illegal(Illegal::ByProgram, text),
                _ => Rejection::malformed(Malformed::ByProgram, text),
            }));
        }
        Ok(None)
    }
}

impl OverReply {
    fn end(self) -> Result<End, Expected> {
        let outcome = match self.winner {
            None => Outcome::Draw,
            winner => Outcome::Win(side(winner).ok_or("a \"winner\" that is 0, 1 or null")?),
        };
        if self.lines.len() > MOST_ITEMS {
            return Err(format!("at most {MOST_ITEMS} \"lines\"").into());
        }
        let mut lines = self.lines;
        for text in lines.iter().flat_map(|(name, property)| [name, property]) {
            check_text("lines", text, MOST_TEXT)?;
        }
        if let Some([first, second]) = self.points {
            let (winner, loser) = match outcome {
                Outcome::Win(Side::Second) => (second, first),
                Outcome::Win(Side::First) | Outcome::Draw => (first, second),
            };
            // JSON has no numbers that are not finite.
            match (outcome, winner.partial_cmp(&loser)) {
                (Outcome::Win(_), Some(Ordering::Greater))
                | (Outcome::Draw, Some(Ordering::Equal)) => {}
                (Outcome::Win(_), _) => {
                    return Err("more \"points\" for the winner than for the loser".into());
                }
                (Outcome::Draw, _) => return Err("equal \"points\" in a draw".into()),
            }
            lines.push(("points".to_owned(), format!("{winner} to {loser}")));
        }
        Ok(End { outcome, lines })
    }
}

fn side(index: Option<u8>) -> Option<Side> {
    Side::BOTH.get(usize::from(index?)).copied()
}

/// The answer with single spaces between its words.
fn canonical(answer: &str) -> String {
    answer
        .split_ascii_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswersReply {
    answers: Vec<String>,
}

impl AnswersReply {
    pub(super) fn answers(self) -> Result<Vec<String>, Expected> {
        if self.answers.len() > MOST_ITEMS {
            return Err(format!("at most {MOST_ITEMS} \"answers\"").into());
        }
        for answer in &self.answers {
            check_text("answers", answer, MOST_TEXT)?;
            if answer.trim() != answer || answer.is_empty() {
                return Err("\"answers\" that are not empty, without spaces around them".into());
            }
        }
        Ok(self.answers)
    }
}

/// Requires one line of bounded size.
pub(super) fn check_text(name: &str, text: &str, most: usize) -> Result<(), Expected> {
    if text.len() > most {
        return Err(format!("at most {most} bytes in {name:?}, which has {}", text.len()).into());
    }
    if text.chars().any(char::is_control) {
        return Err(format!("no control characters in {name:?}").into());
    }
    Ok(())
}

/// The answer to [`Question::Drawing`], of whatever types, so that a field of a wrong type is named.
pub(super) type DrawingReply = serde_json::Map<String, Value>;

/// Takes it out; empty where it is missing or `null`.
fn field<T: DeserializeOwned + Default>(
    reply: &mut DrawingReply,
    name: &str,
    expected: &str,
) -> Result<T, Expected> {
    let value = reply.remove(name).filter(|value| !value.is_null());
    let read = value.map(serde_json::from_value).transpose();
    let read = read.map_err(|_| Expected::from(format!("{expected} in {name:?}")))?;
    Ok(read.unwrap_or_default())
}

pub(super) fn picture(mut reply: DrawingReply) -> Result<Picture, Expected> {
    const TEXTS: &str = "a list of texts";
    const CELLS: &str = "a list of [row, column], from 0";
    let picture = Picture {
        cells: field(&mut reply, "cells", "a list of rows, each a list of texts")?,
        columns: field(&mut reply, "columns", TEXTS)?,
        rows: field(&mut reply, "rows", TEXTS)?,
        last: field(&mut reply, "last", "[row, column], from 0")?,
        winning: field(&mut reply, "winning", CELLS)?,
        text: field(&mut reply, "text", TEXTS)?,
        svg: field(&mut reply, "svg", "a text")?,
        ..Picture::default()
    };
    if let Some(name) = reply.keys().next() {
        return Err(format!("no field {name:?}").into());
    }
    let width = picture.cells.first().map_or(0, Vec::len);
    if picture.cells.iter().any(|row| row.len() != width) {
        return Err("\"cells\" with rows of the same length".into());
    }
    if picture.cells.len() * width > MOST_ITEMS || picture.text.len() > MOST_ITEMS {
        return Err(format!("a drawing of at most {MOST_ITEMS} cells and lines").into());
    }
    let cells = picture.cells.iter().map(|row| ("cells", row));
    let named = [
        ("columns", &picture.columns),
        ("rows", &picture.rows),
        ("text", &picture.text),
    ];
    for (name, texts) in cells.chain(named) {
        texts
            .iter()
            .try_for_each(|text| check_text(name, text, MOST_TEXT))?;
    }
    let is_cell = |&(row, column): &(usize, usize)| row < picture.cells.len() && column < width;
    if !picture.last.iter().chain(&picture.winning).all(is_cell) {
        return Err("\"last\" and \"winning\" to be [row, column] of \"cells\", from 0".into());
    }
    Ok(picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(json: &str, answer: Option<&str>) -> Result<ProgramVerdict, String> {
        let reply: PositionReply = serde_json::from_str(json).map_err(|error| error.to_string())?;
        reply
            .verdict(answer)
            .map_err(|expected| expected.to_string())
    }

    #[test]
    fn a_position_needs_a_state_and_a_request_or_an_end() {
        let whole = r#"{"state":"3","side":1,"request":"heap 3"}"#;
        let Ok(Ok(played)) = verdict(whole, None) else {
            panic!("a position");
        };
        assert_eq!(played.position.side, Side::Second);
        assert_eq!(played.position.request, "heap 3");
        for (json, expected) in [
            (r#"{"side":1,"request":"x"}"#, "\"state\""),
            (r#"{"state":"3","request":"x"}"#, "\"side\""),
            (r#"{"state":"3","side":2,"request":"x"}"#, "\"side\""),
            (r#"{"state":"3","side":1}"#, "\"request\""),
            (r#"{"state":"3\n","side":1,"request":"x"}"#, "control"),
            (
                r#"{"state":"3","side":1,"request":"x","turn":"1"}"#,
                "\"play\"",
            ),
            (r#"{"state":"3","over":{"winner":2}}"#, "\"winner\""),
            (r#"{"state":"3","over":{}}"#, "winner"),
            (
                r#"{"state":"3","over":{"winner":null},"request":"x"}"#,
                "over",
            ),
            (
                r#"{"state":"3","over":{"winner":0,"points":[1,2]}}"#,
                "points",
            ),
            (r#"{"illegal":"no"}"#, "\"error\""),
            (r#"{"stat":"3"}"#, "stat"),
        ] {
            let problem = verdict(json, None).expect_err(json);
            assert!(problem.contains(expected), "{json}: {problem}");
        }
    }

    #[test]
    fn an_answer_is_judged() {
        let text = |json| match verdict(json, Some("take  2")) {
            Ok(Ok(played)) => {
                format!("{} -> {}", played.turn, played.position.state)
            }
            Ok(Err(rejection)) => format!("{:?}: {rejection}", rejection.cause),
            Err(problem) => problem,
        };
        assert_eq!(
            text(r#"{"state":"1","side":0,"request":"1"}"#),
            "take 2 -> 1"
        );
        assert_eq!(
            text(r#"{"state":"1","side":0,"request":"1","turn":"2"}"#),
            "2 -> 1"
        );
        assert_eq!(
            text(r#"{"illegal":"there are 1"}"#),
            "Illegal(ByProgram): there are 1"
        );
        assert!(text(r#"{"error":"x"}"#).contains("malformed"));
        assert!(text(r#"{"illegal":" "}"#).contains("a sentence"));
        let end = r#"{"state":"0","over":{"winner":1,"points":[2,3.5],"lines":[["row","1"]]}}"#;
        let Ok(Ok(played)) = verdict(end, Some("1")) else {
            panic!("a position");
        };
        let end = played.position.end.expect("an end");
        assert_eq!(end.outcome, Outcome::Win(Side::Second));
        assert_eq!(end.lines[1], ("points".to_owned(), "3.5 to 2".to_owned()));
    }

    #[test]
    fn names_are_those_of_no_other_end() {
        let about =
            |name: &str| serde_json::from_value::<About>(serde_json::json!({ "name": name }));
        assert_eq!(
            about("tic-tac-toe").map(|about| about.check().is_ok()).ok(),
            Some(true)
        );
        for name in ["", "Nim", "-", "a--b", "draw", "timeout", "a b", "ü"] {
            assert!(about(name).expect(name).check().is_err(), "{name}");
        }
    }

    #[test]
    fn a_field_of_a_wrong_type_is_named() {
        let problem = |json: &str| {
            picture(serde_json::from_str(json).expect("an object"))
                .expect_err(json)
                .to_string()
        };
        for (json, expected) in [
            (r#"{"last":"a1"}"#, "[row, column], from 0 in \"last\""),
            (r#"{"last":[1,2,3]}"#, "[row, column], from 0 in \"last\""),
            (r#"{"text":"one line"}"#, "a list of texts in \"text\""),
            (r#"{"cells":["X"]}"#, "in \"cells\""),
            (r#"{"colour":1}"#, "no field \"colour\""),
        ] {
            let found = problem(json);
            assert!(
                found.starts_with(expected) || found.contains(expected),
                "{found}"
            );
        }
        let whole = r#"{"last":[1,0],"text":["a"],"svg":null}"#;
        let drawing = serde_json::from_str(whole).expect("a drawing");
        let problem = picture(drawing)
            .expect_err("there are no cells")
            .to_string();
        assert!(problem.contains("of \"cells\""), "{problem}");
    }
}
