//! What changed for a bot since the last time, for its author.

use std::path::Path;

use jiff::Timestamp;

use super::archive::{self, ArchiveError, Scores};
use super::state::{League, Member, Version};
use crate::arena::plan::Plan;

/// Points of two versions against the same versions of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    pub received: Timestamp,
    /// Of the playing version.
    pub now: f64,
    /// Of the version before.
    pub before: f64,
    /// Of the playing version, and of the one before.
    pub games: [u64; 2],
}

/// For one bot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct News {
    /// When the playing version was submitted.
    pub received: Option<Timestamp>,
    pub problem: Option<String>,
    /// Compared with the version before, if it played.
    pub compared: Option<Compared>,
}

/// Scores of all versions.
#[derive(Debug)]
pub struct AllNews {
    scores: Scores,
}

impl AllNews {
    /// From the games of a league with this plan.
    pub fn read(folder: &Path, plan: &Plan, games: &Path) -> Result<Self, ArchiveError> {
        let scores = archive::scores(folder, plan, games)?;
        Ok(Self { scores })
    }

    /// Of a bot of this plan.
    pub fn of(&self, name: &str, league: &League, plan: &Plan) -> Option<News> {
        let member = league.members.get(name)?;
        let bot = plan.bots.iter().find(|bot| bot.name == name);
        let plays = bot.and_then(|bot| bot.version.as_deref());
        let is_newest = member
            .newest(None)
            .is_none_or(|newest| Some(&*newest.id) == plays);
        let problem = member.problem(None);
        let problem = problem.or_else(|| {
            (!is_newest).then(|| "the newest version was handed in too late".to_owned())
        });
        let place = |id: &str| member.versions.iter().rposition(|known| known.id == id);
        let now = plays.and_then(place);
        Some(News {
            received: now.and_then(|now| Some(member.versions.get(now)?.received)),
            problem,
            compared: now.and_then(|now| self.compared(name, member, now)),
        })
    }

    fn compared(&self, name: &str, member: &Member, now: usize) -> Option<Compared> {
        let of = |version: &Version| self.scores.get(&(name.to_owned(), version.id.clone()));
        let (earlier, playing) = (member.versions.get(..now)?, member.versions.get(now)?);
        let mut earlier = earlier.iter().rev().filter(|one| one.id != playing.id);
        let (last, before) = earlier.find_map(|one| Some((one, of(one)?)))?;
        let mut totals = [(0, 0); 2];
        for (opponent, of_now) in of(playing)? {
            let Some(of_before) = before.get(opponent) else {
                continue;
            };
            for (total, score) in totals.iter_mut().zip([of_now, of_before]) {
                *total = (total.0 + score.0, total.1 + score.1);
            }
        }
        let points = |half: u64| f64::from(u32::try_from(half).unwrap_or(u32::MAX)) / 2.0;
        let [(now, games_now), (before, games_before)] = totals;
        (games_now > 0).then(|| Compared {
            received: last.received,
            now: points(now),
            before: points(before),
            games: [games_now, games_before],
        })
    }
}
