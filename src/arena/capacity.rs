//! How many games are played at once: fewer than wanted while the machine has too few processes for
//! all of them.
//!
//! A worker needs a permit for each pair of games. It gives it up for good when a game could not be
//! played for want of processes, or when they are about to run out; the last permit remains. After a
//! while one is given back, so that a short burst of another program does not slow down a tournament
//! until its end.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::bot::exhaustion::is_near;

/// Time between two looks at the machine's limits.
const LOOK: Duration = Duration::from_millis(250);

/// How long a permit is given up before one is given back.
const PATIENCE: Duration = Duration::from_secs(30);

/// See the [module](self).
#[derive(Debug)]
pub struct Capacity {
    permits: Semaphore,
    /// Games at once that are wanted.
    jobs: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Permits that there are.
    games: usize,
    looked: Option<Instant>,
    /// When the number of permits last changed.
    changed: Instant,
    warned: bool,
}

impl Capacity {
    /// Permits for so many games at once.
    pub fn new(jobs: usize) -> Self {
        Self {
            permits: Semaphore::new(jobs),
            jobs,
            state: Mutex::new(State {
                games: jobs,
                looked: None,
                changed: Instant::now(),
                warned: false,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A permit, if one is free.
    pub fn try_acquire(&self) -> Option<SemaphorePermit<'_>> {
        self.permits.try_acquire().ok()
    }

    /// Waits for a permit; `None` when no game is played any more.
    pub async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        self.permits.acquire().await.ok()
    }

    /// Nobody gets a permit any more.
    pub fn close(&self) {
        self.permits.close();
    }

    /// Gives up a permit for good. Returns it when it is the last one.
    pub fn give_up<'a>(&self, permit: SemaphorePermit<'a>) -> Option<SemaphorePermit<'a>> {
        let mut state = self.state();
        if state.games == 1 {
            return Some(permit);
        }
        permit.forget();
        state.games -= 1;
        state.changed = Instant::now();
        None
    }

    /// Whether the machine has too few processes for another game, besides those that are played: a
    /// sentence if so. Looks only now and then, and gives a permit back when there have been enough for
    /// some time.
    pub fn shortage(&self) -> Option<String> {
        if self.jobs == 1 {
            return None;
        }
        {
            let mut state = self.state();
            if state.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
                return None;
            }
            state.looked = Some(Instant::now());
        }
        let near = is_near();
        let mut state = self.state();
        if near.is_none() && state.games < self.jobs && state.changed.elapsed() > PATIENCE {
            state.games += 1;
            state.changed = Instant::now();
            self.permits.add_permits(1);
        }
        near.filter(|_| state.games > 1)
    }

    /// Whether this is the first time that fewer games are played.
    pub fn is_news(&self) -> bool {
        !std::mem::replace(&mut self.state().warned, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_permit_remains() {
        let capacity = Capacity::new(2);
        let [a, b] = [(); 2].map(|()| capacity.try_acquire().unwrap());
        assert!(capacity.try_acquire().is_none());
        assert!(capacity.give_up(a).is_none());
        let b = capacity.give_up(b).unwrap();
        assert!(capacity.try_acquire().is_none());
        drop(b);
        assert!(capacity.acquire().await.is_some());
        capacity.close();
        assert!(capacity.acquire().await.is_none());
    }
}
