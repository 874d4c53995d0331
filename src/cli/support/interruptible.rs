//! Work of this process itself that Ctrl-C ends early, with what it has found so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval};

use super::failure::Failure;
use super::signals;

/// How often somebody looks at the work.
const LOOK: Duration = Duration::from_millis(200);

/// Does the work on a thread of its own and sets its flag when somebody wants this process to
/// end. Says whether that was so.
pub(in crate::cli) fn stoppable<T: Send>(
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, Failure> + Send,
) -> Result<(T, bool), Failure> {
    let stop = Arc::default();
    let (done, interrupted) = watched(&stop, || Ok(()), || work(&stop))?;
    Ok((done?, interrupted))
}

/// The same for work that knows the flag, with a look at it every now and then; the work ends
/// when that look fails, too.
pub(in crate::cli) fn watched<T: Send>(
    stop: &AtomicBool,
    mut look: impl FnMut() -> Result<(), Failure>,
    work: impl FnOnce() -> T + Send,
) -> Result<(T, bool), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    thread::scope(|scope| {
        // However this ends, the work must, too: the scope waits for it.
        let _stop_at_end = StopAtEnd(stop);
        let mut interrupted = runtime.block_on(async { signals::interrupted() })?;
        let (tell, mut told) = oneshot::channel();
        scope.spawn(move || {
            // Somebody waits for it, unless a look has failed.
            let _ = tell.send(work());
        });
        runtime.block_on(async {
            let mut was_interrupted = false;
            let mut looks = interval(LOOK);
            looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    biased;
                    done = &mut told => {
                        let done = done
                            .map_err(|_| Failure::Referee("the work ended in a panic".to_owned()))?;
                        return Ok((done, was_interrupted));
                    }
                    () = &mut interrupted, if !was_interrupted => {
                        was_interrupted = true;
                        stop.store(true, Ordering::Relaxed);
                    }
                    _ = looks.tick() => look()?,
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
