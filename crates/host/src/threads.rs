//! Work shared by several threads. Results are taken in order, so they are the same for any number of threads.

use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The number of CPUs that this process may use.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Calls `work` on so many threads, this one among them; on fewer if no more can be started. Each call takes parts of
/// the work until none is left.
pub fn share(threads: usize, work: impl Fn() + Sync) {
    if threads <= 1 {
        return work();
    }
    thread::scope(|scope| {
        for _ in 1..threads {
            if thread::Builder::new().spawn_scoped(scope, &work).is_err() {
                break;
            }
        }
        work();
    });
}

/// What `work` makes of each item, in their order.
pub fn map<T: Sync, R: Send>(threads: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let mut made: Vec<Option<R>> = items.iter().map(|_| None).collect();
    for_each(threads, &mut made, |number, made| {
        *made = Some(work(&items[number]));
    });
    made.into_iter().flatten().collect()
}

/// `work` gets each item with its number, from 0.
pub fn for_each<T: Send>(threads: usize, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    let items = Mutex::new(items.iter_mut().enumerate());
    let next = || locked(&items).next();
    share(threads, || {
        while let Some((number, item)) = next() {
            work(number, item);
        }
    });
}

/// The value of a lock, even where a thread has panicked: the panic is passed on when all threads have exited.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads take turns, in the order of the parts' numbers, from 0.
#[derive(Debug, Default)]
pub struct InOrder {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    next: usize,
    is_over: bool,
}

impl InOrder {
    /// Waits for the turns of all parts before this one; `None` when there are no more turns.
    pub fn turn(&self, part: usize) -> Option<Turn<'_>> {
        let waits = |state: &mut State| !state.is_over && state.next < part;
        let waited = self.changed.wait_while(locked(&self.state), waits);
        let state = waited.unwrap_or_else(PoisonError::into_inner);
        // A turn that is dropped takes the lock.
        (!state.is_over).then(|| Turn(self))
    }

    pub fn end(&self) {
        locked(&self.state).is_over = true;
        self.changed.notify_all();
    }

    /// Like [`share`], but a panic in one thread ends the turns, so no other waits for ever.
    pub fn share(&self, threads: usize, work: impl Fn() + Sync) {
        share(threads, || {
            let _watch = Watch(self);
            work();
        });
    }
}

/// Lasts until it is dropped.
pub struct Turn<'a>(&'a InOrder);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        locked(&self.0.state).next += 1;
        self.0.changed.notify_all();
    }
}

struct Watch<'a>(&'a InOrder);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// The parts in the order of their turns; `work` runs before each.
    fn taken(threads: usize, parts: usize, work: impl Fn(usize) + Sync) -> Vec<usize> {
        let (next, order) = (AtomicUsize::new(0), InOrder::default());
        let taken = Mutex::new(Vec::new());
        order.share(threads, || {
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= parts {
                    break;
                }
                work(part);
                let Some(_turn) = order.turn(part) else {
                    break;
                };
                locked(&taken).push(part);
            }
        });
        taken.into_inner().unwrap()
    }

    #[test]
    fn parts_are_taken_in_order() {
        let all: Vec<usize> = (0..500).collect();
        for threads in [1, 2, 5] {
            let uneven = |part| {
                if part % 7 == 0 {
                    thread::yield_now();
                }
            };
            assert_eq!(taken(threads, 500, uneven), all);
        }
    }

    #[test]
    fn a_panic_ends_the_others() {
        let panics = || taken(4, 500, |part| assert!(part != 100, "for the test"));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    }

    #[test]
    fn every_item_is_worked_on_once() {
        for threads in [1, 3] {
            let mut items = vec![0; 100];
            for_each(threads, &mut items, |number, item| *item += number + 1);
            let expected: Vec<usize> = (1..=100).collect();
            assert_eq!(items, expected[..]);
        }
    }
}
