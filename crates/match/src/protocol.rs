//! The frame of requests and answers, one line each way; the game defines their content ([`referee_games::game::Game`]).

use std::fmt;

/// In bytes, without the newline.
pub const MAX_LINE_BYTES: usize = 1024;

/// Names of the environment variables of a bot.
pub mod env {
    pub const GAME: &str = "REFEREE_GAME";
    /// A rule set's name.
    pub const RULES: &str = "REFEREE_RULES";
    /// Path of the piece set's CSV; not set for the built-in one.
    pub const PIECES: &str = "REFEREE_PIECES";
    /// In seconds, decimal.
    pub const MOVE_TIME: &str = "REFEREE_MOVE_TIME";
    /// From 0 to 2³¹ − 1.
    pub const SEED: &str = "REFEREE_SEED";
    /// Tells a built-in bot that requests list the legal answers, in a game that it does not know.
    pub const ANSWERS: &str = "REFEREE_ANSWERS";
    pub const ALL: [&str; 5] = [GAME, RULES, PIECES, MOVE_TIME, SEED];
}

/// A line that is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUtf8;

/// The text of an answer, without a carriage return before the newline and spaces around it.
///
/// ```
/// use referee_match::protocol::answer_text;
///
/// assert_eq!(answer_text(b" 6 A\t\r"), Ok("6 A"));
/// assert!(answer_text(b"\xff").is_err());
/// ```
pub fn answer_text(line: &[u8]) -> Result<&str, NotUtf8> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = std::str::from_utf8(line).map_err(|_| NotUtf8)?;
    Ok(text.trim_matches([' ', '\t']))
}

/// Why a game was forfeited: the words on the result line and in records.
///
/// ```
/// use referee_match::protocol::ForfeitReason;
///
/// assert_eq!(ForfeitReason::IllegalMove.name(), "illegal-move");
/// assert_eq!(ForfeitReason::from_name("timeout"), Some(ForfeitReason::Timeout));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ForfeitReason {
    /// A well-formed answer that the rules forbid.
    IllegalMove,
    /// A line that is not an answer.
    Malformed,
    /// More than the one line that was asked for.
    ExtraOutput,
    /// No answer in time.
    Timeout,
    Exited,
    /// The program runs but closed its input or output.
    Closed,
    LineTooLong,
    /// Bytes that are not UTF-8.
    NotUtf8,
}

impl ForfeitReason {
    pub const ALL: [Self; 8] = [
        Self::IllegalMove,
        Self::Malformed,
        Self::ExtraOutput,
        Self::Timeout,
        Self::Exited,
        Self::Closed,
        Self::LineTooLong,
        Self::NotUtf8,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::IllegalMove => "illegal-move",
            Self::Malformed => "malformed",
            Self::ExtraOutput => "extra-output",
            Self::Timeout => "timeout",
            Self::Exited => "exited",
            Self::Closed => "closed",
            Self::LineTooLong => "line-too-long",
            Self::NotUtf8 => "not-utf8",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

impl fmt::Display for ForfeitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
