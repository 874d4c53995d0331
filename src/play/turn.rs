//! One turn: a request to a player, its answer, and whether the rules accept it.

use std::io;
use std::time::Duration;

use super::observer::GameObserver;
use crate::bot::fault::{ProcessState, TimeoutEvidence};
use crate::bot::{Allowance, Fault, OtherOutput, Player};
use crate::game::Rejection;
use crate::protocol::{NotUtf8, answer_text};
use crate::session::Session;

/// Buffers for the texts of a turn, reused for every turn of a game.
#[derive(Clone, Debug, Default)]
pub struct TextBuffers {
    /// The request, with its newline.
    pub request: String,
    /// The turn that was made, in canonical form.
    pub turn: String,
}

/// The time that a legal turn took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnTime {
    /// From just before the request was written until the answer was read.
    pub elapsed: Duration,
    /// The part of it that counts; with a clock of processor time, that time.
    pub charged: Duration,
    /// Whether it was the first answer of a fresh process.
    pub fresh: bool,
}

/// Asks `player`, who is to move, for one turn and makes it. On a [`Fault`] of the player the session is
/// unchanged. An `Err` is a failure of the referee.
pub async fn take_turn<P: Player>(
    session: &mut dyn Session,
    player: &mut P,
    allowance: Allowance,
    text: &mut TextBuffers,
    observer: &mut dyn GameObserver,
) -> io::Result<Result<TurnTime, Fault>> {
    let side = session.to_move();
    text.request.clear();
    session.write_request(&mut text.request);
    if player.is_told_answers() {
        session.write_answers(&mut text.request);
    }
    text.request.push('\n');
    observer.asked(side, &text.request)?;
    let reply = match player.ask(&text.request, allowance).await? {
        Ok(reply) => reply,
        Err(fault) => return Ok(Err(find_held_back_answer(session, fault))),
    };
    let time = TurnTime {
        elapsed: reply.elapsed,
        charged: reply.charged,
        fresh: reply.fresh,
    };
    observer.answered(side, reply.line, time.elapsed)?;
    let fault = match judge(reply.line, |answer| session.play(answer, &mut text.turn)) {
        Ok(()) => {
            observer.turn(side, &text.turn, session, time.elapsed)?;
            return Ok(Ok(time));
        }
        Err(fault) => fault,
    };
    Ok(Err(find_second_line(player, fault).await))
}

/// Passes the text of a line to `accept`. The error is what is wrong with the line.
fn judge(line: &[u8], accept: impl FnOnce(&str) -> Result<(), Rejection>) -> Result<(), Fault> {
    let answer = || line.to_vec();
    let text = answer_text(line).map_err(|NotUtf8| Fault::NotUtf8 { answer: answer() })?;
    accept(text).map_err(|rejection| match rejection {
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

/// A rejected line is often one of two: debugging output before the actual answer, or a second line after
/// the previous answer. Then the fault to report is that there were two lines.
async fn find_second_line<P: Player>(player: &mut P, fault: Fault) -> Fault {
    let (Fault::Malformed { answer, .. }
    | Fault::IllegalMove { answer, .. }
    | Fault::NotUtf8 { answer }) = &fault
    else {
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
            first: answer.clone(),
            second,
            early: false,
        },
    }
}

/// Finds out whether what a bot wrote after its time is a legal answer that it had held back until
/// its input was closed.
fn find_held_back_answer(session: &dyn Session, mut fault: Fault) -> Fault {
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
        if judge(line, |answer| session.judge(answer)).is_ok() {
            timeout.evidence = TimeoutEvidence::HeldBack(line.to_vec());
        }
    }
    fault
}
