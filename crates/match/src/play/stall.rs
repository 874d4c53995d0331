//! Detects times in which the referee itself did not run. A clock that runs out then is not the bot's fault.
//!
//! A referee that waits for a CPU proves nothing where the system reports such waits: that of the bot was not charged.
//! What is left is a referee, or a machine, that was stopped.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::bot::Fault;
use crate::bot::exhaustion::start_thread;
use crate::bot::meter::stolen::StolenTimeReader;
use referee_host::threads::locked;
use referee_sandbox::procfs::this_thread_cpu_wait;
use referee_text::format_duration;

const BEAT: Duration = Duration::from_millis(25);

/// Waking up this late is normal.
const TOLERATED: Duration = Duration::from_millis(5);

/// Threads of an idle machine wake up less late than this.
const CROWDED: Duration = Duration::from_millis(1);

/// For how long a machine counts as crowded after a thread has woken up late.
const RECENTLY: Duration = Duration::from_secs(1);

/// How long a late thread has to run again, on a very busy machine, before it counts as stopped.
const CATCHING_UP: Duration = Duration::from_secs(2);

/// A thread wakes up at a fixed interval and adds up by how much it was late.
#[derive(Debug)]
pub struct StallDetector {
    beats: Arc<Mutex<Beats>>,
    stop: Arc<AtomicBool>,
    beating: Option<JoinHandle<()>>,
    catching_up: Duration,
}

#[derive(Debug)]
struct Beats {
    /// All delays beyond [`TOLERATED`], without those in which the thread waited for a CPU.
    stopped: Duration,
    /// The time at which the thread last went to sleep.
    last: Instant,
    /// When it last woke up late, for whatever reason.
    crowded: Option<Instant>,
}

impl Beats {
    fn current(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.last)
            .saturating_sub(BEAT + TOLERATED)
    }

    /// The thread ran at `now`, after it has waited this long for a CPU.
    fn beat(&mut self, now: Instant, waited: Duration) {
        self.stopped += self.current(now).saturating_sub(waited);
        if now.saturating_duration_since(self.last) > BEAT + CROWDED {
            self.crowded = Some(now);
        }
        self.last = now;
    }

    fn is_crowded(&self, now: Instant) -> bool {
        self.crowded
            .is_some_and(|at| now.saturating_duration_since(at) < RECENTLY)
    }
}

/// How long the referee had not been running.
#[derive(Clone, Copy, Debug)]
pub struct Mark(Duration);

impl StallDetector {
    /// The error says which limit keeps the thread from being started.
    pub fn start() -> io::Result<Self> {
        let beats = Arc::new(Mutex::new(Beats {
            stopped: Duration::ZERO,
            last: Instant::now(),
            crowded: None,
        }));
        let stop = Arc::new(AtomicBool::new(false));
        let beating = {
            let (beats, stop) = (Arc::clone(&beats), Arc::clone(&stop));
            start_thread("clock", move || {
                let mut before = this_thread_cpu_wait().unwrap_or_default();
                let mut stolen = StolenTimeReader::start();
                while !stop.load(Ordering::Relaxed) {
                    thread::park_timeout(BEAT);
                    // Read first: what keeps the thread from running after that is in the wait.
                    let now = Instant::now();
                    let waited = this_thread_cpu_wait().unwrap_or_default();
                    locked(&beats).beat(now, waited.saturating_sub(before));
                    before = waited;
                    stolen.look(now);
                }
            })?
        };
        Ok(Self {
            beats,
            stop,
            catching_up: CATCHING_UP,
            beating: Some(beating),
        })
    }

    /// Including the current sleep: after a standstill, other threads may run before this one does.
    pub fn mark(&self) -> Mark {
        let beats = locked(&self.beats);
        Mark(beats.stopped + beats.current(Instant::now()))
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(beating) = self.beating.take() {
            beating.thread().unpark();
            // The thread does not panic.
            let _ = beating.join();
        }
    }

    /// Only when the thread has run again is it known whether it waited for a CPU.
    async fn catch_up(&self) {
        let since = Instant::now();
        while !locked(&self.beats).current(Instant::now()).is_zero()
            && since.elapsed() < self.catching_up
        {
            tokio::time::sleep(TOLERATED).await;
        }
    }

    /// Why a game that began at `since` and ended with this fault is void: a sentence. `None` unless a clock ran out
    /// for which the referee may be to blame.
    pub async fn void_reason(&self, since: &Mark, fault: &Fault) -> Option<String> {
        let Fault::Timeout(timeout) = fault else {
            return None;
        };
        self.catch_up().await;
        let now = self.mark();
        let usage = timeout.usage.unwrap_or_default();
        let total = timeout.allowance.total(timeout.fresh);
        // It has had the CPU for all of its time, whatever else happened.
        let has_had_its_time = timeout.computed_at_least() >= total;
        let tolerated = if locked(&self.beats).is_crowded(Instant::now()) {
            Duration::ZERO
        } else {
            TOLERATED
        };
        if timeout.unwatched > tolerated && !(has_had_its_time && usage.threads == 1) {
            return Some(format!(
                "the referee was not running for {} when the time ended, and then found an answer",
                format_duration(timeout.unwatched)
            ));
        }
        if has_had_its_time {
            return None;
        }
        if timeout.was_starved() {
            let waited = format_duration(timeout.waited_at_most());
            let (what, ran) = (usage.waited_for(), format_duration(usage.cpu));
            return Some(if usage.cpu < total {
                format!(
                    "the machine was so busy that the bot waited up to {waited} for {what}, and ran for {ran} only"
                )
            } else {
                format!(
                    "the machine was so busy that the bot waited up to {waited} for {what}, and that the {ran} for which it ran may have been less than {} on a machine of its own",
                    format_duration(total)
                )
            });
        }
        let much = (total / 10).max(4 * TOLERATED);
        let stopped = now.0.saturating_sub(since.0);
        (stopped >= much).then(|| {
            format!(
                "the referee itself was not running for {} of the game: it, or the machine, had been stopped{}",
                format_duration(stopped),
                // There a wait for a CPU is not told from that.
                if usage.waited.is_some() { "" } else { ", or was very busy" }
            )
        })
    }
}

impl StallDetector {
    /// For tests: every moment counts as one in which the referee did not run, or none.
    pub(super) fn fixed(late: bool) -> Self {
        let mut detector = Self::start().expect("a thread starts");
        detector.catching_up = Duration::ZERO;
        detector.end();
        // Its thread has exited, so it stays asleep since then.
        let now = Instant::now();
        locked(&detector.beats).last = if late {
            now.checked_sub(2 * BEAT)
                .expect("the system has run that long")
        } else {
            now + Duration::from_hours(1)
        };
        detector
    }
}

impl Drop for StallDetector {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bot::fault::Timeout;
    use crate::bot::meter::TurnUsage;
    use crate::play::clock::{Clock, TimeControl};

    fn timeout(unwatched: Duration) -> Fault {
        Fault::Timeout(Box::new(Timeout {
            unwatched,
            ..silence(None)
        }))
    }

    /// A bot that did not answer within a second, and what it had used.
    fn silence(usage: Option<TurnUsage>) -> Timeout {
        let control = TimeControl {
            move_time: Some(Duration::from_secs(1)),
            start_time: Duration::ZERO,
            ..TimeControl::default()
        };
        let allowance = Clock::new(control).allowance();
        Timeout {
            usage,
            ..Timeout::new("", allowance, false, Duration::from_secs(1))
        }
    }

    fn slept() -> Timeout {
        silence(Some(TurnUsage {
            waited: Some(Duration::ZERO),
            ..TurnUsage::default()
        }))
    }

    fn delay(detector: &StallDetector, late: Duration) {
        detector.beats.lock().unwrap().stopped += late;
    }

    #[tokio::test]
    async fn only_timeouts_are_void() {
        let detector = StallDetector::fixed(false);
        let since = detector.mark();
        delay(&detector, Duration::from_secs(10));
        let start = b"x".to_vec();
        let fault = Fault::LineTooLong { start };
        assert_eq!(detector.void_reason(&since, &fault).await, None);
        let reason = detector.void_reason(&since, &timeout(Duration::ZERO)).await;
        assert!(reason.unwrap_or_default().contains("for 10 s of the game"));
    }

    #[tokio::test]
    async fn a_short_delay_voids_nothing() {
        let detector = StallDetector::fixed(false);
        let since = detector.mark();
        let fault = timeout(Duration::ZERO);
        delay(&detector, Duration::from_millis(99));
        assert_eq!(detector.void_reason(&since, &fault).await, None);
        delay(&detector, Duration::from_millis(1));
        assert!(detector.void_reason(&since, &fault).await.is_some());
        let now = detector.mark();
        assert_eq!(detector.void_reason(&now, &fault).await, None);
    }

    #[tokio::test]
    async fn a_standstill_counts_before_the_thread_itself_wakes_up() {
        let detector = StallDetector::fixed(false);
        let since = detector.mark();
        detector.beats.lock().unwrap().last = Instant::now().checked_sub(10 * BEAT).unwrap();
        let reason = detector.void_reason(&since, &timeout(Duration::ZERO)).await;
        assert!(reason.is_some());
    }

    #[test]
    fn a_thread_that_waits_for_a_processor_is_not_stopped() {
        let stopped = |waited| {
            let mut beats = Beats {
                stopped: Duration::ZERO,
                last: Instant::now().checked_sub(2 * BEAT + TOLERATED).unwrap(),
                crowded: None,
            };
            beats.beat(Instant::now(), waited);
            beats.stopped
        };
        assert!(stopped(Duration::ZERO) >= BEAT);
        assert_eq!(stopped(Duration::from_hours(1)), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_bot_that_was_kept_from_running_voids() {
        let detector = StallDetector::fixed(false);
        let since = detector.mark();
        let longest = slept().allowance.longest(false);
        let fault = Fault::Timeout(Box::new(Timeout {
            elapsed: longest,
            excused: longest,
            ..slept()
        }));
        let reason = detector.void_reason(&since, &fault).await;
        assert!(reason.unwrap_or_default().contains("for a CPU"));
    }

    #[tokio::test]
    async fn a_bot_that_has_had_the_cpu_for_its_time_loses() {
        let detector = StallDetector::fixed(false);
        let since = detector.mark();
        detector.beats.lock().unwrap().stopped += Duration::from_secs(10);
        let with = |cpu, has_lost| {
            let usage = TurnUsage {
                cpu: Duration::from_millis(cpu),
                waited: Some(Duration::ZERO),
                has_lost,
                ..TurnUsage::default()
            };
            Fault::Timeout(Box::new(silence(Some(usage))))
        };
        assert!(
            detector
                .void_reason(&since, &with(900, false))
                .await
                .is_some()
        );
        assert_eq!(detector.void_reason(&since, &with(1000, false)).await, None);
        assert_eq!(detector.void_reason(&since, &with(10, true)).await, None);
    }

    /// It ran for longer than its limit, on a CPU that it shared with so many that this says nothing.
    #[tokio::test]
    async fn a_bot_that_ran_on_a_crowded_cpu_voids() {
        let detector = StallDetector::fixed(false);
        let since = detector.mark();
        let usage = TurnUsage {
            cpu: Duration::from_millis(1100),
            waited: Some(Duration::from_secs(6)),
            cpu_in_doubt: Duration::from_millis(700),
            ..TurnUsage::default()
        };
        let elapsed = Duration::from_millis(7100);
        let fault = |usage: TurnUsage| {
            Fault::Timeout(Box::new(Timeout {
                elapsed,
                excused: usage.excused_at_most(elapsed),
                ..silence(Some(usage))
            }))
        };
        let reason = detector.void_reason(&since, &fault(usage)).await;
        assert_eq!(
            reason.as_deref(),
            Some(
                "the machine was so busy that the bot waited up to 6 s for a CPU, and that the 1.1 s for which it ran may \
                 have been less than 1 s on a machine of its own"
            )
        );
        let certain = TurnUsage {
            cpu_in_doubt: Duration::ZERO,
            ..usage
        };
        assert_eq!(detector.void_reason(&since, &fault(certain)).await, None);
    }

    #[tokio::test]
    async fn an_answer_found_late_voids() {
        let detector = StallDetector::fixed(false);
        let since = detector.mark();
        let found = timeout(Duration::from_millis(50));
        assert!(detector.void_reason(&since, &found).await.is_some());
        let tolerated = timeout(Duration::from_millis(2));
        assert_eq!(detector.void_reason(&since, &tolerated).await, None);
        detector.beats.lock().unwrap().crowded = Some(Instant::now());
        assert!(detector.void_reason(&since, &tolerated).await.is_some());
    }
}
