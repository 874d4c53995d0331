use serde::Serialize;

use super::settings::Kind;

/// The result of trying something on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub probe: String,
    pub sandbox: Option<Kind>,
    pub works: bool,
    pub result: String,
    /// Whether the kernel enforces a limit at any moment; `None` when it is not about a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<bool>,
    /// What a program in this sandbox tried and could not do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<&'static str>,
    /// What to do when it does not work.
    pub fix: Option<String>,
}
