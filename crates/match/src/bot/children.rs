//! Which children of this process belong to a bot's [`Process`](super::process::Process).
//!
//! The runtime waits for those. If anything else reaped one, its exit status would be lost and its
//! id could be reused; [`super::orphans`] therefore asks here first. A child is started under
//! [`starting`]: it is known before anything can ask.

#![cfg_attr(
    any(not(target_os = "linux"), portable),
    expect(dead_code, reason = "only Linux has orphans that are looked for")
)]

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use referee_host::system::{Pid, is_child};
use referee_host::threads::locked;
#[cfg(unix)]
use referee_sandbox::supervisor::watch;

/// Read-locked while a child starts, write-locked while children are reaped.
static STARTS: RwLock<()> = RwLock::new(());

/// By serial number: what an earlier child leaves behind is not taken for a later one with the same id.
static OWNED: Mutex<BTreeMap<u64, Owner>> = Mutex::new(BTreeMap::new());

#[derive(Debug)]
struct Owner {
    pid: Pid,
    name: String,
    /// Could not be killed in time; only the runtime still waits for it.
    given_up: bool,
}

#[derive(Debug)]
pub(crate) struct OwnedChild {
    pid: Pid,
    serial: u64,
}

pub(crate) struct Starting(#[expect(dead_code, reason = "held")] RwLockReadGuard<'static, ()>);

/// Hold it while a child starts, until it is [owned](Starting::own).
pub(crate) fn starting() -> Starting {
    Starting(STARTS.read().unwrap_or_else(PoisonError::into_inner))
}

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

impl Starting {
    pub(crate) fn own(&self, pid: Pid, name: &str) -> OwnedChild {
        static SERIAL: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let serial = SERIAL.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let owner = Owner {
            pid,
            name: name.to_owned(),
            given_up: false,
        };
        let mut all = locked(&OWNED);
        // An earlier child with this id has ended.
        all.retain(|_, other| other.pid != pid);
        all.insert(serial, owner);
        OwnedChild { pid, serial }
    }
}

impl OwnedChild {
    pub(super) const fn pid(&self) -> Pid {
        self.pid
    }
}

impl Drop for OwnedChild {
    fn drop(&mut self) {
        let mut owned = locked(&OWNED);
        if !is_child(self.pid) {
            owned.remove(&self.serial);
            #[cfg(unix)]
            watch::reaped(self.pid);
        } else if let Some(owner) = owned.get_mut(&self.serial) {
            owner.given_up = true;
        }
    }
}

/// All owned children, including given-up ones that still exist.
pub(super) fn owned_pids() -> Vec<Pid> {
    let mut owned = locked(&OWNED);
    owned.retain(|_, owner| !owner.given_up || is_child(owner.pid));
    owned.values().map(|owner| owner.pid).collect()
}

/// Given-up children that still exist, with their bots' names.
pub(super) fn given_up() -> Vec<(Pid, String)> {
    let owned = locked(&OWNED);
    let there = owned
        .values()
        .filter(|owner| owner.given_up && is_child(owner.pid));
    there.map(|owner| (owner.pid, owner.name.clone())).collect()
}
