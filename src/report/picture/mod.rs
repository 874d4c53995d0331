//! Positions as SVG files, with the page's drawings.
//!
//! Colours are those of `light.css`; a browser test compares them. A file is self-contained; its text uses any
//! sans-serif font.

mod paint;

use std::io;
use std::time::Duration;

use super::escaped;
use super::terminal::shortened;
pub use crate::drawing::{Pieces, Shown};
use crate::drawing::{board, board_size, hand};
use crate::game::{Game, Side};
use crate::play::game::GameObserver;
use crate::play::replay::{ReplayError, replay, start_of};
use crate::record::Record;
use crate::text::escape_controls;

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

/// Positions of a replay, each with a sentence on how it came about.
struct Positions<'a> {
    pieces: &'a Pieces,
    names: &'a [String; 2],
    seen: Vec<(Shown, String)>,
}

impl GameObserver for Positions<'_> {
    fn turn(&mut self, side: Side, _: &str, after: &dyn Game, _: Duration) -> io::Result<()> {
        let (number, name) = (self.seen.len(), &self.names[side.index()]);
        let sentence = format!("{number}. {name} {}", after.describe_last_turn());
        self.seen.push((Shown::of(self.pieces, after), sentence));
        Ok(())
    }
}

/// The start, then after each turn. The error is a sentence on the game or the broken rule.
pub fn stills(ruleset: &dyn Game, record: &Record) -> Result<Vec<String>, String> {
    let pieces = Pieces::of_game(ruleset)?;
    let names = [record.first, record.first.other()]
        .map(|bot| shortened(&escape_controls(&record.bots[bot].name), NAME));
    let start = start_of(ruleset, record).map_err(|violation| violation.problem)?;
    let begins = format!("{} begins", names[start.to_move().index()]);
    let first = Shown::of(&pieces, &*start);
    let mut positions = Positions {
        pieces: &pieces,
        names: &names,
        seen: vec![(first.clone(), begins)],
    };
    match replay(ruleset, record, &mut positions) {
        Ok(_) => {}
        Err(ReplayError::Violation(violation)) => return Err(violation.problem),
        Err(ReplayError::Io(error)) => return Err(error.to_string()),
    }
    let [one, other] = &names;
    let drawn = positions.seen.into_iter().map(|(shown, sentence)| {
        let title = format!("{one} against {other}. {sentence}");
        still(&pieces, &shown.begun_with(&first), &title)
    });
    Ok(drawn.collect())
}
