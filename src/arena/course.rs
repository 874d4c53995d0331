//! The course of a tournament for spectators: format, limits, rounds, groups and bracket.

use serde::Serialize;

use super::elimination::Bracket;
use super::plan::{Format, Plan};
use super::results::Results;
use crate::play::TimeControl;
use crate::text::counted;
use crate::tournament::schedule::knockout;
use crate::tournament::schedule::{EntrantId, Pairing};

/// Bots are indices in `names`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Course {
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
    pub rounds: Vec<CourseRound>,
    /// The best of each first.
    pub groups: Vec<Vec<GroupPlace>>,
    /// Each round has half as many places as the one before. Empty before the bracket begins and for formats without
    /// one.
    pub bracket: Vec<Vec<BracketPlace>>,
    /// The best seed first.
    pub seeds: Vec<usize>,
    pub champion: Option<usize>,
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
pub struct CourseRound {
    pub meetings: Vec<Meeting>,
    pub byes: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Meeting {
    pub bots: [usize; 2],
    pub half_points: [u64; 2],
    pub games: u64,
    pub pairs: [u64; 2],
    /// Who advances, 0 or 1, and why; only in a bracket, after the last game.
    pub winner: Option<(usize, &'static str)>,
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
    pub fn course(&self, plan: &Plan) -> Course {
        let mut limits = plan.bots.iter().map(|bot| bot.limits);
        let first = limits.next();
        let bracket = self.bracket(plan);
        let drawn = bracket.as_ref().map(|bracket| self.drawn(plan, bracket));
        let drawn = drawn.unwrap_or_default();
        let last = drawn.last().and_then(|round| round.first());
        let rounds = plan.rounds.iter().enumerate();
        let rounds = rounds.filter(|_| plan.format == Format::Swiss);
        let is_planned =
            !plan.format.depends_on_results() || plan.rounds.len() >= plan.rounds_planned as usize;
        Course {
            format: plan.format,
            limits: first.filter(|first| limits.all(|other| other == *first)),
            pairs: plan.pairs,
            names: plan.bots.iter().map(|bot| bot.name.clone()).collect(),
            rounds_planned: plan.rounds_planned,
            games_planned: is_planned.then(|| 2 * plan.pairs_so_far()),
            rounds: rounds
                .map(|(number, round)| CourseRound {
                    meetings: self.meetings(plan, number, None),
                    byes: round.byes.iter().map(|bye| bye.index()).collect(),
                })
                .collect(),
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
        let Some(round) = plan.rounds.get(round) else {
            return Vec::new();
        };
        let each = u64::from(round.pairs_each);
        let matches = self.matches(round).zip(0_u64..);
        let meetings = matches.map(|(played, place)| {
            let Pairing { a, b } = played.pairing;
            let first = round.first_pair + place * each;
            let mut meeting = Meeting {
                bots: [a.index(), b.index()],
                half_points: [0; 2],
                games: 0,
                pairs: [first, first + each.max(1) - 1],
                winner: None,
            };
            for pair in first..first + each {
                for ending in self.endings.of(pair).into_iter().flatten() {
                    let points = ending.half_points() as u64;
                    meeting.games += 1;
                    meeting.half_points[0] += points;
                    meeting.half_points[1] += 2 - points;
                }
            }
            let bracket = bracket.filter(|_| meeting.is_complete());
            meeting.winner = bracket.map(|bracket| {
                let (winner, by) = played.decision(&bracket.seeds);
                (usize::from(winner == b), by.in_words())
            });
            meeting
        });
        meetings.collect()
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
        while before.len() > 1 {
            let number = bracket.rounds_before + drawn.len();
            let mut meetings = self.meetings(plan, number, Some(bracket)).into_iter();
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
