//! What a league plays, where it does not play all pairings.

use serde::{Deserialize, Serialize};

use super::Plan;
use crate::tournament::schedule::Round;

/// When no more games are begun.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "unit", content = "amount", rename_all = "kebab-case")]
pub enum Limit {
    /// After this many games, besides those that were kept.
    Games(u64),
    /// When games have been played for this many seconds.
    Seconds(f64),
}

/// The budget of a league: how much may be played, and what has been.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// When no more games are begun.
    #[serde(flatten)]
    pub limit: Limit,
    /// The number of seconds for which games have been played, where they are limited.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub spent: f64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_nothing(spent: &f64) -> bool {
    *spent <= 0.0
}

impl Budget {
    /// A budget of which nothing has been spent.
    pub const fn new(limit: Limit) -> Self {
        Self { limit, spent: 0.0 }
    }
}

impl Plan {
    /// Whether rounds depend on the results before them.
    pub const fn depends_on_results(&self) -> bool {
        self.format.depends_on_results() || self.budget.is_some()
    }

    /// With a budget: the number of pairs of games that had been played before. They are the first round.
    pub fn pairs_kept(&self) -> u64 {
        self.rounds.first().map_or(0, Round::count)
    }

    /// The number of pairs of games of all pairings.
    pub fn pairs_of_all(&self) -> u64 {
        let entrants = u64::from(self.entrants());
        entrants * entrants.saturating_sub(1) / 2 * u64::from(self.pairs)
    }

    /// With this budget: the number of pairs of games as far as it is known.
    pub(super) fn pairs_of_budget(&self, budget: &Budget) -> u64 {
        let wanted = match budget.limit {
            Limit::Games(games) => self.pairs_kept().saturating_add(games / 2),
            Limit::Seconds(_) => 0,
        };
        wanted.min(self.pairs_of_all()).max(self.pairs_so_far())
    }
}
