//! One game between two players: the only place where rules, players and clocks meet.

pub mod adjudicator;
pub mod match_runner;
pub mod replay;
pub mod scoresheet;
pub mod seat;
pub mod stall;

use std::io;
use std::time::Duration;

use crate::bot::fault::{Came, Doing};
use crate::bot::{Allowance, Fault, Player};
use crate::game::{Game, Outcome, Position, Rejection, Side};
use crate::protocol::{NotUtf8, answer_text};
use crate::record::TurnText;

/// The limits on a player's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    /// For every move.
    pub move_time: Duration,
    /// On top, for the first answer of a fresh process.
    pub start_time: Duration,
    /// For all moves of a game together.
    pub game_time: Option<Duration>,
    /// Added to the game clock after every move.
    pub increment: Duration,
}

impl Default for TimeControl {
    fn default() -> Self {
        Self {
            move_time: Duration::from_secs(10),
            start_time: Duration::from_secs(10),
            game_time: None,
            increment: Duration::ZERO,
        }
    }
}

/// One side's clock in one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    control: TimeControl,
    left: Option<Duration>,
}

impl Clock {
    /// A full clock.
    pub const fn new(control: TimeControl) -> Self {
        Self {
            control,
            left: control.game_time,
        }
    }

    /// The time for the next move.
    pub fn allowance(&self) -> Allowance {
        let move_time = self.control.move_time;
        Allowance {
            time: self.left.map_or(move_time, |left| left.min(move_time)),
            start: self.control.start_time,
            clock: self.left.is_some_and(|left| left < move_time),
        }
    }

    /// Takes the time of a move off; the time to start is not counted.
    pub fn spend(&mut self, elapsed: Duration, fresh: bool) {
        if let Some(left) = &mut self.left {
            let start = if fresh {
                self.control.start_time
            } else {
                Duration::ZERO
            };
            *left = left
                .saturating_sub(elapsed.saturating_sub(start))
                .saturating_add(self.control.increment);
        }
    }
}

/// Somebody who watches a game go on.
pub trait Watch<G: Game> {
    /// A side was sent a request (with its newline).
    fn asked(&mut self, side: Side, request: &str) -> io::Result<()> {
        let _ = (side, request);
        Ok(())
    }

    /// A side answered, whatever it is worth.
    fn answered(&mut self, side: Side, line: &[u8], elapsed: Duration) -> io::Result<()> {
        let _ = (side, line, elapsed);
        Ok(())
    }

    /// A legal turn was made.
    fn turn(
        &mut self,
        side: Side,
        before: &G::Position,
        turn: G::Turn,
        after: &G::Position,
        elapsed: Duration,
    ) -> io::Result<()> {
        let _ = (side, before, turn, after, elapsed);
        Ok(())
    }

    /// Asked after every turn with which the game goes on: an outcome ends it all the same.
    fn adjudicate(&mut self, position: &G::Position) -> Option<Outcome> {
        let _ = position;
        None
    }
}

/// Nobody watches.
impl<G: Game> Watch<G> for () {}

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// By the rules.
    Outcome(Outcome),
    /// Before it was played out: this is what best play leads to.
    Adjudicated(Outcome),
    /// This side broke the protocol, and lost.
    Forfeit(Side, Box<Fault>),
}

/// A finished game.
#[derive(Clone, Debug, PartialEq)]
pub struct Played<G: Game> {
    /// The turns in canonical form.
    pub turns: Vec<TurnText>,
    /// The time of each.
    pub times: Vec<Duration>,
    /// The position after the last legal turn.
    pub position: G::Position,
    /// How it ended.
    pub end: End,
}

/// Most turns that a game is expected to have; more only cost an allocation.
const TURNS: usize = 17;

/// Plays one game. `players` and `clocks` are in the order of the sides.
///
/// An `Err` is a failure of the referee; what a player does wrong is an [`End::Forfeit`].
pub async fn play<G: Game, P: Player>(
    game: &G,
    start: &G::Position,
    players: [&mut P; 2],
    mut clocks: [Clock; 2],
    watch: &mut impl Watch<G>,
) -> io::Result<Played<G>> {
    let mut position = start.clone();
    let mut turns = Vec::with_capacity(TURNS);
    let mut times = Vec::with_capacity(TURNS);
    let mut request = String::with_capacity(64);
    let mut canonical = String::with_capacity(8);
    let end = loop {
        if let Some(outcome) = position.outcome() {
            break End::Outcome(outcome);
        }
        if !turns.is_empty()
            && let Some(outcome) = watch.adjudicate(&position)
        {
            break End::Adjudicated(outcome);
        }
        let side = position.to_move();
        let player = &mut *players[side.index()];
        let clock = &mut clocks[side.index()];
        let turned = take_turn(
            game,
            &position,
            player,
            clock.allowance(),
            &mut request,
            watch,
        );
        let Turned {
            turn,
            after,
            elapsed,
            fresh,
        } = match turned.await? {
            Ok(turned) => turned,
            Err(fault) => break End::Forfeit(side, Box::new(fault)),
        };
        clock.spend(elapsed, fresh);
        watch.turn(side, &position, turn, &after, elapsed)?;
        canonical.clear();
        game.write_turn(turn, &mut canonical);
        turns.push(TurnText::from(canonical.as_str()));
        times.push(elapsed);
        position = after;
    };
    Ok(Played {
        turns,
        times,
        position,
        end,
    })
}

/// A turn that a player made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turned<G: Game> {
    /// The turn.
    pub turn: G::Turn,
    /// The position it led to.
    pub after: G::Position,
    /// How long the player took.
    pub elapsed: Duration,
    /// Whether it was the first answer of a fresh process.
    pub fresh: bool,
}

/// Asks a player for one turn and judges the answer. `request` is only room to write in.
pub async fn take_turn<G: Game, P: Player>(
    game: &G,
    position: &G::Position,
    player: &mut P,
    allowance: Allowance,
    request: &mut String,
    watch: &mut impl Watch<G>,
) -> io::Result<Result<Turned<G>, Fault>> {
    let side = position.to_move();
    request.clear();
    game.write_request(position, request);
    request.push('\n');
    watch.asked(side, request)?;
    let reply = match player.ask(request, allowance).await? {
        Ok(reply) => reply,
        Err(fault) => return Ok(Err(explain(game, position, fault))),
    };
    let (elapsed, fresh) = (reply.elapsed, reply.fresh);
    watch.answered(side, reply.line, elapsed)?;
    match judge(game, position, reply.line) {
        Ok((turn, after)) => Ok(Ok(Turned {
            turn,
            after,
            elapsed,
            fresh,
        })),
        Err(fault) => Ok(Err(look_for_second_line(player, fault).await)),
    }
}

/// A line's turn, or what is wrong with it.
fn judge<G: Game>(
    game: &G,
    position: &G::Position,
    line: &[u8],
) -> Result<(G::Turn, G::Position), Fault> {
    let answer = || line.to_vec();
    let text = answer_text(line).map_err(|NotUtf8| Fault::NotUtf8 { answer: answer() })?;
    game.judge(position, text)
        .map_err(|rejection| match rejection {
            Rejection::Malformed(problem) => Fault::Malformed {
                answer: answer(),
                problem,
            },
            Rejection::Illegal(problem) => Fault::IllegalMove {
                answer: answer(),
                problem,
            },
        })
}

/// A senseless line is often debugging text before the answer proper. Then the
/// helpful thing to say is that there were two lines.
async fn look_for_second_line<P: Player>(player: &mut P, fault: Fault) -> Fault {
    let Fault::Malformed { answer, problem } = fault else {
        return fault;
    };
    let second = player.overhear().await;
    if second.is_empty() {
        Fault::Malformed { answer, problem }
    } else {
        Fault::ExtraOutput {
            first: answer,
            second,
            early: false,
        }
    }
}

/// Finds out whether what a bot said after its time was a good answer that had been
/// stuck in its output buffer.
fn explain<G: Game>(game: &G, position: &G::Position, mut fault: Fault) -> Fault {
    if let Fault::Timeout(timeout) = &mut fault
        && timeout.came == Came::Nothing(Doing::Waiting)
    {
        // A program that was still computing was late rather than buffering.
        let line = timeout
            .afterwards
            .split(|&byte| byte == b'\n')
            .next()
            .unwrap_or_default();
        if judge(game, position, line).is_ok() {
            timeout.came = Came::Buffered(line.to_vec());
        }
    }
    fault
}
