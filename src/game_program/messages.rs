//! What is said between the referee and a game's program: one line of JSON each way (protocol-games.md).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::game::{Outcome, Side};
use crate::protocol::ForfeitReason;

/// The version of the protocol.
pub const VERSION: u32 = 1;

/// The most bytes of an answer of the program, with its newline.
pub const MOST_BYTES: usize = 256 * 1024;

/// The most bytes of a state.
const MOST_STATE: usize = 4096;

/// The most bytes of a request to a bot. A bot's answer has at most [`crate::protocol::MAX_LINE_BYTES`].
const MOST_REQUEST: usize = 4096;

/// The most bytes of a turn, of a sentence, and of a text in a drawing.
pub(super) const MOST_TEXT: usize = 512;

/// The most legal answers, winning lines, and cells of a drawing.
pub(super) const MOST_ITEMS: usize = 4096;

/// What the program is asked. Every answer follows from the question alone.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(super) enum Question<'a> {
    /// Who are you?
    About {
        /// [`VERSION`]
        version: u32,
    },
    /// The position at the start of a game.
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
    /// All legal answers.
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

/// The answer to the question `about`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of the answer"
)]
pub struct About {
    /// The game's name in records and in a bot's environment.
    pub name: String,
    /// The rules in short, for people.
    #[serde(default)]
    pub about: String,
    /// Whether the bot that moves first is drawn at random; otherwise it is the first one named.
    #[serde(default)]
    pub first_drawn: bool,
    /// Whether the start of a game depends on the seed.
    #[serde(default)]
    pub chance: bool,
    /// Whether it lists legal answers.
    #[serde(default)]
    pub answers: bool,
    #[serde(default)]
    pub drawing: bool,
    /// Whether it draws what one side may see.
    #[serde(default)]
    pub hidden: bool,
}

impl About {
    /// What is wrong with it, as the end of a sentence that begins with "expected".
    pub(super) fn check(&self) -> Result<(), String> {
        let is_letter = |symbol: char| symbol.is_ascii_lowercase() || symbol.is_ascii_digit();
        let words_fit = self
            .name
            .split('-')
            .all(|word| !word.is_empty() && word.chars().all(is_letter));
        if !words_fit || self.name.len() > 40 {
            return Err(
                "a \"name\" of small letters, digits and hyphens, such as \"tic-tac-toe\""
                    .to_owned(),
            );
        }
        let is_reason = ForfeitReason::ALL
            .iter()
            .any(|reason| reason.name() == self.name);
        if is_reason || self.name == "draw" {
            return Err(format!(
                "a \"name\" other than {:?}, which is how records name another end of a game",
                self.name
            ));
        }
        if self.hidden && !self.drawing {
            return Err(
                "\"hidden\" only with \"drawing\", which it then asks for each side".to_owned(),
            );
        }
        check_text("about", &self.about, MOST_REQUEST)
    }
}

/// A position, as the program describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// From which it can be made again.
    pub(super) state: String,
    /// Who moves; meaningless when the game is over.
    pub(super) side: Side,
    /// What that side's bot is sent.
    pub(super) request: String,
    pub(super) end: Option<End>,
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) outcome: Outcome,
    /// The lines that decided it, and the points.
    pub(super) lines: Vec<(String, String)>,
}

/// A turn that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Played {
    pub(super) position: Position,
    /// In canonical form.
    pub(super) turn: String,
    /// In words, such as `takes 2 from heap 1`.
    pub(super) words: String,
}

/// The answer to [`Question::Start`], [`Question::Position`] and [`Question::Play`].
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
    #[serde(default)]
    points: Option<[f64; 2]>,
    #[serde(default)]
    lines: Vec<(String, String)>,
}

/// What an answer about a position says.
#[derive(Debug)]
pub(super) enum Verdict {
    Position(Box<Played>),
    /// The bot's line is not one of the game's language.
    Malformed(String),
    /// It asks for what the rules forbid.
    Illegal(String),
    /// The options or the state are not those of a game.
    Error(String),
}

impl PositionReply {
    /// Checks the answer. `answer` is the bot's line that was judged. The error is the end of a sentence that begins with
    /// "expected".
    pub(super) fn verdict(self, answer: Option<&str>) -> Result<Verdict, String> {
        let refusals = [
            (
                "malformed",
                self.malformed.map(Verdict::Malformed),
                answer.is_some(),
            ),
            (
                "illegal",
                self.illegal.map(Verdict::Illegal),
                answer.is_some(),
            ),
            ("error", self.error.map(Verdict::Error), answer.is_none()),
        ];
        for (name, refusal, is_possible) in refusals {
            let Some(refusal) = refusal else { continue };
            if !is_possible {
                return Err(match answer {
                    Some(_) => "a position, \"malformed\" or \"illegal\"".to_owned(),
                    None => "a position or \"error\"".to_owned(),
                });
            }
            if self.state.is_some() {
                return Err(format!("either {name:?} or a \"state\", not both"));
            }
            let (Verdict::Malformed(text) | Verdict::Illegal(text) | Verdict::Error(text)) =
                &refusal
            else {
                continue;
            };
            check_text(name, text, MOST_TEXT)?;
            if text.trim().is_empty() {
                return Err(format!(
                    "a sentence in {name:?}: what is wrong, and what was expected"
                ));
            }
            return Ok(refusal);
        }
        let state = self.state.ok_or("a \"state\"")?;
        check_text("state", &state, MOST_STATE)?;
        if state.trim() != state || state.is_empty() {
            return Err("a \"state\" that is not empty, without blanks around it".to_owned());
        }
        let turn = match (self.turn, answer) {
            (Some(_), None) => return Err("a \"turn\" only in answer to \"play\"".to_owned()),
            (turn, answer) => turn.unwrap_or_else(|| canonical(answer.unwrap_or_default())),
        };
        check_text("turn", &turn, MOST_TEXT)?;
        let words = self.words.unwrap_or_default();
        check_text("words", &words, MOST_TEXT)?;
        let position = if let Some(over) = self.over {
            if self.request.is_some() {
                return Err("no \"request\" when the game is over".to_owned());
            }
            Position {
                state,
                side: Side::First,
                request: String::new(),
                end: Some(over.end()?),
            }
        } else {
            let side = side(self.side).ok_or("a \"side\", 0 or 1: who is to move; or \"over\"")?;
            let request = self.request;
            let request = request.ok_or("a \"request\": what the bot to move is sent")?;
            check_text("request", &request, MOST_REQUEST)?;
            if request.is_empty() {
                return Err("a \"request\" that is not empty".to_owned());
            }
            Position {
                state,
                side,
                request,
                end: None,
            }
        };
        Ok(Verdict::Position(Box::new(Played {
            position,
            turn,
            words,
        })))
    }
}

impl OverReply {
    fn end(self) -> Result<End, String> {
        let outcome = match self.winner {
            None => Outcome::Draw,
            winner => Outcome::Win(side(winner).ok_or("a \"winner\" that is 0, 1 or null")?),
        };
        if self.lines.len() > MOST_ITEMS {
            return Err(format!("at most {MOST_ITEMS} \"lines\""));
        }
        let mut lines = self.lines;
        for text in lines.iter().flat_map(|(name, property)| [name, property]) {
            check_text("lines", text, MOST_TEXT)?;
        }
        if let Some([first, second]) = self.points {
            // JSON has no numbers that are not finite.
            let (more, less) = match outcome {
                Outcome::Win(Side::Second) => (second, first),
                Outcome::Win(Side::First) | Outcome::Draw => (first, second),
            };
            match outcome {
                Outcome::Win(_) if more <= less => {
                    return Err("more \"points\" for the winner than for the loser".to_owned());
                }
                Outcome::Draw if more > less || less > more => {
                    return Err("equal \"points\" in a draw".to_owned());
                }
                Outcome::Win(_) | Outcome::Draw => {}
            }
            lines.push(("points".to_owned(), format!("{more} to {less}")));
        }
        Ok(End { outcome, lines })
    }
}

fn side(index: Option<u8>) -> Option<Side> {
    Side::BOTH.get(usize::from(index?)).copied()
}

/// An answer with single blanks between its words.
fn canonical(answer: &str) -> String {
    answer
        .split_ascii_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// The answer to [`Question::Answers`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswersReply {
    answers: Vec<String>,
}

impl AnswersReply {
    /// The error is the end of a sentence that begins with "expected".
    pub(super) fn answers(self) -> Result<Vec<String>, String> {
        if self.answers.len() > MOST_ITEMS {
            return Err(format!("at most {MOST_ITEMS} \"answers\""));
        }
        for answer in &self.answers {
            check_text("answers", answer, MOST_TEXT)?;
            if answer.trim() != answer || answer.is_empty() {
                return Err("\"answers\" that are not empty, without blanks around them".to_owned());
            }
        }
        Ok(self.answers)
    }
}

/// The text of a field: of bounded size, and one line.
pub(super) fn check_text(name: &str, text: &str, most: usize) -> Result<(), String> {
    if text.len() > most {
        return Err(format!(
            "at most {most} bytes in {name:?}, which has {}",
            text.len()
        ));
    }
    if text.chars().any(char::is_control) {
        return Err(format!("no control characters in {name:?}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(json: &str, answer: Option<&str>) -> Result<Verdict, String> {
        let reply: PositionReply = serde_json::from_str(json).map_err(|error| error.to_string())?;
        reply.verdict(answer)
    }

    #[test]
    fn a_position_needs_a_state_and_a_request_or_an_end() {
        let whole = r#"{"state":"3","side":1,"request":"heap 3"}"#;
        let Ok(Verdict::Position(played)) = verdict(whole, None) else {
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
            Ok(Verdict::Position(played)) => {
                format!("{} -> {}", played.turn, played.position.state)
            }
            other => format!("{other:?}"),
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
            "Ok(Illegal(\"there are 1\"))"
        );
        assert!(text(r#"{"error":"x"}"#).contains("malformed"));
        assert!(text(r#"{"illegal":" "}"#).contains("a sentence"));
        let end = r#"{"state":"0","over":{"winner":1,"points":[2,3.5],"lines":[["row","1"]]}}"#;
        let Ok(Verdict::Position(played)) = verdict(end, Some("1")) else {
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
}
