//! Ctrl-C and other termination signals.
//!
//! A thread listens for them from the start, so that they end the program whatever the others are doing,
//! be it waiting for a file or a stream. Commands that must put something in order first heed them
//! through [`StopSignals`].

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

use super::runtime::runtime;
use crate::bot::exhaustion::start_thread;
use crate::cli::support::prelude::*;
use platform::Terminations;

#[cfg(unix)]
use self::unix as platform;
#[cfg(windows)]
use self::windows as platform;

/// When the first termination signal came; changes with each one.
static FIRST: LazyLock<watch::Sender<Option<Instant>>> = LazyLock::new(|| watch::Sender::new(None));

/// After so many signals the program ends even if a command heeds them: it does not come to it.
const IMPATIENT: u32 = 3;

/// Starts to listen for SIGINT, SIGTERM and SIGHUP. While no [`StopSignals`] exist, `unheeded` is called,
/// which is to end the program; also at the third signal.
///
/// A signal that was ignored when this process was started stays ignored, as `nohup` and the shell's `&`
/// want it.
pub(crate) fn start(unheeded: fn()) -> Result<(), Failure> {
    let runtime = runtime()?;
    let mut signals = runtime.block_on(async { Terminations::listen() })?;
    start_thread("signals", move || {
        runtime.block_on(async {
            for count in 1_u32.. {
                signals.recv().await;
                // Asked first: who receives it may then be done with signals.
                let is_heeded = FIRST.receiver_count() > 0;
                FIRST.send_modify(|first| *first = first.or_else(|| Some(Instant::now())));
                if !is_heeded || count >= IMPATIENT {
                    unheeded();
                }
            }
        });
    })?;
    Ok(())
}

pub(crate) fn since_first() -> Option<Duration> {
    FIRST.borrow().map(|first| first.elapsed())
}

/// Termination signals. While it exists, they do not end the program by themselves.
#[derive(Debug)]
pub(crate) struct StopSignals(watch::Receiver<Option<Instant>>);

/// Heeds the signals that come from now on, and one that came before: the program was to end already.
pub(crate) fn heed() -> StopSignals {
    StopSignals::of(&FIRST)
}

impl StopSignals {
    fn of(first: &watch::Sender<Option<Instant>>) -> Self {
        let mut signals = first.subscribe();
        if signals.borrow().is_some() {
            signals.mark_changed();
        }
        Self(signals)
    }

    pub(crate) async fn recv(&mut self) {
        if self.0.changed().await.is_err() {
            // Never: the sender is never dropped.
            std::future::pending::<()>().await;
        }
    }
}

/// Ready once this process has received a termination signal, or when the runtime has ended. Must be called within a
/// tokio runtime.
///
/// A separate task waits for the signal, so that polling this future is cheap during a game.
pub(crate) fn interrupted() -> oneshot::Receiver<()> {
    let mut signals = heed();
    let (sender, receiver) = oneshot::channel();
    tokio::spawn(async move {
        signals.recv().await;
        // The receiver has been dropped when the games are over.
        let _ = sender.send(());
    });
    receiver
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    fn has_come(signals: &mut StopSignals) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(signals.recv()).poll(&mut context).is_ready()
    }

    #[test]
    fn a_signal_is_heeded_once_also_if_it_came_before() {
        let first = watch::Sender::new(None);
        let mut early = StopSignals::of(&first);
        assert!(!has_come(&mut early));
        first.send_replace(Some(Instant::now()));
        for mut signals in [early, StopSignals::of(&first)] {
            assert!(has_come(&mut signals));
            assert!(!has_come(&mut signals));
        }
    }
}
