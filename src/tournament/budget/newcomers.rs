//! The first games of newcomers: against a spread of the others.

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;

use super::Played;
use crate::tournament::schedule::RoundRobin;

/// The number of others whom a newcomer meets first.
const SPREAD: usize = 5;

/// The pairs of games in which those who have met too few others meet a spread of them. Empty when there are none.
/// `ranking` is the order of the bots, the best first.
pub(super) fn introductions(played: &Played, ranking: &[usize], seed: u64) -> Vec<[usize; 2]> {
    let bots = played.bots;
    let enough = SPREAD.min(bots - 1);
    let is_known = |&bot: &usize| played.opponents(bot) >= enough;
    let known: Vec<usize> = ranking.iter().copied().filter(is_known).collect();
    if known.len() == bots {
        Vec::new()
    } else if known.len() < SPREAD {
        among_all(played, enough, seed)
    } else {
        let newcomers = (0..bots).filter(|bot| !is_known(bot));
        newcomers
            .flat_map(|bot| against_known(played, bot, &known))
            .collect()
    }
}

/// Rounds in which everybody meets one of the others whom nobody has met, by lot: nobody is known.
fn among_all(played: &Played, enough: usize, seed: u64) -> Vec<[usize; 2]> {
    let mut order: Vec<usize> = (0..played.bots).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut met: Vec<usize> = (0..played.bots).map(|bot| played.opponents(bot)).collect();
    let count = u32::try_from(played.bots).unwrap_or(u32::MAX);
    let mut chosen = Vec::new();
    for round in RoundRobin::new(count, None, 1).rounds() {
        for pairing in round.pairings {
            let [a, b] = [pairing.a, pairing.b].map(|place| order[place.index()]);
            if played.of(a, b) == 0 && met[a].min(met[b]) < enough {
                met[a] += 1;
                met[b] += 1;
                chosen.push([a, b]);
            }
        }
        if met.iter().all(|&met| met >= enough) {
            break;
        }
    }
    chosen
}

/// The others whom a newcomer meets: the best, the last, and those between, at equal distances, as far as it has not
/// met them.
fn against_known(played: &Played, bot: usize, known: &[usize]) -> Vec<[usize; 2]> {
    let mut free: Vec<usize> = known.to_vec();
    free.retain(|&other| played.of(bot, other) == 0);
    let wanted = SPREAD.saturating_sub(played.opponents(bot)).min(free.len());
    let place = |number: usize| match wanted {
        1 => free.len() / 2,
        _ => number * (free.len() - 1) / (wanted - 1),
    };
    (0..wanted)
        .map(|number| [bot, free[place(number)]])
        .collect()
}
