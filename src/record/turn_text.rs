//! The text of a turn.

use std::fmt;
use std::ops::Deref;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

/// A turn in canonical form, such as `6 A`. Short texts, as the turns of all games so far, are stored
/// inline, so that recording a turn does not allocate.
///
/// ```
/// use referee::record::TurnText;
///
/// let turn = TurnText::from("6 A");
/// assert_eq!(turn, "6 A");
/// assert_eq!(turn.split_once(' '), Some(("6", "A")));
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TurnText(CompactString);

impl TurnText {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for TurnText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for TurnText {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for TurnText {
    fn from(text: &str) -> Self {
        Self(CompactString::new(text))
    }
}

impl From<String> for TurnText {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl PartialEq<str> for TurnText {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for TurnText {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<String> for TurnText {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

impl fmt::Debug for TurnText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for TurnText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
