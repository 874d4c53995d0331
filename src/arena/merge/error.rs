//! Why shards cannot be merged.

use std::io;
use std::path::Path;

use crate::arena::directory::DirectoryError;
use crate::arena::plan::PlanError;
use crate::record::reader::LineError;
use crate::text::cause;
use crate::tournament::schedule::GameId;

#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error("{path}: {}", cause(.error))]
    Io { path: String, error: io::Error },
    #[error("{path}: there are no shards; play them first: referee run {directory} --shard I/N")]
    NoShards {
        path: String,
        /// Quoted for a shell.
        directory: String,
    },
    /// Which bots played is unknown.
    #[error(
        "{journal}: its header {header}, which records the plan and the bots, is missing; put it \
         back, or delete the journal and play the shard again"
    )]
    NoHeader {
        /// The journal.
        journal: String,
        /// The missing file.
        header: String,
    },
    /// Another plan.
    #[error(
        "{path}: it belongs to another plan, so the games beside it are others; take both out of the \
         folder and play that part again"
    )]
    OtherPlan { path: String },
    /// Other bots.
    #[error(
        "{path}: {bot} was another program there: its files were not those of the plan; take this file and \
         the games beside it out of the folder, and play that part again with the bot of the plan"
    )]
    OtherBot {
        /// The header.
        path: String,
        bot: String,
    },
    /// Two records of a game differ.
    #[error("{id}: {first} and {second} differ; take out the one that is wrong")]
    Differ {
        id: GameId,
        /// File and line.
        first: String,
        /// File and line.
        second: String,
    },
    /// Games that are not the shards'.
    #[error(
        "{path}: it holds games that are not among those of the shards, and merging would replace them; \
         move the file away to merge the shards alone"
    )]
    OtherGames { path: String },
    /// Games not played.
    #[error("{count} of {all} games are missing, the first is {first}{hint}")]
    Missing {
        /// Missing games.
        count: u64,
        /// All games.
        all: u64,
        /// The first one missing.
        first: GameId,
        /// `; ` and the command that plays it; empty when the shard is unknown.
        hint: String,
    },
    /// The plan cannot be hashed.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// For `map_err`.
pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> MergeError + '_ {
    move |error| MergeError::Io {
        path: path.display().to_string(),
        error,
    }
}

/// For `map_err`.
pub(super) fn damaged(error: LineError) -> MergeError {
    MergeError::Directory(error.into())
}
