//! Piece sets: the words of an edition, read from CSV.
//!
//! A set names every piece with one character and says its property for each of
//! four features. The field names and the words are the edition's own.

use std::fmt;
use std::io::Read;

use super::piece::{FEATURES, PIECES, Piece};
use super::set_reader;

/// The built-in set: A–P, big/small, red/blue, square/circular, hollow/solid.
const ENGLISH: &str = include_str!("../../../sets/english.csv");

/// Larger files are no piece sets, and are not read further.
const MAX_BYTES: u64 = 1 << 16;

/// A feature, such as size, and its two properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name, from the header.
    pub name: String,
    /// The properties of value 0 (the one the file names first) and 1.
    pub properties: [String; 2],
}

/// The words of an edition: a character for every piece, a name for every feature and property.
#[derive(Clone, Debug)]
pub struct PieceSet {
    /// The name of the piece column.
    pub(super) column: String,
    pub(super) features: [Feature; FEATURES],
    /// Pieces in the order of the file.
    pub(super) order: [Piece; PIECES],
    /// Characters by piece index.
    pub(super) symbols: [char; PIECES],
    /// Pieces by ASCII character, for the wire's hot path; others are looked up in `symbols`.
    pub(super) ascii: [Option<Piece>; 128],
    /// The file's text; empty for the built-in set.
    pub(super) text: String,
}

/// What is wrong with a piece set, and where. Both count from 1; the column counts characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetError {
    /// Line of the file.
    pub line: usize,
    /// Character of the line.
    pub column: usize,
    /// What was found and what was expected.
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

impl Default for PieceSet {
    fn default() -> Self {
        let mut set = Self::parse(ENGLISH).unwrap_or_else(|error| {
            // A test reads the file; a build with a broken one never gets past it.
            unreachable!("the built-in piece set is broken: {error}")
        });
        set.text.clear();
        set
    }
}

impl PieceSet {
    /// Reads a piece set from CSV.
    ///
    /// A byte order mark, CRLF, blank lines at the end and spaces around fields are
    /// accepted; every other deviation is an error with its place.
    ///
    /// ```
    /// use referee::game::quarto::PieceSet;
    ///
    /// let dutch = PieceSet::read(&include_bytes!("../../../sets/dutch.csv")[..])?;
    /// assert_eq!(dutch.features()[0].name, "grootte");
    /// assert_eq!(dutch.properties('K'), Some(["groot", "blauw", "vierkant", "massief"]));
    /// # Ok::<(), referee::game::quarto::SetError>(())
    /// ```
    pub fn read(source: impl Read) -> Result<Self, SetError> {
        let at_start = |message: String| SetError {
            line: 1,
            column: 1,
            message,
        };
        let mut bytes = Vec::new();
        source
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| at_start(format!("cannot be read: {error}")))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(at_start(format!(
                "the file is longer than {MAX_BYTES} bytes; expected a header and 16 rows"
            )));
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => Self::parse(text),
            Err(error) => {
                let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let (line, column) = set_reader::place(&good, good.len());
                Err(SetError {
                    line,
                    column,
                    message: format!(
                        "byte 0x{:02x} is not UTF-8; save the file with UTF-8 encoding",
                        bytes[error.valid_up_to()]
                    ),
                })
            }
        }
    }

    /// Reads a piece set from CSV text, as [`PieceSet::read`].
    pub fn parse(text: &str) -> Result<Self, SetError> {
        set_reader::parse(text)
    }

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
    /// use referee::game::quarto::PieceSet;
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

    /// Whether this is the built-in set, wherever it was read from.
    pub fn is_builtin(&self) -> bool {
        self.text.is_empty() || *self == Self::default()
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
