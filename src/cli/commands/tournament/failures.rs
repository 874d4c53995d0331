use std::env;
use std::fmt::Write as _;
use std::path::Path;

use super::options::Options;
use crate::cli::support::prelude::*;
use referee::arena::TournamentError;
use referee::arena::directory::TournamentDirectory;
use referee::arena::plan::Plan;
use referee::arena::shard::Shard;
use referee::text::escape_controls;

pub(super) fn resume_command(
    directory: &TournamentDirectory,
    shard: Option<Shard>,
    options: &Options,
) -> String {
    let path = directory.quoted();
    let mut command = match shard {
        None => format!("to resume: referee tournament --out {path}"),
        Some(shard) => format!("to resume: referee shard run {path} --shard {shard}"),
    };
    // Options that the plan does not hold.
    if let Some(jobs) = options.games.jobs {
        let _ = write!(command, " --jobs {jobs}");
    }
    if options.analyse {
        command.push_str(" --analyse");
    }
    if let Some(time) = options.time_per_move {
        let _ = write!(command, " --time-per-move {}s", time.as_secs_f64());
    }
    if options.pages.are_on() {
        command.push_str(", with --report or --live as before");
    }
    command
}

pub(super) fn with_place(failure: Failure, plan: Option<&Plan>) -> Failure {
    let begun_in = plan.and_then(|plan| plan.begun_in.as_deref());
    let here = env::current_dir().ok();
    match (failure, begun_in, here) {
        (Failure::Usage(text), Some(begun_in), Some(here)) if here != Path::new(begun_in) => {
            let place = escape_controls(begun_in);
            usage!(
                "{text}\nthis tournament was begun in {place}, where paths of its bots start; resume it \
                 from there"
            )
        }
        (failure, ..) => failure,
    }
}

pub(super) fn with_resume(error: TournamentError, resume: &str) -> Failure {
    match error {
        TournamentError::GameProgram(_) => error.into(),
        TournamentError::Input(text) => usage!("{text}\n{resume}"),
        error => Failure::Referee(format!("{error}; {resume}")),
    }
}

impl From<TournamentError> for Failure {
    fn from(error: TournamentError) -> Self {
        match error {
            TournamentError::Exhausted(limit) => Self::Exhausted(limit),
            TournamentError::Machine(_) | TournamentError::Knockout(_) => {
                Self::Referee(error.to_string())
            }
            error => Self::Usage(error.to_string()),
        }
    }
}
