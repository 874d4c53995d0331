//! How shapes are painted: the classes of `html/assets/views.css`, with the light theme's colours.

/// The colours of the page.
const THEME: &str = include_str!("../html/assets/light.css");

/// Every name used here must be in the theme; a test checks.
pub(super) fn colour(name: &str) -> &'static str {
    let of = |line: &'static str| {
        line.split(';').find_map(|declaration| {
            let (property, value) = declaration.split_once(':')?;
            (property.trim().strip_prefix("--")? == name).then(|| value.trim())
        })
    };
    THEME.lines().find_map(of).unwrap_or("#000")
}

/// Attributes.
pub(super) type Paint = Vec<(&'static str, String)>;

fn listed<const N: usize>(attributes: [(&'static str, &str); N]) -> Paint {
    attributes
        .map(|(name, value)| (name, value.to_owned()))
        .to_vec()
}

pub(super) fn of(class: &str) -> Paint {
    let fill = |name| listed([("fill", colour(name))]);
    match class {
        "table" => listed([
            ("fill", colour("table")),
            ("stroke", colour("table-edge")),
            ("stroke-width", "3"),
        ]),
        "cell" => fill("cell"),
        "cell last" => fill("cell-last"),
        "cell winning" => fill("cell-won"),
        "rack" => fill("rack"),
        "slot" => fill("slot"),
        "opening" => listed([
            ("fill", "none"),
            ("stroke", colour("table-edge")),
            ("stroke-width", "2.5"),
            ("stroke-dasharray", "6 5"),
        ]),
        "stroke" => listed([
            ("fill", "none"),
            ("stroke", colour("line")),
            ("stroke-width", "9"),
            ("stroke-linecap", "round"),
            ("opacity", "0.75"),
        ]),
        "edge" => listed([
            ("fill", colour("soft")),
            ("font-size", "17"),
            ("font-weight", "600"),
        ]),
        "number" => listed([
            ("fill", colour("on-table")),
            ("font-size", "20"),
            ("opacity", "0.55"),
        ]),
        "symbol" => listed([
            ("fill", "#fff"),
            ("font-size", "17"),
            ("font-weight", "700"),
            ("paint-order", "stroke"),
            ("stroke", "#28190c"),
            ("stroke-opacity", "0.8"),
            ("stroke-width", "4"),
        ]),
        "shade" => listed([("fill", "#000"), ("fill-opacity", "0.22")]),
        "gloss" => listed([
            ("fill", "none"),
            ("stroke", "#fff"),
            ("stroke-opacity", "0.3"),
            ("stroke-width", "2.5"),
        ]),
        "ring" => listed([("fill", "none"), ("stroke", "#fff"), ("stroke-width", "6")]),
        "ring last" => listed([
            ("fill", "none"),
            ("stroke", "#fff"),
            ("stroke-width", "3"),
            ("stroke-dasharray", "6 5"),
        ]),
        _ => Paint::new(),
    }
}

pub(super) fn of_piece(class: &str, piece: &str) -> Paint {
    let wall = colour(&format!("{piece}-wall"));
    match class {
        "face" => listed([
            ("fill", colour(piece)),
            ("stroke", wall),
            ("stroke-width", "1.5"),
        ]),
        "wall" | "hole" => listed([("fill", wall)]),
        "depth" => listed([("fill", colour(&format!("{piece}-hole")))]),
        class => of(class),
    }
}

pub(super) fn of_disc(class: &str, disc: &str) -> Paint {
    match class {
        "face" => listed([
            ("fill", colour(disc)),
            ("stroke", colour(&format!("{disc}-wall"))),
            ("stroke-width", "3"),
        ]),
        "opening" => listed([
            ("fill", "none"),
            ("stroke", "#fff"),
            ("stroke-opacity", "0.85"),
            ("stroke-width", "2.5"),
            ("stroke-dasharray", "6 5"),
        ]),
        "mark" => listed([
            (
                "fill",
                if disc == "red" {
                    "#fff"
                } else {
                    colour("yellow-hole")
                },
            ),
            ("font-size", "30"),
            ("font-weight", "700"),
        ]),
        "stroke" => listed([
            ("fill", "none"),
            ("stroke", "#fff"),
            ("stroke-width", "9"),
            ("stroke-linecap", "round"),
            ("opacity", "0.75"),
        ]),
        class => of(class),
    }
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
            "l0",
            "l1",
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
