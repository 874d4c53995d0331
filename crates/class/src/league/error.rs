//! Why a league cannot be read or changed.

use std::path::PathBuf;

use super::season::LockHolder;
use super::state::VERSION;
use referee_stats::ratings::RatingError;
use referee_tournament::TournamentError;
use referee_tournament::plan::difference::{PlanDifference, listed};

#[derive(Debug, thiserror::Error)]
pub enum LeagueError {
    #[error(transparent)]
    Tournament(#[from] TournamentError),
    #[error(transparent)]
    Ratings(#[from] RatingError),
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
    /// Other settings than those of the games before.
    #[error(
        "{}: games of this league would no longer be comparable:\n  {}\n{}", .path.display(), listed(.changed),
        fix_of_incomparable(.changed)
    )]
    Incomparable {
        path: PathBuf,
        changed: Vec<PlanDifference>,
    },
}

fn fix_of_incomparable(changed: &[PlanDifference]) -> &'static str {
    if changed == [PlanDifference::GameProgram] {
        "--accept-changes goes on with it as it is now, and tables and pages say since which game"
    } else {
        "leave these options as they were, or start another league"
    }
}
