//! Piece sets: the characters of the pieces and the names of their features and properties. The rules know bits only.

/// A feature, such as size, and its two properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    pub name: String,
    /// For value 0 (the one the file names first) and 1.
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
    pub(super) column: String,
    pub(super) features: [Feature; FEATURES],
    /// The pieces in the order of the file.
    pub(super) order: [Piece; PIECES],
    pub(super) symbols: [char; PIECES],
    /// Empty for the built-in set.
    pub(super) text: String,
}

impl Default for PieceSet {
    /// A to P, big or small, red or blue, square or circular, hollow or solid.
    fn default() -> Self {
        let feature = |name: &str, first: &str, second: &str| Feature {
            name: name.to_owned(),
            properties: [first.to_owned(), second.to_owned()],
        };
        let order: [Piece; PIECES] =
            std::array::from_fn(|index| Piece::from_low_bits(index.to_le_bytes()[0]));
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
            text: String::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SetError {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What was found and what was expected, for people.
    pub message: String,
}

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
    /// In the order of the file.
    pub const fn features(&self) -> &[Feature; FEATURES] {
        &self.features
    }

    pub fn column(&self) -> &str {
        &self.column
    }

    pub const fn order(&self) -> &[Piece; PIECES] {
        &self.order
    }

    pub const fn symbol(&self, piece: Piece) -> char {
        self.symbols[piece.index()]
    }

    pub fn piece(&self, symbol: char) -> Option<Piece> {
        Piece::all().find(|&piece| self.symbol(piece) == symbol)
    }

    /// In the order of the features.
    pub fn words(&self, piece: Piece) -> [&str; FEATURES] {
        std::array::from_fn(|feature| self.property(feature, piece.value(feature)))
    }

    /// The properties of the piece with this character.
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

    pub fn property(&self, feature: usize, value: usize) -> &str {
        &self.features[feature].properties[value]
    }

    /// The CSV text; empty for the built-in set.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The protocol keeps `.`, `-`, whitespace and control characters for itself.
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

pub const FEATURES: usize = 4;

pub const PIECES: usize = 16;

/// One of the sixteen pieces.
///
/// Bit *f* is the value for feature *f*: 0 for the property that a piece set names first. In the built-in set bit 0
/// is small, bit 1 blue, bit 2 circular and bit 3 solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Piece(u8);

impl Piece {
    /// `None` above 15.
    pub const fn new(bits: u8) -> Option<Self> {
        if bits < 16 { Some(Self(bits)) } else { None }
    }

    /// The others are ignored.
    pub(crate) const fn from_low_bits(bits: u8) -> Self {
        Self(bits & 15)
    }

    pub const fn bits(self) -> u8 {
        self.0
    }

    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// 0 or 1; `feature` is 0 to 3.
    pub const fn value(self, feature: usize) -> usize {
        (self.0 >> feature) as usize & 1
    }

    /// In the order of their bits.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (0..16).map(Self)
    }

    /// Bit *n* of a set stands for the piece with bits *n*.
    pub const fn mask(self) -> u16 {
        1 << self.0
    }
}

/// How people type and read pieces. Bots and records always use the set's characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PieceFormat {
    #[default]
    Symbol,
    /// Four binary digits, such as `0101`, bit 3 first.
    Binary,
    /// The bits as a number, 0 to 15.
    Decimal,
}
