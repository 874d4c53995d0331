//! A scale of grades: a ladder of reference bots, with what to score against each.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

use referee_stats::betting::{MeanTest, MeanTestError, score_of_elo};
use referee_text::backslash_hint;

pub const DEFAULT: &str = include_str!("default_scale.toml");

/// Largest number of pairs a rung, and of points.
const MOST: u64 = 100_000;

/// Largest number of hours: a century.
const MOST_HOURS: u64 = 876_600;

/// What is wrong with a scale, and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum ScaleError {
    #[error("{}{hint}", .error.to_string().trim_end())]
    Toml {
        error: Box<toml::de::Error>,
        hint: &'static str,
    },
    #[error("there is no [[rung]]; a scale has at least one")]
    NoRung,
    #[error("a rung has no name that can be printed; give it one")]
    UnnamedRung,
    #[error("two rungs are called {0}; rename one")]
    SameName(String),
    #[error("rung {rung}: {problem}")]
    Rung { rung: String, problem: RungProblem },
    #[error(
        "[[late]]: after {} hours follows after {}; expected more hours, and at least as many points lost",
        .next.after, .penalty.after
    )]
    Penalties { penalty: Penalty, next: Penalty },
}

/// What is wrong with a rung, and what was expected.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RungProblem {
    #[error("elo0 is {elo0} and elo1 is {elo1}; expected two numbers, the lower one first")]
    Elo { elo0: f64, elo1: f64 },
    #[error("score is {0}; expected a share of the points between 0 and 1")]
    Score(f64),
    #[error("expected elo0 and elo1, or score alone")]
    NoRequirement,
    #[error(transparent)]
    Test(#[from] MeanTestError),
}

impl ScaleError {
    fn toml(text: &str, error: toml::de::Error) -> Self {
        // The parser has no code for this.
        let is_missing = error.message().contains("missing field");
        let hint = match error.span() {
            _ if is_missing => "; `referee print scale` shows all that a scale has",
            Some(place) => backslash_hint(text, &place),
            None => "",
        };
        Self::Toml {
            error: Box::new(error),
            hint,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// Highest rate at which a bot that is not good enough passes a rung.
    #[serde(default = "five_percent")]
    pub alpha: f64,
    /// Highest rate at which a bot that is good enough does not.
    #[serde(default = "five_percent")]
    pub beta: f64,
    #[serde(default = "usual_budget", deserialize_with = "whole::<1, MOST, _, _>")]
    pub budget: u32,
    /// Openings and bot seeds follow from it, the rung and the bot's files.
    #[serde(deserialize_with = "whole::<0, { u64::MAX }, _, _>")]
    pub seed: u64,
    #[serde(rename = "rung")]
    pub rungs: Vec<Rung>,
    /// What is lost by being late; of several that apply, the last counts.
    #[serde(default)]
    pub late: Vec<Penalty>,
}

/// What a bot loses that was late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Penalty {
    /// By more hours than this.
    #[serde(deserialize_with = "whole::<0, MOST_HOURS, _, _>")]
    pub after: u64,
    /// Points.
    #[serde(deserialize_with = "whole::<0, MOST, _, _>")]
    pub loses: u32,
}

/// A reference bot, and the required strength.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rung {
    pub name: String,
    /// A file, a command line or `builtin:NAME`.
    pub bot: String,
    /// A bot stronger by this many Elo or less should not pass.
    pub elo0: Option<f64>,
    /// A bot stronger by this many or more should.
    pub elo1: Option<f64>,
    /// Instead of `elo0` and `elo1`: share of points to exceed, 0 to 1.
    pub score: Option<f64>,
    #[serde(deserialize_with = "whole::<0, MOST, _, _>")]
    pub points: u32,
}

/// A whole number of this range, which the error names, however large the number is.
fn whole<'de, const LEAST: u64, const MOST: u64, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: TryFrom<u64, Error: fmt::Display>,
    D: Deserializer<'de>,
{
    let number = deserializer.deserialize_any(Whole::<LEAST, MOST>)?;
    T::try_from(number).map_err(D::Error::custom)
}

struct Whole<const LEAST: u64, const MOST: u64>;

impl<const LEAST: u64, const MOST: u64> Whole<LEAST, MOST> {
    fn within<E: Error>(number: i128) -> Result<u64, E> {
        let number_in_range = u64::try_from(number).ok();
        let number_in_range = number_in_range.filter(|number| (LEAST..=MOST).contains(number));
        number_in_range
            .ok_or_else(|| E::custom(format!("it is {number}; expected {LEAST} to {MOST}")))
    }
}

impl<const LEAST: u64, const MOST: u64> Visitor<'_> for Whole<LEAST, MOST> {
    type Value = u64;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a whole number from {LEAST} to {MOST}")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        Self::within(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Self::within(number.into())
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<u64, E> {
        Self::within(number)
    }
}

const fn five_percent() -> f64 {
    0.05
}

const fn usual_budget() -> u32 {
    100
}

impl Scale {
    pub fn parse(text: &str) -> Result<Self, ScaleError> {
        let scale: Self = toml::from_str(text).map_err(|error| ScaleError::toml(text, error))?;
        if scale.rungs.is_empty() {
            return Err(ScaleError::NoRung);
        }
        let mut names = BTreeSet::new();
        for rung in &scale.rungs {
            if rung.name.trim().is_empty() || rung.name.chars().any(char::is_control) {
                return Err(ScaleError::UnnamedRung);
            }
            if !names.insert(&rung.name) {
                return Err(ScaleError::SameName(rung.name.clone()));
            }
            scale.test(rung)?;
        }
        for pair in scale.late.windows(2) {
            let [penalty, next] = [pair[0], pair[1]];
            if penalty.after >= next.after || penalty.loses > next.loses {
                return Err(ScaleError::Penalties { penalty, next });
            }
        }
        Ok(scale)
    }

    /// Points that a bot loses that was so many begun hours late.
    pub fn penalty(&self, hours: u64) -> u32 {
        let applies = self.late.iter().rev().find(|one| hours > one.after);
        applies.map_or(0, |one| one.loses)
    }

    pub fn test(&self, rung: &Rung) -> Result<MeanTest, ScaleError> {
        let (above, below) = match (rung.elo0, rung.elo1, rung.score) {
            (Some(elo0), Some(elo1), None) if elo0 >= elo1 || (elo1 - elo0).is_nan() => {
                return Err(rung.error(RungProblem::Elo { elo0, elo1 }));
            }
            (None, None, Some(score)) if !(score > 0.0 && score < 1.0) => {
                return Err(rung.error(RungProblem::Score(score)));
            }
            (Some(elo0), Some(elo1), None) => (score_of_elo(elo0), score_of_elo(elo1)),
            (None, None, Some(score)) => (score, score),
            _ => return Err(rung.error(RungProblem::NoRequirement)),
        };
        let test = MeanTest::new(above, below, self.alpha, self.beta);
        test.map_err(|error| rung.error(error.into()))
    }

    pub fn most_points(&self) -> u32 {
        self.rungs.iter().map(|rung| rung.points).sum()
    }
}

impl Rung {
    fn error(&self, problem: RungProblem) -> ScaleError {
        ScaleError::Rung {
            rung: self.name.clone(),
            problem,
        }
    }

    pub fn requirement(&self) -> String {
        let (bot, score) = (&self.bot, self.score.unwrap_or_default());
        match (self.elo0, self.elo0.map(score_of_elo)) {
            (Some(elo0), Some(score)) => {
                format!("be stronger than {bot} by more than {elo0} Elo (score above {score:.2})")
            }
            _ => format!("score above {score:.2} against {bot}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_scale_is_valid() {
        let scale = Scale::parse(DEFAULT).expect("a scale");
        assert_eq!(scale.most_points(), 100);
    }

    #[test]
    fn whoever_is_later_loses_more() {
        let late = "[[late]]\nafter = 0\nloses = 10\n[[late]]\nafter = 24\nloses = 25\n";
        let scale = Scale::parse(&format!("{DEFAULT}\n{late}")).expect("a scale");
        let lost = [0, 1, 24, 25, 1000].map(|hours| scale.penalty(hours));
        assert_eq!(lost, [0, 10, 10, 25, 25]);
    }

    #[test]
    fn mistakes_are_named() {
        let says = |text: &str, word: &str| {
            let error = Scale::parse(text).expect_err(text).to_string();
            assert!(error.contains(word), "{error}");
        };
        let rung = "[[rung]]\nname = \"a\"\nbot = \"builtin:random\"\npoints = 1\n";
        says("seed = 1\nrung = []", "no [[rung]]");
        says(&format!("seed = 1\n{rung}"), "elo0 and elo1, or score");
        says(
            &format!("seed = 1\n{rung}elo0 = 10\nelo1 = 0"),
            "the lower one first",
        );
        says(
            &format!("seed = 1\n{rung}score = 0.5\n{rung}score = 0.5"),
            "two rungs",
        );
        says(
            &format!("seed = 1\n{rung}elo0 = 500\nelo1 = nan"),
            "elo0 is 500 and elo1 is NaN",
        );
        says(
            &format!("seed = 1\n{rung}score = 1.5"),
            "score is 1.5; expected a share",
        );
        let late = "[[late]]\nafter = 24\nloses = 10\n[[late]]\nafter = 24\nloses = 20\n";
        says(
            &format!("seed = 1\n{rung}score = 0.5\n{late}"),
            "after 24 hours follows after 24",
        );
        let negative = rung.replace("points = 1", "points = -1");
        says(
            &format!("seed = 1\n{negative}score = 0.5"),
            "line 5, column 10",
        );
        says(
            &format!("{rung}score = 0.5"),
            "missing field `seed`; `referee print scale`",
        );
        says(&format!("{rung}score = 0.5"), "seed");
        says(
            &format!("seed = 1\nbudget = 0\n{rung}score = 0.5"),
            "budget",
        );
        // However large they are.
        for (key, number, expected) in [
            ("budget", "0", "it is 0; expected 1 to 100000"),
            (
                "budget",
                "5_000_000_000",
                "it is 5000000000; expected 1 to 100000",
            ),
            (
                "budget",
                "99999999999999999999",
                "it is 99999999999999999999; expected 1 to 100000",
            ),
            ("budget", "2.5", "expected a whole number from 1 to 100000"),
            (
                "seed",
                "99999999999999999999",
                "expected 0 to 18446744073709551615",
            ),
        ] {
            let seed = if key == "seed" { "" } else { "seed = 1\n" };
            says(
                &format!("{seed}{key} = {number}\n{rung}score = 0.5"),
                expected,
            );
        }
        let late = "[[late]]\nafter = 99999999999999999999\nloses = 10\n";
        says(
            &format!("seed = 1\n{rung}score = 0.5\n{late}"),
            "expected 0 to 876600",
        );
        let points = rung.replace("points = 1", "points = 9999999999");
        says(
            &format!("seed = 1\n{points}score = 0.5"),
            "it is 9999999999; expected 0 to 100000",
        );
        says(
            &format!("seed = 1\nalpha = 0.0\n{rung}score = 0.5"),
            "alpha",
        );
    }
}
