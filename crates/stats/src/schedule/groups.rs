//! Groups, then play-offs: round robins in groups that are balanced by seed, then a knockout of the two
//! best of each.

use super::{EntrantId, Pairing, Round, cycle, knockout, round_robin};

pub const QUALIFIED: u32 = 2;

const USUAL_SIZE: u32 = 4;

pub fn usual_groups(entrants: u32) -> u32 {
    entrants.div_ceil(USUAL_SIZE).max(1)
}

/// The entrants of each group, by seed. They are dealt back and forth (of eight in two groups: 1, 4, 5, 8 and 2, 3,
/// 6, 7), so that all groups are about as strong.
pub fn groups(entrants: u32, count: u32) -> Vec<Vec<EntrantId>> {
    let count = count.max(1) as usize;
    let mut groups = vec![Vec::new(); count];
    for (place, id) in (0..entrants).map(EntrantId).enumerate() {
        let (deal, place) = (place / count, place % count);
        let back = count - 1 - place;
        groups[if deal.is_multiple_of(2) { place } else { back }].push(id);
    }
    groups
}

/// In each, all groups play a round of their round robins.
pub fn rounds(entrants: u32, count: u32, pairs_each: u32) -> Vec<Round> {
    let groups = groups(entrants, count);
    let size = |group: &Vec<EntrantId>| u32::try_from(group.len()).unwrap_or(u32::MAX);
    let most = groups.iter().map(|group| cycle(size(group)));
    let most = most.max().unwrap_or(0);
    let schedules = groups
        .iter()
        .map(size)
        .map(|size| round_robin(size, cycle(size), pairs_each));
    let mut schedules: Vec<_> = schedules.collect();
    let mut rounds: Vec<Round> = Vec::new();
    for _ in 0..most {
        let mut pairings = Vec::new();
        for (group, schedule) in groups.iter().zip(&mut schedules) {
            let round = schedule.next().into_iter().flat_map(|round| round.pairings);
            let of = |Pairing { a, b }| Pairing::new(group[a.index()], group[b.index()]);
            pairings.extend(round.map(of));
        }
        rounds.push(Round::after(&rounds, pairs_each, pairings, Vec::new()));
    }
    rounds
}

/// The seeds of the play-offs from the groups' tables: the winners in the groups' order, then the others, such that
/// in a full bracket no bot meets its own group's winner in the first round.
pub fn qualified(tables: &[Vec<EntrantId>]) -> Vec<EntrantId> {
    let place = |place: usize| {
        tables
            .iter()
            .filter_map(move |table| table.get(place).copied())
    };
    let mut second: Vec<EntrantId> = place(1).collect();
    let middle = second.len() / 2;
    if second.len() % 2 == 1 && second.len() > 1 {
        // Seed k meets the last but k: with an odd number of groups that is the middle one's own winner.
        second.swap(middle, middle - 1);
    }
    let first = place(0);
    first.chain(second).collect()
}

pub fn qualifiers(entrants: u32, count: u32) -> u32 {
    let groups = groups(entrants, count).into_iter();
    let sizes = groups.map(|group| u32::try_from(group.len()).unwrap_or(u32::MAX));
    sizes.map(|size| size.min(QUALIFIED)).sum()
}

/// Rounds of the groups and the play-offs together.
pub fn rounds_of_both(entrants: u32, count: u32) -> u32 {
    let of_groups = rounds(entrants, count, 1).len();
    let of_groups = u32::try_from(of_groups).unwrap_or(u32::MAX);
    of_groups + knockout::rounds(qualifiers(entrants, count))
}
