//! Ctrl-C and other termination signals.
//!
//! A thread listens for them from the start, so that they end the program whatever the others are doing, be it waiting
//! for a file or a stream. Commands that must put something in order first heed them.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::failure::Result;
use super::runtime::runtime;
use referee::bot::exhaustion::start_thread;
use referee::threads::locked;

struct Came {
    first: Option<Instant>,
    heeding: Vec<mpsc::Sender<()>>,
}

static CAME: Mutex<Came> = Mutex::new(Came::NONE);

/// After so many signals the program ends even if a command heeds them: it does not come to it.
const IMPATIENT: u32 = 3;

/// Starts to listen for SIGINT, SIGTERM and SIGHUP. While they are not heeded, `unheeded` is called, which is to end the
/// program; also at the third signal.
pub(crate) fn start(unheeded: fn()) -> Result<()> {
    let runtime = runtime()?;
    let count = AtomicU32::new(0);
    let came = move || {
        let is_heeded = locked(&CAME).tell();
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
    use referee::system::HeldSignals;
    use tokio::signal::unix::{SignalKind, signal};

    // A handler of our own makes a write beyond `ulimit -f` an error with a sentence, instead of the end of this process.
    // Bots do not inherit it.
    let _ = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?;
    let (sender, receiver) = mpsc::channel(4);
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ];
    // Between the system's handler and its entry in the list of handlers a signal would be lost. No other thread runs yet.
    let _held = HeldSignals::hold(&kinds.map(|kind| kind.as_raw_value()));
    for kind in kinds {
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
    locked(&CAME).first.map(|first| first.elapsed())
}

/// A message for each signal; while it exists, signals do not end the program by themselves.
pub(crate) type Stops = mpsc::Receiver<()>;

/// Heeds the signals that come from now on, and one that came before: the program was to end already.
pub(crate) fn heed() -> Stops {
    locked(&CAME).heed()
}

impl Came {
    const NONE: Self = Self {
        first: None,
        heeding: Vec::new(),
    };

    /// Whether it is heeded.
    fn tell(&mut self) -> bool {
        self.first.get_or_insert_with(Instant::now);
        let heeds = |sender: &mpsc::Sender<()>| {
            !matches!(sender.try_send(()), Err(TrySendError::Closed(())))
        };
        self.heeding.retain(heeds);
        !self.heeding.is_empty()
    }

    fn heed(&mut self) -> Stops {
        let (sender, stops) = mpsc::channel(4);
        if self.first.is_some() {
            let _ = sender.try_send(());
        }
        self.heeding.push(sender);
        stops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_heeded_once_also_if_it_came_before() {
        let mut came = Came::NONE;
        assert!(!came.tell());
        came = Came::NONE;
        let mut early = came.heed();
        assert!(early.try_recv().is_err());
        assert!(came.tell());
        for mut stops in [early, came.heed()] {
            assert!(stops.try_recv().is_ok());
            assert!(stops.try_recv().is_err());
        }
        assert!(!came.tell(), "nobody heeds them any more");
    }
}
