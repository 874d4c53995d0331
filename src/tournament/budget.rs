//! Which bots meet next, when there are games for some pairings only: those whose games say most about the order.
//!
//! [`next`] is a function of what was played: the same results lead to the same choice. It gives out a batch of pairs of
//! games at a time, so that many can be played at once.
//!
//! 1. A newcomer meets a spread of the others first (`newcomers`): the lowest, the highest, and some between.
//! 2. Whoever has played much less than the mean is one of the next two.
//! 3. Some pairs of games are equal shares: whoever has played least meets whom it has met least. The less of what the ratings
//!    say is certain, the more of them there are, since who is a neighbour of whom is not known then either.
//! 4. All others go where they are expected to reduce the uncertainty of the order most (`worth`), but only so many to one
//!    pairing.
//!
//! - [`comparison`]: what that is worth, by simulation

pub mod comparison;
mod newcomers;
mod worth;

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;

use self::worth::Worth;
use super::ratings::{Model, Outcome, RatingError, Results, rate};
use super::schedule::{EntrantId, Pairing};

/// Whoever has played less than this share of the mean goes first.
const LEAST_SHARE: f64 = 0.7;

/// The share of the pairs of games that are equal shares, as a multiple of the share of luck in how far the ratings are apart.
const EQUAL_BY_LUCK: f64 = 1.6;

/// Its multiples, without their whole parts, are spread evenly between 0 and 1: the golden ratio.
const EVENLY: f64 = 0.618_033_988_749_895;

/// Two bots have at most this share of the pairs of whichever of them has played fewer, and a few more.
const MOST_SHARE: f64 = 0.5;

/// The few more.
const A_FEW: u32 = 2;

/// The least size of a batch.
const LEAST_BATCH: u64 = 16;

/// Of what has been played, a batch is this share at least: so the number of batches stays small however large the budget
/// is.
const BATCHES: u64 = 10;

/// The pairs of games that were played.
#[derive(Clone, Debug)]
pub struct Played {
    bots: usize,
    results: Results,
    /// The number of pairs of each two bots, in a square; in `counts[a * bots + b]` both for a < b and for b < a.
    counts: Vec<u32>,
    pairs: u64,
}

impl Played {
    /// Nothing yet, between bots 0 to `bots` − 1.
    pub fn new(bots: u32) -> Self {
        let bots = bots as usize;
        Self {
            bots,
            results: Results::new(bots),
            counts: vec![0; bots * bots],
            pairs: 0,
        }
    }

    /// Adds a pair of games: in `outcomes[0]` the pairing's `a` moved first, in `outcomes[1]` its `b`.
    pub fn add(&mut self, pairing: Pairing, outcomes: [Outcome; 2]) -> Result<(), RatingError> {
        let [a, b] = [pairing.a.index(), pairing.b.index()];
        self.results.add_pair(a, b, outcomes)?;
        self.count(a, b);
        self.pairs += 1;
        Ok(())
    }

    fn count(&mut self, a: usize, b: usize) {
        self.counts[a * self.bots + b] += 1;
        self.counts[b * self.bots + a] += 1;
    }

    /// The number of pairs that two bots have played.
    fn of(&self, a: usize, b: usize) -> u32 {
        self.counts[a * self.bots + b]
    }

    /// The numbers of pairs of each bot.
    fn totals(&self) -> Vec<u32> {
        let rows = self.counts.chunks_exact(self.bots.max(1));
        rows.map(|row| row.iter().sum()).collect()
    }

    /// How many others a bot has met.
    fn opponents(&self, bot: usize) -> usize {
        let row = &self.counts[bot * self.bots..][..self.bots];
        row.iter().filter(|&&count| count > 0).count()
    }

    /// The results, for ratings.
    pub const fn results(&self) -> &Results {
        &self.results
    }
}

/// What a choice is bound by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most pairs of games of two bots; those that were played count.
    pub pairs: u32,
    /// Who meets whom first is drawn by it.
    pub seed: u64,
}

/// The usual size of the next batch, in pairs of games, when this many were played before.
pub fn batch(bots: u32, played: u64) -> u64 {
    LEAST_BATCH.max(u64::from(bots)).max(played / BATCHES)
}

/// The next pairs of games, at most `count`, in the order in which they are best played; two bots may be in it several times. The
/// bot with the lower number is the `a` of each. Empty when all pairings have played all pairs that they may.
///
/// ```
/// use referee::tournament::budget::{Bounds, Played, next};
///
/// let played = Played::new(8);
/// let first = next(&played, Bounds { pairs: 10, seed: 1 }, 12)?;
/// assert_eq!(first.len(), 12);
/// # Ok::<(), referee::tournament::ratings::RatingError>(())
/// ```
pub fn next(played: &Played, bounds: Bounds, count: u64) -> Result<Vec<Pairing>, RatingError> {
    if played.bots < 2 || bounds.pairs == 0 {
        return Ok(Vec::new());
    }
    let ratings = rate(&played.results, &Model::default())?;
    let elo: Vec<f64> = ratings.bots.iter().map(|bot| bot.elo).collect();
    Ok(choose(played, &elo, Known::Estimates, bounds, count))
}

/// How the strengths are known by which is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// From the games.
    Estimates,
    /// Exactly, as only a simulation knows them.
    Truth,
}

/// The next pairs of games, by these strengths in Elo.
fn choose(played: &Played, elo: &[f64], known: Known, bounds: Bounds, count: u64) -> Vec<Pairing> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut ranking: Vec<usize> = (0..elo.len()).collect();
    ranking.sort_by(|&a, &b| elo[b].total_cmp(&elo[a]));
    let mut chosen = newcomers::introductions(played, &ranking, bounds.seed);
    if chosen.is_empty() {
        chosen = Choice::new(played, Worth::new(played, elo, known), known, bounds)
            .take(count)
            .collect();
    }
    chosen.truncate(count);
    chosen.into_iter().map(|[a, b]| pairing(a, b)).collect()
}

/// The choice of one batch, pair by pair.
struct Choice {
    /// What was played and what has been chosen.
    played: Played,
    totals: Vec<u32>,
    worth: Worth,
    known: Known,
    bounds: Bounds,
    /// The order of bots that are alike in all else, by lot.
    lots: Vec<usize>,
}

impl Choice {
    fn new(played: &Played, worth: Worth, known: Known, bounds: Bounds) -> Self {
        let mut lots: Vec<usize> = (0..played.bots).collect();
        let seed = bounds.seed ^ played.pairs.rotate_left(32);
        lots.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        Self {
            lots,
            totals: played.totals(),
            played: played.clone(),
            worth,
            known,
            bounds,
        }
    }

    /// Whether two bots may play another pair.
    fn may_meet(&self, a: usize, b: usize, shared: bool) -> bool {
        let count = self.played.of(a, b);
        let fewer = f64::from(self.totals[a].min(self.totals[b]));
        count < self.bounds.pairs
            && (!shared || f64::from(count) < f64::from(A_FEW) + MOST_SHARE * fewer)
    }

    /// Whether the next pair of games is one of those that are equal shares.
    fn is_equal(&self) -> bool {
        let number: f64 = self.totals.iter().copied().map(f64::from).sum::<f64>() / 2.0;
        (number * EVENLY).fract() < EQUAL_BY_LUCK * self.worth.luck()
    }

    /// Whoever has played least, and of the others whom it has met least.
    fn equal(&self) -> Option<[usize; 2]> {
        let bots = || self.lots.iter().copied();
        let a = bots().min_by_key(|&bot| self.totals[bot])?;
        let others = bots().filter(|&b| a != b && self.may_meet(a, b, false));
        let b = others.min_by_key(|&b| (self.played.of(a, b), self.totals[b]))?;
        Some([a.min(b), a.max(b)])
    }

    /// Of the pairings that are allowed, that of most worth.
    fn best(&self, wanted: impl Fn(usize, usize) -> bool) -> Option<[usize; 2]> {
        let mut best = None;
        let mut most = f64::NEG_INFINITY;
        for b in 1..self.totals.len() {
            for a in (0..b).filter(|&a| wanted(a, b)) {
                let worth = self.worth.of(a, b);
                if worth > most {
                    (most, best) = (worth, Some([a, b]));
                }
            }
        }
        best
    }
}

impl Iterator for Choice {
    type Item = [usize; 2];

    fn next(&mut self) -> Option<[usize; 2]> {
        let all: f64 = self.totals.iter().copied().map(f64::from).sum();
        let bots = u32::try_from(self.totals.len()).unwrap_or(u32::MAX);
        let least = LEAST_SHARE * all / f64::from(bots);
        let guesses = self.known == Known::Estimates;
        let starves = |bot: usize| guesses && f64::from(self.totals[bot]) < least;
        let is_fair = |a, b| self.may_meet(a, b, true);
        let equal = if guesses && self.is_equal() {
            self.equal()
        } else {
            None
        };
        let chosen = equal
            .or_else(|| self.best(|a, b| (starves(a) || starves(b)) && is_fair(a, b)))
            .or_else(|| self.best(is_fair))
            .or_else(|| self.best(|a, b| self.may_meet(a, b, false)));
        let [a, b] = chosen?;
        self.played.count(a, b);
        self.totals[a] += 1;
        self.totals[b] += 1;
        self.worth.play(a, b);
        Some([a, b])
    }
}

/// A pairing with the lower number first.
fn pairing(a: usize, b: usize) -> Pairing {
    let id = |bot: usize| EntrantId(u32::try_from(bot).unwrap_or(u32::MAX));
    Pairing::new(id(a.min(b)), id(a.max(b)))
}
