//! What follows `builtin:`: the name of a strategy, and its parameters, such as `search?depth=3`.

use std::fmt;
use std::str::FromStr;

use super::search::{DEPTHS, USUAL_DEPTH};
use super::{NAMES, PERFECT, SEARCH};
use referee_text::{escape, meant, quote};

/// Its text is the same for the same bot: `search?depth=3` for `search?depth=03`, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Builtin {
    Random,
    Greedy,
    Search {
        /// How many turns it looks beyond its own, one of [`DEPTHS`].
        depth: u32,
    },
    Perfect {
        /// The probability, 0 to 1, of a random turn. Where it is given, answers do not depend on a clock.
        slips: Option<f64>,
    },
}

/// Why a text is not a built-in bot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}; {fix}")]
pub struct UnknownBuiltin {
    pub cause: String,
    pub fix: String,
}

/// The name in `search?depth=3`.
pub fn base_name(text: &str) -> &str {
    text.split_once('?').map_or(text, |(name, _)| name)
}

impl FromStr for Builtin {
    type Err = UnknownBuiltin;

    /// ```
    /// use referee_games::strategy::builtin::Builtin;
    ///
    /// assert_eq!("search?depth=2".parse(), Ok(Builtin::Search { depth: 2 }));
    /// assert_eq!("perfect".parse(), Ok(Builtin::Perfect { slips: None }));
    /// let error = "search?dept=2".parse::<Builtin>().unwrap_err();
    /// assert_eq!(error.to_string(), "search has no parameter `dept`; the only one is depth");
    /// ```
    fn from_str(text: &str) -> Result<Self, UnknownBuiltin> {
        let (name, given) = match text.split_once('?') {
            Some((name, given)) => (name, Some(given)),
            None => (text, None),
        };
        let unknown = |cause: String, fix: String| Err(UnknownBuiltin { cause, fix });
        let plain = match name {
            SEARCH => {
                let is_known = |depth: &u32| DEPTHS.contains(depth);
                let range = format!("a whole number from {} to {}", DEPTHS.start(), DEPTHS.end());
                let depth = parameter(name, given, "depth", &range, is_known)?;
                return Ok(Self::Search {
                    depth: depth.unwrap_or(USUAL_DEPTH),
                });
            }
            PERFECT => {
                let is_probability = |slips: &f64| (0.0..=1.0).contains(slips);
                let range = "a probability from 0 to 1";
                let slips = parameter(name, given, "slips", range, is_probability)?;
                // Adding 0 makes 0 of -0.
                return Ok(Self::Perfect {
                    slips: slips.map(|slips| slips + 0.0),
                });
            }
            "random" => Self::Random,
            "greedy" => Self::Greedy,
            _ => {
                let fix = match meant(name, &NAMES) {
                    Some(near) => format!("did you mean builtin:{near}?"),
                    None => format!("the built-in ones are builtin:{}", NAMES.join(", builtin:")),
                };
                return unknown("there is no such built-in strategy".to_owned(), fix);
            }
        };
        let Some(given) = given else {
            return Ok(plain);
        };
        let fix = format!(
            "leave out ?{}; those that have some are {SEARCH}?depth={USUAL_DEPTH} and {PERFECT}?slips=0.1",
            escape(given.as_bytes())
        );
        unknown(format!("{name} has no parameters"), fix)
    }
}

/// The only parameter that a strategy has; `None` when it is not given.
fn parameter<T: FromStr>(
    strategy: &str,
    given: Option<&str>,
    known: &str,
    range: &str,
    is_inside: impl Fn(&T) -> bool,
) -> Result<Option<T>, UnknownBuiltin> {
    let Some(given) = given else {
        return Ok(None);
    };
    let (name, text) = given.split_once('=').unwrap_or((given, ""));
    let (cause, fix) = if name != known {
        let name = quote(name.as_bytes());
        let cause = format!("{strategy} has no parameter {name}");
        (cause, format!("the only one is {known}"))
    } else if let Some(value) = text.parse().ok().filter(is_inside) {
        return Ok(Some(value));
    } else if text.is_empty() {
        (format!("{name} has no value"), format!("expected {range}"))
    } else {
        let cause = format!("{name} cannot be {}", escape(text.as_bytes()));
        (cause, format!("expected {range}"))
    };
    Err(UnknownBuiltin { cause, fix })
}

impl fmt::Display for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Greedy => f.write_str("greedy"),
            Self::Search { depth } => write!(f, "{SEARCH}?depth={depth}"),
            Self::Perfect { slips: None } => f.write_str(PERFECT),
            Self::Perfect { slips: Some(slips) } => write!(f, "{PERFECT}?slips={slips}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bot_has_one_text() {
        for (text, same) in [
            ("random", "random"),
            ("search", "search?depth=3"),
            ("search?depth=02", "search?depth=2"),
            ("perfect", "perfect"),
            ("perfect?slips=0.10", "perfect?slips=0.1"),
            ("perfect?slips=-0", "perfect?slips=0"),
            ("perfect?slips=1e0", "perfect?slips=1"),
        ] {
            assert_eq!(
                text.parse::<Builtin>().map(|bot| bot.to_string()),
                Ok(same.to_owned())
            );
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, sentence) in [
            (
                "serach?depth=3",
                "there is no such built-in strategy; did you mean builtin:search?",
            ),
            (
                "greedy?depth=3",
                "greedy has no parameters; leave out ?depth=3; those that have some are search?depth=3 and perfect?slips=0.1",
            ),
            (
                "search?dpth=3",
                "search has no parameter `dpth`; the only one is depth",
            ),
            (
                "search?slips=3",
                "search has no parameter `slips`; the only one is depth",
            ),
            (
                "search?depth=0",
                "depth cannot be 0; expected a whole number from 1 to 4",
            ),
            (
                "search?depth=99",
                "depth cannot be 99; expected a whole number from 1 to 4",
            ),
            (
                "search?depth",
                "depth has no value; expected a whole number from 1 to 4",
            ),
            (
                "search?",
                "search has no parameter ``; the only one is depth",
            ),
            (
                "search?depth=1&depth=2",
                "depth cannot be 1&depth=2; expected a whole number from 1 to 4",
            ),
            (
                "perfect?slips=1.5",
                "slips cannot be 1.5; expected a probability from 0 to 1",
            ),
            (
                "perfect?slips=nan",
                "slips cannot be nan; expected a probability from 0 to 1",
            ),
            (
                "perfect?slips=\u{1b}",
                "slips cannot be \\x1b; expected a probability from 0 to 1",
            ),
        ] {
            let error = text.parse::<Builtin>().expect_err(text);
            assert_eq!(error.to_string(), sentence);
        }
    }
}
