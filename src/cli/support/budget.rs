//! `--budget`: how much of a league is played.

use crate::arena::plan::{Budget, Limit};
use crate::cli::support::duration;

/// `--budget`
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::cli) enum BudgetArg {
    /// All pairings are played.
    None,
    /// Games are played until then.
    Until(Limit),
}

impl BudgetArg {
    /// What has not been spent of it.
    pub(in crate::cli) fn budget(self) -> Option<Budget> {
        match self {
            Self::None => None,
            Self::Until(limit) => Some(Budget::new(limit)),
        }
    }
}

/// Reads `2000`, `2h` or `none`.
pub(in crate::cli) fn parse(text: &str) -> Result<BudgetArg, String> {
    let expected =
        || "expected a number of games of at least 2, a time such as 2h or 30m, or none".to_owned();
    let text = text.trim();
    if text == "none" {
        return Ok(BudgetArg::None);
    }
    if text.parse::<f64>().is_ok() {
        // A bare number is one of games, and not of seconds.
        let games = text.parse().ok().filter(|&games: &u64| games >= 2);
        return games
            .map(|games| BudgetArg::Until(Limit::Games(games)))
            .ok_or_else(expected);
    }
    let time = duration::parse_positive(text).map_err(|_| expected())?;
    Ok(BudgetArg::Until(Limit::Seconds(time.as_secs_f64())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_and_times_are_told_apart() {
        let until = |limit| Ok(BudgetArg::Until(limit));
        assert_eq!(parse("2000"), until(Limit::Games(2000)));
        assert_eq!(parse("2h"), until(Limit::Seconds(7200.0)));
        assert_eq!(parse("1m 30s"), until(Limit::Seconds(90.0)));
        assert_eq!(parse("none"), Ok(BudgetArg::None));
        for text in [
            "", "0", "1", "-5", "2.5", "1e3", "0s", "two", "2 apples", "inf",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
