//! Why shards cannot be merged.

use std::io;
use std::path::Path;

use crate::arena::directory::DirectoryError;
use crate::arena::plan::PlanError;
use crate::record::reader::LineError;
use crate::text::cause;
use crate::tournament::schedule::GameId;

/// Why shards cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The directory or a journal in it cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// A file cannot be read or written.
    #[error("{path}: {}", cause(.error))]
    Io {
        /// The file.
        path: String,
        /// The system's error.
        error: io::Error,
    },
    /// The directory holds no shards.
    #[error("{path}: there are no shards; play them first: referee run {directory} --shard I/N")]
    NoShards {
        /// Where they would be.
        path: String,
        /// The tournament's directory, quoted for a shell.
        directory: String,
    },
    /// The header of a shard is missing, so it is unknown which bots played.
    #[error(
        "{journal}: its header {header}, which records the plan and the bots, is missing; put it \
         back, or delete the journal and play the shard again"
    )]
    NoHeader {
        /// The shard's journal.
        journal: String,
        /// The missing file.
        header: String,
    },
    /// A shard was played by another plan.
    #[error(
        "{path}: it belongs to another plan, so the games beside it are others; take both out of the \
         folder and play that part again"
    )]
    OtherPlan {
        /// Its header.
        path: String,
    },
    /// A shard was played by other bots.
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
        /// File and line of the first.
        first: String,
        /// File and line of the other.
        second: String,
    },
    /// The journal holds games that are not those of the shards.
    #[error(
        "{path}: it holds games that are not among those of the shards, and merging would replace them; \
         move the file away to merge the shards alone"
    )]
    OtherGames {
        /// The journal.
        path: String,
    },
    /// Games have not been played.
    #[error("{count} of {all} games are missing, the first is {first}{hint}")]
    Missing {
        /// The number of missing games.
        count: u64,
        /// The number of all games.
        all: u64,
        /// The first missing game.
        first: GameId,
        /// The command that plays it, after a semicolon; empty when the shard is unknown.
        hint: String,
    },
    /// The plan cannot be hashed.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Turns the error of a file into a [`MergeError`].
pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> MergeError + '_ {
    move |error| MergeError::Io {
        path: path.display().to_string(),
        error,
    }
}

/// Turns the error of a line into a [`MergeError`].
pub(super) fn damaged(error: LineError) -> MergeError {
    MergeError::Directory(error.into())
}
