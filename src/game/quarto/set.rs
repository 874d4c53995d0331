//! Piece sets: the words of an edition, read from CSV.
//!
//! A set names every piece with one character and says its property for each of
//! four features. The field names and the words are the edition's own.

use std::collections::HashMap;
use std::fmt;
use std::io::Read;

use super::piece::{FEATURES, PIECES, Piece};

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
    column: String,
    features: [Feature; FEATURES],
    /// Pieces in the order of the file.
    order: [Piece; PIECES],
    /// Characters by piece index.
    symbols: [char; PIECES],
    /// Pieces by ASCII character, for the wire's hot path; others are looked up in `symbols`.
    ascii: [Option<Piece>; 128],
    /// The file's text; empty for the built-in set.
    text: String,
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
        let header = rows.header()?;
        let mut builder = Builder::new(header);
        for row in 1..=PIECES {
            builder.row(&rows, row)?;
        }
        rows.no_more_than(1 + PIECES)?;
        builder.finish(text)
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

/// Line and column (in characters), from 1, of a byte of the text.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[start..].chars().filter(|&c| c != BOM).count() + 1;
    (line, column)
}

const BOM: char = '\u{feff}';

/// The fields of the file, each with the byte it starts at.
struct Rows<'a> {
    text: &'a str,
    rows: Vec<Vec<(usize, String)>>,
}

impl<'a> Rows<'a> {
    fn new(text: &'a str) -> Result<Self, SetError> {
        let start = if text.starts_with(BOM) {
            BOM.len_utf8()
        } else {
            0
        };
        let body = text[start..].trim_end();
        let this = |rows| Self { text, rows };
        if body.trim_start().is_empty() {
            return Err(this(Vec::new()).error(start, "the file is empty; expected a header of five fields and 16 rows, such as `piece,size,color,form,fill`"));
        }
        let mut offset = start;
        for line in body.split_inclusive('\n') {
            if line.trim().is_empty() {
                return Err(this(Vec::new()).error(offset, "a blank line between the rows; blank lines are accepted at the end only, remove it"));
            }
            offset += line.len();
        }
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(body.as_bytes());
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| {
                this(Vec::new()).error(start, &format!("cannot be read as CSV: {error}"))
            })?;
            let byte = record
                .position()
                .and_then(|position| usize::try_from(position.byte()).ok())
                .unwrap_or(0);
            let starts = field_starts(body, byte);
            rows.push(
                record
                    .iter()
                    .enumerate()
                    .map(|(i, field)| {
                        let at = starts.get(i).copied().unwrap_or(body.len());
                        (start + at, field.to_owned())
                    })
                    .collect(),
            );
        }
        Ok(this(rows))
    }

    fn error(&self, byte: usize, message: &str) -> SetError {
        let (line, column) = place(self.text, byte);
        SetError {
            line,
            column,
            message: message.to_owned(),
        }
    }

    fn end(&self) -> usize {
        self.text.trim_end().len()
    }

    /// The five fields of a row.
    fn fields(&self, row: usize, what: &str) -> Result<&[(usize, String)], SetError> {
        let Some(fields) = self.rows.get(row) else {
            return Err(self.error(self.end(), &format!("the file ends here; expected {what}")));
        };
        if fields.len() == 1 + FEATURES {
            return Ok(fields);
        }
        let byte = fields
            .get(1 + FEATURES)
            .map_or_else(|| self.row_end(row), |field| field.0);
        let hint = match &fields[..] {
            [(_, only)] if only.contains(';') => "; separate the fields by `,` instead of `;`",
            [(_, only)] if only.contains('\t') => "; separate the fields by `,` instead of tabs",
            _ => "",
        };
        Err(self.error(
            byte,
            &format!(
                "{} here; expected five, {what}{hint}",
                match fields.len() {
                    1 => "one field".to_owned(),
                    n => format!("{n} fields"),
                }
            ),
        ))
    }

    fn row_end(&self, row: usize) -> usize {
        let next = self.rows.get(row + 1).and_then(|fields| fields.first());
        let end = next.map_or(self.text.len(), |field| field.0);
        self.text[..end].trim_end().len()
    }

    fn header(&self) -> Result<[String; 1 + FEATURES], SetError> {
        let fields = self.fields(
            0,
            "the name of the piece column and of four features, such as `piece,size,color,form,fill`",
        )?;
        let mut names: [String; 1 + FEATURES] = Default::default();
        for (i, (byte, field)) in fields.iter().enumerate() {
            let name = field.trim();
            if i > 0 && name.is_empty() {
                return Err(self.error(*byte, &format!("feature {i} has no name; expected one")));
            }
            if name.chars().any(char::is_control) {
                return Err(self.error(
                    *byte,
                    &format!("a control character in the name {name:?}; expected plain text"),
                ));
            }
            if i > 0 && names[1..i].iter().any(|earlier| earlier == name) {
                return Err(self.error(
                    *byte,
                    &format!(
                        "the feature `{name}` is named twice; expected four different features"
                    ),
                ));
            }
            name.clone_into(&mut names[i]);
        }
        Ok(names)
    }

    fn no_more_than(&self, rows: usize) -> Result<(), SetError> {
        match self.rows.get(rows).and_then(|row| row.first()) {
            None => Ok(()),
            Some((byte, _)) => Err(self.error(
                *byte,
                "a row too many; expected the header, 16 rows and nothing else",
            )),
        }
    }
}

/// Bytes at which the fields of the record at `byte` start, found as CSV is read:
/// commas within quotes do not separate.
fn field_starts(body: &str, byte: usize) -> Vec<usize> {
    // The reader's position may still be before the end of the last line.
    let rest = body[byte..].trim_start_matches(['\r', '\n']);
    let start = body.len() - rest.len();
    let mut starts = vec![start];
    let mut quoted = false;
    for (i, c) in rest.bytes().enumerate() {
        match c {
            b'"' => quoted = !quoted,
            b',' if !quoted => starts.push(start + i + 1),
            b'\n' if !quoted => break,
            _ => {}
        }
    }
    starts
}

/// Collects the rows and remembers where each word was first seen.
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
                    format!("a piece is one character, found {found:?}")
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
        if word.chars().any(char::is_control) {
            return Err(rows.error(
                byte,
                &format!("a control character in the property {word:?}; expected plain text"),
            ));
        }
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
