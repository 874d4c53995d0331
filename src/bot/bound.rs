//! Bounds the processes of a bot without a sandbox. (In one the supervisor counts them.)
//!
//! A thread counts each bot's processes. A bot with too many is killed, which is its forfeit. Orphans
//! of unknown bots share one bound: beyond it all of them are killed.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};

use super::children;
use super::exhaustion;
use crate::sandbox::procfs;

/// Between two counts.
const COUNT: Duration = Duration::from_millis(250);

/// A count waits for this multiple of the last one's length: it takes at most a fifth of a core.
const COUNT_SHARE: u32 = 4;

/// The most processes of a bot, where the machine has enough.
const MOST: u64 = 1000;

/// The least bound, whatever the machine allows.
const LEAST: u64 = 64;

#[derive(Debug)]
struct Bound {
    most: usize,
    /// Lists this process's children that are of bots.
    children: fn() -> Vec<Pid>,
}

impl Bound {
    /// Kills what has too many processes.
    fn enforce(&self) {
        // A child that is being started must not pass for an orphan.
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
                // It may have exited.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

static BOUND: OnceLock<Bound> = OnceLock::new();

/// Starts the thread, once. `children` lists this process's children that are of bots. Call before
/// the first bot starts.
pub(super) fn watch(children: fn() -> Vec<Pid>) {
    if BOUND.get().is_some() {
        return;
    }
    // Two bots must not be able to use up all processes.
    let half = exhaustion::free().map_or(MOST, |free| free / 2);
    let most = half.clamp(LEAST, MOST);
    let bound = Bound {
        most: usize::try_from(most).unwrap_or(usize::MAX),
        children,
    };
    if BOUND.set(bound).is_err() {
        return;
    }
    let watching = exhaustion::start_thread("processes", || {
        let mut pause = COUNT;
        loop {
            std::thread::sleep(pause);
            let begun = Instant::now();
            enforce();
            pause = COUNT.max(begun.elapsed() * COUNT_SHARE);
        }
    });
    if let Err(error) = watching {
        tracing::warn!(%error, "the processes of bots are not counted");
    }
}

pub(super) fn enforce() {
    if let Some(bound) = BOUND.get() {
        bound.enforce();
    }
}

/// Adds a process and its descendants, but not many more than `most`.
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
