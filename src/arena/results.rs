//! The games played, added one by one and not kept.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};

use super::TournamentError;
use super::plan::{Format, Plan};
use crate::record::{BotIndex, Ending, RecordSummary};
use crate::tournament::openings;
use crate::tournament::schedule::knockout::{self, Match, Next, Tally};
use crate::tournament::schedule::{GameId, PairOfGames, Round, swiss};
use crate::tournament::sprt::Pentanomial;
use crate::tournament::standings::{Byes, Collector, NotEntered, RankBy, Ranking};

/// Points of a bye a pair of games: as if both were won.
pub(super) const BYE_POINTS_A_PAIR: u32 = 2;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endings(Vec<[Option<Ending>; 2]>);

impl Endings {
    pub fn of(&self, pair: u64) -> [Option<Ending>; 2] {
        let place = usize::try_from(pair).ok();
        let both = place.and_then(|place| self.0.get(place.checked_sub(1)?));
        both.copied().unwrap_or_default()
    }

    pub fn note(&mut self, id: GameId, ending: Ending) -> bool {
        let Some(place) = usize::try_from(id.pair).ok().and_then(|n| n.checked_sub(1)) else {
            return false;
        };
        if self.0.len() <= place {
            self.0.resize(place + 1, [None; 2]);
        }
        let known = &mut self.0[place][id.half as usize];
        let is_new = known.is_none();
        known.get_or_insert(ending);
        is_new
    }
}

const MOST_DISTINCT: usize = 1_000_000;

#[derive(Clone, Debug, Default)]
pub struct Distinct {
    seen: foldhash::HashSet<u64>,
    pub games: u64,
    pub full: bool,
}

impl Distinct {
    /// Equal for games played alike; `None` for a game without a turn.
    pub fn digest(game: &RecordSummary<'_>) -> Option<u64> {
        if game.times_ms.is_empty() {
            return None;
        }
        let mut hasher = foldhash::quality::FixedState::default().build_hasher();
        let [a, b] = game.names();
        let by_seat = match game.first {
            BotIndex::A => [a, b],
            BotIndex::B => [b, a],
        };
        (by_seat, &game.start).hash(&mut hasher);
        game.turns.hash(&mut hasher);
        Some(hasher.finish())
    }

    pub fn add_digest(&mut self, digest: Option<u64>) {
        let Some(digest) = digest else {
            return;
        };
        self.games += 1;
        if self.seen.len() >= MOST_DISTINCT {
            self.full = true;
            return;
        }
        self.seen.insert(digest);
    }

    /// At most nine in ten games differ: bots without randomness repeat games from the same opening.
    pub fn is_repetitive(&self) -> bool {
        !self.full && self.count() as u64 * 10 < self.games * 9
    }

    /// A lower bound when [full](Self::full).
    pub fn count(&self) -> usize {
        self.seen.len()
    }
}

#[derive(Clone, Debug, Default)]
pub struct Results {
    pub endings: Endings,
    pub collector: Collector,
    pub distinct: Distinct,
    pub games: u64,
    pub forfeits: u64,
    /// Indexed by bot.
    pub half_points: Vec<u64>,
    /// Indexed by bot.
    pub games_of: Vec<u64>,
    /// By half points of the pairing's `a`; for two bots.
    pub pentanomial: Pentanomial,
    /// By number of the pairing, from 0; where bots are eliminated.
    matches: HashMap<u64, [Tally; 2]>,
}

impl Results {
    pub fn new(plan: &Plan) -> Self {
        Self {
            half_points: vec![0; plan.bots.len()],
            games_of: vec![0; plan.bots.len()],
            ..Self::default()
        }
    }

    pub fn add(&mut self, plan: &Plan, game: &RecordSummary<'_>) -> Result<(), String> {
        let (id, ending, pair) = examine(plan, game)?;
        if !self.endings.note(id, ending) {
            return Err(format!("the game {} occurs twice", plan.id(id)));
        }
        self.games += 1;
        self.collector.add(&game.with_times(game.times()));
        self.distinct.add_digest(Distinct::digest(game));
        let points = [ending.half_points(), 2 - ending.half_points()];
        for (bot, points) in [pair.pairing.a, pair.pairing.b].into_iter().zip(points) {
            self.half_points[bot.index()] += points as u64;
            self.games_of[bot.index()] += 1;
        }
        self.forfeits += u64::from(game.forfeit().is_some());
        if let [Some(one), Some(other)] = self.endings.of(id.pair) {
            self.pentanomial.0[one.half_points() + other.half_points()] += 1;
        }
        if plan.format.eliminates() {
            let turns = game.times_ms.len() as u64;
            let number = (pair.number - 1) / u64::from(plan.pairs.max(1));
            let tallies = self.matches.entry(number).or_default();
            match ending.winner() {
                Some(winner) => tallies[winner].win(game.first != winner, turns),
                None => tallies.iter_mut().for_each(Tally::draw),
            }
        }
        Ok(())
    }

    /// Whether all games of the rounds so far are played.
    pub fn is_done(&self, plan: &Plan) -> bool {
        self.games == 2 * plan.pairs_so_far()
    }

    /// All games of the rounds so far must have been played.
    /// `None`: it is over.
    pub fn next(&self, plan: &Plan) -> Result<Option<Next>, TournamentError> {
        match plan.format {
            Format::RoundRobin | Format::Gauntlet => Ok(None),
            Format::Swiss if plan.rounds.len() >= plan.rounds_planned as usize => Ok(None),
            Format::Swiss => {
                let number = u32::try_from(plan.rounds.len() + 1).unwrap_or(u32::MAX);
                let results = self.swiss_results(plan);
                let round = swiss::next_round(&results, number, plan.pairs);
                Ok(Some(Next::Round(round)))
            }
            Format::Knockout | Format::GroupsKnockout => {
                let Some(bracket) = self.bracket(plan) else {
                    return Ok(None);
                };
                let rounds = plan.rounds.iter().skip(bracket.rounds_before);
                let played: Vec<Vec<Match>> =
                    rounds.map(|round| self.matches(round).collect()).collect();
                let next = knockout::next_round(&bracket.seeds, plan.pairs, &plan.rounds, &played);
                next.map(Some).map_err(TournamentError::Machine)
            }
        }
    }

    /// In the order of the round's pairings.
    pub(super) fn matches(&self, round: &Round) -> impl Iterator<Item = Match> {
        let before = round.first_pair.saturating_sub(1) / u64::from(round.pairs_each.max(1));
        let numbered = round.pairings.iter().zip(before..);
        numbered.map(|(&pairing, number)| {
            let tallies = self.matches.get(&number).copied().unwrap_or_default();
            Match { pairing, tallies }
        })
    }

    fn swiss_results(&self, plan: &Plan) -> swiss::Results {
        let mut results = swiss::Results::new(plan.entrants());
        for (number, round) in plan.rounds.iter().enumerate() {
            let meetings = self.meetings(plan, number, None);
            for (&pairing, meeting) in round.pairings.iter().zip(meetings) {
                results.meeting(pairing, meeting.half_points);
            }
            for &bye in &round.byes {
                // A bye counts as if every game was won.
                let points = u64::from(BYE_POINTS_A_PAIR);
                results.bye(bye, 2 * points * u64::from(round.pairs_each));
            }
        }
        results
    }
}

/// Which game it is, how it ended, and its pair. The error is a sentence.
pub(super) fn examine(
    plan: &Plan,
    game: &RecordSummary<'_>,
) -> Result<(GameId, Ending, PairOfGames), String> {
    let id: GameId = game.id.parse().map_err(|error| format!("`id`: {error}"))?;
    let (id, pair) = plan
        .game(id)
        .and_then(|game| Some((game, plan.pair(game.pair)?)))
        .ok_or_else(|| format!("the game {id} is not in the plan"))?;
    let [a, b] = [pair.pairing.a, pair.pairing.b]
        .map(|bot| plan.bot(bot).map_or("", |bot| bot.name.as_str()));
    if game.names() != [a, b] || game.first != BotIndex::ALL[id.half as usize] {
        return Err(format!(
            "in the plan {a} and {b} play the game {}, and {} begins",
            plan.id(id),
            if id.half as usize == 0 { a } else { b }
        ));
    }
    for (what, found, planned) in [
        ("game", game.game.as_ref(), plan.game.as_str()),
        ("rules", game.rules.as_ref(), plan.rules.as_str()),
    ] {
        if found != planned {
            return Err(format!(
                "its {what} is {found}, and in the plan it is {planned}"
            ));
        }
    }
    if game.seed != plan.seed {
        return Err(format!(
            "its seed is {}, and in the plan it is {}",
            game.seed, plan.seed
        ));
    }
    let opening = openings::at(&plan.openings, pair.opening);
    if opening.is_some_and(|board| board != game.start) {
        return Err(format!(
            "in the plan the game {} starts from another board",
            plan.id(id)
        ));
    }
    Ok((id, game.ending()?, pair))
}

/// For the end of a table.
pub fn not_entered(plan: &Plan) -> Vec<NotEntered> {
    let rejected = plan.rejected.iter();
    let named = rejected.map(|rejected| NotEntered {
        name: rejected.bot.name.clone(),
        reason: rejected.reason.clone(),
    });
    named.collect()
}

/// Places in a league before this plan, by name.
pub fn places_before(plan: &Plan) -> BTreeMap<String, usize> {
    let bots = plan.bots.iter();
    bots.filter_map(|bot| Some((bot.name.clone(), bot.place_before?)))
        .collect()
}

impl Results {
    pub fn ranking(&self, plan: &Plan) -> Ranking {
        let by = match plan.format {
            Format::RoundRobin => RankBy::Score,
            // A bot that has met only the challenger is compared by rating.
            Format::Gauntlet => RankBy::Results,
            Format::Swiss => RankBy::Points,
            // Groups are round robins that no games connect.
            Format::Knockout | Format::GroupsKnockout => {
                self.reached(plan).map_or(RankBy::Score, RankBy::Reached)
            }
        };
        let byes = match plan.format {
            Format::Swiss => self.byes(plan),
            _ => BTreeMap::new(),
        };
        Ranking {
            by,
            tie_breaks: plan.tie_breaks.clone(),
            byes,
            games_a_meeting: Some(plan.pairs.saturating_mul(2)),
            before: places_before(plan),
            not_entered: not_entered(plan),
        }
    }

    fn byes(&self, plan: &Plan) -> BTreeMap<String, Byes> {
        let mut byes = BTreeMap::<String, Byes>::new();
        for (number, round) in plan.rounds.iter().enumerate() {
            let mut meetings = self.meetings(plan, number, None).into_iter();
            let begun = meetings.any(|meeting| meeting.games > 0);
            for &bye in round.byes.iter().filter(|_| begun) {
                if let Some(bot) = plan.bot(bye) {
                    let byes = byes.entry(bot.name.clone()).or_default();
                    byes.count += 1;
                    byes.points += f64::from(BYE_POINTS_A_PAIR * round.pairs_each);
                }
            }
        }
        byes
    }
}
