//! Elements of SVG, and how they are written.

use std::fmt::Display;
use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};

/// An element with attributes, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    tag: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Self>,
    text: String,
}

/// Text with nothing that XML 1.0 forbids: it has neither most control characters nor U+FFFE and U+FFFF.
fn allowed(text: &str) -> String {
    let is_forbidden = |c: char| {
        matches!(c, '\u{fffe}' | '\u{ffff}') || (c < ' ' && !matches!(c, '\t' | '\n' | '\r'))
    };
    text.replace(is_forbidden, "\u{fffd}")
}

impl Element {
    /// An element without anything.
    pub(super) const fn new(tag: &'static str) -> Self {
        Self {
            tag,
            attributes: Vec::new(),
            children: Vec::new(),
            text: String::new(),
        }
    }

    /// With one attribute more.
    pub(super) fn with(mut self, name: &'static str, value: impl Display) -> Self {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// With these numbers as attributes.
    pub(super) fn at<const N: usize>(mut self, numbers: [(&'static str, f64); N]) -> Self {
        let named = numbers.map(|(name, number)| (name, number.to_string()));
        self.attributes.extend(named);
        self
    }

    /// With this class, and the attributes of how it is painted.
    pub(super) fn painted(mut self, class: &str, paint: Vec<(&'static str, String)>) -> Self {
        self.attributes.push(("class", class.to_owned()));
        self.attributes.extend(paint);
        self
    }

    /// With one element more in it.
    pub(super) fn child(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        self.text = allowed(text);
        self
    }

    /// Adds an element.
    pub(super) fn push(&mut self, child: Self) {
        self.children.push(child);
    }

    /// A file of this element.
    pub(super) fn to_xml(&self) -> String {
        let mut writer = Writer::new(Vec::new());
        // Writing to memory does not fail.
        let _ = self.write(&mut writer);
        let mut text = String::from_utf8_lossy(&writer.into_inner()).into_owned();
        text.push('\n');
        text
    }

    fn write(&self, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let mut start = BytesStart::new(self.tag);
        for (name, value) in &self.attributes {
            start.push_attribute((*name, allowed(value).as_str()));
        }
        if self.children.is_empty() && self.text.is_empty() {
            return writer.write_event(Event::Empty(start));
        }
        writer.write_event(Event::Start(start))?;
        writer.write_event(Event::Text(BytesText::new(&self.text)))?;
        for child in &self.children {
            child.write(writer)?;
        }
        writer.write_event(Event::End(BytesEnd::new(self.tag)))
    }
}
