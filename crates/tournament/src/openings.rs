//! Openings: drawn from the tournament's seed, or read from a file.
//!
//! A drawn opening is some random plies; a ply changes the board (in Quarto a gift and its placement: no piece is in
//! hand). After it the side to move cannot win immediately, and has a move after which the opponent cannot either.

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng;

use referee_games::game::{Game, Ruleset, StartError};
use referee_match::seed::{self, Purpose};

pub const PLIES: u32 = 4;

/// Why no openings can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DrawError {
    #[error("no opening of {plies} plies leaves the game open; choose fewer")]
    NoneOpen { plies: u32 },
    #[error(
        "after {plies} plies it would be the second player's turn; choose an even number of plies"
    )]
    SecondToMove { plies: u32 },
}

/// What is wrong with a file of openings. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpeningsError {
    /// `problem` is the game's sentence about the board.
    #[error("line {line}: {problem}")]
    Board { line: u32, problem: String },
    #[error("line {line}: the same board as in line {earlier}")]
    Repeated { line: u32, earlier: u32 },
    #[error("there is no opening in it; expected one board a line")]
    Empty,
}

/// Opening plies of a game program, whose games may be short.
const PLIES_OF_PROGRAMS: u32 = 2;

/// By default; 0 where the start is random or no legal turns are known.
pub fn usual_plies(ruleset: &dyn Ruleset) -> u32 {
    match ruleset.program() {
        None => PLIES,
        Some(_) if ruleset.info().has_drawn_start || !ruleset.info().lists_answers => 0,
        Some(_) => PLIES_OF_PROGRAMS,
    }
}

/// Draws without a new opening before giving up. The rarest openings, Quarto boards with one free cell, come from every
/// thirtieth draw.
const MOST_TRIES: u32 = 2000;

/// Draws the first `count` openings, as recorded boards.
///
/// Opening *n* depends only on the seed, the plies and *n*: a longer list begins with the shorter one. Openings
/// differ as long as new ones are found, then repeat in order.
pub fn draw(
    ruleset: &dyn Ruleset,
    seed: u64,
    plies: u32,
    count: usize,
) -> Result<Vec<String>, DrawError> {
    let (mut drawn, mut known) = (Vec::<String>::new(), BTreeSet::new());
    while drawn.len() < count {
        let mut rng = seed::generator(
            seed,
            Purpose::Opening,
            [drawn.len() as u64, u64::from(plies)],
        );
        let mut found = None;
        for _ in 0..MOST_TRIES {
            if let Some(board) = random_board(ruleset, plies, &mut rng)
                && !known.contains(&board)
                && is_opening(ruleset, plies, &board)?
            {
                found = Some(board);
                break;
            }
        }
        if let Some(board) = found {
            known.insert(board.clone());
            drawn.push(board);
            continue;
        }
        if drawn.is_empty() {
            return Err(DrawError::NoneOpen { plies });
        }
        drawn = drawn.into_iter().cycle().take(count).collect();
    }
    Ok(drawn)
}

pub fn at(openings: &[String], number: u64) -> Option<&str> {
    let count = openings.len() as u64;
    let place = number.checked_rem(count)?;
    openings
        .get(usize::try_from(place).ok()?)
        .map(String::as_str)
}

fn is_opening(ruleset: &dyn Ruleset, plies: u32, board: &str) -> Result<bool, DrawError> {
    let Ok(session) = ruleset.start_from(board) else {
        return Ok(false);
    };
    if session.to_move() != ruleset.start().to_move() {
        return Err(DrawError::SecondToMove { plies });
    }
    Ok(is_open(&*session, ruleset.program().is_some()))
}

fn random_board(ruleset: &dyn Ruleset, plies: u32, rng: &mut impl Rng) -> Option<String> {
    let mut session = if ruleset.info().has_drawn_start {
        ruleset.start_drawn(rng.next_u32() >> 1).ok()?
    } else {
        ruleset.start()
    };
    let mut board = session.board();
    for _ in 0..plies {
        let before = board;
        board = loop {
            let moves = session.count_moves();
            if moves == 0 || !session.make_move(below(rng, moves)) {
                return None;
            }
            let after = session.board();
            if after != before {
                break after;
            }
        };
    }
    session.outcome().is_none().then_some(board)
}

/// The side to move cannot win immediately, and can keep the opponent from it. The second is not asked of a game
/// program: it would be a question for every turn and answer.
fn is_open(session: &dyn Game, is_program: bool) -> bool {
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

/// One board a line, in Quarto with or without a piece in hand, as recorded.
///
/// Surrounding space and blank lines are ignored. A comment begins with a space and `#`, or is a line that begins
/// with `#` unless that is a valid board: a piece set may have this character. A repeated board is an error: it
/// would be played twice as often.
pub fn parse(ruleset: &dyn Ruleset, text: &str) -> Result<Vec<String>, OpeningsError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut openings = Vec::new();
    let mut lines = BTreeMap::new();
    for (line, text) in (1..).zip(text.lines()) {
        let opening = match start_in(ruleset, text) {
            Ok(Some(session)) => session.as_start(),
            Ok(None) => continue,
            Err(_) if text.trim_start().starts_with('#') => continue,
            Err(problem) => {
                return Err(OpeningsError::Board {
                    line,
                    problem: problem.to_string(),
                });
            }
        };
        if let Some(earlier) = lines.insert(opening.clone(), line) {
            return Err(OpeningsError::Repeated { line, earlier });
        }
        openings.push(opening);
    }
    if openings.is_empty() {
        return Err(OpeningsError::Empty);
    }
    Ok(openings)
}

/// The start of a line, before a comment if there is one; `None` if nothing else is in it. A state of a game that is a program
/// may have ` #` in it, too: it is asked about the shortest first, since it may fail with a comment. On a board each sign is a
/// piece: there the most that is a start counts.
fn start_in(ruleset: &dyn Ruleset, text: &str) -> Result<Option<Box<dyn Game>>, StartError> {
    let comments = text.rmatch_indices(" #");
    let before = comments.map(|(at, _)| &text[..at]);
    let mut boards: Vec<&str> = [text].into_iter().chain(before).map(str::trim).collect();
    if ruleset.program().is_some() {
        boards.reverse();
    }
    let mut problem = None;
    for board in boards {
        if board.is_empty() {
            return Ok(None);
        }
        match ruleset.start_from(board) {
            Ok(session) => return Ok(Some(session)),
            Err(error) => problem = Some(error),
        }
    }
    problem.map_or(Ok(None), Err)
}
