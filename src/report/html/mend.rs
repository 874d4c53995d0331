//! What each bot should fix first: its faults with commands, and its longest share of a limit.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::limits::cut;
use crate::game::quarto::{PieceSet, Rules};
use crate::play::replay::replay;
use crate::play::reproduce::recorded_reproduce_command;
use crate::record::{BotIndex, Record, RecordSummary};
use crate::session::registry::{self, Choices};
use crate::text::escape_controls;

/// Characters of a command.
const COMMAND_CHARS: usize = 1000;

/// Kinds of faults with a command, for each bot.
const MOST_KINDS: usize = 20;

/// The answer with the largest share of its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Longest {
    ms: f64,
    limit_ms: f64,
    /// Game and turn on the page, from 1.
    game: u64,
    turn: usize,
}

/// For one bot.
#[derive(Clone, Debug, Default)]
pub(super) struct Mend {
    /// By reason of the forfeit: the first such game, and the command that repeats the question.
    again: BTreeMap<String, (u64, String)>,
    longest: Option<Longest>,
}

impl Mend {
    /// A game of the bot `side`; `number` on the page. `shown`: whether commands are kept.
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
        // A fresh process has more time for its first answer.
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

/// Repeats the question to the bot that forfeited; `None` if unknown.
fn again(record: &Record, by: BotIndex) -> Option<String> {
    // The file of another piece set is unknown.
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
