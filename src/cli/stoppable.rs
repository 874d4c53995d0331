//! Work of this process itself that Ctrl-C ends early, with what it has found so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::sync::oneshot;

use super::failure::Failure;
use super::signals;

/// Does the work on a thread of its own and sets its flag when somebody wants this process to
/// end. Says whether that was so.
pub(super) fn stoppable<T: Send>(
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, Failure> + Send,
) -> Result<(T, bool), Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    thread::scope(|scope| {
        let (tell, mut told) = oneshot::channel();
        let flag = Arc::clone(&stop);
        let interrupted = runtime.block_on(async { signals::interrupted() })?;
        scope.spawn(move || {
            // Somebody waits for it.
            let _ = tell.send(work(&flag));
        });
        runtime.block_on(async {
            let ended = tokio::select! {
                biased;
                done = &mut told => Some(done),
                () = interrupted => None,
            };
            let done = if let Some(done) = ended {
                done
            } else {
                stop.store(true, Ordering::Relaxed);
                told.await
            };
            let done =
                done.map_err(|_| Failure::Referee("the work ended in a panic".to_owned()))?;
            Ok((done?, stop.load(Ordering::Relaxed)))
        })
    })
}
