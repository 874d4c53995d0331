//! What was found out about this machine.

use serde::Serialize;

use super::settings::Kind;

/// The result of trying something on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was tried.
    pub probe: String,
    /// The sandbox that was tried, if it was one.
    pub sandbox: Option<Kind>,
    /// Whether it works.
    pub works: bool,
    /// What was found, for people.
    pub result: String,
    /// Whether the kernel keeps a limit at any moment; `None` when it is about something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<bool>,
    /// What a program in this sandbox tried, and could not do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<&'static str>,
    /// What to do when it does not work.
    pub fix: Option<String>,
}
