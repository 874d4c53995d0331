//! Openings: drawn from the tournament's seed, or read from a file.
//!
//! A drawn opening is some random plies; a ply changes the board (in Quarto a gift and its placement: no piece is in
//! hand). After it the side to move cannot win immediately, and has a move after which the opponent cannot either.

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng;

use crate::seed::{self, Purpose};
use crate::session::{Ruleset, Session};

/// Default plies.
pub const PLIES: u32 = 4;

/// Of a game program, whose games may be short.
const PLIES_OF_PROGRAMS: u32 = 2;

/// By default; 0 where the start is random or no legal turns are known.
pub fn usual_plies(ruleset: &dyn Ruleset) -> u32 {
    match ruleset.program() {
        None => PLIES,
        Some(_) if ruleset.has_drawn_start() || !ruleset.lists_answers() => 0,
        Some(_) => PLIES_OF_PROGRAMS,
    }
}

/// Draws without a new opening before all are enumerated, if few.
const TRIES: u32 = 1000;

/// Draws without a new opening before giving up, if too many to enumerate.
///
/// The rarest openings, Quarto boards with one free cell, come from every thirtieth draw.
const MOST_TRIES: u32 = 2000;

/// Boards enumerated at most.
const FEW: usize = 50_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DrawError {
    /// Every sequence of that many plies ends or decides the game.
    #[error("no opening of {plies} plies leaves the game open; choose fewer")]
    NoneFound {
        /// As requested.
        plies: u32,
    },
    /// The second side would be to move.
    #[error(
        "after {plies} plies it would be the second player's turn; choose an even number of plies"
    )]
    OtherSide {
        /// As requested.
        plies: u32,
    },
}

/// Draws the first `count` openings, as recorded boards.
///
/// Opening *n* depends only on the seed, the plies and *n*: a longer list begins with the shorter one. Openings
/// differ as long as there are enough, then repeat in order.
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
        // No more: repeat.
        let different = drawing.drawn.len();
        if different == 0 {
            return Err(DrawError::NoneFound { plies });
        }
        let repeated = (different..count).map(|n| drawing.drawn[n % different].clone());
        let repeated: Vec<_> = repeated.collect();
        drawing.drawn.extend(repeated);
    }
    Ok(drawing.drawn)
}

pub fn at(openings: &[String], number: u64) -> Option<&str> {
    let count = openings.len() as u64;
    let place = number.checked_rem(count)?;
    openings
        .get(usize::try_from(place).ok()?)
        .map(String::as_str)
}

struct Drawing<'a> {
    ruleset: &'a dyn Ruleset,
    seed: u64,
    plies: u32,
    drawn: Vec<String>,
    /// The same, for lookup.
    known: BTreeSet<String>,
    /// Set when openings are rare: those not drawn, the next one last.
    rest: Option<Vec<String>>,
}

impl Drawing<'_> {
    /// `None`: no new opening.
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
                return self.enumerate(boards);
            }
        }
        Ok(None)
    }

    /// `u64::MAX`: for the order of the rest.
    fn generator(&self, number: u64) -> impl Rng + use<> {
        seed::generator(self.seed, Purpose::Opening, [number, u64::from(self.plies)])
    }

    /// Sets the rest, in random order, and takes the next.
    fn enumerate(&mut self, boards: BTreeSet<String>) -> Result<Option<String>, DrawError> {
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

    /// Playable and undecided.
    fn is_opening(&self, board: &str) -> Result<bool, DrawError> {
        let Ok(session) = self.ruleset.start_from(board) else {
            return Ok(false);
        };
        if session.to_move() != self.ruleset.start().to_move() {
            return Err(DrawError::OtherSide { plies: self.plies });
        }
        Ok(is_open(&*session, self.ruleset.program().is_some()))
    }

    fn random_board(&self, rng: &mut impl Rng) -> Option<String> {
        let mut session = if self.ruleset.has_drawn_start() {
            self.ruleset.start_drawn(rng.next_u32() >> 1).ok()?
        } else {
            self.ruleset.start()
        };
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

    /// On which the game is not over; `None` when too many.
    fn all_boards(&self) -> Option<BTreeSet<String>> {
        if self.ruleset.has_drawn_start() {
            return None;
        }
        let start = self.ruleset.start();
        let mut boards = BTreeSet::from([board_of(&*start)]);
        for _ in 0..self.plies {
            let mut after = BTreeSet::new();
            for before in &boards {
                // How a board was reached does not matter.
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

/// After the next ply, if the game is not over.
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

/// The side to move cannot win immediately, and can keep the opponent from it. The second is not asked of a game
/// program: it would be a question for every turn and answer.
fn is_open(session: &dyn Session, is_program: bool) -> bool {
    !session.can_win_at_once()
        && (is_program
            || (0..session.count_moves()).any(|index| {
                let mut after = session.clone_box();
                after.make_move(index) && after.outcome().is_none() && !after.can_win_at_once()
            }))
}

/// `bound` is not 0. Independent of the version of `rand`.
fn below(rng: &mut impl Rng, bound: usize) -> usize {
    let scaled = (u128::from(rng.next_u64()) * bound as u128) >> 64;
    // Below `bound`.
    usize::try_from(scaled).unwrap_or(0)
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("line {line}: {reason}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// Only blank lines and comments.
    #[error("there is no opening in it; expected one board a line")]
    Empty,
}

/// One board a line, in Quarto with or without a piece in hand, as recorded.
///
/// Surrounding space and blank lines are ignored. A comment begins with a space and `#`, or is a line that begins
/// with `#` unless that is a valid board: a piece set may have this character. A repeated board is an error: it
/// would be played twice as often.
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
        let mut opening = String::new();
        match ruleset.start_from(board) {
            Ok(session) => session.write_start(&mut opening),
            Err(_) if board.starts_with('#') => continue,
            Err(reason) => return Err(FileError::Line { line, reason }),
        }
        if let Some(earlier) = lines.insert(opening.clone(), line) {
            let reason = format!("the same board as in line {earlier}");
            return Err(FileError::Line { line, reason });
        }
        openings.push(opening);
    }
    if openings.is_empty() {
        return Err(FileError::Empty);
    }
    Ok(openings)
}
