//! How often the 95 % intervals of ratings hold the true strength, by simulation: the tables of
//! docs/internals/ratings.md.
//!
//! ```text
//! cargo bench -p referee-stats --bench intervals            # some minutes
//! cargo bench -p referee-stats --bench intervals -- 2000    # fewer tournaments
//! cargo bench -p referee-stats --bench intervals -- 2000 seed=2 Ring/50 Gauntlet Swiss/50/3    # other numbers, some rows
//! ```
//!
//! A cell is the lowest and the highest percentage of five cases: equal bots, spreads of 20 and 150 Elo,
//! and of 50 Elo with two kinds of correlated pairs; in parentheses that of the bot that plays others than
//! the rest.
//!
//! The strengths are drawn anew for every tournament. A game is drawn with the probability `draws`, or
//! as often as its expected score allows. Games of a pair are correlated when they share their luck: in
//! a `share` of the openings the same number decides both, for the first mover or for the stronger bot.

use std::env;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use referee_stats::ratings::{Model, RatedOutcome, RatedResults, rate};
use referee_stats::schedule::{EntrantId, Pairing, cycle, swiss};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Field {
    RoundRobin,
    /// Everybody plays two neighbours.
    Ring,
    Gauntlet,
    /// As many rounds as a knockout would have.
    Swiss,
    /// A round robin, but one bot that is stronger than all plays only two of the others.
    Latecomer,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Luck {
    Apart,
    Opening,
    /// The same bot has the luck in both.
    Bot,
}

#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub field: Field,
    pub bots: usize,
    /// Pairs of games in each meeting.
    pub pairs: usize,
    /// Share of draws, where the difference of strength allows it.
    pub draws: f64,
    /// Standard deviation of the strengths, in Elo.
    pub spread: f64,
    pub luck: Luck,
}

/// Share of the pairs whose games have the same luck.
const SHARED: f64 = 0.5;

const ADVANTAGE: f64 = 30.0;

fn logistic(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / 400.0))
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// The outcome for the first mover, whose luck is `luck`, 0 to 1: less is better.
fn outcome(difference: f64, draws: f64, luck: f64) -> RatedOutcome {
    let score = logistic(difference + ADVANTAGE);
    let draw = draws.min(1.98 * score.min(1.0 - score));
    match luck {
        luck if luck < score - draw / 2.0 => RatedOutcome::FirstWins,
        luck if luck < score + draw / 2.0 => RatedOutcome::Draw,
        _ => RatedOutcome::SecondWins,
    }
}

fn pair(setting: &Setting, difference: f64, random: &mut ChaCha8Rng) -> [RatedOutcome; 2] {
    let first: f64 = random.random();
    let same = setting.luck != Luck::Apart && random.random::<f64>() < SHARED;
    let second = match setting.luck {
        Luck::Opening if same => first,
        Luck::Bot if same => 1.0 - first,
        _ => random.random(),
    };
    [
        outcome(difference, setting.draws, first),
        outcome(-difference, setting.draws, second),
    ]
}

fn points(outcomes: [RatedOutcome; 2]) -> u64 {
    let [first, second] = outcomes.map(|outcome| match outcome {
        RatedOutcome::FirstWins => 2,
        RatedOutcome::Draw => 1,
        RatedOutcome::SecondWins => 0,
    });
    first + 2 - second
}

fn play(setting: &Setting, strengths: &[f64], random: &mut ChaCha8Rng) -> RatedResults {
    let bots = setting.bots;
    let mut results = RatedResults::new(bots);
    let mut meet = |a: usize, b: usize, random: &mut ChaCha8Rng| {
        let mut sum = 0;
        for _ in 0..setting.pairs {
            let outcomes = pair(setting, strengths[a] - strengths[b], random);
            results
                .add_pair(a, b, outcomes)
                .expect("two bots of the field");
            sum += points(outcomes);
        }
        sum
    };
    match setting.field {
        Field::RoundRobin => {
            for a in 0..bots {
                for b in a + 1..bots {
                    meet(a, b, random);
                }
            }
        }
        Field::Ring => {
            for a in 0..bots {
                meet(a, (a + 1) % bots, random);
            }
        }
        Field::Gauntlet => {
            for b in 1..bots {
                meet(0, b, random);
            }
        }
        Field::Latecomer => {
            for a in 1..bots {
                for b in a + 1..bots {
                    meet(a, b, random);
                }
            }
            for b in 1..3 {
                meet(0, b, random);
            }
        }
        Field::Swiss => {
            let count = u32::try_from(bots).expect("a small field");
            let mut so_far = swiss::SwissResults::new(count);
            for number in 1..=cycle(count).ilog2() + 1 {
                let round = swiss::next_round(&so_far, number, 1);
                for Pairing { a, b } in round.pairings {
                    let made = meet(a.index(), b.index(), random);
                    let all = 4 * setting.pairs as u64;
                    so_far.meeting(Pairing { a, b }, [made, all - made]);
                }
                for EntrantId(bye) in round.byes {
                    so_far.bye(EntrantId(bye), 4 * setting.pairs as u64);
                }
            }
        }
    }
    results
}

#[derive(Clone, Copy, Debug)]
pub struct Coverage {
    /// Of all bots, 0 to 1.
    pub all: f64,
    /// Of the first bot, which in some fields plays others than the rest.
    pub first: f64,
}

/// The share of intervals that hold the truth.
///
/// # Panics
///
/// With more than 2³² bots.
pub fn coverage(setting: &Setting, tournaments: u32, seed: u64) -> Coverage {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut all, mut first, mut count) = (0_u32, 0_u32, 0_u32);
    for _ in 0..tournaments {
        let mut strengths: Vec<f64> = (0..setting.bots)
            .map(|_| setting.spread * normal(&mut random))
            .collect();
        if setting.field == Field::Latecomer {
            strengths[0] += 150.0;
        }
        let bots = u32::try_from(setting.bots).expect("a small field");
        let mean = strengths.iter().sum::<f64>() / f64::from(bots);
        let results = play(setting, &strengths, &mut random);
        let ratings = rate(&results, &Model::default()).expect("a prior determines them");
        for (bot, rating) in ratings.bots.iter().enumerate() {
            let [low, high] = rating.interval;
            let is_inside = (low..=high).contains(&(strengths[bot] - mean));
            all += u32::from(is_inside);
            first += u32::from(is_inside && bot == 0);
            count += 1;
        }
    }
    Coverage {
        all: f64::from(all) / f64::from(count),
        first: f64::from(first) / f64::from(tournaments),
    }
}

/// Spreads of strength, and why games of a pair are alike.
const CASES: [(f64, Luck); 5] = [
    (0.0, Luck::Apart),
    (20.0, Luck::Apart),
    (150.0, Luck::Apart),
    (50.0, Luck::Opening),
    (50.0, Luck::Bot),
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let tournaments: u32 = arguments
        .iter()
        .find_map(|text| text.parse().ok())
        .unwrap_or(20_000);
    let seed = arguments.iter().find_map(|text| text.strip_prefix("seed="));
    let seed = seed.map_or(1, |text| text.parse().expect("a number after seed="));
    let rows: Vec<&String> = arguments
        .iter()
        .filter(|text| text.starts_with(|first: char| first.is_ascii_uppercase()))
        .collect();
    println!("| field | bots | pairs | no draws | 50 % | 90 % | 95 % |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (field, sizes) in [
        (Field::RoundRobin, &[2, 4, 10, 50][..]),
        (Field::Ring, &[5, 50]),
        (Field::Gauntlet, &[5, 50]),
        (Field::Swiss, &[9, 50]),
        (Field::Latecomer, &[5, 20]),
    ] {
        for (&bots, pairs) in sizes
            .iter()
            .flat_map(|bots| [1, 3, 10, 100].map(|pairs| (bots, pairs)))
        {
            let row = format!("{field:?}/{bots}/{pairs}/");
            if !rows.is_empty()
                && !rows
                    .iter()
                    .any(|wanted| row.starts_with(&format!("{wanted}/")))
            {
                continue;
            }
            print!("| {field:?} | {bots} | {pairs} |");
            for draws in [0.0, 0.5, 0.9, 0.95] {
                // As many intervals in every setting, but for large round robins with many games. Where one bot alone is
                // shown, there are as many of it as in small fields.
                let alone = matches!(field, Field::Gauntlet | Field::Latecomer);
                let most = if alone { 5 } else { u32::MAX };
                let small = u32::try_from(bots).expect("a small field").clamp(2, most);
                let large = field == Field::RoundRobin && bots * pairs >= 1000;
                let share = if large { 20 } else { 2 };
                let found = CASES.map(|(spread, luck)| {
                    let setting = Setting {
                        field,
                        bots,
                        pairs,
                        draws,
                        spread,
                        luck,
                    };
                    coverage(&setting, (tournaments * 2 / small / share).max(40), seed)
                });
                let percent = |get: fn(&Coverage) -> f64| {
                    let all = found.iter().map(get).map(|share| 100.0 * share);
                    let least = all.clone().fold(f64::INFINITY, f64::min);
                    (least, all.fold(0.0, f64::max))
                };
                let (least, most) = percent(|found| found.all);
                print!(" {least:.0}–{most:.0}");
                if field == Field::Latecomer || field == Field::Gauntlet {
                    let (least, most) = percent(|found| found.first);
                    print!(" ({least:.0}–{most:.0})");
                }
                print!(" |");
            }
            println!();
        }
    }
}
