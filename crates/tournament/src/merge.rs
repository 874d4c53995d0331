//! Merges the journals of a tournament's shards into one.
//!
//! The shards must belong to the plan, no game may be missing, and no two records of a game may differ. Journals are
//! streamed: memory is two bytes a game, and about 50 for each that occurs twice.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, BufWriter, IntoInnerError, Write as _};
use std::path::{Path, PathBuf};

use super::directory::{TournamentDirectory, each_line};
use super::error::TournamentError;
use super::plan::{BotPlan, Plan};
use super::results::{Distinct, Endings, Results, examine};
use super::shard::{self, Header, Shard};
use referee_match::record::atomic_file::AtomicFile;
use referee_match::record::journal::{Journal, LINGERING_LOCK};
use referee_match::record::reader::ReadError;
use referee_match::record::{BotIndex, Ending, ForfeitReason};
use referee_stats::schedule::{GameId, Half};

/// The games that one machine played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostGames {
    pub cpu: String,
    pub games: u64,
    pub timeouts: u64,
}

impl HostGames {
    fn add(&mut self, header: &Header, ending: Ending) {
        self.cpu.clone_from(&header.cpu);
        self.games += 1;
        let mut reasons = BotIndex::ALL
            .map(|bot| ending.forfeited_by(bot))
            .into_iter();
        let is_timeout = reasons.any(|reason| reason == Some(ForfeitReason::Timeout));
        self.timeouts += u64::from(is_timeout);
    }
}

#[derive(Debug)]
pub struct Merged {
    pub results: Results,
    pub hosts: BTreeMap<String, HostGames>,
    pub duplicates: u64,
    /// Locks the replaced journal until the tables are written.
    pub lock: Journal,
}

/// Why the shards are not one tournament.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error(
        "{}: there are no shards; play them first: referee shard run {} --shard I/N",
        shard::folder(.0.path()).display(), .0.quoted()
    )]
    NoShards(TournamentDirectory),
    #[error(
        "{}: its header {}, which records the plan and the bots, is missing; put it back, or delete the journal and play \
         the shard again", .journal.display(), .header.display()
    )]
    NoHeader { journal: PathBuf, header: PathBuf },
    #[error(
        "{}: it belongs to another plan, so the games beside it are others; take both out of the folder and play that \
         part again", .header.display()
    )]
    OtherPlan { header: PathBuf },
    #[error(
        "{}: {bot} was another program there: its files were not those of the plan; take this file and the games beside \
         it out of the folder, and play that part again with the bot of the plan", .header.display()
    )]
    OtherBot { header: PathBuf, bot: String },
    /// Two records of one game, by their places.
    #[error("{game}: {first} and {second} differ; take out the one that is wrong")]
    Differing {
        game: GameId,
        first: LinePlace,
        second: LinePlace,
    },
    #[error(
        "{missing} of {games} games are missing, the first is {first}{}",
        .shard.map_or_else(String::new, |shard| {
            format!("; play it with: referee shard run {} --shard {shard}", .directory.quoted())
        })
    )]
    MissingGames {
        missing: u64,
        /// Of the plan.
        games: u64,
        first: GameId,
        /// Of the first one, if it is known.
        shard: Option<Shard>,
        directory: TournamentDirectory,
    },
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePlace {
    pub path: PathBuf,
    /// From 1.
    pub line: u64,
}

impl fmt::Display for LinePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// Games that occur twice, with the first record once it has been read.
type RepeatedGames = HashMap<GameId, Option<FirstRecord>>;

/// The first of several records of a game.
struct FirstRecord {
    ending: Ending,
    /// A hash of the game, if it was played.
    digest: Option<u64>,
    place: LinePlace,
}

/// Merges into the directory's journal, whose games stay.
pub fn merge(directory: &TournamentDirectory, plan: &Plan) -> Result<Merged, TournamentError> {
    let mut journals = shard_journals(directory, plan)?;
    let journal = directory.journal_file();
    // Before it is read: no referee may play into it meanwhile.
    let (lock, _) = directory.open_journal(&journal, LINGERING_LOCK)?;
    // An earlier merge, or games kept from an earlier plan of a league.
    journals.push(ShardJournal {
        path: journal.clone(),
        headers: Vec::new(),
    });
    let (endings, duplicates, mut repeated) = survey(&journals, plan)?;
    check_complete(directory, &endings, plan, &journals)?;
    drop(endings);
    let file = AtomicFile::create(&journal).map_err(TournamentError::io(directory.path()))?;
    let mut out = BufWriter::with_capacity(1 << 17, file);
    let mut results = Results::new(plan);
    let mut hosts = BTreeMap::<String, HostGames>::new();
    for journal in &journals {
        each_line(&journal.path, |line| {
            let game = line.summary()?;
            let (id, result, _) = examine(plan, &game).map_err(|wrong| line.error(wrong))?;
            if let Some(first) = repeated.get_mut(&id) {
                let record = FirstRecord {
                    ending: result.ending,
                    digest: Distinct::digest(&game),
                    place: journal.place(line.number()),
                };
                check_repeated(first, record).map_err(|[first, second]| {
                    let game = plan.id(id);
                    MergeError::Differing {
                        game,
                        first,
                        second,
                    }
                })?;
            }
            if results.endings.of(id.pair)[id.half as usize].is_some() {
                return Ok(());
            }
            if let Some(header) = journal.session(line.number()) {
                let host = hosts.entry(header.host.clone()).or_default();
                host.add(header, result.ending);
            }
            results
                .add(plan, &game)
                .map_err(|wrong| line.error(wrong))?;
            let written = out.write_all(line.bytes());
            written.map_err(TournamentError::io(&journal.path))
        })?;
    }
    let file = out.into_inner().map_err(IntoInnerError::into_error);
    let done = file.and_then(AtomicFile::commit);
    done.map_err(TournamentError::io(&journal))?;
    Ok(Merged {
        results,
        hosts,
        duplicates,
        lock,
    })
}

/// The first record of a game is kept in `first`. The error: the places of two that differ.
fn check_repeated(
    first: &mut Option<FirstRecord>,
    record: FirstRecord,
) -> Result<(), [LinePlace; 2]> {
    match first {
        Some(first) if (first.ending, first.digest) != (record.ending, record.digest) => {
            Err([first.place.clone(), record.place])
        }
        Some(_) => Ok(()),
        None => {
            *first = Some(record);
            Ok(())
        }
    }
}

/// Journals with their headers, checked against the plan.
fn shard_journals(
    directory: &TournamentDirectory,
    plan: &Plan,
) -> Result<Vec<ShardJournal>, TournamentError> {
    let paths = match shard::journals(directory.path()) {
        Ok(paths) if !paths.is_empty() => paths,
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let folder = shard::folder(directory.path());
            return Err(TournamentError::io(&folder)(error));
        }
        _ => return Err(MergeError::NoShards(directory.clone()).into()),
    };
    let hashes = hashes_of_rounds(plan)?;
    let mut journals = Vec::new();
    for path in paths {
        let header_file = path.with_extension("header");
        let Some(mut headers) = headers_of(&path, &header_file)? else {
            continue;
        };
        for header in &mut headers {
            check_header(header, &header_file, &hashes, plan)?;
            // A thousand shards of a thousand bots would be a million hashes.
            header.bots.clear();
        }
        journals.push(ShardJournal { path, headers });
    }
    Ok(journals)
}

/// The hashes that the plan has, and had before each of its rounds if these depend on results.
fn hashes_of_rounds(plan: &Plan) -> io::Result<Vec<String>> {
    let mut hashes = vec![plan.hash.clone()];
    if plan.format.depends_on_results() {
        for rounds in 0..plan.rounds.len() {
            let mut before = plan.clone();
            before.rounds.truncate(rounds);
            hashes.push(before.computed_hash()?);
        }
    }
    Ok(hashes)
}

/// `None` for a run that was refused before its first game: it leaves an empty journal.
fn headers_of(journal: &Path, header: &Path) -> Result<Option<Vec<Header>>, TournamentError> {
    match Header::read(header) {
        Ok(headers) => Ok(Some(headers)),
        Err(ReadError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            let journal_file = journal.metadata();
            if journal_file.map_err(TournamentError::io(journal))?.len() == 0 {
                return Ok(None);
            }
            let error = MergeError::NoHeader {
                journal: journal.to_owned(),
                header: header.to_owned(),
            };
            Err(error.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether the games beside it are of this plan, by the bots of this plan.
fn check_header(
    header: &Header,
    path: &Path,
    hashes: &[String],
    plan: &Plan,
) -> Result<(), MergeError> {
    if !hashes.contains(&header.plan) {
        return Err(MergeError::OtherPlan {
            header: path.to_owned(),
        });
    }
    let is_other = |bot: &&BotPlan| header.bots.get(&bot.name) != Some(&bot.hash);
    if let Some(bot) = plan.bots.iter().find(is_other) {
        return Err(MergeError::OtherBot {
            header: path.to_owned(),
            bot: bot.name.clone(),
        });
    }
    Ok(())
}

/// How every game ended, how many games the shards have twice, and which occur twice anywhere.
fn survey(
    journals: &[ShardJournal],
    plan: &Plan,
) -> Result<(Endings, u64, RepeatedGames), TournamentError> {
    let mut endings = Endings::default();
    let (mut duplicates, mut repeated) = (0, RepeatedGames::default());
    for journal in journals {
        each_line(&journal.path, |line| {
            let game = line.summary()?;
            let found = examine(plan, &game);
            let (id, result, _) = found.map_err(|wrong| line.error(wrong))?;
            if !endings.note(id, result) {
                duplicates += u64::from(!journal.headers.is_empty());
                repeated.insert(id, None);
            }
            Ok(())
        })?;
    }
    Ok((endings, duplicates, repeated))
}

fn check_complete(
    directory: &TournamentDirectory,
    endings: &Endings,
    plan: &Plan,
    journals: &[ShardJournal],
) -> Result<(), MergeError> {
    let mut missing = 0;
    let mut first = None;
    for number in 1..=plan.pairs_so_far() {
        for (half, ending) in Half::BOTH.into_iter().zip(endings.of(number)) {
            if ending.is_none() {
                missing += 1;
                first.get_or_insert(GameId { pair: number, half });
            }
        }
    }
    let Some(first) = first else {
        return Ok(());
    };
    let mut headers = journals.iter().flat_map(|journal| &journal.headers);
    let count_of = |header: &Header| Some(header.shard.parse::<Shard>().ok()?.count);
    let shard = headers.find_map(count_of).and_then(|count| {
        (1..=count)
            .map(|index| Shard { index, count })
            .find(|shard| shard.pairs(plan).contains(&first.pair))
    });
    Err(MergeError::MissingGames {
        missing,
        games: 2 * plan.pairs_so_far(),
        first: plan.id(first),
        shard,
        directory: directory.clone(),
    })
}

/// A shard's journal, with a header for each session of playing it.
struct ShardJournal {
    path: PathBuf,
    headers: Vec<Header>,
}

impl ShardJournal {
    /// The session that wrote this line, counted from 1.
    fn session(&self, line: u64) -> Option<&Header> {
        let later = self.headers.partition_point(|header| header.after < line);
        self.headers.get(later.checked_sub(1)?)
    }

    fn place(&self, line: u64) -> LinePlace {
        LinePlace {
            path: self.path.clone(),
            line,
        }
    }
}
