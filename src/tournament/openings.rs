//! The positions that games start from: drawn from the tournament's seed, or read from a file.
//!
//! A drawn opening is a number of random plies; a ply is whatever changes the board (in Quarto
//! a gift and its placement, so that afterwards nobody holds a piece). The game goes on after
//! it, the side to move cannot win at once, and has a move after which the opponent cannot
//! either: in Quarto, a piece left to give with which there is no quarto. So nobody sits down
//! at a game that is decided.

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng;

use crate::game::{Game, Position};
use crate::seed::{self, Purpose};

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

/// A position that a game starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening<P> {
    /// The board as records write it.
    pub board: String,
    /// The position at the start of a game on it.
    pub position: P,
}

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

/// The first `count` openings of a tournament.
///
/// The opening with number *n* depends on the seed, the plies and *n* alone: a longer list
/// begins with the shorter one. All are different as long as there are enough; after that they
/// come round again.
pub fn draw<G: Game>(
    game: &G,
    seed: u64,
    plies: u32,
    count: usize,
) -> Result<Vec<Opening<G::Position>>, DrawError> {
    let mut drawing = Drawing {
        game,
        seed,
        plies,
        drawn: Vec::new(),
        boards: BTreeSet::new(),
        rest: None,
    };
    while drawing.drawn.len() < count {
        if let Some(opening) = drawing.next()? {
            drawing.boards.insert(opening.board.clone());
            drawing.drawn.push(opening);
            continue;
        }
        // They come round again.
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

/// The opening with a number; those of a file come round when there are fewer.
pub fn at<P>(openings: &[Opening<P>], number: u64) -> Option<&Opening<P>> {
    let count = openings.len() as u64;
    let place = number.checked_rem(count)?;
    openings.get(usize::try_from(place).ok()?)
}

/// Openings as they are drawn.
struct Drawing<'a, G: Game> {
    game: &'a G,
    seed: u64,
    plies: u32,
    drawn: Vec<Opening<G::Position>>,
    /// The boards of `drawn`.
    boards: BTreeSet<String>,
    /// Once they have become rare: all that have not been drawn, the next one last.
    rest: Option<Vec<Opening<G::Position>>>,
}

impl<G: Game> Drawing<'_, G> {
    /// An opening unlike all so far, if there is one.
    fn next(&mut self) -> Result<Option<Opening<G::Position>>, DrawError> {
        if let Some(rest) = &mut self.rest {
            return Ok(rest.pop());
        }
        let number = self.drawn.len() as u64;
        let mut rng = self.generator(number);
        for tried in 1..=MOST_TRIES {
            if let Some(board) = self.random_board(&mut rng)
                && !self.boards.contains(&board)
                && let Some(opening) = self.opening(board)?
            {
                return Ok(Some(opening));
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
    fn generator(&self, number: u64) -> impl Rng + use<G> {
        seed::generator(self.seed, Purpose::Opening, [number, u64::from(self.plies)])
    }

    /// Fills the rest, in random order, and takes the next of it.
    fn count(
        &mut self,
        boards: BTreeSet<String>,
    ) -> Result<Option<Opening<G::Position>>, DrawError> {
        let mut rest = Vec::new();
        for board in boards {
            if !self.boards.contains(&board)
                && let Some(opening) = self.opening(board)?
            {
                rest.push(opening);
            }
        }
        let mut rng = self.generator(u64::MAX);
        for last in (1..rest.len()).rev() {
            rest.swap(last, below(&mut rng, last + 1));
        }
        Ok(self.rest.insert(rest).pop())
    }

    /// The opening on a board, if it leaves the game open.
    fn opening(&self, board: String) -> Result<Option<Opening<G::Position>>, DrawError> {
        let Ok(position) = self.game.start_from(&board) else {
            return Ok(None);
        };
        if position.to_move() != self.game.start().to_move() {
            return Err(DrawError::OtherSide { plies: self.plies });
        }
        Ok(is_open(&position).then_some(Opening { board, position }))
    }

    /// The board after random plies, unless the game was over before.
    fn random_board(&self, rng: &mut impl Rng) -> Option<String> {
        let mut position = self.game.start();
        let mut board = self.board(&position);
        for _ in 0..self.plies {
            let before = board;
            board = loop {
                let moves: Vec<_> = position.moves().collect();
                if moves.is_empty() {
                    return None;
                }
                position.play(moves[below(rng, moves.len())]).ok()?;
                let after = self.board(&position);
                if after != before {
                    break after;
                }
            };
        }
        position.outcome().is_none().then_some(board)
    }

    /// Every board after the plies on which the game goes on, unless they are many.
    fn all_boards(&self) -> Option<BTreeSet<String>> {
        let start = self.game.start();
        let mut boards = BTreeMap::from([(self.board(&start), start)]);
        for _ in 0..self.plies {
            let mut after = BTreeMap::new();
            for (before, position) in boards {
                let mut open = vec![position];
                while let Some(position) = open.pop() {
                    for mv in position.moves() {
                        let mut next = position.clone();
                        if next.play(mv).is_err() || next.outcome().is_some() {
                            continue;
                        }
                        let board = self.board(&next);
                        if board == before {
                            open.push(next);
                        } else {
                            after.insert(board, next);
                        }
                    }
                    if after.len() > FEW {
                        return None;
                    }
                }
            }
            boards = after;
        }
        Some(boards.into_keys().collect())
    }

    fn board(&self, position: &G::Position) -> String {
        let mut board = String::new();
        self.game.write_board(position, &mut board);
        board
    }
}

/// Whether the side to move cannot win at once, and can keep the opponent from it.
fn is_open<P: Position>(position: &P) -> bool {
    !position.can_win_at_once()
        && position.moves().any(|mv| {
            let mut after = position.clone();
            after.play(mv).is_ok() && after.outcome().is_none() && !after.can_win_at_once()
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
pub fn parse<G: Game>(game: &G, text: &str) -> Result<Vec<Opening<G::Position>>, FileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut openings = Vec::new();
    let mut lines = BTreeMap::new();
    for (line, text) in (1..).zip(text.lines()) {
        let board = text.split_once(" #").map_or(text, |(board, _)| board);
        let board = board.trim();
        if board.is_empty() {
            continue;
        }
        let position = match game.start_from(board) {
            Ok(position) => position,
            Err(_) if board.starts_with('#') => continue,
            Err(reason) => return Err(FileError::Line { line, reason }),
        };
        if let Some(earlier) = lines.insert(board, line) {
            let reason = format!("the same board as in line {earlier}");
            return Err(FileError::Line { line, reason });
        }
        let board = board.to_owned();
        openings.push(Opening { board, position });
    }
    if openings.is_empty() {
        return Err(FileError::Empty);
    }
    Ok(openings)
}
