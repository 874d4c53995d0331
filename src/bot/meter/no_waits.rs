//! Where the system does not report how long threads wait for a CPU.

use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Waits {
    _nothing: (),
}

#[expect(clippy::unused_self, reason = "as on Linux")]
impl Waits {
    pub(super) const fn threads(&self) -> usize {
        1
    }

    pub(super) const fn since(&self, _: &Self) -> Duration {
        Duration::ZERO
    }
}

#[derive(Debug, Default)]
pub(super) struct Runnable {
    _nothing: (),
}

#[expect(clippy::unused_self, reason = "as on Linux")]
impl Runnable {
    pub(super) const fn is_empty(&self) -> bool {
        true
    }

    pub(super) const fn goes_on_from(&self, _: &Self) -> bool {
        false
    }
}
