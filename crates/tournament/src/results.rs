//! The games played, added one by one and not kept.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};

use super::TournamentError;
use super::benching::{BenchState, PairConduct};
use super::fair_order::Load;
use super::overview::Meeting;
use super::plan::{Format, Plan};
use crate::openings;
use referee_match::record::{BotIndex, Ending, GameResult, LineProblem, RecordSummary};
use referee_stats::schedule::knockout::{self, Match, Next, Tally, TieBreakGames};
use referee_stats::schedule::{EntrantId, GameId, PairOfGames, Round, swiss};
use referee_stats::sprt::Pentanomial;
use referee_stats::standings::{Byes, Collector, NotEntered, RankBy, Ranking, UnplayedRound};

/// Points of a bye a pair of games: as if both were won.
const BYE_POINTS_A_PAIR: u32 = 2;

/// A round of a Swiss tournament in which a bot has no opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SwissBye {
    pub(super) bot: EntrantId,
    /// None for a benched bot.
    pub(super) points: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endings(Vec<[Option<GameResult>; 2]>);

impl Endings {
    pub fn of(&self, pair: u64) -> [Option<Ending>; 2] {
        self.results_of(pair)
            .map(|result| result.map(|result| result.ending))
    }

    pub fn results_of(&self, pair: u64) -> [Option<GameResult>; 2] {
        let place = usize::try_from(pair).ok();
        let both = place.and_then(|place| self.0.get(place.checked_sub(1)?));
        both.copied().unwrap_or_default()
    }

    pub fn note(&mut self, id: GameId, result: GameResult) -> bool {
        let Some(place) = usize::try_from(id.pair).ok().and_then(|n| n.checked_sub(1)) else {
            return false;
        };
        if self.0.len() <= place {
            self.0.resize(place + 1, [None; 2]);
        }
        let known = &mut self.0[place][id.half as usize];
        let is_new = known.is_none();
        known.get_or_insert(result);
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
        game.turns.hash.hash(&mut hasher);
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
    /// Indexed by bot: how long it thought in all its games.
    seconds_of: Vec<f64>,
    /// Indexed by bot: whether it has made a turn in any game.
    has_moved: Vec<bool>,
    /// By half points of the pairing's `a`; for two bots.
    pub pentanomial: Pentanomial,
    /// By the number of its first pair; where bots are eliminated.
    matches: HashMap<u64, [Tally; 2]>,
}

impl Results {
    pub fn new(plan: &Plan) -> Self {
        Self {
            half_points: vec![0; plan.bots.len()],
            games_of: vec![0; plan.bots.len()],
            seconds_of: vec![0.0; plan.bots.len()],
            has_moved: vec![false; plan.bots.len()],
            ..Self::default()
        }
    }

    pub fn add(&mut self, plan: &Plan, game: &RecordSummary<'_>) -> Result<(), GameMismatch> {
        let (id, result, pair) = examine(plan, game)?;
        let ending = result.ending;
        if !self.endings.note(id, result) {
            return Err(GameMismatch::Repeated(plan.id(id)));
        }
        self.games += 1;
        self.collector.add(&game.with_times(game.times()));
        self.distinct.add_digest(Distinct::digest(game));
        let points = [ending.half_points(), 2 - ending.half_points()];
        let bots = [pair.pairing.a, pair.pairing.b].into_iter();
        let seconds = game.seconds();
        for ((bot, side), points) in bots.zip(BotIndex::ALL).zip(points) {
            self.seconds_of[bot.index()] += seconds[side];
            self.half_points[bot.index()] += points as u64;
            self.games_of[bot.index()] += 1;
            self.has_moved[bot.index()] |= result.answered[side];
        }
        self.forfeits += u64::from(game.forfeit().is_some());
        if let [Some(one), Some(other)] = self.endings.of(id.pair) {
            self.pentanomial.0[one.half_points() + other.half_points()] += 1;
        }
        if plan.format.eliminates() {
            let turns = game.times_ms.len() as u64;
            let first = plan.round(pair.number).map(|round| {
                let place = pair.number - round.first_pair;
                pair.number - place % u64::from(round.pairs_each.max(1))
            });
            let first = first.unwrap_or(pair.number);
            let tallies = self.matches.entry(first).or_default();
            match ending.winner() {
                Some(winner) if game.forfeit().is_some() => tallies[winner].win_by_forfeit(),
                Some(winner) => tallies[winner].win(game.first != winner, turns),
                None => tallies.iter_mut().for_each(Tally::draw),
            }
        }
        Ok(())
    }

    /// What each bot has played.
    pub fn loads(&self) -> Vec<Load> {
        let played = self.games_of.iter().zip(&self.seconds_of);
        played
            .map(|(&games, &seconds)| Load { games, seconds })
            .collect()
    }

    /// Indices of the bots that made no turn in any game.
    pub fn silent(&self) -> impl Iterator<Item = usize> {
        (0..self.has_moved.len()).filter(|&bot| !self.has_moved[bot])
    }

    /// Why none of these bots has won, though they are first.
    pub fn no_winner(&self, firsts: &[usize]) -> Option<NoWinner> {
        if !self.has_moved.contains(&true) {
            return (self.games > 0).then_some(NoWinner::NoTurn);
        }
        let has_moved = |&bot: &usize| self.has_moved.get(bot).is_none_or(|moved| *moved);
        (!firsts.iter().any(has_moved)).then_some(NoWinner::NoTurnOfFirst)
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
                let rounds = plan.rounds_after(bracket.rounds_before);
                let played: Vec<Vec<Match>> =
                    rounds.map(|round| self.matches(plan, round)).collect();
                let next = knockout::next_round(&bracket.seeds, plan.pairs, &plan.rounds, &played);
                Ok(Some(match next? {
                    Next::Round(round) => Next::Round(plan.with_opening(round)),
                    winner @ Next::Winner(_) => winner,
                }))
            }
        }
    }

    /// Of the round at this place, in the order of its pairings, with their tie-break games.
    pub(super) fn matches(&self, plan: &Plan, round: usize) -> Vec<Match> {
        let Some(of_plan) = plan.rounds.get(round) else {
            return Vec::new();
        };
        let mut matches: Vec<Match> = self.tallied(of_plan).collect();
        if plan.tie_break_games == 0 {
            return matches;
        }
        for played in &mut matches {
            played.tie_break = Some(TieBreakGames {
                most: plan.tie_break_games / 2,
                ..TieBreakGames::default()
            });
        }
        for extra in plan
            .tie_breaks_of(round)
            .flat_map(|round| self.tallied(round))
        {
            let of = matches.iter_mut().find(|of| of.pairing == extra.pairing);
            if let Some(games) = of.and_then(|of| of.tie_break.as_mut()) {
                games.pairs += 1;
                for side in [0, 1] {
                    games.half_points[side] += extra.tallies[side].half_points;
                }
            }
        }
        matches
    }

    fn tallied(&self, round: &Round) -> impl Iterator<Item = Match> {
        let each = usize::try_from(round.pairs_each.max(1)).unwrap_or(usize::MAX);
        let numbered = round
            .pairings
            .iter()
            .zip((round.first_pair..).step_by(each));
        numbered.map(|(&pairing, first)| Match {
            pairing,
            tallies: self.matches.get(&first).copied().unwrap_or_default(),
            tie_break: None,
        })
    }

    fn swiss_results(&self, plan: &Plan) -> swiss::SwissResults {
        let mut results = swiss::SwissResults::new(plan.entrants());
        for (number, round) in plan.rounds.iter().enumerate() {
            let meetings = self.meetings(plan, number, None);
            for (&pairing, meeting) in round.pairings.iter().zip(meetings) {
                results.meeting(pairing, meeting.half_points);
                if let Some(games) = self.unplayed_games(&meeting) {
                    let forfeited = |side| games.iter().any(|game| forfeits(game, side));
                    for (side, bot) in BotIndex::ALL.into_iter().zip([pairing.a, pairing.b]) {
                        results.byes[bot.index()] += u32::from(!forfeited(side));
                    }
                }
            }
        }
        let (byes, bench) = self.byes_and_bench(plan);
        for SwissBye { bot, points } in byes.into_iter().flatten() {
            results.bye(bot, 2 * u64::from(points));
        }
        results.benched = bench.iter().map(|bot| bot.benched.is_some()).collect();
        results
    }

    /// Byes by round, and the bots after the pairs played so far.
    pub(super) fn byes_and_bench(&self, plan: &Plan) -> (Vec<Vec<SwissBye>>, Vec<BenchState>) {
        let mut bench = vec![BenchState::default(); plan.bots.len()];
        let rounds = plan.rounds.iter().map(|round| {
            let bye = |&bot: &EntrantId| {
                // A bye counts as if every game was won.
                let points = BYE_POINTS_A_PAIR * round.pairs_each;
                let is_benched = bench[bot.index()].benched.is_some();
                SwissBye {
                    bot,
                    points: if is_benched { 0 } else { points },
                }
            };
            let byes = round.byes.iter().map(bye).collect();
            for pair in round.pairs() {
                let [Some(one), Some(other)] = self.endings.results_of(pair.number) else {
                    continue;
                };
                for (side, bot) in BotIndex::ALL
                    .into_iter()
                    .zip([pair.pairing.a, pair.pairing.b])
                {
                    let conduct = PairConduct::of([one, other], side);
                    bench[bot.index()].add(bot, conduct, plan.bench_after);
                }
            }
            byes
        });
        let byes = rounds.collect();
        (byes, bench)
    }

    /// The games of a meeting, if all were scored because a bot was benched. If one was played the round is a played
    /// one, as the match of a team is.
    fn unplayed_games(&self, meeting: &Meeting) -> Option<Vec<GameResult>> {
        let [first, last] = meeting.pairs;
        let games = (first..=last).flat_map(|pair| self.endings.results_of(pair));
        let games: Option<Vec<GameResult>> = games.collect();
        games.filter(|games| games.iter().all(|game| !game.played))
    }
}

fn forfeits(game: &GameResult, side: BotIndex) -> bool {
    game.ending.forfeited_by(side).is_some()
}

/// Why a tournament has no winner, although a bot is first in its table or left in its bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoWinner {
    /// No bot made a turn in any game.
    NoTurn,
    /// The first made none: it has byes and others' forfeits.
    NoTurnOfFirst,
}

/// Why a record is not that of a game of the plan, or not the first one of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameMismatch {
    #[error("`id`: {0}")]
    Id(&'static str),
    #[error("the game {0} is not in the plan")]
    NotPlanned(GameId),
    #[error("in the plan {} and {} play the game {id}, and {} begins", .bots[0], .bots[1], .bots[*.first])]
    OtherBots {
        id: GameId,
        /// As planned.
        bots: [String; 2],
        /// Which of them begins.
        first: usize,
    },
    #[error("its {field} is {found}, and in the plan it is {planned}")]
    OtherRules {
        field: &'static str,
        found: String,
        planned: String,
    },
    #[error("its seed is {found}, and in the plan it is {planned}")]
    OtherSeed { found: u64, planned: u64 },
    #[error("in the plan the game {0} starts from another board")]
    OtherStart(GameId),
    /// A sentence about its result.
    #[error("{0}")]
    Result(String),
    #[error("the game {0} occurs twice")]
    Repeated(GameId),
}

impl From<GameMismatch> for LineProblem {
    fn from(mismatch: GameMismatch) -> Self {
        Self::Content(mismatch.to_string())
    }
}

/// Which game it is, how it ended, and its pair.
pub(super) fn examine(
    plan: &Plan,
    game: &RecordSummary<'_>,
) -> Result<(GameId, GameResult, PairOfGames), GameMismatch> {
    let id: GameId = game.id.parse().map_err(GameMismatch::Id)?;
    let (id, pair) = plan
        .game(id)
        .and_then(|game| Some((game, plan.pair(game.pair)?)))
        .ok_or(GameMismatch::NotPlanned(id))?;
    let [a, b] = [pair.pairing.a, pair.pairing.b]
        .map(|bot| plan.bot(bot).map_or("", |bot| bot.name.as_str()));
    if game.names() != [a, b] || game.first != BotIndex::ALL[id.half as usize] {
        return Err(GameMismatch::OtherBots {
            id: plan.id(id),
            bots: [a, b].map(str::to_owned),
            first: id.half as usize,
        });
    }
    for (field, found, planned) in [
        ("game", game.game.as_ref(), plan.game.as_str()),
        ("rules", game.rules.as_ref(), plan.rules.as_str()),
    ] {
        if found != planned {
            return Err(GameMismatch::OtherRules {
                field,
                found: found.to_owned(),
                planned: planned.to_owned(),
            });
        }
    }
    if game.seed != plan.seed {
        return Err(GameMismatch::OtherSeed {
            found: game.seed,
            planned: plan.seed,
        });
    }
    let opening = openings::at(&plan.openings, pair.opening);
    if opening.is_some_and(|board| board != game.start) {
        return Err(GameMismatch::OtherStart(plan.id(id)));
    }
    let result = game.game_result();
    let result = result.map_err(|unknown| GameMismatch::Result(unknown.to_string()))?;
    Ok((id, result, pair))
}

fn half_points_to_points(half_points: u64) -> f64 {
    f64::from(u32::try_from(half_points).unwrap_or(u32::MAX)) / 2.0
}

/// For the end of a table.
pub fn not_entered(plan: &Plan) -> Vec<NotEntered> {
    let rejected = plan.rejected.iter();
    let named = rejected.map(|rejected| NotEntered {
        name: rejected.bot.name.clone(),
        absence: Some(rejected.absence.clone()),
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
        let (byes, unplayed) = match plan.format {
            Format::Swiss => (self.byes(plan), self.unplayed(plan)),
            _ => <_>::default(),
        };
        Ranking {
            by,
            tie_breaks: plan.tie_breaks.clone(),
            byes,
            unplayed,
            games_a_meeting: Some(plan.pairs.saturating_mul(2)),
            games_added: self.games_added(plan),
            before: places_before(plan),
            not_entered: not_entered(plan),
        }
    }

    /// The tie-break games that were played, by the two bots.
    fn games_added(&self, plan: &Plan) -> BTreeMap<[String; 2], u32> {
        let mut added = BTreeMap::new();
        let rounds = plan.rounds.iter().filter(|round| round.tie_break);
        for pair in rounds.flat_map(Round::pairs) {
            let games = self.endings.of(pair.number).into_iter().flatten();
            let bots = [pair.pairing.a, pair.pairing.b];
            let names = bots.map(|bot| plan.bots[bot.index()].name.clone());
            *added.entry(names).or_default() += games.map(|_| 1).sum::<u32>();
        }
        added
    }

    /// Rounds in which a bot was paired, but did not play.
    fn unplayed(&self, plan: &Plan) -> BTreeMap<String, Vec<UnplayedRound>> {
        let mut unplayed = BTreeMap::<String, Vec<UnplayedRound>>::new();
        for number in 0..plan.rounds.len() {
            for meeting in self.meetings(plan, number, None) {
                let Some(games) = self.unplayed_games(&meeting) else {
                    continue;
                };
                for side in BotIndex::ALL {
                    let names = meeting.bots.map(|bot| plan.bots[bot].name.clone());
                    unplayed
                        .entry(names[side].clone())
                        .or_default()
                        .push(UnplayedRound {
                            opponent: names[side.other()].clone(),
                            points: half_points_to_points(meeting.half_points[side]),
                            voluntary: games.iter().any(|game| forfeits(game, side)),
                        });
                }
            }
        }
        unplayed
    }

    fn byes(&self, plan: &Plan) -> BTreeMap<String, Byes> {
        let mut byes = BTreeMap::<String, Byes>::new();
        let (by_round, _) = self.byes_and_bench(plan);
        for (number, of_round) in by_round.into_iter().enumerate() {
            let mut meetings = self.meetings(plan, number, None).into_iter();
            let begun = meetings.any(|meeting| meeting.games > 0);
            for bye in of_round.into_iter().filter(|_| begun) {
                if let Some(bot) = plan.bot(bye.bot) {
                    let byes = byes.entry(bot.name.clone()).or_default();
                    byes.count += 1;
                    byes.points += f64::from(bye.points);
                    byes.voluntary |= bye.points == 0;
                }
            }
        }
        byes
    }
}
