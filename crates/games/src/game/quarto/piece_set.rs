//! Piece sets: the characters of the pieces and the names of their features and properties.
//!
//! A set gives every piece one character and one property for each of four features. The
//! characters and the names are its own; the rules know bits only. `piece_set_reader` reads sets
//! from CSV.

use std::fmt;

use super::piece::{FEATURES, PIECES, Piece};

/// A feature, such as size, and its two properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name, from the header.
    pub name: String,
    /// The properties of value 0 (the one the file names first) and 1.
    pub properties: [String; 2],
}

/// A character for every piece, a name for every feature and property.
///
/// ```
/// use referee_games::game::quarto::{Piece, PieceSet};
///
/// let set = PieceSet::default();
/// let piece = set.piece('K').unwrap();
/// assert_eq!(piece, Piece::new(0b1010).unwrap());
/// assert_eq!(set.words(piece), ["big", "blue", "square", "solid"]);
/// assert_eq!(set.features()[1].name, "color");
/// ```
#[derive(Clone, Debug)]
pub struct PieceSet {
    /// The name of the piece column.
    pub(super) column: String,
    pub(super) features: [Feature; FEATURES],
    /// Pieces in the order of the file.
    pub(super) order: [Piece; PIECES],
    /// Characters by piece index.
    pub(super) symbols: [char; PIECES],
    /// Pieces by ASCII character, so that reading an answer is fast; others are searched for in
    /// `symbols`.
    pub(super) ascii: [Option<Piece>; 128],
    /// The file's text; empty for the built-in set.
    pub(super) text: String,
}

impl Default for PieceSet {
    /// The built-in set: A to P, big or small, red or blue, square or circular, hollow or solid.
    fn default() -> Self {
        let feature = |name: &str, first: &str, second: &str| Feature {
            name: name.to_owned(),
            properties: [first.to_owned(), second.to_owned()],
        };
        let order: [Piece; PIECES] =
            std::array::from_fn(|index| Piece::from_low_bits(index.to_le_bytes()[0]));
        let mut ascii = [None; 128];
        for (symbol, piece) in (b'A'..).zip(order) {
            ascii[usize::from(symbol)] = Some(piece);
        }
        Self {
            column: "piece".to_owned(),
            features: [
                feature("size", "big", "small"),
                feature("color", "red", "blue"),
                feature("form", "square", "circular"),
                feature("fill", "hollow", "solid"),
            ],
            order,
            symbols: b"ABCDEFGHIJKLMNOP".map(char::from),
            ascii,
            text: String::new(),
        }
    }
}

/// What is wrong with a piece set, and where. Both count from 1; the column counts characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetError {
    /// Line of the file.
    pub line: usize,
    /// Character of the line.
    pub column: usize,
    /// What was found and what was expected, for people.
    pub message: String,
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.message
        )
    }
}

impl std::error::Error for SetError {}

impl PartialEq for PieceSet {
    /// Sets with the same words are equal, however their files were laid out.
    fn eq(&self, other: &Self) -> bool {
        self.column == other.column
            && self.features == other.features
            && self.order == other.order
            && self.symbols == other.symbols
    }
}

impl Eq for PieceSet {}

impl PieceSet {
    /// The four features, in the order of the file.
    pub const fn features(&self) -> &[Feature; FEATURES] {
        &self.features
    }

    /// The name of the piece column.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// The pieces in the order of the file.
    pub const fn order(&self) -> &[Piece; PIECES] {
        &self.order
    }

    /// The character of a piece.
    pub const fn symbol(&self, piece: Piece) -> char {
        self.symbols[piece.index()]
    }

    /// The piece of a character.
    pub fn piece(&self, symbol: char) -> Option<Piece> {
        match self.ascii.get(symbol as usize) {
            Some(&entry) => entry,
            None => Piece::all().find(|piece| self.symbols[piece.index()] == symbol),
        }
    }

    /// The four properties of a piece, in the order of the features.
    pub fn words(&self, piece: Piece) -> [&str; FEATURES] {
        std::array::from_fn(|feature| self.property(feature, piece.value(feature)))
    }

    /// The four properties of the piece that a character stands for.
    ///
    /// ```
    /// use referee_games::game::quarto::PieceSet;
    ///
    /// let set = PieceSet::default();
    /// assert_eq!(set.properties('A'), Some(["big", "red", "square", "hollow"]));
    /// assert_eq!(set.properties('P'), Some(["small", "blue", "circular", "solid"]));
    /// assert_eq!(set.properties('?'), None);
    /// ```
    pub fn properties(&self, symbol: char) -> Option<[&str; FEATURES]> {
        Some(self.words(self.piece(symbol)?))
    }

    /// The word for a feature's value.
    pub fn property(&self, feature: usize, value: usize) -> &str {
        &self.features[feature].properties[value]
    }

    /// The CSV text it was read from; empty for the built-in set.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether bots can be asked about these pieces: the protocol keeps `.`, `-`,
    /// white space and control characters for itself.
    pub fn check_for_match(&self) -> Result<(), SetError> {
        let reserved = |c: char| c == '.' || c == '-' || c.is_whitespace() || c.is_control();
        let Some(row) = self.order.iter().position(|&p| reserved(self.symbol(p))) else {
            return Ok(());
        };
        Err(SetError {
            line: row + 2,
            column: 1,
            message: format!(
                "{:?} cannot stand for a piece in a match, the protocol uses it; choose a character other than '.', '-', white space and control characters",
                self.symbol(self.order[row])
            ),
        })
    }
}
