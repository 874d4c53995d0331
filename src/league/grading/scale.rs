//! A scale of grades: a ladder of reference bots, with what to score against each.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::tournament::betting::{MeanTest, score_of_elo};

pub const DEFAULT: &str = include_str!("default_scale.toml");

/// Largest number of pairs a rung, and of points.
const MOST: u32 = 100_000;

fn in_words(error: &toml::de::Error) -> String {
    let known = "; `referee print scale` shows all that a scale has";
    let is_missing = error.message().contains("missing field");
    let known = if is_missing { known } else { "" };
    format!("{}{known}", error.to_string().trim_end())
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
    #[serde(default = "usual_budget")]
    pub budget: u32,
    /// Openings and bot seeds follow from it, the rung and the bot's files.
    pub seed: u64,
    #[serde(rename = "rung")]
    pub rungs: Vec<Rung>,
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
    pub points: u32,
}

const fn five_percent() -> f64 {
    0.05
}

const fn usual_budget() -> u32 {
    100
}

impl Scale {
    pub fn parse(text: &str) -> Result<Self, String> {
        let scale: Self = toml::from_str(text).map_err(|error| in_words(&error))?;
        if scale.rungs.is_empty() {
            return Err("there is no [[rung]]; a scale has at least one".to_owned());
        }
        if !(1..=MOST).contains(&scale.budget) {
            let found = scale.budget;
            return Err(format!(
                "budget is {found}; expected 1 to {MOST} pairs of games"
            ));
        }
        let mut names = BTreeSet::new();
        for rung in &scale.rungs {
            if rung.name.trim().is_empty() || rung.name.chars().any(char::is_control) {
                return Err("a rung has no name that can be printed; give it one".to_owned());
            }
            if !names.insert(&rung.name) {
                return Err(format!("two rungs are called {}; rename one", rung.name));
            }
            if rung.points > MOST {
                return Err(format!(
                    "rung {}: expected at most {MOST} points",
                    rung.name
                ));
            }
            scale.test(rung)?;
        }
        Ok(scale)
    }

    pub fn test(&self, rung: &Rung) -> Result<MeanTest, String> {
        let problem = |text: &str| format!("rung {}: {text}", rung.name);
        let (above, below) = match (rung.elo0, rung.elo1, rung.score) {
            (Some(elo0), Some(elo1), None) if elo0 >= elo1 || (elo1 - elo0).is_nan() => {
                return Err(problem(&format!(
                    "elo0 is {elo0} and elo1 is {elo1}; expected two numbers, the lower one first"
                )));
            }
            (None, None, Some(score)) if !(score > 0.0 && score < 1.0) => {
                return Err(problem(&format!(
                    "score is {score}; expected a share of the points between 0 and 1"
                )));
            }
            (Some(elo0), Some(elo1), None) => (score_of_elo(elo0), score_of_elo(elo1)),
            (None, None, Some(score)) => (score, score),
            _ => return Err(problem("expected elo0 and elo1, or score alone")),
        };
        MeanTest::new(above, below, self.alpha, self.beta).map_err(|error| problem(&error))
    }

    pub fn most_points(&self) -> u32 {
        self.rungs.iter().map(|rung| rung.points).sum()
    }
}

impl Rung {
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
    fn mistakes_are_named() {
        let says = |text: &str, word: &str| {
            let error = Scale::parse(text).expect_err(text);
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
        says(
            &format!("seed = 1\nalpha = 0.0\n{rung}score = 0.5"),
            "alpha",
        );
    }
}
