//! A puzzle, its kind and its difficulty.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::session::Proof;
use crate::solver::Value;
use crate::text::hexadecimal;

/// Of the format.
pub const VERSION: u32 = 1;

/// How much of its hash is the name of a puzzle.
const ID_BYTES: usize = 5;

/// Of puzzles that are beyond the deepest `builtin:search`.
pub const HIGHEST_LEVEL: u32 = 5;

/// What is asked for.
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
    /// In the order of tables.
    pub const ALL: [Self; 4] = [
        Self::TakeTheWin,
        Self::GiveNoWin,
        Self::HoldTheDraw,
        Self::OnlyTurn,
    ];

    /// In files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TakeTheWin => "take-the-win",
            Self::GiveNoWin => "give-no-win",
            Self::HoldTheDraw => "hold-the-draw",
            Self::OnlyTurn => "only-turn",
        }
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::TakeTheWin => "take the win",
            Self::GiveNoWin => "give no win",
            Self::HoldTheDraw => "hold the draw",
            Self::OnlyTurn => "find the only turn",
        }
    }

    /// `None` where every turn is as good as any other.
    pub fn of(proof: &Proof) -> Option<Self> {
        let right = proof.turns.iter().filter(|turn| turn.keeps).count();
        if proof.value == Value::Loss || right == proof.turns.len() {
            return None;
        }
        let wrong = || proof.turns.iter().filter(|turn| !turn.keeps);
        Some(if proof.turns.iter().any(|turn| turn.facts.wins) {
            Self::TakeTheWin
        } else if right == 1 {
            Self::OnlyTurn
        } else if wrong().all(|turn| turn.facts.lets_win) {
            Self::GiveNoWin
        } else if proof.value == Value::Win {
            Self::TakeTheWin
        } else {
            Self::HoldTheDraw
        })
    }
}

/// A line of a file of puzzles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Puzzle {
    /// Of the format.
    pub v: u32,
    /// Depends on the question alone.
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

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Question {
    pub game: String,
    pub rules: String,
    /// CSV, when the set is not the built-in one.
    pub pieces: Option<String>,
    /// The line that the bot is sent.
    pub position: String,
}

impl Question {
    /// The same in every file.
    pub fn id(&self) -> String {
        let mut hash = Sha256::new();
        let pieces = self.pieces.as_deref().unwrap_or_default();
        for part in [&self.game, &self.rules, pieces, &self.position] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let digest = hash.finalize();
        format!("{}-{}", self.game, hexadecimal(&digest[..ID_BYTES]))
    }

    /// Of those `asked`, so many bots failed; `None` where nothing is asked. `level` is found for the answers.
    pub fn puzzle(
        self,
        proof: &Proof,
        (failed, asked): (usize, usize),
        level: impl FnOnce(&[String]) -> Result<u32, String>,
    ) -> Result<Option<Puzzle>, String> {
        let Some(kind) = Kind::of(proof) else {
            return Ok(None);
        };
        let right = proof.turns.iter().filter(|turn| turn.keeps);
        let answers: Vec<String> = right.map(|turn| turn.facts.text.clone()).collect();
        let board = self.position.split(' ').max_by_key(|word| word.len());
        let free = board.map_or(0, |board| board.matches('.').count());
        Ok(Some(Puzzle {
            v: VERSION,
            id: self.id(),
            level: level(&answers)?,
            game: self.game,
            rules: self.rules,
            pieces: self.pieces,
            position: self.position,
            kind,
            value: proof.value.name().to_owned(),
            answers,
            turns: proof.turns.len(),
            free,
            asked,
            failed,
        }))
    }
}

impl Puzzle {
    pub fn question(&self) -> Question {
        Question {
            game: self.game.clone(),
            rules: self.rules.clone(),
            pieces: self.pieces.clone(),
            position: self.position.clone(),
        }
    }

    /// `turn` is in canonical form.
    pub fn is_right(&self, turn: &str) -> bool {
        self.answers.iter().any(|answer| answer == turn)
    }
}
