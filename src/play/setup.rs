//! What is decided about a game before it begins, and the record that it begins with.

use jiff::Timestamp;
use serde_json::Map;

use super::seat::Seat;
use crate::protocol::ForfeitReason;
use crate::record::{BotEntry, BotIndex, Record, ResultEntry, VERSION};
use crate::session::Ruleset;

/// What is decided about a game before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameSetup<'a> {
    /// Its number in the match or the tournament, from 0.
    pub number: u64,
    /// Identifies it in its file of records.
    pub id: String,
    /// The seed of the match or the tournament.
    pub seed: u64,
    /// Index of the seat that acts first.
    pub first: BotIndex,
    /// The board at the start, as records write it.
    pub start: &'a str,
    /// The seeds of both seats' processes, for those that are started now.
    pub process_seeds: [u32; 2],
}

impl GameSetup<'_> {
    /// Indices of the seats on the first and the second side.
    pub const fn seats_by_side(&self) -> [BotIndex; 2] {
        [self.first, self.first.other()]
    }

    /// The record of the game, of which nothing is known yet but who plays it.
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
            times_ms: Vec::new(),
            result: ResultEntry::default(),
            started: format!("{started:.0}"),
            usage: None,
            delayed: None,
            voids: 0,
            more: Map::new(),
        }
    }

    /// The record of a game that is not played because the bot with index `by` is benched; it
    /// loses. `why` is the rest of a sentence that begins with "not played".
    pub fn unplayed(
        &self,
        ruleset: &dyn Ruleset,
        bots: [BotEntry; 2],
        by: BotIndex,
        reason: ForfeitReason,
        why: &str,
    ) -> Record {
        let mut record = self.record(ruleset, bots, Timestamp::now());
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

/// A bot as records name it.
pub fn bot_entry(name: &str, command: &[String]) -> BotEntry {
    BotEntry {
        name: name.to_owned(),
        command: command.to_vec(),
        more: Map::new(),
    }
}

/// Both players as records name them.
pub fn bot_entries(seats: &[Seat; 2]) -> [BotEntry; 2] {
    seats
        .each_ref()
        .map(|seat| bot_entry(seat.name(), seat.command()))
}
