//! Ctrl-C and other termination signals.
//!
//! Every command that heeds them does so through [`StopSignals`].

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::sandbox::procfs;

/// The termination signals: SIGINT, SIGTERM and SIGHUP.
///
/// One that was ignored when this process was started stays ignored, as `nohup` and the shell's `&`
/// want it.
pub(in crate::cli) struct StopSignals(Vec<Signal>);

impl StopSignals {
    /// Starts to listen. Must be called within a tokio runtime.
    pub(in crate::cli) fn listen() -> io::Result<Self> {
        let ignored = procfs::ignored_signals();
        let is_heeded = |kind: &SignalKind| ignored >> (kind.as_raw_value() - 1) & 1 == 0;
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let signals = kinds.into_iter().filter(is_heeded).map(signal);
        signals.collect::<io::Result<_>>().map(Self)
    }

    /// Waits for the next one; for ever, when all are ignored.
    pub(in crate::cli) async fn recv(&mut self) {
        poll_fn(|cx| {
            let ready = |signal: &mut Signal| signal.poll_recv(cx).is_ready();
            if self.0.iter_mut().any(ready) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}

/// A future that is ready once this process receives a termination signal.
///
/// A separate task listens for the signals, so that polling this future is cheap during a game.
pub(in crate::cli) fn interrupted() -> io::Result<impl Future<Output = ()> + Unpin> {
    // A handler of our own makes a write beyond `ulimit -f` an error with a sentence, instead of the
    // end of this process. Bots do not inherit it.
    let _ = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?;
    let mut signals = StopSignals::listen()?;
    let (sender, receiver) = oneshot::channel();
    tokio::spawn(async move {
        signals.recv().await;
        // The receiver has been dropped when the games are over.
        let _ = sender.send(());
    });
    Ok(Interrupted(receiver))
}

/// The receiving end. It can only fail after the runtime has ended, when it is not polled.
struct Interrupted(oneshot::Receiver<()>);

impl Future for Interrupted {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(|_| ())
    }
}
