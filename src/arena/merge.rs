//! Puts the shards of a tournament together: checks that they belong to the plan, that nothing is
//! missing and nothing contradicts itself, and writes the journal that one machine would have
//! written, but for the order of its lines. Streams: memory is a byte a game, and when games occur
//! twice a bit more, and a bounded number of notes of such games.

mod benched;
mod duplicates;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IntoInnerError};
use std::path::{Path, PathBuf};

use self::benched::{BenchedBots, not_played};
use self::duplicates::Duplicates;
use super::directory::{DirectoryError, TournamentDirectory};
use super::plan::{Plan, PlanError};
use super::results::{Endings, Results};
use super::scheduler::WriteUnplayed;
use super::shard::{self, Header, Shard};
use crate::record::atomic_file::AtomicFile;
use crate::record::reader::{Line, LineError, Reader};
use crate::record::{BotIndex, ForfeitReason};
use crate::tournament::schedule::{GameId, Half};

/// Why shards cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The folder or a journal in it cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// Which.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// There is nothing to put together.
    #[error("{0}: there are no shards; play them first: referee run DIR --shard I/N")]
    NoShards(String),
    /// Nobody knows which bots played a shard.
    #[error(
        "{journal}: its header {header} is missing, which says what was played; put it back, or delete \
         the journal and play the shard again"
    )]
    NoHeader {
        /// The shard's journal.
        journal: String,
        /// The file that is not there.
        header: String,
    },
    /// A shard was played by another plan.
    #[error("{path}: it belongs to another plan ({said}); this one is {plan}")]
    OtherPlan {
        /// Its header.
        path: String,
        /// The hash of its plan.
        said: String,
        /// The hash of this plan.
        plan: String,
    },
    /// A shard was played by other bots.
    #[error(
        "{path}: {bot} was another program there: its files had the hash {said}, in the plan they have {planned}"
    )]
    OtherBot {
        /// The header.
        path: String,
        /// The bot.
        bot: String,
        /// The hash that the shard says.
        said: String,
        /// The hash in the plan.
        planned: String,
    },
    /// Two records of a game differ.
    #[error("{id}: {first} and {second} differ; take out the one that is wrong")]
    Differ {
        /// The game.
        id: GameId,
        /// File and line of the first.
        first: String,
        /// File and line of the other.
        second: String,
    },
    /// Games have not been played.
    #[error("{count} of {all} games are missing, the first is {first}{hint}")]
    Missing {
        /// How many.
        count: u64,
        /// Of how many.
        all: u64,
        /// The first of them.
        first: GameId,
        /// Which shard to play.
        hint: String,
    },
    /// The plan cannot be hashed.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// What was played on a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostReport {
    /// Its processor.
    pub cpu: String,
    /// Games.
    pub games: u64,
    /// Games that were lost on time.
    pub timeouts: u64,
}

/// The merged tournament.
#[derive(Debug)]
pub struct Merged {
    /// All games.
    pub results: Results,
    /// By the name of the machine.
    pub hosts: BTreeMap<String, HostReport>,
    /// Games that were there twice, and the same.
    pub duplicates: u64,
    /// Games that a shard did not play because a bot was benched there, that would have been
    /// played on one machine: the bot forfeited to another that was benched already.
    pub doubtful: u64,
}

/// A journal of a shard and its headers.
struct Part {
    path: PathBuf,
    headers: Vec<Header>,
}

impl Part {
    fn failed(&self) -> impl Fn(io::Error) -> MergeError + '_ {
        failed(&self.path)
    }

    /// The session in which a line was written, from 0.
    fn session(&self, line: u64) -> Option<&Header> {
        let later = self.headers.partition_point(|header| header.after < line);
        self.headers.get(later.checked_sub(1)?)
    }

    /// Looks at every complete line with its number.
    fn each(
        &self,
        mut look: impl FnMut(&Line<'_>) -> Result<(), MergeError>,
    ) -> Result<(), MergeError> {
        let mut reader = Reader::open(&self.path).map_err(self.failed())?;
        while let Some(line) = reader.next_complete_line().map_err(self.failed())? {
            look(&line)?;
        }
        Ok(())
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> MergeError + '_ {
    move |error| MergeError::Io {
        path: path.display().to_string(),
        error,
    }
}

fn damaged(error: LineError) -> MergeError {
    MergeError::Directory(error.into())
}

/// Puts the shards in a tournament's folder together into its journal.
pub fn merge(
    directory: &TournamentDirectory,
    plan: &Plan,
    unplayed: &WriteUnplayed,
) -> Result<Merged, MergeError> {
    let parts = parts(directory, plan)?;
    let (endings, duplicates) = survey(&parts, plan)?;
    duplicates.compare(&parts)?;
    complete(&endings, plan, &parts)?;
    let benched = BenchedBots::find(&endings, plan);
    // The results have their own.
    drop(endings);
    let journal = directory.journal_file();
    // The lock of a referee that plays here.
    let locked = directory.open_journal(&journal)?;
    let file = AtomicFile::create(&journal).map_err(failed(directory.path()))?;
    let mut out = BufWriter::with_capacity(1 << 17, file);
    let mut merged = Merged {
        results: Results::new(plan),
        hosts: BTreeMap::new(),
        duplicates: duplicates.lines(),
        doubtful: 0,
    };
    for part in &parts {
        part.each(|line| write(part, line, plan, &benched, unplayed, &mut merged, &mut out))?;
    }
    let file = out.into_inner().map_err(IntoInnerError::into_error);
    let done = file.and_then(AtomicFile::commit);
    done.map_err(failed(&journal))?;
    drop(locked);
    Ok(merged)
}

/// The journals, each with headers that fit the plan.
fn parts(directory: &TournamentDirectory, plan: &Plan) -> Result<Vec<Part>, MergeError> {
    let folder = shard::folder(directory.path());
    let paths = match shard::journals(directory.path()) {
        Ok(paths) if !paths.is_empty() => paths,
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(failed(&folder)(error));
        }
        _ => return Err(MergeError::NoShards(folder.display().to_string())),
    };
    // A plan whose rounds depend on results grew from round to round.
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
                // So a start leaves it that was refused, as when a bot is not what it was.
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
            let shown = || header_file.display().to_string();
            if !hashes.contains(&header.plan) {
                return Err(MergeError::OtherPlan {
                    path: shown(),
                    said: header.plan.clone(),
                    plan: plan.hash.clone(),
                });
            }
            for bot in &plan.bots {
                let said = header.bots.get(&bot.name);
                if said != Some(&bot.hash) {
                    return Err(MergeError::OtherBot {
                        path: shown(),
                        bot: bot.name.clone(),
                        said: said.cloned().unwrap_or_else(|| "none".to_owned()),
                        planned: bot.hash.clone(),
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

/// How every game ended, and which occur twice.
fn survey(parts: &[Part], plan: &Plan) -> Result<(Endings, Duplicates), MergeError> {
    let mut endings = Endings::default();
    let mut duplicates = Duplicates::default();
    for part in parts {
        part.each(|line| {
            let game = line.summary().map_err(damaged)?;
            let found = Results::examine(plan, &game);
            let (id, ending) = found.map_err(|problem| damaged(line.error(problem)))?;
            if !endings.note(id, ending) {
                duplicates.note(id);
            }
            Ok(())
        })?;
    }
    Ok((endings, duplicates))
}

fn complete(endings: &Endings, plan: &Plan, parts: &[Part]) -> Result<(), MergeError> {
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
    let whose = headers.find_map(count_of).and_then(|count| {
        (1..=count)
            .map(|index| Shard { index, count })
            .find(|shard| shard.pairs(plan).contains(&first.pair))
    });
    Err(MergeError::Missing {
        count,
        all: 2 * plan.pairs_so_far(),
        first,
        hint: whose.map_or_else(String::new, |shard| {
            format!("; go on with it: referee run DIR --shard {shard}")
        }),
    })
}

/// Writes a line, unless its game has been written; a game of a bot that was benched before, by
/// games of another shard, is scored as not played.
fn write(
    part: &Part,
    line: &Line<'_>,
    plan: &Plan,
    benched: &BenchedBots,
    unplayed: &WriteUnplayed,
    merged: &mut Merged,
    out: &mut impl io::Write,
) -> Result<(), MergeError> {
    let wrong = |problem| damaged(line.error(problem));
    let game = line.summary().map_err(damaged)?;
    let (id, ending) = Results::examine(plan, &game).map_err(wrong)?;
    if merged.results.endings.of(id.pair)[id.half as usize].is_some() {
        return Ok(());
    }
    if let Some(header) = part.session(line.number()) {
        let host = merged.hosts.entry(header.host.clone()).or_default();
        host.cpu.clone_from(&header.cpu);
        host.games += 1;
        let late =
            BotIndex::ALL.map(|bot| ending.forfeited_by(bot) == Some(ForfeitReason::Timeout));
        host.timeouts += u64::from(late.contains(&true));
    }
    let written = plan
        .pair(id.pair)
        .and_then(|pair| not_played(&pair, id, benched, unplayed));
    let bytes = if let Some(unplayed) = &written {
        let added = merged.results.add_finished(plan, unplayed);
        added.map_err(wrong)?;
        unplayed.line().as_bytes()
    } else {
        merged.doubtful += u64::from(!game.was_played());
        merged.results.add(plan, &game).map_err(wrong)?;
        line.bytes()
    };
    out.write_all(bytes).map_err(part.failed())
}
