use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When a search stops before it has its result. The default is never.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    pub deadline: Option<Instant>,
    /// Counted over all threads, for one call.
    pub nodes: Option<u64>,
    /// Stops when it is set.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Limits {
    pub const NONE: Self = Self {
        deadline: None,
        nodes: None,
        stop: None,
    };

    pub fn within(time: Duration) -> Self {
        Self {
            // A time that the clock cannot represent is no limit.
            deadline: Instant::now().checked_add(time),
            ..Self::NONE
        }
    }

    pub const fn nodes(nodes: u64) -> Self {
        Self {
            deadline: None,
            nodes: Some(nodes),
            stop: None,
        }
    }

    /// What is left of them after so many nodes.
    pub(super) fn after(&self, nodes: u64) -> Self {
        Self {
            nodes: self.nodes.map(|limit| limit.saturating_sub(nodes)),
            ..self.clone()
        }
    }

    #[must_use]
    pub fn or_when(mut self, flag: Arc<AtomicBool>) -> Self {
        self.stop = Some(flag);
        self
    }
}

/// Other threads can read it while the solver searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Positions with a piece in hand that were searched since the solver was made.
    pub nodes: u64,
    /// Turns at the root that are decided in the current search, at most `turns`: with several threads some are
    /// decided more than once.
    pub decided: u32,
    /// At the root, without those that lose immediately.
    pub turns: u32,
}

/// Written by the threads of a solver, read by others.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) nodes: AtomicU64,
    pub(super) decided: AtomicU32,
    pub(super) turns: AtomicU32,
}

impl Counters {
    /// With so many turns at the root.
    pub(super) fn begin(&self, turns: usize) {
        let turns = u32::try_from(turns).unwrap_or(u32::MAX);
        self.decided.store(0, Ordering::Relaxed);
        self.turns.store(turns, Ordering::Relaxed);
    }

    pub(super) fn decide(&self) {
        self.decided.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Progress {
        Progress {
            nodes: self.nodes.load(Ordering::Relaxed),
            decided: (self.decided.load(Ordering::Relaxed)).min(self.turns.load(Ordering::Relaxed)),
            turns: self.turns.load(Ordering::Relaxed),
        }
    }
}

/// Of one search.
#[derive(Debug)]
pub(super) struct LimitCheck<'a> {
    limits: &'a Limits,
    last_node: u64,
    pub(super) counters: &'a Counters,
    /// The search has its result or reached a limit: every thread stops.
    pub(super) over: AtomicBool,
}

impl<'a> LimitCheck<'a> {
    pub(super) fn new(limits: &'a Limits, counters: &'a Counters, last_node: u64) -> Self {
        Self {
            limits,
            last_node,
            counters,
            over: AtomicBool::new(false),
        }
    }

    /// False when the search is over.
    pub(super) fn may_continue(&self, nodes: u64) -> bool {
        let before = self.counters.nodes.fetch_add(nodes, Ordering::Relaxed);
        let reached = before + nodes >= self.last_node
            || (self.limits.stop.as_ref()).is_some_and(|stop| stop.load(Ordering::Relaxed))
            || (self.limits.deadline).is_some_and(|deadline| Instant::now() >= deadline);
        if reached {
            self.over.store(true, Ordering::Relaxed);
        }
        !self.over.load(Ordering::Relaxed)
    }
}
