//! Why a league cannot be read or changed.

use std::path::PathBuf;

use super::season::LockHolder;
use super::state::VERSION;
use referee_tournament::TournamentError;

#[derive(Debug, thiserror::Error)]
pub enum LeagueError {
    #[error(transparent)]
    Tournament(#[from] TournamentError),
    #[error("{}: it is not the state of a league: {error}", .path.display())]
    State {
        path: PathBuf,
        error: serde_json::Error,
    },
    #[error("{}: it has version {version}; this program reads version {VERSION}", .path.display())]
    Version { path: PathBuf, version: u32 },
    #[error(
        "{}: another referee is working on this league{}; wait for it", .path.display(),
        .holder.as_ref().map_or_else(String::new, |holder| format!(": {holder}"))
    )]
    Locked {
        path: PathBuf,
        holder: Option<LockHolder>,
    },
    #[error(
        "{0}: another referee is playing this part of the league; its games would be lost: wait for it, then merge the \
         parts"
    )]
    ShardLocked(String),
}
