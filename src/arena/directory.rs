//! The directory of a tournament: plan, journal, tables, bots' stderr. It is the tournament's whole state.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::plan::{Plan, PlanError};
use super::results::Results;
use super::shard::{self, Shard};
use crate::record::atomic_file::{remove_leftovers, replace, sync_directory};
use crate::record::journal::{Journal, OpenError, TornTail};
use crate::record::reader::{LineError, Reader};
use crate::record::text_file;
use crate::text::cause;

#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    #[error("{path}: {}", cause(.error))]
    Io { path: String, error: io::Error },
    #[error("{path}: {error}")]
    Plan { path: String, error: PlanError },
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// A line is not a game of the plan, or repeats one.
    #[error("{0}; mend the line or take it out")]
    Line(#[from] LineError),
    #[error("{path}: there is a {found} but no plan.json; choose another folder")]
    NoTournament {
        /// The directory.
        path: String,
        found: &'static str,
    },
}

impl DirectoryError {
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> Self + use<'_> {
        move |error| Self::Io {
            path: path.display().to_string(),
            error,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentDirectory {
    path: PathBuf,
}

impl TournamentDirectory {
    /// Creates the directory if needed.
    pub fn make(path: &Path) -> Result<Self, DirectoryError> {
        fs::create_dir_all(path).map_err(DirectoryError::io(path))?;
        Ok(Self::at(path))
    }

    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The plan's file.
    pub fn plan_file(&self) -> PathBuf {
        self.path.join("plan.json")
    }

    /// When the journal was made; otherwise when the plan was last written.
    pub fn begun(&self) -> Option<SystemTime> {
        let made = fs::metadata(self.journal_file()).and_then(|meta| meta.created());
        let written = || fs::metadata(self.plan_file())?.modified();
        made.or_else(|_| written()).ok()
    }

    pub fn journal_file(&self) -> PathBuf {
        self.path.join("games.jsonl")
    }

    pub fn shard_files(&self, shard: Shard, plan: &Plan) -> Result<[PathBuf; 2], DirectoryError> {
        let folder = shard::folder(&self.path);
        fs::create_dir_all(&folder).map_err(DirectoryError::io(&folder))?;
        let name = shard.name(plan);
        Ok(["jsonl", "header"].map(|ending| folder.join(format!("{name}.{ending}"))))
    }

    pub fn stderr_file(&self, slug: &str) -> PathBuf {
        self.path.join("bots").join(slug).join("stderr.log")
    }

    pub fn plan(&self) -> Result<Option<Plan>, DirectoryError> {
        let path = self.plan_file();
        let text = match text_file::read(&path, text_file::KEPT) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let journal = self.journal_file();
                if fs::metadata(&journal).is_ok_and(|meta| meta.len() > 0) {
                    return Err(DirectoryError::NoTournament {
                        path: self.path.display().to_string(),
                        found: "games.jsonl",
                    });
                }
                return Ok(None);
            }
            Err(error) => return Err(DirectoryError::io(&path)(error)),
        };
        let plan = Plan::from_json(text.as_bytes()).map_err(|error| DirectoryError::Plan {
            path: path.display().to_string(),
            error,
        })?;
        Ok(Some(plan))
    }

    /// Atomic.
    pub fn write_plan(&self, plan: &mut Plan) -> Result<(), DirectoryError> {
        let path = self.plan_file();
        let text = plan.to_json().map_err(|error| DirectoryError::Plan {
            path: path.display().to_string(),
            error,
        })?;
        self.write("plan.json", &text)
    }

    pub fn write(&self, name: &str, text: &str) -> Result<(), DirectoryError> {
        let path = self.path.join(name);
        let written = replace(&path, text.as_bytes()).and_then(|()| sync_directory(&self.path));
        written.map_err(DirectoryError::io(&path))
    }

    pub fn open_journal(&self, path: &Path) -> Result<(Journal, Option<TornTail>), DirectoryError> {
        let opened = Journal::open(path)?;
        if path == self.journal_file() {
            // Every writer holds this lock, except that a shard's player writes the piece set.
            remove_leftovers(&self.path, "pieces.csv").map_err(DirectoryError::io(&self.path))?;
        }
        // A new file survives a power loss only once its directory is synced.
        let folder = path.parent().unwrap_or(&self.path);
        sync_directory(folder).map_err(DirectoryError::io(folder))?;
        Ok(opened)
    }

    /// Adds a shard's games that were kept from an earlier plan and are not in its own journal.
    pub fn read_kept(
        &self,
        plan: &Plan,
        shard: Shard,
        results: &mut Results,
    ) -> Result<(), DirectoryError> {
        let path = self.journal_file();
        if !plan.by_version || !path.exists() {
            return Ok(());
        }
        let pairs = shard.pairs(plan);
        let mut reader = Reader::open(&path).map_err(DirectoryError::io(&path))?;
        while let Some(line) = reader
            .next_complete_line()
            .map_err(DirectoryError::io(&path))?
        {
            let game = line.summary()?;
            let found = Results::examine(plan, &game);
            let (id, _) = found.map_err(|problem| line.error(problem))?;
            let is_new = results.endings.of(id.pair)[id.half as usize].is_none();
            if pairs.contains(&id.pair) && is_new {
                let added = results.add(plan, &game);
                added.map_err(|problem| line.error(problem))?;
            }
        }
        Ok(())
    }

    /// Skips an incomplete last line.
    pub fn read_journal(
        path: &Path,
        plan: &Plan,
        results: &mut Results,
    ) -> Result<(), DirectoryError> {
        let mut reader = Reader::open(path).map_err(DirectoryError::io(path))?;
        while let Some(line) = reader
            .next_complete_line()
            .map_err(DirectoryError::io(path))?
        {
            let added = results.add(plan, &line.summary()?);
            added.map_err(|problem| line.error(problem))?;
        }
        Ok(())
    }
}
