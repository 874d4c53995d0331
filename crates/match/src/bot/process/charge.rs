//! The wall time a bot may take, given its usage and its waits for a CPU and for the disk.
//!
//! A bot is not charged for being runnable without a CPU, nor for waiting for the disk, such as for pages of its own
//! program. It is charged for its CPU time, and for sleeping and other waits: a program that computes is stopped once it
//! has had a CPU for its limit, however busy the machine.
//!
//! The kernel counts a wait for a CPU only at its end, and one for the disk is known by looking. A bot that may be waiting
//! at its limit gets time in small steps until that is known; an answer in one of them is accepted if its time then proves
//! not to have been over. Where that cannot be told, the game is void (`play/stall.rs`).

use std::time::Duration;

use crate::bot::meter::{self, TurnUsage};
use crate::bot::player::{Allowance, ClockKind};
use referee_host::threads;

/// Least extension: shorter ones cost more than they give.
const STEP: Duration = Duration::from_millis(1);

/// Between looks at a bot that may be waiting for a CPU.
const DOUBT_STEP: Duration = Duration::from_millis(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extension {
    /// The new limit in wall time, from the question.
    pub(super) limit: Duration,
    /// Whether the bot is entitled to it. If not, that is known when it has next had a CPU.
    pub(super) is_certain: bool,
}

/// The wall time after which usage is first read: after `look`, if a look within the limit tells more.
pub(super) fn first_limit(allowance: &Allowance, fresh: bool, look: Option<Duration>) -> Duration {
    let total = allowance.total(fresh);
    let limit = match allowance.kind {
        ClockKind::Wall => total,
        // It may run on all CPUs at the same time.
        ClockKind::Cpu => (total / processors()).max(STEP),
    };
    look.map_or(limit, |look| look.min(limit))
}

pub(super) fn looking(more: Extension, elapsed: Duration, look: Option<Duration>) -> Extension {
    let next = look.map_or(more.limit, |look| elapsed.saturating_add(look));
    Extension {
        limit: more.limit.min(next),
        ..more
    }
}

/// The bot's time, `elapsed` after the question, with this usage; `None` when its time is over.
pub(super) fn extension(
    allowance: &Allowance,
    fresh: bool,
    elapsed: Duration,
    usage: &TurnUsage,
) -> Option<Extension> {
    let total = allowance.total(fresh);
    let longest = allowance.longest(fresh);
    if elapsed >= longest {
        return None;
    }
    let certain = |limit: Duration| Extension {
        limit: limit.max(elapsed.saturating_add(STEP)).min(longest),
        is_certain: true,
    };
    match allowance.kind {
        ClockKind::Wall => {
            let limit = total.saturating_add(usage.excused(elapsed));
            let at_most = total.saturating_add(usage.excused_at_most(elapsed));
            if limit > elapsed {
                Some(certain(limit))
            } else if at_most > elapsed {
                Some(Extension {
                    limit: elapsed.saturating_add(DOUBT_STEP).min(longest),
                    is_certain: false,
                })
            } else {
                None
            }
        }
        ClockKind::Cpu => {
            let left = total.saturating_sub(usage.charged_cpu(elapsed));
            let at_once = u32::try_from(usage.threads).unwrap_or(u32::MAX);
            let left_each = left / at_once.clamp(1, processors());
            (!left.is_zero()).then(|| certain(elapsed.saturating_add(left_each)))
        }
    }
}

/// Whether a turn on a wall clock may be charged less than it took: if it was `late`, or it comes
/// off a game clock and was long enough to matter.
pub(super) fn may_be_less(allowance: &Allowance, elapsed: Duration, late: bool) -> bool {
    late || (allowance.is_counted && elapsed >= meter::LONG)
}

/// For how long the referee was not running, when it sees an answer after `limit` only at
/// `elapsed`: its timer would have fired at the limit. When the answer came in between, and how
/// much of that the bot waited, is unknown. CPU clocks need no timer.
pub(super) fn unwatched(allowance: &Allowance, elapsed: Duration, limit: Duration) -> Duration {
    match allowance.kind {
        ClockKind::Wall => elapsed.saturating_sub(limit),
        ClockKind::Cpu => Duration::ZERO,
    }
}

/// Whether an answer that the referee found `elapsed` after the question may have come in time: `limit` is the wall time up
/// to which it watched, and no wait is longer than possible.
pub(super) fn may_be_in_time(
    allowance: &Allowance,
    fresh: bool,
    elapsed: Duration,
    limit: Duration,
    usage: &TurnUsage,
) -> bool {
    let unwatched = unwatched(allowance, elapsed, limit);
    let excused = usage.excused_at_most(elapsed);
    let at_least = elapsed.saturating_sub(excused).saturating_sub(unwatched);
    let computed = if usage.threads == 1 {
        usage.least_cpu()
    } else {
        Duration::ZERO
    };
    !usage.has_lost && at_least.max(computed) <= allowance.total(fresh)
}

/// The CPUs that this program, and thus a bot, may use.
fn processors() -> u32 {
    u32::try_from(threads::processors()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMIT: Duration = Duration::from_millis(150);

    fn allowance(kind: ClockKind) -> Allowance {
        Allowance {
            time: LIMIT,
            start: Duration::ZERO,
            clock: false,
            is_counted: false,
            kind,
            benefit_of_doubt: false,
        }
    }

    fn usage(cpu: u64, waited: Option<u64>, threads: usize) -> TurnUsage {
        TurnUsage {
            cpu: Duration::from_millis(cpu),
            waited: waited.map(Duration::from_millis),
            threads,
            ..TurnUsage::default()
        }
    }

    /// A bot of one thread that may have waited longer than is known.
    fn in_doubt(cpu: u64, waited: u64, uncertain: u64) -> TurnUsage {
        TurnUsage {
            uncertain: Duration::from_millis(uncertain),
            ..usage(cpu, Some(waited), 1)
        }
    }

    fn extension_of(kind: ClockKind, elapsed: u64, usage: &TurnUsage) -> Option<(u128, bool)> {
        let elapsed = Duration::from_millis(elapsed);
        let more = extension(&allowance(kind), false, elapsed, usage);
        more.map(|more| (more.limit.as_millis(), more.is_certain))
    }

    /// The limit of a certain extension.
    fn wall(elapsed: u64, usage: TurnUsage) -> Option<u128> {
        let more = extension_of(ClockKind::Wall, elapsed, &usage);
        more.map(|(limit, is_certain)| {
            assert!(is_certain);
            limit
        })
    }

    #[test]
    fn waiting_for_a_processor_is_not_charged() {
        assert_eq!(wall(150, usage(35, Some(115), 1)), Some(265));
        assert_eq!(wall(265, usage(70, Some(190), 1)), Some(340));
    }

    #[test]
    fn sleeping_is_charged() {
        assert_eq!(wall(150, usage(1, Some(0), 1)), None);
        assert_eq!(wall(150, usage(1, None, 1)), None);
        // It waited for a CPU for 20 ms and slept for the rest.
        assert_eq!(wall(150, usage(30, Some(20), 1)), Some(170));
        assert_eq!(wall(170, usage(30, Some(20), 1)), None);
    }

    #[test]
    fn waiting_for_the_disk_is_not_charged() {
        let reads = |cpu, disk| TurnUsage {
            disk: Duration::from_millis(disk),
            ..usage(cpu, Some(10), 1)
        };
        assert_eq!(wall(150, reads(35, 100)), Some(260));
        // It has computed all the time.
        assert_eq!(wall(150, reads(150, 100)), None);
        // Also where the kernel does not report waits for a CPU.
        let waited = None;
        assert_eq!(
            wall(
                150,
                TurnUsage {
                    waited,
                    ..reads(1, 30)
                }
            ),
            Some(180)
        );
    }

    #[test]
    fn cpu_time_on_a_crowded_machine_is_in_doubt() {
        let crowded = |cpu, in_doubt| TurnUsage {
            cpu_in_doubt: Duration::from_millis(in_doubt),
            ..usage(cpu, Some(900 - cpu), 1)
        };
        let more = |elapsed, usage: TurnUsage| extension_of(ClockKind::Wall, elapsed, &usage);
        // It has had its 150 ms, as far as that says something.
        assert_eq!(more(900, crowded(151, 0)), None);
        assert_eq!(more(900, crowded(151, 100)), Some((905, false)));
        assert_eq!(more(900, crowded(450, 300)), None);
        // A clock of CPU time counts what it counts.
        assert_eq!(extension_of(ClockKind::Cpu, 900, &crowded(151, 100)), None);
        let may_be = |usage| {
            let [elapsed, limit] = [900, 899].map(Duration::from_millis);
            may_be_in_time(&allowance(ClockKind::Wall), false, elapsed, limit, &usage)
        };
        assert!(may_be(crowded(151, 100)) && !may_be(crowded(151, 0)));
        assert!(!may_be(crowded(451, 300)));
    }

    #[test]
    fn a_bot_that_has_had_its_time_is_not_excused_by_its_own_threads() {
        // Sixteen threads on two CPUs wait for each other.
        assert_eq!(wall(150, usage(300, Some(140), 16)), None);
        assert_eq!(wall(150, usage(150, Some(140), 16)), None);
    }

    #[test]
    fn a_bot_that_hides_what_it_used_is_charged_all_time() {
        let hides = |cpu, waited| TurnUsage {
            has_lost: true,
            ..usage(cpu, waited, 1)
        };
        assert_eq!(wall(150, hides(1, Some(149))), None);
        assert_eq!(extension_of(ClockKind::Cpu, 150, &hides(1, None)), None);
        let more = extension_of(ClockKind::Cpu, 75, &hides(1, None));
        assert_eq!(more, Some((150, true)));
    }

    #[test]
    fn what_is_known_by_looking_only_is_looked_at() {
        let look = Some(Duration::from_millis(25));
        let first = |kind, look| first_limit(&allowance(kind), false, look).as_millis();
        assert_eq!(first(ClockKind::Wall, None), 150);
        assert_eq!(first(ClockKind::Wall, look), 25);
        assert!(first(ClockKind::Cpu, look) <= 25);
        let more = Extension {
            limit: Duration::from_millis(300),
            is_certain: true,
        };
        let limit = |look| looking(more, LIMIT, look).limit.as_millis();
        assert_eq!((limit(look), limit(None)), (175, 300));
    }

    #[test]
    fn there_is_an_end() {
        let longest = u64::try_from(allowance(ClockKind::Wall).longest(false).as_millis());
        let longest = longest.unwrap();
        assert_eq!(wall(longest, usage(1, Some(longest - 1), 1)), None);
        let limit = wall(longest - 1, usage(1, Some(longest - 2), 1));
        assert_eq!(limit, Some(u128::from(longest)));
    }

    #[test]
    fn a_wait_that_has_not_ended_is_in_doubt() {
        let more = |elapsed, usage: TurnUsage| extension_of(ClockKind::Wall, elapsed, &usage);
        // It may have slept, or waited until now.
        assert_eq!(more(150, in_doubt(10, 0, 140)), Some((155, false)));
        assert_eq!(more(155, in_doubt(10, 5, 140)), Some((160, false)));
        // It has had a CPU: it had waited, or slept, or has had its time.
        assert_eq!(more(160, in_doubt(15, 140, 0)), Some((290, true)));
        assert_eq!(more(160, in_doubt(15, 5, 0)), None);
        assert_eq!(more(160, in_doubt(150, 5, 5)), None);
        // However long the wait is, it did not begin early enough.
        assert_eq!(more(200, in_doubt(10, 10, 40)), None);
        assert_eq!(
            more(5_149, in_doubt(10, 1_000, 4_100)),
            Some((5_150, false))
        );
        assert_eq!(more(5_150, in_doubt(10, 1_000, 4_100)), None);
    }

    #[test]
    fn a_clock_of_processor_time() {
        let limit = |elapsed, usage| {
            let more = extension_of(ClockKind::Cpu, elapsed, &usage);
            more.map(|(limit, is_certain)| {
                assert!(is_certain);
                limit
            })
        };
        // It has had 30 of 150 ms, whatever it did meanwhile.
        assert_eq!(limit(150, usage(30, None, 1)), Some(270));
        assert_eq!(limit(900, usage(149, Some(3), 1)), Some(901));
        assert_eq!(limit(900, usage(150, Some(750), 1)), None);
        assert_eq!(limit(100, usage(150, Some(0), 2)), None);
        assert_eq!(limit(5_149, usage(3, Some(0), 1)), Some(5_150));
        assert_eq!(limit(5_150, usage(3, Some(0), 1)), None);
    }

    #[test]
    fn only_long_turns_of_a_game_clock_and_late_ones_are_charged_less() {
        let less = |is_counted, elapsed, late| {
            let allowance = Allowance {
                is_counted,
                ..allowance(ClockKind::Wall)
            };
            may_be_less(&allowance, elapsed, late)
        };
        let short = meter::LONG / 2;
        assert!(less(false, short, true) && less(false, LIMIT, true));
        assert!(less(true, meter::LONG, false) && !less(true, short, false));
        assert!(!less(false, LIMIT, false));
    }

    #[test]
    fn the_referee_was_not_running_when_its_timer_did_not_go_off() {
        let late = LIMIT + Duration::from_millis(70);
        let unwatched = |kind, elapsed| unwatched(&allowance(kind), elapsed, LIMIT).as_millis();
        assert_eq!(unwatched(ClockKind::Wall, late), 70);
        assert_eq!(unwatched(ClockKind::Wall, LIMIT / 2), 0);
        assert_eq!(unwatched(ClockKind::Cpu, late), 0);
    }

    #[test]
    fn an_answer_that_nobody_watched_may_have_been_in_time() {
        let may_be = |elapsed: u64, limit: u64, usage: TurnUsage| {
            let [elapsed, limit] = [elapsed, limit].map(Duration::from_millis);
            let allowance = allowance(ClockKind::Wall);
            may_be_in_time(&allowance, false, elapsed, limit, &usage)
        };
        // The referee was woken 60 ms too late.
        assert!(may_be(210, 150, usage(1, Some(0), 1)));
        // It watched in steps after the limit, and found the answer in time.
        assert!(!may_be(210, 208, usage(1, Some(0), 1)));
        assert!(may_be(210, 208, in_doubt(1, 10, 60)));
        // It has computed for longer than its limit.
        assert!(!may_be(210, 150, usage(151, Some(0), 1)));
        let lost = TurnUsage {
            has_lost: true,
            ..usage(1, Some(0), 1)
        };
        assert!(!may_be(210, 150, lost));
    }

    #[test]
    fn threads_share_a_clock_of_processor_time() {
        let allowance = allowance(ClockKind::Cpu);
        let processors = threads::processors();
        let number = u32::try_from(processors).unwrap();
        // All CPUs together may have used it up by then, not before.
        assert_eq!(
            first_limit(&allowance, false, None) * number,
            LIMIT / number * number
        );
        // The rest is enough for as many of them as it has threads.
        let left = Duration::from_millis(120);
        let most = Some(Extension {
            limit: LIMIT + left / number,
            is_certain: true,
        });
        for threads in [processors, processors + 1] {
            let usage = usage(30, None, threads);
            assert_eq!(extension(&allowance, false, LIMIT, &usage), most);
        }
    }

    proptest! {
        /// No bot gets more CPU time than its limit on one CPU; one that is not kept waiting gets
        /// no more wall time.
        #[test]
        fn limits_hold(elapsed in 0..20_000_u64, cpu in 0..20_000_u64, waited in 0..20_000_u64) {
            let limit = wall(elapsed, usage(cpu, Some(waited), 1));
            let total = 150;
            if elapsed >= total && cpu >= total {
                prop_assert_eq!(limit, None);
            }
            if elapsed >= total + waited {
                prop_assert_eq!(limit, None);
            }
            if elapsed < total {
                prop_assert!(limit.is_some());
            }
        }
    }
}
