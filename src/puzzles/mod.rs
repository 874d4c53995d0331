//! Positions with a question: what is right there is proven, and a bot's answers can be counted.

pub mod making;

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::game::registry::of_record;
use crate::game::{Game, Side, Turn};
use crate::record::Record;
use crate::record::reader::Reader;
use crate::solver::Value;
use crate::text::{hexadecimal, quote, unreadable};

pub static SHIPPED: [(&str, &str); 2] = [
    ("quarto", include_str!("../../puzzles/quarto.jsonl")),
    (
        "four-in-a-row",
        include_str!("../../puzzles/four-in-a-row.jsonl"),
    ),
];

pub const VERSION: u32 = 1;

/// How much of its hash is the name of a puzzle.
const ID_BYTES: usize = 5;

/// The level of puzzles beyond the deepest `builtin:search`.
pub const HIGHEST_LEVEL: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A win is there: immediately, or by force with more than one turn to choose from.
    TakeTheWin,
    /// No turn wins immediately, and every wrong one lets the opponent win immediately.
    GiveNoWin,
    /// The best is a draw, and a wrong turn loses later.
    HoldTheDraw,
    /// Exactly one turn is right, and it does not win immediately.
    OnlyTurn,
}

impl Kind {
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
    pub kind: Kind,
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
    pub ruleset: Arc<dyn Game>,
}

/// One JSON object a line, each checked against the rules. `path` is named in errors.
pub fn read(path: &Path, input: impl Read) -> Result<Vec<Loaded>, String> {
    let mut reader = Reader::new(path, input);
    let (mut puzzles, mut ids) = (Vec::new(), HashSet::new());
    let failed = |error| unreadable(path, &error);
    while let Some(line) = reader.next_line().map_err(failed)? {
        let wrong = |problem| line.damaged(problem).to_string();
        let loaded = parse(line.bytes()).map_err(wrong)?;
        let id = &loaded.puzzle.id;
        if !ids.insert(id.clone()) {
            let problem = format!("the puzzle {id} is in this file already; leave out one of them");
            return Err(wrong(problem));
        }
        puzzles.push(loaded);
    }
    Ok(puzzles)
}

fn parse(line: &[u8]) -> Result<Loaded, String> {
    let puzzle: Puzzle = serde_json::from_slice(line).map_err(|error| {
        if Record::from_line(line).is_ok() {
            let fix = "make puzzles of it first: referee puzzles make FILE -o PUZZLES";
            return format!("it is a recorded game and no puzzle; {fix}");
        }
        let problem = error.to_string();
        // The column is that of the line, which is named before this sentence.
        let problem = problem.split(" at line ").next().unwrap_or_default();
        format!("it is not a puzzle, as `referee puzzles make` writes it: {problem}")
    })?;
    if puzzle.v != VERSION {
        let v = puzzle.v;
        return Err(format!(
            "it is of version {v}, and this program reads version {VERSION}"
        ));
    }
    let ruleset = of_record(&puzzle.game, &puzzle.rules, puzzle.pieces.as_deref())?;
    let expected = puzzle.id_of_question();
    if puzzle.id != expected {
        let id = quote(puzzle.id.as_bytes());
        return Err(format!(
            "its id is {id}, but that of its position is {expected}"
        ));
    }
    let position = ruleset.read_request(&puzzle.position);
    let position = position.map_err(|problem| format!("its position: {problem}"))?;
    if puzzle.answers.is_empty() {
        return Err("it has no answers".to_owned());
    }
    for answer in &puzzle.answers {
        let played = position.after(answer);
        if played.is_err() || played.is_ok_and(|turn| turn.text != *answer) {
            let answer = quote(answer.as_bytes());
            return Err(format!("its answer {answer} is not a turn there"));
        }
    }
    Ok(Loaded { puzzle, ruleset })
}
