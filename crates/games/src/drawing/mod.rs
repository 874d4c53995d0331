//! Positions as drawings: shapes with classes, which pages style, and files paint (`referee board --format svg`).

mod boards;
mod piece_style;
mod pieces;

use std::fmt::Write as _;

pub use boards::{board, choices, hand};
pub(crate) use pieces::glyphs;
pub use pieces::{Legend, legend};

use self::piece_style::PieceStyle;
use crate::game::four_in_a_row::DISCS;
use crate::game::quarto::{Piece, PieceSet, SetError};
use crate::game::{Game, Picture, Ruleset};
use referee_text::{escape_controls, quote};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub name: &'static str,
    /// The class first, if there is one.
    pub attributes: Vec<(&'static str, String)>,
    pub text: String,
    pub children: Vec<Node>,
}

impl Node {
    fn shape(name: &'static str, class: &str, at: &[(&'static str, f64)]) -> Self {
        let mut attributes = Vec::new();
        if !class.is_empty() {
            attributes.push(("class", class.to_owned()));
        }
        attributes.extend(at.iter().map(|(name, value)| (*name, value.to_string())));
        Self {
            name,
            attributes,
            ..Self::default()
        }
    }

    fn group(class: &str, children: Vec<Self>) -> Self {
        Self {
            children,
            ..Self::shape("g", class, &[])
        }
    }

    fn title(text: String) -> Self {
        Self {
            text,
            ..Self::shape("title", "", &[])
        }
    }

    #[must_use]
    fn with(mut self, name: &'static str, value: String) -> Self {
        self.attributes.push((name, value));
        self
    }

    pub fn class(&self) -> &str {
        match self.attributes.first() {
            Some(("class", class)) => class,
            _ => "",
        }
    }
}

fn circle(class: &str, [x, y, r]: [f64; 3]) -> Node {
    Node::shape("circle", class, &[("cx", x), ("cy", y), ("r", r)])
}

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

/// Why there are no drawings of a ruleset's games.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDrawn {
    #[error(
        "pictures are drawn of the games quarto and four-in-a-row; this one is {}",
        quote(.0.as_bytes())
    )]
    Game(String),
    #[error("its piece set: {0}")]
    Pieces(SetError),
}

impl Pieces {
    pub fn of_set(set: PieceSet) -> Self {
        Self::Quarto(Box::new(QuartoPieces {
            style: PieceStyle::of(&set),
            set,
        }))
    }

    pub fn of_ruleset(ruleset: &dyn Ruleset) -> Result<Self, NotDrawn> {
        match (ruleset.program(), ruleset.name()) {
            (None, "quarto") => {
                let set = ruleset.pieces().map(PieceSet::parse).transpose();
                let set = set.map_err(NotDrawn::Pieces)?;
                Ok(Self::of_set(set.unwrap_or_default()))
            }
            (None, "four-in-a-row") => Ok(Self::FourInARow),
            (_, name) => Err(NotDrawn::Game(name.to_owned())),
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
            Self::FourInARow => {
                let mut discs = DISCS.iter().zip(0..);
                discs.find_map(|((mark, _), side)| (*mark == symbol).then_some(side))
            }
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

    /// Symbol, words and drawing of each piece, in the set's order.
    pub fn all(&self) -> Vec<(char, String, Node)> {
        let shown = |piece: &Piece| {
            let (symbol, bits) = (self.set.symbol(*piece), piece.bits());
            (symbol, self.in_words(bits), pieces::token(self, bits))
        };
        self.set.order().iter().map(shown).collect()
    }

    pub fn is_builtin(&self) -> bool {
        self.set.is_builtin()
    }

    fn symbol(&self, bits: u8) -> String {
        let symbol = Piece::new(bits).map(|piece| self.set.symbol(piece));
        symbol.map_or_else(String::new, |symbol| escape_controls(&symbol.to_string()))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Row by row, as [`Pieces::read`] numbers them.
    cells: Vec<Option<u8>>,
    hand: Option<u8>,
    last: Option<usize>,
    lines: Vec<Vec<usize>>,
    opening: Vec<bool>,
    /// Class of the piece of the last turn, after a space; for pages.
    fresh: String,
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
            fresh: String::new(),
        }
    }

    pub fn of(pieces: &Pieces, session: &dyn Game) -> Self {
        let text = session.as_start();
        let (board, hand) = text.split_once(' ').unwrap_or((&text, ""));
        Self::new(pieces, board, hand.chars().next(), &session.picture(None))
    }

    /// The piece of the last turn has this class, too.
    #[must_use]
    pub fn fresh(mut self, class: &str) -> Self {
        self.fresh = format!(" {class}");
        self
    }

    #[must_use]
    pub fn begun_with(mut self, start: &Self) -> Self {
        self.opening = start.cells.iter().map(Option::is_some).collect();
        self
    }

    /// A text alternative.
    pub fn in_words(&self, pieces: &Pieces) -> String {
        let mut text = self.board_in_words(pieces);
        if let (Pieces::Quarto(of), Some(bits)) = (pieces, self.hand) {
            let _ = write!(text, " In hand: {}.", of.in_words(bits));
        }
        text
    }

    pub fn board_in_words(&self, pieces: &Pieces) -> String {
        match pieces {
            Pieces::FourInARow => {
                let symbol =
                    |cell: &Option<u8>| cell.map_or('.', |side| DISCS[usize::from(side)].0);
                let rows = self.cells.chunks(7);
                let rows: Vec<String> = rows.map(|row| row.iter().map(symbol).collect()).collect();
                format!("The board, row by row from the top: {}.", rows.join(", "))
            }
            Pieces::Quarto(of) => {
                let on = |(cell, bits): (usize, &Option<u8>)| {
                    Some(format!("{} {}", cell + 1, of.in_words((*bits)?)))
                };
                let placed = self.cells.iter().enumerate().filter_map(on);
                match &placed.collect::<Vec<_>>().join("; ")[..] {
                    "" => "The board. Empty.".to_owned(),
                    placed => format!("The board. {placed}."),
                }
            }
        }
    }
}

/// Side of a cell, space before the first one (for labels), after the last one.
const CELL: f64 = 100.0;
const EDGE: f64 = 42.0;
const FRAME: f64 = 9.0;

#[expect(clippy::cast_precision_loss, reason = "a board has a few columns")]
pub const fn board_size(pieces: &Pieces) -> (f64, f64) {
    let (columns, rows) = pieces.size();
    (
        columns as f64 * CELL + EDGE + FRAME,
        rows as f64 * CELL + EDGE + FRAME,
    )
}
