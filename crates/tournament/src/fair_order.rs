//! Which pair of games is played next, where a useful table is wanted early: the bots that have played least come first.

use referee_stats::schedule::PairOfGames;

/// What a bot has played.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    pub games: u64,
    /// In which it thought.
    pub seconds: f64,
}

/// The pairs that are left, in the order of the schedule, and the loads of all bots.
#[derive(Debug)]
pub(super) struct FairOrder {
    left: Vec<PairOfGames>,
    loads: Vec<Load>,
    /// The games at a time in which each bot is.
    playing: Vec<u32>,
}

/// Compared from left to right: whether one of the bots is playing, the lighter load, the heavier one.
type Rank = (bool, f64, f64);

impl FairOrder {
    pub(super) fn new(left: Vec<PairOfGames>, loads: Vec<Load>) -> Self {
        Self {
            left,
            playing: vec![0; loads.len()],
            loads,
        }
    }

    /// The pair of those with the lightest loads that `is_free`; where none is, the first in the order of the schedule.
    pub(super) fn next(&mut self, is_free: impl Fn(&PairOfGames) -> bool) -> Option<PairOfGames> {
        let usual = self.usual_seconds();
        let ranked = self.left.iter().enumerate();
        let mut ranked: Vec<(Rank, usize)> = ranked
            .map(|(place, pair)| (self.rank(pair, usual), place))
            .collect();
        ranked.sort_by(|((playing, light, heavy), place), (other, other_place)| {
            let loads = light.total_cmp(&other.1).then(heavy.total_cmp(&other.2));
            let by_load = playing.cmp(&other.0).then(loads);
            by_load.then(place.cmp(other_place))
        });
        let places = ranked.into_iter().map(|(_, place)| place);
        let mut free = places.filter(|place| is_free(&self.left[*place]));
        let place = free.next().or((!self.left.is_empty()).then_some(0))?;
        let pair = self.left.remove(place);
        for bot in self.bots(&pair) {
            self.playing[bot] += 1;
        }
        Some(pair)
    }

    pub(super) fn played(&mut self, pair: &PairOfGames, seconds: [f64; 2]) {
        for (bot, seconds) in self.bots(pair).into_iter().zip(seconds) {
            self.loads[bot].games += 1;
            self.loads[bot].seconds += seconds;
        }
    }

    pub(super) fn returned(&mut self, pair: &PairOfGames) {
        for bot in self.bots(pair) {
            self.playing[bot] = self.playing[bot].saturating_sub(1);
        }
    }

    fn bots(&self, pair: &PairOfGames) -> [usize; 2] {
        [pair.pairing.a, pair.pairing.b].map(|bot| bot.index().min(self.loads.len() - 1))
    }

    fn rank(&self, pair: &PairOfGames, usual: f64) -> Rank {
        let bots = self.bots(pair);
        let [a, b] = bots.map(|bot| self.load(bot, usual));
        let is_playing = bots.iter().any(|bot| self.playing[*bot] > 0);
        (is_playing, a.min(b), a.max(b))
    }

    /// In usual games: one that thinks ten times as long waits for its next game as if it had played ten, so that it delays
    /// its own pairings alone.
    fn load(&self, bot: usize, usual: f64) -> f64 {
        let Load { games, seconds } = self.loads[bot];
        let by_time = if usual > 0.0 { seconds / usual } else { 0.0 };
        by_time.max(to_f64(games))
    }

    /// The median of what bots think in a game.
    fn usual_seconds(&self) -> f64 {
        let played = self.loads.iter().filter(|load| load.games > 0);
        let mut each: Vec<f64> = played
            .map(|load| load.seconds / to_f64(load.games))
            .collect();
        each.sort_by(f64::total_cmp);
        each.get(each.len() / 2).copied().unwrap_or(0.0)
    }
}

fn to_f64(games: u64) -> f64 {
    f64::from(u32::try_from(games).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use referee_stats::schedule::{EntrantId, Pairing};

    use super::*;

    /// All pairings of so many bots.
    fn pairs(bots: u32) -> Vec<PairOfGames> {
        let mut pairs = Vec::new();
        for a in 0..bots {
            for b in a + 1..bots {
                pairs.push(PairOfGames {
                    number: pairs.len() as u64 + 1,
                    round: 1,
                    pairing: Pairing::new(EntrantId(a), EntrantId(b)),
                    opening: 0,
                    tie_break: false,
                });
            }
        }
        pairs
    }

    fn load(games: u64, seconds: f64) -> Load {
        Load { games, seconds }
    }

    fn order(mut fair: FairOrder) -> Vec<[usize; 2]> {
        let mut order = Vec::new();
        while let Some(pair) = fair.next(|_| true) {
            order.push([pair.pairing.a.index(), pair.pairing.b.index()]);
            fair.played(&pair, [1.0, 1.0]);
            fair.played(&pair, [1.0, 1.0]);
            fair.returned(&pair);
        }
        order
    }

    #[test]
    fn who_has_played_least_plays_first() {
        let loads = [load(8, 8.0), load(0, 0.0), load(4, 4.0), load(8, 8.0)];
        let order = order(FairOrder::new(pairs(4), loads.to_vec()));
        assert_eq!(order[0], [1, 2], "the two that are behind");
        assert_eq!(order.len(), 6);
        assert_eq!(order.last(), Some(&[0, 3]));
    }

    #[test]
    fn a_slow_bot_delays_its_own_pairings_alone() {
        let loads = [load(2, 200.0), load(2, 2.0), load(2, 2.0), load(2, 2.0)];
        let order = order(FairOrder::new(pairs(4), loads.to_vec()));
        let of_slow = order.iter().position(|pair| pair.contains(&0));
        assert_eq!(of_slow, Some(3), "{order:?}");
    }

    #[test]
    fn no_bot_plays_twice_at_a_time_while_others_wait() {
        let mut fair = FairOrder::new(pairs(4), vec![Load::default(); 4]);
        let first = fair.next(|_| true).unwrap();
        let second = fair.next(|_| true).unwrap();
        let bots = |pair: &PairOfGames| [pair.pairing.a, pair.pairing.b];
        assert!(bots(&first).iter().all(|bot| !bots(&second).contains(bot)));
    }

    #[test]
    fn what_is_not_free_waits_and_is_played_in_the_end() {
        let mut fair = FairOrder::new(pairs(3), vec![Load::default(); 3]);
        assert_eq!(
            fair.next(|pair| pair.number == 3).map(|pair| pair.number),
            Some(3)
        );
        assert_eq!(fair.next(|_| false).map(|pair| pair.number), Some(1));
        assert_eq!(fair.next(|_| false).map(|pair| pair.number), Some(2));
        assert_eq!(fair.next(|_| true), None);
    }
}
