//! Boards with pieces on them, and the places on a board where a turn can be made.

use super::pieces::{label, rect, token};
use super::{CELL, EDGE, Node, Pieces, QuartoPieces, Shown, board_size, circle};
use crate::game::Game;
use crate::game::four_in_a_row::DISCS;

fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> Node {
    let at = [("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)];
    Node::shape("line", class, &at)
}

#[expect(clippy::cast_precision_loss, reason = "a board has a few columns")]
fn middle(index: usize) -> f64 {
    EDGE + index as f64 * CELL + CELL / 2.0
}

fn centre(cell: usize, columns: usize) -> (f64, f64) {
    (middle(cell % columns), middle(cell / columns))
}

pub fn board(pieces: &Pieces, shown: &Shown) -> Node {
    match pieces {
        Pieces::Quarto(of) => Node::group("board quarto", quarto(of, shown)),
        Pieces::FourInARow => Node::group("board four", four_in_a_row(shown)),
    }
}

fn quarto(pieces: &QuartoPieces, shown: &Shown) -> Vec<Node> {
    let side = 4.0 * CELL + 12.0;
    let mut out = vec![rect("table", [EDGE - 6.0, EDGE - 6.0, side, side, 18.0])];
    let edge = EDGE / 2.0 - 6.0;
    for i in 0..4 {
        out.push(label(middle(i), edge, format!("V{}", i + 1), "edge"));
        out.push(label(edge, middle(i), format!("H{}", i + 1), "edge"));
    }
    for cell in 0..16 {
        let (x, y) = centre(cell, 4);
        let class = match shown.last {
            _ if shown.wins(cell) => "cell winning",
            Some(last) if last == cell => "cell last",
            _ => "cell",
        };
        out.push(rect(class, [x - 46.0, y - 46.0, 92.0, 92.0, 14.0]));
        if shown.opening[cell] {
            out.push(rect("opening", [x - 42.0, y - 42.0, 84.0, 84.0, 11.0]));
        }
        if shown.cells[cell].is_none() {
            out.push(label(x, y, (cell + 1).to_string(), "number"));
        }
    }
    for (from, to) in shown.strokes(4) {
        let (width, height) = (to.0 - from.0, to.1 - from.1);
        // The corners of a square are neighbours.
        out.push(if width.abs() <= CELL && height.abs() <= CELL {
            rect("stroke", [from.0, from.1, width, height, 10.0])
        } else {
            line("stroke", from, to)
        });
    }
    for (cell, bits) in shown.cells.iter().enumerate() {
        if let Some(bits) = *bits {
            out.push(placed(pieces, bits, centre(cell, 4), shown.class_of(cell)));
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

    /// The class of the piece of the last turn; empty for others.
    fn class_of(&self, cell: usize) -> &str {
        let is_last = self.last == Some(cell);
        if is_last { &self.fresh } else { "" }
    }
}

/// A piece with its symbol, centred on this point.
fn placed(pieces: &QuartoPieces, bits: u8, (x, y): (f64, f64), class: &str) -> Node {
    let (x, y) = (x - 50.0, y - 50.0);
    let group = Node::group(
        &format!("piece{class}"),
        vec![
            Node::title(pieces.in_words(bits)),
            token(pieces, bits),
            label(84.0, 84.0, pieces.symbol(bits), "symbol"),
        ],
    );
    group.with("transform", format!("translate({x} {y})"))
}

fn four_in_a_row(shown: &Shown) -> Vec<Node> {
    let (width, height) = (7.0 * CELL + 12.0, 6.0 * CELL + 12.0);
    let mut out = vec![rect("rack", [EDGE - 6.0, EDGE - 6.0, width, height, 26.0])];
    let edge = EDGE / 2.0 - 6.0;
    for i in 0..7 {
        out.push(label(middle(i), edge, (i + 1).to_string(), "edge"));
    }
    // Rows from the top, as in the result.
    for i in 0..6 {
        out.push(label(edge, middle(i), (i + 1).to_string(), "edge"));
    }
    for (cell, side) in shown.cells.iter().enumerate() {
        let (x, y) = centre(cell, 7);
        out.push(circle("slot", [x, y, 42.0]));
        let Some(side) = side else {
            continue;
        };
        let (mark, disc) = DISCS[usize::from(*side)];
        let inner = ["gloss", "opening"][usize::from(shown.opening[cell])];
        let mut parts = vec![
            Node::title(format!("{mark} in column {}", cell % 7 + 1)),
            circle("face", [x, y, 38.0]),
            circle(inner, [x, y, 27.0]),
            label(x, y, mark.to_string(), "mark"),
        ];
        if shown.wins(cell) {
            parts.push(circle("ring", [x, y, 40.0]));
        } else if shown.last == Some(cell) {
            parts.push(circle("ring last", [x, y, 40.0]));
        }
        let class = format!("piece disc {disc}{}", shown.class_of(cell));
        out.push(Node::group(&class, parts));
    }
    out.extend(shown.strokes(7).map(|(from, to)| line("stroke", from, to)));
    out
}

/// The piece in hand, drawn beside the board.
pub fn hand(pieces: &Pieces, shown: &Shown) -> Option<Node> {
    let (Pieces::Quarto(of), Some(bits)) = (pieces, shown.hand) else {
        return None;
    };
    let (width, _) = board_size(pieces);
    let (x, y) = (width + 52.0, EDGE + 2.0 * CELL);
    let parts = vec![
        label(x, y - 66.0, "in hand".to_owned(), "edge"),
        rect("cell", [x - 46.0, y - 46.0, 92.0, 92.0, 14.0]),
        placed(of, bits, (x, y), ""),
    ];
    Some(Node::group("hand", parts))
}

/// Where a turn can be made: what its answer begins with, and a field for its value, with two empty texts.
pub fn choices(pieces: &Pieces, game: &dyn Game) -> Vec<(String, Node)> {
    let mut found: Vec<(String, Node)> = Vec::new();
    for turn in game.turns() {
        let first = turn.text.split(' ').next().unwrap_or_default();
        if found.iter().any(|(known, _)| known == first) {
            continue;
        }
        let after = game.after(&turn.text).map(|turn| turn.after.picture(None));
        let Some((row, column)) = after.ok().and_then(|picture| picture.last) else {
            continue;
        };
        let (x, y) = (middle(column), middle(row));
        // A disc falls, wherever in its column it is let go.
        let (top, height) = match pieces {
            Pieces::Quarto(_) => (y - 44.0, 88.0),
            Pieces::FourInARow => (EDGE + 6.0, y + 44.0 - EDGE - 6.0),
        };
        let field = rect("", [x - 44.0, y - 44.0, 88.0, 88.0, 12.0]);
        let parts = vec![
            rect("reach", [x - 44.0, top, 88.0, height, 12.0]),
            field,
            label(x, y - 18.0, String::new(), "sign"),
            label(x, y + 24.0, String::new(), "words"),
        ];
        let node = Node::group("worth-cell", parts).with("data-cell", first.to_owned());
        found.push((first.to_owned(), node));
    }
    found
}
