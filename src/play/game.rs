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
    /// Who made each, as a record holds it; `None` when the sides took turns.
    pub movers: Option<String>,
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
    let mut movers: Option<String> = None;
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
        observer.to_move(side, &clocks)?;
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
        if movers.is_none() && side.index() != turns.len() % 2 {
            movers = Some((0..turns.len()).map(|turn| digit(turn % 2)).collect());
        }
        if let Some(movers) = &mut movers {
            movers.push(digit(side.index()));
        }
        turns.push(TurnText::from(text.turn.as_str()));
        times.push(time.elapsed);
        if time.charged != time.elapsed || !charged.is_empty() {
            charged.push(time.charged);
        }
    };
    Ok(Played {
        turns,
        movers,
        times,
        charged,
        end,
    })
}

/// A side in a record.
const fn digit(side: usize) -> char {
    if side == 0 { '0' } else { '1' }
}

#[cfg(test)]
mod tests {
    use std::vec::IntoIter;

    use super::super::adjudicator::PlayOut;
    use super::super::clock::TimeControl;
    use super::*;
    use crate::bot::{Allowance, Reply};
    use crate::game::quarto::Edition;
    use crate::session::Ruleset as _;

    /// Gives each answer with the milliseconds that it took, and those that count.
    struct Timed(IntoIter<(&'static str, u64, u64)>);

    impl Player for Timed {
        async fn ask(&mut self, _: &str, _: Allowance) -> io::Result<Result<Reply<'_>, Fault>> {
            let (line, elapsed, charged) = self.0.next().expect("a further answer");
            Ok(Ok(Reply {
                line: line.as_bytes(),
                elapsed: Duration::from_millis(elapsed),
                charged: Duration::from_millis(charged),
                fresh: false,
            }))
        }
    }

    /// What a game is charged whose five answers take this long, and of which this counts.
    fn charged(times: [(u64, u64); 5]) -> (Vec<u64>, Vec<u64>) {
        let answers = ["- A", "1 B", "2 C", "3 D", "4 -"];
        let of = |side| {
            let answers = answers.iter().zip(times).skip(side).step_by(2);
            let answers: Vec<_> = answers
                .map(|(answer, (elapsed, charged))| (*answer, elapsed, charged))
                .collect();
            Timed(answers.into_iter())
        };
        let (mut first, mut second) = (of(0), of(1));
        let edition = Edition::default();
        let mut session = edition.start();
        let clocks = [Clock::new(TimeControl::default()); 2];
        let played = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(play(
                &mut *session,
                [&mut first, &mut second],
                clocks,
                &PlayOut,
                &mut (),
            ))
            .unwrap();
        let milliseconds = |times: &[Duration]| -> Vec<u64> {
            let whole = times.iter().map(Duration::as_millis);
            whole.map(|time| u64::try_from(time).unwrap()).collect()
        };
        (milliseconds(&played.times), milliseconds(&played.charged))
    }

    #[test]
    fn charges_are_noted_for_every_turn_or_for_none() {
        let times = vec![1, 2, 3, 4, 5];
        let same = [1, 2, 3, 4, 5].map(|time| (time, time));
        assert_eq!(charged(same), (times.clone(), vec![]));
        for excused in 0..5 {
            let mut part = same;
            part[excused].1 = 0;
            let mut expected = times.clone();
            expected[excused] = 0;
            assert_eq!(charged(part), (times.clone(), expected));
        }
    }
}
