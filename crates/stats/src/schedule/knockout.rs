//! Knockout: the loser of a match, of any number of pairs of games, is eliminated. The two best seeds can only meet in
//! the final, the four best only from the semifinals on; the best ones have a bye in the first round.
//!
//! Where tie-break games are wanted, a tied match is followed by further pairs of games, one after the other, until one
//! of the two leads in them. The pairs of all tied matches of a round form a [tie-break round](Round::tie_break).

use super::{EntrantId, Pairing, Round};

/// What one entrant achieved in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tally {
    /// 2 a win, 1 a draw.
    pub half_points: u64,
    /// Those that its opponent did not forfeit, like the next two.
    pub wins: u64,
    pub wins_as_second: u64,
    /// The turns of both sides in the games that it won.
    pub turns_of_wins: u64,
}

impl Tally {
    /// `turns` are those of both sides.
    pub const fn win(&mut self, as_second: bool, turns: u64) {
        self.half_points += 2;
        self.wins += 1;
        self.wins_as_second += as_second as u64;
        self.turns_of_wins += turns;
    }

    /// Nothing but its points says anything: an opponent that crashes makes no quick win.
    pub const fn win_by_forfeit(&mut self) {
        self.half_points += 2;
    }

    pub const fn draw(&mut self) {
        self.half_points += 1;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DecidedBy {
    Points,
    TieBreakGames,
    Wins,
    WinsAsSecond,
    QuickerWins,
    Seed,
}

impl DecidedBy {
    /// Empty for points.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Points => "",
            Self::TieBreakGames => "in tie-break games",
            Self::Wins => "by more wins that were no forfeits",
            Self::WinsAsSecond => "by more wins as the second to move",
            Self::QuickerWins => "by quicker wins",
            Self::Seed => "as the better seed",
        }
    }
}

/// The games that follow a tied match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TieBreakGames {
    /// Pairs at most.
    pub most: u32,
    /// Pairs so far.
    pub pairs: u32,
    pub half_points: [u64; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub pairing: Pairing,
    pub tallies: [Tally; 2],
    /// `None`: there are none, and a tie is decided by other criteria.
    pub tie_break: Option<TieBreakGames>,
}

impl Match {
    /// Whether another pair of tie-break games is to be played.
    pub const fn is_open(&self) -> bool {
        let [a, b] = &self.tallies;
        match &self.tie_break {
            Some(TieBreakGames {
                most,
                pairs,
                half_points,
            }) => {
                a.half_points == b.half_points && half_points[0] == half_points[1] && *pairs < *most
            }
            None => false,
        }
    }

    /// The entrant that advances, and why. There is a bound on the games that are added, so a match of two bots that
    /// repeat themselves ends; times are not a criterion, so a repeated tournament has the same winner. `seeds`: the best
    /// first.
    pub fn decision(&self, seeds: &[EntrantId]) -> (EntrantId, DecidedBy) {
        let Pairing {
            a: first,
            b: second,
        } = self.pairing;
        let [a, b] = self.tallies;
        let by_points = (DecidedBy::Points, a.half_points.cmp(&b.half_points));
        let criteria = match self.tie_break {
            Some(TieBreakGames {
                half_points: [made, lost],
                ..
            }) => vec![by_points, (DecidedBy::TieBreakGames, made.cmp(&lost))],
            None => vec![
                by_points,
                (DecidedBy::Wins, a.wins.cmp(&b.wins)),
                (
                    DecidedBy::WinsAsSecond,
                    a.wins_as_second.cmp(&b.wins_as_second),
                ),
                (
                    DecidedBy::QuickerWins,
                    b.turns_of_wins.cmp(&a.turns_of_wins),
                ),
            ],
        };
        match criteria.into_iter().find(|(_, order)| order.is_ne()) {
            Some((by, order)) if order.is_gt() => (first, by),
            Some((by, _)) => (second, by),
            None => {
                let better = seeds.iter().find(|seed| [first, second].contains(seed));
                (*better.unwrap_or(&first), DecidedBy::Seed)
            }
        }
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

/// Why a bracket has no next round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BracketError {
    #[error("a knockout needs at least one entrant")]
    NoEntrants,
    #[error("there are results of a round {round}, but round {} was the final", .round - 1)]
    AfterFinal {
        /// From 1.
        round: usize,
    },
    #[error("the results of round {round} are not those of its matches in the bracket")]
    OtherMatches {
        /// From 1.
        round: usize,
    },
}

/// The round after those `before`, from the matches of the bracket, whose best seed is the first: one list a round, each
/// in the order of the round's pairings, without tie-break rounds.
pub fn next_round(
    seeds: &[EntrantId],
    pairs_each: u32,
    before: &[Round],
    played: &[Vec<Match>],
) -> Result<Next, BracketError> {
    let mut places = bracket(seeds);
    for number in 1_usize.. {
        let results = played.get(number - 1);
        if let [last] = places[..] {
            return match (last, results) {
                (None, _) => Err(BracketError::NoEntrants),
                (Some(winner), None) => Ok(Next::Winner(winner)),
                (Some(_), Some(_)) => Err(BracketError::AfterFinal { round: number }),
            };
        }
        let meetings = places.chunks(2);
        let meetings =
            meetings.filter_map(|two| Some(Pairing::new((*two.first()?)?, (*two.get(1)?)?)));
        let pairings: Vec<Pairing> = meetings.collect();
        let Some(results) = results else {
            // Next to the best seeds.
            let empty = places.iter().filter(|place| place.is_none()).count();
            let byes = seeds[..empty].to_vec();
            return Ok(Next::Round(Round::after(
                before, pairs_each, pairings, byes,
            )));
        };
        if !results.iter().map(|m| m.pairing).eq(pairings) {
            return Err(BracketError::OtherMatches { round: number });
        }
        let open = results.iter().filter(|played| played.is_open());
        let open: Vec<Pairing> = open.map(|played| played.pairing).collect();
        if !open.is_empty() {
            return Ok(Next::Round(Round::tie_break(before, open)));
        }
        let mut winners = results.iter().map(|played| played.decision(seeds).0);
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
pub fn bracket(seeds: &[EntrantId]) -> Vec<Option<EntrantId>> {
    let mut places = vec![0];
    while places.len() < seeds.len() {
        // Each seed gets a neighbour: the best the worst, the second the second worst, …
        let worst = places.len() * 2 - 1;
        places = places
            .iter()
            .flat_map(|&seed| [seed, worst - seed])
            .collect();
    }
    let entrant = |seed: usize| seeds.get(seed).copied();
    places.into_iter().map(entrant).collect()
}
