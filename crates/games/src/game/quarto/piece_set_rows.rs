//! The CSV of a piece set: rows and fields, each with its place in the text.
//!
//! What the fields mean is decided in `piece_set_reader`.

use super::piece::FEATURES;
use super::piece_set::SetError;
use referee_text::escape_controls;

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
    /// Splits the text into rows of fields. Blank lines are accepted at the end only.
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

    /// An error at the place of a byte of the text.
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

    /// The five fields of a row, each with its byte. `what` is what the row should hold, for the
    /// error.
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

    /// An error when a terminal would act on a word of the field at a byte, or hide a part of it.
    pub(super) fn plain(&self, byte: usize, word: &str) -> Result<(), SetError> {
        if escape_controls(word) == word {
            return Ok(());
        }
        let problem = format!("a control or invisible character in `{word}`; expected plain text");
        Err(self.error(byte, &problem))
    }

    /// An error when there are more rows, the header included.
    pub(super) fn no_more_than(&self, rows: usize) -> Result<(), SetError> {
        match self.rows.get(rows).and_then(|row| row.first()) {
            None => Ok(()),
            Some((byte, _)) => Err(self.error(
                *byte,
                "a row too many; expected the header, 16 rows and nothing else",
            )),
        }
    }
}

/// The fields of a line, each with the byte it starts at, or what is wrong at which byte.
///
/// This is CSV as in RFC 4180, except that blanks are accepted around quoted fields and a field
/// ends with its line. CSV libraries do not report where a field begins, and repair stray quotes
/// silently.
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
        // The comma.
        at += 1;
    }
}

/// The text up to the closing quote, and how many bytes it takes with it.
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
