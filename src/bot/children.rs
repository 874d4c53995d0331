//! Which children of this process belong to a bot's [`Process`](super::process::Process).
//!
//! The runtime waits for those; whoever else reaped one would take its exit status, and its number
//! could be given to another process that is then taken for it. [`super::orphans`] therefore asks here
//! first. A child is started under [`starting`], so that it is known before anybody can ask.

#![cfg_attr(
    any(not(target_os = "linux"), portable),
    expect(dead_code, reason = "only Linux has orphans that are looked for")
)]

use std::collections::{BTreeMap, HashMap};
use std::sync::{
    Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};

use crate::system::{Pid, is_child};

/// Held for reading while a child is started, and for writing while children are reaped.
static STARTS: RwLock<()> = RwLock::new(());

/// By process id.
static OWNED: Mutex<BTreeMap<i32, Owner>> = Mutex::new(BTreeMap::new());

/// Whose a child is.
#[derive(Debug)]
struct Owner {
    /// Tells it from an earlier child with the same process id.
    serial: u64,
    name: String,
    /// Whether it is the supervisor of a bot in a sandbox.
    is_supervisor: bool,
    /// Why it was ended by the referee: the end of a sentence that begins with "it".
    exceeded: Option<String>,
    /// Nobody waits for it any more but the runtime: it could not be ended in time.
    given_up: bool,
}

/// A child that its owner waits for.
#[derive(Debug)]
pub(crate) struct OwnedChild {
    pid: Pid,
    serial: u64,
}

/// The right to start a child.
pub(crate) struct Starting(#[expect(dead_code, reason = "held")] RwLockReadGuard<'static, ()>);

/// Must be held while a child is started, until it is [owned](Starting::own).
pub(crate) fn starting() -> Starting {
    Starting(STARTS.read().unwrap_or_else(PoisonError::into_inner))
}

/// Nobody starts a child while this is held.
pub(super) fn no_starts() -> RwLockWriteGuard<'static, ()> {
    STARTS.write().unwrap_or_else(PoisonError::into_inner)
}

/// The same, unless a child is being started.
pub(super) fn try_no_starts() -> Option<RwLockWriteGuard<'static, ()>> {
    match STARTS.try_write() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn owned() -> MutexGuard<'static, BTreeMap<i32, Owner>> {
    OWNED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Starting {
    /// Notes whose the new child is.
    #[expect(clippy::unused_self, reason = "it shows that the right is held")]
    pub(crate) fn own(&self, pid: Pid, name: &str, is_supervisor: bool) -> OwnedChild {
        static SERIAL: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let serial = SERIAL.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let owner = Owner {
            serial,
            name: name.to_owned(),
            is_supervisor,
            exceeded: None,
            given_up: false,
        };
        owned().insert(pid.as_raw_pid(), owner);
        OwnedChild { pid, serial }
    }
}

impl OwnedChild {
    pub(super) const fn pid(&self) -> Pid {
        self.pid
    }

    /// Why the referee ended it, if it did: the end of a sentence that begins with "it".
    pub(super) fn exceeded(&self) -> Option<String> {
        let children = owned();
        let owner = children.get(&self.pid.as_raw_pid())?;
        let why = owner.exceeded.clone();
        why.filter(|_| owner.serial == self.serial)
    }
}

impl Drop for OwnedChild {
    fn drop(&mut self) {
        let mut owned = owned();
        let pid = self.pid.as_raw_pid();
        if let Some(owner) = owned.get_mut(&pid)
            && owner.serial == self.serial
        {
            if is_child(self.pid) {
                owner.given_up = true;
            } else {
                owned.remove(&pid);
            }
        }
    }
}

/// The process ids of all that are owned, those included that were given up and are still there.
pub(super) fn owned_pids() -> Vec<Pid> {
    let mut owned = owned();
    let pids = owned.keys().filter_map(|&pid| Pid::from_raw(pid));
    let pids: Vec<Pid> = pids.collect();
    let gone = |pid: &Pid| {
        owned
            .get(&pid.as_raw_pid())
            .is_some_and(|owner| owner.given_up)
            && !is_child(*pid)
    };
    let (gone, there): (Vec<Pid>, Vec<Pid>) = pids.into_iter().partition(gone);
    for pid in gone {
        owned.remove(&pid.as_raw_pid());
    }
    there
}

/// The owned children that have not been given up, and whether each is a supervisor.
pub(super) fn owners() -> HashMap<Pid, bool> {
    let owned = owned();
    let there = owned.iter().filter(|(_, owner)| !owner.given_up);
    let pids = there.filter_map(|(&pid, owner)| Some((Pid::from_raw(pid)?, owner.is_supervisor)));
    pids.collect()
}

/// Notes that a child is ended by the referee, and why.
pub(super) fn note_exceeded(pid: Pid, why: String) {
    if let Some(owner) = owned().get_mut(&pid.as_raw_pid()) {
        owner.exceeded.get_or_insert(why);
    }
}

/// The children that were given up and are still there, with the names of their bots.
pub(super) fn given_up() -> Vec<(Pid, String)> {
    let there = owned_pids();
    let owned = owned();
    let named = there.into_iter().filter_map(|pid| {
        let child = owned.get(&pid.as_raw_pid())?;
        child.given_up.then(|| (pid, child.name.clone()))
    });
    named.collect()
}
