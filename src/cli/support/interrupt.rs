//! Work that Ctrl-C ends.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::Poll;

use super::failure::Failure;
use super::signals;

/// Does the work, or stops waiting for it when somebody wants this process to end.
pub(in crate::cli) async fn until_interrupted<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let mut interrupted = signals::interrupted()?;
    let mut work = pin!(work);
    std::future::poll_fn(|cx| {
        // A game is woken for every ply: the work comes first, the rest costs next to nothing.
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(done);
        }
        let interrupted = Pin::new(&mut interrupted).poll(cx);
        interrupted.map(|()| Err(Failure::Interrupted))
    })
    .await
}
