//! Knockouts, and groups with play-offs.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::overview::{GroupPlace, Meeting};
use super::plan::{Format, Plan};
use super::results::Results;
use referee_stats::schedule::knockout;
use referee_stats::schedule::{EntrantId, groups};
use referee_stats::standings::Reached;
use referee_text::ordinal;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bracket {
    /// The best seed first.
    pub seeds: Vec<EntrantId>,
    pub rounds_before: usize,
}

/// Orders bots of a group that are tied: by direct encounter, compared again among those still tied, then
/// Sonneborn–Berger, then the order in which they are, that of the seeds. `made`: the points of each bot against each
/// that it has met.
fn break_ties(tied: &mut [usize], made: &[BTreeMap<usize, u64>], points: &[u64]) {
    let all = tied.to_vec();
    let have_met = all.iter().enumerate().all(|(place, &bot)| {
        let mut others = all[place + 1..].iter();
        others.all(|other| made[bot].contains_key(other))
    });
    let direct = |bot: usize| -> u64 {
        let others = all.iter().filter(|_| have_met);
        others.filter_map(|other| made[bot].get(other)).sum()
    };
    let berger = |bot: usize| -> u64 {
        let row = made[bot].iter();
        row.map(|(&other, made)| made * points[other]).sum()
    };
    tied.sort_by_key(|&bot| Reverse(direct(bot)));
    for still in tied.chunk_by_mut(|&a, &b| direct(a) == direct(b)) {
        if still.len() < all.len() {
            break_ties(still, made, points);
        } else {
            still.sort_by_key(|&bot| Reverse(berger(bot)));
        }
    }
}

/// `A`, or its number where letters do not suffice.
pub fn group_name(index: usize) -> String {
    let letter = ('A'..='Z').nth(index);
    letter.map_or_else(|| (index + 1).to_string(), |letter| letter.to_string())
}

impl Results {
    /// `None` for other formats and until the groups are complete.
    pub fn bracket(&self, plan: &Plan) -> Option<Bracket> {
        match plan.format {
            Format::Knockout => Some(Bracket {
                seeds: (0..plan.entrants()).map(EntrantId).collect(),
                rounds_before: 0,
            }),
            Format::GroupsKnockout => {
                let groups = self.groups(plan);
                let is_complete = groups.iter().flatten().any(|place| place.advances);
                let id =
                    |place: &GroupPlace| EntrantId(u32::try_from(place.bot).unwrap_or(u32::MAX));
                let tables = groups.iter().map(|group| group.iter().map(id).collect());
                let tables: Vec<Vec<EntrantId>> = tables.collect();
                is_complete.then(|| Bracket {
                    seeds: groups::qualified(&tables),
                    rounds_before: plan.group_rounds(),
                })
            }
            Format::RoundRobin | Format::Gauntlet | Format::Swiss => None,
        }
    }

    /// The best of each first, by points per game. Ties are broken by direct encounter, Sonneborn–Berger, then seed.
    pub(super) fn groups(&self, plan: &Plan) -> Vec<Vec<GroupPlace>> {
        if plan.format != Format::GroupsKnockout {
            return Vec::new();
        }
        let count = plan.bots.len();
        let mut made = vec![BTreeMap::<usize, u64>::new(); count];
        let mut games = vec![0_u64; count];
        let mut is_complete = true;
        let rounds = 0..plan.group_rounds();
        for meeting in rounds.flat_map(|round| self.meetings(plan, round, None)) {
            is_complete &= meeting.is_complete();
            let [a, b] = meeting.bots;
            for ((bot, other), points) in [(a, b), (b, a)].into_iter().zip(meeting.half_points) {
                if meeting.games > 0 {
                    *made[bot].entry(other).or_default() += points;
                }
                games[bot] += meeting.games;
            }
        }
        let points: Vec<u64> = made.iter().map(|row| row.values().sum()).collect();
        let share = |bot: usize| (points[bot] << 32) / games[bot].max(1);
        let groups = groups::groups(plan.entrants(), plan.groups.unwrap_or(1));
        let table = |members: Vec<EntrantId>| {
            let members: Vec<usize> = members.into_iter().map(EntrantId::index).collect();
            let mut table = members;
            table.sort_by_key(|&bot| Reverse(share(bot)));
            for tied in table.chunk_by_mut(|&a, &b| share(a) == share(b)) {
                break_ties(tied, &made, &points);
            }
            let places = table.into_iter().enumerate();
            places
                .map(|(place, bot)| GroupPlace {
                    bot,
                    half_points: points[bot],
                    games: games[bot],
                    advances: is_complete && place < groups::QUALIFIED as usize,
                })
                .collect()
        };
        groups.into_iter().map(table).collect()
    }

    /// What each bot reached, by name; `None` during the groups.
    pub(super) fn reached(&self, plan: &Plan) -> Option<BTreeMap<String, Reached>> {
        let bracket = self.bracket(plan)?;
        let rounds = knockout::bracket(&bracket.seeds).len().ilog2();
        // How many rounds of the bracket there are after that in which a bot was eliminated.
        let mut out = BTreeMap::new();
        let begun = plan.rounds_after(bracket.rounds_before);
        for (round, later) in begun.zip((0..rounds).rev()) {
            let meetings = self.meetings(plan, round, Some(&bracket));
            if meetings.iter().any(|meeting| meeting.winner.is_none()) {
                break;
            }
            for Meeting { winner, bots, .. } in meetings {
                out.extend(winner.map(|(side, _)| (bots[1 - side], later)));
            }
        }
        let left = bracket.seeds.len() - out.len();
        let mut reached = BTreeMap::new();
        let mut note = |bot: usize, place, seed, title| {
            let bot = plan.bots.get(bot).map(|bot| bot.name.clone());
            reached.extend(bot.map(|name| (name, Reached { place, seed, title })));
        };
        for (seed, id) in bracket.seeds.iter().enumerate() {
            let (place, title) = match out.get(&id.index()) {
                None if left == 1 && self.no_winner(&[id.index()]).is_some() => {
                    (1, "finalist".to_owned())
                }
                None if left == 1 => (1, "champion".to_owned()),
                None => (1, "still in".to_owned()),
                Some(0) => (2, "finalist".to_owned()),
                Some(1) => (3, "semi-finalist".to_owned()),
                Some(2) => (5, "quarter-finalist".to_owned()),
                Some(before) => {
                    let places = 1_usize << (*before).min(32);
                    (places + 1, format!("round of {}", 2 * places))
                }
            };
            note(id.index(), place, seed, title);
        }
        let tables = self.groups(plan);
        let longest = tables.iter().map(Vec::len).max().unwrap_or(0);
        let mut place = bracket.seeds.len() + 1;
        for of_group in groups::QUALIFIED as usize..longest {
            let those = tables.iter().enumerate();
            let those = those.filter_map(|(group, table)| Some((group, table.get(of_group)?)));
            let mut count = 0;
            for (group, GroupPlace { bot, .. }) in those {
                let title = format!("{} in group {}", ordinal(of_group + 1), group_name(group));
                note(*bot, place, count, title);
                count += 1;
            }
            place += count;
        }
        Some(reached)
    }
}
