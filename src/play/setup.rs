//! The settings of a game, and the record with which it begins.

use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::Map;

use super::seat::Seat;
use crate::protocol::ForfeitReason;
use crate::record::{BotEntry, BotIndex, Record, ResultEntry, VERSION};
use crate::session::Ruleset;

/// The time, for records and the names of files: of a clock beyond the year 9999 the last time that can be written.
pub fn now() -> Timestamp {
    Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX)
}

/// The settings of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameSetup<'a> {
    /// Its number in the match or the tournament, from 0.
    pub number: u64,
    /// Identifies it in its file of records.
    pub id: String,
    /// The seed of the match or the tournament.
    pub seed: u64,
    /// The seat that moves first.
    pub first: BotIndex,
    /// The position at the start, as records hold it.
    pub start: &'a str,
    /// The seeds of both seats' processes, if they are started for this game.
    pub process_seeds: [u32; 2],
}

impl GameSetup<'_> {
    /// The seats on the first and the second side.
    pub const fn seats_by_side(&self) -> [BotIndex; 2] {
        [self.first, self.first.other()]
    }

    /// The record of the game at its start.
    pub(super) fn record(
        &self,
        ruleset: &dyn Ruleset,
        bots: [BotEntry; 2],
        started: Timestamp,
    ) -> Record {
        Record {
            v: VERSION,
            game: ruleset.name().to_owned(),
            rules: ruleset.rules().to_owned(),
            id: self.id.clone(),
            bots,
            first: self.first,
            seed: self.seed,
            start: self.start.to_owned(),
            pieces: ruleset.pieces().map(str::to_owned),
            turns: Vec::new(),
            movers: None,
            times_ms: Vec::new(),
            charged_ms: Vec::new(),
            result: ResultEntry::default(),
            started: format!("{started:.0}"),
            usage: None,
            processes: None,
            delayed: None,
            voids: 0,
            more: Map::new(),
        }
    }

    /// The record of a game that is not played, and lost by `by`, because that bot is benched. `why`
    /// completes a sentence that begins with "not played:".
    pub fn unplayed(
        &self,
        ruleset: &dyn Ruleset,
        bots: [BotEntry; 2],
        by: BotIndex,
        reason: ForfeitReason,
        why: &str,
    ) -> Record {
        let mut record = self.record(ruleset, bots, now());
        record.result = ResultEntry {
            winner: Some(by.other()),
            reason: reason.into(),
            by: Some(by),
            answer: Some(String::new()),
            detail: Some(format!("not played: {why}")),
            stderr: Some(String::new()),
            played: false,
            ..ResultEntry::default()
        };
        record
    }
}

/// The entry of a bot in a record.
pub fn bot_entry(name: &str, command: &[String]) -> BotEntry {
    BotEntry {
        name: name.to_owned(),
        command: command.to_vec(),
        more: Map::new(),
    }
}

/// The entries of both players in a record.
pub fn bot_entries(seats: &[Seat; 2]) -> [BotEntry; 2] {
    seats
        .each_ref()
        .map(|seat| bot_entry(seat.name(), seat.command()))
}
