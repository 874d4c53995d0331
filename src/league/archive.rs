//! All games of all versions: `archive.jsonl` in a league's folder.
//!
//! Its lines are records with the field `versions`: those of the two bots, in the order of `bots`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::json;

use super::state::{League, Member, Version};
use crate::arena::TournamentError;
use crate::arena::directory::each_line_if_there;
use crate::arena::plan::Plan;
use crate::record::journal::Journal;
use crate::record::{BotIndex, Record, annotation};
use crate::text::unreadable;
use crate::tournament::openings;
use crate::tournament::schedule::{GameId, Half};

const FILE: &str = "archive.jsonl";

const VERSIONS: &str = "versions";

/// Of a game that is to be played again: why.
const VOID: &str = "void";

/// Identifies a game in any tournament: bots with versions, who moves first, the starting board.
type Key = ([Bot; 2], BotIndex, String);

/// Its folder, which no change of name moves, and its version.
type Bot = (String, String);

pub fn file(league: &Path) -> PathBuf {
    league.join(FILE)
}

fn append(path: &Path, lines: &[String]) -> Result<(), TournamentError> {
    let opened = Journal::open(path);
    let (mut journal, _) = opened.map_err(|error| TournamentError::Input(error.to_string()))?;
    let failed = |error| TournamentError::Input(unreadable(path, &error));
    for line in lines {
        journal.append(&format!("{line}\n")).map_err(&failed)?;
    }
    journal.sync().map_err(failed)
}

fn line_of(record: &Record) -> Result<String, TournamentError> {
    let line = record.to_line();
    line.map_err(|error| TournamentError::Input(error.to_string()))
}

/// Tells a game from one that was played in its place. Both may have begun in the same second.
fn played(record: &Record) -> (String, String, String) {
    let times = json!(record.times_ms).to_string();
    (record.id.clone(), record.started.clone(), times)
}

/// Visits the games whose versions are known: those of the archive, or those that were played of a plan. Games that
/// are void are left out.
fn for_each_game(
    path: &Path,
    (league, known): (&Path, &League),
    plan: Option<&Plan>,
    mut each: impl FnMut(Record, Key) -> Result<(), TournamentError>,
) -> Result<(), TournamentError> {
    let folders = known.folders();
    let mut void = HashSet::new();
    each_line_if_there(&file(league), |line| {
        let record = line.record()?;
        if record.more.contains_key(VOID) {
            void.insert(played(&record));
        }
        Ok(())
    })?;
    let planned: HashMap<&str, Option<&str>> = plan
        .iter()
        .flat_map(|plan| &plan.bots)
        .map(|bot| (bot.name.as_str(), bot.version.as_deref()))
        .collect();
    each_line_if_there(path, |line| {
        let mut record = line.record()?;
        let archived = record.more.remove(VERSIONS).unwrap_or_default();
        let archived: [Option<String>; 2] = serde_json::from_value(archived).unwrap_or_default();
        let bot = |bot: BotIndex| {
            let name = record.bots[bot].name.as_str();
            let version = match plan {
                None => archived[bot].as_deref()?,
                Some(_) => planned.get(name).copied().flatten()?,
            };
            let folder = folders.get(&(name, version))?;
            Some(((*folder).to_owned(), version.to_owned()))
        };
        let is_counted = plan.is_none() || record.was_played();
        let bots = bot(BotIndex::A)
            .zip(bot(BotIndex::B))
            .filter(|_| is_counted);
        let Some((a, b)) = bots.filter(|_| !void.contains(&played(&record))) else {
            return Ok(());
        };
        let key = ([a, b], record.first, record.start.clone());
        each(record, key)
    })
}

/// Archives the plan's played games that are new.
pub fn add(of: (&Path, &League), plan: &Plan, games: &Path) -> Result<(), TournamentError> {
    let archive = file(of.0);
    let mut known = HashSet::new();
    for_each_game(&archive, of, None, |_, key| {
        known.insert(key);
        Ok(())
    })?;
    let mut new = Vec::new();
    for_each_game(games, of, Some(plan), |mut record, key| {
        let versions = json!([key.0[0].1, key.0[1].1]);
        if known.insert(key) {
            record.more.insert(VERSIONS.to_owned(), versions);
            new.push(line_of(&record)?);
        }
        Ok(())
    })?;
    append(&archive, &new)
}

/// Archives this record as void: the game does not count, and is played again.
pub fn make_void(league: &Path, mut record: Record, why: &str) -> Result<(), TournamentError> {
    record.more.insert(VOID.to_owned(), json!(why));
    append(&file(league), &[line_of(&record)?])
}

/// Lines of archived games that the plan has, with its ids and names, in its order.
pub fn kept(of: (&Path, &League), plan: &Plan) -> Result<Vec<String>, TournamentError> {
    let mut wanted: HashMap<Key, GameId> = HashMap::new();
    let named = |id| {
        let bot = plan.bot(id)?;
        let folder = of.1.members.get(&bot.name)?.folder.clone();
        Some((folder, bot.version.clone()?))
    };
    for pair in plan.pairs() {
        let bots = named(pair.pairing.a).zip(named(pair.pairing.b));
        let start = openings::at(&plan.openings, pair.opening);
        let (Some((a, b)), Some(start)) = (bots, start) else {
            continue;
        };
        for half in Half::BOTH {
            let first = BotIndex::ALL[half as usize];
            let key = ([a.clone(), b.clone()], first, start.to_owned());
            let id = GameId {
                pair: pair.number,
                half,
            };
            wanted.insert(key, id);
        }
    }
    let mut kept: BTreeMap<GameId, String> = BTreeMap::new();
    for_each_game(&file(of.0), of, None, |mut record, key| {
        let is_same = record.seed == plan.seed
            && record.game == plan.game
            && record.rules == plan.rules
            && record.pieces == plan.pieces;
        if let Some(&id) = wanted.get(&key).filter(|_| is_same) {
            record.id = plan.id(id).to_string();
            let pairing = plan
                .pair(id.pair)
                .map(|pair| [pair.pairing.a, pair.pairing.b]);
            for (bot, id) in record.bots.iter_mut().zip(pairing.into_iter().flatten()) {
                if let Some(now) = plan.bot(id) {
                    bot.name.clone_from(&now.name);
                }
            }
            kept.insert(id, line_of(&record)?);
        }
        Ok(())
    })?;
    Ok(kept.into_values().collect())
}

/// Lines of `kept` with their analyses, up to the first game that `file` lacks. Ids in `file` may differ.
pub fn analysed(file: &Path, kept: &[String]) -> Result<Vec<String>, TournamentError> {
    let mut known = HashMap::new();
    each_line_if_there(file, |line| {
        let mut record = line.record()?;
        if let Some(analysis) = record.more.remove(annotation::FIELD) {
            record.id.clear();
            known.insert(line_of(&record)?, analysis);
        }
        Ok(())
    })?;
    let mut lines = Vec::new();
    for line in kept {
        let mut record = Record::from_line(line.as_bytes()).map_err(TournamentError::Input)?;
        let id = mem::take(&mut record.id);
        let Some(found) = known.remove(&line_of(&record)?) else {
            break;
        };
        record.id = id;
        record.more.insert(annotation::FIELD.to_owned(), found);
        lines.push(line_of(&record)?);
    }
    Ok(lines)
}

/// Points of two versions against the same versions of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    pub received: Timestamp,
    pub now: f64,
    pub before: f64,
    /// Of the playing version, and of the one before.
    pub games: [u64; 2],
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct News {
    /// When the playing version was submitted.
    pub received: Option<Timestamp>,
    pub problem: Option<String>,
    /// Compared with the version before, if it played.
    pub compared: Option<Compared>,
}

/// By two bots: half points and games.
#[derive(Debug, Default)]
pub struct AllNews(HashMap<Bot, HashMap<Bot, (u64, u64)>>);

impl AllNews {
    /// From the archive and this plan's games.
    pub fn read(of: (&Path, &League), plan: &Plan, games: &Path) -> Result<Self, TournamentError> {
        let mut known = HashSet::new();
        let mut news = Self::default();
        let mut add = |record: Record, key: Key| {
            if known.insert(key.clone()) {
                let of_a = match record.result.winner {
                    None => 1,
                    Some(BotIndex::A) => 2,
                    Some(BotIndex::B) => 0,
                };
                let ([a, b], ..) = &key;
                for (own, other, points) in [(a, b, of_a), (b, a, 2 - of_a)] {
                    let met = news.0.entry(own.clone()).or_default();
                    let score = met.entry(other.clone()).or_default();
                    *score = (score.0 + points, score.1 + 1);
                }
            }
            Ok(())
        };
        for_each_game(&file(of.0), of, None, &mut add)?;
        for_each_game(games, of, Some(plan), &mut add)?;
        Ok(news)
    }

    pub fn of(&self, name: &str, league: &League, plan: &Plan) -> Option<News> {
        let member = league.members.get(name)?;
        let bot = plan.bots.iter().find(|bot| bot.name == name);
        let plays = bot.and_then(|bot| bot.version.as_deref());
        let place = |id: &str| member.versions.iter().rposition(|known| known.id == id);
        let now = plays.and_then(place);
        Some(News {
            received: now.map(|now| member.versions[now].received),
            problem: member.problem(league.deadline),
            compared: now.and_then(|now| self.compared(member, now)),
        })
    }

    fn compared(&self, member: &Member, now: usize) -> Option<Compared> {
        let of = |version: &Version| self.0.get(&(member.folder.clone(), version.id.clone()));
        let (earlier, playing) = (member.versions.get(..now)?, member.versions.get(now)?);
        let mut earlier = earlier.iter().rev().filter(|one| one.id != playing.id);
        let (last, before) = earlier.find_map(|one| Some((one, of(one)?)))?;
        let mut totals = [(0, 0); 2];
        let met = of(playing)?.iter();
        let both = met.filter_map(|(opponent, now)| Some([now, before.get(opponent)?]));
        for (total, score) in both.flat_map(|both| [0, 1].into_iter().zip(both)) {
            totals[total].0 += score.0;
            totals[total].1 += score.1;
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
