//! Ctrl-C and other termination signals.
//!
//! A thread listens for them from the start, so that they end the program whatever the others are doing, be it waiting
//! for a file or a stream. Commands that must put something in order first heed them.

use std::sync::LazyLock;
use std::sync::atomic::AtomicU32;

use tokio::sync::{mpsc, watch};

use super::prelude::*;

/// When the first termination signal came; changes with each one.
static FIRST: LazyLock<watch::Sender<Option<Instant>>> = LazyLock::new(|| watch::Sender::new(None));

/// After so many signals the program ends even if a command heeds them: it does not come to it.
const IMPATIENT: u32 = 3;

/// Starts to listen for SIGINT, SIGTERM and SIGHUP. While they are not heeded, `unheeded` is called, which is to end the
/// program; also at the third signal.
pub(crate) fn start(unheeded: fn()) -> Result<()> {
    let runtime = runtime()?;
    let count = AtomicU32::new(0);
    let came = move || {
        // Asked first: who receives it may then be done with signals.
        let is_heeded = FIRST.receiver_count() > 0;
        FIRST.send_modify(|first| *first = first.or_else(|| Some(Instant::now())));
        if !is_heeded || count.fetch_add(1, Ordering::Relaxed) + 1 >= IMPATIENT {
            unheeded();
        }
    };
    let mut received = {
        let _inside = runtime.enter();
        listen()?
    };
    start_thread("signals", move || {
        runtime.block_on(async {
            while received.recv().await.is_some() {
                came();
            }
        });
    })?;
    Ok(())
}

/// A signal that was ignored when this process was started stays ignored, as `nohup` and the shell's `&` want it.
#[cfg(unix)]
fn listen() -> io::Result<mpsc::Receiver<()>> {
    use tokio::signal::unix::{SignalKind, signal};

    // A handler of our own makes a write beyond `ulimit -f` an error with a sentence, instead of the end of this process.
    // Bots do not inherit it.
    let _ = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?;
    let (sender, receiver) = mpsc::channel(4);
    for kind in [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ] {
        if !referee::system::is_ignored(kind.as_raw_value()) {
            let (mut signals, sender) = (signal(kind)?, sender.clone());
            tokio::spawn(async move {
                while signals.recv().await.is_some() && sender.send(()).await.is_ok() {}
            });
        }
    }
    Ok(receiver)
}

/// Ctrl-C, Ctrl-Break, and the end of the console's window.
#[cfg(windows)]
fn listen() -> io::Result<mpsc::Receiver<()>> {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close};

    let (mut ctrl_c, mut ctrl_break, mut close) = (ctrl_c()?, ctrl_break()?, ctrl_close()?);
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = ctrl_c.recv() => {}
                _ = ctrl_break.recv() => {}
                _ = close.recv() => {}
            }
            if sender.send(()).await.is_err() {
                break;
            }
        }
    });
    Ok(receiver)
}

pub(crate) fn since_first() -> Option<Duration> {
    FIRST.borrow().map(|first| first.elapsed())
}

/// While it exists, signals do not end the program by themselves.
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
        // The sender is never dropped.
        let _ = self.0.changed().await;
    }
}

/// A message for each signal.
pub(crate) type Stops = mpsc::Receiver<()>;

/// Must be called within a runtime.
pub(crate) fn stops() -> Stops {
    let mut signals = heed();
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        loop {
            signals.recv().await;
            if sender.send(()).await.is_err() {
                break;
            }
        }
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
