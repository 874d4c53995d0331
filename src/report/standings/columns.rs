//! Columns that are shortened, or left out, until a table fits.

use crate::report::terminal::{shortened, width};

/// Blanks between two columns.
const GAP: usize = 2;

/// A column from this weight on is never left out.
const KEPT: u8 = 90;

/// Names are shortened to this width before any column is left out, and to the other one when nothing
/// else helps.
const SHORT_NAMES: [usize; 2] = [24, 8];

/// A column of a table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) head: &'static str,
    pub(super) is_left: bool,
    /// How important it is, 0 to 100.
    pub(super) weight: u8,
    /// What it shows, row by row.
    pub(super) cells: Vec<String>,
    /// What it shows when there is little room.
    pub(super) short: Option<Vec<String>>,
}

impl Column {
    /// A right-aligned column.
    pub(super) const fn new(head: &'static str, weight: u8, cells: Vec<String>) -> Self {
        Self {
            head,
            is_left: false,
            weight,
            cells,
            short: None,
        }
    }

    /// The same, left-aligned.
    pub(super) fn left(mut self) -> Self {
        self.is_left = true;
        self
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| width(cell));
        cells.fold(width(self.head), usize::max)
    }

    fn is_empty(&self) -> bool {
        self.cells.iter().all(String::is_empty)
    }
}

/// Shortens columns and leaves others out, until lines have at most `room` columns. Returns the heads of
/// those that were left out although there is something in them.
pub(super) fn fit(columns: &mut Vec<Column>, room: usize) -> Vec<&'static str> {
    let mut left_out = Vec::new();
    if excess(columns, room) == 0 {
        return left_out;
    }
    columns.retain(|column| column.weight >= KEPT || !column.is_empty());
    if excess(columns, room) > 0 {
        for column in &mut *columns {
            if let Some(short) = column.short.take() {
                column.cells = short;
            }
        }
    }
    for least in SHORT_NAMES {
        shorten_names(columns, room, least);
        while excess(columns, room) > 0 {
            let droppable = (0..columns.len()).filter(|&i| columns[i].weight < KEPT);
            let Some(least) = droppable.min_by_key(|&i| columns[i].weight) else {
                break;
            };
            left_out.push(columns.remove(least).head);
        }
    }
    left_out
}

/// The number of columns by which lines are longer than `room`.
fn excess(columns: &[Column], room: usize) -> usize {
    let total: usize = columns.iter().map(|column| column.width() + GAP).sum();
    total.saturating_sub(GAP).saturating_sub(room)
}

/// Shortens names as far as needed, but not below `least`.
fn shorten_names(columns: &mut [Column], room: usize, least: usize) {
    let excess = excess(columns, room);
    let names = columns.iter_mut().filter(|column| column.is_left);
    if let Some(names) = names.max_by_key(|column| column.width())
        && excess > 0
    {
        let most = names.width().saturating_sub(excess).max(least);
        for name in &mut names.cells {
            *name = shortened(name, most);
        }
    }
}
