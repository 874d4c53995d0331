//! A part of a page as a tree: written as HTML for browsers without JavaScript, and as JSON for the script that builds the
//! same of it without a reload. Text is text in both; tags and attributes are this program's.

use serde_json::{Map, Value, json};

use referee_report::escaped;
use referee_text::escape_controls;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Text(String),
    Element {
        tag: &'static str,
        attributes: Vec<(&'static str, String)>,
        children: Vec<Node>,
    },
}

/// Without attributes and children.
pub(crate) fn element(tag: &'static str) -> Node {
    Node::Element {
        tag,
        attributes: Vec::new(),
        children: Vec::new(),
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Self::Text(escape_controls(text))
    }
}

impl From<String> for Node {
    fn from(text: String) -> Self {
        Self::from(&*text)
    }
}

impl Node {
    pub(crate) fn with(mut self, child: impl Into<Self>) -> Self {
        if let Self::Element { children, .. } = &mut self {
            children.push(child.into());
        }
        self
    }

    pub(crate) fn with_all<N: Into<Self>>(self, all: impl IntoIterator<Item = N>) -> Self {
        all.into_iter().fold(self, Self::with)
    }

    pub(crate) fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Self::Element { attributes, .. } = &mut self {
            attributes.push((name, value.into()));
        }
        self
    }

    pub(crate) fn html(&self) -> String {
        match self {
            Self::Text(text) => escaped(text),
            Self::Element {
                tag,
                attributes,
                children,
            } => {
                let attributes = attributes.iter();
                let attributes = attributes
                    .map(|(name, value)| format!(" {name}=\"{}\"", escaped(value)))
                    .collect::<Vec<_>>()
                    .concat();
                let children: String = children.iter().map(Self::html).collect();
                if matches!(*tag, "input" | "br" | "img") {
                    return format!("<{tag}{attributes}>");
                }
                format!("<{tag}{attributes}>{children}</{tag}>")
            }
        }
    }

    /// A text, or a list of the tag, its attributes and its children.
    pub(crate) fn json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Element {
                tag,
                attributes,
                children,
            } => {
                let attributes = attributes.iter();
                let attributes: Map<String, Value> = attributes
                    .map(|(name, value)| ((*name).to_owned(), json!(value)))
                    .collect();
                let head = [json!(tag), json!(attributes)];
                let children = children.iter().map(Self::json);
                head.into_iter().chain(children).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_text_in_both() {
        let name = "<script>\u{202e}\"'&";
        let node = element("p").set("title", name).with(name);
        let shown = escape_controls(name);
        assert_eq!(
            node.html(),
            format!("<p title=\"{}\">{}</p>", escaped(name), escaped(&shown))
        );
        assert!(!node.html().contains("<script"));
        assert_eq!(node.json(), json!(["p", {"title": name}, shown]));
        assert_eq!(
            element("input").set("name", "x").html(),
            "<input name=\"x\">"
        );
    }
}
