//! The positions of a game that is a program, as it draws them, for the page.
//!
//! A list with an entry for the start and for the position after each turn:
//!
//! ```text
//! [{"r": request, "w": the turn in words, "c": [[text, …], …], "h": names of columns, "v": names of rows,
//!   "l": [row, column] of the last turn, "x": winning cells, "t": [line, …], "s": SVG}, …]
//! ```
//!
//! Empty fields are left out. SVG is a tree, `[name, {attribute: value}, [child or text, …]]`, of the elements and
//! attributes that only draw: the page makes it without parsing anything.

use roxmltree::{Attribute, Document, Node};
use serde_json::{Map, Value, json};

use super::{MAX_TURNS, cut};
use crate::has_word;
use referee_games::game::{Game, Mood, Ruleset};
use referee_match::record::Record;
use referee_text::escape_controls;

pub(super) const ROOM: usize = 4_000_000;

const TEXT_CHARS: usize = 512;

/// Most bytes, elements and depth of an SVG.
const SVG_BYTES: usize = 64 * 1024;
const SVG_ELEMENTS: usize = 2000;
const SVG_DEPTH: usize = 40;

const ELEMENTS: &str = "circle desc ellipse g line path polygon polyline rect svg text tspan";

/// Attributes of place and appearance. None can refer to anything outside; `style` and `class` would reach the
/// page's own.
const ATTRIBUTES: &str = "cx cy d dominant-baseline dx dy fill fill-opacity fill-rule font-family font-size font-style \
    font-weight height letter-spacing opacity pathLength points preserveAspectRatio r rotate rx ry \
    stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit \
    stroke-opacity stroke-width text-anchor text-decoration textLength transform transform-origin \
    vector-effect viewBox width x x1 x2 y y1 y2";

/// Dropped silently: they are invisible.
const UNSEEN: &str = "id version space";

/// `None` when the game's program rejects the record.
pub(super) fn of(ruleset: &dyn Ruleset, record: &Record) -> Option<Value> {
    let mut session = ruleset.start_from(&record.start).ok()?;
    let mut positions = vec![position(&*session)];
    let mut turn = String::new();
    for answer in record.turns.iter().take(MAX_TURNS) {
        session.play(answer, &mut turn).ok()?;
        positions.push(position(&*session));
    }
    // A program that failed drew nothing for the rest.
    ruleset
        .failure()
        .is_none()
        .then_some(Value::Array(positions))
}

pub fn position(session: &dyn Game) -> Value {
    let request = session.request();
    let picture = session.picture(None);
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| {
        let is_empty = match &value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        if !is_empty {
            fields.insert(name.to_owned(), value);
        }
    };
    add("r", text_value(&request));
    add("w", text_value(&session.describe_last_turn(Mood::Told)));
    add("c", picture.cells.iter().map(|row| texts(row)).collect());
    add("h", texts(&picture.columns));
    add("v", texts(&picture.rows));
    add("l", json!(picture.last));
    add("x", json!(picture.winning));
    add("t", texts(&picture.text));
    let svg = picture.svg.as_deref().and_then(|text| svg(text).ok());
    add("s", svg.unwrap_or_default().0);
    Value::Object(fields)
}

fn text_value(text: &str) -> Value {
    cut(&escape_controls(text), TEXT_CHARS).into()
}

fn texts(texts: &[String]) -> Value {
    texts.iter().map(|text| text_value(text)).collect()
}

/// Why nothing of a drawing is shown, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SvgError {
    #[error("expected at most {SVG_BYTES} bytes, found {0}")]
    TooLong(usize),
    #[error("it is not well-formed: {0}")]
    Xml(#[from] roxmltree::Error),
    #[error("expected at most {SVG_ELEMENTS} elements")]
    TooManyElements,
    #[error("expected at most {SVG_DEPTH} elements within one another")]
    TooDeep,
    #[error("expected <svg> as the outermost element, found <{0}>")]
    OtherRoot(String),
}

/// What is dropped from a drawing: `<style>`, `class of <rect>`, each once.
pub fn check_svg(text: &str) -> Result<Vec<String>, SvgError> {
    let (_, mut left_out) = svg(text)?;
    left_out.sort_unstable();
    left_out.dedup();
    Ok(left_out)
}

/// The SVG as a tree, and what is dropped from it.
fn svg(text: &str) -> Result<(Value, Vec<String>), SvgError> {
    if text.len() > SVG_BYTES {
        return Err(SvgError::TooLong(text.len()));
    }
    // No document type, no entities.
    let document = Document::parse(text)?;
    let is_deep = |node: Node<'_, '_>| node.ancestors().nth(SVG_DEPTH).is_some();
    let nodes = document.descendants();
    if nodes.clone().count() > SVG_ELEMENTS {
        return Err(SvgError::TooManyElements);
    }
    if nodes.into_iter().any(is_deep) {
        return Err(SvgError::TooDeep);
    }
    let root = document.root_element();
    let name = root.tag_name().name();
    let mut left_out = Vec::new();
    let tree = element(root, &mut left_out).filter(|_| name == "svg");
    let tree = tree.ok_or_else(|| SvgError::OtherRoot(name.to_owned()))?;
    Ok((tree, left_out))
}

fn is_kept(attribute: &Attribute<'_, '_>) -> bool {
    let value = attribute.value();
    // `url(…)` refers to something.
    let is_plain = !value.contains("url") && !value.contains(['\\', ':']);
    attribute.namespace().is_none() && has_word(ATTRIBUTES, attribute.name()) && is_plain
}

/// Drops attributes and children that might do more than draw; `None` for such an element itself.
fn element(node: Node<'_, '_>, left_out: &mut Vec<String>) -> Option<Value> {
    let name = node.tag_name().name();
    if !has_word(ELEMENTS, name) {
        left_out.push(format!("<{name}>"));
        return None;
    }
    let mut attributes = Map::new();
    for attribute in node.attributes() {
        if is_kept(&attribute) {
            let value = escape_controls(attribute.value());
            attributes.insert(attribute.name().to_owned(), value.into());
        } else if !has_word(UNSEEN, attribute.name()) {
            left_out.push(format!("{} of <{name}>", attribute.name()));
        }
    }
    let children = node.children().filter_map(|child| match child.text() {
        _ if child.is_element() => element(child, left_out),
        Some(text) if child.is_text() && !text.trim().is_empty() => Some(text_value(text)),
        _ => None,
    });
    let children: Vec<Value> = children.collect();
    Some(json!([name, attributes, children]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Option<Value> {
        svg(text).ok().map(|(tree, _)| tree)
    }

    #[test]
    fn a_drawing_is_kept() {
        let text = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><g fill="#fff"><circle r="2"/><text x="1">A</text></g></svg>"##;
        let expected = json!(["svg", {"viewBox": "0 0 10 10"}, [["g", {"fill": "#fff"}, [["circle", {"r": "2"}, []], ["text", {"x": "1"}, ["A"]]]]]]);
        assert_eq!(tree(text), Some(expected));
    }

    #[test]
    fn what_is_left_out_is_named() {
        let text = r#"<svg viewBox="0 0 9 9" id="a"><style>x</style><rect class="b" style="fill:red" fill="url(#a)" x="1"/><g><rect class="c"/></g></svg>"#;
        let found = check_svg(text).expect("it is shown");
        let expected = [
            "<style>",
            "class of <rect>",
            "fill of <rect>",
            "style of <rect>",
        ];
        assert_eq!(found, expected);
        assert_eq!(check_svg("<svg/>"), Ok(Vec::new()));
    }

    /// Every documented element, complete.
    #[test]
    fn whole_elements_are_kept() {
        for (name, attributes) in [
            ("rect", &["x", "y", "width", "height", "rx", "ry"][..]),
            ("circle", &["cx", "cy", "r"]),
            ("ellipse", &["cx", "cy", "rx", "ry"]),
            ("line", &["x1", "y1", "x2", "y2"]),
            ("polyline", &["points"]),
            ("polygon", &["points"]),
            ("path", &["d"]),
            ("text", &["x", "y", "dx", "dy", "font-size", "text-anchor"]),
        ] {
            let all = [attributes, &["fill", "stroke", "stroke-width", "transform"]].concat();
            let written = all.join("='1' ");
            let kept: Map<String, Value> = all
                .iter()
                .map(|&name| (name.to_owned(), json!("1")))
                .collect();
            assert_eq!(
                tree(&format!("<svg><{name} {written}='1'/></svg>")),
                Some(json!(["svg", {}, [[name, kept, []]]])),
                "{name}"
            );
        }
    }

    #[test]
    fn what_does_more_than_draw_is_left_out() {
        for part in [
            "<script>alert(1)</script>",
            "<style>*{display:none}</style>",
            "<foreignObject><p>x</p></foreignObject>",
            "<image href='http://example.org/x.png'/>",
            "<use href='#a'/>",
            "<a href='javascript:alert(1)'/>",
            "<animate attributeName='x'/>",
        ] {
            let text = format!(
                "<svg>{part}<rect width='1' onclick='alert(1)' style='x' class='y' id='z' fill='url(#a)'/></svg>"
            );
            assert_eq!(
                tree(&text),
                Some(json!(["svg", {}, [["rect", {"width": "1"}, []]]])),
                "{part}"
            );
        }
    }

    #[test]
    fn what_is_no_drawing_is_nothing() {
        let many = format!("<svg>{}</svg>", "<g/>".repeat(SVG_ELEMENTS));
        let deep = format!("<svg>{}{}</svg>", "<g>".repeat(60), "</g>".repeat(60));
        for text in [
            "",
            "x",
            "<svg>",
            "<html/>",
            "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>&a;</svg>",
            &many,
            &deep,
        ] {
            assert_eq!(tree(text), None, "{text:.40}");
        }
        // The XML reader refuses or reads any depth that fits.
        let deepest = "<g>".repeat(SVG_BYTES / 8) + &"</g>".repeat(SVG_BYTES / 8);
        assert_eq!(tree(&format!("<svg>{deepest}</svg>")), None);
    }
}
