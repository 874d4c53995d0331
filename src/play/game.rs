//! Plays the turns of one game, by the rules and with clocks.

use std::io;
use std::time::Duration;

use super::adjudicator::Adjudicator;
use super::clock::Clock;
use super::observer::GameObserver;
use super::turn::{TextBuffers, take_turn};
use crate::bot::{Fault, Player};
use crate::game::{Outcome, Side};
use crate::record::TurnText;
use crate::session::Session;

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// By the rules.
    Outcome(Outcome),
    /// Before it was played out: the result of best play.
    Adjudicated(Outcome),
    /// This side committed a fault, and lost.
    Forfeit(Side, Box<Fault>),
}

/// The turns of a finished game.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// The turns in canonical form.
    pub turns: Vec<TurnText>,
    /// The time of each.
    pub times: Vec<Duration>,
    /// What was charged for each; empty when that was its time for all.
    pub charged: Vec<Duration>,
    /// How it ended.
    pub end: End,
}

/// The number of turns for which memory is allocated in advance.
const TURNS: usize = 17;

/// Plays a game to its end, which leaves `session` in the last position. `players` and `clocks` are in
/// the order of the sides.
///
/// An `Err` is a failure of the referee; a player's fault is an [`End::Forfeit`].
pub async fn play<P: Player>(
    session: &mut dyn Session,
    players: [&mut P; 2],
    mut clocks: [Clock; 2],
    adjudicator: &dyn Adjudicator,
    observer: &mut dyn GameObserver,
) -> io::Result<Played> {
    let mut turns = Vec::with_capacity(TURNS);
    let mut times = Vec::with_capacity(TURNS);
    let mut charged: Vec<Duration> = Vec::new();
    let mut text = TextBuffers {
        request: String::with_capacity(64),
        turn: String::with_capacity(8),
    };
    let end = loop {
        if let Some(outcome) = session.outcome() {
            break End::Outcome(outcome);
        }
        if !turns.is_empty()
            && let Some(outcome) = adjudicator.adjudicate(session)
        {
            break End::Adjudicated(outcome);
        }
        let side = session.to_move();
        let player = &mut *players[side.index()];
        let clock = &mut clocks[side.index()];
        let allowance = clock.allowance();
        let time = match take_turn(session, player, allowance, &mut text, observer).await? {
            Ok(time) => time,
            Err(fault) => break End::Forfeit(side, Box::new(fault)),
        };
        clock.spend(time.charged, time.fresh);
        if charged.is_empty() && time.charged != time.elapsed {
            charged.clone_from(&times);
        }
        turns.push(TurnText::from(text.turn.as_str()));
        times.push(time.elapsed);
        if time.charged != time.elapsed || !charged.is_empty() {
            charged.push(time.charged);
        }
    };
    Ok(Played {
        turns,
        times,
        charged,
        end,
    })
}
