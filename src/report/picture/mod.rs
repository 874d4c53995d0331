//! Positions as SVG files, with the page's drawings.
//!
//! Shapes are those of `html/assets/boards.js` and `pieces.js`, colours those of `light.css`; a browser test
//! compares them. A file is self-contained; its text uses any sans-serif font.

mod boards;
mod paint;

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use super::escaped;
use super::html::piece_style::PieceStyle;
use super::terminal::shortened;
use crate::game::Game;
use crate::game::quarto::{Piece, PieceSet};
use crate::game::{Picture, Side};
use crate::play::game::GameObserver;
use crate::play::replay::{ReplayError, replay, start_of};
use crate::record::Record;
use crate::text::escape_controls;

#[derive(Clone, Debug)]
pub enum Pieces {
    Quarto(Box<QuartoPieces>),
    FourInARow,
}

#[derive(Clone, Debug)]
pub struct QuartoPieces {
    set: PieceSet,
    style: PieceStyle,
}

impl Pieces {
    pub fn of_set(set: PieceSet) -> Self {
        Self::Quarto(Box::new(QuartoPieces {
            style: PieceStyle::of(&set),
            set,
        }))
    }

    pub fn of_game(game: &dyn Game) -> Result<Self, String> {
        match (game.program(), game.name()) {
            (None, "quarto") => {
                let set = game
                    .pieces()
                    .map_or_else(|| Ok(PieceSet::default()), PieceSet::parse);
                set.map(Self::of_set)
                    .map_err(|error| format!("its piece set: {error}"))
            }
            (None, "four-in-a-row") => Ok(Self::FourInARow),
            (_, name) => Err(format!(
                "pictures are drawn of the games quarto and four-in-a-row; this one is {}",
                crate::text::quote(name.as_bytes())
            )),
        }
    }

    const fn size(&self) -> (usize, usize) {
        match self {
            Self::Quarto(_) => (4, 4),
            Self::FourInARow => (7, 6),
        }
    }

    /// A piece's bits, or 0 and 1 for the discs of the first and second side.
    fn read(&self, symbol: char) -> Option<u8> {
        match self {
            Self::Quarto(pieces) => pieces.set.piece(symbol).map(Piece::bits),
            Self::FourInARow => match symbol {
                '@' => Some(0),
                'O' => Some(1),
                _ => None,
            },
        }
    }
}

impl QuartoPieces {
    /// `K: big blue square solid`.
    fn in_words(&self, bits: u8) -> String {
        let Some(piece) = Piece::new(bits) else {
            return String::new();
        };
        let words = self.set.words(piece).map(escape_controls).join(" ");
        format!("{}: {words}", self.symbol(bits))
    }

    fn symbol(&self, bits: u8) -> String {
        let symbol = Piece::new(bits).map(|piece| self.set.symbol(piece));
        symbol.map_or_else(String::new, |symbol| escape_controls(&symbol.to_string()))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// By row, as [`Pieces::read`] numbers them.
    cells: Vec<Option<u8>>,
    hand: Option<u8>,
    last: Option<usize>,
    lines: Vec<Vec<usize>>,
    opening: Vec<bool>,
}

impl Shown {
    /// `board` by row, with the piece in hand. Unknown characters are free cells. `picture` has the last turn and
    /// winning lines.
    pub fn new(pieces: &Pieces, board: &str, hand: Option<char>, picture: &Picture) -> Self {
        let (columns, rows) = pieces.size();
        let index = |&(row, column): &(usize, usize)| columns * row + column;
        let mut cells: Vec<_> = board.chars().map(|symbol| pieces.read(symbol)).collect();
        cells.resize(columns * rows, None);
        Self {
            cells,
            hand: hand.and_then(|symbol| pieces.read(symbol)),
            last: picture.last.as_ref().map(index),
            lines: picture
                .lines
                .iter()
                .map(|line| line.iter().map(index).collect())
                .collect(),
            opening: vec![false; columns * rows],
        }
    }

    pub fn of(pieces: &Pieces, session: &dyn Game) -> Self {
        let text = session.as_start();
        let (board, hand) = text.split_once(' ').unwrap_or((&text, ""));
        Self::new(pieces, board, hand.chars().next(), &session.picture(None))
    }

    #[must_use]
    pub const fn after(mut self, last: Option<usize>) -> Self {
        self.last = last;
        self
    }

    #[must_use]
    pub fn begun_with(mut self, start: &Self) -> Self {
        self.opening = start.cells.iter().map(Option::is_some).collect();
        self
    }

    /// A text alternative.
    fn in_words(&self, pieces: &Pieces) -> String {
        match pieces {
            Pieces::FourInARow => {
                let symbols: Vec<&str> = self
                    .cells
                    .iter()
                    .map(|cell| cell.map_or(".", |side| ["@", "O"][usize::from(side)]))
                    .collect();
                let rows: Vec<String> = symbols.chunks(7).map(<[&str]>::concat).collect();
                format!("The board, row by row from the top: {}.", rows.join(", "))
            }
            Pieces::Quarto(of) => {
                let on = |(cell, bits): (usize, &Option<u8>)| {
                    Some(format!("{} {}", cell + 1, of.in_words((*bits)?)))
                };
                let mut placed: Vec<String> =
                    self.cells.iter().enumerate().filter_map(on).collect();
                if placed.is_empty() {
                    placed.push("Empty".to_owned());
                }
                let mut text = format!("The board. {}.", placed.join("; "));
                if let Some(bits) = self.hand {
                    let _ = write!(text, " In hand: {}.", of.in_words(bits));
                }
                text
            }
        }
    }
}

/// Side of a cell, space before the first one (for labels), after the last one.
const CELL: f64 = 100.0;
const EDGE: f64 = 42.0;
const FRAME: f64 = 9.0;

/// Width of the piece in hand's column.
const HAND: f64 = 116.0;

/// An SVG file. `title`, which may be empty, comes before the description.
pub fn still(pieces: &Pieces, shown: &Shown, title: &str) -> String {
    let (width, height) = board_size(pieces);
    let width = width + if shown.hand.is_some() { HAND } else { 0.0 };
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
        board = boards::board(pieces, shown),
        hand = boards::hand(pieces, shown),
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

#[expect(clippy::cast_precision_loss, reason = "a board has a few columns")]
const fn board_size(pieces: &Pieces) -> (f64, f64) {
    let (columns, rows) = pieces.size();
    (
        columns as f64 * CELL + EDGE + FRAME,
        rows as f64 * CELL + EDGE + FRAME,
    )
}
