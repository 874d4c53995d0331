//! The folder of a league, from one plan to the next.
//!
//! A new plan and the games that it reuses are written into a folder that is then renamed: from then on they count.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::archive;
use super::state::League;
use crate::arena::directory::TournamentDirectory;
use crate::arena::plan::Plan;
use crate::arena::{TournamentError, analysing, shard};
use crate::record::atomic_file::sync_directory;
use crate::record::journal::{Journal, OpenError};
use crate::record::text_file::if_there;

/// The next plan and its games, being written.
const NEXT: &str = ".next";

const READY: &str = ".ready";

const LOCK: &str = "league.lock";

/// Moved in this order. While the plan is the old one, nothing has begun.
const FILES: [&str; 3] = ["games.jsonl", analysing::FILE, "plan.json"];

/// Locked: no other referee uses it.
#[derive(Debug)]
pub struct LeagueDirectory {
    path: PathBuf,
    _lock: File,
}

impl LeagueDirectory {
    /// Creates the folder if needed; finishes what a killed referee began.
    pub fn open(path: &Path) -> Result<Self, TournamentError> {
        fs::create_dir_all(path).map_err(TournamentError::io(path))?;
        let place = path.join(LOCK);
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        let lock = options.open(&place).map_err(TournamentError::io(&place))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(TournamentError::Input(format!(
                    "{}: another referee is working on this league; wait for it",
                    path.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(TournamentError::io(&place)(error)),
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
    pub fn change(
        &self,
        league: &League,
        old: Option<&Plan>,
        new: &mut Plan,
    ) -> Result<usize, TournamentError> {
        let of = (&*self.path, league);
        // Locked until the new plan counts: no part of the old one may be played meanwhile.
        let mut parts = Vec::new();
        if let Some(old) = old {
            archive::add(of, old, &self.tournament().journal_file())?;
            for path in self.parts()? {
                match Journal::open(&path) {
                    Ok((journal, _)) => parts.push(journal),
                    Err(OpenError::Locked { path }) => {
                        return Err(TournamentError::Input(format!(
                            "{path}: another referee is playing this part of the league; its games would be lost: \
                             wait for it, then merge the parts"
                        )));
                    }
                    Err(error) => return Err(TournamentError::Input(error.to_string())),
                }
                archive::add(of, old, &path)?;
            }
        }
        let kept = archive::kept(of, new)?;
        let next = self.path.join(NEXT);
        if_there(fs::remove_dir_all(&next)).map_err(TournamentError::io(&next))?;
        let written = TournamentDirectory::make(&next)?;
        let text = |lines: &[String]| {
            lines
                .iter()
                .flat_map(|line| [line, "\n"])
                .collect::<String>()
        };
        written.write("games.jsonl", &text(&kept))?;
        let before = analysing::file(&self.tournament());
        if before.exists() {
            // Otherwise the old games' analyses would count for the new ones.
            let analysed = archive::analysed(&before, &kept)?;
            written.write(analysing::FILE, &text(&analysed))?;
        }
        written.write_plan(new)?;
        let ready = self.path.join(READY);
        fs::rename(&next, &ready).map_err(TournamentError::io(&next))?;
        sync_directory(&self.path).map_err(TournamentError::io(&self.path))?;
        self.finish()?;
        Ok(kept.len())
    }

    fn parts(&self) -> Result<Vec<PathBuf>, TournamentError> {
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
