//! How shapes are painted: the classes of `html/assets/views.css`, with the light theme's colours.

use std::fmt::Write as _;

use crate::escaped;
use crate::html::LIGHT_THEME;
use referee_games::drawing::Node;

/// Every name used here must be in the theme; a test checks.
pub(super) fn colour(name: &str) -> &'static str {
    let of = |line: &'static str| {
        line.split(';').find_map(|declaration| {
            let (property, value) = declaration.split_once(':')?;
            (property.trim().strip_prefix("--")? == name).then(|| value.trim())
        })
    };
    LIGHT_THEME.lines().find_map(of).unwrap_or("#000")
}

/// The SVG of a node, with the colours of its classes.
pub(super) fn painted(node: &Node) -> String {
    let mut out = String::new();
    write(node, "", &mut out);
    out
}

/// Within a piece of this colour, or a disc (`disc red`).
fn write(node: &Node, within: &str, out: &mut String) {
    let class = node.class();
    let within = match class.split_once(' ') {
        Some(("token", colour)) => colour,
        Some(("piece", disc)) => disc,
        Some(("board", "four")) => "disc",
        _ => within,
    };
    let _ = write!(out, "<{}", node.name);
    for (number, (name, value)) in node.attributes.iter().enumerate() {
        let _ = write!(out, r#" {name}="{}""#, escaped(value));
        if number == 0 {
            *out += &paint_of(class, within);
        }
    }
    if node.text.is_empty() && node.children.is_empty() {
        *out += "/>";
        return;
    }
    *out += ">";
    *out += &escaped(&node.text);
    for child in &node.children {
        write(child, within, out);
    }
    let _ = write!(out, "</{}>", node.name);
}

/// Attributes, each after a space.
fn paint_of(class: &str, piece: &str) -> String {
    let is_disc = piece.starts_with("disc");
    let piece = piece.trim_start_matches("disc ");
    // `$name` is a colour of the theme, `$piece` that of the piece.
    let paint = match class {
        "table" => r#"fill="$table" stroke="$table-edge" stroke-width="3""#,
        "cell" => r#"fill="$cell""#,
        "cell last" => r#"fill="$cell-last""#,
        "cell winning" => r#"fill="$cell-won""#,
        "rack" => r#"fill="$rack""#,
        "slot" => r#"fill="$slot""#,
        "opening" if is_disc => {
            r##"fill="none" stroke="#fff" stroke-opacity="0.85" stroke-width="2.5" stroke-dasharray="6 5""##
        }
        "opening" => {
            r#"fill="none" stroke="$table-edge" stroke-width="2.5" stroke-dasharray="6 5""#
        }
        "stroke" if is_disc => {
            r##"fill="none" stroke="#fff" stroke-width="9" stroke-linecap="round" opacity="0.75""##
        }
        "stroke" => {
            r#"fill="none" stroke="$line" stroke-width="9" stroke-linecap="round" opacity="0.75""#
        }
        "edge" => r#"fill="$soft" font-size="17" font-weight="600""#,
        "number" => r#"fill="$on-table" font-size="20" opacity="0.55""#,
        "symbol" => {
            r##"fill="#fff" font-size="17" font-weight="700" paint-order="stroke" stroke="#28190c" stroke-opacity="0.8" stroke-width="4""##
        }
        "mark" if piece == "red" => r##"fill="#fff" font-size="30" font-weight="700""##,
        "mark" => r#"fill="$yellow-hole" font-size="30" font-weight="700""#,
        "face" if is_disc => r#"fill="$piece" stroke="$piece-wall" stroke-width="3""#,
        "face" => r#"fill="$piece" stroke="$piece-wall" stroke-width="1.5""#,
        "wall" | "hole" => r#"fill="$piece-wall""#,
        "depth" => r#"fill="$piece-hole""#,
        "shade" => r##"fill="#000" fill-opacity="0.22""##,
        "gloss" => r##"fill="none" stroke="#fff" stroke-opacity="0.3" stroke-width="2.5""##,
        "ring" => r##"fill="none" stroke="#fff" stroke-width="6""##,
        "ring last" => r##"fill="none" stroke="#fff" stroke-width="3" stroke-dasharray="6 5""##,
        _ => "",
    };
    let mut out = String::from(if paint.is_empty() { "" } else { " " });
    for (number, part) in paint.split('$').enumerate() {
        if number == 0 {
            out += part;
            continue;
        }
        let (name, rest) = part.split_at(part.find('"').unwrap_or(part.len()));
        out += colour(&name.replace("piece", piece));
        out += rest;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_colour() {
        for name in [
            "card",
            "soft",
            "ink",
            "table",
            "table-edge",
            "cell",
            "cell-last",
            "cell-won",
            "on-table",
            "line",
            "rack",
            "slot",
        ] {
            assert!(colour(name).starts_with('#'), "{name}");
            assert_ne!(colour(name), "#000", "{name}");
        }
        for piece in ["red", "blue", "light", "dark", "green", "yellow"] {
            for part in ["", "-wall", "-hole"] {
                assert_ne!(colour(&format!("{piece}{part}")), "#000", "{piece}{part}");
            }
        }
        assert_eq!(colour("nothing"), "#000");
    }
}
