//! The folder of a league, from one plan to the next.
//!
//! A new plan and the games that it reuses are written into a folder that is then renamed: from then on they count.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::Instant;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::archive;
use super::error::LeagueError;
use referee_match::play::setup::now;
use referee_match::record::atomic_file::sync_directory;
use referee_match::record::journal::{Journal, LINGERING_LOCK, OpenError};
use referee_match::record::text_file::if_there;
use referee_tournament::directory::TournamentDirectory;
use referee_tournament::plan::Plan;
use referee_tournament::{TournamentError, analysing, shard};

/// The next plan and its games, being written.
const NEXT: &str = ".next";

const READY: &str = ".ready";

const LOCK: &str = "league.lock";

/// Moved in this order. While the plan is the old one, nothing has begun.
const FILES: [&str; 3] = ["games.jsonl", analysing::FILE, "plan.json"];

/// Who has locked a league: for people whom another referee refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    pub command: String,
    pub process: u32,
    pub since: Timestamp,
}

impl LockHolder {
    /// This process.
    pub fn this(command: &str) -> Self {
        Self {
            command: command.to_owned(),
            process: process::id(),
            since: now(),
        }
    }

    /// `None` where nothing is known: some systems let only its holder read a locked file, or it is being written.
    fn of(lock: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(lock).ok()?).ok()
    }

    fn write(&self, lock: &mut File) -> io::Result<()> {
        lock.rewind()?;
        lock.set_len(0)?;
        lock.write_all(serde_json::to_string(self)?.as_bytes())
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            command,
            process,
            since,
        } = self;
        write!(f, "`{command}`, process {process}, since {since:.0}")
    }
}

/// Locked: no other referee uses it.
#[derive(Debug)]
pub struct LeagueDirectory {
    path: PathBuf,
    _lock: File,
}

impl LeagueDirectory {
    /// Creates the folder if needed; finishes what a killed referee began.
    pub fn open(path: &Path) -> Result<Self, LeagueError> {
        Self::open_for(path, "referee league")
    }

    /// For this command, which another referee is told meanwhile.
    pub fn open_for(path: &Path, command: &str) -> Result<Self, LeagueError> {
        fs::create_dir_all(path).map_err(TournamentError::io(path))?;
        let place = path.join(LOCK);
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        let mut lock = options.open(&place).map_err(TournamentError::io(&place))?;
        let begun = Instant::now();
        let locked = loop {
            match lock.try_lock() {
                // A child of a killed referee has the lock until it has become another program.
                Err(TryLockError::WouldBlock) if begun.elapsed() < LINGERING_LOCK => {
                    thread::sleep(LINGERING_LOCK / 20);
                }
                locked => break locked,
            }
        };
        match locked {
            // Without its holder's name it is a lock all the same: the disk may be full.
            Ok(()) => drop(LockHolder::this(command).write(&mut lock)),
            Err(TryLockError::WouldBlock) => {
                return Err(LeagueError::Locked {
                    path: path.to_owned(),
                    holder: LockHolder::of(&place),
                });
            }
            Err(TryLockError::Error(error)) => {
                return Err(TournamentError::io(&place)(error).into());
            }
        }
        let league = Self {
            path: path.to_owned(),
            _lock: lock,
        };
        league.finish()?;
        Ok(league)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn tournament(&self) -> TournamentDirectory {
        TournamentDirectory::at(&self.path)
    }

    /// Replaces the plan. Games of the old one, including unmerged parts, are archived; those of the new plan are
    /// taken from the archive. Returns how many.
    pub fn change(&self, old: Option<&Plan>, new: &mut Plan) -> Result<usize, LeagueError> {
        // Locked until the new plan counts: no part of the old one may be played meanwhile.
        let mut parts = Vec::new();
        if let Some(old) = old {
            archive::add(&self.path, old, &self.tournament().journal_file())?;
            for path in self.shard_journals()? {
                match Journal::open(&path) {
                    Ok((journal, _)) => parts.push(journal),
                    Err(OpenError::Locked { path }) => {
                        return Err(LeagueError::ShardLocked(path));
                    }
                    Err(error) => return Err(TournamentError::Journal(error).into()),
                }
                archive::add(&self.path, old, &path)?;
            }
        }
        let kept = archive::kept(&self.path, new)?;
        let next = self.path.join(NEXT);
        if_there(fs::remove_dir_all(&next)).map_err(TournamentError::io(&next))?;
        let written = TournamentDirectory::make(&next)?;
        let text = |lines: &[String]| {
            lines
                .iter()
                .flat_map(|line| [line, "\n"])
                .collect::<String>()
        };
        let before = analysing::file(&self.tournament());
        let analysed = if before.exists() {
            archive::analysed(&before, &kept)?
        } else {
            vec![None; kept.len()]
        };
        // Games are analysed in the order of the journal: what has been is not done again.
        let count = kept.len();
        let mut games: Vec<_> = kept.into_iter().zip(analysed).collect();
        games.sort_by_key(|(_, analysis)| analysis.is_none());
        let (kept, analysed): (Vec<String>, Vec<Option<String>>) = games.into_iter().unzip();
        written.write("games.jsonl", &text(&kept))?;
        if before.exists() {
            // Otherwise the old games' analyses would count for the new ones.
            let analysed: Vec<String> = analysed.into_iter().flatten().collect();
            written.write(analysing::FILE, &text(&analysed))?;
        }
        written.write_plan(new)?;
        let ready = self.path.join(READY);
        fs::rename(&next, &ready).map_err(TournamentError::io(&next))?;
        sync_directory(&self.path).map_err(TournamentError::io(&self.path))?;
        self.finish()?;
        Ok(count)
    }

    fn shard_journals(&self) -> Result<Vec<PathBuf>, TournamentError> {
        let parts = if_there(shard::journals(&self.path));
        let parts = parts.map_err(TournamentError::io(&shard::folder(&self.path)))?;
        Ok(parts.unwrap_or_default())
    }

    /// Moves a complete plan and its games into place.
    fn finish(&self) -> Result<(), TournamentError> {
        let ready = self.path.join(READY);
        if !ready.exists() {
            return Ok(());
        }
        // The games of its parts are archived.
        let parts = shard::folder(&self.path);
        if_there(fs::remove_dir_all(&parts)).map_err(TournamentError::io(&parts))?;
        for name in FILES {
            let from = ready.join(name);
            let moved = if_there(fs::rename(&from, self.path.join(name)));
            moved.map_err(TournamentError::io(&from))?;
        }
        fs::remove_dir(&ready).map_err(TournamentError::io(&ready))?;
        sync_directory(&self.path).map_err(TournamentError::io(&self.path))
    }
}
