use std::fmt;

use serde::{Deserialize, Serialize};

/// What keeps a bot from playing, as its author reads it.
///
/// ```
/// use referee_stats::standings::Absence;
///
/// let absence = Absence {
///     fix: Some("print one line per question".to_owned()),
///     ..Absence::new("exited: it ended without an answer")
/// };
/// let text = "exited: it ended without an answer\nFix: print one line per question";
/// assert_eq!(absence.to_string(), text);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// A sentence in one line.
    pub problem: String,
    /// All that a compiler said of it, where the problem quotes more than a line. Only shown where there is room.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<String>,
    /// The question after which it was seen, where the problem does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// The line of stderr that says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The command that shows the problem again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// This machine lacks something, such as a compiler: it may play the next time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_machine: bool,
}

impl Absence {
    pub fn new(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            ..Self::default()
        }
    }

    /// With each of its texts changed.
    #[must_use]
    pub fn map(&self, change: impl Fn(&str) -> String) -> Self {
        let part = |part: &Option<String>| part.as_deref().map(&change);
        Self {
            problem: change(&self.problem),
            printed: self.printed.iter().map(|line| change(line)).collect(),
            asked: part(&self.asked),
            stderr: part(&self.stderr),
            fix: part(&self.fix),
            again: part(&self.again),
            by_machine: self.by_machine,
        }
    }
}

/// The problem, then a line for each other part that is known, with its title.
impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)?;
        if let Some(asked) = &self.asked {
            write!(f, "\nAsked: `{asked}`")?;
        }
        for (title, part) in [
            ("Stderr ended with", &self.stderr),
            ("Fix", &self.fix),
            ("See it again", &self.again),
        ] {
            if let Some(part) = part {
                write!(f, "\n{title}: {part}")?;
            }
        }
        Ok(())
    }
}
