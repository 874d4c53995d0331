//! What becomes a record when a game ends: the sheet that a game is written down on.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Map;

use crate::bot::{Fault, Reason};
use crate::game::{Game, Outcome};
use crate::play::Played;
use crate::play::seat::Seat;
use crate::record::{BotEntry, BotIndex, Record, ResultEntry, UsageEntry, VERSION};

/// Everything of a record that is known before the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// Identifies the game.
    pub id: String,
    /// The seed of the match or the tournament.
    pub seed: u64,
    /// Index of the bot that moves first.
    pub first: usize,
    /// The board at the start.
    pub start: &'a str,
    /// When the game started.
    pub started: Timestamp,
}

/// A bot as records name it.
pub fn entry(name: &str, command: &[String]) -> BotEntry {
    BotEntry {
        name: name.to_owned(),
        command: command.to_vec(),
        more: Map::new(),
    }
}

/// The two at a table as records name them.
pub fn entries<G>(seats: [&Seat<G>; 2]) -> [BotEntry; 2] {
    seats.map(|seat| entry(seat.name(), seat.command()))
}

/// A record of a game of which nothing is known yet but who plays it.
pub fn blank<G: Game>(game: &G, bots: [BotEntry; 2], header: Header<'_>) -> Record {
    Record {
        v: VERSION,
        game: G::NAME.to_owned(),
        rules: game.rules().to_owned(),
        id: header.id,
        bots,
        first: BotIndex::ALL[header.first],
        seed: header.seed,
        start: header.start.to_owned(),
        pieces: game.pieces().map(str::to_owned),
        turns: Vec::new(),
        times_ms: Vec::new(),
        result: ResultEntry::default(),
        started: format!("{:.0}", header.started),
        usage: None,
        more: Map::new(),
    }
}

/// Writes the turns down, and their times.
pub fn turns<G: Game>(record: &mut Record, played: &mut Played<G>) {
    record.turns = std::mem::take(&mut played.turns);
    record.times_ms = played.times.iter().copied().map(milliseconds).collect();
}

/// What the bots used in the game that has just ended; `None` when nothing is known of either.
pub fn used<G>(seats: &mut [Seat<G>; 2]) -> Option<[Option<UsageEntry>; 2]> {
    let used = seats.each_mut().map(|seat| {
        let usage = seat.used()?;
        Some(UsageEntry {
            cpu_ms: usage.cpu_ms,
            cpu_other_ms: usage.cpu_other_ms,
            memory_kb: usage.memory_kb,
        })
    });
    used.iter().any(Option::is_some).then_some(used)
}

/// Writes down how a game ended by the rules.
pub fn outcome<G: Game>(record: &mut Record, game: &G, position: &G::Position, outcome: Outcome) {
    record.result = match outcome {
        Outcome::Draw => ResultEntry {
            reason: crate::record::Reason::Draw,
            ..ResultEntry::default()
        },
        Outcome::Win(side) => ResultEntry {
            // The first side is played by the bot that moves first.
            winner: Some([record.first, record.first.other()][side.index()]),
            reason: G::NAME.into(),
            lines: game.winning_lines(position),
            ..ResultEntry::default()
        },
    };
}

/// Writes down how a game ended whose value was proven before it was played out.
pub fn adjudicated<G: Game>(
    record: &mut Record,
    game: &G,
    position: &G::Position,
    proven: Outcome,
) {
    outcome(record, game, position, proven);
    record.result.adjudicated = true;
}

/// Writes down that the bot with index `by` forfeited. `stderr` is the escaped end of its stderr.
pub fn forfeit(record: &mut Record, by: usize, fault: &Fault, stderr: String) {
    record.result = ResultEntry {
        winner: Some(BotIndex::ALL[by].other()),
        reason: fault.reason().into(),
        by: Some(BotIndex::ALL[by]),
        answer: Some(fault.answer()),
        detail: Some(fault.to_string()),
        stderr: Some(stderr),
        ..ResultEntry::default()
    };
}

/// Writes down that the bot with index `by` is benched, and why: the game is not played.
pub fn not_played(record: &mut Record, by: usize, reason: Reason, why: &str) {
    record.result = ResultEntry {
        winner: Some(BotIndex::ALL[by].other()),
        reason: reason.into(),
        by: Some(BotIndex::ALL[by]),
        answer: Some(String::new()),
        detail: Some(format!("not played: {why}")),
        stderr: Some(String::new()),
        more: Map::from_iter([("played".to_owned(), false.into())]),
        ..ResultEntry::default()
    };
}

/// Milliseconds, exact to the microsecond.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
