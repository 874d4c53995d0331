//! The pages of a class: each works without JavaScript by reloading.

pub(crate) mod public;
pub(crate) mod student;
pub(crate) mod tables;
pub(crate) mod teacher;
pub(crate) mod tree;

use jiff::Timestamp;
use referee_class::league::zone::Zone;
use serde_json::Value;

use self::tree::{Node, element};
use referee_report::html::{FormPage, form_page};

const STYLE: &str = include_str!("assets/class.css");

const SCRIPT: &str = include_str!("assets/live.js");

/// The HTML and its policy.
pub(crate) struct Page(pub(crate) [String; 2]);

/// A page of sections. `at`: its path, which is marked in `nav`, and below which the script hears of changes to its sections.
pub(crate) fn page(
    title: &str,
    nav: &[(&str, &str)],
    sections: &[Node],
    fixed: &[Node],
    at: Option<&str>,
) -> Page {
    let live: String = sections.iter().map(Node::html).collect();
    let fixed: String = fixed.iter().map(Node::html).collect();
    let events = at.map_or_else(String::new, |path| {
        let path = path.trim_end_matches('/');
        format!(" data-events=\"{path}/changes\"")
    });
    let content = format!("{fixed}<div class=\"columns\"{events}>{live}</div>");
    let links = nav.iter().map(|(path, name)| {
        let mut link = element("a").set("href", *path).with(*name);
        if Some(*path) == at {
            link = link.set("aria-current", "page");
        }
        element("li").with(link).html()
    });
    Page(form_page(&FormPage {
        title,
        nav: &links.collect::<String>(),
        content: &content,
        style: STYLE,
        script: SCRIPT,
    }))
}

/// A sentence on a page of its own.
pub(crate) fn told(title: &str, sentence: &str, nav: &[(&str, &str)]) -> Page {
    let card = element("section")
        .set("class", "card")
        .with(element("p").set("class", "tight").with(sentence));
    page(title, nav, &[card], &[], None)
}

/// A section of its own, by whose id the script finds it.
pub(crate) fn card(id: &'static str, title: &str) -> Node {
    element("section")
        .set("class", "card")
        .set("id", id)
        .with(element("h2").with(title))
}

pub(crate) fn paragraph(text: impl Into<Node>) -> Node {
    element("p").with(text)
}

pub(crate) fn hint(text: impl Into<Node>) -> Node {
    element("p").set("class", "hint").with(text)
}

/// A button that sends a form without further fields.
pub(crate) fn button(action: String, label: &str, id: String) -> Node {
    let button = element("button")
        .set("type", "submit")
        .set("id", id)
        .with(label);
    element("form")
        .set("method", "post")
        .set("action", action)
        .with(button)
}

pub(crate) fn table(headings: &[&str], rows: Vec<Node>) -> Node {
    let head = headings
        .iter()
        .map(|text| element("th").set("scope", "col").with(*text));
    let head = element("thead").with(element("tr").with_all(head));
    let body = element("tbody").with_all(rows);
    let table = element("table").set("class", "plain").with(head).with(body);
    element("div")
        .set("class", "scroll")
        .set("tabindex", "0")
        .with(table)
}

/// In the class's time zone, to the minute, with the offset.
pub(crate) fn time(at: Timestamp, zone: &Zone) -> String {
    zone.at(at).strftime("%Y-%m-%d %H:%M %:z").to_string()
}

/// All sections as the script takes them.
pub(crate) fn as_json(sections: &[Node]) -> String {
    let sections: Vec<Value> = sections.iter().map(Node::json).collect();
    Value::from(sections).to_string()
}
