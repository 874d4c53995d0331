//! Records of games that are scored without being played: a bot is benched.

use std::sync::Arc;

use super::plan::Plan;
use super::scheduler::WriteUnplayed;
use crate::play::setup::{GameSetup, bot_entry};
use crate::record::{BotIndex, FinishedRecord};
use crate::session::Ruleset;
use crate::tournament::openings;

/// Returns a function that makes these records. `commands` are the bots', as recorded.
pub fn write_unplayed(
    ruleset: Arc<dyn Ruleset>,
    plan: &Plan,
    commands: &[Vec<String>],
) -> Box<WriteUnplayed> {
    let (seed, openings) = (plan.seed, plan.openings.clone());
    let entries: Vec<_> = plan
        .bots
        .iter()
        .zip(commands)
        .map(|(bot, command)| bot_entry(&bot.name, command))
        .collect();
    Box::new(move |scheduled, benched| {
        let first = BotIndex::ALL[scheduled.id.half as usize];
        // A record lists the pairing's `a` first, whoever moves first.
        let [a, b] = [BotIndex::A, BotIndex::B].map(|bot| {
            let side = usize::from(bot != first);
            scheduled.seats[side]
        });
        let setup = GameSetup {
            number: 2 * scheduled.id.pair + scheduled.id.half as u64,
            id: scheduled.id.to_string(),
            seed,
            first,
            start: openings::at(&openings, scheduled.opening).unwrap_or_default(),
            // No process is started.
            process_seeds: [0, 0],
        };
        let players = [a, b].map(|bot| entries[bot.index()].clone());
        let by = if benched.bot == b {
            BotIndex::B
        } else {
            BotIndex::A
        };
        let why = format!(
            "it forfeited {} games in a row and is benched",
            benched.after
        );
        let record = setup.unplayed(&*ruleset, players, by, benched.reason, &why);
        Arc::new(FinishedRecord::new(record))
    })
}
