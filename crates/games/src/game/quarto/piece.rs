//! Pieces: four bits each, one for every feature.

/// Number of features of a piece.
pub const FEATURES: usize = 4;

/// Number of different pieces.
pub const PIECES: usize = 16;

/// One of the sixteen pieces.
///
/// Bit *f* is the piece's value for feature *f*: 0 for the property that a piece
/// set names first, 1 for the other. In the built-in set bit 0 is small, bit 1
/// blue, bit 2 circular and bit 3 solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Piece(u8);

impl Piece {
    /// The piece with these bits, or `None` above 15.
    pub const fn new(bits: u8) -> Option<Self> {
        if bits < 16 { Some(Self(bits)) } else { None }
    }

    /// The piece in the low four bits.
    pub(crate) const fn from_low_bits(bits: u8) -> Self {
        Self(bits & 15)
    }

    /// The four bits, 0 to 15.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Bits as an index, 0 to 15.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The value, 0 or 1, of feature `feature` (0 to 3).
    pub const fn value(self, feature: usize) -> usize {
        (self.0 >> feature) as usize & 1
    }

    /// All sixteen, in the order of their bits.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (0..16).map(Self)
    }

    /// This piece as a set of one: bit *n* of a set stands for the piece with bits *n*.
    pub const fn mask(self) -> u16 {
        1 << self.0
    }
}

/// How people type and read pieces. Bots and records always use the set's characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PieceFormat {
    /// The set's characters.
    #[default]
    Symbol,
    /// Four binary digits, such as `0101`: the piece's bits, bit 3 first.
    Binary,
    /// The piece's bits as a number, 0 to 15.
    Decimal,
}
