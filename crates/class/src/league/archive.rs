//! All games of all versions: `archive.jsonl` in a league's folder.
//!
//! Its lines are records with the field `versions`: those of the two bots, in the order of `bots`. Names do not matter.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::state::{Bot, BotVersion, League, VersionKey};
use referee_match::record::journal::Journal;
use referee_match::record::{BotIndex, Record, annotation};
use referee_report::bot_page::{SubmissionChanges, VersionComparison};
use referee_stats::schedule::{GameId, Half};
use referee_tournament::TournamentError;
use referee_tournament::directory::each_line_if_there;
use referee_tournament::openings;
use referee_tournament::plan::{BotPlan, Plan};

const FILE: &str = "archive.jsonl";

const VERSIONS: &str = "versions";

/// Of a game that is to be played again: why.
const VOID: &str = "void";

/// Identifies a game in any tournament: bots with versions, who moves first, the starting board.
type GameKey = ([VersionKey; 2], BotIndex, String);

pub fn file(league: &Path) -> PathBuf {
    league.join(FILE)
}

/// Lines that each hold as a whole or not at all, also where an earlier write was cut.
pub(super) fn append(path: &Path, lines: &[String]) -> Result<(), TournamentError> {
    let (mut journal, _) = Journal::open(path).map_err(TournamentError::Journal)?;
    let failed = TournamentError::unreadable(path);
    for line in lines {
        journal.append(&format!("{line}\n")).map_err(&failed)?;
    }
    journal.sync().map_err(failed)
}

fn line_of(record: &Record) -> Result<String, TournamentError> {
    record.to_line().map_err(TournamentError::Unwritable)
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
    league: &Path,
    plan: Option<&Plan>,
    mut each: impl FnMut(Record, GameKey) -> Result<(), TournamentError>,
) -> Result<(), TournamentError> {
    let mut void = HashSet::new();
    each_line_if_there(&file(league), |line| {
        let record = line.record()?;
        if record.more.contains_key(VOID) {
            void.insert(played(&record));
        }
        Ok(())
    })?;
    let bots = plan.iter().flat_map(|plan| &plan.bots);
    let planned: HashMap<&str, Option<VersionKey>> =
        bots.map(|bot| (bot.name.as_str(), key_of(bot))).collect();
    each_line_if_there(path, |line| {
        let mut record = line.record()?;
        let archived = record.more.remove(VERSIONS).unwrap_or_default();
        let archived: [Option<VersionKey>; 2] =
            serde_json::from_value(archived).unwrap_or_default();
        let bot = |bot: BotIndex| match plan {
            None => archived[bot].clone(),
            Some(_) => planned.get(record.bots[bot].name.as_str())?.clone(),
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

/// The version of a planned bot.
fn key_of(bot: &BotPlan) -> Option<VersionKey> {
    Some(VersionKey {
        folder: bot.slug.clone(),
        version: bot.version.clone()?,
    })
}

/// Archives the plan's played games that are new.
pub fn add(league: &Path, plan: &Plan, games: &Path) -> Result<(), TournamentError> {
    let archive = file(league);
    let mut known = HashSet::new();
    for_each_game(&archive, league, None, |_, key| {
        known.insert(key);
        Ok(())
    })?;
    let mut new = Vec::new();
    for_each_game(games, league, Some(plan), |mut record, key| {
        let versions = json!(key.0);
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
pub fn kept(league: &Path, plan: &Plan) -> Result<Vec<String>, TournamentError> {
    let mut wanted: HashMap<GameKey, GameId> = HashMap::new();
    let named = |id| key_of(plan.bot(id)?);
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
    for_each_game(&file(league), league, None, |mut record, key| {
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

/// Each line of `kept` with its analysis, as far as `file` has it. Ids in `file` may differ.
pub fn analysed(file: &Path, kept: &[String]) -> Result<Vec<Option<String>>, TournamentError> {
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
        let record = Record::from_line(line.as_bytes());
        let mut record = record.map_err(TournamentError::Record)?;
        let id = mem::take(&mut record.id);
        let Some(found) = known.remove(&line_of(&record)?) else {
            lines.push(None);
            continue;
        };
        record.id = id;
        record.more.insert(annotation::FIELD.to_owned(), found);
        lines.push(Some(line_of(&record)?));
    }
    Ok(lines)
}

/// By two versions: half points and games of the first against the second.
#[derive(Debug, Default)]
pub struct VersionScores(HashMap<VersionKey, HashMap<VersionKey, (u64, u64)>>);

impl VersionScores {
    /// From the archive and this plan's games.
    pub fn read(league: &Path, plan: &Plan, games: &Path) -> Result<Self, TournamentError> {
        let mut known = HashSet::new();
        let mut scores = Self::default();
        let mut add = |record: Record, key: GameKey| {
            if known.insert(key.clone()) {
                let of_a = match record.result.winner {
                    None => 1,
                    Some(BotIndex::A) => 2,
                    Some(BotIndex::B) => 0,
                };
                let ([a, b], ..) = &key;
                for (version, other, points) in [(a, b, of_a), (b, a, 2 - of_a)] {
                    let met = scores.0.entry(version.clone()).or_default();
                    let score = met.entry(other.clone()).or_default();
                    *score = (score.0 + points, score.1 + 1);
                }
            }
            Ok(())
        };
        for_each_game(&file(league), league, None, &mut add)?;
        for_each_game(games, league, Some(plan), &mut add)?;
        Ok(scores)
    }

    pub fn changes(&self, bot: &Bot<'_>, league: &League, plan: &Plan) -> SubmissionChanges {
        let mut planned = plan.bots.iter();
        let plays = planned.find(|planned| planned.name == bot.label);
        let plays = plays.and_then(key_of);
        let versions = bot.versions();
        let now = plays.and_then(|key| versions.iter().rposition(|known| known.key() == key));
        SubmissionChanges {
            received: now.map(|now| versions[now].received),
            problem: bot.problem(league.accepted_until()),
            compared: now.and_then(|now| self.compared(&versions, now)),
        }
    }

    fn compared(&self, versions: &[BotVersion<'_>], now: usize) -> Option<VersionComparison> {
        let of = |version: &BotVersion<'_>| self.0.get(&version.key());
        let (earlier, playing) = (versions.get(..now)?, versions.get(now)?);
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
        (games_now > 0).then(|| VersionComparison {
            received: last.received,
            now: points(now),
            before: points(before),
            games: [games_now, games_before],
        })
    }
}
