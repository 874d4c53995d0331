//! Why a line is not a record: one verdict and one sentence, whichever command reads it.

use std::fmt;

use serde::de::IgnoredAny;
use serde_json::error::Category;

use super::VERSION;
use referee_text::size;

/// The parser recurses as deep as values are nested, so it has a limit.
pub const MAX_DEPTH: usize = 127;

/// In bytes: more than a record of any game, and little enough to be held.
pub const MAX_LINE: usize = 16 << 20;

/// Columns count bytes, from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// The last line of a file has no newline and is not complete: a crash cut it, or it is being written.
    #[error("incomplete last line, left out")]
    Torn,
    #[error("longer than {}; expected one record per line", size(MAX_LINE as u64))]
    TooLong,
    #[error("byte 0x{byte:02x} at column {column} is not UTF-8; expected one record per line")]
    NotUtf8 { byte: u8, column: usize },
    #[error("invalid JSON at column {column}; expected one record per line")]
    NotJson { column: usize },
    #[error("the JSON ends too early, at column {column}; expected one record per line")]
    EndsEarly { column: usize },
    #[error("nested more than {MAX_DEPTH} deep at column {column}; expected one record per line")]
    TooDeep { column: usize },
    #[error("it is {0}; expected one record per line, a JSON object")]
    NotAnObject(JsonKind),
    /// A field is missing, or its value is not what it should be. `problem` is in the parser's words.
    #[error("column {column}: {problem}")]
    Field { problem: String, column: usize },
    #[error("the record has version {0}; this program reads version {VERSION}")]
    Version(u32),
    #[error("both bots have the same name")]
    SameNames,
    /// It is a record, but against the rules, the plan or another file: a sentence.
    #[error("{0}")]
    Content(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    List,
    Text,
    Number,
    Truth,
    Null,
}

impl fmt::Display for JsonKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::List => "a list",
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Truth => "true or false",
            Self::Null => "null",
        })
    }
}

impl JsonKind {
    /// Of valid JSON that begins with `first`; `None` for an object.
    const fn of(first: u8) -> Option<Self> {
        match first {
            b'{' => None,
            b'[' => Some(Self::List),
            b'"' => Some(Self::Text),
            b't' | b'f' => Some(Self::Truth),
            b'n' => Some(Self::Null),
            _ => Some(Self::Number),
        }
    }
}

impl From<String> for LineProblem {
    fn from(problem: String) -> Self {
        Self::Content(problem)
    }
}

impl LineProblem {
    /// Whether the line is not JSON as a whole: one without a newline may then be a part of a record.
    pub const fn may_be_torn(&self) -> bool {
        matches!(
            self,
            Self::NotUtf8 { .. } | Self::NotJson { .. } | Self::EndsEarly { .. }
        )
    }

    /// What is wrong with a line that `error` says is not a record.
    pub(super) fn of(line: &[u8], error: &serde_json::Error) -> Self {
        let text = match str::from_utf8(line) {
            Ok(text) => text,
            Err(error) => {
                let valid = error.valid_up_to();
                return Self::NotUtf8 {
                    byte: line.get(valid).copied().unwrap_or_default(),
                    column: valid + 1,
                };
            }
        };
        // An object with a wrong field may not even be JSON behind it.
        let whole = serde_json::from_str::<IgnoredAny>(text).err();
        let column = whole.as_ref().map_or(usize::MAX, serde_json::Error::column);
        if let Some(column) = too_deep(line).filter(|deep| *deep <= column) {
            return Self::TooDeep { column };
        }
        if let Some(invalid) = whole {
            return match invalid.classify() {
                Category::Eof => Self::EndsEarly { column },
                _ => Self::NotJson { column },
            };
        }
        let first = line.trim_ascii_start().first();
        if let Some(kind) = first.and_then(|&first| JsonKind::of(first)) {
            return Self::NotAnObject(kind);
        }
        let column = error.column();
        if error.is_data() {
            let problem = error.to_string();
            // A record is one line, so the parser's line number says nothing.
            let problem = problem.split(" at line ").next().unwrap_or(&problem);
            return Self::Field {
                problem: problem.to_owned(),
                column,
            };
        }
        // Such as a number that is too large.
        Self::NotJson { column }
    }
}

/// The column of the first bracket that is nested too deep, in a line that is JSON up to there.
fn too_deep(line: &[u8]) -> Option<usize> {
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    for (index, byte) in line.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Some(index + 1);
        }
    }
    None
}
