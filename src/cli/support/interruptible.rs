//! Computations of this process that Ctrl-C stops early, with their results so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval};

use super::failure::Failure;
use super::runtime::runtime;
use super::signals;
use crate::bot::exhaustion::explain;

/// Time between two calls of `on_tick`.
const TICK: Duration = Duration::from_millis(200);

/// Runs `work` on a thread of its own and sets its stop flag on a termination signal. Returns
/// the result and whether it was interrupted.
pub(in crate::cli) fn run_interruptible<T: Send>(
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, Failure> + Send,
) -> Result<(T, bool), Failure> {
    let stop = Arc::default();
    let (done, interrupted) = run_with_ticks(&stop, || Ok(()), || work(&stop))?;
    Ok((done?, interrupted))
}

/// The same for work that already has the flag `stop`. Calls `on_tick` several times a second;
/// its error stops the work, too.
pub(in crate::cli) fn run_with_ticks<T: Send>(
    stop: &AtomicBool,
    mut on_tick: impl FnMut() -> Result<(), Failure>,
    work: impl FnOnce() -> T + Send,
) -> Result<(T, bool), Failure> {
    // A second signal must not cut off what the first one lets end.
    let _heeded = signals::heed();
    let runtime = runtime()?;
    thread::scope(|scope| {
        // The scope waits for the work, so every way out of it must stop the work.
        let _stop_at_end = StopAtEnd(stop);
        let mut interrupted = {
            let _inside = runtime.enter();
            signals::interrupted()
        };
        let (sender, mut result) = oneshot::channel();
        let spawned = thread::Builder::new().spawn_scoped(scope, move || {
            // The receiver is only gone when `on_tick` has failed.
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
                    () = &mut interrupted, if !was_interrupted => {
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
