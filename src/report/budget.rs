//! What a budget of games has bought, and what it left out: two lines.

use crate::arena::plan::Plan;
use crate::arena::results::Results;
use crate::report::accuracy::percent;
use crate::text::counted;
use crate::tournament::schedule::EntrantId;
use crate::tournament::standings::Standings;

/// The lines; nothing for a plan without a budget.
pub(super) fn lines(plan: &Plan, results: &Results, standings: &Standings) -> String {
    if plan.budget.is_none() {
        return String::new();
    }
    let all = plan.pairs_of_all();
    let pairings = all / u64::from(plan.pairs.max(1));
    let mut met: Vec<[EntrantId; 2]> = plan
        .pairs()
        .filter(|pair| results.endings.of(pair.number).iter().any(Option::is_some))
        .map(|pair| pair.pairing.sorted())
        .map(|pairing| [pairing.a, pairing.b])
        .collect();
    met.sort_unstable();
    met.dedup();
    let fewest = results.games_of.iter().min().copied().unwrap_or(0);
    let most = results.games_of.iter().max().copied().unwrap_or(0);
    let shares = if fewest == most {
        counted(most, "game", "games")
    } else {
        format!("{fewest} to {most} games")
    };
    let left_out = (2 * all).saturating_sub(results.games);
    let mut text = format!(
        "budget: {} of {} have met, and each bot has played {shares}; {left_out} of the {} that all pairings would take are \
         left out\n",
        met.len(),
        counted(pairings, "pairing", "pairings"),
        counted(2 * all, "game", "games"),
    );
    let widths = standings.places.iter().filter_map(|place| {
        let [first, last] = place.places?;
        u32::try_from(last + 1 - first).ok()
    });
    let (sum, count) = widths.fold((0.0, 0.0), |(sum, count), width| {
        (sum + f64::from(width), count + 1.0)
    });
    if let Some(in_order) = standings.in_order.filter(|_| count > 0.0) {
        text = format!(
            "{text}what it bought: two bots are in the right order with a probability of {} on average, and a bot is on one of {:.1} \
             places with 95 %\n",
            percent(Some(in_order)),
            sum / count
        );
    }
    text
}
