//! Quarto's pieces, as in `html/assets/pieces.js`.

use super::QuartoPieces;
use super::element::Element;
use super::paint::of_piece;

/// In a square of 100 by 100, shifted down by `y`.
fn outline(round: bool, size: f64, y: f64) -> Element {
    if round {
        return Element::new("circle").at([("cx", 50.0), ("cy", 50.0 + y), ("r", size)]);
    }
    Element::new("rect").at([
        ("x", 50.0 - size),
        ("y", 50.0 - size + y),
        ("width", 2.0 * size),
        ("height", 2.0 * size),
        ("rx", 0.22 * size),
    ])
}

/// Seen from above and slightly from the front, in a square of 100 by 100.
fn token(small: bool, colour: &str, round: bool, solid: bool) -> Element {
    let painted = |element: Element, class: &str| element.painted(class, of_piece(class, colour));
    let size = if small { 22.0 } else { 36.0 };
    let height = if small { 7.0 } else { 11.0 };
    let top = -height / 2.0;
    let shadow = Element::new("ellipse").at([
        ("cx", 52.0),
        ("cy", 50.0 + size + height / 2.0 - 2.0),
        ("rx", size * 0.98),
        ("ry", size * 0.2),
    ]);
    let wall = if round {
        let path = format!(
            "M{} {} v{height} a{size} {size} 0 0 0 {} 0 v{} z",
            50.0 - size,
            50.0 + top,
            2.0 * size,
            -height
        );
        Element::new("path").with("d", path)
    } else {
        Element::new("rect").at([
            ("x", 50.0 - size),
            ("y", 50.0 - size + top),
            ("width", 2.0 * size),
            ("height", 2.0 * size + height),
            ("rx", 0.22 * size),
        ])
    };
    let token = Element::new("g")
        .with("class", format!("token {colour}"))
        .child(painted(shadow, "shade"))
        .child(painted(wall, "wall"))
        .child(painted(outline(round, size, top), "face"));
    if solid {
        return token.child(painted(outline(round, size * 0.78, top), "gloss"));
    }
    let hole = size * 0.52;
    let depth = if round {
        let path = format!(
            "M{} {} a{hole} {hole} 0 0 1 {} 0 a{hole} {} 0 0 0 {} 0 z",
            50.0 - hole,
            50.0 + top,
            2.0 * hole,
            hole * 0.72,
            -2.0 * hole
        );
        Element::new("path").with("d", path)
    } else {
        Element::new("rect").at([
            ("x", 50.0 - hole),
            ("y", 50.0 - hole + top),
            ("width", 2.0 * hole),
            ("height", hole * 0.5),
            ("rx", 0.2 * hole),
        ])
    };
    token
        .child(painted(outline(round, hole, top), "hole"))
        .child(painted(depth, "depth"))
}

pub(super) fn piece(pieces: &QuartoPieces, bits: u8) -> Element {
    let style = &pieces.style;
    let [small, _, round, solid] = style
        .parts
        .map(|(feature, swapped)| (bits >> feature & 1 == 1) != swapped);
    // Colours are by value: swapping does not affect them.
    let colour = style.colours[usize::from(bits >> style.parts[1].0 & 1)];
    token(small, colour, round, solid)
}
