//! How many processes a bot without a sandbox may have. (In a sandbox its supervisor counts them.)
//!
//! A thread looks now and then, mostly at one number of the kernel: that of all processes and threads of
//! the system. When it has grown, and once a second in any case, those of each bot are counted. A bot with
//! more processes than the bound is ended, which is its forfeit.
//! Processes that were left behind by bots, and of which nobody knows by whom, have the same bound
//! together: beyond it, all of them are ended.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};

use super::children;
use super::exhaustion;
use crate::sandbox::procfs;

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// Time between two counts while the number of the system does not say that one is needed: those of other
/// programs may have ended, and hidden the new ones of a bot.
const COUNT: Duration = Duration::from_secs(1);

/// A count is followed by this many times its own length without one that is not needed.
const COUNT_SHARE: u32 = 50;

/// The most processes of a bot, where the machine has enough.
const MOST: u64 = 1000;

/// The bound is not lower than this, however few processes the machine allows.
const LEAST: u64 = 64;

/// What holds for this run.
#[derive(Debug)]
struct Bound {
    most: usize,
    /// Lists the children of this process that are of bots.
    children: fn() -> Vec<Pid>,
    /// The fewest processes and threads that the system had at a look, or at the start.
    fewest: AtomicU64,
}

impl Bound {
    /// Whether the system has so many more than it once had that a bot may have too many.
    fn has_grown(&self) -> bool {
        let Some(tasks) = procfs::tasks_of_system() else {
            return true;
        };
        let fewest = self.fewest.fetch_min(tasks, Ordering::Relaxed).min(tasks);
        tasks >= fewest + u64::try_from(self.most / 2).unwrap_or(u64::MAX)
    }

    /// Counts the processes of each bot, and ends what has too many.
    fn enforce(&self) {
        // Nobody may take a child that is being started for an orphan.
        let _no_starts = children::no_starts();
        let owners = children::owners();
        let mut found: HashMap<Option<Pid>, HashSet<Pid>> = HashMap::new();
        for child in (self.children)() {
            let owner = if owners.contains_key(&child) {
                Some(child)
            } else {
                let group = getpgid(Some(child)).ok();
                group.filter(|group| owners.contains_key(group))
            };
            let is_supervisor = owner.is_some_and(|owner| owners[&owner]);
            if !is_supervisor {
                let tree = found.entry(owner).or_default();
                add_tree(tree, child, self.most);
            }
        }
        for (owner, tree) in found {
            if tree.len() <= self.most {
                continue;
            }
            if let Some(owner) = owner {
                tracing::warn!(
                    pid = owner.as_raw_pid(),
                    "killing a bot with too many processes"
                );
                children::note_exceeded(owner, format!("ran more than {} processes", self.most));
                let _ = kill_process_group(owner, Signal::KILL);
            } else {
                tracing::warn!(processes = tree.len(), "killing what bots have left behind");
            }
            for pid in tree {
                // It may have ended by itself in between.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

static BOUND: OnceLock<Bound> = OnceLock::new();

/// Starts the thread, once; `children` lists the children of this process that are of bots. Call it before the first bot is started.
pub(super) fn watch(children: fn() -> Vec<Pid>) {
    if BOUND.get().is_some() {
        return;
    }
    // Two bots must not be able to take all that there are.
    let half = exhaustion::free().map_or(MOST, |free| free / 2);
    let most = half.clamp(LEAST, MOST);
    let bound = Bound {
        most: usize::try_from(most).unwrap_or(usize::MAX),
        children,
        fewest: AtomicU64::new(procfs::tasks_of_system().unwrap_or(0)),
    };
    if BOUND.set(bound).is_err() {
        return;
    }
    let watching = exhaustion::start_thread("processes", || {
        let mut count_at = Instant::now() + COUNT;
        loop {
            std::thread::sleep(LOOK);
            let Some(bound) = BOUND.get() else { continue };
            let now = Instant::now();
            if bound.has_grown() || now >= count_at {
                bound.enforce();
                count_at = Instant::now() + COUNT.max(now.elapsed() * COUNT_SHARE);
            }
        }
    });
    if let Err(error) = watching {
        tracing::warn!(%error, "the processes of bots are not counted");
    }
}

/// Ends what has too many processes, if the system has so many that this is possible.
pub(super) fn enforce() {
    if let Some(bound) = BOUND.get()
        && bound.has_grown()
    {
        bound.enforce();
    }
}

/// Adds a process and all below it, but not many more than `most`.
fn add_tree(tree: &mut HashSet<Pid>, root: Pid, most: usize) {
    let mut waiting = vec![root];
    while let Some(pid) = waiting.pop() {
        if tree.len() > 2 * most {
            return;
        }
        if tree.insert(pid) {
            waiting.extend(procfs::children(pid));
        }
    }
}
