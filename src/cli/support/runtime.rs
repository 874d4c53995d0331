//! The runtime of a command, work that Ctrl-C ends, and what bots leave behind.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Runtime;

use super::failure::{Failure, Result};
use super::output::note;
use super::signals;
use referee::bot::exhaustion::explain;
use referee::bot::orphans;
use referee::bot::runtime as bot_runtime;

pub(crate) fn runtime() -> Result<Runtime> {
    Ok(bot_runtime::new()?)
}

pub(crate) async fn until_interrupted<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut stops = signals::heed();
    // A game wakes this task every ply: poll the work first, the check for a signal is cheap.
    tokio::select! {
        biased;
        done = work => done,
        _ = stops.recv() => Err(Failure::Interrupted),
    }
}

const TICK: Duration = Duration::from_millis(200);

/// Runs `work` on a thread; a signal sets its stop flag, and is then the failure.
pub(crate) fn run_interruptible<T: Send>(
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T> + Send,
) -> Result<T> {
    let stop = Arc::default();
    match run_with_ticks(&stop, || (), || work(&stop))? {
        (Ok(_), true) => Err(Failure::Interrupted),
        (done, _) => done,
    }
}

pub(crate) fn run_with_ticks<T: Send>(
    stop: &AtomicBool,
    mut on_tick: impl FnMut(),
    work: impl FnOnce() -> T + Send,
) -> Result<(T, bool)> {
    // Until the end: a second signal must not cut off the clean-up.
    let (mut stops, mut interrupted) = (signals::heed(), false);
    thread::scope(|scope| {
        let (sender, result) = mpsc::channel();
        let working = move || drop(sender.send(work()));
        let spawned = thread::Builder::new().spawn_scoped(scope, working);
        spawned.map_err(|error| explain("a thread", &error))?;
        loop {
            match result.recv_timeout(TICK) {
                Ok(done) => return Ok((done, interrupted)),
                Err(RecvTimeoutError::Timeout) => on_tick(),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::Referee("the work ended in a panic".to_owned()));
                }
            }
            if stops.try_recv().is_ok() {
                interrupted = true;
                stop.store(true, Ordering::Relaxed);
            }
        }
    })
}

pub(crate) fn with_bots<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    // Until the end: a second signal must not cut off the clean-up.
    let _heeded = signals::heed();
    let result = bot_runtime::block_on(work);
    end_orphans();
    result
}

pub(crate) fn examine<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    with_bots(until_interrupted(Box::pin(work)))
}

pub(crate) fn end_orphans() {
    for survivor in orphans::sweep() {
        note!("warning: {survivor}");
    }
}
