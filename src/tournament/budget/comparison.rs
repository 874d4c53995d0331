//! What chosen games say, compared with as many in equal shares: by simulation, with bots whose strength is known.

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use super::{Bounds, Known, Played, batch, choose, next};
use crate::tournament::normal::normal;
use crate::tournament::ratings::{Model, RatingError, Ratings, rate};
use crate::tournament::schedule::{EntrantId, Pairing, RoundRobin};
use crate::tournament::simulation::{game, in_order};

/// How many times the error is measured.
const STEPS: u64 = 20;

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The number of games.
    pub games: u64,
    /// The number of bots; at least 2.
    pub bots: u32,
    /// The most pairs of games of two bots.
    pub pairs: u32,
    /// The share of drawn games, 0 to 1.
    pub draws: f64,
    /// The standard deviation of the strengths, in Elo.
    pub spread: f64,
    /// How often it is played.
    pub tournaments: u32,
    /// Whether a choice that knows the strengths is measured, too.
    pub oracle: bool,
    /// All random choices are derived from it.
    pub seed: u64,
}

/// How far from the truth a table is, in the mean of all tournaments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// Of all pairs of bots, the share in the wrong order.
    pub order: f64,
    /// The root of the mean square of the ratings' errors, in Elo.
    pub rating: f64,
    /// The share of the bots whose true strength is in the interval of their rating.
    pub interval: f64,
}

/// The errors after some games.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// The number of games.
    pub games: u64,
    /// With equal shares: rounds in which everybody meets somebody, until all have met.
    pub equal: Errors,
    /// With games that were chosen.
    pub chosen: Errors,
    /// With games that were chosen by the true strengths, for the order alone: if that is measured.
    pub oracle: Option<Errors>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// The errors on the way; the last step is after all games.
    pub steps: Vec<Step>,
    /// After all games that were chosen: the share of the bots whose true place is between those of the table.
    pub places: f64,
    /// After them, the mean number of places between which a table has a bot.
    pub width: f64,
}

/// What as exact an order takes as that of all games in equal shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saving {
    /// The number of games, if they are chosen.
    pub games: f64,
    /// The error of the ratings then, as a multiple of that of all games in equal shares.
    pub rating: f64,
}

/// One tournament while it is played.
struct Field<'a> {
    of: &'a Comparison,
    strengths: &'a [f64],
    played: Played,
    random: ChaCha8Rng,
}

/// Simulates both ways to play so many games, and measures their errors at steps on the way.
pub fn compare(comparison: &Comparison) -> Result<Compared, RatingError> {
    let mut random = ChaCha8Rng::seed_from_u64(comparison.seed);
    let all = comparison.games / 2;
    let mut at: Vec<u64> = (1..=STEPS).map(|step| all * step / STEPS).collect();
    at.retain(|&pairs| pairs > 0);
    at.dedup();
    let mut steps: Vec<Step> = at
        .iter()
        .map(|&pairs| Step {
            games: 2 * pairs,
            oracle: comparison.oracle.then(Errors::default),
            ..Step::default()
        })
        .collect();
    let (mut places, mut width) = (0.0, 0.0);
    for _ in 0..comparison.tournaments {
        let strengths = (0..comparison.bots).map(|_| comparison.spread * normal(&mut random));
        let mut strengths: Vec<f64> = strengths.collect();
        let mean = strengths.iter().sum::<f64>() / f64::from(comparison.bots.max(1));
        for strength in &mut strengths {
            *strength -= mean;
        }
        let seed: u64 = random.random();
        let field = |luck: u64| Field {
            of: comparison,
            strengths: &strengths,
            played: Played::new(comparison.bots),
            random: ChaCha8Rng::seed_from_u64(seed ^ luck),
        };
        field(0).equal(&mut steps)?;
        let [hold, size] = field(1).chosen(&mut steps, seed)?;
        places += hold;
        width += size;
        if comparison.oracle {
            field(2).by_truth(&mut steps, seed)?;
        }
    }
    let all = f64::from(comparison.tournaments.max(1));
    for step in &mut steps {
        let oracle = step.oracle.as_mut();
        for errors in [&mut step.equal, &mut step.chosen]
            .into_iter()
            .chain(oracle)
        {
            errors.order /= all;
            errors.rating = (errors.rating / all).sqrt();
            errors.interval /= all;
        }
    }
    Ok(Compared {
        steps,
        places: places / all,
        width: width / all,
    })
}

/// How many chosen games lead to the order of all games in equal shares; `None` if more than all do.
pub fn saving(steps: &[Step]) -> Option<Saving> {
    saving_of(steps, |step| Some(step.chosen))
}

/// The same for games that are chosen by the true strengths; `None` also if these were not measured.
pub fn saving_of_oracle(steps: &[Step]) -> Option<Saving> {
    saving_of(steps, |step| step.oracle)
}

fn saving_of(steps: &[Step], errors: impl Fn(&Step) -> Option<Errors>) -> Option<Saving> {
    let equal = steps.last()?.equal;
    let mut before: Option<(u64, Errors)> = None;
    for step in steps {
        let now = errors(step)?;
        if now.order <= equal.order {
            let (from, before) = before?;
            // Between two steps errors change evenly.
            let drop = before.order - now.order;
            let share = (before.order - equal.order) / drop.max(1e-12);
            let [from, to] = [from, step.games].map(games);
            let rating = before.rating + share * (now.rating - before.rating);
            return Some(Saving {
                games: from + share * (to - from),
                rating: rating / equal.rating,
            });
        }
        before = Some((step.games, now));
    }
    None
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵² games")]
const fn games(count: u64) -> f64 {
    count as f64
}

impl Field<'_> {
    fn equal(mut self, steps: &mut [Step]) -> Result<(), RatingError> {
        let mut order: Vec<u32> = (0..self.of.bots).collect();
        order.shuffle(&mut self.random);
        let cycles = RoundRobin::cycle(self.of.bots).saturating_mul(self.of.pairs);
        let rounds = RoundRobin::new(self.of.bots, Some(cycles), 1);
        let mut pairs = rounds.rounds().flat_map(|round| round.pairings);
        for step in steps {
            let missing = step.games / 2 - self.played.pairs;
            for pairing in pairs
                .by_ref()
                .take(usize::try_from(missing).unwrap_or(usize::MAX))
            {
                let [a, b] = [pairing.a, pairing.b].map(|bot| EntrantId(order[bot.index()]));
                self.play(Pairing::new(a, b))?;
            }
            self.measure(&mut step.equal)?;
        }
        Ok(())
    }

    fn chosen(mut self, steps: &mut [Step], seed: u64) -> Result<[f64; 2], RatingError> {
        self.in_batches(steps, seed, next, |step| Some(&mut step.chosen))?;
        self.places()
    }

    /// Chosen by somebody who knows the strengths.
    fn by_truth(mut self, steps: &mut [Step], seed: u64) -> Result<(), RatingError> {
        let strengths = self.strengths;
        let by_strength = |played: &Played, bounds, count| {
            Ok(choose(played, strengths, Known::Truth, bounds, count))
        };
        self.in_batches(steps, seed, by_strength, |step| step.oracle.as_mut())
    }

    fn in_batches(
        &mut self,
        steps: &mut [Step],
        seed: u64,
        next: impl Fn(&Played, Bounds, u64) -> Result<Vec<Pairing>, RatingError>,
        errors: impl Fn(&mut Step) -> Option<&mut Errors>,
    ) -> Result<(), RatingError> {
        let bounds = Bounds {
            pairs: self.of.pairs,
            seed,
        };
        let mut waiting = std::collections::VecDeque::new();
        for step in steps {
            while self.played.pairs < step.games / 2 {
                if waiting.is_empty() {
                    let count = batch(self.of.bots, self.played.pairs);
                    waiting.extend(next(&self.played, bounds, count)?);
                }
                let Some(pairing) = waiting.pop_front() else {
                    break;
                };
                self.play(pairing)?;
            }
            if let Some(errors) = errors(step) {
                self.measure(errors)?;
            }
        }
        Ok(())
    }

    fn play(&mut self, pairing: Pairing) -> Result<(), RatingError> {
        let strengths = [pairing.a, pairing.b].map(|bot| self.strengths[bot.index()]);
        let difference = strengths[0] - strengths[1];
        let outcomes = [difference, -difference]
            .map(|difference| game(&mut self.random, difference, self.of.draws));
        self.played.add(pairing, outcomes)
    }

    /// Adds the errors of a table of what was played so far.
    fn measure(&self, errors: &mut Errors) -> Result<(), RatingError> {
        let ratings = self.ratings()?;
        let bots = f64::from(self.of.bots.max(1));
        errors.order += 1.0 - in_order(self.strengths, &ratings.levels());
        let squares = ratings
            .bots
            .iter()
            .zip(self.strengths)
            .map(|(rating, truth)| (rating.elo - truth).powi(2));
        errors.rating += squares.sum::<f64>() / bots;
        for (rating, strength) in ratings.bots.iter().zip(self.strengths) {
            let off = (rating.elo - strength).abs();
            let holds = rating.error.is_none_or(|error| off <= error);
            errors.interval += f64::from(u8::from(holds)) / bots;
        }
        Ok(())
    }

    /// The ratings after the games so far.
    fn ratings(&self) -> Result<Ratings, RatingError> {
        let mut results = self.played.results().clone();
        results.set_adaptive(true);
        rate(&results, &Model::default())
    }

    /// The share of the bots whose place is between those of the table, and the mean number of these.
    fn places(&self) -> Result<[f64; 2], RatingError> {
        let places = self.ratings()?.places();
        let mut order: Vec<usize> = (0..self.strengths.len()).collect();
        order.sort_by(|&a, &b| self.strengths[b].total_cmp(&self.strengths[a]));
        let (mut hold, mut size) = (0.0, 0.0);
        for (place, &bot) in order.iter().enumerate() {
            let [first, last] = places[bot].unwrap_or([1, order.len()]);
            hold += f64::from(u8::from((first..=last).contains(&(place + 1))));
            size += games((last + 1 - first) as u64);
        }
        let bots = f64::from(self.of.bots.max(1));
        Ok([hold / bots, size / bots])
    }
}
