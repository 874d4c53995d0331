//! The directory of a tournament: plan, journal, tables, bots' stderr. It is the tournament's whole state.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::TournamentError;
use super::plan::Plan;
use super::results::{Results, examine};
use super::shard::{self, Shard};
use referee_match::bot::shell;
use referee_match::record::atomic_file::{remove_leftovers, replace, sync_directory};
use referee_match::record::journal::{Journal, OpenError, TornTail};
use referee_match::record::reader::{Reader, RecordLine};
use referee_match::record::text_file::{self, if_there};

type Result<T> = std::result::Result<T, TournamentError>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentDirectory {
    path: PathBuf,
}

impl TournamentDirectory {
    pub fn make(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(TournamentError::io(path))?;
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

    pub fn quoted(&self) -> String {
        shell::quoted(&self.path.to_string_lossy()).into_owned()
    }

    pub fn plan_file(&self) -> PathBuf {
        self.path.join("plan.json")
    }

    pub fn journal_file(&self) -> PathBuf {
        self.path.join("games.jsonl")
    }

    pub fn shard_files(&self, shard: Shard, plan: &Plan) -> Result<[PathBuf; 2]> {
        let folder = shard::folder(&self.path);
        fs::create_dir_all(&folder).map_err(TournamentError::io(&folder))?;
        let name = shard.name(plan);
        Ok(["jsonl", "header"].map(|ending| folder.join(format!("{name}.{ending}"))))
    }

    pub fn plan(&self) -> Result<Option<Plan>> {
        let path = self.plan_file();
        let text = if_there(text_file::read(&path, text_file::KEPT));
        let Some(text) = text.map_err(TournamentError::io(&path))? else {
            let games = fs::metadata(self.journal_file());
            if games.is_ok_and(|meta| meta.len() > 0) {
                return Err(TournamentError::GamesWithoutPlan(self.path.clone()));
            }
            return Ok(None);
        };
        let plan = Plan::from_json(text.as_bytes());
        plan.map(Some)
            .map_err(|error| TournamentError::Plan { path, error })
    }

    pub fn write_plan(&self, plan: &mut Plan) -> Result<()> {
        let text = plan.to_json().map_err(io::Error::from)?;
        self.write("plan.json", &text)
    }

    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path.join(name);
        let written = replace(&path, text.as_bytes()).and_then(|()| sync_directory(&self.path));
        written.map_err(TournamentError::io(&path))
    }

    pub fn open_journal(&self, path: &Path, wait: Duration) -> Result<(Journal, Option<TornTail>)> {
        let opened = Journal::open_within(path, wait);
        let opened = opened.map_err(|error| match error {
            OpenError::Locked { path } => TournamentError::Locked(path),
            error => TournamentError::Journal(error),
        })?;
        if path == self.journal_file() {
            // Every writer holds this lock, except that a shard's player writes the piece set.
            remove_leftovers(&self.path, "pieces.csv").map_err(TournamentError::io(&self.path))?;
        }
        // A new file survives a power loss only once its directory is synced.
        let folder = path.parent().unwrap_or(&self.path);
        sync_directory(folder).map_err(TournamentError::io(folder))?;
        Ok(opened)
    }

    /// Adds a shard's games that were kept from an earlier plan and are not in its own journal.
    pub fn read_kept(&self, plan: &Plan, shard: Shard, results: &mut Results) -> Result<()> {
        let path = self.journal_file();
        if !plan.by_version {
            return Ok(());
        }
        let pairs = shard.pairs(plan);
        each_line_if_there(&path, |line| {
            let game = line.summary()?;
            let wrong = |mismatch| line.error(mismatch);
            let (id, ..) = examine(plan, &game).map_err(wrong)?;
            let is_new = results.endings.of(id.pair)[id.half as usize].is_none();
            if pairs.contains(&id.pair) && is_new {
                results.add(plan, &game).map_err(wrong)?;
            }
            Ok(())
        })
    }

    /// Skips an incomplete last line.
    pub fn read_journal(path: &Path, plan: &Plan) -> Result<Results> {
        let mut results = Results::new(plan);
        each_line(path, |line| {
            let added = results.add(plan, &line.summary()?);
            Ok(added.map_err(|mismatch| line.error(mismatch))?)
        })?;
        Ok(results)
    }
}

/// The complete lines of a file that may be missing.
pub fn each_line_if_there(
    path: &Path,
    visit: impl FnMut(&RecordLine<'_>) -> Result<()>,
) -> Result<()> {
    let is_there = fs::exists(path).map_err(TournamentError::io(path))?;
    if is_there {
        each_line(path, visit)?;
    }
    Ok(())
}

/// The complete lines of a file.
pub fn each_line(path: &Path, mut visit: impl FnMut(&RecordLine<'_>) -> Result<()>) -> Result<()> {
    let mut reader = Reader::open(path)?;
    while let Some(line) = reader.next_complete_line()? {
        visit(&line)?;
    }
    Ok(())
}
