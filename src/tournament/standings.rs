//! Standings from records: points, tie-breaks, ratings, times, forfeits. Records are added one
//! by one and not kept, so memory depends on the number of bots only.

use std::collections::{BTreeMap, HashMap};

use crate::record::{RecordSummary, annotation};

use super::ratings::{Model, Outcome, RatingError, Results, Tally, rate};
use super::schedule::GameId;

/// Times in bins of 1 %, so that a median needs no list of all times.
#[derive(Clone, Debug, Default)]
struct Times {
    bins: BTreeMap<i32, u64>,
    count: u64,
    worst: f64,
}

/// Bins a factor of e.
const BINS: f64 = 100.0;

impl Times {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "logarithms of times are small"
    )]
    fn add(&mut self, ms: f64) {
        let bin = (ms.max(1e-6).ln() * BINS).round() as i32;
        *self.bins.entry(bin).or_default() += 1;
        self.count += 1;
        self.worst = self.worst.max(ms);
    }

    fn worst(&self) -> Option<f64> {
        (self.count > 0).then_some(self.worst)
    }

    fn median(&self) -> Option<f64> {
        let mut before = 0;
        for (&bin, &count) in &self.bins {
            before += count;
            if 2 * before >= self.count {
                return Some((f64::from(bin) / BINS).exp());
            }
        }
        None
    }
}

/// What two bots made of each other: games in which the first moved first.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    wins: u32,
    draws: u32,
    losses: u32,
}

impl Counts {
    const fn add(&mut self, outcome: Outcome, times: u32) {
        match outcome {
            Outcome::FirstWins => self.wins += times,
            Outcome::Draw => self.draws += times,
            Outcome::SecondWins => self.losses += times,
        }
    }
}

/// One game of a pair, whose other game has not come yet: who moved first and second, and how
/// it ended.
#[derive(Clone, Copy, Debug)]
struct Half {
    bots: [usize; 2],
    outcome: Outcome,
}

/// Pairs of games between two bots by outcome of the game that the first of the two began, and
/// of the other.
type Pairs = [[u32; 3]; 3];

/// In the order of their numbers.
const OUTCOMES: [Outcome; 3] = [Outcome::FirstWins, Outcome::Draw, Outcome::SecondWins];

/// Halves of pairs that wait for the other; more than this are not waited for.
const MOST_HALVES: usize = 100_000;

/// Collects games.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    names: Vec<String>,
    index: HashMap<String, usize>,
    /// Games that are no part of a pair, by (moved first, moved second).
    counts: HashMap<(usize, usize), Counts>,
    /// Pairs of games with one opening, by the two bots in the order of their indices. Their
    /// games are not independent, and the errors of ratings take that into account.
    pairs: HashMap<(usize, usize), Pairs>,
    /// By the number of the pair.
    halves: HashMap<u64, Half>,
    forfeits: Vec<BTreeMap<String, u64>>,
    times: Vec<Times>,
    /// What analyses say of each bot's turns.
    analyses: Vec<annotation::Tally>,
    /// Whether some game has been analysed.
    analysed: bool,
    games: u64,
}

/// All games in a fixed order.
struct Sorted {
    singles: BTreeMap<(usize, usize), Counts>,
    pairs: BTreeMap<(usize, usize), Pairs>,
}

/// What all games come to, by bot.
struct Sums {
    results: Results,
    wins: Vec<u64>,
    draws: Vec<u64>,
    losses: Vec<u64>,
    /// Points that the one made against the other.
    against: Vec<Vec<Option<f64>>>,
}

impl Sums {
    fn of(sorted: Sorted, bots: usize) -> Result<Self, RatingError> {
        let mut sums = Self {
            results: Results::new(bots),
            wins: vec![0; bots],
            draws: vec![0; bots],
            losses: vec![0; bots],
            against: vec![vec![None; bots]; bots],
        };
        for ((first, second), counts) in sorted.singles {
            let tally = Tally {
                wins: counts.wins,
                draws: counts.draws,
                losses: counts.losses,
            };
            sums.results.add_games(first, second, tally)?;
            sums.add(first, second, counts);
        }
        for ((low, high), pairs) in sorted.pairs {
            for (outcome_low, row) in OUTCOMES.into_iter().zip(pairs) {
                for (outcome_high, times) in OUTCOMES.into_iter().zip(row) {
                    if times == 0 {
                        continue;
                    }
                    let outcomes = [outcome_low, outcome_high];
                    sums.results.add_pairs(low, high, outcomes, times)?;
                    for (first, second, outcome) in
                        [(low, high, outcome_low), (high, low, outcome_high)]
                    {
                        let mut counts = Counts::default();
                        counts.add(outcome, times);
                        sums.add(first, second, counts);
                    }
                }
            }
        }
        Ok(sums)
    }

    fn add(&mut self, first: usize, second: usize, counts: Counts) {
        for (a, b, won, lost) in [
            (first, second, counts.wins, counts.losses),
            (second, first, counts.losses, counts.wins),
        ] {
            self.wins[a] += u64::from(won);
            self.draws[a] += u64::from(counts.draws);
            self.losses[a] += u64::from(lost);
            let made = f64::from(won) + f64::from(counts.draws) / 2.0;
            *self.against[a][b].get_or_insert(0.0) += made;
        }
    }
}

/// One bot's place.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// What it is called.
    pub name: String,
    /// Games scored.
    pub games: u64,
    /// Won.
    pub wins: u64,
    /// Drawn.
    pub draws: u64,
    /// Lost.
    pub losses: u64,
    /// A draw is half a point.
    pub points: f64,
    /// Points a game, 0 to 1.
    pub score: f64,
    /// Elo above or below the mean.
    pub elo: f64,
    /// Half the width of the 95 % interval of `elo`.
    pub error: Option<f64>,
    /// Likelihood, 0 to 1, of being better than the next in the table.
    pub superiority: Option<f64>,
    /// Points against those with the same number of points.
    pub direct: f64,
    /// Sonneborn–Berger: the points of those it beat, and half the points of those it drew with,
    /// game by game.
    pub sonneborn_berger: f64,
    /// Games it forfeited, by reason.
    pub forfeits: BTreeMap<String, u64>,
    /// Median time of its answers, in milliseconds, to 1 %.
    pub median_ms: Option<f64>,
    /// Its slowest answer, in milliseconds.
    pub worst_ms: Option<f64>,
    /// What analyses say of its turns; `None` when no game of the table was analysed.
    pub analysis: Option<annotation::Tally>,
    /// Points against each bot, in the order of the table; `None` where they did not meet.
    pub against: Vec<Option<f64>>,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Standings {
    /// By points when all have played as much, otherwise by rating; then by direct encounter,
    /// Sonneborn–Berger, rating and name.
    pub places: Vec<Place>,
    /// Games scored.
    pub games: u64,
    /// What moving first is worth, in Elo.
    pub advantage: Option<f64>,
}

impl Standings {
    /// The same without times, so that the same games give the same figures, byte for byte.
    #[must_use]
    pub fn without_times(&self) -> Self {
        let mut timeless = self.clone();
        for place in &mut timeless.places {
            place.median_ms = None;
            place.worst_ms = None;
        }
        timeless
    }
}

impl Collector {
    /// No games yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn bot(&mut self, name: &str) -> usize {
        if let Some(&index) = self.index.get(name) {
            return index;
        }
        let index = self.names.len();
        self.names.push(name.to_owned());
        self.index.insert(name.to_owned(), index);
        self.forfeits.push(BTreeMap::new());
        self.times.push(Times::default());
        self.analyses.push(annotation::Tally::default());
        index
    }

    /// Adds a game.
    pub fn add(&mut self, game: &RecordSummary<'_>) {
        let bots = game.names().map(|name| self.bot(name));
        let sides = [bots[game.first], bots[game.first.other()]];
        let half = Half {
            bots: sides,
            outcome: match game.winner() {
                None => Outcome::Draw,
                Some(winner) if winner == game.first => Outcome::FirstWins,
                Some(_) => Outcome::SecondWins,
            },
        };
        match game.id.parse::<GameId>() {
            Ok(id) => self.half(id.pair, half),
            Err(_) => self.single(half),
        }
        if let Some((by, reason)) = game.forfeit() {
            let forfeits = &mut self.forfeits[bots[by]];
            match forfeits.get_mut(reason.name()) {
                Some(count) => *count += 1,
                None => {
                    forfeits.insert(reason.name().to_owned(), 1);
                }
            }
        }
        for (turn, &ms) in game.times_ms.iter().enumerate() {
            // One answer a turn, and the sides answer in turn.
            self.times[sides[turn % 2]].add(ms);
        }
        self.games += 1;
        self.add_analysis(game);
    }

    /// Adds what an analysis says of a game, if there is one, and not the game itself.
    pub fn add_analysis(&mut self, game: &RecordSummary<'_>) {
        let Some(tallies) = game.tallies() else {
            return;
        };
        self.analysed = true;
        for (name, tally) in game.names().into_iter().zip(tallies) {
            let bot = self.bot(name);
            self.analyses[bot] += tally;
        }
    }

    fn single(&mut self, Half { bots, outcome }: Half) {
        let counts = self.counts.entry((bots[0], bots[1])).or_default();
        counts.add(outcome, 1);
    }

    /// A game of the pair with this number: waits for the other one, or goes with it.
    fn half(&mut self, pair: u64, new: Half) {
        let Some(old) = self.halves.remove(&pair) else {
            if self.halves.len() < MOST_HALVES {
                self.halves.insert(pair, new);
            } else {
                self.single(new);
            }
            return;
        };
        let [first, second] = new.bots;
        if old.bots != [second, first] {
            // Not the other half: files of several tournaments, or a game that comes twice.
            self.single(old);
            self.halves.insert(pair, new);
            return;
        }
        let (low, high) = if first < second {
            (new, old)
        } else {
            (old, new)
        };
        let pairs = self.pairs.entry((low.bots[0], high.bots[0])).or_default();
        pairs[low.outcome as usize][high.outcome as usize] += 1;
    }

    /// All games by (moved first, moved second), and the pairs among them, with the bots
    /// numbered by `order`: sorted, so that sums do not depend on the order of the records.
    fn sorted(&self, order: &[usize]) -> Sorted {
        let mut singles: BTreeMap<_, Counts> = BTreeMap::new();
        for (&(first, second), counts) in &self.counts {
            singles.insert((order[first], order[second]), *counts);
        }
        for half in self.halves.values() {
            let [first, second] = half.bots.map(|bot| order[bot]);
            let counts = singles.entry((first, second)).or_default();
            counts.add(half.outcome, 1);
        }
        let mut pairs = BTreeMap::new();
        for (&(low, high), counts) in &self.pairs {
            let (low, high) = (order[low], order[high]);
            if low < high {
                pairs.insert((low, high), *counts);
            } else {
                let turned = std::array::from_fn(|i| std::array::from_fn(|j| counts[j][i]));
                pairs.insert((high, low), turned);
            }
        }
        Sorted { singles, pairs }
    }

    /// The table. An error says why the games determine no ratings.
    pub fn standings(&self, model: &Model) -> Result<Standings, RatingError> {
        let bots = self.names.len();
        // Bots by name: figures do not depend on who came first.
        let mut by_name: Vec<usize> = (0..bots).collect();
        by_name.sort_by(|&a, &b| self.names[a].cmp(&self.names[b]));
        let mut order_of = vec![0; bots];
        for (place, &bot) in by_name.iter().enumerate() {
            order_of[bot] = place;
        }
        let names: Vec<&String> = by_name.iter().map(|&bot| &self.names[bot]).collect();
        let sums = Sums::of(self.sorted(&order_of), bots)?;
        let Sums {
            results,
            wins,
            draws,
            losses,
            against,
        } = &sums;
        let ratings = rate(results, model)?;
        let points: Vec<f64> = against
            .iter()
            .map(|row: &Vec<Option<f64>>| total(row.iter().flatten().copied()))
            .collect();
        let games: Vec<u64> = (0..bots).map(|i| wins[i] + draws[i] + losses[i]).collect();
        let score = |i: usize| points[i] / to_f64(games[i]).max(1.0);
        // Points compare when all have played as much; otherwise only ratings do.
        let equal = games.windows(2).all(|pair| pair[0] == pair[1]);
        let merit = |i: usize| {
            if equal {
                points[i]
            } else {
                ratings.bots[i].elo
            }
        };
        let direct = |i: usize| -> f64 {
            let tied = (0..bots).filter(|&j| j != i && merit(j).total_cmp(&merit(i)).is_eq());
            total(tied.filter_map(|j| against[i][j]))
        };
        // Game by game: what was scored against somebody, times what that one scored in all.
        let sonneborn_berger = |i: usize| -> f64 {
            let met = against[i].iter().zip(&points);
            total(met.filter_map(|(made, points)| Some(made.as_ref()? * points)))
        };
        let mut order: Vec<usize> = (0..bots).collect();
        order.sort_by(|&a, &b| {
            merit(b)
                .total_cmp(&merit(a))
                .then(direct(b).total_cmp(&direct(a)))
                .then(sonneborn_berger(b).total_cmp(&sonneborn_berger(a)))
                .then(ratings.bots[b].elo.total_cmp(&ratings.bots[a].elo))
                .then(names[a].cmp(names[b]))
        });
        let places = order.iter().enumerate().map(|(rank, &i)| Place {
            name: names[i].clone(),
            games: games[i],
            wins: wins[i],
            draws: draws[i],
            losses: losses[i],
            points: points[i],
            score: score(i),
            elo: ratings.bots[i].elo,
            error: ratings.bots[i].error,
            superiority: order
                .get(rank + 1)
                .and_then(|&next| ratings.superiority(i, next)),
            direct: direct(i),
            sonneborn_berger: sonneborn_berger(i),
            forfeits: self.forfeits[by_name[i]].clone(),
            median_ms: self.times[by_name[i]].median(),
            worst_ms: self.times[by_name[i]].worst(),
            analysis: self.analysed.then(|| self.analyses[by_name[i]]),
            against: order.iter().map(|&j| against[i][j]).collect(),
        });
        Ok(Standings {
            places: places.collect(),
            games: self.games,
            advantage: ratings.advantage.map(|estimate| estimate.elo),
        })
    }
}

/// The sum; that of nothing is 0, where the standard library gives −0.
fn total(figures: impl Iterator<Item = f64>) -> f64 {
    figures.fold(0.0, |sum, figure| sum + figure)
}

#[expect(clippy::cast_precision_loss, reason = "nobody plays 2⁵² games")]
fn to_f64(count: u64) -> f64 {
    count as f64
}
