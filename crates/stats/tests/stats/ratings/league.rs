//! The reference results that tests of ratings share.

use referee_stats::ratings::{Draws, Model, Ratings, Results, Tally, rate};

/// First mover, second mover, the first mover's wins, draws and losses.
pub(crate) type Row = (usize, usize, [u32; 3]);

/// Five bots, ten games each way.
#[rustfmt::skip]
pub(crate) const A: [Row; 20] = [
    (0, 1, [6, 2, 2]), (1, 0, [4, 2, 4]), (0, 2, [7, 1, 2]), (2, 0, [3, 2, 5]),
    (0, 3, [8, 1, 1]), (3, 0, [2, 1, 7]), (0, 4, [9, 1, 0]), (4, 0, [1, 0, 9]),
    (1, 2, [5, 3, 2]), (2, 1, [4, 2, 4]), (1, 3, [6, 2, 2]), (3, 1, [3, 1, 6]),
    (1, 4, [8, 1, 1]), (4, 1, [2, 1, 7]), (2, 3, [5, 2, 3]), (3, 2, [4, 2, 4]),
    (2, 4, [7, 1, 2]), (4, 2, [2, 2, 6]), (3, 4, [6, 2, 2]), (4, 3, [3, 2, 5]),
];

/// Bradley–Terry and nothing else.
pub(crate) const PLAIN: Model = Model {
    advantage: false,
    draws: Draws::HalfWins,
    prior: 0.0,
};

pub(crate) const ADVANTAGE: Model = Model {
    advantage: true,
    ..PLAIN
};

/// Results of these games.
pub(crate) fn results(bots: usize, rows: &[Row]) -> Results {
    let mut results = Results::new(bots);
    for &(first, second, [wins, draws, losses]) in rows {
        let tally = Tally {
            wins,
            draws,
            losses,
        };
        results.add_games(first, second, tally).unwrap();
    }
    results
}

/// The ratings alone.
pub(crate) fn elos(ratings: &Ratings) -> Vec<f64> {
    ratings.bots.iter().map(|rating| rating.elo).collect()
}

/// The ratings of these games.
pub(crate) fn rated(bots: usize, rows: &[Row], model: &Model) -> Ratings {
    rate(&results(bots, rows), model).unwrap()
}
