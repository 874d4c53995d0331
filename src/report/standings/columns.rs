//! Shortens and drops columns until a table fits.

use crate::report::terminal::{shortened, width};

/// Spaces between columns.
const GAP: usize = 2;

/// Columns of this weight are never dropped.
const KEPT: u8 = 90;

/// Names are shortened to the first width before any column is dropped, to the second if nothing else helps.
const SHORT_NAMES: [usize; 2] = [24, 8];

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) head: &'static str,
    pub(super) is_left: bool,
    /// Importance, 0 to 100.
    pub(super) weight: u8,
    /// By row.
    pub(super) cells: Vec<String>,
    /// For little room.
    pub(super) short: Option<Vec<String>>,
}

impl Column {
    /// Right-aligned.
    pub(super) const fn new(head: &'static str, weight: u8, cells: Vec<String>) -> Self {
        Self {
            head,
            is_left: false,
            weight,
            cells,
            short: None,
        }
    }

    /// Left-aligned.
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

/// Fits lines into `room` columns. Returns the heads of dropped columns that are not empty.
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

/// Columns beyond `room`.
fn excess(columns: &[Column], room: usize) -> usize {
    let total: usize = columns.iter().map(|column| column.width() + GAP).sum();
    total.saturating_sub(GAP).saturating_sub(room)
}

/// As far as needed, to `least` at most.
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
