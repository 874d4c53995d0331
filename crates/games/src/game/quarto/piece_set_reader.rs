//! Reading a piece set from CSV: every error names the line and the column.

use std::collections::HashMap;
use std::io::Read;

use super::piece::{FEATURES, PIECES, Piece};
use super::piece_set::{Feature, PieceSet, SetError};
use super::piece_set_rows::{Rows, place};

/// Larger files are not piece sets, and are not read further.
const MAX_BYTES: u64 = 1 << 16;

impl PieceSet {
    /// Reads a piece set from CSV.
    ///
    /// A byte order mark, CRLF, blank lines at the end and spaces around fields are
    /// accepted; every other deviation is an error with its line and column.
    ///
    /// ```
    /// use referee_games::game::quarto::PieceSet;
    ///
    /// let mut csv = String::from("stuk,grootte,kleur,vorm,vulling\n");
    /// for (index, symbol) in ('A'..='P').enumerate() {
    ///     let word = |bit: usize, words: [&'static str; 2]| words[index >> bit & 1];
    ///     csv += &format!(
    ///         "{symbol},{},{},{},{}\n",
    ///         word(0, ["groot", "klein"]),
    ///         word(1, ["rood", "blauw"]),
    ///         word(2, ["vierkant", "rond"]),
    ///         word(3, ["hol", "massief"]),
    ///     );
    /// }
    /// let dutch = PieceSet::read(csv.as_bytes())?;
    /// assert_eq!(dutch.features()[0].name, "grootte");
    /// assert_eq!(dutch.properties('K'), Some(["groot", "blauw", "vierkant", "massief"]));
    /// # Ok::<(), referee_games::game::quarto::SetError>(())
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
            .map_err(|error| {
                at_start(format!(
                    "cannot be read: {error}",
                    error = referee_text::cause(&error)
                ))
            })?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(at_start(format!(
                "the file is longer than {MAX_BYTES} bytes; expected a header and 16 rows"
            )));
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => Self::parse(text),
            Err(error) => {
                let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let (line, column) = place(&good, good.len());
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
        let rows = Rows::new(text)?;
        let mut builder = Builder::new(rows.header()?);
        for row in 1..=PIECES {
            builder.row(&rows, row)?;
        }
        rows.no_more_than(1 + PIECES)?;
        builder.finish(text)
    }

    /// Whether this is the built-in set, wherever it was read from.
    pub fn is_builtin(&self) -> bool {
        self.text.is_empty() || *self == Self::default()
    }
}

/// Collects the rows, with the place where each word first occurred.
struct Builder {
    header: [String; 1 + FEATURES],
    properties: [Vec<String>; FEATURES],
    /// The feature of each property.
    owner: HashMap<String, usize>,
    order: Vec<(usize, Piece)>,
    symbols: [Option<(char, usize)>; PIECES],
}

impl Builder {
    fn new(header: [String; 1 + FEATURES]) -> Self {
        Self {
            header,
            properties: Default::default(),
            owner: HashMap::new(),
            order: Vec::new(),
            symbols: [None; PIECES],
        }
    }

    fn row(&mut self, rows: &Rows<'_>, row: usize) -> Result<(), SetError> {
        let fields = rows.fields(
            row,
            &format!("row {row} of 16: a piece and its four properties"),
        )?;
        let (symbol_byte, field) = &fields[0];
        let symbol = single_char(field).ok_or_else(|| {
            let found = field.trim();
            rows.error(
                *symbol_byte,
                &if found.is_empty() {
                    "the piece has no character; expected one".to_owned()
                } else {
                    format!(
                        "a piece is one character, found {} in {found:?} (some that look like one are several)",
                        found.chars().count()
                    )
                },
            )
        })?;
        let line_of = |byte: usize| place(rows.text, byte).0;
        if let Some((_, byte)) = self.symbols.iter().flatten().find(|(c, _)| *c == symbol) {
            return Err(rows.error(
                *symbol_byte,
                &format!(
                    "the piece {symbol:?} is on line {} already; expected 16 different characters",
                    line_of(*byte)
                ),
            ));
        }
        let mut bits = 0;
        for (feature, (byte, field)) in fields[1..].iter().enumerate() {
            let value = self.value(rows, feature, *byte, field.trim())?;
            bits |= value << feature;
        }
        let piece = Piece::from_low_bits(bits);
        if let Some((other, byte)) = self.symbols[piece.index()] {
            return Err(rows.error(
                *symbol_byte,
                &format!(
                    "{symbol:?} has the same four properties as {other:?} on line {}; expected all 16 combinations",
                    line_of(byte)
                ),
            ));
        }
        self.symbols[piece.index()] = Some((symbol, *symbol_byte));
        self.order.push((*symbol_byte, piece));
        Ok(())
    }

    /// 0 for the property that the file names first, 1 for the other.
    fn value(
        &mut self,
        rows: &Rows<'_>,
        feature: usize,
        byte: usize,
        word: &str,
    ) -> Result<u8, SetError> {
        let name = &self.header[1 + feature];
        if word.is_empty() {
            return Err(rows.error(byte, &format!("no property for `{name}`; expected one")));
        }
        rows.plain(byte, word)?;
        if let Some(value) = self.properties[feature].iter().position(|p| p == word) {
            return Ok(u8::from(value == 1));
        }
        if let Some(&owner) = self.owner.get(word) {
            return Err(rows.error(
                byte,
                &format!(
                    "`{word}` is a property of `{}`; expected a property of `{name}`",
                    self.header[1 + owner]
                ),
            ));
        }
        if let [one, two] = &self.properties[feature][..] {
            return Err(rows.error(
                byte,
                &format!("`{word}` is a third property of `{name}`; expected `{one}` or `{two}`"),
            ));
        }
        self.owner.insert(word.to_owned(), feature);
        self.properties[feature].push(word.to_owned());
        Ok(u8::from(self.properties[feature].len() == 2))
    }

    fn finish(self, text: &str) -> Result<PieceSet, SetError> {
        let incomplete = || SetError {
            line: 1,
            column: 1,
            message: "expected all 16 combinations of four two-valued features".to_owned(),
        };
        let [column, names @ ..] = self.header;
        let mut features = Vec::with_capacity(FEATURES);
        for (name, properties) in names.into_iter().zip(self.properties) {
            // Sixteen different combinations need both values of every feature.
            let properties = properties.try_into().map_err(|_| incomplete())?;
            features.push(Feature { name, properties });
        }
        let mut symbols = ['\0'; PIECES];
        let mut ascii = [None; 128];
        for piece in Piece::all() {
            let (symbol, _) = self.symbols[piece.index()].ok_or_else(incomplete)?;
            symbols[piece.index()] = symbol;
            if let Some(entry) = ascii.get_mut(symbol as usize) {
                *entry = Some(piece);
            }
        }
        let order: Vec<_> = self.order.into_iter().map(|(_, piece)| piece).collect();
        Ok(PieceSet {
            column,
            features: features.try_into().map_err(|_| incomplete())?,
            order: order.try_into().map_err(|_| incomplete())?,
            symbols,
            ascii,
            text: text.to_owned(),
        })
    }
}

/// The one character of a field: as it stands, or with the blanks around it taken off.
fn single_char(field: &str) -> Option<char> {
    let one = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|_| chars.next().is_none())
    };
    one(field).or_else(|| one(field.trim()))
}
