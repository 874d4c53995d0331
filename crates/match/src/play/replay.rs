use std::time::Duration;

use super::game::{GameEvent, proven_result};
use super::violation::{EndedBy, Violation, ViolationKind, WrongResult};
use crate::record::{BotIndex, Reason, Record};
use referee_games::game::{Game, Outcome, Ruleset};

pub fn start_of(ruleset: &dyn Ruleset, record: &Record) -> Result<Box<dyn Game>, Violation> {
    let started = ruleset.start_from(&record.start);
    started.map_err(|problem| Violation {
        turn: None,
        problem: ViolationKind::Start(problem.to_string()),
    })
}

/// Returns the last position. Checks all fields of the record that follow from the rules.
pub fn replay(
    ruleset: &dyn Ruleset,
    record: &Record,
    observer: &mut dyn FnMut(&GameEvent<'_>),
) -> Result<Box<dyn Game>, Violation> {
    let mut game = start_of(ruleset, record)?;
    let whole = |problem| Violation {
        turn: None,
        problem,
    };
    let (turns, times) = (record.turns.len(), record.times_ms.len());
    if times != turns {
        return Err(whole(ViolationKind::Times { turns, times }));
    }
    if let Some(movers) = &record.movers
        && (movers.len() != turns || movers.bytes().any(|mover| !b"01".contains(&mover)))
    {
        let movers = movers.clone();
        return Err(whole(ViolationKind::Movers { movers, turns }));
    }
    let mut canonical = String::new();
    for (index, answer) in record.turns.iter().enumerate() {
        let violation = |problem| Violation {
            turn: Some(index + 1),
            problem,
        };
        if game.outcome().is_some() {
            return Err(violation(ViolationKind::AfterEnd(answer.clone())));
        }
        let side = game.to_move();
        if side.index() != record.side_of(index) {
            return Err(violation(ViolationKind::OtherSide));
        }
        game.play(answer, &mut canonical).map_err(|rejection| {
            let answer = answer.clone();
            violation(ViolationKind::Rejected { answer, rejection })
        })?;
        if canonical != **answer {
            let answer = answer.clone();
            return Err(violation(ViolationKind::NotCanonical { answer, canonical }));
        }
        let elapsed = record.times_ms.get(index).copied().unwrap_or(0.0);
        let elapsed = Duration::try_from_secs_f64(elapsed / 1000.0)
            .map_err(|_| violation(ViolationKind::Time(elapsed)))?;
        if let Some(entry) = record.info.iter().find(|entry| entry.turn == index + 1) {
            let info = &entry.values;
            observer(&GameEvent::Info { side, info });
        }
        observer(&GameEvent::Turn {
            side,
            turn: &canonical,
            after: &*game,
            elapsed,
        });
    }
    check_result(ruleset, record, &*game).map_err(|wrong| whole(wrong.into()))?;
    Ok(game)
}

fn check_result(
    ruleset: &dyn Ruleset,
    record: &Record,
    last: &dyn Game,
) -> Result<(), WrongResult> {
    let result = &record.result;
    let sides = [record.first, record.first.other()];
    let winner_of = |outcome| match outcome {
        Outcome::Draw => None,
        Outcome::Win(side) => Some(sides[side.index()]),
    };
    let (winner, by) = match (last.outcome(), result.adjudicated) {
        (Some(_), true) => return Err(WrongResult::Adjudicated),
        (Some(outcome), false) => (winner_of(outcome), EndedBy::Rules),
        (None, false) => return check_forfeit(record, sides[last.to_move().index()]),
        (None, true) => {
            if let Some(outcome) = proven_result(last) {
                (winner_of(outcome), EndedBy::BestPlay)
            } else {
                let board = last.request();
                tracing::warn!(
                    target: crate::log_target::GAME,
                    "{board}: the game was adjudicated, but its result could not be proven again within the limit"
                );
                (result.winner, EndedBy::Adjudication)
            }
        }
    };
    let reason = winner.map_or(Reason::Draw, |_| ruleset.name().into());
    let lines = if result.adjudicated {
        Vec::new()
    } else {
        last.winning_lines()
    };
    if result.winner != winner {
        return Err(WrongResult::Winner {
            found: name(record, result.winner),
            expected: name(record, winner),
            by,
        });
    }
    if result.reason != reason {
        return Err(WrongResult::Reason {
            found: result.reason.clone(),
            expected: reason,
            by,
        });
    }
    if result.lines != lines {
        return Err(WrongResult::Lines {
            found: result.lines.clone(),
            expected: lines,
            by,
        });
    }
    match name(record, result.by) {
        Some(forfeiter) => Err(WrongResult::NoForfeit { forfeiter, by }),
        None => Ok(()),
    }
}

/// A game that is not over, and not adjudicated, must have been forfeited by the side to move.
fn check_forfeit(record: &Record, to_move: BotIndex) -> Result<(), WrongResult> {
    let result = &record.result;
    if !matches!(result.reason, Reason::Forfeit(_)) {
        return Err(WrongResult::NotOver(result.reason.clone()));
    }
    if !result.lines.is_empty() {
        return Err(WrongResult::LinesOfForfeit(result.lines.clone()));
    }
    // A benched bot forfeits games that are not played, whichever side is to move.
    let unplayed = record.turns.is_empty();
    match (result.by, result.winner) {
        (Some(by), Some(winner)) if winner == by.other() && (by == to_move || unplayed) => Ok(()),
        (by, winner) => Err(WrongResult::Forfeit {
            forfeiter: name(record, by),
            winner: name(record, winner),
            to_move: record.bots[to_move].name.clone(),
        }),
    }
}

fn name(record: &Record, bot: Option<BotIndex>) -> Option<String> {
    bot.map(|bot| record.bots[bot].name.clone())
}
