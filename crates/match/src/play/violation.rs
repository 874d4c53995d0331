//! What is wrong with a recorded game, by the rules.

use std::fmt;

use crate::record::{Reason, TurnText};
use referee_games::game::{Rejection, WinningLines};
use referee_text::{escape_controls, quote};

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{problem}", .turn.map_or_else(String::new, |turn| format!("turn {turn}: ")))]
pub struct Violation {
    /// From 1; `None` when the problem is not about a single turn.
    pub turn: Option<usize>,
    pub problem: ViolationKind,
}

/// What is wrong, and what was expected. Texts are as the record has them; they are escaped where they are shown.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ViolationKind {
    /// The game's sentence.
    #[error("the board at the start: {0}")]
    Start(String),
    #[error("{turns} turns but {times} times; expected one time a turn")]
    Times { turns: usize, times: usize },
    #[error("movers is {}; expected 0 or 1 for each of {turns} turns", quote(.movers.as_bytes()))]
    Movers { movers: String, turns: usize },
    #[error("{} comes after the end of the game", quote(.0.as_bytes()))]
    AfterEnd(TurnText),
    #[error("the record says that the other side made it (movers)")]
    OtherSide,
    #[error("{}: {rejection}", quote(.answer.as_bytes()))]
    Rejected {
        answer: TurnText,
        rejection: Rejection,
    },
    #[error(
        "{} is not in canonical form; expected {}",
        quote(.answer.as_bytes()),
        quote(.canonical.as_bytes())
    )]
    NotCanonical { answer: TurnText, canonical: String },
    /// In milliseconds.
    #[error("its time, {0} ms, is not a duration")]
    Time(f64),
    #[error(transparent)]
    Result(#[from] WrongResult),
}

/// How a result differs from the one that the turns lead to. Bots by name; `None` where there is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongResult {
    #[error("the result is marked as adjudicated, but the game ended by the rules")]
    Adjudicated,
    #[error(
        "the winner is {}; {by} it is {}",
        named(.found.as_deref()),
        named(.expected.as_deref())
    )]
    Winner {
        found: Option<String>,
        expected: Option<String>,
        by: EndedBy,
    },
    #[error("the result's reason is {}; {by} it is `{expected}`", quote(.found.name().as_bytes()))]
    Reason {
        found: Reason,
        expected: Reason,
        by: EndedBy,
    },
    #[error("the winning lines are {}; {by} they are {}", listed(.found), listed(.expected))]
    Lines {
        found: WinningLines,
        expected: WinningLines,
        by: EndedBy,
    },
    #[error("a forfeit by {}, but the game ended {by}", escape_controls(.forfeiter))]
    NoForfeit { forfeiter: String, by: EndedBy },
    #[error(
        "the game is not over after its last turn, but the result's reason is {}; expected a forfeit's",
        quote(.0.name().as_bytes())
    )]
    NotOver(Reason),
    #[error("a forfeit with the winning lines {}; expected none", listed(.0))]
    LinesOfForfeit(WinningLines),
    #[error(
        "a forfeit by {} and a win by {}; {} was to move",
        named(.forfeiter.as_deref()),
        named(.winner.as_deref()),
        escape_controls(.to_move)
    )]
    Forfeit {
        forfeiter: Option<String>,
        winner: Option<String>,
        to_move: String,
    },
}

/// What decided a game that was not forfeited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    Rules,
    /// It was adjudicated, and its value is proven.
    BestPlay,
    /// Its value could not be proven again.
    Adjudication,
}

impl fmt::Display for EndedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rules => "by the rules",
            Self::BestPlay => "by best play",
            Self::Adjudication => "by its adjudication",
        })
    }
}

fn named(bot: Option<&str>) -> String {
    bot.map_or_else(|| "no bot".to_owned(), escape_controls)
}

fn listed(lines: &[(String, String)]) -> String {
    if lines.is_empty() {
        return "none".to_owned();
    }
    let lines: Vec<String> = lines
        .iter()
        .map(|(a, b)| escape_controls(&format!("{a} {b}")))
        .collect();
    lines.join(", ")
}
