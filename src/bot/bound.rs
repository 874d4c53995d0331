//! How many processes a bot without a sandbox may have. (In a sandbox its supervisor counts them.)
//!
//! A thread looks now and then, at one number of the kernel as long as there are not many more
//! processes than at the start. A bot with more processes than the bound is ended, which is its forfeit.
//! Processes that were left behind by bots, and of which nobody knows by whom, have the same bound
//! together: beyond it, all of them are ended.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};

use super::children;
use super::exhaustion;
use crate::sandbox::procfs;

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// The most processes of a bot, where the machine has enough.
const MOST: u64 = 1000;

/// The bound is not lower than this, however few processes the machine allows.
const LEAST: u64 = 64;

/// What holds for this run.
#[derive(Clone, Copy, Debug)]
struct Bound {
    most: usize,
    /// Lists the children of this process that are of bots.
    children: fn() -> Vec<Pid>,
    /// Nobody can have too many processes while the whole system has fewer.
    from: u64,
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
    let now = procfs::tasks_of_system().unwrap_or(0);
    let bound = Bound {
        most: usize::try_from(most).unwrap_or(usize::MAX),
        children,
        from: now + most / 2,
    };
    if BOUND.set(bound).is_err() {
        return;
    }
    let watching = exhaustion::start_thread("processes", || {
        loop {
            std::thread::sleep(LOOK);
            enforce();
        }
    });
    if let Err(error) = watching {
        tracing::warn!(%error, "the processes of bots are not counted");
    }
}

/// Ends what has too many processes.
pub(super) fn enforce() {
    let Some(bound) = BOUND.get() else { return };
    if procfs::tasks_of_system().is_none_or(|tasks| tasks < bound.from) {
        return;
    }
    // Nobody may take a child that is being started for an orphan.
    let _no_starts = children::no_starts();
    let owners = children::owners();
    let mut found: HashMap<Option<Pid>, HashSet<Pid>> = HashMap::new();
    for child in (bound.children)() {
        let owner = if owners.contains_key(&child) {
            Some(child)
        } else {
            let group = getpgid(Some(child)).ok();
            group.filter(|group| owners.contains_key(group))
        };
        let is_supervisor = owner.is_some_and(|owner| owners[&owner]);
        if !is_supervisor {
            let tree = found.entry(owner).or_default();
            add_tree(tree, child, bound.most);
        }
    }
    for (owner, tree) in found {
        if tree.len() <= bound.most {
            continue;
        }
        if let Some(owner) = owner {
            tracing::warn!(
                pid = owner.as_raw_pid(),
                "killing a bot with too many processes"
            );
            children::note_exceeded(owner, format!("ran more than {} processes", bound.most));
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
