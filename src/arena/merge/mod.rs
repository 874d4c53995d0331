//! Merges a tournament's shards into the journal that a single machine would have written, apart from the order of
//! lines.
//!
//! The shards must belong to the plan, no game may be missing, and no two records of a game may differ. Journals are
//! streamed: memory is one byte a game, plus a bit for each that occurs twice and a bounded number of their hashes.

mod duplicates;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, IntoInnerError, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::duplicates::{Duplicates, Existing};
use super::directory::{DirectoryError, TournamentDirectory};
use super::plan::{Plan, PlanError};
use super::results::{Endings, Results};
use super::scheduler::{Benched, ForfeitStreak, WriteUnplayed};
use super::shard::{self, Header, Shard};
use crate::bot::shell;
use crate::record::atomic_file::AtomicFile;
use crate::record::journal::Journal;
use crate::record::reader::{Line, LineError, Reader};
use crate::record::{BotIndex, FinishedRecord, ForfeitReason};
use crate::tournament::schedule::{EntrantId, GameId, Half, PairOfGames};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostReport {
    /// The CPU's model.
    pub cpu: String,
    pub games: u64,
    /// Games forfeited for `timeout`.
    pub timeouts: u64,
}

#[derive(Debug)]
pub struct Merged {
    pub results: Results,
    /// By name.
    pub hosts: BTreeMap<String, HostReport>,
    pub duplicates: u64,
    /// Games that a shard skipped because it benched a bot, and that a single machine would have played: there the
    /// opponent was benched before.
    pub doubtful: u64,
    /// Locks the replaced journal until the tables are written.
    pub lock: Journal,
}

/// Merges into the directory's journal. `unplayed` makes the records of games that are not played because a bot is
/// benched.
pub fn merge(
    directory: &TournamentDirectory,
    plan: &Plan,
    unplayed: &WriteUnplayed,
) -> Result<Merged, MergeError> {
    let mut parts = parts(directory, plan)?;
    let journal = directory.journal_file();
    if plan.by_version && journal.exists() {
        // Games kept from an earlier plan; no part plays them again.
        parts.push(Part {
            path: journal.clone(),
            headers: Vec::new(),
        });
    }
    let (endings, duplicates) = survey(&parts, plan)?;
    duplicates.compare(&parts)?;
    complete(directory, &endings, plan, &parts)?;
    let benched = BenchedBots::find(&endings, plan);
    drop(endings);
    // No referee may play into it meanwhile.
    let (lock, _) = directory.open_journal(&journal)?;
    let mut existing = Existing::read(&journal, plan)?;
    let file = AtomicFile::create(&journal).map_err(failed(directory.path()))?;
    let mut out = BufWriter::with_capacity(1 << 17, file);
    let mut merged = Merged {
        results: Results::new(plan),
        hosts: BTreeMap::new(),
        duplicates: duplicates.lines(),
        doubtful: 0,
        lock,
    };
    for part in &parts {
        part.each(|line| {
            if let Some((id, bytes)) = choose(part, line, plan, &benched, unplayed, &mut merged)? {
                existing.note(id, &bytes);
                out.write_all(&bytes).map_err(failed(&part.path))?;
            }
            Ok(())
        })?;
    }
    if !existing.is_merged() {
        return Err(MergeError::OtherGames {
            path: journal.display().to_string(),
        });
    }
    let file = out.into_inner().map_err(IntoInnerError::into_error);
    let done = file.and_then(AtomicFile::commit);
    done.map_err(failed(&journal))?;
    Ok(merged)
}

/// Journals with their headers, checked against the plan.
fn parts(directory: &TournamentDirectory, plan: &Plan) -> Result<Vec<Part>, MergeError> {
    let folder = shard::folder(directory.path());
    let paths = match shard::journals(directory.path()) {
        Ok(paths) if !paths.is_empty() => paths,
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(failed(&folder)(error));
        }
        _ => {
            return Err(MergeError::NoShards {
                path: folder.display().to_string(),
                directory: quoted(directory),
            });
        }
    };
    // If rounds depend on results, each round's plan has its own hash.
    let mut hashes = vec![plan.hash.clone()];
    if plan.format.depends_on_results() {
        for rounds in 0..plan.rounds.len() {
            let mut before = shard::with_rounds(plan, rounds);
            before.to_json()?;
            hashes.push(before.hash);
        }
    }
    let mut parts = Vec::new();
    for path in paths {
        let header_file = path.with_extension("header");
        let mut headers = match Header::read(&header_file) {
            Ok(headers) => headers,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A run refused before its first game leaves an empty journal.
                if path.metadata().map_err(failed(&path))?.len() == 0 {
                    continue;
                }
                return Err(MergeError::NoHeader {
                    journal: path.display().to_string(),
                    header: header_file.display().to_string(),
                });
            }
            Err(error) => return Err(failed(&header_file)(error)),
        };
        for header in &mut headers {
            let shown_path = || header_file.display().to_string();
            if !hashes.contains(&header.plan) {
                return Err(MergeError::OtherPlan { path: shown_path() });
            }
            for bot in &plan.bots {
                if header.bots.get(&bot.name) != Some(&bot.hash) {
                    return Err(MergeError::OtherBot {
                        path: shown_path(),
                        bot: bot.name.clone(),
                    });
                }
            }
            // A thousand shards of a thousand bots would be a million hashes.
            header.bots.clear();
        }
        parts.push(Part { path, headers });
    }
    Ok(parts)
}

fn quoted(directory: &TournamentDirectory) -> String {
    let path = directory.path().to_string_lossy();
    shell::quoted(&path).into_owned()
}

/// How every game ended, and which occur twice.
fn survey(parts: &[Part], plan: &Plan) -> Result<(Endings, Duplicates), MergeError> {
    let mut endings = Endings::default();
    let mut duplicates = Duplicates::default();
    for part in parts {
        part.each(|line| {
            let game = line.summary().map_err(damaged)?;
            let found = Results::examine(plan, &game);
            let (id, ending) = found.map_err(|problem| damaged(line.error(problem)))?;
            if !endings.note(id, ending) && !part.headers.is_empty() {
                duplicates.note(id);
            }
            Ok(())
        })?;
    }
    Ok((endings, duplicates))
}

fn complete(
    directory: &TournamentDirectory,
    endings: &Endings,
    plan: &Plan,
    parts: &[Part],
) -> Result<(), MergeError> {
    let mut count = 0;
    let mut first = None;
    for number in 1..=plan.pairs_so_far() {
        for (half, ending) in Half::BOTH.into_iter().zip(endings.of(number)) {
            if ending.is_none() {
                count += 1;
                first.get_or_insert(GameId { pair: number, half });
            }
        }
    }
    let Some(first) = first else {
        return Ok(());
    };
    let mut headers = parts.iter().flat_map(|part| &part.headers);
    let count_of = |header: &Header| Some(header.shard.parse::<Shard>().ok()?.count);
    let shard = headers.find_map(count_of).and_then(|count| {
        (1..=count)
            .map(|index| Shard { index, count })
            .find(|shard| shard.pairs(plan).contains(&first.pair))
    });
    Err(MergeError::Missing {
        count,
        all: 2 * plan.pairs_so_far(),
        first,
        hint: shard.map_or_else(String::new, |shard| {
            format!(
                "; play it with: referee shard run {} --shard {shard}",
                quoted(directory)
            )
        }),
    })
}

type Chosen<'a> = (GameId, Cow<'a, [u8]>);

/// `None` if already written. Games of bots benched by other shards are scored as not played.
fn choose<'a>(
    part: &Part,
    line: &'a Line<'_>,
    plan: &Plan,
    benched: &BenchedBots,
    unplayed: &WriteUnplayed,
    merged: &mut Merged,
) -> Result<Option<Chosen<'a>>, MergeError> {
    let wrong = |problem| damaged(line.error(problem));
    let game = line.summary().map_err(damaged)?;
    let (id, ending) = Results::examine(plan, &game).map_err(wrong)?;
    if merged.results.endings.of(id.pair)[id.half as usize].is_some() {
        return Ok(None);
    }
    if let Some(header) = part.session(line.number()) {
        let host = merged.hosts.entry(header.host.clone()).or_default();
        host.cpu.clone_from(&header.cpu);
        host.games += 1;
        let timeouts = BotIndex::ALL.into_iter();
        let mut timeouts = timeouts.filter_map(|bot| ending.forfeited_by(bot));
        host.timeouts += u64::from(timeouts.any(|reason| reason == ForfeitReason::Timeout));
    }
    let written = plan
        .pair(id.pair)
        .and_then(|pair| not_played(&pair, id, benched, unplayed));
    let bytes = if let Some(unplayed) = written {
        let added = merged.results.add_finished(plan, &unplayed);
        added.map_err(wrong)?;
        Cow::Owned(unplayed.line().as_bytes().to_vec())
    } else {
        merged.doubtful += u64::from(!game.was_played());
        merged.results.add(plan, &game).map_err(wrong)?;
        Cow::Borrowed(line.bytes())
    };
    Ok(Some((id, bytes)))
}

/// A shard's journal, with a header for each session of playing it.
struct Part {
    path: PathBuf,
    headers: Vec<Header>,
}

impl Part {
    /// The session that wrote this line, counted from 1.
    fn session(&self, line: u64) -> Option<&Header> {
        let later = self.headers.partition_point(|header| header.after < line);
        self.headers.get(later.checked_sub(1)?)
    }

    /// Visits every complete line.
    fn each(
        &self,
        mut visit: impl FnMut(&Line<'_>) -> Result<(), MergeError>,
    ) -> Result<(), MergeError> {
        let mut reader = Reader::open(&self.path).map_err(failed(&self.path))?;
        while let Some(line) = reader.next_complete_line().map_err(failed(&self.path))? {
            visit(&line)?;
        }
        Ok(())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error(
        "{path}: there are no shards; play them first: referee shard run {directory} --shard I/N"
    )]
    NoShards {
        path: String,
        /// Quoted for a shell.
        directory: String,
    },
    #[error(
        "{journal}: its header {header}, which records the plan and the bots, is missing; put it \
         back, or delete the journal and play the shard again"
    )]
    NoHeader { journal: String, header: String },
    #[error(
        "{path}: it belongs to another plan, so the games beside it are others; take both out of the \
         folder and play that part again"
    )]
    OtherPlan { path: String },
    #[error(
        "{path}: {bot} was another program there: its files were not those of the plan; take this file and \
         the games beside it out of the folder, and play that part again with the bot of the plan"
    )]
    OtherBot { path: String, bot: String },
    #[error("{id}: {first} and {second} differ; take out the one that is wrong")]
    Differ {
        id: GameId,
        first: String,
        second: String,
    },
    #[error(
        "{path}: it holds games that are not among those of the shards, and merging would replace them; \
         move the file away to merge the shards alone"
    )]
    OtherGames { path: String },
    #[error("{count} of {all} games are missing, the first is {first}{hint}")]
    Missing {
        count: u64,
        all: u64,
        first: GameId,
        /// `; ` and the command that plays it; empty when the shard is unknown.
        hint: String,
    },
    #[error(transparent)]
    Plan(#[from] PlanError),
}

fn failed(path: &Path) -> impl Fn(io::Error) -> MergeError + '_ {
    move |error| DirectoryError::io(path)(error).into()
}

fn damaged(error: LineError) -> MergeError {
    MergeError::Directory(error.into())
}

struct BenchedBots {
    /// By bot: the pair that benched it, forfeits in a row, reason.
    by_bot: Vec<Option<(u64, u32, ForfeitReason)>>,
}

impl BenchedBots {
    /// In the order of the schedule.
    fn find(endings: &Endings, plan: &Plan) -> Self {
        let mut streaks = vec![ForfeitStreak::default(); plan.bots.len()];
        let mut by_bot = vec![None; plan.bots.len()];
        if plan.bench_after == 0 {
            return Self { by_bot };
        }
        for pair in plan.pairs() {
            let bots = [pair.pairing.a, pair.pairing.b];
            if bots.iter().any(|bot| by_bot[bot.index()].is_some()) {
                // Not played: the opponent does not forfeit.
                for bot in bots {
                    streaks[bot.index()] = ForfeitStreak::default();
                }
                continue;
            }
            let endings = endings.of(pair.number);
            for (index, bot) in BotIndex::ALL.into_iter().zip(bots) {
                let forfeits = endings.map(|ending| ending?.forfeited_by(index));
                let too_many = streaks[bot.index()].pair(forfeits, plan.bench_after);
                by_bot[bot.index()] = too_many.map(|(after, reason)| (pair.number, after, reason));
            }
        }
        Self { by_bot }
    }

    fn of(&self, bot: EntrantId, pair: u64) -> Option<Benched> {
        let (since, after, reason) = self.by_bot.get(bot.index()).copied().flatten()?;
        (since < pair).then_some(Benched { bot, after, reason })
    }
}

/// The record, if a single machine would not have played the game.
fn not_played(
    pair: &PairOfGames,
    id: GameId,
    benched: &BenchedBots,
    unplayed: &WriteUnplayed,
) -> Option<Arc<FinishedRecord>> {
    let game = pair.games()[id.half as usize];
    // If both are benched, the one to move first forfeits.
    let benched = game
        .seats
        .into_iter()
        .find_map(|bot| benched.of(bot, pair.number))?;
    Some(unplayed(&game, &benched))
}
