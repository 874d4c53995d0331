//! How many games are played at once.

use std::thread::available_parallelism;

use super::Options;
use crate::arena::entrants::Entrants;
use crate::cli::support::output::print_stderr;
use crate::cli::support::sandbox::warn_memory;
use crate::sandbox::Sandbox;

/// The number of games at once when none is given: a core for each bot.
pub(super) fn usual_jobs() -> usize {
    (available_parallelism().map_or(1, usize::from) / 2).max(1)
}

/// The number of entry checks at once where so many games are: a game has two bots, and a check has one.
pub(in crate::cli) const fn checks(jobs: usize) -> usize {
    jobs.saturating_mul(2)
}

/// The number of games at once. Prints it when it was not given, and warns when it is too large for the cores or the
/// memory that there is.
pub(in crate::cli) fn jobs(options: &Options, entrants: &Entrants, sandbox: &Sandbox) -> usize {
    let jobs = games_at_once(options, entrants);
    warn_memory(sandbox, jobs.saturating_mul(2));
    jobs
}

fn games_at_once(options: &Options, entrants: &Entrants) -> usize {
    let cores = available_parallelism().map_or(1, usize::from);
    let s = |count: usize| if count == 1 { "" } else { "s" };
    let Some(jobs) = options.jobs else {
        let jobs = usual_jobs();
        print_stderr(&format!(
            "referee: {jobs} game{} at once, a core for each bot (of {cores} core{}; --jobs N for \
             another number)",
            s(jobs),
            s(cores)
        ));
        return jobs;
    };
    let jobs = usize::from(jobs);
    // With less time than this, having to wait for a core matters.
    let short = |seconds: f64| seconds < 1.0;
    let is_short = entrants.entered.iter().any(|bot| {
        let limits = &bot.plan.limits;
        limits.move_time.is_some_and(short)
            || limits.game_time.is_some_and(|time| short(time / 8.0))
    });
    if jobs * 2 > cores && is_short {
        let consequence = if cfg!(all(target_os = "linux", not(portable))) {
            "bots will wait for each other, which is not charged to them but delays the games"
        } else {
            "bots will lose on time because they wait for each other"
        };
        print_stderr(&format!(
            "referee: warning: {jobs} games at once need {} cores and there are {cores}, but the \
             clocks are short: {consequence}; use --jobs {}",
            jobs * 2,
            usual_jobs()
        ));
    }
    jobs
}
