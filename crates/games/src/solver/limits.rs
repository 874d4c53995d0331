use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
            // A time that the clock cannot represent sets no limit.
            deadline: Instant::now().checked_add(time),
            ..Self::NONE
        }
    }

    pub fn nodes(nodes: u64) -> Self {
        Self {
            nodes: Some(nodes),
            ..Self::NONE
        }
    }

    pub(crate) fn is_late(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

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

#[derive(Debug)]
pub(super) struct LimitCheck<'a> {
    limits: &'a Limits,
    last_node: u64,
    /// Counted by all searches of a solver.
    nodes: &'a AtomicU64,
    /// The search has its result or reached a limit: every thread stops.
    pub(super) over: AtomicBool,
}

impl<'a> LimitCheck<'a> {
    pub(super) fn new(limits: &'a Limits, nodes: &'a AtomicU64, last_node: u64) -> Self {
        Self {
            limits,
            last_node,
            nodes,
            over: AtomicBool::new(false),
        }
    }

    /// False when the search is over.
    pub(super) fn may_continue(&self, nodes: u64) -> bool {
        let before = self.nodes.fetch_add(nodes, Ordering::Relaxed);
        let reached = before + nodes >= self.last_node
            || (self.limits.stop.as_ref()).is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.limits.is_late();
        if reached {
            self.over.store(true, Ordering::Relaxed);
        }
        !self.over.load(Ordering::Relaxed)
    }
}
