//! What comes before the first game: seeds, entry checks with their notices, and the number of games at a time.

use std::fmt::Write as _;
use std::path::Path;
use std::thread::available_parallelism;

use tokio::sync::mpsc;

use super::Options;
use super::failures::{mended_notice, with_place};
use crate::arena::TournamentError;
use crate::arena::entrants::{Entrant, Entrants};
use crate::arena::plan::Plan;
use crate::arena::preparation::{Notice, Preparation};
use crate::arena::seeding::{listed, seeded};
use crate::cli::support::folder::read_text;
use crate::cli::support::output::ProgressLine;
use crate::cli::support::pages::Pages;
use crate::cli::support::prelude::*;
use crate::cli::support::sandbox::warn_memory;
use crate::record::text_file;
use crate::report::serve::State;
use crate::sandbox::Sandbox;

const SEEDS: usize = 16;

pub(super) async fn prepare(
    preparation: &Preparation<'_>,
    old: Option<Plan>,
    entrants: Entrants,
    stops: &mut mpsc::Receiver<()>,
    pages: Option<&Pages>,
) -> Result<(Plan, Vec<Entrant>), Failure> {
    let line = ProgressLine::new();
    let mut notify = |notice: Notice<'_>| {
        if let (Notice::Checking { number, of, .. }, Some(pages)) = (&notice, pages) {
            pages.set_state(State::Checking(*number, *of));
        }
        print_notice(&line, notice);
    };
    if let Some(old) = old {
        let begun_in = old.clone();
        let resumed = preparation.resume(old, entrants, &mut notify);
        return resumed.map_err(|error| match error {
            missing @ TournamentError::Missing(_) => with_place(missing.into(), Some(&begun_in)),
            error => error.into(),
        });
    }
    let begun = tokio::select! {
        begun = preparation.begin(entrants, &mut notify) => Some(begun),
        _ = stops.recv() => None,
    };
    line.clear();
    let begun = begun.ok_or(Failure::Interrupted)??;
    if begun.0.format.depends_on_results() {
        print_stderr(&seed_list(&begun.0));
    }
    Ok(begun)
}

pub(crate) fn print_notice(line: &ProgressLine, notice: Notice<'_>) {
    let text = match notice {
        Notice::Checking { name, number, of } => {
            let text = format!("checking {number} of {of}: {}", escape_controls(name));
            return line.report_if_due(text);
        }
        Notice::Mended {
            bot,
            plan,
            directory,
        } => mended_notice(directory.path(), plan, bot),
        Notice::Text(text) => format!("referee: {text}"),
    };
    line.clear();
    print_stderr(&text);
}

fn seed_list(plan: &Plan) -> String {
    let by = plan.seeded_by.as_deref().map_or_else(
        || "in the order given, those of a folder by name".to_owned(),
        |file| format!("by {}", escape_controls(file)),
    );
    let mut text = format!("referee: seeds, {by}:");
    for (place, bot) in plan.bots.iter().enumerate().take(SEEDS) {
        let comma = if place == 0 { "" } else { "," };
        let _ = write!(text, "{comma} {} {}", place + 1, bot.name);
    }
    let more = plan.bots.len().saturating_sub(SEEDS);
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    if plan.seeded_by.is_none() {
        text.push_str("; --seeds FILE takes the order of a standings file");
    }
    text
}

/// `--seeds`: orders the bots by a file, or by the standings in a tournament's folder.
pub(super) fn apply_seeds(path: &Path, entrants: &mut Entrants) -> Result<(), Failure> {
    let path = if path.is_dir() {
        path.join("standings.json")
    } else {
        path.to_owned()
    };
    let text = read_text(&path, text_file::KEPT)?;
    let names = entrants.names();
    let seeded =
        seeded(&text, &names).map_err(|problem| usage!("--seeds {}: {problem}", path.display()))?;
    let unnamed = seeded.unnamed.iter();
    let unnamed = unnamed.filter(|&&bot| bot < entrants.entered.len());
    let unnamed: Vec<&str> = unnamed.map(|&bot| names[bot]).collect();
    if !unnamed.is_empty() {
        note!(
            "warning: {} has no place for {}: seeded last and in the order given",
            path.display(),
            listed(unnamed.into_iter())
        );
    }
    if seeded.others > 0 {
        let others = u64::try_from(seeded.others).unwrap_or(u64::MAX);
        note!(
            "{} in {} that {} part",
            counted(others, "name", "names"),
            path.display(),
            if others == 1 { "takes no" } else { "take no" }
        );
    }
    let bots = std::mem::take(&mut entrants.entered).into_iter();
    let mut bots: Vec<_> = bots.map(Some).collect();
    let in_order = seeded
        .order
        .iter()
        .filter_map(|&bot| bots.get_mut(bot)?.take());
    entrants.entered = in_order.collect();
    Ok(())
}

pub(super) fn usual_jobs() -> usize {
    (available_parallelism().map_or(1, usize::from) / 2).max(1)
}

/// Prints the number when it was not given; warns when cores or memory do not suffice.
pub(crate) fn jobs(options: &Options, entrants: &[Entrant], sandbox: &Sandbox) -> usize {
    let jobs = games_at_once(options, entrants);
    warn_memory(sandbox, jobs.saturating_mul(2));
    jobs
}

fn games_at_once(options: &Options, entrants: &[Entrant]) -> usize {
    let cores = available_parallelism().map_or(1, usize::from);
    let Some(jobs) = options.games.jobs else {
        return usual_jobs();
    };
    let jobs = usize::from(jobs);
    // Below one second a wait for a core matters.
    let short = |seconds: f64| seconds < 1.0;
    let is_short = entrants.iter().any(|bot| {
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
        note!(
            "warning: {jobs} games at a time need {} cores and there are {cores}, but the \
             clocks are short: {consequence}; use --jobs {}",
            jobs * 2,
            usual_jobs()
        );
    }
    jobs
}
