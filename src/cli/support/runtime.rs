//! The runtime of a command, work that Ctrl-C ends, and what bots leave behind.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval};

use super::prelude::*;
use super::signals;
use crate::bot::exhaustion::explain;
use crate::bot::orphans;

/// On this thread. The failure names the limit of the system that is reached.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|error| explain("the runtime", &error).into())
}

/// Drops `work` and fails with [`Failure::Interrupted`] on a termination signal.
pub(crate) async fn until_interrupted<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let mut interrupted = signals::interrupted();
    // A game wakes this task every ply: poll the work first, the check for a signal is cheap.
    tokio::select! {
        biased;
        done = work => done,
        _ = &mut interrupted => Err(Failure::Interrupted),
    }
}

const TICK: Duration = Duration::from_millis(200);

/// Runs `work` on a thread; a signal sets its stop flag. Returns whether it was interrupted.
pub(crate) fn run_interruptible<T: Send>(
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, Failure> + Send,
) -> Result<(T, bool), Failure> {
    let stop = Arc::default();
    let (done, interrupted) = run_with_ticks(&stop, || Ok(()), || work(&stop))?;
    Ok((done?, interrupted))
}

/// As [`run_interruptible`], with `on_tick` called several times a second, whose error stops the work.
pub(crate) fn run_with_ticks<T: Send>(
    stop: &AtomicBool,
    mut on_tick: impl FnMut() -> Result<(), Failure>,
    work: impl FnOnce() -> T + Send,
) -> Result<(T, bool), Failure> {
    // A second signal must not cut off the clean-up.
    let _heeded = signals::heed();
    let runtime = runtime()?;
    thread::scope(|scope| {
        // The scope waits for the work: every way out must stop it.
        let _stop_at_end = StopAtEnd(stop);
        let mut interrupted = {
            let _inside = runtime.enter();
            signals::interrupted()
        };
        let (sender, mut result) = oneshot::channel();
        let spawned = thread::Builder::new().spawn_scoped(scope, move || {
            // Without a receiver `on_tick` has failed.
            let _ = sender.send(work());
        });
        spawned.map_err(|error| explain("a thread", &error))?;
        runtime.block_on(async {
            let mut was_interrupted = false;
            let mut ticks = interval(TICK);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    biased;
                    done = &mut result => {
                        let done = done
                            .map_err(|_| Failure::Referee("the work ended in a panic".to_owned()))?;
                        return Ok((done, was_interrupted));
                    }
                    _ = &mut interrupted, if !was_interrupted => {
                        was_interrupted = true;
                        stop.store(true, Ordering::Relaxed);
                    }
                    _ = ticks.tick() => on_tick()?,
                }
            }
        })
    })
}

struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work`, then kills what its bots left behind.
pub(crate) fn with_bots<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        orphans::adopt();
        work.await
    });
    end_orphans();
    result
}

/// Asks bots questions until it is done or interrupted, and ends what they leave behind. A second signal does not keep
/// them from being killed.
pub(crate) fn examine<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let _heeded = signals::heed();
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        orphans::adopt();
        until_interrupted(Box::pin(work)).await
    });
    end_orphans();
    // A solver may be working, or the keyboard be read.
    runtime.shutdown_background();
    result
}

/// Call it only when every bot has been stopped.
pub(crate) fn end_orphans() {
    for survivor in orphans::sweep() {
        note!("warning: {survivor}");
    }
}
