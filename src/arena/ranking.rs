//! How a tournament's table is ordered, by format.

use std::collections::BTreeMap;

use super::plan::{Format, Plan};
use super::results::{BYE_POINTS_A_PAIR, Results};
use crate::tournament::standings::{Byes, NotEntered, RankBy, Ranking};

/// For the end of a table.
pub fn not_entered(plan: &Plan) -> Vec<NotEntered> {
    let rejected = plan.rejected.iter();
    let named = rejected.map(|rejected| NotEntered {
        name: rejected.bot.name.clone(),
        reason: rejected.reason.clone(),
    });
    named.collect()
}

/// Places in a league before this plan, by name.
pub fn places_before(plan: &Plan) -> BTreeMap<String, usize> {
    let bots = plan.bots.iter();
    bots.filter_map(|bot| Some((bot.name.clone(), bot.place_before?)))
        .collect()
}

impl Results {
    pub fn ranking(&self, plan: &Plan) -> Ranking {
        let by = match plan.format {
            Format::RoundRobin | Format::Gauntlet => RankBy::Results,
            Format::Swiss => RankBy::Points,
            // During the groups only points exist.
            Format::Knockout | Format::GroupsKnockout => {
                self.reached(plan).map_or(RankBy::Points, RankBy::Reached)
            }
        };
        let byes = match plan.format {
            Format::Swiss => self.byes(plan),
            _ => BTreeMap::new(),
        };
        Ranking {
            by,
            tie_breaks: plan.tie_breaks.clone(),
            byes,
            games_a_meeting: Some(plan.pairs.saturating_mul(2)),
            before: places_before(plan),
            not_entered: not_entered(plan),
        }
    }

    /// Byes of the rounds that have begun.
    fn byes(&self, plan: &Plan) -> BTreeMap<String, Byes> {
        let mut byes = BTreeMap::<String, Byes>::new();
        for round in &plan.rounds {
            let begun = round.pairs().any(|pair| {
                let endings = self.endings.of(pair.number);
                endings.iter().any(Option::is_some)
            });
            for &bye in round.byes.iter().filter(|_| begun) {
                if let Some(bot) = plan.bot(bye) {
                    let byes = byes.entry(bot.name.clone()).or_default();
                    byes.count += 1;
                    byes.points += f64::from(BYE_POINTS_A_PAIR * round.pairs_each);
                }
            }
        }
        byes
    }
}
