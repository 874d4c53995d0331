//! Lowers the number of games at once while the machine has too few processes.
//!
//! Each pair of games needs a permit. A worker gives it up when processes run out, or are about to; the last permit
//! remains. One is given back after a while, because a short burst of another program must not slow down the whole
//! tournament.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::bot::exhaustion::is_near;

/// Time between two looks at the system's limits.
const LOOK: Duration = Duration::from_millis(250);

/// Time after which a permit is given back.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Capacity {
    permits: Semaphore,
    /// Games at once, as requested.
    jobs: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Permits in existence.
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

    pub fn try_acquire(&self) -> Option<SemaphorePermit<'_>> {
        self.permits.try_acquire().ok()
    }

    /// `None` once closed.
    pub async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        self.permits.acquire().await.ok()
    }

    pub fn close(&self) {
        self.permits.close();
    }

    /// Returns the permit when it is the last one.
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

    /// Whether the machine lacks processes for another game: a sentence if so. Looks at most every `LOOK`; returns
    /// a permit after `PATIENCE` without shortage.
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

    /// Whether fewer games are played for the first time.
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
