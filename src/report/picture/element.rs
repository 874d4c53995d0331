//! SVG elements, and their text.

use std::fmt::{Display, Write as _};

use crate::report::markup::escaped;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    tag: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Self>,
    text: String,
}

impl Element {
    pub(super) const fn new(tag: &'static str) -> Self {
        Self {
            tag,
            attributes: Vec::new(),
            children: Vec::new(),
            text: String::new(),
        }
    }

    /// Adds an attribute.
    pub(super) fn with(mut self, name: &'static str, value: impl Display) -> Self {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// Adds numeric attributes.
    pub(super) fn at<const N: usize>(mut self, numbers: [(&'static str, f64); N]) -> Self {
        let named = numbers.map(|(name, number)| (name, number.to_string()));
        self.attributes.extend(named);
        self
    }

    /// Adds a class and its paint.
    pub(super) fn painted(mut self, class: &str, paint: Vec<(&'static str, String)>) -> Self {
        self.attributes.push(("class", class.to_owned()));
        self.attributes.extend(paint);
        self
    }

    /// Adds a child.
    pub(super) fn child(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        text.clone_into(&mut self.text);
        self
    }

    pub(super) fn push(&mut self, child: Self) {
        self.children.push(child);
    }

    /// As a file.
    pub(super) fn to_xml(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out.push('\n');
        out
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "<{}", self.tag);
        for (name, value) in &self.attributes {
            let _ = write!(out, " {name}=\"{}\"", escaped(value));
        }
        if self.children.is_empty() && self.text.is_empty() {
            out.push_str("/>");
            return;
        }
        let _ = write!(out, ">{}", escaped(&self.text));
        for child in &self.children {
            child.write(out);
        }
        let _ = write!(out, "</{}>", self.tag);
    }
}
