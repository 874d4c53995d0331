//! Ctrl-C and other requests to end, as a future.

use std::future::Future;
use std::io;

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// A future that is ready once somebody wants this process to end.
///
/// A task of its own listens, so that waiting for this costs a game next to nothing.
pub(in crate::cli) fn interrupted() -> io::Result<impl Future<Output = ()> + Unpin> {
    // A handler of our own makes a write beyond `ulimit -f` an error with a sentence, instead of the
    // end of this process. Bots do not inherit it.
    let _ = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let (tell, told) = oneshot::channel();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        // The receiver is gone when the games are over.
        let _ = tell.send(());
    });
    Ok(Told(told))
}

/// The receiving end; an error (the task ended with the runtime) never comes first.
struct Told(oneshot::Receiver<()>);

impl Future for Told {
    type Output = ();

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        std::pin::Pin::new(&mut self.0).poll(cx).map(|_| ())
    }
}
