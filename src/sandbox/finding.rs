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
    /// What to do when it does not work.
    pub fix: Option<String>,
}
