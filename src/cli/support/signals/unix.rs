//! Signals on Linux, macOS and the BSDs.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::system::is_ignored;

pub(super) struct Terminations {
    signals: Vec<Signal>,
    /// A handler of our own makes a write beyond `ulimit -f` an error with a sentence, instead of the
    /// end of this process. Bots do not inherit it.
    _beyond_limit: Signal,
}

impl Terminations {
    /// SIGINT, SIGTERM and SIGHUP, but for those that are ignored. Must be called within a tokio runtime.
    pub(super) fn listen() -> io::Result<Self> {
        let beyond_limit = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let heeded = kinds
            .into_iter()
            .filter(|kind| !is_ignored(kind.as_raw_value()));
        Ok(Self {
            signals: heeded.map(signal).collect::<io::Result<_>>()?,
            _beyond_limit: signal(beyond_limit)?,
        })
    }

    pub(super) async fn recv(&mut self) {
        poll_fn(|cx| {
            let is_ready = |signal: &mut Signal| signal.poll_recv(cx).is_ready();
            if self.signals.iter_mut().any(is_ready) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}
