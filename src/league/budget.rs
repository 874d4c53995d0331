//! A league that plays only some pairings: the games that it has already.

use std::collections::BTreeSet;

use crate::arena::plan::Plan;
use crate::record::RecordSummary;
use crate::tournament::schedule::{GameId, Round};

/// A round of the pairs of games of a plan of which one game at least is among these records.
pub(super) fn played_before(plan: &Plan, records: &[String]) -> Round {
    let ids = records.iter().filter_map(|line| {
        let game = RecordSummary::parse(line.as_bytes()).ok()?;
        game.id.parse::<GameId>().ok()
    });
    let numbers: BTreeSet<u64> = ids.map(|id| id.pair).collect();
    let pairs = numbers.into_iter().filter_map(|number| plan.pair(number));
    let (pairings, first_openings) = pairs.map(|pair| (pair.pairing, pair.opening)).unzip();
    Round {
        number: 1,
        first_pair: 1,
        pairs_each: 1,
        pairings,
        byes: Vec::new(),
        first_openings,
    }
}
