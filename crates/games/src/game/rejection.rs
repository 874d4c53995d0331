//! Why an answer of a bot is not a turn.

use std::fmt;

use super::IllegalReason;

/// Why an answer is not a line of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Malformed {
    Empty,
    TooManyWords,
    NotACell,
    NotAColumn,
    NoGift,
    /// What should be a gift is more or less than one character.
    NotAPiece,
    /// A game that is a program says so, for a reason of its own.
    ByProgram,
}

/// Why a well-formed answer is against the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Illegal {
    Move(IllegalReason),
    NoSuchCell,
    NoSuchColumn,
    /// No cell, although a piece is in hand.
    NotPlaced,
    /// No gift, although one is due.
    NotGiven,
    /// A gift, although no piece is left.
    NothingToGive,
    /// The gift is the piece that was to be placed.
    GivenBack,
    NoSuchPiece,
    /// A game that is a program says so, for a reason of its own.
    ByProgram,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RejectionCause {
    Malformed(Malformed),
    Illegal(Illegal),
}

/// Why an answer was rejected. Its texts quote what the bot sent: they are to be escaped before they are shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Rejection {
    pub cause: RejectionCause,
    /// A sentence that says what is wrong, and what was expected.
    pub problem: String,
    /// What the bot's author is likely to have got wrong.
    pub hint: Option<String>,
}

impl Rejection {
    pub fn malformed(cause: Malformed, problem: impl Into<String>) -> Self {
        Self {
            cause: RejectionCause::Malformed(cause),
            problem: problem.into(),
            hint: None,
        }
    }

    pub fn illegal(cause: Illegal, problem: impl Into<String>) -> Self {
        Self {
            cause: RejectionCause::Illegal(cause),
            problem: problem.into(),
            hint: None,
        }
    }
}

impl From<IllegalReason> for Rejection {
    fn from(reason: IllegalReason) -> Self {
        Self::illegal(Illegal::Move(reason), reason.to_string())
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)?;
        match &self.hint {
            Some(hint) => write!(f, "; hint: {hint}"),
            None => Ok(()),
        }
    }
}
