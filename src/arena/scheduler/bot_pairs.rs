//! Whether a bot is benched, by its pairs in the order of the schedule.

use std::collections::VecDeque;

use super::Benched;
use crate::arena::forfeit_streak::ForfeitStreak;
use crate::record::ForfeitReason;
use crate::tournament::schedule::EntrantId;

/// From the first pair not settled, in the order of the schedule.
#[derive(Debug, Default)]
pub(super) struct BotPairs {
    /// Pair numbers, with the bot's forfeits once settled.
    pairs: VecDeque<(u64, Option<Forfeits>)>,
    /// Before those pairs.
    streak: ForfeitStreak,
    pub(super) benched: Option<Benched>,
}

/// Why the bot forfeited each game of a pair, if it did.
type Forfeits = [Option<ForfeitReason>; 2];

impl BotPairs {
    /// Adds an unsettled pair.
    pub(super) fn push(&mut self, number: u64) {
        self.pairs.push_back((number, None));
    }

    /// Returns the bot if this pair benches it.
    pub(super) fn settle(
        &mut self,
        number: u64,
        bot: EntrantId,
        forfeits: Forfeits,
        bench_after: u32,
    ) -> Option<Benched> {
        if let Some(known) = self.pairs.iter_mut().find(|(n, _)| *n == number) {
            known.1 = Some(forfeits);
        }
        let mut newly_benched = None;
        while let Some(&(_, Some(forfeits))) = self.pairs.front() {
            self.pairs.pop_front();
            let too_many = self.streak.pair(forfeits, bench_after);
            if self.benched.is_none()
                && let Some((after, reason)) = too_many
            {
                let benched = Benched { bot, after, reason };
                self.benched = Some(benched);
                newly_benched = Some(benched);
            }
        }
        newly_benched
    }

    /// Whether unsettled pairs before this one may bench the bot.
    pub(super) fn may_be_benched_before(&self, pair: u64, bench_after: u32) -> bool {
        let mut streak = self.streak;
        for &(number, forfeits) in &self.pairs {
            if number == pair {
                break;
            }
            match forfeits {
                None => streak.worst_pair(),
                Some(forfeits) => {
                    streak.pair(forfeits, bench_after);
                }
            }
            if streak.reaches(bench_after) {
                return true;
            }
        }
        false
    }
}
