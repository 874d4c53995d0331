//! Some of many puzzles: spread over kinds and levels.

use std::collections::BTreeMap;

use super::puzzle::{HIGHEST_LEVEL, Puzzle};

/// At most `limit` puzzles: of every level, five of the first for four of the second, and so on to one of the fifth, as far as there are so many;
/// and as many as possible of every kind within a level. The easier a mistake is to punish, the more opponents punish it:
/// so the share of solved puzzles tells more of a bot's strength than with as many of each level.
///
/// Of those alike the ones come first at which most bots failed. The result is in the order of levels, kinds and ids.
pub fn spread(puzzles: Vec<Puzzle>, limit: Option<usize>) -> Vec<Puzzle> {
    let mut levels: BTreeMap<u32, BTreeMap<_, Vec<Puzzle>>> = BTreeMap::new();
    for puzzle in puzzles {
        let kinds = levels.entry(puzzle.level).or_default();
        kinds.entry(puzzle.kind).or_default().push(puzzle);
    }
    let mut queues: Vec<(usize, Vec<Puzzle>)> = Vec::new();
    for (level, kinds) in levels {
        let groups = kinds.into_values().map(|mut group| {
            group.sort_by(|a, b| (b.failed.cmp(&a.failed)).then_with(|| a.id.cmp(&b.id)));
            (1, group)
        });
        let share = HIGHEST_LEVEL.saturating_sub(level) + 1;
        queues.push((share as usize, in_turn(groups.collect())));
    }
    let mut chosen = in_turn(queues);
    chosen.truncate(limit.unwrap_or(usize::MAX));
    chosen.sort_by(|a, b| (a.level, a.kind, &a.id).cmp(&(b.level, b.kind, &b.id)));
    chosen
}

/// The first of each group, then the next of each, and so on; so many at a time.
fn in_turn<T>(groups: Vec<(usize, Vec<T>)>) -> Vec<T> {
    let mut groups: Vec<_> = groups
        .into_iter()
        .map(|(count, group)| (count, group.into_iter()))
        .collect();
    let mut all = Vec::new();
    loop {
        let before = all.len();
        for (count, group) in &mut groups {
            all.extend(group.take(*count));
        }
        if all.len() == before {
            return all;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::in_turn;

    #[test]
    fn groups_take_turns() {
        let groups = vec![
            (1, vec![1, 2, 3]),
            (1, vec![]),
            (3, vec![4]),
            (2, vec![5, 6, 7]),
        ];
        assert_eq!(in_turn(groups), [1, 4, 5, 6, 2, 7, 3]);
    }
}
