//! Ctrl-C and other termination signals, as a future.

use std::future::Future;
use std::io;

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// A future that is ready once this process receives SIGINT, SIGTERM or SIGHUP.
///
/// A separate task listens for the signals, so that polling this future is cheap during a game.
pub(in crate::cli) fn interrupted() -> io::Result<impl Future<Output = ()> + Unpin> {
    // A handler of our own makes a write beyond `ulimit -f` an error with a sentence, instead of the
    // end of this process. Bots do not inherit it.
    let _ = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let (sender, receiver) = oneshot::channel();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        // The receiver has been dropped when the games are over.
        let _ = sender.send(());
    });
    Ok(Interrupted(receiver))
}

/// The receiving end. It can only fail when the runtime has ended, and then nobody polls it.
struct Interrupted(oneshot::Receiver<()>);

impl Future for Interrupted {
    type Output = ();

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        std::pin::Pin::new(&mut self.0).poll(cx).map(|_| ())
    }
}
