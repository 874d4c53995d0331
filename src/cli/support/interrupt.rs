//! Asynchronous work that Ctrl-C ends.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::Poll;

use super::failure::Failure;
use super::signals;

/// Awaits `work`; drops it and returns [`Failure::Interrupted`] on a termination signal.
pub(in crate::cli) async fn until_interrupted<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let mut interrupted = signals::interrupted();
    let mut work = pin!(work);
    std::future::poll_fn(|cx| {
        // A game wakes this task for every ply: its work is polled first, and the check for an
        // interruption is cheap.
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(done);
        }
        let interrupted = Pin::new(&mut interrupted).poll(cx);
        interrupted.map(|()| Err(Failure::Interrupted))
    })
    .await
}
