use std::collections::HashMap;
use std::io::Read;

use referee_text::escape_controls;

use super::piece_set::{FEATURES, Feature, PIECES, Piece, PieceSet, SetError};

/// Larger files are not piece sets, and are not read further.
const MAX_BYTES: u64 = 1 << 16;

impl PieceSet {
    /// Reads a piece set from CSV.
    ///
    /// A byte order mark, CRLF, empty lines at the end and spaces around fields are accepted; every other deviation
    /// is an error with its line and column.
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

    /// As [`PieceSet::read`].
    pub fn parse(text: &str) -> Result<Self, SetError> {
        let rows = Rows::new(text)?;
        let mut builder = Builder::new(rows.header()?);
        for row in 1..=PIECES {
            builder.row(&rows, row)?;
        }
        rows.no_more_than(1 + PIECES)?;
        builder.finish(text)
    }

    /// Wherever it was read from.
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

/// As it stands, or with the spaces around it taken off.
fn single_char(field: &str) -> Option<char> {
    let one = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|_| chars.next().is_none())
    };
    one(field).or_else(|| one(field.trim()))
}

/// Line and column (in characters), from 1, of a byte of the text.
pub(super) fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[start..].chars().filter(|&c| c != BOM).count() + 1;
    (line, column)
}

const BOM: char = '\u{feff}';

/// The fields of the file, each with the byte it starts at.
pub(super) struct Rows<'a> {
    pub(super) text: &'a str,
    rows: Vec<Vec<(usize, String)>>,
}

impl<'a> Rows<'a> {
    /// Empty lines are accepted at the end only.
    pub(super) fn new(text: &'a str) -> Result<Self, SetError> {
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
        let mut rows = Vec::new();
        let mut offset = start;
        for line in body.split_inclusive('\n') {
            let text = line.strip_suffix('\n').unwrap_or(line);
            let text = text.strip_suffix('\r').unwrap_or(text);
            let fields = split_fields(text)
                .map_err(|(at, message)| this(Vec::new()).error(offset + at, message))?;
            let fields = fields.into_iter().map(|(at, field)| (offset + at, field));
            rows.push(fields.collect());
            offset += line.len();
        }
        Ok(this(rows))
    }

    pub(super) fn error(&self, byte: usize, message: &str) -> SetError {
        let (line, column) = place(self.text, byte);
        SetError {
            line,
            column,
            message: escape_controls(message),
        }
    }

    fn end(&self) -> usize {
        self.text.trim_end().len()
    }

    /// `what` is what the row should hold, for the error.
    pub(super) fn fields(&self, row: usize, what: &str) -> Result<&[(usize, String)], SetError> {
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

    /// The names of the piece column and of the four features.
    pub(super) fn header(&self) -> Result<[String; 1 + FEATURES], SetError> {
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
            self.plain(*byte, name)?;
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

    /// An error when a terminal would act on a word, or hide a part of it.
    pub(super) fn plain(&self, byte: usize, word: &str) -> Result<(), SetError> {
        if escape_controls(word) == word {
            return Ok(());
        }
        let problem = format!("a control or invisible character in `{word}`; expected plain text");
        Err(self.error(byte, &problem))
    }

    /// `rows` includes the header.
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

/// The fields of a line with the byte each starts at, or what is wrong at which byte.
///
/// CSV as in RFC 4180, except that spaces are accepted around quoted fields and a field ends with its line. CSV
/// libraries do not report where a field begins, and repair stray quotes silently.
fn split_fields(line: &str) -> Result<Vec<(usize, String)>, (usize, &'static str)> {
    let mut fields = Vec::new();
    let mut at = 0;
    loop {
        let rest = &line[at..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let (field, length) = match rest[blanks..].strip_prefix('"') {
            None => {
                let length = rest.find(',').unwrap_or(rest.len());
                (rest[..length].to_owned(), length)
            }
            Some(quoted) => {
                let (field, inside) = unquote(quoted).ok_or((
                    at + blanks,
                    "a quote that is not closed on its line; close it",
                ))?;
                let after = blanks + 1 + inside;
                let length = after + rest[after..].find(',').unwrap_or(rest[after..].len());
                if !rest[after..length].trim().is_empty() {
                    return Err((
                        at + after,
                        "text after the closing quote; put all of the field between the quotes, and double the quotes within it",
                    ));
                }
                (field, length)
            }
        };
        fields.push((at, field));
        at += length;
        if at == line.len() {
            return Ok(fields);
        }
        at += 1;
    }
}

/// The text up to the closing quote, and its bytes with the quote.
fn unquote(quoted: &str) -> Option<(String, usize)> {
    let mut field = String::new();
    let mut at = 0;
    loop {
        let end = at + quoted[at..].find('"')?;
        field.push_str(&quoted[at..end]);
        at = end + 1;
        if !quoted[at..].starts_with('"') {
            return Some((field, at));
        }
        field.push('"');
        at += 1;
    }
}
