//! Pieces of Quarto: size, colour, form and fill, each recognisable without the others.

use super::piece_style::PieceStyle;
use super::{Node, QuartoPieces, circle};
use crate::game::Glyph;
use crate::game::quarto::{Piece, PieceSet};

pub(super) fn label(x: f64, y: f64, text: String, class: &str) -> Node {
    let node = Node::shape("text", class, &[("x", x), ("y", y)]);
    let node = node.with("text-anchor", "middle".to_owned());
    let node = node.with("dominant-baseline", "central".to_owned());
    Node { text, ..node }
}

pub(super) fn rect(class: &str, [x, y, width, height, rx]: [f64; 5]) -> Node {
    let at = [
        ("x", x),
        ("y", y),
        ("width", width),
        ("height", height),
        ("rx", rx),
    ];
    Node::shape("rect", class, &at)
}

fn path(class: &str, path: String) -> Node {
    Node::shape("path", class, &[]).with("d", path)
}

/// In a square of 100 by 100, shifted down by `y`.
fn outline(class: &str, round: bool, size: f64, y: f64) -> Node {
    if round {
        return circle(class, [50.0, 50.0 + y, size]);
    }
    let (start, width) = (50.0 - size, 2.0 * size);
    rect(class, [start, start + y, width, width, 0.22 * size])
}

pub(super) fn token(pieces: &QuartoPieces, bits: u8) -> Node {
    let (colour, parts) = pieces.style.drawn(bits);
    drawn(colour, parts)
}

/// Of all pieces, for terminals.
pub(crate) fn glyphs(set: &PieceSet) -> impl Iterator<Item = (Piece, Glyph)> {
    let style = PieceStyle::of(set);
    Piece::all().map(move |piece| {
        let (colour, [small, _, round, solid]) = style.drawn(piece.bits());
        let shapes = ['□', '■', '○', '●', '▫', '▪', '◦', '•'];
        let number = 4 * usize::from(small) + 2 * usize::from(round) + usize::from(solid);
        let shape = shapes[number];
        (piece, Glyph { shape, colour })
    })
}

/// Seen from above and slightly from the front, in a square of 100 by 100.
pub(super) fn drawn(colour: &str, [small, _, round, solid]: [bool; 4]) -> Node {
    let (size, height) = if small { (22.0, 7.0) } else { (36.0, 11.0) };
    let top: f64 = -height / 2.0;
    let (left, width) = (50.0 - size, 2.0 * size);
    let y = 50.0 + top;
    let wall = if round {
        let d = format!(
            "M{left} {y} v{height} a{size} {size} 0 0 0 {width} 0 v{} z",
            -height
        );
        path("wall", d)
    } else {
        let at = [left, left + top, width, width + height, 0.22 * size];
        rect("wall", at)
    };
    let (below, rx, ry) = (50.0 + size + height / 2.0 - 2.0, size * 0.98, size * 0.2);
    let shade = [("cx", 52.0), ("cy", below), ("rx", rx), ("ry", ry)];
    let mut out = vec![
        Node::shape("ellipse", "shade", &shade),
        wall,
        outline("face", round, size, top),
    ];
    let hole = size * 0.52;
    if solid {
        out.push(outline("gloss", round, size * 0.78, top));
    } else {
        let (left, width) = (50.0 - hole, 2.0 * hole);
        out.push(outline("hole", round, hole, top));
        out.push(if round {
            let flat = hole * 0.72;
            let arcs = format!(
                "a{hole} {hole} 0 0 1 {width} 0 a{hole} {flat} 0 0 0 {} 0 z",
                -width
            );
            path("depth", format!("M{left} {y} {arcs}"))
        } else {
            let at = [left, left + top, width, hole * 0.5, 0.2 * hole];
            rect("depth", at)
        });
    }
    Node::group(&format!("token {colour}"), out)
}

/// A feature, what it is drawn as, and its values as samples.
pub type Legend = (String, &'static str, [(String, Node); 2]);

pub fn legend(pieces: &QuartoPieces) -> Vec<Legend> {
    let style = &pieces.style;
    let parts = ["size", "colour", "form", "fill"].into_iter().enumerate();
    let row = |(part, drawn_as): (usize, &'static str)| {
        let (feature, swapped) = style.parts[part];
        let feature = &pieces.set.features()[feature];
        let sample = |value: usize| {
            let colour = match part {
                0 => style.colours[0],
                1 => style.colours[value],
                _ => "plain",
            };
            let mut parts = [false, false, part == 0 || part == 1, part != 3];
            if part != 1 {
                parts[part] = (value == 1) != swapped;
            }
            let word = referee_text::escape_controls(&feature.properties[value]);
            (word, drawn(colour, parts))
        };
        let name = referee_text::escape_controls(&feature.name);
        (name, drawn_as, [sample(0), sample(1)])
    };
    parts.map(row).collect()
}
