//! Positions as images: the drawings of the pages, in the colours of the light theme, without their letters.

use referee_games::drawing::{Node, Pieces, Shown, board, board_size, hand};
use tiny_skia::{
    Color, FillRule, LineCap, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};

/// The colours by name, one a line.
const THEME: &str = include_str!("../../report/src/html/assets/light.css");

/// Beside the board, for the piece in hand.
const HAND: f32 = 110.0;

/// Of a circle that four curves draw.
const KAPPA: f32 = 0.552_285;

/// Rows of pixels from the top, red, green and blue each a byte.
pub(crate) struct Image {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) bytes: Vec<u8>,
}

/// `None` when there is no memory for it.
pub(crate) fn image(pieces: &Pieces, shown: &Shown, height: u32) -> Option<Image> {
    let (board_width, board_height) = board_size(pieces);
    let has_hand = matches!(pieces, Pieces::Quarto(_));
    let scale = float(f64::from(height)) / float(board_height);
    let width = float(board_width) + if has_hand { HAND } else { 0.0 };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most three times the height"
    )]
    let mut pixels = Pixmap::new((width * scale).round().max(1.0) as u32, height)?;
    pixels.fill(colour("card"));
    let scaled = Transform::from_scale(scale, scale);
    draw(&board(pieces, shown), "", scaled, &mut pixels);
    if let Some(node) = hand(pieces, shown) {
        draw(&node, "", scaled, &mut pixels);
    }
    let opaque = pixels.pixels().iter();
    Some(Image {
        width: pixels.width() as usize,
        height: pixels.height() as usize,
        bytes: opaque
            .flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()])
            .collect(),
    })
}

#[expect(clippy::cast_possible_truncation, reason = "pixels")]
const fn float(number: f64) -> f32 {
    number as f32
}

/// `within` is the colour of the piece around it.
fn draw(node: &Node, within: &str, at: Transform, pixels: &mut Pixmap) {
    let within = match node.class().split_once(' ') {
        Some(("token", colour)) => colour,
        Some(("piece", disc)) => disc,
        Some(("board", "four")) => "disc",
        _ => within,
    };
    let at = at.pre_concat(moved(node));
    if let Some(path) = path_of(node) {
        let look = Look::of(node.class(), within);
        if let Some(fill) = look.fill {
            pixels.fill_path(&path, &paint(fill), FillRule::Winding, at, None);
        }
        if let Some((color, width)) = look.stroke {
            let stroke = Stroke {
                width,
                line_cap: LineCap::Round,
                dash: look
                    .dash
                    .then(|| StrokeDash::new(vec![6.0, 5.0], 0.0))
                    .flatten(),
                ..Stroke::default()
            };
            pixels.stroke_path(&path, &paint(color), &stroke, at, None);
        }
    }
    for child in &node.children {
        draw(child, within, at, pixels);
    }
}

fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(color);
    paint
}

/// Of a group: `translate(x y)`.
fn moved(node: &Node) -> Transform {
    let transform = node
        .attributes
        .iter()
        .find(|(name, _)| *name == "transform");
    let numbers = transform.map_or("", |(_, value)| value);
    let numbers = numbers
        .trim_start_matches("translate(")
        .trim_end_matches(')');
    let mut numbers = numbers.split(' ').filter_map(|number| number.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(x), Some(y)) => Transform::from_translate(x, y),
        _ => Transform::identity(),
    }
}

/// What the page's style sheet says of a class.
#[derive(Default)]
struct Look {
    fill: Option<Color>,
    stroke: Option<(Color, f32)>,
    dash: bool,
}

impl Look {
    fn of(class: &str, within: &str) -> Self {
        let is_disc = within.starts_with("disc");
        let piece = within.trim_start_matches("disc").trim();
        let part = |name: &str| colour(&format!("{piece}{name}"));
        let filled = |color| Self {
            fill: Some(color),
            ..Self::default()
        };
        let outlined = |color, width| Self {
            stroke: Some((color, width)),
            ..Self::default()
        };
        let white = |opacity| faded(Color::WHITE, opacity);
        match class {
            "table" => Self {
                stroke: Some((colour("table-edge"), 3.0)),
                ..filled(colour("table"))
            },
            "cell" => filled(colour("cell")),
            "cell last" => filled(colour("cell-last")),
            "cell winning" => filled(colour("cell-won")),
            "rack" => filled(colour("rack")),
            "slot" => filled(colour("slot")),
            "stroke" if is_disc => outlined(white(0.75), 9.0),
            "stroke" => outlined(faded(colour("line"), 0.75), 9.0),
            "face" => Self {
                stroke: Some((part("-wall"), if is_disc { 3.0 } else { 1.5 })),
                ..filled(part(""))
            },
            "wall" | "hole" => filled(part("-wall")),
            "depth" => filled(part("-hole")),
            "shade" => filled(faded(Color::BLACK, 0.22)),
            "gloss" => outlined(white(0.3), 2.5),
            "ring" => outlined(white(1.0), 6.0),
            "ring last" => Self {
                dash: true,
                ..outlined(white(1.0), 3.0)
            },
            _ => Self::default(),
        }
    }
}

/// Black when the theme has no such colour.
fn colour(name: &str) -> Color {
    let of = |declaration: &str| {
        let (property, value) = declaration.split_once(':')?;
        let is_it = property.trim().strip_prefix("--") == Some(name);
        is_it.then(|| rgb(value.trim().strip_prefix('#')?))?
    };
    THEME
        .split([';', '\n', '{', '}'])
        .find_map(of)
        .unwrap_or(Color::BLACK)
}

/// Of `rrggbb` or `rgb` in hexadecimal.
fn rgb(digits: &str) -> Option<Color> {
    let number = u32::from_str_radix(digits, 16).ok()?;
    let byte = |shift: u32, bits: u32| {
        let value = number >> shift & ((1 << bits) - 1);
        u8::try_from(if bits == 4 { 17 * value } else { value }).unwrap_or(u8::MAX)
    };
    match digits.len() {
        6 => Some(Color::from_rgba8(
            byte(16, 8),
            byte(8, 8),
            byte(0, 8),
            u8::MAX,
        )),
        3 => Some(Color::from_rgba8(
            byte(8, 4),
            byte(4, 4),
            byte(0, 4),
            u8::MAX,
        )),
        _ => None,
    }
}

fn faded(mut color: Color, opacity: f32) -> Color {
    color.apply_opacity(opacity);
    color
}

/// `None` for what has no outline, such as text.
fn path_of(node: &Node) -> Option<Path> {
    let number = |name: &str| {
        let attribute = node.attributes.iter().find(|(known, _)| *known == name);
        attribute.and_then(|(_, value)| value.parse::<f32>().ok())
    };
    match node.name {
        "rect" => {
            let (x, y) = (number("x")?, number("y")?);
            let (width, height) = (number("width")?, number("height")?);
            rounded(x, y, width, height, number("rx").unwrap_or(0.0))
        }
        "circle" => PathBuilder::from_circle(number("cx")?, number("cy")?, number("r")?),
        "ellipse" => {
            let (x, y) = (number("cx")?, number("cy")?);
            let (rx, ry) = (number("rx")?, number("ry")?);
            PathBuilder::from_oval(Rect::from_ltrb(x - rx, y - ry, x + rx, y + ry)?)
        }
        "line" => {
            let mut path = PathBuilder::new();
            path.move_to(number("x1")?, number("y1")?);
            path.line_to(number("x2")?, number("y2")?);
            path.finish()
        }
        "path" => {
            let data = node.attributes.iter().find(|(name, _)| *name == "d");
            data.and_then(|(_, data)| of_data(data))
        }
        _ => None,
    }
}

fn rounded(x: f32, y: f32, width: f32, height: f32, radius: f32) -> Option<Path> {
    let (right, bottom) = (x + width, y + height);
    let r = radius.min(width.abs() / 2.0).min(height.abs() / 2.0);
    if r <= 0.0 {
        return Some(PathBuilder::from_rect(Rect::from_ltrb(
            x, y, right, bottom,
        )?));
    }
    let k = r * (1.0 - KAPPA);
    let mut path = PathBuilder::new();
    path.move_to(x + r, y);
    path.line_to(right - r, y);
    path.cubic_to(right - k, y, right, y + k, right, y + r);
    path.line_to(right, bottom - r);
    path.cubic_to(right, bottom - k, right - k, bottom, right - r, bottom);
    path.line_to(x + r, bottom);
    path.cubic_to(x + k, bottom, x, bottom - k, x, bottom - r);
    path.line_to(x, y + r);
    path.cubic_to(x, y + k, x + k, y, x + r, y);
    path.close();
    path.finish()
}

/// Of the paths that pieces are drawn with: `M x y`, `v dy`, `a rx ry 0 0 sweep dx 0` (half an ellipse) and `z`.
fn of_data(data: &str) -> Option<Path> {
    let spaced: String = data
        .chars()
        .flat_map(|c| {
            let space = if c.is_ascii_alphabetic() { ' ' } else { '\0' };
            [space, c, space]
        })
        .filter(|&c| c != '\0')
        .collect();
    let mut words = spaced.split_whitespace();
    let mut path = PathBuilder::new();
    while let Some(word) = words.next() {
        let mut number = || words.next()?.parse::<f32>().ok();
        let (x, y) = path
            .last_point()
            .map_or((0.0, 0.0), |point| (point.x, point.y));
        match word {
            "M" => path.move_to(number()?, number()?),
            "v" => path.line_to(x, y + number()?),
            "a" => {
                let (_, ry) = (number()?, number()?);
                let (_, _, sweep) = (number()?, number()?, number()?);
                let (dx, _) = (number()?, number()?);
                half_ellipse(&mut path, (x, y), dx, if sweep > 0.5 { ry } else { -ry });
            }
            "z" => path.close(),
            _ => return None,
        }
    }
    path.finish()
}

/// From a point to the one `dx` beside it. SVG's sweep is clockwise: to the right it bulges upwards where `ry` is positive.
fn half_ellipse(path: &mut PathBuilder, (x, y): (f32, f32), dx: f32, ry: f32) {
    let (rx, bulge) = (dx / 2.0, -ry * dx.signum());
    let (k, up) = (rx * KAPPA, bulge * KAPPA);
    path.cubic_to(x, y + up, x + rx - k, y + bulge, x + rx, y + bulge);
    path.cubic_to(x + rx + k, y + bulge, x + dx, y + up, x + dx, y);
}
