//! Positions as SVG files, with the drawings of the page.
//!
//! The shapes are those of `html/assets/boards.js` and `pieces.js`, the colours those of `html/assets/light.css`; a test
//! in a browser compares both. A file needs nothing from elsewhere: its colours are in its shapes, and its texts are in
//! whatever sans-serif font there is.
//!
//! - [`Pieces`]: what the pieces of a game look like
//! - [`Shown`]: a position to draw
//! - [`still`]: its picture
//! - [`stills`]: those of a recorded game

mod boards;
mod element;
mod paint;
mod tokens;

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use crate::game::quarto::{Piece, PieceSet};
use crate::game::{Picture, Side};
use crate::play::game::GameObserver;
use crate::play::replay::{ReplayError, replay, start_of};
use crate::record::Record;
use crate::report::html::piece_style::PieceStyle;
use crate::report::terminal::shortened;
use crate::session::{Ruleset, Session};
use crate::text::escape_controls;

use element::Element;

/// What the pieces of a game look like.
#[derive(Clone, Debug)]
pub enum Pieces {
    Quarto(Box<QuartoPieces>),
    /// The discs of Four In A Row.
    FourInARow,
}

/// The pieces of a set, with how they are drawn.
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

    /// Those of this game. The error is a sentence.
    pub fn of_game(game: &dyn Ruleset) -> Result<Self, String> {
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

    /// Number of columns and rows of the board.
    const fn size(&self) -> (usize, usize) {
        match self {
            Self::Quarto(_) => (4, 4),
            Self::FourInARow => (7, 6),
        }
    }

    /// What a character of a board stands for: the bits of a piece, or 0 and 1 for the discs of the first and the second
    /// side.
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
    /// A piece in words: `K: big blue square solid`.
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

/// A position to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The pieces on the cells, row by row, as [`Pieces`] counts them.
    cells: Vec<Option<u8>>,
    /// The piece in hand.
    hand: Option<u8>,
    /// Index of the cell that the last turn changed.
    last: Option<usize>,
    /// The cells of each winning line.
    lines: Vec<Vec<usize>>,
    /// The cells that were occupied when the game began.
    opening: Vec<bool>,
}

impl Shown {
    /// The position of a board, row by row, with the piece in hand, if any. Characters that are no pieces are free cells.
    /// `picture` has the last turn and the winning lines.
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

    /// The position of a game that is being played or replayed.
    pub fn of(pieces: &Pieces, session: &dyn Session) -> Self {
        let mut text = String::new();
        session.write_start(&mut text);
        let (board, hand) = text.split_once(' ').unwrap_or((&text, ""));
        Self::new(pieces, board, hand.chars().next(), &session.picture())
    }

    /// The same position with this turn marked as the last one.
    #[must_use]
    pub const fn after(mut self, last: Option<usize>) -> Self {
        self.last = last;
        self
    }

    /// The same position in a game that began with the pieces of another one.
    #[must_use]
    pub fn begun_with(mut self, start: &Self) -> Self {
        self.opening = start.cells.iter().map(Option::is_some).collect();
        self
    }

    /// Whether there is a piece on this cell.
    pub fn is_occupied(&self, cell: usize) -> bool {
        self.cells.get(cell).is_some_and(Option::is_some)
    }

    /// The position in words, for people who do not see it.
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

/// Side of a cell, the space before the first one for names of rows and columns, and after the last one.
const CELL: f64 = 100.0;
const EDGE: f64 = 42.0;
const FRAME: f64 = 9.0;

/// The width of the column with the piece in hand.
const HAND: f64 = 116.0;

/// The picture of a position as an SVG file. `title` comes before its description in words, such as the names of who
/// played; it may be empty.
pub fn still(pieces: &Pieces, shown: &Shown, title: &str) -> String {
    let (width, height) = board_size(pieces);
    let beside = if shown.hand.is_some() { HAND } else { 0.0 };
    let mut children = vec![boards::board(pieces, shown)];
    children.extend(boards::hand(pieces, shown));
    let words = shown.in_words(pieces);
    let description = if title.is_empty() {
        words
    } else {
        format!("{title}. {words}")
    };
    file(width + beside, height, &description, children)
}

/// The longest name in a picture's description, in columns of a terminal.
const NAME: usize = 24;

/// Notes the positions of a game that is replayed, each with a sentence about how it came about.
struct Positions<'a> {
    pieces: &'a Pieces,
    names: &'a [String; 2],
    seen: Vec<(Shown, String)>,
}

impl GameObserver for Positions<'_> {
    fn turn(&mut self, side: Side, _: &str, after: &dyn Session, _: Duration) -> io::Result<()> {
        let (number, name) = (self.seen.len(), &self.names[side.index()]);
        let sentence = format!("{number}. {name} {}", after.describe_last_turn());
        self.seen.push((Shown::of(self.pieces, after), sentence));
        Ok(())
    }
}

/// The pictures of a recorded game: of its start, then of the position after each turn. The error is a sentence: about the
/// game, or about what breaks the rules.
pub fn stills(ruleset: &dyn Ruleset, record: &Record) -> Result<Vec<String>, String> {
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

/// The width and height of a board with the names of its rows and columns.
#[expect(clippy::cast_precision_loss, reason = "a board has a few columns")]
const fn board_size(pieces: &Pieces) -> (f64, f64) {
    let (columns, rows) = pieces.size();
    (
        columns as f64 * CELL + EDGE + FRAME,
        rows as f64 * CELL + EDGE + FRAME,
    )
}

/// A whole file with these shapes on a background.
fn file(width: f64, height: f64, description: &str, children: Vec<Element>) -> String {
    let mut root = Element::new("svg")
        .with("xmlns", "http://www.w3.org/2000/svg")
        .with("viewBox", format!("0 0 {width} {height}"))
        .with("width", width)
        .with("height", height)
        .with("role", "img")
        .with("font-family", "sans-serif");
    root.push(Element::new("title").text(description));
    root.push(
        Element::new("rect")
            .with("width", width)
            .with("height", height)
            .with("rx", 14)
            .with("fill", paint::colour("card")),
    );
    for child in children {
        root.push(child);
    }
    root.to_xml()
}
