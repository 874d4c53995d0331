//! The rules by which the table of a tournament is ordered: they follow from its format.

use std::collections::BTreeMap;

use super::plan::{Format, Plan};
use super::results::{BYE_POINTS_A_PAIR, Results};
use crate::tournament::schedule::knockout;
use crate::tournament::standings::{Byes, RankBy, Ranking, Reached};

impl Results {
    /// The rules for the table of these results.
    pub fn ranking(&self, plan: &Plan) -> Ranking {
        let by = match plan.format {
            Format::RoundRobin | Format::Gauntlet => RankBy::Results,
            Format::Swiss => RankBy::Points,
            Format::Knockout => RankBy::Reached(self.reached(plan)),
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
        }
    }

    /// The byes of the rounds that have begun.
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

    /// What each bot has reached in a knockout.
    fn reached(&self, plan: &Plan) -> BTreeMap<String, Reached> {
        let rounds = knockout::rounds(plan.entrants()) as usize;
        // The round in which each bot was eliminated.
        let mut out = vec![None; plan.bots.len()];
        for (place, round) in plan.rounds.iter().enumerate() {
            let is_complete = round
                .pairs()
                .all(|pair| self.endings.of(pair.number).iter().all(Option::is_some));
            if !is_complete {
                break;
            }
            for played in self.matches(plan, place) {
                let pairing = played.pairing;
                let winner = played.winner();
                let loser = if winner == pairing.a {
                    pairing.b
                } else {
                    pairing.a
                };
                if let Some(out) = out.get_mut(loser.index()) {
                    *out = Some(place + 1);
                }
            }
        }
        let left = out.iter().filter(|out| out.is_none()).count();
        let bots = plan.bots.iter().zip(out).enumerate();
        bots.map(|(seed, (bot, out))| {
            let (place, title) = match out.map(|round| rounds.saturating_sub(round)) {
                None if left == 1 => (1, "champion".to_owned()),
                None => (1, "still in".to_owned()),
                Some(0) => (2, "finalist".to_owned()),
                Some(1) => (3, "semi-finalist".to_owned()),
                Some(2) => (5, "quarter-finalist".to_owned()),
                Some(before) => {
                    let places = 1_usize << before.min(32);
                    (places + 1, format!("round of {}", 2 * places))
                }
            };
            let name = bot.name.clone();
            (name, Reached { place, seed, title })
        })
        .collect()
    }
}
