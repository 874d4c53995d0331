//! Openings, the positions from which games start: drawn from the tournament's seed, or read from a
//! file.
//!
//! A drawn opening is a number of random plies; a ply is what changes the board (in Quarto a gift and
//! its placement, so that no piece is in hand afterwards). In the position after it the game is not
//! decided: the side to move cannot win at once, and has a move after which the opponent cannot
//! either (in Quarto, it can give a piece that completes no line).

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng;

use crate::seed::{self, Purpose};
use crate::session::{Ruleset, Session};

/// Plies of an opening, by default.
pub const PLIES: u32 = 4;

/// Plies of an opening in a game that is a program, whose games may be short.
const PLIES_OF_PROGRAMS: u32 = 2;

/// Plies of an opening of a game, by default: none where the start is random, or no legal turns are known.
pub fn usual_plies(ruleset: &dyn Ruleset) -> u32 {
    match ruleset.program() {
        None => PLIES,
        Some(_) if ruleset.has_drawn_start() || !ruleset.lists_answers() => 0,
        Some(_) => PLIES_OF_PROGRAMS,
    }
}

/// Draws without a new opening after which all openings are enumerated, if they are few.
const TRIES: u32 = 1000;

/// Draws without a new opening after which none is expected, if they are too many to enumerate.
///
/// The rarest openings, Quarto boards with one free cell, result from every thirtieth draw.
const MOST_TRIES: u32 = 2000;

/// The most boards that are enumerated.
const FEW: usize = 50_000;

/// Why no openings can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DrawError {
    /// Every sequence of that many plies ends or decides the game.
    #[error("no opening of {plies} plies leaves the game open; choose fewer")]
    NoneFound {
        /// The requested plies.
        plies: u32,
    },
    /// The second side would be to move.
    #[error(
        "after {plies} plies it would be the second player's turn; choose an even number of plies"
    )]
    OtherSide {
        /// The requested plies.
        plies: u32,
    },
}

/// Draws the first `count` openings of a tournament, as boards that records hold.
///
/// The opening with number *n* depends only on the seed, the plies and *n*, so a longer list begins
/// with the shorter one. All openings differ as long as there are enough; then they are repeated in
/// order.
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
        // There are no more, so they are repeated.
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

/// The opening with this number. When there are fewer, they are repeated.
pub fn at(openings: &[String], number: u64) -> Option<&str> {
    let count = openings.len() as u64;
    let place = number.checked_rem(count)?;
    openings
        .get(usize::try_from(place).ok()?)
        .map(String::as_str)
}

/// The state of drawing.
struct Drawing<'a> {
    ruleset: &'a dyn Ruleset,
    seed: u64,
    plies: u32,
    drawn: Vec<String>,
    /// The same, for lookup.
    known: BTreeSet<String>,
    /// Set once openings are rare: all that have not been drawn, the next one last.
    rest: Option<Vec<String>>,
}

impl Drawing<'_> {
    /// Draws a new opening; `None` when there is none.
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

    /// The random numbers for an opening; `u64::MAX` is for the order of the rest.
    fn generator(&self, number: u64) -> impl Rng + use<> {
        seed::generator(self.seed, Purpose::Opening, [number, u64::from(self.plies)])
    }

    /// Sets the rest, in random order, and takes the next one of it.
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

    /// Whether a game can start from this board and is not decided there.
    fn is_opening(&self, board: &str) -> Result<bool, DrawError> {
        let Ok(session) = self.ruleset.start_from(board) else {
            return Ok(false);
        };
        if session.to_move() != self.ruleset.start().to_move() {
            return Err(DrawError::OtherSide { plies: self.plies });
        }
        Ok(is_open(&*session, self.ruleset.program().is_some()))
    }

    /// The board after random plies; `None` when they end the game.
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

    /// All boards after the plies on which the game is not over; `None` when they are too many.
    fn all_boards(&self) -> Option<BTreeSet<String>> {
        if self.ruleset.has_drawn_start() {
            return None;
        }
        let start = self.ruleset.start();
        let mut boards = BTreeSet::from([board_of(&*start)]);
        for _ in 0..self.plies {
            let mut after = BTreeSet::new();
            for before in &boards {
                // How a board was reached makes no difference for the rest of the game.
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

/// Adds the boards after the next ply on which the game is not over.
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

/// Whether the side to move cannot win at once, and can prevent that the opponent does. Of a game that is a program only the
/// first is asked: the second is a question for each turn and each answer to it.
fn is_open(session: &dyn Session, is_program: bool) -> bool {
    !session.can_win_at_once()
        && (is_program
            || (0..session.count_moves()).any(|index| {
                let mut after = session.clone_box();
                after.make_move(index) && after.outcome().is_none() && !after.can_win_at_once()
            }))
}

/// A random number below `bound`, which is not 0. It does not depend on the version of the random
/// crate.
fn below(rng: &mut impl Rng, bound: usize) -> usize {
    let scaled = (u128::from(rng.next_u64()) * bound as u128) >> 64;
    // It is below `bound`, which is a usize.
    usize::try_from(scaled).unwrap_or(0)
}

/// Why a file of openings cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// A line is not a board from which a game can start.
    #[error("line {line}: {reason}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with the line.
        reason: String,
    },
    /// It has only blank lines and comments.
    #[error("there is no opening in it; expected one board a line")]
    Empty,
}

/// Reads openings: one board a line, or in Quarto a board and the piece in hand, as records hold it, in any number.
///
/// Blanks around a board and blank lines are ignored. A comment begins with a blank and `#`, or is a
/// line that begins with `#`, unless that line is a valid board: a piece set may have this character.
/// A board that occurs twice is an error, because it would be played twice as often as the others.
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
