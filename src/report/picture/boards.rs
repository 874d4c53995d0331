//! Boards with pieces, as in `html/assets/boards.js`.

use super::paint::{of, of_disc, of_piece};
use super::{CELL, EDGE, Element, Pieces, QuartoPieces, Shown, board_size};

fn shape(tag: &'static str, class: &str) -> Element {
    Element::new(tag).painted(class, of(class))
}

fn label(x: f64, y: f64, text: &str, class: &str) -> Element {
    on(shape("text", class), x, y, text)
}

/// Centred on this point.
fn on(element: Element, x: f64, y: f64, text: &str) -> Element {
    element
        .at([("x", x), ("y", y)])
        .with("text-anchor", "middle")
        .with("dominant-baseline", "central")
        .text(text)
}

/// Of a column or row.
#[expect(clippy::cast_precision_loss, reason = "a board has a few columns")]
fn middle(index: usize) -> f64 {
    EDGE + index as f64 * CELL + CELL / 2.0
}

/// Of a cell.
fn centre(cell: usize, columns: usize) -> (f64, f64) {
    (middle(cell % columns), middle(cell / columns))
}

/// Between two cells.
fn line(element: Element, from: (f64, f64), to: (f64, f64)) -> Element {
    element.at([("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)])
}

/// In drawing order.
pub(super) fn board(pieces: &Pieces, shown: &Shown) -> Element {
    match pieces {
        Pieces::Quarto(of) => quarto(of, shown),
        Pieces::FourInARow => four_in_a_row(shown),
    }
}

fn quarto(pieces: &QuartoPieces, shown: &Shown) -> Element {
    let mut board = Element::new("g").with("class", "board quarto");
    let at = [("x", EDGE - 6.0), ("y", EDGE - 6.0)];
    let table = 4.0 * CELL + 12.0;
    let extent = [("width", table), ("height", table), ("rx", 18.0)];
    board.push(shape("rect", "table").at(at).at(extent));
    for i in 0..4 {
        let edge = EDGE / 2.0 - 6.0;
        let name = |letter: char| format!("{letter}{}", i + 1);
        board.push(label(middle(i), edge, &name('V'), "edge"));
        board.push(label(edge, middle(i), &name('H'), "edge"));
    }
    for cell in 0..16 {
        let (x, y) = centre(cell, 4);
        let square = |class, side: f64, round: f64| {
            shape("rect", class).at([
                ("x", x - side / 2.0),
                ("y", y - side / 2.0),
                ("width", side),
                ("height", side),
                ("rx", round),
            ])
        };
        let class = if shown.lines.iter().flatten().any(|&winning| winning == cell) {
            "cell winning"
        } else if shown.last == Some(cell) {
            "cell last"
        } else {
            "cell"
        };
        board.push(square(class, 92.0, 14.0));
        if shown.opening[cell] {
            board.push(square("opening", 84.0, 11.0));
        }
        if shown.cells[cell].is_none() {
            board.push(label(x, y, &(cell + 1).to_string(), "number"));
        }
    }
    for cells in &shown.lines {
        let [Some(&first), Some(&last)] = [cells.first(), cells.last()] else {
            continue;
        };
        let (from, to) = (centre(first, 4), centre(last, 4));
        let (width, height) = (to.0 - from.0, to.1 - from.1);
        // The corners of a square are neighbours.
        let is_square = width.abs() <= CELL && height.abs() <= CELL;
        let stroke = if is_square {
            let at = [("x", from.0), ("y", from.1)];
            let extent = [("width", width), ("height", height), ("rx", 10.0)];
            shape("rect", "stroke").at(at).at(extent)
        } else {
            line(shape("line", "stroke"), from, to)
        };
        board.push(stroke);
    }
    for (cell, bits) in shown.cells.iter().enumerate() {
        if let Some(bits) = *bits {
            let (x, y) = centre(cell, 4);
            board.push(placed(pieces, bits, x, y));
        }
    }
    board
}

/// With its symbol, around this point.
fn placed(pieces: &QuartoPieces, bits: u8, x: f64, y: f64) -> Element {
    Element::new("g")
        .with("class", "piece")
        .with("transform", format!("translate({} {})", x - 50.0, y - 50.0))
        .child(Element::new("title").text(&pieces.in_words(bits)))
        .child(piece(pieces, bits))
        .child(label(84.0, 84.0, &pieces.symbol(bits), "symbol"))
}

fn four_in_a_row(shown: &Shown) -> Element {
    let mut board = Element::new("g").with("class", "board four");
    let at = [("x", EDGE - 6.0), ("y", EDGE - 6.0)];
    let extent = [
        ("width", 7.0 * CELL + 12.0),
        ("height", 6.0 * CELL + 12.0),
        ("rx", 26.0),
    ];
    board.push(shape("rect", "rack").at(at).at(extent));
    let edge = EDGE / 2.0 - 6.0;
    for i in 0..7 {
        board.push(label(middle(i), edge, &(i + 1).to_string(), "edge"));
    }
    // Rows from the top, as in the result.
    for i in 0..6 {
        board.push(label(edge, middle(i), &(i + 1).to_string(), "edge"));
    }
    for (cell, side) in shown.cells.iter().enumerate() {
        let (x, y) = centre(cell, 7);
        let around = |radius: f64| [("cx", x), ("cy", y), ("r", radius)];
        board.push(shape("circle", "slot").at(around(42.0)));
        let Some(side) = side else {
            continue;
        };
        let (mark, colour) = [("@", "yellow"), ("O", "red")][usize::from(*side)];
        let circle = |class: &str, radius: f64| {
            let circle = Element::new("circle").painted(class, of_disc(class, colour));
            circle.at(around(radius))
        };
        let class = if shown.opening[cell] {
            "opening"
        } else {
            "gloss"
        };
        let name = format!("{mark} in column {}", cell % 7 + 1);
        let text = Element::new("text").painted("mark", of_disc("mark", colour));
        let mut disc = Element::new("g")
            .with("class", format!("piece disc {colour}"))
            .child(Element::new("title").text(&name))
            .child(circle("face", 38.0))
            .child(circle(class, 27.0))
            .child(on(text, x, y, mark));
        if shown.lines.iter().flatten().any(|&winning| winning == cell) {
            disc.push(circle("ring", 40.0));
        } else if shown.last == Some(cell) {
            disc.push(circle("ring last", 40.0));
        }
        board.push(disc);
    }
    for cells in &shown.lines {
        let [Some(&first), Some(&last)] = [cells.first(), cells.last()] else {
            continue;
        };
        let stroke = Element::new("line").painted("stroke", of_disc("stroke", ""));
        board.push(line(stroke, centre(first, 7), centre(last, 7)));
    }
    board
}

/// Beside the board.
pub(super) fn hand(pieces: &Pieces, shown: &Shown) -> Option<Element> {
    let Pieces::Quarto(of) = pieces else {
        return None;
    };
    let bits = shown.hand?;
    let (width, _) = board_size(pieces);
    let (x, y) = (width + 52.0, EDGE + 2.0 * CELL);
    let slot = shape("rect", "cell").at([
        ("x", x - 46.0),
        ("y", y - 46.0),
        ("width", 92.0),
        ("height", 92.0),
        ("rx", 14.0),
    ]);
    let hand = Element::new("g").with("class", "hand");
    Some(
        hand.child(label(x, y - 66.0, "in hand", "edge"))
            .child(slot)
            .child(placed(of, bits, x, y)),
    )
}

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
