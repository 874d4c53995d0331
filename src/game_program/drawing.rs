//! What a game's program draws.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::messages::{MOST_ITEMS, MOST_TEXT, check_text};

/// The answer to [`super::messages::Question::Drawing`]: a grid of cells, texts below it, and a drawing for the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Fields")]
pub(super) struct DrawingReply {
    /// Row by row; an empty string is a free cell.
    pub(super) cells: Vec<Vec<String>>,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<String>,
    /// Row and column, from 0, of the cell that the last turn changed.
    pub(super) last: Option<(usize, usize)>,
    pub(super) winning: Vec<(usize, usize)>,
    /// Lines of text.
    pub(super) text: Vec<String>,
    /// For the page.
    pub(super) svg: Option<String>,
}

/// The fields of whatever types they have, so that one of a wrong type is named.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fields {
    cells: Value,
    columns: Value,
    rows: Value,
    last: Value,
    winning: Value,
    text: Value,
    svg: Value,
}

impl TryFrom<Fields> for DrawingReply {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        const TEXTS: &str = "a list of texts";
        Ok(Self {
            cells: field(
                "cells",
                fields.cells,
                "a list of rows, each a list of texts",
            )?,
            columns: field("columns", fields.columns, TEXTS)?,
            rows: field("rows", fields.rows, TEXTS)?,
            last: field("last", fields.last, "[row, column], from 0")?,
            winning: field("winning", fields.winning, "a list of [row, column], from 0")?,
            text: field("text", fields.text, TEXTS)?,
            svg: field("svg", fields.svg, "a text")?,
        })
    }
}

/// A field; empty where it is missing or `null`.
fn field<T: DeserializeOwned + Default>(
    name: &str,
    value: Value,
    expected: &str,
) -> Result<T, String> {
    if value.is_null() {
        return Ok(T::default());
    }
    serde_json::from_value(value).map_err(|_| format!("expected {expected} in {name:?}"))
}

impl DrawingReply {
    /// The error is the end of a sentence that begins with "expected".
    pub(super) fn check(&self) -> Result<(), String> {
        let width = self.cells.first().map_or(0, Vec::len);
        if self.cells.iter().any(|row| row.len() != width) {
            return Err("\"cells\" with rows of the same length".to_owned());
        }
        if self.cells.len() * width > MOST_ITEMS || self.text.len() > MOST_ITEMS {
            return Err(format!("a drawing of at most {MOST_ITEMS} cells and lines"));
        }
        let named = [
            ("cells", self.cells.iter().flatten().collect::<Vec<_>>()),
            ("columns", self.columns.iter().collect()),
            ("rows", self.rows.iter().collect()),
            ("text", self.text.iter().collect()),
        ];
        for (name, texts) in named {
            for text in texts {
                check_text(name, text, MOST_TEXT)?;
            }
        }
        let is_cell = |&(row, column): &(usize, usize)| row < self.cells.len() && column < width;
        if !self.last.iter().chain(&self.winning).all(is_cell) {
            return Err(
                "\"last\" and \"winning\" to be [row, column] of \"cells\", from 0".to_owned(),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_a_wrong_type_is_named() {
        let problem = |json: &str| {
            let error = serde_json::from_str::<DrawingReply>(json).expect_err(json);
            error.to_string()
        };
        for (json, expected) in [
            (
                r#"{"last":"a1"}"#,
                "expected [row, column], from 0 in \"last\"",
            ),
            (
                r#"{"last":[1,2,3]}"#,
                "expected [row, column], from 0 in \"last\"",
            ),
            (
                r#"{"text":"one line"}"#,
                "expected a list of texts in \"text\"",
            ),
            (r#"{"cells":["X"]}"#, "in \"cells\""),
            (r#"{"colour":1}"#, "unknown field `colour`"),
        ] {
            let found = problem(json);
            assert!(
                found.starts_with(expected) || found.contains(expected),
                "{found}"
            );
        }
        let whole = r#"{"last":[1,0],"text":["a"],"svg":null}"#;
        let drawing: DrawingReply = serde_json::from_str(whole).expect("a drawing");
        assert_eq!(drawing.last, Some((1, 0)));
    }
}
