//! Which bots are benched: those that forfeited some games in a row, in the order of the schedule.

use referee_match::record::{BotIndex, Conduct, ForfeitReason, GameResult};
use referee_stats::schedule::EntrantId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Benched {
    pub bot: EntrantId,
    /// Forfeits in a row, without games in which it was not asked.
    pub after: u32,
    pub reason: ForfeitReason,
}

/// What a pair of games says about one of its bots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairConduct {
    games: [Conduct; 2],
    /// Whether it made a turn in either.
    pub has_moved: bool,
}

impl PairConduct {
    pub fn of(results: [GameResult; 2], bot: BotIndex) -> Self {
        Self {
            games: results.map(|result| result.conduct(bot)),
            has_moved: results.iter().any(|result| result.answered[bot]),
        }
    }
}

/// A bot after some pairs of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BenchState {
    streak: ForfeitStreak,
    /// Whether it has made a turn in any game.
    pub has_moved: bool,
    pub benched: Option<Benched>,
}

impl BenchState {
    /// Adds the next pair in the order of the schedule. Gives the bot if that benches it.
    pub fn add(&mut self, bot: EntrantId, pair: PairConduct, bench_after: u32) -> Option<Benched> {
        self.has_moved |= pair.has_moved;
        let (after, reason) = self.streak.pair(pair.games, bench_after)?;
        if self.benched.is_some() {
            return None;
        }
        self.benched = Some(Benched { bot, after, reason });
        self.benched
    }

    /// Whether it may be benched after these pairs; of `None` it is not known how they ended.
    pub fn may_be_benched(
        &self,
        pairs: impl Iterator<Item = Option<PairConduct>>,
        bench_after: u32,
    ) -> bool {
        let mut streak = self.streak;
        for pair in pairs {
            match pair {
                // As if both games were forfeited.
                None => streak.games += 2,
                Some(pair) => {
                    streak.pair(pair.games, bench_after);
                }
            }
            if streak.reaches(bench_after) {
                return true;
            }
        }
        false
    }
}

/// Games forfeited in a row, in the order of the schedule. A game in which the bot was not asked says nothing about
/// it: that neither adds to the row nor ends it. Otherwise a bot that never answers would be saved by the forfeits of
/// its opponents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ForfeitStreak {
    games: u32,
    /// That of the last one.
    reason: Option<ForfeitReason>,
}

impl ForfeitStreak {
    /// Adds a pair. The number of forfeits that benches the bot, and the last one's reason, decided after whole pairs
    /// only; never when `bench_after` is 0.
    fn pair(&mut self, games: [Conduct; 2], bench_after: u32) -> Option<(u32, ForfeitReason)> {
        for game in games {
            match game {
                Conduct::Forfeited(reason) => {
                    self.games += 1;
                    self.reason = Some(reason);
                }
                Conduct::Answered => *self = Self::default(),
                Conduct::NotAsked => {}
            }
        }
        let reason = self.reason?;
        self.reaches(bench_after).then_some((self.games, reason))
    }

    /// `bench_after` 0: never.
    const fn reaches(self, bench_after: u32) -> bool {
        bench_after > 0 && self.games >= bench_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORFEITED: Conduct = Conduct::Forfeited(ForfeitReason::Timeout);

    #[test]
    fn forfeits_in_a_row_bench_a_bot_between_pairs() {
        const F: Conduct = FORFEITED;
        let mut streak = ForfeitStreak::default();
        assert_eq!(streak.pair([F, F], 3), None);
        assert_eq!(streak.pair([F, Conduct::Answered], 3), None);
        assert_eq!(streak.pair([Conduct::Answered, F], 3), None);
        assert_eq!(streak.pair([F, F], 3), Some((3, ForfeitReason::Timeout)));
        assert_eq!(streak.pair([F, F], 0), None);
        assert!(!streak.reaches(0) && streak.reaches(5) && !streak.reaches(6));
    }

    #[test]
    fn a_game_in_which_the_bot_was_not_asked_does_not_end_the_row() {
        let mut streak = ForfeitStreak::default();
        assert_eq!(streak.pair([FORFEITED, Conduct::NotAsked], 2), None);
        let benched = streak.pair([FORFEITED, Conduct::NotAsked], 2);
        assert_eq!(benched, Some((2, ForfeitReason::Timeout)));
        streak.pair([Conduct::NotAsked, Conduct::Answered], 2);
        assert_eq!(streak, ForfeitStreak::default());
    }
}
