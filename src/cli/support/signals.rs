//! Ctrl-C and other termination signals.
//!
//! A thread listens for them from the start, so that they end the program whatever the others are doing,
//! be it waiting for a file or a stream. Commands that must put something in order first heed them
//! through [`StopSignals`].

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{oneshot, watch};

use super::failure::Failure;
use super::runtime::runtime;
use crate::bot::exhaustion::start_thread;
use crate::sandbox::procfs::IgnoredSignals;

/// When the first termination signal came; changes with each one.
static FIRST: LazyLock<watch::Sender<Option<Instant>>> = LazyLock::new(|| watch::Sender::new(None));

/// Starts to listen for SIGINT, SIGTERM and SIGHUP. While no [`StopSignals`] exist, `unheeded` is called,
/// which is to end the program.
///
/// A signal that was ignored when this process was started stays ignored, as `nohup` and the shell's `&`
/// want it.
pub(in crate::cli) fn start(unheeded: fn()) -> Result<(), Failure> {
    let runtime = runtime()?;
    let (mut signals, beyond_limit) = runtime.block_on(async {
        // A handler of our own makes a write beyond `ulimit -f` an error with a sentence, instead of
        // the end of this process. Bots do not inherit it.
        let beyond_limit = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?;
        Ok::<_, io::Error>((termination_signals()?, beyond_limit))
    })?;
    start_thread("signals", move || {
        let _beyond_limit = beyond_limit;
        runtime.block_on(async {
            loop {
                std::future::poll_fn(|cx| {
                    let is_ready = |signal: &mut Signal| signal.poll_recv(cx).is_ready();
                    if signals.iter_mut().any(is_ready) {
                        Poll::Ready(())
                    } else {
                        Poll::Pending
                    }
                })
                .await;
                // Asked first: who receives it may then be done with signals.
                let is_heeded = FIRST.receiver_count() > 0;
                FIRST.send_modify(|first| *first = first.or_else(|| Some(Instant::now())));
                if !is_heeded {
                    unheeded();
                }
            }
        });
    })?;
    Ok(())
}

/// Those that are not ignored.
fn termination_signals() -> io::Result<Vec<Signal>> {
    let ignored = IgnoredSignals::own();
    let is_heeded = |kind: &SignalKind| !ignored.contains(kind.as_raw_value());
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ];
    kinds.into_iter().filter(is_heeded).map(signal).collect()
}

/// The time since the first termination signal.
pub(in crate::cli) fn since_first() -> Option<Duration> {
    FIRST.borrow().map(|first| first.elapsed())
}

/// Termination signals. While it exists, they do not end the program by themselves.
#[derive(Debug)]
pub(in crate::cli) struct StopSignals(watch::Receiver<Option<Instant>>);

/// Heeds the signals that come from now on.
pub(in crate::cli) fn heed() -> StopSignals {
    StopSignals(FIRST.subscribe())
}

impl StopSignals {
    /// Waits for the next one.
    pub(in crate::cli) async fn recv(&mut self) {
        if self.0.changed().await.is_err() {
            // Never: the sender is never dropped.
            std::future::pending::<()>().await;
        }
    }
}

/// A future that is ready once this process has received a termination signal. Must be called within a
/// tokio runtime.
///
/// A separate task waits for the signal, so that polling this future is cheap during a game.
pub(in crate::cli) fn interrupted() -> impl Future<Output = ()> + Unpin {
    let mut signals = heed();
    let (sender, receiver) = oneshot::channel();
    tokio::spawn(async move {
        if since_first().is_none() {
            signals.recv().await;
        }
        // The receiver has been dropped when the games are over.
        let _ = sender.send(());
    });
    Interrupted(receiver)
}

/// The receiving end. It can only fail after the runtime has ended, when it is not polled.
struct Interrupted(oneshot::Receiver<()>);

impl Future for Interrupted {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let _ = ready!(Pin::new(&mut self.0).poll(cx));
        Poll::Ready(())
    }
}
