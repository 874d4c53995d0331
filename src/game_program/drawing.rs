//! What a game's program draws.

use serde::Deserialize;

use super::messages::{MOST_ITEMS, MOST_TEXT, check_text};

/// The answer to [`super::messages::Question::Drawing`]: a grid of cells, texts below it, and a drawing for the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DrawingReply {
    /// Row by row; an empty string is a free cell.
    #[serde(default)]
    pub(super) cells: Vec<Vec<String>>,
    #[serde(default)]
    pub(super) columns: Vec<String>,
    #[serde(default)]
    pub(super) rows: Vec<String>,
    /// Row and column, from 0, of the cell that the last turn changed.
    #[serde(default)]
    pub(super) last: Option<(usize, usize)>,
    #[serde(default)]
    pub(super) winning: Vec<(usize, usize)>,
    /// Lines of text.
    #[serde(default)]
    pub(super) text: Vec<String>,
    /// For the page.
    #[serde(default)]
    pub(super) svg: Option<String>,
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
