//! Detects times in which the referee itself did not run. A clock that runs out then is not the bot's
//! fault.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use crate::bot::Fault;
use crate::bot::exhaustion::start_thread;

/// How often the detector reads the clock.
const BEAT: Duration = Duration::from_millis(25);

/// Waking up this late is normal.
const TOLERATED: Duration = Duration::from_millis(5);

/// A suspension of the machine that is shorter than this is ignored.
const SUSPENDED: Duration = Duration::from_secs(1);

/// Measures the referee's own delays: a thread wakes up at a fixed interval and adds up by how much it
/// was late.
#[derive(Debug)]
pub struct StallDetector {
    beats: Arc<Mutex<Beats>>,
    stop: Arc<AtomicBool>,
    beating: Option<JoinHandle<()>>,
    thread: Thread,
}

/// What the thread has measured.
#[derive(Debug)]
struct Beats {
    /// The sum of all delays beyond [`TOLERATED`].
    late: Duration,
    /// When the thread last went to sleep.
    last: Instant,
}

impl Beats {
    /// The sum of all delays, including that of the current sleep: after a standstill, other threads
    /// may run before this one does.
    fn late(&self) -> Duration {
        self.late + self.last.elapsed().saturating_sub(BEAT + TOLERATED)
    }
}

/// The state of the detector when a game began.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    late: Duration,
    asleep: Duration,
}

impl StallDetector {
    /// Starts the thread. The error says which limit keeps it from being started.
    pub fn start() -> io::Result<Self> {
        let beats = Arc::new(Mutex::new(Beats {
            late: Duration::ZERO,
            last: Instant::now(),
        }));
        let stop = Arc::new(AtomicBool::new(false));
        let beating = {
            let (beats, stop) = (Arc::clone(&beats), Arc::clone(&stop));
            start_thread("clock", move || {
                while !stop.load(Ordering::Relaxed) {
                    thread::park_timeout(BEAT);
                    let mut beats = beats.lock().unwrap_or_else(PoisonError::into_inner);
                    beats.late = beats.late();
                    beats.last = Instant::now();
                }
            })?
        };
        Ok(Self {
            beats,
            stop,
            thread: beating.thread().clone(),
            beating: Some(beating),
        })
    }

    /// The current state.
    pub fn mark(&self) -> Mark {
        Mark {
            late: self
                .beats
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .late(),
            asleep: asleep(),
        }
    }

    /// Why a game that began at `since` and ended with this fault is void: a sentence. `None` unless a
    /// clock ran out for which the referee may be to blame.
    pub fn void_reason(&self, since: &Mark, fault: &Fault) -> Option<String> {
        let Fault::Timeout(timeout) = fault else {
            return None;
        };
        let now = self.mark();
        if now.asleep.saturating_sub(since.asleep) >= SUSPENDED {
            return Some("the machine was suspended".to_owned());
        }
        let ms = |time: Duration| format!("{:.0} ms", time.as_secs_f64() * 1000.0);
        if timeout.unwatched > TOLERATED {
            return Some(format!(
                "the referee was not running for {} when the time ended, and then found an answer",
                ms(timeout.unwatched)
            ));
        }
        let late = now.late.saturating_sub(since.late);
        let much = (timeout.allowance.total(timeout.fresh) / 10).max(4 * TOLERATED);
        (late >= much).then(|| {
            format!(
                "the machine was so busy that the referee itself was not running for {} of the game",
                ms(late)
            )
        })
    }
}

#[cfg(test)]
impl StallDetector {
    /// A detector that takes every moment for one in which the referee did not run, or none.
    pub(super) fn fixed(late: bool) -> Self {
        let mut detector = Self::start().unwrap();
        detector.stop.store(true, Ordering::Relaxed);
        detector.thread.unpark();
        let _ = detector.beating.take().map(JoinHandle::join);
        // Its thread has ended, so it stays asleep since then.
        let now = Instant::now();
        detector.beats.lock().unwrap().last = if late {
            now.checked_sub(2 * BEAT).unwrap()
        } else {
            now + Duration::from_hours(1)
        };
        detector
    }
}

impl Drop for StallDetector {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.unpark();
        if let Some(beating) = self.beating.take() {
            // The thread does not panic; if it did, that could not be handled here.
            let _ = beating.join();
        }
    }
}

/// How long the machine has been suspended since it was booted.
#[cfg(target_os = "linux")]
fn asleep() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = |clock| {
        let time = clock_gettime(clock);
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
    };
    time(ClockId::Boottime).saturating_sub(time(ClockId::Monotonic))
}

/// This system does not report it.
#[cfg(not(target_os = "linux"))]
fn asleep() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bot::Allowance;
    use crate::bot::fault::{ProcessState, Timeout, TimeoutEvidence};

    fn timeout(unwatched: Duration) -> Fault {
        Fault::Timeout(Box::new(Timeout {
            asked: String::new(),
            allowance: Allowance {
                time: Duration::from_secs(1),
                start: Duration::ZERO,
                clock: false,
            },
            fresh: false,
            evidence: TimeoutEvidence::Nothing(ProcessState::Waiting),
            afterwards: Vec::new(),
            unwatched,
            language: None,
        }))
    }

    fn delay(detector: &StallDetector, late: Duration) {
        detector.beats.lock().unwrap().late += late;
    }

    #[test]
    fn only_timeouts_are_void() {
        let detector = StallDetector::fixed(false);
        let since = detector.mark();
        delay(&detector, Duration::from_secs(10));
        let start = b"x".to_vec();
        assert_eq!(
            detector.void_reason(&since, &Fault::LineTooLong { start }),
            None
        );
        let reason = detector.void_reason(&since, &timeout(Duration::ZERO));
        assert!(reason.unwrap_or_default().contains("10000 ms"));
    }

    #[test]
    fn a_short_delay_voids_nothing() {
        let detector = StallDetector::fixed(false);
        let since = detector.mark();
        delay(&detector, Duration::from_millis(99));
        assert_eq!(detector.void_reason(&since, &timeout(Duration::ZERO)), None);
        delay(&detector, Duration::from_millis(1));
        assert!(
            detector
                .void_reason(&since, &timeout(Duration::ZERO))
                .is_some()
        );
        // Delays before the game do not count.
        assert_eq!(
            detector.void_reason(&detector.mark(), &timeout(Duration::ZERO)),
            None
        );
    }

    #[test]
    fn a_standstill_counts_before_the_thread_itself_wakes_up() {
        let detector = StallDetector::fixed(false);
        let since = detector.mark();
        detector.beats.lock().unwrap().last = Instant::now().checked_sub(10 * BEAT).unwrap();
        assert!(
            detector
                .void_reason(&since, &timeout(Duration::ZERO))
                .is_some()
        );
    }

    #[test]
    fn an_answer_found_late_voids() {
        let detector = StallDetector::fixed(false);
        let since = detector.mark();
        let found = timeout(Duration::from_millis(50));
        assert!(detector.void_reason(&since, &found).is_some());
        let tolerated = timeout(Duration::from_millis(2));
        assert_eq!(detector.void_reason(&since, &tolerated), None);
    }

    #[test]
    fn suspension_voids() {
        let detector = StallDetector::fixed(false);
        let since = Mark {
            asleep: Duration::ZERO,
            late: Duration::ZERO,
        };
        let slept = detector.mark().asleep >= SUSPENDED;
        let reason = detector.void_reason(&since, &timeout(Duration::ZERO));
        assert_eq!(reason.is_some(), slept);
    }
}
