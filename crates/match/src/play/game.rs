use std::io;
use std::mem;
use std::time::Duration;

use super::clock::Clock;
use super::game_runner::GameFault;
use super::setup::GameSetup;
use crate::bot::fault::{ProcessState, TimeoutEvidence};
use crate::bot::info::Info;
use crate::bot::{Allowance, Fault, OtherOutput, Player};
use crate::protocol::{NotUtf8, answer_text};
use crate::record::{BotIndex, FinishedRecord, InfoEntry, TurnText};
use referee_games::game::{Game, Outcome, Rejection, Side};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Outcome(Outcome),
    /// The result of best play, before the game was played out.
    Adjudicated(Outcome),
    Forfeit(Side, Box<Fault>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// In canonical form.
    pub turns: Vec<TurnText>,
    /// The movers as a record holds them; `None` when the sides took turns.
    pub movers: Option<String>,
    pub times: Vec<Duration>,
    /// Empty when each turn was charged its time.
    pub charged: Vec<Duration>,
    pub info: Vec<InfoEntry>,
    pub end: End,
}

const TURNS: usize = 17;

/// Leaves `game` in the last position. `players` and `clocks` are in the order of the sides. With `adjudicate` the
/// game ends once its value is proven.
///
/// An `Err` is a failure of the referee; a player's fault is an [`End::Forfeit`].
pub async fn play<P: Player>(
    game: &mut dyn Game,
    players: [&mut P; 2],
    mut clocks: [Clock; 2],
    adjudicate: bool,
    observer: &mut Observer<'_>,
) -> io::Result<Played> {
    let mut turns = Vec::with_capacity(TURNS);
    let mut times = Vec::with_capacity(TURNS);
    let mut charged: Vec<Duration> = Vec::with_capacity(TURNS);
    let mut movers = Vec::with_capacity(TURNS);
    let mut info = Vec::new();
    let mut text = TextBuffers::default();
    let end = loop {
        if let Some(outcome) = game.outcome() {
            break End::Outcome(outcome);
        }
        // No clock runs meanwhile.
        if adjudicate
            && !turns.is_empty()
            && let Some(outcome) = game.prove(NODES)
        {
            break End::Adjudicated(outcome);
        }
        let side = game.to_move();
        observer(&GameEvent::ToMove {
            side,
            clocks: &clocks,
        })?;
        let player = &mut *players[side.index()];
        let clock = &mut clocks[side.index()];
        let allowance = clock.allowance();
        let turn = take_turn(game, player, allowance, &mut text, observer).await?;
        if !text.info.is_empty() {
            let (turn, values) = (turns.len() + 1, mem::take(&mut text.info));
            info.push(InfoEntry { turn, values });
        }
        let time = match turn {
            Ok(time) => time,
            Err(fault) => break End::Forfeit(side, Box::new(fault)),
        };
        clock.spend(time.charged, time.fresh);
        movers.push(side.index());
        turns.push(TurnText::from(text.turn.as_str()));
        times.push(time.elapsed);
        charged.push(time.charged);
    };
    if charged == times {
        charged.clear();
    }
    let take_turns = movers
        .iter()
        .enumerate()
        .all(|(turn, side)| *side == turn % 2);
    let movers = (!take_turns).then(|| movers.iter().map(usize::to_string).collect());
    Ok(Played {
        turns,
        movers,
        times,
        charged,
        info,
        end,
    })
}

/// For a position of a game that is being played: some 50 ms on one core. A limit in nodes, searched with an empty
/// table: the same turns lead to the same result on every machine.
const NODES: u64 = 200_000;

/// More than for a game: every adjudicated result can be proven again.
const NODES_TO_CHECK: u64 = 2_000_000;

/// The result of a game adjudicated here; `None` when it cannot be proven.
pub fn proven_result(game: &dyn Game) -> Option<Outcome> {
    game.prove(NODES_TO_CHECK)
}

/// What happens in a game, and in a match of several.
#[derive(Clone, Copy, Debug)]
pub enum GameEvent<'a> {
    /// Both players are ready. A void game begins again.
    Begins {
        setup: &'a GameSetup<'a>,
        start: &'a dyn Game,
    },
    /// The clocks are in the order of the sides.
    ToMove { side: Side, clocks: &'a [Clock; 2] },
    /// The request ends with a newline.
    Asked { side: Side, request: &'a str },
    /// The line may be illegal.
    Answered {
        side: Side,
        line: &'a [u8],
        elapsed: Duration,
    },
    /// What the bot said of its thinking before this answer.
    Info { side: Side, info: &'a Info },
    /// The turn is legal, in canonical form, and led to `after`.
    Turn {
        side: Side,
        turn: &'a str,
        after: &'a dyn Game,
        elapsed: Duration,
    },
    /// A clock ran out for which the referee may be to blame. The game is void and is played `again`, or it counts
    /// because it has been void too often.
    Stalled { why: &'a str, again: bool },
    /// In a match: one of its games.
    Ended {
        game: &'a FinishedRecord,
        fault: Option<&'a GameFault>,
    },
    /// In a match: this bot failed to give a first answer so many times in a row.
    Benched {
        bot: BotIndex,
        failures: u32,
        games_left: u64,
    },
}

/// No clock runs meanwhile. An `Err` is a failure of the referee and ends the game.
pub type Observer<'a> = dyn FnMut(&GameEvent<'_>) -> io::Result<()> + 'a;

/// Reused for every turn of a game.
#[derive(Clone, Debug, Default)]
pub struct TextBuffers {
    pub request: String,
    /// In canonical form.
    pub turn: String,
    pub info: Info,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnTime {
    /// From just before the request was written until the answer was read.
    pub elapsed: Duration,
    /// The part of it that counts; with a clock of CPU time, that time.
    pub charged: Duration,
    /// Whether it was the first answer of a fresh process.
    pub fresh: bool,
}

/// Asks `player`, who is to move, for one turn and makes it. On a [`Fault`] of the player the game is unchanged.
/// An `Err` is a failure of the referee.
pub async fn take_turn<P: Player>(
    game: &mut dyn Game,
    player: &mut P,
    allowance: Allowance,
    text: &mut TextBuffers,
    observer: &mut Observer<'_>,
) -> io::Result<Result<TurnTime, Fault>> {
    let side = game.to_move();
    text.request = game.request();
    if player.is_told_answers() {
        text.request += &game.answers();
    }
    text.request.push('\n');
    let request = &text.request;
    observer(&GameEvent::Asked { side, request })?;
    let reply = match player.ask(request, allowance).await? {
        Ok(reply) => reply,
        Err(fault) => {
            text.info = player.take_info();
            let fault = find_held_back_answer(game, fault);
            return Ok(Err(find_printed_error(player, fault).await));
        }
    };
    let time = TurnTime {
        elapsed: reply.elapsed,
        charged: reply.charged,
        fresh: reply.fresh,
    };
    let (line, elapsed) = (reply.line, reply.elapsed);
    observer(&GameEvent::Answered {
        side,
        line,
        elapsed,
    })?;
    let judged = judge(line, |answer| game.play(answer, &mut text.turn));
    text.info = player.take_info();
    if !text.info.is_empty() {
        let info = &text.info;
        observer(&GameEvent::Info { side, info })?;
    }
    let fault = match judged {
        Ok(()) => {
            observer(&GameEvent::Turn {
                side,
                turn: &text.turn,
                after: game,
                elapsed,
            })?;
            return Ok(Ok(time));
        }
        Err(fault) => fault,
    };
    let fault = find_second_line(player, fault).await;
    Ok(Err(find_printed_error(player, fault).await))
}

/// The error is what is wrong with the line.
fn judge(line: &[u8], accept: impl FnOnce(&str) -> Result<(), Rejection>) -> Result<(), Fault> {
    let answer = || line.to_vec();
    let text = answer_text(line).map_err(|NotUtf8| Fault::NotUtf8 { answer: answer() })?;
    accept(text).map_err(|rejection| Fault::Rejected {
        answer: answer(),
        rejection,
    })
}

/// A rejected line is often one of two: debugging output before the answer, or a second line after the previous one.
/// Then the fault to report is that there were two lines.
async fn find_second_line<P: Player>(player: &mut P, fault: Fault) -> Fault {
    let Some(answer) = fault.rejected() else {
        return fault;
    };
    match player.other_output().await {
        OtherOutput::Nothing => fault,
        OtherOutput::Before(first) => Fault::ExtraOutput {
            first,
            second: [answer, &b"\n"[..]].concat(),
            early: true,
        },
        OtherOutput::After(second) => Fault::ExtraOutput {
            first: answer.to_vec(),
            second,
            early: false,
        },
    }
}

/// The most that is read of an error message.
const MESSAGE_BYTES: usize = 4096;

/// A line that is not an answer may be the first of an error message, of which the last says what is wrong.
async fn find_printed_error<P: Player>(player: &mut P, fault: Fault) -> Fault {
    if !fault.may_be_printed_error() {
        return fault;
    }
    let mut rest = Vec::new();
    while rest.len() < MESSAGE_BYTES {
        match player.drain().await {
            more if more.is_empty() => break,
            more => rest.extend(more),
        }
    }
    fault.as_printed_error(&rest)
}

/// What a bot wrote after its time may be a legal answer that it had held back until its input was closed.
fn find_held_back_answer(game: &dyn Game, mut fault: Fault) -> Fault {
    if let Fault::Timeout(timeout) = &mut fault
        && let TimeoutEvidence::Nothing(ProcessState::Waiting | ProcessState::Unknown) =
            timeout.evidence
    {
        // A program that was still computing was late, and held nothing back.
        let line = timeout
            .afterwards
            .split(|&byte| byte == b'\n')
            .next()
            .unwrap_or_default();
        if judge(line, |answer| game.after(answer).map(drop)).is_ok() {
            timeout.evidence = TimeoutEvidence::HeldBack(line.to_vec());
        }
    }
    fault
}

#[cfg(test)]
mod tests {
    use std::vec::IntoIter;

    use super::super::clock::TimeControl;
    use super::*;
    use crate::bot::{Allowance, Reply};
    use referee_games::game::quarto::Edition;
    use referee_games::game::{BuiltinRuleset, Ruleset as _};

    /// Answers take the first number of milliseconds, and are charged the second.
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
        let mut game = BuiltinRuleset::new(Edition::default()).start();
        let clocks = [Clock::new(TimeControl::default()); 2];
        let played = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(play(
                &mut *game,
                [&mut first, &mut second],
                clocks,
                false,
                &mut |_| Ok(()),
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
