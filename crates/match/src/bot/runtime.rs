//! The runtime in which bots are started: one on each thread that plays or asks.

use std::future::Future;
use std::io;

use tokio::runtime::{Builder, Runtime};

use super::exhaustion::explain;
use super::orphans;

pub fn new() -> io::Result<Runtime> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|error| explain("the runtime", &error))
}

/// Runs `work`, which starts bots, on this thread.
pub fn block_on<T, E: From<io::Error>>(work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let runtime = new()?;
    let result = runtime.block_on(async {
        orphans::adopt();
        work.await
    });
    // A solver may be working, or the keyboard be read.
    runtime.shutdown_background();
    result
}
