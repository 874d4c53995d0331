//! A question to a process, and its answer.

use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;

use super::{Freeze, Process};
use crate::bot::allowance::Allowance;
use crate::bot::channel::ExchangeError;
use crate::bot::fault::{Fault, Stream, Timeout, TimeoutEvidence};
use crate::bot::player::{OtherOutput, Player, Reply};

/// How long after a rejected line a second one is waited for.
const SECOND_LINE: Duration = Duration::from_millis(25);

/// The same after a line that repeats the answer before. The bot most probably prints every
/// answer twice, and still thinks about the question.
const REPEATED: Duration = Duration::from_secs(1);

impl Player for Process {
    async fn ask(
        &mut self,
        request: &str,
        allowance: Allowance,
    ) -> io::Result<Result<Reply<'_>, Fault>> {
        let fresh = self.fresh;
        let limit = allowance.total(fresh);
        let mut asked = Instant::now();
        self.meter.asked(asked.into_std());
        self.asked = true;
        if self.freeze == Freeze::Stopped {
            self.thaw();
            asked = Instant::now();
        }
        let exchanged = {
            let mut exchange = pin!(self.channel.exchange_from(asked, request.as_bytes(), limit));
            let mut exit = pin!(self.child.wait());
            let over = self.exit.is_some();
            poll_fn(|cx| {
                // What it wrote before it ended counts, so the pipe is read first.
                if let Poll::Ready(exchanged) = exchange.as_mut().poll(cx) {
                    return Poll::Ready(exchanged.map(Ok));
                }
                // A child of the bot may hold the pipe open when the bot is gone.
                if over {
                    return Poll::Pending;
                }
                exit.as_mut().poll(cx).map(|status| status.map(Err))
            })
            .await?
        };
        let exchanged = match exchanged {
            Ok(exchanged) => exchanged,
            Err(status) => {
                self.exit = Some(status);
                return Ok(Err(Fault::Exited {
                    exit: self.describe(status),
                    partial: self.channel.partial().to_vec(),
                }));
            }
        };
        let error = match exchanged {
            Ok(exchange) => {
                self.fresh = false;
                self.freeze();
                self.meter.answered((asked + exchange.elapsed).into_std());
                self.asked = false;
                return Ok(Ok(Reply {
                    line: self.channel.line(exchange),
                    elapsed: exchange.elapsed,
                    fresh,
                }));
            }
            Err(error) => error,
        };
        Ok(Err(match error {
            ExchangeError::Early { previous, output } => Fault::ExtraOutput {
                first: previous,
                second: output,
                early: true,
            },
            ExchangeError::Extra { first, rest } => Fault::ExtraOutput {
                first,
                second: rest,
                early: false,
            },
            ExchangeError::Timeout { partial } => {
                self.timed_out(request, allowance, fresh, partial).await
            }
            ExchangeError::Late { line, elapsed } => Fault::Timeout(Box::new(Timeout {
                asked: request.trim_end_matches('\n').to_owned(),
                allowance,
                fresh,
                evidence: TimeoutEvidence::Late(line, elapsed),
                afterwards: Vec::new(),
                // Had the referee been running, its timer would have gone off before.
                unwatched: elapsed.saturating_sub(limit),
                language: self.language,
            })),
            ExchangeError::TooLong { start } => Fault::LineTooLong { start },
            ExchangeError::Eof { partial } => self.ended(Stream::Output, partial).await?,
            ExchangeError::InputClosed => self.ended(Stream::Input, Vec::new()).await?,
        }))
    }

    async fn drain(&mut self) -> Vec<u8> {
        self.thaw();
        self.channel.drain(SECOND_LINE).await
    }

    async fn other_output(&mut self) -> OtherOutput {
        // How quick its opponent was decides whether a second line arrives before the next
        // question or passes for the answer to it. The verdict must not depend on that.
        let previous = self.channel.answer_before().to_vec();
        if !previous.is_empty() && self.has_unread_input() {
            return OtherOutput::Before(previous);
        }
        self.thaw();
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
