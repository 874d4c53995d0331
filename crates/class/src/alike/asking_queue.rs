//! In which order the parts of a block are asked.

use std::collections::HashMap;
use std::time::Duration;

use super::Part;

/// What one process is asked of a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedPart {
    /// Its number in the interview.
    pub bot: usize,
    pub part: Part,
    /// In the blocks before it.
    pub faults: usize,
}

/// The parts of a block, in the order in which they are asked: first one of each bot, which tells how long it takes. Then
/// the longest, so that no slow bot is left for the end; or the shortest, where the time is not enough for all.
#[derive(Debug, Default)]
pub struct AskingQueue {
    waiting: Vec<AskedPart>,
    /// By bot: how long a part took in this block; `None` while the first one is asked.
    took: HashMap<usize, Option<Duration>>,
}

impl AskingQueue {
    pub fn add(&mut self, part: AskedPart) {
        self.waiting.push(part);
    }

    /// `left`: the time; `threads`: how many parts are asked at a time.
    pub fn next(&mut self, left: Duration, threads: usize) -> Option<AskedPart> {
        let time = |part: &AskedPart| self.took.get(&part.bot).copied();
        let known = |part: &AskedPart| time(part).flatten().unwrap_or_default();
        let all: Duration = self.waiting.iter().map(known).sum();
        let is_enough = all / u32::try_from(threads).unwrap_or(u32::MAX) <= left;
        let mut places = 0..self.waiting.len();
        let new = places.find(|place| time(&self.waiting[*place]).is_none());
        let place = new.or_else(|| {
            let by_time = |place: &usize| known(&self.waiting[*place]);
            let places = 0..self.waiting.len();
            if is_enough {
                places.rev().max_by_key(by_time)
            } else {
                places.min_by_key(by_time)
            }
        })?;
        let part = self.waiting.remove(place);
        self.took.entry(part.bot).or_default();
        Some(part)
    }

    pub fn took(&mut self, bot: usize, time: Duration) {
        self.took.insert(bot, Some(time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bots in the order in which they are asked; a part of bot 1 takes two seconds, one of bot 0 or 2 a second.
    fn order(left: Duration) -> Vec<usize> {
        let mut queue = AskingQueue::default();
        for bot in 0..3 {
            for part in Part::of(0).take(2) {
                queue.add(AskedPart {
                    bot,
                    part,
                    faults: 0,
                });
            }
        }
        let mut order = Vec::new();
        while let Some(asked) = queue.next(left, 2) {
            let seconds = if asked.bot == 1 { 2 } else { 1 };
            queue.took(asked.bot, Duration::from_secs(seconds));
            order.push(asked.bot);
        }
        order
    }

    #[test]
    fn after_one_part_of_each_the_longest_comes_first() {
        assert_eq!(order(Duration::from_secs(9)), [0, 1, 2, 1, 0, 2]);
    }

    #[test]
    fn where_the_time_is_not_enough_the_shortest_comes_first() {
        assert_eq!(order(Duration::ZERO), [0, 1, 2, 0, 2, 1]);
    }
}
