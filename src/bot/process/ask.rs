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
use crate::bot::player::{Player, Reply};

/// How long after a senseless line a second one is waited for, to say that there were two.
const SECOND_LINE: Duration = Duration::from_millis(25);

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
}
