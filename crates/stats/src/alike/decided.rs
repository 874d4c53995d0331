//! Which bots need not be asked more: what they have answered tells that none of their pairs will stand out.
//!
//! Positions are drawn at random, so the first of them are a sample of all. A pair is decided when neither of these is
//! likely, by what both answered so far:
//!
//! - that they are nearly equal in the end: of all positions at most one in ten may then be answered otherwise. The
//!   chance that so many of those are among the first is hypergeometric.
//! - that their odds reach the line: they have not come to [`UNLIKELY`] yet. How seldom that errs was measured, in
//!   simulated classes (`examples/alike.rs`).

use super::{AlikePair, AlikeQuestion, NEARLY, ROUNDS, count, pairs};

/// Odds below which a pair does not stand out once all has been asked.
pub const UNLIKELY: f64 = 50.0;

/// The chance that a pair is thought decided that would be nearly equal in the end.
pub const MISTAKEN: f64 = 1e-4;

/// By bot: whether it has a pair that may still stand out once `all` positions have been asked.
pub fn undecided(questions: &[AlikeQuestion], bots: usize, all: usize) -> Vec<bool> {
    let mut open = vec![false; bots];
    for pair in pairs(questions, bots) {
        if !is_decided(&pair, all) {
            (open[pair.a], open[pair.b]) = (true, true);
        }
    }
    open
}

fn is_decided(pair: &AlikePair, all: usize) -> bool {
    pair.odds < UNLIKELY && !may_be_nearly_equal(pair, all)
}

/// Whether it is likely enough that a pair which answers this much alike is nearly equal in all positions.
fn may_be_nearly_equal(pair: &AlikePair, all: usize) -> bool {
    let asked = pair.answers / ROUNDS;
    let different = (1.0 - pair.equal) * count(asked);
    chance_of_so_many(different, asked, all) > MISTAKEN
}

/// The chance that of `asked` positions so many or more are answered differently, where one in ten of `all` is.
fn chance_of_so_many(different: f64, asked: usize, all: usize) -> f64 {
    let (asked, all) = (asked.min(all), all.max(1));
    let unlike = (0..=all)
        .rev()
        .find(|unlike| count(*unlike) <= (1.0 - NEARLY) * count(all) + 1e-9)
        .unwrap_or(0);
    // Of which the first `k` positions hold exactly `x`: drawn one by one, with the chances of all counts so far.
    let mut chances = vec![0.0; unlike + 1];
    chances[0] = 1.0;
    for drawn in 0..asked {
        for found in (0..=unlike.min(drawn)).rev() {
            let left = count(all - drawn);
            let hit = count(unlike - found) / left;
            let chance = chances[found];
            chances[found] = chance * (1.0 - hit);
            if found < unlike {
                chances[found + 1] += chance * hit;
            }
        }
    }
    let many = chances.iter().enumerate();
    many.filter(|(found, _)| count(*found) >= different - 1e-9)
        .map(|(_, chance)| chance)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_hypergeometric() {
        for (different, asked, expected) in [
            (0.0, 25, 1.0),
            (9.0, 25, 9.040_386e-6),
            (6.0, 10, 3.182_315e-5),
            (11.0, 50, 0.0),
        ] {
            let chance = chance_of_so_many(different, asked, 100);
            assert!(
                (chance - expected).abs() < 1e-11_f64.max(expected * 1e-5),
                "{chance}"
            );
        }
    }
}
