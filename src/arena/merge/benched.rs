//! Benched bots of a merged tournament: forfeits in a row continue from one shard into the next.

use std::sync::Arc;

use crate::arena::forfeit_streak::ForfeitStreak;
use crate::arena::plan::Plan;
use crate::arena::results::Endings;
use crate::arena::scheduler::{Benched, WriteUnplayed};
use crate::record::{BotIndex, FinishedRecord, ForfeitReason};
use crate::tournament::schedule::{EntrantId, GameId, PairOfGames};

pub(super) struct BenchedBots {
    /// By bot: the pair that benched it, forfeits in a row, reason.
    by_bot: Vec<Option<(u64, u32, ForfeitReason)>>,
}

impl BenchedBots {
    /// In the order of the schedule.
    pub(super) fn find(endings: &Endings, plan: &Plan) -> Self {
        let mut streaks = vec![ForfeitStreak::default(); plan.bots.len()];
        let mut by_bot = vec![None; plan.bots.len()];
        if plan.bench_after == 0 {
            return Self { by_bot };
        }
        for pair in plan.pairs() {
            let bots = [pair.pairing.a, pair.pairing.b];
            if bots.iter().any(|bot| by_bot[bot.index()].is_some()) {
                // Not played: the opponent does not forfeit.
                for bot in bots {
                    streaks[bot.index()] = ForfeitStreak::default();
                }
                continue;
            }
            let endings = endings.of(pair.number);
            for (index, bot) in BotIndex::ALL.into_iter().zip(bots) {
                let forfeits = endings.map(|ending| ending?.forfeited_by(index));
                let too_many = streaks[bot.index()].pair(forfeits, plan.bench_after);
                by_bot[bot.index()] = too_many.map(|(after, reason)| (pair.number, after, reason));
            }
        }
        Self { by_bot }
    }

    fn of(&self, bot: EntrantId, pair: u64) -> Option<Benched> {
        let (since, after, reason) = self.by_bot.get(bot.index()).copied().flatten()?;
        (since < pair).then_some(Benched { bot, after, reason })
    }
}

/// The record, if a single machine would not have played the game.
pub(super) fn not_played(
    pair: &PairOfGames,
    id: GameId,
    benched: &BenchedBots,
    unplayed: &WriteUnplayed,
) -> Option<Arc<FinishedRecord>> {
    let game = pair.games()[id.half as usize];
    // If both are benched, the one to move first forfeits.
    let benched = game
        .seats
        .into_iter()
        .find_map(|bot| benched.of(bot, pair.number))?;
    Some(unplayed(&game, &benched))
}
