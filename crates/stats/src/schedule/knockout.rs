//! Knockout: the loser of a match, of any number of pairs of games, is eliminated. The two best seeds can only meet in
//! the final, the four best only from the semifinals on; the best ones have a bye in the first round.

use super::{EntrantId, Pairing, Round};

/// What one entrant achieved in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tally {
    /// 2 a win, 1 a draw.
    pub half_points: u64,
    pub wins_as_second: u64,
    /// The turns of both sides in the games that it won.
    pub turns_of_wins: u64,
}

impl Tally {
    /// `turns` are those of both sides.
    pub const fn win(&mut self, as_second: bool, turns: u64) {
        self.half_points += 2;
        self.wins_as_second += as_second as u64;
        self.turns_of_wins += turns;
    }

    pub const fn draw(&mut self) {
        self.half_points += 1;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DecidedBy {
    Points,
    WinsAsSecond,
    QuickerWins,
    Seed,
}

impl DecidedBy {
    /// Empty for points.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Points => "",
            Self::WinsAsSecond => "by more wins as the second to move",
            Self::QuickerWins => "by quicker wins",
            Self::Seed => "as the better seed",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub pairing: Pairing,
    pub tallies: [Tally; 2],
}

impl Match {
    /// The entrant that advances, and why. No games are added, so a match of two bots that repeat themselves ends; times
    /// are not a criterion, so a repeated tournament has the same winner.
    pub fn decision(&self) -> (EntrantId, DecidedBy) {
        let [a, b] = self.tallies;
        let criteria = [
            (DecidedBy::Points, a.half_points.cmp(&b.half_points)),
            (
                DecidedBy::WinsAsSecond,
                a.wins_as_second.cmp(&b.wins_as_second),
            ),
            (
                DecidedBy::QuickerWins,
                b.turns_of_wins.cmp(&a.turns_of_wins),
            ),
        ];
        match criteria.into_iter().find(|(_, order)| order.is_ne()) {
            Some((by, order)) if order.is_gt() => (self.pairing.a, by),
            Some((by, _)) => (self.pairing.b, by),
            None => (self.pairing.sorted().a, DecidedBy::Seed),
        }
    }

    pub fn winner(&self) -> EntrantId {
        self.decision().0
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Round(Round),
    Winner(EntrantId),
}

pub const fn rounds(entrants: u32) -> u32 {
    match entrants {
        0 | 1 => 0,
        _ => (entrants - 1).ilog2() + 1,
    }
}

/// The next round from the matches played: one list a round, each in the order of the round's pairings. The error is a
/// sentence: there are no entrants, or the results are not those of the bracket.
pub fn next_round(entrants: u32, pairs_each: u32, played: &[Vec<Match>]) -> Result<Next, String> {
    let mut places = bracket(entrants);
    let mut before = 0;
    for number in 1.. {
        let results = played.get(number as usize - 1);
        if let [last] = places[..] {
            return match (last, results) {
                (None, _) => Err("a knockout needs at least one entrant".to_owned()),
                (Some(winner), None) => Ok(Next::Winner(winner)),
                (Some(_), Some(_)) => Err(format!(
                    "there are results of a round {number}, but round {} was the final",
                    number - 1
                )),
            };
        }
        let (pairings, byes) = meetings(&places);
        let Some(results) = results else {
            let round = Round::new(number, before, pairs_each, pairings, byes);
            return Ok(Next::Round(round));
        };
        if !results.iter().map(|m| m.pairing).eq(pairings) {
            return Err(format!(
                "the results of round {number} are not those of its matches in the bracket"
            ));
        }
        before += results.len() as u64;
        let mut winners = results.iter().map(Match::winner);
        places = places
            .chunks(2)
            .map(|two| match *two {
                [Some(_), Some(_)] => winners.next(),
                [alone, ..] => alone,
                [] => None,
            })
            .collect();
    }
    unreachable!("every round halves the bracket")
}

/// Neighbours meet. Places beyond the last entrant are empty, next to the best seeds, which have a bye.
pub fn bracket(entrants: u32) -> Vec<Option<EntrantId>> {
    let mut seeds = vec![0];
    while seeds.len() < entrants as usize {
        // Each seed gets a neighbour: the best the worst, the second the second worst, …
        let worst = seeds.len() * 2 - 1;
        seeds = seeds
            .iter()
            .flat_map(|&seed| [seed, worst - seed])
            .collect();
    }
    seeds
        .into_iter()
        .map(|seed| u32::try_from(seed).ok().filter(|&seed| seed < entrants))
        .map(|seed| seed.map(EntrantId))
        .collect()
}

fn meetings(places: &[Option<EntrantId>]) -> (Vec<Pairing>, Vec<EntrantId>) {
    let mut pairings = Vec::new();
    let mut byes = Vec::new();
    for two in places.chunks(2) {
        match *two {
            [Some(a), Some(b)] => pairings.push(Pairing::new(a, b)),
            [Some(alone), None] => byes.push(alone),
            _ => {}
        }
    }
    byes.sort_unstable();
    (pairings, byes)
}
