//! Why a process did not answer: how it exited, or what it was doing.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::time::Instant;

use super::Process;
use super::platform::{Group, describe, exit_status, unread};
use crate::bot::fault::{Exit, Fault, ProcessState, Stream, Timeout, TimeoutEvidence};
use crate::bot::meter::TurnUsage;
use crate::bot::player::{Allowance, ClockKind};
use crate::bot::stderr::KEPT_BYTES;
use referee_host::system::is_stopped;
use referee_sandbox::procfs::ProcessStat;
use referee_sandbox::supervisor::client::SupervisorConnection;

/// How long a late answer is waited for after a timeout.
const LATE: Duration = Duration::from_millis(10);

/// How long a bot then has to flush its output buffer, once its input is closed. With
/// [`GracePeriods::FAULT`](super::GracePeriods::FAULT) it stays within the 100 ms a fault may cost.
const LAST_WORDS: Duration = Duration::from_millis(40);

/// The same on a busy machine, where it first has to get a CPU, or its pages from the disk: [`LAST_WORDS`] of CPU time, but
/// not longer than this.
const LAST_WORDS_AT_MOST: Duration = Duration::from_secs(5);

const LAST_WORDS_STEP: Duration = Duration::from_millis(10);

/// A bot whose output ended counts as alive if it has not exited after this.
const EXIT_AFTER_EOF: Duration = Duration::from_millis(30);

/// How long the supervisor of an exited bot may take to report, on a very busy machine.
const REPORT: Duration = Duration::from_secs(10);

impl Process {
    /// Its output or input was closed: did the program exit?
    pub(super) async fn ended(&mut self, stream: Stream, partial: Vec<u8>) -> io::Result<Fault> {
        self.gone_within(EXIT_AFTER_EOF).await?;
        if self.exit.is_none()
            && let (Some(supervisor), Some(group)) = (&self.supervisor, &self.group)
            && supervisor
                .bot(group.leader())
                .and_then(ProcessStat::read)
                .is_none_or(|stat| stat.has_ended())
        {
            // The report is late because the supervisor first kills what the bot had started.
            self.gone_within(REPORT).await?;
        }
        Ok(match self.exit {
            Some(status) => self.exited(status, partial),
            None => Fault::Closed { stream, partial },
        })
    }

    pub(super) fn exited(&mut self, status: ExitStatus, partial: Vec<u8>) -> Fault {
        Fault::Exited {
            exit: self.describe(status),
            partial,
            answered: self.answered,
        }
    }

    /// A time that ran out `elapsed` after the question.
    pub(super) fn timeout(
        &self,
        request: &str,
        allowance: Allowance,
        fresh: bool,
        elapsed: Duration,
        usage: Option<TurnUsage>,
    ) -> Timeout {
        let excused = usage.map_or(Duration::ZERO, |usage| match allowance.kind {
            // If it still waits for a CPU: as long as it may have waited.
            ClockKind::Wall => usage.excused_at_most(elapsed),
            ClockKind::Cpu => Duration::ZERO,
        });
        Timeout {
            usage,
            excused,
            answered: self.answered,
            slowest: self.slowest,
            language: self.language,
            ..Timeout::new(request, allowance, fresh, elapsed)
        }
    }

    /// What a bot was doing while its time ran out, for a question of this moment.
    pub(super) async fn timed_out(
        &mut self,
        mut timeout: Timeout,
        partial: Vec<u8>,
        asked: Instant,
    ) -> Fault {
        let state = self.state();
        // Output now was late; output once its input is closed was held back: in its output buffer,
        // or because it wanted more input.
        let late = self.channel.drain(LATE).await;
        let drained = asked.elapsed();
        self.channel.close_writer();
        if late.is_empty() {
            timeout.afterwards = self.held_back().await;
        }
        timeout.evidence = evidence(partial, &late, state);
        if matches!(timeout.evidence, TimeoutEvidence::Late(_)) {
            timeout.elapsed = drained;
        }
        Fault::Timeout(Box::new(timeout))
    }

    /// Output once its input is closed, to the end of a line. An exiting interpreter needs some milliseconds of a CPU to
    /// flush, for which it may have to wait.
    async fn held_back(&mut self) -> Vec<u8> {
        let closed = Instant::now();
        let before = self.meter.turn_usage().cpu;
        let mut last = before;
        let mut bytes = Vec::new();
        let mut wait = LAST_WORDS;
        loop {
            let asked = Instant::now();
            bytes.extend(self.channel.drain(wait).await);
            let usage = self.meter.turn_usage();
            // Not only its first thread: that of a virtual machine waits while others work.
            let works = self.meter.is_active() || usage.cpu > last;
            last = usage.cpu;
            let has_time = usage.waited.is_some() && usage.cpu.saturating_sub(before) < LAST_WORDS;
            let is_over = bytes.contains(&b'\n') || asked.elapsed() < wait;
            if is_over || !works || !has_time || closed.elapsed() >= LAST_WORDS_AT_MOST {
                return bytes;
            }
            wait = LAST_WORDS_STEP;
        }
    }

    /// Sends it text until there is output or `wait` is over: how much it has, and the output. Not
    /// a question: only for a process that is stopped next.
    pub async fn feed(&mut self, bytes: &[u8], wait: Duration) -> (usize, Vec<u8>) {
        self.set_frozen(false);
        self.channel.feed(bytes, wait).await
    }

    /// Closes its input; its first output within `wait`.
    pub async fn last_words(&mut self, wait: Duration) -> Vec<u8> {
        self.set_frozen(false);
        self.channel.close_writer();
        self.channel.feed(&[], wait).await.1
    }

    /// How it exited. `status` is the bot's, or its supervisor's.
    pub(super) fn describe(&mut self, status: ExitStatus) -> Exit {
        let supervisor = self.supervisor.as_mut();
        let Some(report) = supervisor.and_then(SupervisorConnection::exit_report) else {
            // It has no supervisor, or that was killed itself.
            return describe(status);
        };
        let exit = describe(exit_status(report.status));
        match report.limit() {
            Some(limit) => Exit::Limit(limit),
            None if report.is_out_of_memory() => Exit::OutOfMemory {
                used: report.memory_kb << 10,
                limit: report.limits.memory,
            },
            None if report.network => Exit::Refused(Box::new(exit), "open a network connection"),
            None => exit,
        }
    }

    /// Whether it has unread input, as far as the system reports that.
    pub fn has_unread_input(&self) -> bool {
        self.unread_input() > 0
    }

    /// In bytes.
    pub(super) fn unread_input(&self) -> u64 {
        self.channel.writer().map_or(0, unread)
    }

    /// What it is doing, as far as the system reports that.
    fn state(&self) -> ProcessState {
        let state = self
            .group
            .as_ref()
            .map(Group::leader)
            .and_then(|leader| match &self.supervisor {
                Some(supervisor) => supervisor.bot(leader),
                None => Some(leader),
            })
            .and_then(|pid| ProcessStat::read(pid)?.state());
        match state {
            Some('T' | 't') => ProcessState::Stopped,
            None if is_stopped(self.owned.pid()) => ProcessState::Stopped,
            _ if self.stderr.since_asked() > KEPT_BYTES as u64 => {
                ProcessState::WritingToStderr(self.stderr.since_asked())
            }
            _ if self.has_unread_input() => ProcessState::NotReading,
            Some('R' | 'D') => ProcessState::Computing,
            Some(_) => ProcessState::Waiting,
            None => ProcessState::Unknown,
        }
    }
}

/// What a bot in this state wrote by its limit and right after.
fn evidence(partial: Vec<u8>, late: &[u8], state: ProcessState) -> TimeoutEvidence {
    if !partial.is_empty() {
        TimeoutEvidence::Partial(partial)
    } else if let Some(line) = first_line(late) {
        TimeoutEvidence::Late(line.to_vec())
    } else {
        TimeoutEvidence::Nothing(state)
    }
}

/// Without its newline; `None` when incomplete.
fn first_line(bytes: &[u8]) -> Option<&[u8]> {
    let newline = bytes.iter().position(|&byte| byte == b'\n')?;
    Some(&bytes[..newline])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_line_right_after_the_time_is_late() {
        let computing = ProcessState::Computing;
        let found =
            |partial: &str, late: &str| evidence(partial.into(), late.as_bytes(), computing);
        let late = TimeoutEvidence::Late(b"1 A".to_vec());
        assert_eq!(found("", "1 A\nand"), late);
        assert_eq!(found("", "1 A"), TimeoutEvidence::Nothing(computing));
        assert_eq!(found("", ""), TimeoutEvidence::Nothing(computing));
        let partial = TimeoutEvidence::Partial(b"1".to_vec());
        assert_eq!(found("1", " A\n"), partial);
    }
}
