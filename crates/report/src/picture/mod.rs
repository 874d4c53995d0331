//! Positions as SVG files, with the page's drawings.
//!
//! Colours are those of `light.css`; a browser test compares them. A file is self-contained; its text uses any
//! sans-serif font.

mod paint;

use super::escaped;
use super::terminal::shortened;
pub use referee_games::drawing::{Pieces, Shown};
use referee_games::drawing::{board, board_size, hand};
use referee_games::game::{Game, Mood, Ruleset};
use referee_match::analysis::steps;
use referee_match::play::replay::start_of;
use referee_match::play::violation::Violation;
use referee_match::record::Record;
use referee_text::escape_controls;

/// Width of the piece in hand's column.
const HAND: f64 = 116.0;

/// An SVG file. `title`, which may be empty, comes before the description.
pub fn still(pieces: &Pieces, shown: &Shown, title: &str) -> String {
    let (width, height) = board_size(pieces);
    let hand = hand(pieces, shown);
    let width = width + if hand.is_some() { HAND } else { 0.0 };
    let stop = if title.is_empty() { "" } else { ". " };
    let words = format!("{title}{stop}{}", shown.in_words(pieces));
    format!(
        concat!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img""#,
            r#" font-family="sans-serif"><title>{title}</title>"#,
            r#"<rect width="{w}" height="{h}" rx="14" fill="{card}"/>{board}{hand}</svg>"#,
            "\n"
        ),
        w = width,
        h = height,
        title = escaped(&words),
        card = paint::colour("card"),
        board = paint::painted(&board(pieces, shown)),
        hand = hand.as_ref().map(paint::painted).unwrap_or_default(),
    )
}

/// Longest name in a description, in terminal columns.
const NAME: usize = 24;

/// Why a game cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DrawingError {
    /// A sentence about the game.
    #[error("{0}")]
    Game(String),
    /// The record is against the rules.
    #[error("{}", .0.problem)]
    Violation(#[from] Violation),
}

/// The start, then after each turn.
pub fn stills(ruleset: &dyn Ruleset, record: &Record) -> Result<Vec<String>, DrawingError> {
    let pieces = Pieces::of_ruleset(ruleset);
    let pieces = pieces.map_err(|error| DrawingError::Game(error.to_string()))?;
    let names = [record.first, record.first.other()]
        .map(|bot| shortened(&escape_controls(&record.bots[bot].name), NAME));
    let start = start_of(ruleset, record)?;
    let begins = format!("{} begins", names[start.to_move().index()]);
    let first = Shown::of(&pieces, &*start);
    let steps = steps(ruleset, record)?;
    let [one, other] = &names;
    let drawn = |position: &dyn Game, sentence: &str| {
        let title = format!("{one} against {other}. {sentence}");
        let shown = Shown::of(&pieces, position).begun_with(&first);
        still(&pieces, &shown, &title)
    };
    let mut all = vec![drawn(&*start, &begins)];
    for (number, step) in (1..).zip(&steps) {
        let (name, after) = (&names[step.before.to_move().index()], &*step.turn.after);
        let sentence = format!("{number}. {name} {}", after.describe_last_turn(Mood::Told));
        all.push(drawn(after, &sentence));
    }
    Ok(all)
}
