//! The games of a comparison of two versions, or of a grade: then the graded bot is the new one and its reference the
//! old one.
//!
//! The new version is the first bot, the old one the second. A comparison with the old version is one pair; with
//! another opponent, it is two pairs from the same opening: new and old version against it.

use serde::Serialize;

use super::results::Endings;
use referee_match::record::{BotIndex, Ending};
use referee_stats::betting::MeanTest;
use referee_stats::comparison::{Comparison, ComparisonUnit};
use referee_stats::schedule::{EntrantId, Pairing, Round};

const NEW: EntrantId = EntrantId(0);
const OLD: EntrantId = EntrantId(1);

/// The only round. `opponents` are indices of opponents in order; 0 is the old version.
pub fn round(opponents: &[usize]) -> Round {
    let (mut pairings, mut first_openings) = (Vec::new(), Vec::new());
    for (opening, &opponent) in (0..).zip(opponents) {
        let bot = EntrantId(u32::try_from(opponent + 1).unwrap_or(u32::MAX));
        pairings.push(Pairing::new(NEW, bot));
        first_openings.push(opening);
        if bot != OLD {
            pairings.push(Pairing::new(OLD, bot));
            first_openings.push(opening);
        }
    }
    Round {
        first_openings,
        ..Round::new(1, 0, 1, pairings, Vec::new())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ComparisonForfeits {
    pub new: u32,
    pub old: u32,
    pub others: u32,
}

#[derive(Clone, Debug)]
pub struct ComparisonProgress {
    opponents: Vec<usize>,
    next: usize,
    next_pair: u64,
    pub comparison: Comparison,
    pub forfeits: ComparisonForfeits,
    pub games: u64,
}

impl ComparisonProgress {
    /// `bots`: all but the new version.
    pub fn new(test: MeanTest, bots: usize, opponents: Vec<usize>) -> Self {
        Self {
            opponents,
            next: 0,
            next_pair: 1,
            comparison: Comparison::new(test, bots),
            forfeits: ComparisonForfeits::default(),
            games: 0,
        }
    }

    /// Adds complete comparisons in their order, up to the decision, or all with `all`. Returns whether it is
    /// decided.
    pub fn advance(&mut self, endings: &Endings, all: bool) -> bool {
        while (all || !self.comparison.is_decided())
            && let Some(&opponent) = self.opponents.get(self.next)
            && let Some(new) = pair(endings, self.next_pair)
        {
            if opponent == 0 {
                self.comparison
                    .add(0, ComparisonUnit::Direct(half_points(new)));
                self.count(new, |forfeits| [&mut forfeits.new, &mut forfeits.old]);
                self.next_pair += 1;
            } else {
                let Some(old) = pair(endings, self.next_pair + 1) else {
                    break;
                };
                let unit = ComparisonUnit::Pool([new, old].map(half_points));
                self.comparison.add(opponent, unit);
                self.count(new, |forfeits| [&mut forfeits.new, &mut forfeits.others]);
                self.count(old, |forfeits| [&mut forfeits.old, &mut forfeits.others]);
                self.next_pair += 2;
            }
            self.next += 1;
        }
        self.comparison.is_decided()
    }

    fn count(&mut self, pair: [Ending; 2], of: impl Fn(&mut ComparisonForfeits) -> [&mut u32; 2]) {
        self.games += 2;
        let counts = of(&mut self.forfeits);
        for (by, count) in BotIndex::ALL.into_iter().zip(counts) {
            for ending in pair {
                *count += u32::from(ending.forfeited_by(by).is_some());
            }
        }
    }
}

fn pair(endings: &Endings, number: u64) -> Option<[Ending; 2]> {
    match endings.of(number) {
        [Some(one), Some(other)] => Some([one, other]),
        _ => None,
    }
}

/// 0 to 4, of the first bot of a pairing.
fn half_points(pair: [Ending; 2]) -> usize {
    pair.into_iter().map(Ending::half_points).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee_match::record::{ForfeitReason, GameResult};
    use referee_stats::comparison::{ComparisonQuestion, ComparisonTerms};
    use referee_stats::schedule::{GameId, Half};
    use referee_stats::sprt::Scores;

    const TERMS: ComparisonTerms = ComparisonTerms {
        question: ComparisonQuestion::Better,
        margin: 50.0,
        direct: 0.5,
        alpha: 0.05,
        beta: 0.05,
    };

    fn note(endings: &mut Endings, pair: u64, both: [Ending; 2]) {
        for (half, ending) in Half::BOTH.into_iter().zip(both) {
            let result = GameResult {
                ending,
                answered: [true; 2],
                played: true,
            };
            assert!(endings.note(GameId { pair, half }, result));
        }
    }

    #[test]
    fn both_versions_meet_an_opponent_from_the_same_opening() {
        let round = round(&[0, 2, 0]);
        let pairs: Vec<_> = (1..=4)
            .map(|number| round.pair(number).expect("a pair"))
            .collect();
        let played = pairs
            .iter()
            .map(|pair| (pair.pairing.a.0, pair.pairing.b.0, pair.opening));
        assert_eq!(
            played.collect::<Vec<_>>(),
            [(0, 1, 0), (0, 3, 1), (1, 3, 1), (0, 1, 2)]
        );
        assert_eq!(round.count(), 4);
    }

    #[test]
    fn comparisons_count_in_order_and_when_they_are_complete() {
        let (a, b) = (Ending::Win(BotIndex::A), Ending::Win(BotIndex::B));
        let forfeit = Ending::Forfeit(BotIndex::B, ForfeitReason::Timeout);
        let test = TERMS.test().expect("valid terms");
        let mut progress = ComparisonProgress::new(test, 3, vec![0, 2, 0]);
        let mut endings = Endings::default();
        note(&mut endings, 2, [a, Ending::Draw]);
        note(&mut endings, 4, [a, a]);
        progress.advance(&endings, false);
        assert_eq!(progress.games, 0);
        note(&mut endings, 1, [a, b]);
        progress.advance(&endings, false);
        assert_eq!((progress.games, progress.comparison.count()), (2, 1));
        note(&mut endings, 3, [b, forfeit]);
        progress.advance(&endings, false);
        assert_eq!((progress.games, progress.comparison.count()), (8, 3));
        let [old, _, other] = progress.comparison.opponents() else {
            panic!("three opponents");
        };
        assert_eq!(old.new, Scores([0, 0, 1, 0, 1]));
        assert_eq!(other.new, Scores([0, 0, 0, 1, 0]));
        assert_eq!(other.old, Scores([0, 0, 1, 0, 0]));
        let expected = ComparisonForfeits {
            others: 1,
            ..ComparisonForfeits::default()
        };
        assert_eq!(progress.forfeits, expected);
    }
}
