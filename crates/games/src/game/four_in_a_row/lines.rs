//! The order of cells in text, and the lines that decided a game with their names.

use super::position::{COLUMNS, HEIGHT, ROWS};

/// Cells, as column and row, in the order of a request: row by row from the top left. Rows count
/// from 0 at the bottom.
pub(super) fn reading_order() -> impl Iterator<Item = (u8, u8)> {
    (0..ROWS)
        .rev()
        .flat_map(|row| (0..COLUMNS).map(move |column| (column, row)))
}

/// The row as people count, 1 at the top.
pub(super) const fn row_number(row: u8) -> u8 {
    ROWS - row
}

/// A line of four or more: its name, where it runs, and its cells.
pub(super) type LineOf = (String, String, Vec<(u8, u8)>);

/// The lines of one side: rows, columns, then diagonals.
pub(super) fn lines_of(board: u64) -> Vec<LineOf> {
    let has = |column: i8, row: i8| {
        let bit = u8::try_from(column).ok().zip(u8::try_from(row).ok());
        bit.is_some_and(|(column, row)| {
            column < COLUMNS && row < ROWS && board & 1 << (HEIGHT * column + row) != 0
        })
    };
    let mut lines = Vec::new();
    for (dx, dy) in [(1, 0), (0, -1), (1, -1), (1, 1)] {
        for (column, row) in reading_order() {
            let (x, y) = (column.cast_signed(), row.cast_signed());
            // A line begins where no piece comes before it.
            if !has(x, y) || has(x - dx, y - dy) {
                continue;
            }
            let cells: Vec<(u8, u8)> = (0..COLUMNS.cast_signed())
                .map(|step| (x + step * dx, y + step * dy))
                .take_while(|&(x, y)| has(x, y))
                .map(|(x, y)| (x.cast_unsigned(), y.cast_unsigned()))
                .collect();
            let Some(&(end_column, end_row)) = cells.last().filter(|_| cells.len() >= 4) else {
                continue;
            };
            let (from, to) = (row_number(row), row_number(end_row));
            let (left, right) = (column + 1, end_column + 1);
            let (line, place) = match (dx, dy) {
                (1, 0) => (format!("row {from}"), format!("columns {left} to {right}")),
                (0, _) => (format!("column {left}"), format!("rows {from} to {to}")),
                _ => (
                    "diagonal".to_owned(),
                    format!("column {left} row {from} to column {right} row {to}"),
                ),
            };
            lines.push((line, place, cells));
        }
    }
    lines
}
