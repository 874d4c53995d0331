//! When to stop, and how far a search has come.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When a search gives up. The default is never.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The moment to stop at.
    pub deadline: Option<Instant>,
    /// Nodes after which to stop, counted over all threads and for one call.
    pub nodes: Option<u64>,
    /// Stops when somebody sets it.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// Never stop before the answer is found.
    pub const NONE: Self = Self {
        deadline: None,
        nodes: None,
        stop: None,
    };

    /// Stop this long from now.
    pub fn within(time: Duration) -> Self {
        Self {
            // A time too long for the clock is no limit.
            deadline: Instant::now().checked_add(time),
            ..Self::NONE
        }
    }

    /// Stop after this many nodes.
    pub const fn nodes(nodes: u64) -> Self {
        Self {
            deadline: None,
            nodes: Some(nodes),
            stop: None,
        }
    }

    /// Also stop when `flag` is set.
    #[must_use]
    pub fn or_when(mut self, flag: Arc<AtomicBool>) -> Self {
        self.stop = Some(flag);
        self
    }
}

/// How far a solver has come, as other threads see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Positions with a piece in hand that were looked at, since the solver was made.
    pub nodes: u64,
    /// Turns of the position asked about that are decided for the question at hand, at most
    /// `turns`: with several threads some are decided more than once.
    pub decided: u32,
    /// Its turns, without those that lose at once.
    pub turns: u32,
}

/// What the threads of a solver write and others read.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) nodes: AtomicU64,
    pub(super) decided: AtomicU32,
    pub(super) turns: AtomicU32,
}

impl Counters {
    /// The turns of the position asked about are known.
    pub(super) fn begin(&self, turns: usize) {
        let turns = u32::try_from(turns).unwrap_or(u32::MAX);
        self.decided.store(0, Ordering::Relaxed);
        self.turns.store(turns, Ordering::Relaxed);
    }

    /// One of them is decided.
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

/// The limits of one question, with what it takes to check them.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    limits: &'a Limits,
    /// The count of nodes to stop at.
    last_node: u64,
    pub(super) counters: &'a Counters,
    /// The question is answered, or given up: every thread ends.
    pub(super) over: AtomicBool,
}

impl<'a> Watch<'a> {
    pub(super) fn new(limits: &'a Limits, counters: &'a Counters, last_node: u64) -> Self {
        Self {
            limits,
            last_node,
            counters,
            over: AtomicBool::new(false),
        }
    }

    /// Adds nodes to the count, and says whether to go on.
    pub(super) fn go_on(&self, nodes: u64) -> bool {
        let before = self.counters.nodes.fetch_add(nodes, Ordering::Relaxed);
        let struck = before + nodes >= self.last_node
            || (self.limits.stop.as_ref()).is_some_and(|stop| stop.load(Ordering::Relaxed))
            || (self.limits.deadline).is_some_and(|deadline| Instant::now() >= deadline);
        if struck {
            self.over.store(true, Ordering::Relaxed);
        }
        !self.over.load(Ordering::Relaxed)
    }
}
