//! What the log has of a game and of its bots: spans, turns, faults.

use tracing::{Span, debug, info, info_span, trace};

use super::seat::Seat;
use super::setup::GameSetup;
use crate::bot::fault::{ProcessState, Timeout, TimeoutEvidence};
use crate::bot::meter::Usage;
use crate::bot::{Allowance, ClockKind, Fault, Reply};
use crate::log_target::{CLOCK, GAME, PROCESS, SPAN, WIRE};
use crate::protocol::ForfeitReason;
use crate::record::Record;
use referee_text::{escape, milliseconds as ms};

pub(super) fn bot(name: &str) -> Span {
    info_span!(target: SPAN, "bot", bot = name, pid = tracing::field::Empty)
}

pub(super) fn cannot_start(bot: &Span, error: &std::io::Error) {
    info!(target: PROCESS, parent: bot, %error, "cannot be started");
}

pub(super) fn asked(bot: &Span, request: &str, allowance: Allowance, fresh: bool) {
    trace!(
        target: CLOCK,
        parent: bot,
        limit_ms = ms(allowance.total(fresh)),
        clock = clock(allowance),
        fresh,
        "deadline set"
    );
    trace!(target: WIRE, parent: bot, line = request.trim_end_matches('\n'), "asked");
}

pub(super) fn answered(bot: &Span, reply: Result<&Reply<'_>, &Fault>, allowance: Allowance) {
    match reply {
        Ok(reply) => {
            let limit = allowance.total(reply.fresh);
            trace!(target: WIRE, parent: bot, line = escape(reply.line).as_str(), "answered");
            trace!(
                target: CLOCK,
                parent: bot,
                elapsed_ms = ms(reply.elapsed),
                charged_ms = ms(reply.charged),
                left_ms = ms(limit.saturating_sub(reply.charged)),
                "deadline met"
            );
            if reply.elapsed > limit && allowance.kind == ClockKind::Wall {
                info!(
                    target: CLOCK,
                    parent: bot,
                    limit_ms = ms(limit),
                    elapsed_ms = ms(reply.elapsed),
                    charged_ms = ms(reply.charged),
                    "in time: it had waited for a CPU"
                );
            }
            if reply.fresh {
                debug!(
                    target: PROCESS,
                    parent: bot,
                    elapsed_ms = ms(reply.elapsed),
                    limit_ms = ms(limit),
                    "first answer"
                );
            }
        }
        Err(fault) => trace!(
            target: WIRE,
            parent: bot,
            reason = %fault.reason(),
            bytes = fault.answer().as_str(),
            "no answer"
        ),
    }
}

pub(super) fn used(bot: &Span, usage: Option<&Usage>) {
    if let Some(usage) = usage {
        info!(
            target: PROCESS,
            parent: bot,
            cpu_ms = usage.cpu_ms,
            cpu_other_ms = usage.cpu_other_ms,
            memory_kb = usage.memory_kb,
            oom_kills = usage.oom_kills,
            "used in this game"
        );
    }
}

/// The bot forfeits, unless the game is void.
pub(super) fn fault(bot: &Span, fault: &Fault) {
    bot.in_scope(|| {
        if let Fault::Timeout(timeout) = fault {
            timed_out(timeout);
        }
        info!(
            target: GAME,
            reason = %fault.reason(),
            answer = fault.answer().as_str(),
            detail = fault.to_string().as_str(),
            "fault"
        );
    });
}

/// Tells a slow bot, a stuck one, and a machine that was too busy apart.
fn timed_out(timeout: &Timeout) {
    let limit = timeout.allowance.total(timeout.fresh);
    let found = match &timeout.evidence {
        TimeoutEvidence::Nothing(ProcessState::Computing) => "computing",
        TimeoutEvidence::Nothing(ProcessState::NotReading) => "not reading",
        TimeoutEvidence::Nothing(ProcessState::Stopped) => "stopped",
        TimeoutEvidence::Nothing(ProcessState::Waiting) => "waiting",
        TimeoutEvidence::Nothing(ProcessState::WritingToStderr(_)) => "writing to stderr",
        TimeoutEvidence::Nothing(ProcessState::Unknown) => "nothing",
        TimeoutEvidence::Partial(_) => "part of a line",
        TimeoutEvidence::Late(_) => "late answer",
        TimeoutEvidence::HeldBack(_) => "answer at the end of its input",
    };
    info!(
        target: CLOCK,
        limit_ms = ms(limit),
        elapsed_ms = ms(timeout.elapsed),
        cpu_ms = timeout.usage.map(|usage| ms(usage.cpu)),
        run_queue_ms = timeout.usage.and_then(|usage| usage.waited).map(ms),
        disk_ms = timeout.usage.map(|usage| ms(usage.disk)),
        excused_ms = ms(timeout.excused),
        unwatched_ms = ms(timeout.unwatched),
        clock = clock(timeout.allowance),
        fresh = timeout.fresh,
        found,
        late_bytes = escaped(timeout.evidence.bytes()),
        afterwards = escaped(&timeout.afterwards),
        "time ran out"
    );
}

const fn clock(allowance: Allowance) -> &'static str {
    match (allowance.kind, allowance.clock) {
        (ClockKind::Wall, false) => "move",
        (ClockKind::Wall, true) => "game",
        (ClockKind::Cpu, false) => "move, CPU time",
        (ClockKind::Cpu, true) => "game, CPU time",
    }
}

fn escaped(bytes: &[u8]) -> Option<String> {
    (!bytes.is_empty()).then(|| escape(bytes))
}

/// With the `id`, the `seed` and the bots of its record.
pub(super) fn game(setup: &GameSetup<'_>, seats: &[Seat; 2], warm_up: bool) -> Span {
    info_span!(
        target: SPAN,
        "game",
        game = setup.id.as_str(),
        index = setup.number,
        seed = setup.seed,
        bot1 = seats[0].name(),
        bot2 = seats[1].name(),
        warm_up = warm_up.then_some(true),
    )
}

/// Logs that a game begins, after so many void ones.
pub(super) fn begins(setup: &GameSetup<'_>, voids: u32) {
    info!(
        target: GAME,
        first = setup.first as usize,
        start = setup.start,
        process_seeds = ?setup.process_seeds,
        voids,
        "begins"
    );
}

/// A clock ran out for which the referee may be to blame.
pub(super) fn void(why: &str, again: bool) {
    let what = if again {
        "void: the game is played again"
    } else {
        "the game counts, although the referee may be to blame"
    };
    info!(target: GAME, why, "{what}");
}

pub(super) fn ended(record: &Record) {
    info!(
        target: GAME,
        turns = record.turns.len(),
        voids = record.voids,
        "{}",
        record.result_line()
    );
}

pub(super) fn benched(bot: &str, reason: Option<ForfeitReason>, failed_starts: u32) {
    info!(
        target: GAME,
        bot,
        reason = reason.map(tracing::field::display),
        failed_starts,
        "benched: it plays no more games of this match"
    );
}
