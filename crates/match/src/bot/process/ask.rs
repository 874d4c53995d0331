use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::task::Poll;
use std::time::Duration;

use tokio::process::Child;
use tokio::time::Instant;

use super::charge::{self, Extension};
use super::{Process, log_extended};
use crate::bot::channel::{Exchange, ExchangeError};
use crate::bot::fault::{Fault, Stream, Timeout, TimeoutEvidence};
use crate::bot::info::Info;
use crate::bot::meter::TurnUsage;
use crate::bot::player::{Allowance, ClockKind, OtherOutput, Player, Reply};

/// How long after a rejected line a second one is waited for.
const SECOND_LINE: Duration = Duration::from_millis(25);

/// The same after a repeated answer: the bot probably prints every answer twice, and still thinks.
const REPEATED: Duration = Duration::from_secs(1);

/// How long the output of a bot that has exited, or has closed its input, may take to be read: it is in the pipe, unless a
/// child of the bot holds that open.
const REST: Duration = Duration::from_millis(30);

impl Player for Process {
    async fn ask(
        &mut self,
        request: &str,
        allowance: Allowance,
    ) -> io::Result<Result<Reply<'_>, Fault>> {
        let fresh = self.fresh;
        let exactly = allowance.kind == ClockKind::Cpu;
        // The referee's own work comes before its clock starts.
        self.meter.asked(Instant::now().into_std(), exactly);
        self.asked = true;
        // What it said after its last answer is of no turn.
        self.stderr.take_info();
        self.set_frozen(false);
        let asked = Instant::now();
        let look = self.next_look(asked, &allowance);
        let mut limit = charge::first_limit(&allowance, fresh, look);
        let exchange = self.channel.exchange(asked, request.as_bytes(), limit);
        let mut exchanged = until_exit(exchange, &mut self.child, self.exit.is_some()).await?;
        // Usage, once it matters, and whether the time granted then was certain.
        let mut usage = None;
        let mut is_certain = true;
        let error = loop {
            let error = match exchanged {
                Err(status) => {
                    self.exit = Some(status);
                    match self.rest(asked, request, limit).await? {
                        Err(
                            ExchangeError::Timeout { partial } | ExchangeError::Eof { partial },
                        ) => {
                            return Ok(Err(self.exited(status, partial)));
                        }
                        rest => {
                            exchanged = Ok(rest);
                            continue;
                        }
                    }
                }
                Ok(Ok(exchange)) if is_certain => {
                    let late = exchange.elapsed > allowance.total(fresh);
                    let charged = self.answered(asked, exchange, &allowance, late);
                    let left = allowance.total(fresh).checked_sub(charged);
                    if exactly && left.is_none() {
                        break ExchangeError::Late(exchange);
                    }
                    if fresh && self.has_not_read(request) {
                        let second = [self.channel.line(exchange), &b"\n"[..]].concat();
                        return Ok(Err(unasked(second)));
                    }
                    return Ok(Ok(Reply {
                        line: self.channel.line(exchange),
                        elapsed: exchange.elapsed,
                        charged,
                        fresh,
                    }));
                }
                Ok(Ok(exchange)) => ExchangeError::Late(exchange),
                Ok(Err(error)) => error,
            };
            let Some(elapsed) = exceeded_after(&error, asked) else {
                break error;
            };
            let has_answered = matches!(error, ExchangeError::Late(_));
            let mut used = self.meter.turn_usage_searched(fresh, has_answered);
            used.uncertain += self.channel.sent_after(asked);
            usage = Some(used);
            let Some(more) = charge::extension(&allowance, fresh, elapsed, &used) else {
                break error;
            };
            if let ExchangeError::Late(exchange) = error {
                // It has had a CPU: its wait is known.
                if !more.is_certain {
                    break error;
                }
                is_certain = true;
                exchanged = Ok(Ok(exchange));
                continue;
            }
            // A look within the limit gives it no time.
            if elapsed >= charge::first_limit(&allowance, fresh, None) {
                log_extended(more, &used);
            }
            let look = self.next_look(asked + elapsed, &allowance);
            Extension { limit, is_certain } = charge::looking(more, elapsed, look);
            let exchange = self.channel.exchange_on(asked, request.as_bytes(), limit);
            exchanged = until_exit(exchange, &mut self.child, self.exit.is_some()).await?;
        };
        let attempt = Attempt {
            request,
            allowance,
            fresh,
            asked,
            limit,
            usage,
        };
        if let ExchangeError::Late(exchange) = error
            && attempt.has_benefit_of_doubt(exchange)
        {
            let charged = self.answered(asked, exchange, &allowance, true);
            return Ok(Ok(Reply {
                line: self.channel.line(exchange),
                elapsed: exchange.elapsed,
                charged,
                fresh,
            }));
        }
        Ok(Err(self.fault(error, &attempt).await?))
    }

    fn take_info(&mut self) -> Info {
        self.stderr.take_info()
    }

    async fn drain(&mut self) -> Vec<u8> {
        self.set_frozen(false);
        self.channel.drain(SECOND_LINE).await
    }

    async fn other_output(&mut self) -> OtherOutput {
        // The opponent's speed decides whether a second line arrives before the next question or
        // passes for its answer. The verdict must not depend on that.
        let previous = self.channel.answer_before().to_vec();
        if !previous.is_empty() && self.has_unread_input() {
            return OtherOutput::Before(previous);
        }
        self.set_frozen(false);
        let repeats = self.channel.repeats();
        let wait = if repeats { REPEATED } else { SECOND_LINE };
        let after = self.channel.drain(wait).await;
        if after.is_empty() {
            OtherOutput::Nothing
        } else if repeats {
            OtherOutput::Before(previous)
        } else {
            OtherOutput::After(after)
        }
    }
}

/// The first output of a bot that has read no question.
const fn unasked(second: Vec<u8>) -> Fault {
    Fault::ExtraOutput {
        first: Vec::new(),
        second,
        early: true,
    }
}

/// A question that was not answered as it should have been.
struct Attempt<'a> {
    request: &'a str,
    allowance: Allowance,
    fresh: bool,
    asked: Instant,
    /// The wall time up to which an answer was watched for.
    limit: Duration,
    usage: Option<TurnUsage>,
}

impl Attempt<'_> {
    /// Whether an answer that seems to be late counts, since it may have been in time.
    fn has_benefit_of_doubt(&self, exchange: Exchange) -> bool {
        self.allowance.benefit_of_doubt
            && self.allowance.kind == ClockKind::Wall
            && charge::may_be_in_time(
                &self.allowance,
                self.fresh,
                exchange.elapsed,
                self.limit,
                &self.usage.unwrap_or_default(),
            )
    }
}

impl Process {
    async fn fault(&mut self, error: ExchangeError, attempt: &Attempt<'_>) -> io::Result<Fault> {
        let timeout = |this: &Self, elapsed| {
            let Attempt {
                request,
                allowance,
                fresh,
                usage,
                ..
            } = *attempt;
            this.timeout(request, allowance, fresh, elapsed, usage)
        };
        Ok(match error {
            ExchangeError::Fault(fault) => fault,
            ExchangeError::Timeout { partial } => {
                let timeout = timeout(self, attempt.asked.elapsed());
                self.timed_out(timeout, partial, attempt.asked).await
            }
            ExchangeError::Late(exchange) => {
                let elapsed = exchange.elapsed;
                let line = self.channel.line(exchange).to_vec();
                Fault::Timeout(Box::new(Timeout {
                    evidence: TimeoutEvidence::Late(line),
                    unwatched: charge::unwatched(&attempt.allowance, elapsed, attempt.limit),
                    ..timeout(self, elapsed)
                }))
            }
            ExchangeError::Eof { partial } => self.ended(Stream::Output, partial).await?,
            ExchangeError::InputClosed => match self.channel.drain(REST).await {
                output if output.is_empty() => self.ended(Stream::Input, output).await?,
                second => Fault::ExtraOutput {
                    first: self.channel.answer_before().to_vec(),
                    second,
                    early: true,
                },
            },
        })
    }

    /// What a bot that has exited had written, and the referee has not read yet.
    async fn rest(
        &mut self,
        asked: Instant,
        request: &str,
        limit: Duration,
    ) -> io::Result<Result<Exchange, ExchangeError>> {
        let until = limit.min(asked.elapsed().saturating_add(REST));
        self.channel
            .exchange_on(asked, request.as_bytes(), until)
            .await
    }

    /// Whether the bot has read nothing of the question: it has not answered it, whatever it wrote. Whether a bot that writes
    /// and exits is asked before or after that is the machine's doing, and must not decide what is said of it.
    fn has_not_read(&self, request: &str) -> bool {
        self.unread_input() >= request.len() as u64
    }

    fn next_look(&self, now: Instant, allowance: &Allowance) -> Option<Duration> {
        let Allowance {
            kind, is_counted, ..
        } = *allowance;
        self.meter.next_look(now.into_std(), kind, is_counted)
    }

    /// It has answered, `late` if only in wall time beyond its limit. The time charged.
    fn answered(
        &mut self,
        asked: Instant,
        exchange: Exchange,
        allowance: &Allowance,
        late: bool,
    ) -> Duration {
        let Exchange { elapsed, .. } = exchange;
        let at = (asked + elapsed).into_std();
        let total = allowance.total(self.fresh);
        self.fresh = false;
        self.answered = self.answered.saturating_add(1);
        self.slowest = self.slowest.max(elapsed);
        self.asked = false;
        self.set_frozen(true);
        if allowance.kind == ClockKind::Cpu {
            self.meter.answered(at, true);
            return self.meter.charged_cpu(elapsed);
        }
        let charged = if charge::may_be_less(allowance, elapsed, late) {
            let excused = self.meter.turn_usage().excused(elapsed);
            // The last extension may have been longer than needed.
            elapsed.saturating_sub(excused).min(total)
        } else {
            elapsed
        };
        self.meter.answered(at, false);
        charged
    }
}

/// How long after the question a limit was exceeded; `None` for other errors.
fn exceeded_after(error: &ExchangeError, asked: Instant) -> Option<Duration> {
    match error {
        ExchangeError::Late(exchange) => Some(exchange.elapsed),
        ExchangeError::Timeout { .. } => Some(asked.elapsed()),
        _ => None,
    }
}

/// Waits for an exchange, or for the exit of the process unless it is `over`.
async fn until_exit<T>(
    exchange: impl Future<Output = io::Result<T>>,
    child: &mut Child,
    over: bool,
) -> io::Result<Result<T, ExitStatus>> {
    let mut exchange = pin!(exchange);
    let mut exit = pin!(child.wait());
    poll_fn(|cx| {
        // What it wrote before exiting counts: the pipe is read first.
        if let Poll::Ready(exchanged) = exchange.as_mut().poll(cx) {
            return Poll::Ready(exchanged.map(Ok));
        }
        // A child of an exited bot may hold the pipe open.
        if over {
            return Poll::Pending;
        }
        exit.as_mut().poll(cx).map(|status| status.map(Err))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_time_limit_is_exceeded_by_a_late_answer_too() {
        let asked = Instant::now();
        tokio::time::advance(Duration::from_millis(90)).await;
        let timeout = ExchangeError::Timeout {
            partial: Vec::new(),
        };
        let elapsed = Duration::from_millis(70);
        let late = ExchangeError::Late(Exchange { length: 3, elapsed });
        let closed = ExchangeError::InputClosed;
        assert_eq!(
            exceeded_after(&timeout, asked),
            Some(Duration::from_millis(90))
        );
        assert_eq!(exceeded_after(&late, asked), Some(elapsed));
        assert_eq!(exceeded_after(&closed, asked), None);
    }
}
