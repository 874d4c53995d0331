//! What each bot should mend: how to see its faults again, and how near it came to its limit.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::limits::cut;
use crate::game::quarto::{PieceSet, Rules};
use crate::play::replay::replay;
use crate::play::setup::recorded_reproduce_command;
use crate::record::{BotIndex, Record, RecordSummary};
use crate::session::registry::{self, Choices};
use crate::text::escape_controls;

/// The maximal length of a command, in characters.
const COMMAND_CHARS: usize = 1000;

/// Commands are kept for so many kinds of faults of a bot.
const MOST_KINDS: usize = 20;

/// The answer of a bot that took the largest share of its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Longest {
    ms: f64,
    limit_ms: f64,
    /// The game's number on the page, and the turn, both from 1.
    game: u64,
    turn: usize,
}

/// What one bot should mend.
#[derive(Clone, Debug, Default)]
pub(super) struct Mend {
    /// By the reason of a forfeit: the first game with it, and the command that asks the bot the same again.
    again: BTreeMap<String, (u64, String)>,
    longest: Option<Longest>,
}

impl Mend {
    /// Adds a game of the bot `side`. `number` is its number on the page; commands are kept if they may be `shown`.
    pub(super) fn add(
        &mut self,
        record: &Record,
        game: &RecordSummary<'_>,
        side: BotIndex,
        number: u64,
        shown: bool,
    ) {
        self.note_times(record, game, side, number);
        let is_own = record.result.by == Some(side);
        let reason = escape_controls(record.result.reason.name());
        if !shown || !is_own || self.again.len() >= MOST_KINDS || self.again.contains_key(&reason) {
            return;
        }
        if let Some(command) = again(record, side) {
            let command = cut(&escape_controls(&command), COMMAND_CHARS);
            self.again.insert(reason, (number, command));
        }
    }

    fn note_times(
        &mut self,
        record: &Record,
        game: &RecordSummary<'_>,
        side: BotIndex,
        number: u64,
    ) {
        let Some(process) = record
            .processes
            .as_ref()
            .and_then(|both| both[side].as_ref())
        else {
            return;
        };
        let limit = process.move_time.filter(|&limit| limit > 0.0);
        let Some(limit_ms) = limit.map(|limit| limit * 1000.0) else {
            return;
        };
        // The first answer of a fresh process has more time.
        let fresh = usize::from(process.since.is_none());
        let turns = game.times_ms.iter().enumerate();
        let seat = usize::from(game.first != side);
        let own = turns.filter(|&(turn, _)| game.side_of(turn) == seat);
        for (turn, &ms) in own.skip(fresh) {
            if self
                .longest
                .is_none_or(|longest| ms * longest.limit_ms > longest.ms * limit_ms)
            {
                self.longest = Some(Longest {
                    ms,
                    limit_ms,
                    game: number,
                    turn: turn + 1,
                });
            }
        }
    }

    pub(super) fn as_json(&self) -> Value {
        json!({
            "again": self.again,
            "longest": self.longest.map(|longest| (longest.ms, longest.limit_ms, longest.game, longest.turn)),
        })
    }
}

/// The command that asks the bot that forfeited the same again; `None` where it is unknown.
fn again(record: &Record, by: BotIndex) -> Option<String> {
    // The file of another piece set is not known here.
    if !record.was_played() || record.pieces.is_some() {
        return None;
    }
    let ruleset = registry::find(&record.game)?.ruleset(Choices {
        rules: Rules::from_name(&record.rules)?,
        set: PieceSet::default(),
        ..Choices::default()
    });
    let last = replay(&*ruleset, record, &mut ()).ok()?;
    let mut request = String::new();
    last.write_request(&mut request);
    recorded_reproduce_command(record, by, None, request.trim_end_matches('\n'))
}
