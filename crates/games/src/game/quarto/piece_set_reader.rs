use std::io::Read;

use referee_text::escape_controls;

use super::game::only_char;
use super::piece_set::{FEATURES, Feature, PIECES, Piece, PieceSet, SetError};

/// Larger files are not piece sets, and are not read further.
const MAX_BYTES: u64 = 1 << 16;

const BOM: char = '\u{feff}';

/// A word of the file, with the byte it starts at.
type Field = (usize, String);

impl PieceSet {
    /// Reads a piece set from CSV.
    ///
    /// A byte order mark, CRLF, empty lines at the end and spaces around fields are accepted; every other deviation
    /// is an error with its line and column.
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
        let mut bytes = Vec::new();
        let read = source.take(MAX_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| {
            let cause = referee_text::cause(&error);
            error_at("", 0, &format!("cannot be read: {cause}"))
        })?;
        if bytes.len() as u64 > MAX_BYTES {
            let problem =
                format!("the file is longer than {MAX_BYTES} bytes; expected a header and 16 rows");
            return Err(error_at("", 0, &problem));
        }
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let (good, rest) = bytes.split_at(error.valid_up_to());
            let (good, byte) = (String::from_utf8_lossy(good), rest[0]);
            let problem =
                format!("byte 0x{byte:02x} is not UTF-8; save the file with UTF-8 encoding");
            error_at(&good, good.len(), &problem)
        })?;
        // As UTF-16 has it in the letters of English.
        if let Some(place) = text.find('\0') {
            let problem = "byte 0x00 is not text; save the file with UTF-8 encoding";
            return Err(error_at(text, place, problem));
        }
        Self::parse(text)
    }

    /// See [`PieceSet::read`].
    pub fn parse(text: &str) -> Result<Self, SetError> {
        let rows = rows(text)?;
        let mut set = Self {
            text: text.to_owned(),
            ..Self::default()
        };
        let what = "the name of the piece column and of four features, such as `piece,size,color,form,fill`";
        let header = five(text, &rows, 0, what)?;
        set.read_header(header)?;
        let mut seen = Seen::default();
        for row in 1..=PIECES {
            let what = format!("row {row} of 16: a piece and its four properties");
            let [(at, symbol), words @ ..] = five(text, &rows, row, &what)?;
            let piece = set.read_piece(&mut seen, *at, symbol, words)?;
            set.order[row - 1] = piece;
        }
        if let Some((at, _)) = rows.get(1 + PIECES).and_then(|row| row.first()) {
            let problem = "a row too many; expected the header, 16 rows and nothing else";
            return Err(error_at(text, *at, problem));
        }
        Ok(set)
    }

    fn read_header(&mut self, fields: &[Field; 1 + FEATURES]) -> Result<(), SetError> {
        for (i, (at, field)) in fields.iter().enumerate() {
            let name = field.trim();
            self.check_plain(*at, name)?;
            let Some(feature) = i.checked_sub(1) else {
                name.clone_into(&mut self.column);
                continue;
            };
            let mut earlier = self.features[..feature].iter();
            let problem = if name.is_empty() {
                format!("feature {i} has no name; expected one")
            } else if earlier.any(|earlier| earlier.name == name) {
                format!("the feature `{name}` is named twice; expected four different features")
            } else {
                self.features[feature] = Feature {
                    name: name.to_owned(),
                    properties: Default::default(),
                };
                continue;
            };
            return Err(error_at(&self.text, *at, &problem));
        }
        Ok(())
    }

    fn read_piece(
        &mut self,
        seen: &mut Seen,
        at: usize,
        field: &str,
        words: &[Field; FEATURES],
    ) -> Result<Piece, SetError> {
        let error = |problem: &str| Err(error_at(&self.text, at, problem));
        let Some(symbol) = only_char(field).or_else(|| only_char(field.trim())) else {
            return error(&match field.trim() {
                "" => "the piece has no character; expected one".to_owned(),
                found => format!(
                    "a piece is one character, found {} in {found:?} (some that look like one are several)",
                    found.chars().count()
                ),
            });
        };
        let line_of = |piece: Piece| seen[piece.index()].map(|at| place(&self.text, at).0);
        let same = |piece: &Piece| self.symbol(*piece) == symbol && seen[piece.index()].is_some();
        if let Some(line) = Piece::all().find(same).and_then(line_of) {
            return error(&format!(
                "the piece {symbol:?} is on line {line} already; expected 16 different characters"
            ));
        }
        let mut bits = 0;
        for (feature, (at, word)) in words.iter().enumerate() {
            bits |= self.read_property(feature, *at, word.trim())? << feature;
        }
        let piece = Piece::from_low_bits(bits);
        if let Some(first) = seen[piece.index()] {
            let (other, line) = (self.symbol(piece), place(&self.text, first).0);
            let problem = format!(
                "{symbol:?} has the same four properties as {other:?} on line {line}; expected all 16 combinations"
            );
            return Err(error_at(&self.text, at, &problem));
        }
        seen[piece.index()] = Some(at);
        self.symbols[piece.index()] = symbol;
        Ok(piece)
    }

    /// 0 for the property that the file names first, 1 for the other.
    fn read_property(&mut self, feature: usize, at: usize, word: &str) -> Result<u8, SetError> {
        self.check_plain(at, word)?;
        let Feature { name, properties } = &self.features[feature];
        let has_word = |other: &&Feature| other.properties.iter().any(|p| p == word);
        let owner = self.features.iter().find(has_word);
        let problem = match (&properties.each_ref().map(String::as_str), owner) {
            _ if word.is_empty() => format!("no property for `{name}`; expected one"),
            ([one, _], _) if *one == word => return Ok(0),
            ([_, two], _) if *two == word => return Ok(1),
            (_, Some(Feature { name: owner, .. })) => {
                format!("`{word}` is a property of `{owner}`; expected a property of `{name}`")
            }
            (["", _] | [_, ""], None) => {
                let value = u8::from(!properties[0].is_empty());
                word.clone_into(&mut self.features[feature].properties[usize::from(value)]);
                return Ok(value);
            }
            ([one, two], None) => {
                format!("`{word}` is a third property of `{name}`; expected `{one}` or `{two}`")
            }
        };
        Err(error_at(&self.text, at, &problem))
    }

    /// An error when a terminal would act on a word, or hide a part of it.
    fn check_plain(&self, at: usize, word: &str) -> Result<(), SetError> {
        if escape_controls(word) == word {
            return Ok(());
        }
        let problem = format!("a control or invisible character in `{word}`; expected plain text");
        Err(error_at(&self.text, at, &problem))
    }

    /// Whether it equals the built-in set, wherever it was read from.
    pub fn is_builtin(&self) -> bool {
        self.text.is_empty() || *self == Self::default()
    }
}

/// For each piece, the byte at which its character stands.
type Seen = [Option<usize>; PIECES];

/// Line and column (in characters), from 1, of a byte of the text.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[start..].chars().filter(|&c| c != BOM).count() + 1;
    (line, column)
}

fn error_at(text: &str, byte: usize, message: &str) -> SetError {
    let (line, column) = place(text, byte);
    SetError {
        line,
        column,
        message: escape_controls(message),
    }
}

/// Empty lines are accepted at the end only.
fn rows(text: &str) -> Result<Vec<Vec<Field>>, SetError> {
    let body = text.trim_start_matches(BOM);
    let (mut offset, body) = (text.len() - body.len(), body.trim_end());
    let mut rows = Vec::new();
    for line in body.split('\n') {
        if line.trim().is_empty() {
            let problem = match body {
                "" => {
                    "the file is empty; expected a header of five fields and 16 rows, such as `piece,size,color,form,fill`"
                }
                _ => {
                    "a blank line between the rows; blank lines are accepted at the end only, remove it"
                }
            };
            return Err(error_at(text, offset, problem));
        }
        let fields = split_fields(line.strip_suffix('\r').unwrap_or(line));
        let fields = fields.map_err(|(at, problem)| error_at(text, offset + at, problem))?;
        let placed = fields.into_iter().map(|(at, field)| (offset + at, field));
        rows.push(placed.collect());
        offset += line.len() + 1;
    }
    Ok(rows)
}

/// `what` is what the row should hold, for the error.
fn five<'a>(
    text: &str,
    rows: &'a [Vec<Field>],
    row: usize,
    what: &str,
) -> Result<&'a [Field; 1 + FEATURES], SetError> {
    let end_of = |next: usize| {
        let next = rows.get(next).and_then(|row| row.first());
        let end = next.map_or(text.len(), |field| field.0);
        text[..end].trim_end().len()
    };
    let Some(fields) = rows.get(row) else {
        let problem = format!("the file ends here; expected {what}");
        return Err(error_at(text, end_of(row), &problem));
    };
    fields.as_slice().try_into().map_err(|_| {
        let surplus = fields.get(1 + FEATURES);
        let count = match fields.len() {
            1 => "one field".to_owned(),
            count => format!("{count} fields"),
        };
        let hint = match &fields[..] {
            [(_, only)] if only.contains(';') => "; separate the fields by `,` instead of `;`",
            [(_, only)] if only.contains('\t') => "; separate the fields by `,` instead of tabs",
            _ => "",
        };
        let problem = format!("{count} here; expected five, {what}{hint}");
        let at = surplus.map_or_else(|| end_of(row + 1), |field| field.0);
        error_at(text, at, &problem)
    })
}

/// The fields of a line with the byte each starts at, or what is wrong at which byte.
///
/// CSV libraries do not report where a field begins, and repair stray quotes silently.
fn split_fields(line: &str) -> Result<Vec<Field>, (usize, &'static str)> {
    let mut fields = Vec::new();
    let mut at = 0;
    loop {
        let rest = &line[at..];
        let quote = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let (mut field, mut after) = (String::new(), 0);
        if rest[quote..].starts_with('"') {
            after = quote + 1;
            loop {
                let length = rest[after..].find('"').ok_or((
                    at + quote,
                    "a quote that is not closed on its line; close it",
                ))?;
                field.push_str(&rest[after..after + length]);
                after += length + 1;
                if !rest[after..].starts_with('"') {
                    break;
                }
                field.push('"');
                after += 1;
            }
        }
        let end = rest[after..]
            .find(',')
            .map_or(rest.len(), |comma| after + comma);
        if after == 0 {
            rest[..end].clone_into(&mut field);
        } else if !rest[after..end].trim().is_empty() {
            return Err((
                at + after,
                "text after the closing quote; put all of the field between the quotes, and double the quotes within it",
            ));
        }
        fields.push((at, field));
        if end == rest.len() {
            return Ok(fields);
        }
        at += end + 1;
    }
}
