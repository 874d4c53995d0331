//! An edition of Quarto: a rule set, a piece set, and how people see the pieces.

use super::cell::Rules;
use super::piece::{Piece, PieceFormat};
use super::piece_set::PieceSet;
use super::position::Position;
use referee_text::escape_controls;

/// An edition of Quarto: a rule set and a piece set. It is a [`Game`](crate::game::Game).
///
/// ```
/// use referee_games::game::Game as _;
/// use referee_games::game::quarto::Edition;
///
/// let edition = Edition::default();
/// let position = edition.read_request("A..PC...J..EF... G")?;
/// let (turn, after) = edition.judge(&position, "6 O").unwrap();
/// assert_eq!(edition.describe(&position, turn), "places G on 6, gives O");
///
/// let mut request = String::new();
/// edition.write_request(&after, &mut request);
/// assert_eq!(request, "A..PCG..J..EF... O");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edition {
    rules: Rules,
    set: PieceSet,
    is_builtin: bool,
    format: PieceFormat,
}

impl Default for Edition {
    /// The standard rules with the built-in pieces.
    fn default() -> Self {
        Self::new(Rules::Standard, PieceSet::default())
    }
}

impl Edition {
    /// An edition with this rule set and these pieces.
    pub fn new(rules: Rules, set: PieceSet) -> Self {
        let is_builtin = set.is_builtin();
        Self {
            rules,
            set,
            is_builtin,
            format: PieceFormat::default(),
        }
    }

    pub const fn set(&self) -> &PieceSet {
        &self.set
    }

    pub(super) const fn rule_set(&self) -> Rules {
        self.rules
    }

    /// Whether its piece set is the built-in one.
    pub(super) const fn has_builtin_set(&self) -> bool {
        self.is_builtin
    }

    /// Shows pieces to people in this format; bots and records always see the set's characters.
    #[must_use]
    pub const fn with_format(mut self, format: PieceFormat) -> Self {
        self.format = format;
        self
    }

    /// How people see pieces.
    pub const fn format(&self) -> PieceFormat {
        self.format
    }

    /// A piece as people see it. Sets that are used for drawing only may have characters that
    /// must be escaped.
    pub(super) fn shown(&self, piece: Piece) -> String {
        match self.format {
            PieceFormat::Symbol => escape_controls(self.set.symbol(piece).encode_utf8(&mut [0; 4])),
            PieceFormat::Binary => format!("{:04b}", piece.bits()),
            PieceFormat::Decimal => piece.bits().to_string(),
        }
    }

    /// A piece with its properties: `K big blue square solid`.
    pub(super) fn in_words(&self, piece: Piece) -> String {
        let [a, b, c, d] = self.set.words(piece);
        format!("{} {a} {b} {c} {d}", self.shown(piece))
    }

    /// The pieces that can still be given, in the order of the set.
    pub(super) fn left_in_order(&self, position: &Position) -> impl Iterator<Item = Piece> {
        let order = self.set.order().iter().copied();
        order.filter(|&piece| position.is_left(piece))
    }
}
