//! Boards with pieces, as in `html/assets/boards.js` and `pieces.js`.

use std::fmt::Write as _;

use super::paint::painted;
use super::{CELL, EDGE, Pieces, QuartoPieces, Shown, board_size};
use crate::report::escaped;

fn label(x: f64, y: f64, text: &str, class: &str, piece: &str) -> String {
    let text = escaped(text);
    let at = r#"text-anchor="middle" dominant-baseline="central""#;
    let paint = painted(class, piece);
    format!(r#"<text {paint} x="{x}" y="{y}" {at}>{text}</text>"#)
}

fn rect(class: &str, piece: &str, [x, y, width, height, rx]: [f64; 5]) -> String {
    let paint = painted(class, piece);
    format!(r#"<rect {paint} x="{x}" y="{y}" width="{width}" height="{height}" rx="{rx}"/>"#)
}

fn circle(class: &str, piece: &str, [x, y, r]: [f64; 3]) -> String {
    let paint = painted(class, piece);
    format!(r#"<circle {paint} cx="{x}" cy="{y}" r="{r}"/>"#)
}

fn path(class: &str, piece: &str, path: &str) -> String {
    format!(r#"<path {} d="{path}"/>"#, painted(class, piece))
}

fn line(class: &str, piece: &str, from: (f64, f64), to: (f64, f64)) -> String {
    let paint = painted(class, piece);
    let [(x1, y1), (x2, y2)] = [from, to];
    format!(r#"<line {paint} x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#)
}

/// Of a column or row.
#[expect(clippy::cast_precision_loss, reason = "a board has a few columns")]
fn middle(index: usize) -> f64 {
    EDGE + index as f64 * CELL + CELL / 2.0
}

fn centre(cell: usize, columns: usize) -> (f64, f64) {
    (middle(cell % columns), middle(cell / columns))
}

pub(super) fn board(pieces: &Pieces, shown: &Shown) -> String {
    match pieces {
        Pieces::Quarto(of) => format!(r#"<g class="board quarto">{}</g>"#, quarto(of, shown)),
        Pieces::FourInARow => format!(r#"<g class="board four">{}</g>"#, four_in_a_row(shown)),
    }
}

fn quarto(pieces: &QuartoPieces, shown: &Shown) -> String {
    let side = 4.0 * CELL + 12.0;
    let mut out = rect("table", "", [EDGE - 6.0, EDGE - 6.0, side, side, 18.0]);
    let edge = EDGE / 2.0 - 6.0;
    for i in 0..4 {
        out += &label(middle(i), edge, &format!("V{}", i + 1), "edge", "");
        out += &label(edge, middle(i), &format!("H{}", i + 1), "edge", "");
    }
    for cell in 0..16 {
        let (x, y) = centre(cell, 4);
        let class = if shown.wins(cell) {
            "cell winning"
        } else if shown.last == Some(cell) {
            "cell last"
        } else {
            "cell"
        };
        out += &rect(class, "", [x - 46.0, y - 46.0, 92.0, 92.0, 14.0]);
        if shown.opening[cell] {
            out += &rect("opening", "", [x - 42.0, y - 42.0, 84.0, 84.0, 11.0]);
        }
        if shown.cells[cell].is_none() {
            out += &label(x, y, &(cell + 1).to_string(), "number", "");
        }
    }
    for (from, to) in shown.strokes(4) {
        let (width, height) = (to.0 - from.0, to.1 - from.1);
        // The corners of a square are neighbours.
        out += &if width.abs() <= CELL && height.abs() <= CELL {
            rect("stroke", "", [from.0, from.1, width, height, 10.0])
        } else {
            line("stroke", "", from, to)
        };
    }
    for (cell, bits) in shown.cells.iter().enumerate() {
        if let Some(bits) = *bits {
            let (x, y) = centre(cell, 4);
            out += &placed(pieces, bits, x, y);
        }
    }
    out
}

impl Shown {
    fn wins(&self, cell: usize) -> bool {
        self.lines.iter().flatten().any(|&winning| winning == cell)
    }

    /// From where to where winning lines are drawn.
    fn strokes(&self, columns: usize) -> impl Iterator<Item = ((f64, f64), (f64, f64))> + '_ {
        self.lines.iter().filter_map(move |cells| {
            let ends = (cells.first()?, cells.last()?);
            Some((centre(*ends.0, columns), centre(*ends.1, columns)))
        })
    }
}

/// With its symbol, around this point.
fn placed(pieces: &QuartoPieces, bits: u8, x: f64, y: f64) -> String {
    let (x, y) = (x - 50.0, y - 50.0);
    format!(
        r#"<g class="piece" transform="translate({x} {y})"><title>{}</title>{}{}</g>"#,
        escaped(&pieces.in_words(bits)),
        piece(pieces, bits),
        label(84.0, 84.0, &pieces.symbol(bits), "symbol", "")
    )
}

fn four_in_a_row(shown: &Shown) -> String {
    let (width, height) = (7.0 * CELL + 12.0, 6.0 * CELL + 12.0);
    let mut out = rect("rack", "", [EDGE - 6.0, EDGE - 6.0, width, height, 26.0]);
    let edge = EDGE / 2.0 - 6.0;
    for i in 0..7 {
        out += &label(middle(i), edge, &(i + 1).to_string(), "edge", "");
    }
    // Rows from the top, as in the result.
    for i in 0..6 {
        out += &label(edge, middle(i), &(i + 1).to_string(), "edge", "");
    }
    for (cell, side) in shown.cells.iter().enumerate() {
        let (x, y) = centre(cell, 7);
        out += &circle("slot", "", [x, y, 42.0]);
        let Some(side) = side else {
            continue;
        };
        let (mark, disc) = [("@", "yellow"), ("O", "red")][usize::from(*side)];
        let inner = if shown.opening[cell] {
            "opening"
        } else {
            "gloss"
        };
        let (column, piece) = (cell % 7 + 1, format!("disc {disc}"));
        let _ = write!(
            out,
            r#"<g class="piece disc {disc}"><title>{mark} in column {column}</title>{}{}{}"#,
            circle("face", &piece, [x, y, 38.0]),
            circle(inner, &piece, [x, y, 27.0]),
            label(x, y, mark, "mark", &piece)
        );
        if shown.wins(cell) {
            out += &circle("ring", &piece, [x, y, 40.0]);
        } else if shown.last == Some(cell) {
            out += &circle("ring last", &piece, [x, y, 40.0]);
        }
        out += "</g>";
    }
    for (from, to) in shown.strokes(7) {
        out += &line("stroke", "disc", from, to);
    }
    out
}

/// Beside the board; empty without a piece in hand.
pub(super) fn hand(pieces: &Pieces, shown: &Shown) -> String {
    let (Pieces::Quarto(of), Some(bits)) = (pieces, shown.hand) else {
        return String::new();
    };
    let (width, _) = board_size(pieces);
    let (x, y) = (width + 52.0, EDGE + 2.0 * CELL);
    format!(
        r#"<g class="hand">{}{}{}</g>"#,
        label(x, y - 66.0, "in hand", "edge", ""),
        rect("cell", "", [x - 46.0, y - 46.0, 92.0, 92.0, 14.0]),
        placed(of, bits, x, y)
    )
}

/// In a square of 100 by 100, shifted down by `y`.
fn outline(class: &str, colour: &str, round: bool, size: f64, y: f64) -> String {
    if round {
        return circle(class, colour, [50.0, 50.0 + y, size]);
    }
    let width = 2.0 * size;
    let at = [50.0 - size, 50.0 - size + y, width, width, 0.22 * size];
    rect(class, colour, at)
}

/// Seen from above and slightly from the front, in a square of 100 by 100.
fn piece(pieces: &QuartoPieces, bits: u8) -> String {
    let style = &pieces.style;
    let [small, _, round, solid] = style
        .parts
        .map(|(feature, swapped)| (bits >> feature & 1 == 1) != swapped);
    // Colours are by value: swapping does not affect them.
    let colour = style.colours[usize::from(bits >> style.parts[1].0 & 1)];
    let (size, height) = if small { (22.0, 7.0) } else { (36.0, 11.0) };
    let top: f64 = -height / 2.0;
    let (left, width) = (50.0 - size, 2.0 * size);
    let y = 50.0 + top;
    let wall = if round {
        let d = format!(
            "M{left} {y} v{height} a{size} {size} 0 0 0 {width} 0 v{} z",
            -height
        );
        path("wall", colour, &d)
    } else {
        let at = [left, left + top, width, width + height, 0.22 * size];
        rect("wall", colour, at)
    };
    let hole = size * 0.52;
    let inside = if solid {
        outline("gloss", colour, round, size * 0.78, top)
    } else {
        let (left, width) = (50.0 - hole, 2.0 * hole);
        let depth = if round {
            let flat = hole * 0.72;
            let arcs = format!(
                "a{hole} {hole} 0 0 1 {width} 0 a{hole} {flat} 0 0 0 {} 0 z",
                -width
            );
            path("depth", colour, &format!("M{left} {y} {arcs}"))
        } else {
            let at = [left, left + top, width, hole * 0.5, 0.2 * hole];
            rect("depth", colour, at)
        };
        outline("hole", colour, round, hole, top) + &depth
    };
    let (below, rx, ry) = (50.0 + size + height / 2.0 - 2.0, size * 0.98, size * 0.2);
    let shade = painted("shade", colour);
    format!(
        r#"<g class="token {colour}"><ellipse {shade} cx="52" cy="{below}" rx="{rx}" ry="{ry}"/>{wall}{}{inside}</g>"#,
        outline("face", colour, round, size, top)
    )
}
