//! A tournament as spectators see it: format, limits, rounds, groups and bracket.

use serde::Serialize;

use super::elimination::Bracket;
use super::plan::{Format, Plan};
use super::results::Results;
use referee_match::play::TimeControl;
use referee_stats::schedule::knockout;
use referee_stats::schedule::{EntrantId, Pairing, Round};
use referee_text::counted;

/// Bots are indices in `names`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TournamentOverview {
    pub format: Format,
    /// `None` when the bots' limits differ.
    pub limits: Option<TimeControl>,
    pub pairs: u32,
    #[serde(skip)]
    pub names: Vec<String>,
    pub rounds_planned: u32,
    /// `None` while later rounds are unknown.
    pub games_planned: Option<u64>,
    /// Swiss only.
    pub rounds: Vec<OverviewRound>,
    /// The best of each first.
    pub groups: Vec<Vec<GroupPlace>>,
    /// Each round has half as many places as the one before. Empty before the bracket begins and for formats without
    /// one.
    pub bracket: Vec<Vec<BracketPlace>>,
    /// The best seed first.
    pub seeds: Vec<usize>,
    pub champion: Option<usize>,
    /// Bots that made no turn in any game: they have not won.
    pub silent: Vec<usize>,
    /// Why fewer games than all are played (a sentence): a sequential test was decided.
    pub early: Option<String>,
    /// Meetings with games left to play, in the order of the schedule.
    pub next: Vec<Upcoming>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Upcoming {
    pub bots: [usize; 2],
    pub pairs: [u64; 2],
}

const NEXT: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OverviewRound {
    pub meetings: Vec<Meeting>,
    /// Bots and the half points that they got.
    pub byes: Vec<(usize, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Meeting {
    pub bots: [usize; 2],
    pub half_points: [u64; 2],
    pub games: u64,
    pub pairs: [u64; 2],
    /// The games that follow a tied match of a bracket, so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tie_break: Option<TieBreakMeeting>,
    /// Who advances, 0 or 1, and why; only in a bracket, after the last game.
    pub winner: Option<(usize, &'static str)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TieBreakMeeting {
    pub half_points: [u64; 2],
    pub games: u64,
    /// Their numbers; between them are those of other matches.
    pub pairs: Vec<u64>,
}

impl TieBreakMeeting {
    const fn is_complete(&self) -> bool {
        self.games == 2 * self.pairs.len() as u64
    }
}

impl Meeting {
    pub const fn is_complete(&self) -> bool {
        self.games == 2 * (self.pairs[1] + 1 - self.pairs[0])
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BracketPlace {
    /// `None` where unknown or a bye.
    pub bots: [Option<usize>; 2],
    /// Whether one bot is missing and the other advances without a game.
    pub bye: bool,
    /// `None` until the round begins.
    pub meeting: Option<Meeting>,
}

impl BracketPlace {
    pub fn winner(&self) -> Option<usize> {
        if self.bye {
            return self.bots[0].or(self.bots[1]);
        }
        let meeting = self.meeting.as_ref()?;
        meeting.winner.map(|(side, _)| meeting.bots[side])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GroupPlace {
    pub bot: usize,
    pub half_points: u64,
    pub games: u64,
    pub advances: bool,
}

impl Results {
    pub fn overview(&self, plan: &Plan) -> TournamentOverview {
        let mut limits = plan.bots.iter().map(|bot| bot.limits);
        let first = limits.next();
        let bracket = self.bracket(plan);
        let drawn = bracket.as_ref().map(|bracket| self.drawn(plan, bracket));
        let drawn = drawn.unwrap_or_default();
        let last = drawn.last().and_then(|round| round.first());
        let rounds = match plan.format {
            Format::Swiss => self.byes_and_bench(plan).0,
            _ => Vec::new(),
        };
        let is_planned = !plan.format.depends_on_results()
            || plan.rounds_begun() >= plan.rounds_planned as usize;
        TournamentOverview {
            format: plan.format,
            limits: first.filter(|first| limits.all(|other| other == *first)),
            pairs: plan.pairs,
            names: plan.bots.iter().map(|bot| bot.name.clone()).collect(),
            rounds_planned: plan.rounds_planned,
            games_planned: is_planned.then(|| 2 * plan.pairs_so_far()),
            rounds: rounds
                .into_iter()
                .enumerate()
                .map(|(number, byes)| OverviewRound {
                    meetings: self.meetings(plan, number, None),
                    byes: byes
                        .into_iter()
                        .map(|bye| (bye.bot.index(), 2 * u64::from(bye.points)))
                        .collect(),
                })
                .collect(),
            silent: self.silent().collect(),
            groups: self.groups(plan),
            champion: last.and_then(BracketPlace::winner),
            seeds: bracket.map_or_else(Vec::new, |bracket| {
                bracket.seeds.iter().map(|seed| seed.index()).collect()
            }),
            bracket: drawn,
            early: self.early(plan),
            next: self.upcoming(plan),
        }
    }

    fn early(&self, plan: &Plan) -> Option<String> {
        let test = plan.sprt.as_ref()?;
        let (hypothesis, elo, other) = test.accepted(test.decide(&self.pentanomial))?;
        let played = counted(self.games, "game", "games");
        Some(format!(
            "The sequential test was decided after {played}: {hypothesis} accepted, a difference of {elo} Elo rather \
             than {other}."
        ))
    }

    fn upcoming(&self, plan: &Plan) -> Vec<Upcoming> {
        let rounds = 0..plan.rounds.len();
        let meetings = rounds.flat_map(|round| self.meetings(plan, round, None));
        let unplayed = meetings.filter(|meeting| !meeting.is_complete());
        let upcoming = unplayed
            .take(NEXT)
            .map(|Meeting { bots, pairs, .. }| Upcoming { bots, pairs });
        upcoming.collect()
    }

    /// Of a round, from 0, in the order of its pairings. `bracket`: to tell who advances.
    pub fn meetings(&self, plan: &Plan, round: usize, bracket: Option<&Bracket>) -> Vec<Meeting> {
        let bracket = bracket.filter(|bracket| round >= bracket.rounds_before);
        let place_of_round = round;
        let Some(round) = plan.rounds.get(round) else {
            return Vec::new();
        };
        let each = u64::from(round.pairs_each);
        let matches = self.matches(plan, place_of_round).into_iter().zip(0_u64..);
        let meetings = matches.map(|(played, place)| {
            let Pairing { a, b } = played.pairing;
            let first = round.first_pair + place * each;
            let mut meeting = Meeting {
                bots: [a.index(), b.index()],
                half_points: [0; 2],
                games: 0,
                pairs: [first, first + each.max(1) - 1],
                tie_break: None,
                winner: None,
            };
            (meeting.games, meeting.half_points) = self.points_of(first..first + each);
            if bracket.is_some() {
                meeting.tie_break = self.tie_break_of(plan, place_of_round, played.pairing);
            }
            let extra = meeting.tie_break.as_ref();
            let is_over = meeting.is_complete()
                && !played.is_open()
                && extra.is_none_or(TieBreakMeeting::is_complete);
            let bracket = bracket.filter(|_| is_over);
            meeting.winner = bracket.map(|bracket| {
                let (winner, by) = played.decision(&bracket.seeds);
                (usize::from(winner == b), by.in_words())
            });
            meeting
        });
        meetings.collect()
    }

    /// Games, and the half points of each side.
    fn points_of(&self, pairs: impl Iterator<Item = u64>) -> (u64, [u64; 2]) {
        let (mut games, mut half_points) = (0, [0, 0]);
        for ending in pairs.flat_map(|pair| self.endings.of(pair)).flatten() {
            let points = ending.half_points() as u64;
            games += 1;
            half_points[0] += points;
            half_points[1] += 2 - points;
        }
        (games, half_points)
    }

    /// Of a match of the round at this place.
    fn tie_break_of(&self, plan: &Plan, round: usize, of: Pairing) -> Option<TieBreakMeeting> {
        let pairs = plan.tie_breaks_of(round).flat_map(Round::pairs);
        let pairs: Vec<u64> = pairs
            .filter(|pair| pair.pairing == of)
            .map(|pair| pair.number)
            .collect();
        let (games, half_points) = self.points_of(pairs.iter().copied());
        (!pairs.is_empty()).then_some(TieBreakMeeting {
            half_points,
            games,
            pairs,
        })
    }

    fn drawn(&self, plan: &Plan, bracket: &Bracket) -> Vec<Vec<BracketPlace>> {
        let seated = knockout::bracket(&bracket.seeds).into_iter();
        let seated = seated.map(|bot| BracketPlace {
            bots: [bot.map(EntrantId::index), None],
            bye: true,
            meeting: None,
        });
        let mut before: Vec<BracketPlace> = seated.collect();
        let mut drawn = Vec::new();
        let mut begun = plan.rounds_after(bracket.rounds_before);
        while before.len() > 1 {
            let meetings = begun
                .next()
                .map(|round| self.meetings(plan, round, Some(bracket)));
            let mut meetings = meetings.unwrap_or_default().into_iter();
            let round = before.chunks(2).map(|two| {
                let bots = [0, 1].map(|side| two.get(side)?.winner());
                let is_alone = bots.contains(&None);
                BracketPlace {
                    bots,
                    bye: is_alone && drawn.is_empty(),
                    meeting: if is_alone { None } else { meetings.next() },
                }
            });
            before = round.collect();
            drawn.push(before.clone());
        }
        drawn
    }
}
