//! Errors of a tournament as failures of the command, each with a way to go on: resuming, or a gauntlet for late
//! bots.

use std::env;
use std::fmt::Write as _;
use std::path::Path;

use super::options::Options;
use crate::arena::TournamentError;
use crate::arena::directory::TournamentDirectory;
use crate::arena::plan::{BotPlan, Plan};
use crate::arena::shard::Shard;
use crate::bot::naming::folder_name;
use crate::bot::shell;
use crate::bot::submission::only_program;
use crate::cli::support::failure::Failure;
use crate::text::escape_controls;

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

/// Adds to a failure to find bots that relative paths start where the tournament was begun.
pub(super) fn with_place(failure: Failure, plan: Option<&Plan>) -> Failure {
    let begun_in = plan.and_then(|plan| plan.begun_in.as_deref());
    let here = env::current_dir().ok();
    match (failure, begun_in) {
        (Failure::Usage(text), Some(begun_in))
            if here.is_some_and(|here| here != Path::new(begun_in)) =>
        {
            let place = escape_controls(begun_in);
            Failure::Usage(format!(
                "{text}\nthis tournament was begun in {place}, where paths of its bots start; resume it \
                 from there"
            ))
        }
        (failure, _) => failure,
    }
}

/// A run ended early.
pub(super) fn with_resume(error: TournamentError, resume: &str) -> Failure {
    match error {
        TournamentError::GameProgram(_) => error.into(),
        TournamentError::Input(text) => Failure::Usage(format!("{text}\n{resume}")),
        error => Failure::Referee(format!("{error}; {resume}")),
    }
}

impl From<TournamentError> for Failure {
    fn from(error: TournamentError) -> Self {
        match error {
            TournamentError::Machine(text) => Self::Referee(text),
            TournamentError::Exhausted(limit) => Self::Exhausted(limit),
            TournamentError::Another {
                ref path,
                ref late,
                ref plan,
                ..
            } if !late.is_empty() => {
                Self::Usage(format!("{error}; {}", late_entry(path, plan, late)))
            }
            error => Self::Usage(error.to_string()),
        }
    }
}

/// How bots play that came late or have changed.
fn late_entry(directory: &Path, plan: &Plan, late: &[BotPlan]) -> String {
    let names: Vec<&str> = late.iter().map(|bot| bot.name.as_str()).collect();
    let gauntlets = late.iter().map(|bot| gauntlet(directory, plan, bot));
    let is_known = |bot: &BotPlan| plan.bots.iter().any(|known| known.name == bot.name);
    // Without it the games of both versions count for one bot.
    let by = if late.iter().any(is_known) {
        " --by version"
    } else {
        ""
    };
    format!(
        "to play with {} all the same, let {} meet the others in a folder of its own, with the options of this \
         tournament, and count both:{}{by}",
        names.join(", "),
        if names.len() == 1 { "it" } else { "each" },
        gauntlets.collect::<String>(),
    )
}

/// A bot that was rejected has been fixed: how it plays.
pub(super) fn mended_notice(directory: &Path, plan: &Plan, bot: &BotPlan) -> String {
    format!(
        "referee: {} did not enter when this tournament began; it has been changed since, and still plays no game \
         of it. To let it meet the others, and count both:{}",
        bot.name,
        gauntlet(directory, plan, bot)
    )
}

/// The commands that play a bot against the others and rank all.
fn gauntlet(directory: &Path, plan: &Plan, bot: &BotPlan) -> String {
    let others = plan.bots.iter().filter(|known| known.name != bot.name);
    let bots = [bot].into_iter().chain(others).map(named);
    let bots = bots.collect::<Vec<_>>().join(" ");
    let (folder, pairs) = (directory.to_string_lossy(), plan.pairs);
    let out = format!("{}-{}", folder.trim_end_matches(['/', '\\']), bot.slug);
    let [folder, out] = [&*folder, &*out].map(shell::quoted);
    format!(
        "\n  referee tournament {bots} --format gauntlet --pairs {pairs} --out {out}\n  referee standings {folder} {out}"
    )
}

/// A bot as a word of a command line: its folder where that gives its name.
fn named(bot: &BotPlan) -> String {
    let folder = Path::new(&bot.bot).parent();
    let folder = folder.filter(|folder| {
        let name = folder_name(folder);
        name.is_some_and(|name| name == bot.name) && only_program(folder).is_ok()
    });
    let word = folder.map_or_else(|| bot.bot.as_str().into(), Path::to_string_lossy);
    shell::quoted(&word).into_owned()
}
