//! The folder of a league, from one plan to the next.
//!
//! A new plan and the games that it takes over are written into a folder of their own, which is then renamed: from then on
//! they count, and a referee that is killed in between moves them to their places at the next start.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::archive::{self, ArchiveError};
use crate::arena::analysing;
use crate::arena::directory::{DirectoryError, TournamentDirectory};
use crate::arena::plan::Plan;
use crate::arena::shard;
use crate::record::atomic_file::sync_directory;
use crate::record::journal::{Journal, OpenError};
use crate::text::unreadable;

/// Where the next plan and its games are written.
const NEXT: &str = ".next";

/// The same once they are complete.
const READY: &str = ".ready";

/// The file that is locked while a referee works on a league.
const LOCK: &str = "league.lock";

/// What moves from one folder to the other. The plan comes last: while it is the old one, nothing has begun.
const FILES: [&str; 3] = ["games.jsonl", analysing::FILE, "plan.json"];

/// Why the folder of a league cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SeasonError {
    /// Something in it cannot be read or written.
    #[error("{}", unreadable(.0, .1))]
    Io(PathBuf, io::Error),
    /// Another referee works on it.
    #[error("{}: another referee is working on this league; wait for it", .0.display())]
    Locked(PathBuf),
    /// Another referee plays a part of it.
    #[error(
        "{}: another referee is playing this part of the league; its games would be lost: wait for it, then \
         merge the parts", .0.display()
    )]
    Played(PathBuf),
    /// Its plan cannot be read or written.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// Its archive cannot be read or written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

fn failed(path: &Path) -> impl Fn(io::Error) -> SeasonError + use<'_> {
    move |error| SeasonError::Io(path.to_owned(), error)
}

/// The folder of a league, which no other referee uses.
#[derive(Debug)]
pub struct LeagueDirectory {
    path: PathBuf,
    /// Locked until this is dropped.
    _lock: File,
}

impl LeagueDirectory {
    /// Opens or makes the folder, and finishes what a referee that was killed had begun.
    pub fn open(path: &Path) -> Result<Self, SeasonError> {
        fs::create_dir_all(path).map_err(failed(path))?;
        let place = path.join(LOCK);
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        let lock = options.open(&place).map_err(failed(&place))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(SeasonError::Locked(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(failed(&place)(error)),
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

    /// The tournament of the newest plan.
    pub fn tournament(&self) -> TournamentDirectory {
        TournamentDirectory::at(&self.path)
    }

    /// Replaces the plan: the games of the old one, also those of parts that have not been merged, go into the archive,
    /// and those that the new one has, too, are taken over from there. Returns how many.
    pub fn change(&self, old: Option<&Plan>, new: &mut Plan) -> Result<usize, SeasonError> {
        // Locked until the new plan counts, so that nobody plays a part of the old one meanwhile.
        let mut parts = Vec::new();
        if let Some(old) = old {
            archive::add(&self.path, old, &self.tournament().journal_file())?;
            for path in self.parts()? {
                match Journal::open(&path) {
                    Ok((journal, _)) => parts.push(journal),
                    Err(OpenError::Locked { .. }) => return Err(SeasonError::Played(path)),
                    Err(error) => return Err(ArchiveError::from(error).into()),
                }
                archive::add(&self.path, old, &path)?;
            }
        }
        let kept = archive::kept(&self.path, new)?;
        let next = self.path.join(NEXT);
        if next.exists() {
            fs::remove_dir_all(&next).map_err(failed(&next))?;
        }
        let written = TournamentDirectory::make(&next)?;
        let mut games = kept.join("\n");
        if !kept.is_empty() {
            games.push('\n');
        }
        written.write("games.jsonl", &games)?;
        let before = analysing::file(&self.tournament());
        if before.exists() {
            // Otherwise those of the old games would be taken for those of the new ones.
            let analysed = archive::analysed(&before, &kept)?;
            let lines: Vec<String> = analysed.iter().map(|line| format!("{line}\n")).collect();
            written.write(analysing::FILE, &lines.concat())?;
        }
        written.write_plan(new)?;
        let ready = self.path.join(READY);
        fs::rename(&next, &ready).map_err(failed(&next))?;
        sync_directory(&self.path).map_err(failed(&self.path))?;
        self.finish()?;
        Ok(kept.len())
    }

    /// The journals of its parts, if it is played in parts.
    fn parts(&self) -> Result<Vec<PathBuf>, SeasonError> {
        match shard::journals(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            journals => journals.map_err(failed(&shard::folder(&self.path))),
        }
    }

    /// Moves a complete plan and its games to their places.
    fn finish(&self) -> Result<(), SeasonError> {
        let ready = self.path.join(READY);
        if !ready.exists() {
            return Ok(());
        }
        // The games of its parts are in the archive.
        let parts = shard::folder(&self.path);
        match fs::remove_dir_all(&parts) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed.map_err(failed(&parts))?,
        }
        for name in FILES {
            let from = ready.join(name);
            match fs::rename(&from, self.path.join(name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                moved => moved.map_err(failed(&from))?,
            }
        }
        fs::remove_dir(&ready).map_err(failed(&ready))?;
        sync_directory(&self.path).map_err(failed(&self.path))
    }
}
