//! Comparisons without games: how often they err, and how many games they take.

use std::io::{self, Write as _};

use super::Args;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::Stdout;
use crate::cli::support::setup::palette;
use crate::report::terminal::aligned;
use crate::tournament::comparison::Question;
use crate::tournament::comparison::{Outcomes, Simulation, simulate};

/// How many comparisons an estimate is made of.
const FEW: u32 = 20;

/// The pool that is simulated, and the share of drawn games.
const POOL: usize = 4;
const DRAWS: [f64; 3] = [0.0, 0.1, 0.5];

fn simulated(simulation: &Simulation) -> Result<Outcomes, Failure> {
    simulate(simulation).map_err(|error| Failure::Usage(error.to_string()))
}

/// The number of games after which half of the comparisons have ended, if the new version is better by the margin, or, where
/// that is asked, not worse.
pub(super) fn expected(args: &Args, others: usize) -> Result<u32, Failure> {
    let terms = args.terms(others > 0);
    let found = simulated(&Simulation {
        terms,
        elo: match terms.question {
            Question::Better => terms.margin,
            Question::NotWorse => 0.0,
        },
        draws: DRAWS[1],
        others,
        percentage: args.percentage(others > 0),
        most: args.pairs,
        comparisons: FEW,
        seed: 1,
    })?;
    Ok(found.median_games)
}

/// `--simulate N`: a table of how comparisons end, by the true difference, with and without a pool.
pub(super) fn run(args: &Args, comparisons: u32) -> Result<(), Failure> {
    let heads = [
        "pool",
        "draws",
        "difference",
        "yes",
        "no",
        "undecided",
        "games",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for others in [0, POOL] {
        let terms = args.terms(others > 0);
        for draws in DRAWS {
            for factor in [-1.0, 0.0, 1.0, 2.0] {
                let elo = factor * terms.margin;
                let found = simulated(&Simulation {
                    terms,
                    elo,
                    draws,
                    others,
                    percentage: args.percentage(others > 0),
                    most: args.pairs,
                    comparisons,
                    seed: args.seed.unwrap_or(1),
                })?;
                let share = |count: u32| {
                    format!("{:.1}%", 100.0 * f64::from(count) / f64::from(comparisons))
                };
                rows.push(vec![
                    others.to_string(),
                    format!("{:.0}%", 100.0 * draws),
                    format!("{elo:+} Elo"),
                    share(found.yes),
                    share(found.no),
                    share(found.undecided),
                    found.median_games.to_string(),
                ]);
            }
        }
    }
    let table = aligned(&rows, &palette(&io::stdout()), &[]);
    Ok(Stdout.write_all(table.as_bytes())?)
}
