//! The rounds of a league that plays only some pairings: which pairs of games are next, from the results so far.

use std::collections::{BTreeSet, HashMap};

use super::plan::{Budget, Limit, Plan};
use super::results::{Next, Results};
use crate::record::{BotIndex, Ending};
use crate::tournament::budget::{Bounds, Played, batch, next};
use crate::tournament::ratings::{Outcome, RatingError};
use crate::tournament::schedule::{Pairing, Round};

impl Results {
    /// What follows the rounds so far, all of whose games must have been played.
    pub(super) fn next_of_budget(&self, plan: &Plan, budget: &Budget) -> Result<Next, RatingError> {
        let before = plan.pairs_so_far();
        let left = left(plan, budget, before);
        if left == 0 {
            return Ok(Next::Over);
        }
        let mut played = Played::new(plan.entrants());
        let mut openings: HashMap<Pairing, BTreeSet<u64>> = HashMap::new();
        for pair in plan.pairs() {
            let used = openings.entry(pair.pairing.sorted()).or_default();
            used.insert(pair.opening);
            if let [Some(one), Some(other)] = self.endings.of(pair.number) {
                let outcomes = [outcome(one, BotIndex::A), outcome(other, BotIndex::B)];
                played.add(pair.pairing, outcomes)?;
            }
        }
        let bounds = Bounds {
            pairs: plan.pairs,
            seed: plan.seed,
        };
        let count = batch(plan.entrants(), before).min(left);
        let pairings = next(&played, bounds, count)?;
        if pairings.is_empty() {
            return Ok(Next::Over);
        }
        let first_openings = pairings.iter().map(|&pairing| {
            let used = openings.entry(pairing.sorted()).or_default();
            let free = (0..=u64::from(plan.pairs))
                .find(|opening| !used.contains(opening))
                .unwrap_or(0);
            used.insert(free);
            free
        });
        Ok(Next::Round(Round {
            number: u32::try_from(plan.rounds.len() + 1).unwrap_or(u32::MAX),
            first_pair: before + 1,
            pairs_each: 1,
            first_openings: first_openings.collect(),
            pairings,
            byes: Vec::new(),
        }))
    }
}

/// How many pairs of games a budget still pays, after this many.
fn left(plan: &Plan, budget: &Budget, before: u64) -> u64 {
    let new = before - plan.pairs_kept();
    match budget.limit {
        Limit::Games(games) => (games / 2).saturating_sub(new),
        Limit::Seconds(seconds) if budget.spent >= seconds => 0,
        Limit::Seconds(_) if new == 0 || budget.spent <= 0.0 => u64::MAX,
        Limit::Seconds(seconds) => estimate(new, budget.spent, seconds - budget.spent),
    }
}

/// How many pairs of games can be played in so many seconds, after `played` have taken `spent`.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate, of which more than a batch does not matter"
)]
fn estimate(played: u64, spent: f64, seconds: f64) -> u64 {
    ((played as f64 / spent * seconds).ceil() as u64).max(1)
}

/// How a game ended for its first mover.
fn outcome(ending: Ending, first: BotIndex) -> Outcome {
    match ending.winner() {
        None => Outcome::Draw,
        Some(winner) if winner == first => Outcome::FirstWins,
        Some(_) => Outcome::SecondWins,
    }
}

impl Plan {
    /// Takes out the pairs at the end of the last round none of whose games was played, when time was up.
    pub(super) fn drop_unplayed(&mut self, results: &Results) {
        if self.rounds.len() < 2 {
            return;
        }
        while let Some(round) = self.rounds.last_mut() {
            let last = round.first_pair + round.count() - 1;
            let is_played = results.endings.of(last).iter().any(Option::is_some);
            if is_played || round.pairings.is_empty() {
                break;
            }
            round.pairings.pop();
            round.first_openings.pop();
        }
        if self
            .rounds
            .last()
            .is_some_and(|round| round.pairings.is_empty())
        {
            self.rounds.pop();
        }
    }
}
