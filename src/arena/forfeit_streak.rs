use crate::record::ForfeitReason;

/// Games forfeited in a row, in the order of the schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ForfeitStreak(u32);

/// The number of forfeits that benches a bot, and the last one's reason.
pub(super) type TooMany = (u32, ForfeitReason);

impl ForfeitStreak {
    /// Adds a pair: why the bot forfeited each game, if it did. `Some` benches the bot, decided after whole pairs
    /// only; never when `bench_after` is 0.
    pub(super) fn pair(
        &mut self,
        forfeits: [Option<ForfeitReason>; 2],
        bench_after: u32,
    ) -> Option<TooMany> {
        for forfeit in forfeits {
            self.0 = if forfeit.is_some() { self.0 + 1 } else { 0 };
        }
        let reason = forfeits[1]?;
        self.reaches(bench_after).then_some((self.0, reason))
    }

    /// Adds an unknown pair as if both games were forfeited.
    pub(super) const fn worst_pair(&mut self) {
        self.0 += 2;
    }

    /// `bench_after` 0: never.
    pub(super) const fn reaches(self, bench_after: u32) -> bool {
        bench_after > 0 && self.0 >= bench_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forfeits_in_a_row_bench_a_bot_between_pairs() {
        const F: Option<ForfeitReason> = Some(ForfeitReason::Timeout);
        let mut streak = ForfeitStreak::default();
        assert_eq!(streak.pair([F, F], 3), None);
        assert_eq!(streak.pair([F, None], 3), None);
        assert_eq!(streak.pair([None, F], 3), None);
        assert_eq!(streak.pair([F, F], 3), Some((3, ForfeitReason::Timeout)));
        assert_eq!(streak.pair([F, F], 0), None);
        assert!(!streak.reaches(0) && streak.reaches(5) && !streak.reaches(6));
    }
}
