use std::time::Duration;

use super::game::{GameEvent, proven_result};
use crate::record::{BotIndex, Reason, Record};
use referee_games::game::{Game, Outcome, Ruleset};
use referee_text::{escape_controls, quote};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", .turn.map_or_else(String::new, |turn| format!("turn {turn}: ")))]
pub struct Violation {
    /// From 1; `None` when the problem is not about a single turn.
    pub turn: Option<usize>,
    /// What is wrong and what was expected, as a sentence.
    pub problem: String,
}

pub fn start_of(ruleset: &dyn Ruleset, record: &Record) -> Result<Box<dyn Game>, Violation> {
    let started = ruleset.start_from(&record.start);
    started.map_err(|problem| Violation {
        turn: None,
        problem: format!("the board at the start: {problem}"),
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
        let problem = format!("{turns} turns but {times} times; expected one time a turn");
        return Err(whole(problem));
    }
    if let Some(movers) = &record.movers
        && (movers.len() != turns || movers.bytes().any(|mover| !b"01".contains(&mover)))
    {
        let movers = quote(movers.as_bytes());
        let problem = format!("movers is {movers}; expected 0 or 1 for each of {turns} turns");
        return Err(whole(problem));
    }
    let mut canonical = String::new();
    for (index, answer) in record.turns.iter().enumerate() {
        let violation = |problem: String| Violation {
            turn: Some(index + 1),
            problem,
        };
        if game.outcome().is_some() {
            return Err(violation(format!(
                "{} comes after the end of the game",
                quote(answer.as_bytes())
            )));
        }
        let side = game.to_move();
        if side.index() != record.side_of(index) {
            let problem = "the record says that the other side made it (movers)";
            return Err(violation(problem.to_owned()));
        }
        game.play(answer, &mut canonical)
            .map_err(|rejection| violation(format!("{}: {rejection}", quote(answer.as_bytes()))))?;
        if canonical != **answer {
            return Err(violation(format!(
                "{} is not in canonical form; expected {}",
                quote(answer.as_bytes()),
                quote(canonical.as_bytes())
            )));
        }
        let elapsed = record.times_ms.get(index).copied().unwrap_or(0.0);
        let elapsed = Duration::try_from_secs_f64(elapsed / 1000.0)
            .map_err(|_| violation(format!("its time, {elapsed} ms, is not a duration")))?;
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
    check_result(ruleset, record, &*game).map_err(whole)?;
    Ok(game)
}

/// Escaped; `no bot` where there is none.
fn named(record: &Record, bot: Option<BotIndex>) -> String {
    bot.map_or_else(
        || "no bot".to_owned(),
        |bot| escape_controls(&record.bots[bot].name),
    )
}

fn listed(lines: &[(String, String)]) -> String {
    if lines.is_empty() {
        return "none".to_owned();
    }
    let lines: Vec<String> = lines
        .iter()
        .map(|(a, b)| escape_controls(&format!("{a} {b}")))
        .collect();
    lines.join(", ")
}

/// The error is what is wrong, as a sentence.
fn check_result(ruleset: &dyn Ruleset, record: &Record, last: &dyn Game) -> Result<(), String> {
    let result = &record.result;
    let sides = [record.first, record.first.other()];
    let winner_of = |outcome| match outcome {
        Outcome::Draw => None,
        Outcome::Win(side) => Some(sides[side.index()]),
    };
    let (winner, by_what) = match (last.outcome(), result.adjudicated) {
        (Some(_), true) => {
            return Err(
                "the result is marked as adjudicated, but the game ended by the rules".to_owned(),
            );
        }
        (Some(outcome), false) => (winner_of(outcome), "by the rules"),
        (None, false) => return check_forfeit(record, sides[last.to_move().index()]),
        (None, true) => {
            if let Some(outcome) = proven_result(last) {
                (winner_of(outcome), "by best play")
            } else {
                let board = last.request();
                tracing::warn!(
                    target: crate::log_target::GAME,
                    "{board}: the game was adjudicated, but its result could not be proven again within the limit"
                );
                (result.winner, "by its adjudication")
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
        return Err(format!(
            "the winner is {}; {by_what} it is {}",
            named(record, result.winner),
            named(record, winner)
        ));
    }
    if result.reason != reason {
        return Err(format!(
            "the result's reason is {}; {by_what} it is `{reason}`",
            quote(result.reason.name().as_bytes())
        ));
    }
    if result.lines != lines {
        return Err(format!(
            "the winning lines are {}; {by_what} they are {}",
            listed(&result.lines),
            listed(&lines)
        ));
    }
    if result.by.is_some() {
        return Err(format!(
            "a forfeit by {}, but the game ended {by_what}",
            named(record, result.by)
        ));
    }
    Ok(())
}

/// A game that is not over, and not adjudicated, must have been forfeited by the side to move.
fn check_forfeit(record: &Record, to_move: BotIndex) -> Result<(), String> {
    let result = &record.result;
    if !matches!(result.reason, Reason::Forfeit(_)) {
        return Err(format!(
            "the game is not over after its last turn, but the result's reason is {}; expected a forfeit's",
            quote(result.reason.name().as_bytes())
        ));
    }
    if !result.lines.is_empty() {
        return Err(format!(
            "a forfeit with the winning lines {}; expected none",
            listed(&result.lines)
        ));
    }
    // A benched bot forfeits games that are not played, whichever side is to move.
    let unplayed = record.turns.is_empty();
    match (result.by, result.winner) {
        (Some(by), Some(winner)) if winner == by.other() && (by == to_move || unplayed) => Ok(()),
        (by, winner) => Err(format!(
            "a forfeit by {} and a win by {}; {} was to move",
            named(record, by),
            named(record, winner),
            named(record, Some(to_move))
        )),
    }
}
