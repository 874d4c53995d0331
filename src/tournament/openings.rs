//! The positions that games start from: drawn from the tournament's seed, or read from a file.
//!
//! A drawn opening is a number of random plies; a ply is whatever changes the board (in Quarto
//! a gift and its placement, so that afterwards nobody holds a piece). The game goes on after
//! it, the side to move cannot win at once, and has a move after which the opponent cannot
//! either: in Quarto, a piece left to give with which there is no quarto. So nobody sits down
//! at a game that is decided.

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng;

use crate::seed::{self, Purpose};
use crate::session::{Ruleset, Session};

/// Plies of an opening when nothing else is asked for.
pub const PLIES: u32 = 4;

/// Draws without a new opening after which all openings are counted, if they are few.
const TRIES: u32 = 1000;

/// Draws without any opening after which there is none, if they are too many to count.
///
/// Of the rarest, Quarto boards with one free cell, every thirtieth draw gives one.
const MOST_TRIES: u32 = 2000;

/// More boards than this are not counted.
const FEW: usize = 50_000;

/// Why no openings can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DrawError {
    /// Every way to play that many plies ends or decides the game.
    #[error("no opening of {plies} plies leaves the game open; choose fewer")]
    NoneFound {
        /// The plies asked for.
        plies: u32,
    },
    /// The side that moves second would have to begin.
    #[error(
        "after {plies} plies it would be the second player's turn; choose an even number of plies"
    )]
    OtherSide {
        /// The plies asked for.
        plies: u32,
    },
}

/// The first `count` openings of a tournament, as boards that records write.
///
/// The opening with number *n* depends on the seed, the plies and *n* alone: a longer list
/// begins with the shorter one. All are different as long as there are enough; after that they
/// are repeated in order.
pub fn draw(
    ruleset: &dyn Ruleset,
    seed: u64,
    plies: u32,
    count: usize,
) -> Result<Vec<String>, DrawError> {
    let mut drawing = Drawing {
        ruleset,
        seed,
        plies,
        drawn: Vec::new(),
        known: BTreeSet::new(),
        rest: None,
    };
    while drawing.drawn.len() < count {
        if let Some(board) = drawing.next()? {
            drawing.known.insert(board.clone());
            drawing.drawn.push(board);
            continue;
        }
        // From here on they are repeated.
        let different = drawing.drawn.len();
        if different == 0 {
            return Err(DrawError::NoneFound { plies });
        }
        let again = (different..count).map(|n| drawing.drawn[n % different].clone());
        let again: Vec<_> = again.collect();
        drawing.drawn.extend(again);
    }
    Ok(drawing.drawn)
}

/// The opening with a number; those of a file are repeated when there are fewer.
pub fn at(openings: &[String], number: u64) -> Option<&str> {
    let count = openings.len() as u64;
    let place = number.checked_rem(count)?;
    openings
        .get(usize::try_from(place).ok()?)
        .map(String::as_str)
}

/// Openings as they are drawn.
struct Drawing<'a> {
    ruleset: &'a dyn Ruleset,
    seed: u64,
    plies: u32,
    drawn: Vec<String>,
    /// The same, to look one up.
    known: BTreeSet<String>,
    /// Once they have become rare: all that have not been drawn, the next one last.
    rest: Option<Vec<String>>,
}

impl Drawing<'_> {
    /// An opening unlike all so far, if there is one.
    fn next(&mut self) -> Result<Option<String>, DrawError> {
        if let Some(rest) = &mut self.rest {
            return Ok(rest.pop());
        }
        let number = self.drawn.len() as u64;
        let mut rng = self.generator(number);
        for tried in 1..=MOST_TRIES {
            if let Some(board) = self.random_board(&mut rng)
                && !self.known.contains(&board)
                && self.is_opening(&board)?
            {
                return Ok(Some(board));
            }
            if tried == TRIES
                && let Some(boards) = self.all_boards()
            {
                return self.count(boards);
            }
        }
        Ok(None)
    }

    /// A number that no opening has stands for the order of the rest.
    fn generator(&self, number: u64) -> impl Rng + use<> {
        seed::generator(self.seed, Purpose::Opening, [number, u64::from(self.plies)])
    }

    /// Fills the rest, in random order, and takes the next of it.
    fn count(&mut self, boards: BTreeSet<String>) -> Result<Option<String>, DrawError> {
        let mut rest = Vec::new();
        for board in boards {
            if !self.known.contains(&board) && self.is_opening(&board)? {
                rest.push(board);
            }
        }
        let mut rng = self.generator(u64::MAX);
        for last in (1..rest.len()).rev() {
            rest.swap(last, below(&mut rng, last + 1));
        }
        Ok(self.rest.insert(rest).pop())
    }

    /// Whether a game can start from this board and is open there.
    fn is_opening(&self, board: &str) -> Result<bool, DrawError> {
        let Ok(session) = self.ruleset.start_from(board) else {
            return Ok(false);
        };
        if session.to_move() != self.ruleset.start().to_move() {
            return Err(DrawError::OtherSide { plies: self.plies });
        }
        Ok(is_open(&*session))
    }

    /// The board after random plies, unless the game was over before.
    fn random_board(&self, rng: &mut impl Rng) -> Option<String> {
        let mut session = self.ruleset.start();
        let mut board = board_of(&*session);
        for _ in 0..self.plies {
            let before = board;
            board = loop {
                let moves = session.count_moves();
                if moves == 0 || !session.make_move(below(rng, moves)) {
                    return None;
                }
                let after = board_of(&*session);
                if after != before {
                    break after;
                }
            };
        }
        session.outcome().is_none().then_some(board)
    }

    /// Every board after the plies on which the game goes on, unless they are many.
    fn all_boards(&self) -> Option<BTreeSet<String>> {
        let start = self.ruleset.start();
        let mut boards = BTreeSet::from([board_of(&*start)]);
        for _ in 0..self.plies {
            let mut after = BTreeSet::new();
            for before in &boards {
                // How a board was reached makes no difference to how the game goes on.
                let session = self.ruleset.start_from(before).ok()?;
                boards_after(&*session, before, &mut after);
                if after.len() > FEW {
                    return None;
                }
            }
            boards = after;
        }
        Some(boards)
    }
}

/// Adds every board that the next moves lead to, on which the game goes on.
fn boards_after(session: &dyn Session, before: &str, after: &mut BTreeSet<String>) {
    for index in 0..session.count_moves() {
        let mut next = session.clone_box();
        if !next.make_move(index) || next.outcome().is_some() {
            continue;
        }
        let board = board_of(&*next);
        if board == before {
            boards_after(&*next, before, after);
        } else {
            after.insert(board);
        }
    }
}

fn board_of(session: &dyn Session) -> String {
    let mut board = String::new();
    session.write_board(&mut board);
    board
}

/// Whether the side to move cannot win at once, and can keep the opponent from it.
fn is_open(session: &dyn Session) -> bool {
    !session.can_win_at_once()
        && (0..session.count_moves()).any(|index| {
            let mut after = session.clone_box();
            after.make_move(index) && after.outcome().is_none() && !after.can_win_at_once()
        })
}

/// A number below `bound`, which is not 0: the same with every version of the random crate.
fn below(rng: &mut impl Rng, bound: usize) -> usize {
    let scaled = (u128::from(rng.next_u64()) * bound as u128) >> 64;
    // It is below `bound`, which is a usize.
    usize::try_from(scaled).unwrap_or(0)
}

/// What is wrong with a file of openings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// A line is no board that a game can start from.
    #[error("line {line}: {reason}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Nothing but blank lines and comments.
    #[error("there is no opening in it; expected one board a line")]
    Empty,
}

/// Reads openings: one board a line, as records write it, in any number.
///
/// Blanks around a board and blank lines count for nothing, nor does what follows a blank and
/// `#`, nor a line that begins with `#`, unless the game reads it as a board: a piece set may
/// have that character. A board that comes twice is an error, for it would be played twice as
/// often as the others.
pub fn parse(ruleset: &dyn Ruleset, text: &str) -> Result<Vec<String>, FileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut openings = Vec::new();
    let mut lines = BTreeMap::new();
    for (line, text) in (1..).zip(text.lines()) {
        let board = text.split_once(" #").map_or(text, |(board, _)| board);
        let board = board.trim();
        if board.is_empty() {
            continue;
        }
        match ruleset.start_from(board) {
            Ok(_) => {}
            Err(_) if board.starts_with('#') => continue,
            Err(reason) => return Err(FileError::Line { line, reason }),
        }
        if let Some(earlier) = lines.insert(board, line) {
            let reason = format!("the same board as in line {earlier}");
            return Err(FileError::Line { line, reason });
        }
        openings.push(board.to_owned());
    }
    if openings.is_empty() {
        return Err(FileError::Empty);
    }
    Ok(openings)
}
