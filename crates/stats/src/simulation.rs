//! What a tournament can tell, before it is played: simulated with bots whose strength is known.
//!
//! Strengths are drawn from a normal distribution, seeds by lot.

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use super::ratings::{Model, RatedOutcome, RatedResults, RatingError, rate};
use super::schedule::knockout::{self, Match, Tally};
use super::schedule::{EntrantId, Pairing, Round, gauntlet, groups, round_robin, swiss};
use super::sprt::score_of_elo;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    RoundRobin(u32),
    Gauntlet(u32),
    Swiss(u32),
    Knockout,
    /// This many groups, then a knockout of the two best of each.
    GroupsKnockout(u32),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulation {
    pub schedule: Schedule,
    /// At least 2.
    pub bots: u32,
    pub pairs: u32,
    pub draws: f64,
    /// The standard deviation of the strengths, in Elo.
    pub spread: f64,
    pub tournaments: u32,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    pub games: u64,
    pub rounds: u32,
    pub best_wins: f64,
    pub best_in_three: f64,
    /// Of all pairs of bots, the share that the final ratings have in the right order.
    pub order: f64,
    /// The median of half the widths of the 95 % intervals, in Elo; infinite where most have an open end.
    pub error: f64,
}

struct SimulatedField<'a> {
    simulation: &'a Simulation,
    strengths: Vec<f64>,
    results: RatedResults,
    points: Vec<u64>,
    games: u64,
    rounds: u32,
    random: ChaCha8Rng,
}

/// ```
/// use referee_stats::simulation::{Schedule, Simulation, simulate};
///
/// let simulation = Simulation {
///     schedule: Schedule::RoundRobin(3), bots: 4, pairs: 10, draws: 0.1, spread: 150.0,
///     tournaments: 50, seed: 1,
/// };
/// let forecast = simulate(&simulation)?;
/// assert_eq!((forecast.games, forecast.rounds), (120, 3));
/// assert!(forecast.best_wins > 0.5);
/// # Ok::<(), referee_stats::ratings::RatingError>(())
/// ```
pub fn simulate(simulation: &Simulation) -> Result<Forecast, RatingError> {
    let mut random = ChaCha8Rng::seed_from_u64(simulation.seed);
    let (mut games, mut rounds) = (0, 0);
    let (mut won, mut in_three, mut order, mut errors) = (0.0, 0.0, 0.0, Vec::new());
    for _ in 0..simulation.tournaments {
        let strengths = (0..simulation.bots).map(|_| simulation.spread * normal(&mut random));
        let mut field = SimulatedField {
            simulation,
            strengths: strengths.collect(),
            results: RatedResults::new(simulation.bots as usize),
            points: vec![0; simulation.bots as usize],
            games: 0,
            rounds: 0,
            random: ChaCha8Rng::seed_from_u64(random.random()),
        };
        let ranking = field.play();
        let ratings = rate(&field.results, &Model::default())?;
        let levels = ratings.levels();
        let ranking = ranking.unwrap_or_else(|| {
            let by_rating = matches!(simulation.schedule, Schedule::Gauntlet(_));
            let mut all: Vec<usize> = (0..field.strengths.len()).collect();
            let points = |bot: usize| if by_rating { 0 } else { field.points[bot] };
            let compared = |&a: &usize, &b: &usize| levels[b].total_cmp(&levels[a]);
            all.sort_by(|a, b| points(*b).cmp(&points(*a)).then(compared(a, b)));
            all
        });
        let best = (0..field.strengths.len())
            .max_by(|&a, &b| field.strengths[a].total_cmp(&field.strengths[b]))
            .unwrap_or(0);
        let place = ranking.iter().position(|&bot| bot == best);
        won += f64::from(u8::from(place == Some(0)));
        in_three += f64::from(u8::from(place.is_some_and(|place| place < 3)));
        order += in_order(&field.strengths, &levels);
        let intervals = ratings.bots.iter().map(|bot| bot.interval);
        errors.extend(intervals.map(|[low, high]| (high - low) / 2.0));
        games = field.games;
        rounds = field.rounds;
    }
    let all = f64::from(simulation.tournaments.max(1));
    errors.sort_unstable_by(f64::total_cmp);
    Ok(Forecast {
        games,
        rounds,
        best_wins: won / all,
        best_in_three: in_three / all,
        order: order / all,
        error: errors
            .get(errors.len() / 2)
            .copied()
            .unwrap_or(f64::INFINITY),
    })
}

impl SimulatedField<'_> {
    /// Returns the order of the bracket where there is one; otherwise points decide.
    fn play(&mut self) -> Option<Vec<usize>> {
        let &Simulation {
            schedule,
            bots,
            pairs,
            ..
        } = self.simulation;
        match schedule {
            Schedule::RoundRobin(rounds) => self.rounds(round_robin(bots, rounds, pairs)),
            Schedule::Gauntlet(rounds) => self.rounds(gauntlet(bots, rounds, pairs)),
            Schedule::Swiss(rounds) => {
                let mut so_far = swiss::SwissResults::new(bots);
                for number in 1..=rounds {
                    let round = swiss::next_round(&so_far, number, pairs);
                    for &pairing in &round.pairings {
                        let tallies = self.meet(pairing);
                        so_far.meeting(pairing, tallies.map(|tally| tally.half_points));
                    }
                    for &bye in &round.byes {
                        so_far.bye(bye, 4 * u64::from(pairs));
                        self.points[bye.index()] += 4 * u64::from(pairs);
                    }
                    self.rounds += 1;
                }
            }
            Schedule::Knockout => {
                let mut seeds: Vec<EntrantId> = (0..bots).map(EntrantId).collect();
                seeds.shuffle(&mut self.random);
                return Some(self.knockout(&seeds));
            }
            Schedule::GroupsKnockout(count) => {
                self.rounds(groups::rounds(bots, count, pairs).into_iter());
                let mut tables = groups::groups(bots, count);
                for table in &mut tables {
                    table.sort_by_key(|id| std::cmp::Reverse(self.points[id.index()]));
                }
                return Some(self.knockout(&groups::qualified(&tables)));
            }
        }
        None
    }

    fn rounds(&mut self, rounds: impl Iterator<Item = Round>) {
        for round in rounds {
            for pairing in round.pairings {
                self.meet(pairing);
            }
            self.rounds += 1;
        }
    }

    /// Returns the last that is left first.
    fn knockout(&mut self, seeds: &[EntrantId]) -> Vec<usize> {
        let mut played: Vec<Vec<Match>> = Vec::new();
        let mut out = Vec::new();
        loop {
            match knockout::next_round(seeds, self.simulation.pairs, &[], &played) {
                Ok(knockout::Next::Round(round)) => {
                    let matches = round.pairings.into_iter().map(|pairing| Match {
                        tie_break: None,
                        pairing,
                        tallies: self.meet(pairing),
                    });
                    let matches: Vec<Match> = matches.collect();
                    for played in &matches {
                        let Pairing { a, b } = played.pairing;
                        let is_a = played.decision(seeds).0 == a;
                        out.push(if is_a { b } else { a }.index());
                    }
                    played.push(matches);
                    self.rounds += 1;
                }
                Ok(knockout::Next::Winner(winner)) => {
                    out.push(winner.index());
                    out.reverse();
                    return out;
                }
                // There is an entrant, and the rounds are those of the bracket.
                Err(_) => return out,
            }
        }
    }

    fn meet(&mut self, pairing: Pairing) -> [Tally; 2] {
        let bots = [pairing.a.index(), pairing.b.index()];
        let mut tallies = [Tally::default(); 2];
        for _ in 0..self.simulation.pairs {
            let outcomes = [0, 1].map(|first| {
                let difference = self.strengths[bots[first]] - self.strengths[bots[1 - first]];
                let outcome = game(&mut self.random, difference, self.simulation.draws);
                match outcome {
                    RatedOutcome::FirstWins => tallies[first].win(false, 1),
                    RatedOutcome::SecondWins => tallies[1 - first].win(true, 1),
                    RatedOutcome::Draw => tallies.iter_mut().for_each(Tally::draw),
                }
                outcome
            });
            let _ = self.results.add_pair(bots[0], bots[1], outcomes);
        }
        self.games += 2 * u64::from(self.simulation.pairs);
        for (bot, tally) in bots.into_iter().zip(tallies) {
            self.points[bot] += tally.half_points;
        }
        tallies
    }
}

/// Standard normal distribution: Box and Muller, 1958.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// A game of the first mover against a bot that is weaker by `difference`, in Elo.
pub(super) fn game(random: &mut ChaCha8Rng, difference: f64, draws: f64) -> RatedOutcome {
    let score = score_of_elo(difference);
    let draws = draws.min(2.0 * score.min(1.0 - score));
    match random.random::<f64>() {
        luck if luck < score - draws / 2.0 => RatedOutcome::FirstWins,
        luck if luck < score + draws / 2.0 => RatedOutcome::Draw,
        _ => RatedOutcome::SecondWins,
    }
}

/// The share of pairs that both lists have in the same order; pairs that are equal in one of them count half.
fn in_order(one: &[f64], other: &[f64]) -> f64 {
    let (mut halves, mut all) = (0_u32, 0_u32);
    for a in 0..one.len() {
        for b in 0..a {
            let [one, other] = [one, other].map(|list| list[a].total_cmp(&list[b]));
            all += 2;
            halves += if one.is_eq() || other.is_eq() {
                1
            } else {
                2 * u32::from(one == other)
            };
        }
    }
    f64::from(halves) / f64::from(all.max(1))
}
