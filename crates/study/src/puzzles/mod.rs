//! Positions with a question: what is right there is proven, and a bot's answers can be counted.

pub mod making;
pub mod scoring;

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use referee_games::game::registry::of_record;
use referee_games::game::{Ruleset, Side, Turn};
use referee_games::solver::Value;
use referee_match::record::Record;
use referee_match::record::reader::{ReadError, Reader};
use referee_text::{hexadecimal, quote};

pub static SHIPPED: [(&str, &str); 2] = [
    ("quarto", include_str!("../../../../puzzles/quarto.jsonl")),
    (
        "four-in-a-row",
        include_str!("../../../../puzzles/four-in-a-row.jsonl"),
    ),
];

pub const VERSION: u32 = 1;

/// How much of its hash is the name of a puzzle.
const ID_BYTES: usize = 5;

/// The level of puzzles beyond the deepest `builtin:search`.
pub const HIGHEST_LEVEL: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PuzzleKind {
    /// A win is there: immediately, or by force with more than one turn to choose from.
    TakeTheWin,
    /// No turn wins immediately, and every wrong one lets the opponent win immediately.
    GiveNoWin,
    /// The best is a draw, and a wrong turn loses later.
    HoldTheDraw,
    /// Exactly one turn is right, and it does not win immediately.
    OnlyTurn,
}

impl PuzzleKind {
    pub const ALL: [Self; 4] = [
        Self::TakeTheWin,
        Self::GiveNoWin,
        Self::HoldTheDraw,
        Self::OnlyTurn,
    ];

    pub const fn words(self) -> &'static str {
        match self {
            Self::TakeTheWin => "take the win",
            Self::GiveNoWin => "give no win",
            Self::HoldTheDraw => "hold the draw",
            Self::OnlyTurn => "find the only turn",
        }
    }

    /// `value` is that of the position for `me`, with every turn and whether it keeps it. `None` where every turn is as
    /// good as any other.
    pub fn of(me: Side, value: Value, turns: &[(Turn, bool)]) -> Option<Self> {
        let right = turns.iter().filter(|(_, keeps)| *keeps).count();
        if value == Value::Loss || right == turns.len() {
            return None;
        }
        let mut wrong = turns.iter().filter(|(_, keeps)| !keeps);
        Some(if turns.iter().any(|(turn, _)| turn.wins(me)) {
            Self::TakeTheWin
        } else if right == 1 {
            Self::OnlyTurn
        } else if wrong.all(|(turn, _)| turn.after.lets_win(me)) {
            Self::GiveNoWin
        } else if value == Value::Win {
            Self::TakeTheWin
        } else {
            Self::HoldTheDraw
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Puzzle {
    pub v: u32,
    pub id: String,
    pub game: String,
    pub rules: String,
    /// CSV, when the set is not the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pieces: Option<String>,
    /// The line that the bot is sent.
    pub position: String,
    pub kind: PuzzleKind,
    /// For the side to move: `win` or `draw`.
    pub value: String,
    /// All turns that keep it, in canonical form.
    pub answers: Vec<String>,
    pub turns: usize,
    pub free: usize,
    /// From 1: how many turns `builtin:search` must look ahead to be sure to answer rightly; 5 where four are not
    /// enough.
    pub level: u32,
    /// Bots that were asked it in the games that it is from.
    pub asked: usize,
    /// How many of them gave a wrong answer.
    pub failed: usize,
}

impl Puzzle {
    /// Depends on what is asked: the same in every file.
    pub fn id_of_question(&self) -> String {
        let mut hash = Sha256::new();
        let pieces = self.pieces.as_deref().unwrap_or_default();
        for part in [&self.game, &self.rules, pieces, &self.position] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let digest = hash.finalize();
        format!("{}-{}", self.game, hexadecimal(&digest[..ID_BYTES]))
    }

    pub fn has_rules_of(&self, other: &Self) -> bool {
        (&self.game, &self.rules, &self.pieces) == (&other.game, &other.rules, &other.pieces)
    }

    /// `turn` is in canonical form.
    pub fn is_right(&self, turn: &str) -> bool {
        self.answers.iter().any(|answer| answer == turn)
    }
}

#[derive(Clone, Debug)]
pub struct Loaded {
    pub puzzle: Puzzle,
    pub ruleset: Arc<dyn Ruleset>,
}

/// Why puzzles cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PuzzleError {
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    #[error("{}:{line}: {problem}", .path.display())]
    Line {
        path: PathBuf,
        /// From 1.
        line: u64,
        problem: PuzzleProblem,
    },
}

/// What is wrong with a line of a file of puzzles.
#[derive(Debug, thiserror::Error)]
pub enum PuzzleProblem {
    #[error(
        "it is a recorded game and no puzzle; make puzzles of it first: `referee puzzles make FILE -o PUZZLES`"
    )]
    Record,
    #[error(
        "it is not a puzzle, as `referee puzzles make FILE -o PUZZLES` writes it: {}", without_place(.0)
    )]
    Json(serde_json::Error),
    #[error("it is of version {0}, and this program reads version {VERSION}")]
    Version(u32),
    /// The registry's sentence: the game, its rules or its pieces are unknown.
    #[error("{0}")]
    Game(String),
    #[error("its id is {}, but that of its position is {expected}", quote(.id.as_bytes()))]
    Id { id: String, expected: String },
    /// The game's sentence about the request.
    #[error("its position: {0}")]
    Position(String),
    #[error("it has no answers")]
    NoAnswers,
    #[error("its answer {} is not a turn there", quote(.0.as_bytes()))]
    Answer(String),
    #[error("the puzzle {0} is in this file already; leave out one of them")]
    Repeated(String),
}

/// The parser's words without the column, which is that of a line that is named before them.
fn without_place(error: &serde_json::Error) -> String {
    let problem = error.to_string();
    let problem = problem.split(" at line ").next().unwrap_or_default();
    problem.to_owned()
}

/// One JSON object a line, each checked against the rules. `path` is named in errors.
pub fn read(path: &Path, input: impl Read) -> Result<Vec<Loaded>, PuzzleError> {
    let mut reader = Reader::new(path, input);
    let (mut puzzles, mut ids) = (Vec::new(), HashSet::new());
    while let Some(line) = reader.next_line()? {
        let wrong = |problem| PuzzleError::Line {
            path: path.to_owned(),
            line: line.number(),
            problem,
        };
        let loaded = parse(line.bytes()).map_err(wrong)?;
        let id = &loaded.puzzle.id;
        if !ids.insert(id.clone()) {
            return Err(wrong(PuzzleProblem::Repeated(id.clone())));
        }
        puzzles.push(loaded);
    }
    Ok(puzzles)
}

fn parse(line: &[u8]) -> Result<Loaded, PuzzleProblem> {
    let puzzle: Puzzle = serde_json::from_slice(line).map_err(|error| {
        if Record::from_line(line).is_ok() {
            PuzzleProblem::Record
        } else {
            PuzzleProblem::Json(error)
        }
    })?;
    if puzzle.v != VERSION {
        return Err(PuzzleProblem::Version(puzzle.v));
    }
    let ruleset = of_record(&puzzle.game, &puzzle.rules, puzzle.pieces.as_deref());
    let ruleset = ruleset.map_err(|unknown| PuzzleProblem::Game(unknown.to_string()))?;
    let expected = puzzle.id_of_question();
    if puzzle.id != expected {
        let id = puzzle.id;
        return Err(PuzzleProblem::Id { id, expected });
    }
    let position = ruleset.read_request(&puzzle.position);
    let position = position.map_err(|error| PuzzleProblem::Position(error.to_string()))?;
    if puzzle.answers.is_empty() {
        return Err(PuzzleProblem::NoAnswers);
    }
    for answer in &puzzle.answers {
        let played = position.after(answer);
        if played.is_err() || played.is_ok_and(|turn| turn.text != *answer) {
            return Err(PuzzleProblem::Answer(answer.clone()));
        }
    }
    Ok(Loaded { puzzle, ruleset })
}
