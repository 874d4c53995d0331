//! Merges the journals of a tournament's shards into one.
//!
//! The shards must belong to the plan, no game may be missing, and no two records of a game may differ. Journals are
//! streamed: memory is two bytes a game, and about 50 for each that occurs twice.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufWriter, IntoInnerError, Write as _};
use std::path::PathBuf;

use super::directory::{TournamentDirectory, each_line};
use super::error::TournamentError;
use super::plan::Plan;
use super::results::{Distinct, Endings, Results, examine};
use super::shard::{self, Header, Shard};
use crate::record::atomic_file::AtomicFile;
use crate::record::journal::{Journal, LINGERING_LOCK};
use crate::record::{BotIndex, Ending, ForfeitReason};
use crate::tournament::schedule::{GameId, Half};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostReport {
    pub cpu: String,
    pub games: u64,
    pub timeouts: u64,
}

#[derive(Debug)]
pub struct Merged {
    pub results: Results,
    pub hosts: BTreeMap<String, HostReport>,
    pub duplicates: u64,
    /// Locks the replaced journal until the tables are written.
    pub lock: Journal,
}

/// Games that occur twice. Of the first record, once it has been read: how it ended, a hash of the game if it was
/// played, and its place.
type Twice = HashMap<GameId, Option<((Ending, Option<u64>), String)>>;

/// Merges into the directory's journal, whose games stay.
pub fn merge(directory: &TournamentDirectory, plan: &Plan) -> Result<Merged, TournamentError> {
    let mut parts = parts(directory, plan)?;
    let journal = directory.journal_file();
    // Before it is read: no referee may play into it meanwhile.
    let (lock, _) = directory.open_journal(&journal, LINGERING_LOCK)?;
    // An earlier merge, or games kept from an earlier plan of a league.
    parts.push(Part {
        path: journal.clone(),
        headers: Vec::new(),
    });
    let (endings, duplicates, mut twice) = survey(&parts, plan)?;
    complete(directory, &endings, plan, &parts)?;
    drop(endings);
    let file = AtomicFile::create(&journal).map_err(TournamentError::io(directory.path()))?;
    let mut out = BufWriter::with_capacity(1 << 17, file);
    let mut results = Results::new(plan);
    let mut hosts = BTreeMap::<String, HostReport>::new();
    for part in &parts {
        each_line(&part.path, |line| {
            let wrong = |problem| line.error(problem);
            let game = line.summary()?;
            let (id, ending, _) = examine(plan, &game).map_err(wrong)?;
            if let Some(first) = twice.get_mut(&id) {
                let hash = (ending, Distinct::digest(&game));
                let place = format!("{}:{}", part.path.display(), line.number());
                let (known, before) = first.get_or_insert_with(|| (hash, place.clone()));
                if *known != hash {
                    return Err(TournamentError::Input(format!(
                        "{}: {before} and {place} differ; take out the one that is wrong",
                        plan.id(id)
                    )));
                }
            }
            if results.endings.of(id.pair)[id.half as usize].is_some() {
                return Ok(());
            }
            if let Some(header) = part.session(line.number()) {
                let host = hosts.entry(header.host.clone()).or_default();
                host.cpu.clone_from(&header.cpu);
                host.games += 1;
                let mut reasons = BotIndex::ALL
                    .map(|bot| ending.forfeited_by(bot))
                    .into_iter();
                host.timeouts += u64::from(reasons.any(|it| it == Some(ForfeitReason::Timeout)));
            }
            results.add(plan, &game).map_err(wrong)?;
            let written = out.write_all(line.bytes());
            written.map_err(TournamentError::io(&part.path))
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

/// Journals with their headers, checked against the plan.
fn parts(directory: &TournamentDirectory, plan: &Plan) -> Result<Vec<Part>, TournamentError> {
    let folder = shard::folder(directory.path());
    let paths = match shard::journals(directory.path()) {
        Ok(paths) if !paths.is_empty() => paths,
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(TournamentError::io(&folder)(error));
        }
        _ => {
            return Err(TournamentError::Input(format!(
                "{}: there are no shards; play them first: referee shard run {} --shard I/N",
                folder.display(),
                directory.quoted()
            )));
        }
    };
    // If rounds depend on results, each round's plan has its own hash.
    let mut hashes = vec![plan.hash.clone()];
    if plan.format.depends_on_results() {
        for rounds in 0..plan.rounds.len() {
            let mut before = plan.clone();
            before.rounds.truncate(rounds);
            hashes.push(before.computed_hash().map_err(io::Error::from)?);
        }
    }
    let mut parts = Vec::new();
    for path in paths {
        let header_file = path.with_extension("header");
        let mut headers = match Header::read(&header_file) {
            Ok(headers) => headers,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A run refused before its first game leaves an empty journal.
                if path.metadata().map_err(TournamentError::io(&path))?.len() == 0 {
                    continue;
                }
                return Err(TournamentError::Input(format!(
                    "{}: its header {}, which records the plan and the bots, is missing; put it back, or delete the \
                     journal and play the shard again",
                    path.display(),
                    header_file.display()
                )));
            }
            Err(error) => return Err(TournamentError::io(&header_file)(error)),
        };
        for header in &mut headers {
            let path = header_file.display();
            if !hashes.contains(&header.plan) {
                return Err(TournamentError::Input(format!(
                    "{path}: it belongs to another plan, so the games beside it are others; take both out of the \
                     folder and play that part again"
                )));
            }
            for bot in &plan.bots {
                if header.bots.get(&bot.name) != Some(&bot.hash) {
                    return Err(TournamentError::Input(format!(
                        "{path}: {} was another program there: its files were not those of the plan; take this file and \
                         the games beside it out of the folder, and play that part again with the bot of the plan",
                        bot.name
                    )));
                }
            }
            // A thousand shards of a thousand bots would be a million hashes.
            header.bots.clear();
        }
        parts.push(Part { path, headers });
    }
    Ok(parts)
}

/// How every game ended, how many games the shards have twice, and which occur twice anywhere.
fn survey(parts: &[Part], plan: &Plan) -> Result<(Endings, u64, Twice), TournamentError> {
    let mut endings = Endings::default();
    let (mut duplicates, mut twice) = (0, Twice::default());
    for part in parts {
        each_line(&part.path, |line| {
            let game = line.summary()?;
            let found = examine(plan, &game);
            let (id, ending, _) = found.map_err(|problem| line.error(problem))?;
            if !endings.note(id, ending) {
                duplicates += u64::from(!part.headers.is_empty());
                twice.insert(id, None);
            }
            Ok(())
        })?;
    }
    Ok((endings, duplicates, twice))
}

fn complete(
    directory: &TournamentDirectory,
    endings: &Endings,
    plan: &Plan,
    parts: &[Part],
) -> Result<(), TournamentError> {
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
    let hint = shard.map_or_else(String::new, |shard| {
        let directory = directory.quoted();
        format!("; play it with: referee shard run {directory} --shard {shard}")
    });
    Err(TournamentError::Input(format!(
        "{count} of {} games are missing, the first is {}{hint}",
        2 * plan.pairs_so_far(),
        plan.id(first)
    )))
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
}
