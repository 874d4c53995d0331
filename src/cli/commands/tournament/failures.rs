//! Errors of a tournament as failures of the command, each with a way to go on: resuming, or a gauntlet for late
//! bots.

use std::env;
use std::fmt::Write as _;
use std::path::Path;

use super::options::Options;
use crate::arena::TournamentError;
use crate::arena::directory::TournamentDirectory;
use crate::arena::plan::{BotPlan, Limits, Plan};
use crate::arena::shard::Shard;
use crate::bot::naming::folder_name;
use crate::bot::shell;
use crate::bot::submission::only_program;
use crate::cli::support::failure::Failure;
use crate::play::TimeControl;
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
    if let Some(jobs) = options.jobs {
        let _ = write!(command, " --jobs {jobs}");
    }
    if options.analyse {
        command.push_str(" --analyse");
    }
    if let Some(time) = options.time_per_move {
        let _ = write!(command, " --time-per-move {}s", time.as_secs_f64());
    }
    for word in options.pages.words() {
        let _ = write!(command, " {}", shell::quoted(&word));
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

/// For how many late bots commands are written out.
const WRITTEN: usize = 3;

/// How bots play that came late or have changed.
fn late_entry(directory: &Path, plan: &Plan, late: &[BotPlan]) -> String {
    let names: Vec<&str> = late.iter().map(|bot| bot.name.as_str()).collect();
    let mut text = format!(
        "to play with {} all the same, let {} meet the others in a folder of its own, and count both:",
        names.join(", "),
        if names.len() == 1 { "it" } else { "each" },
    );
    let is_new = |bot: &BotPlan| plan.bots.iter().all(|known| known.name != bot.name);
    for (place, bot) in late.iter().enumerate().take(WRITTEN) {
        let before = late[..place].iter().filter(|bot| is_new(bot));
        let _ = write!(text, "\n  {}", gauntlet(directory, plan, bot, before));
    }
    if names.len() > WRITTEN {
        let _ = write!(text, "\n  and so on for {}", names[WRITTEN..].join(", "));
    }
    let folders = late.iter().take(WRITTEN).map(|bot| out(directory, bot));
    let folders = [word(&directory.to_string_lossy())]
        .into_iter()
        .chain(folders);
    let _ = write!(
        text,
        "\n  referee standings {}",
        folders.collect::<Vec<_>>().join(" ")
    );
    if !late.iter().all(is_new) {
        // Without it the games of both versions count for one bot.
        text.push_str(" --by version");
    }
    text
}

/// A bot that was rejected has been fixed: how it plays.
pub(super) fn mended_notice(directory: &Path, plan: &Plan, bot: &BotPlan) -> String {
    let gauntlet = gauntlet(directory, plan, bot, [].iter());
    format!(
        "referee: {} did not enter when this tournament began; it has been changed since, and still plays no game \
         of it. To let it meet the others, and count both:\n  {gauntlet}\n  referee standings {} {}",
        bot.name,
        word(&directory.to_string_lossy()),
        out(directory, bot)
    )
}

fn out(directory: &Path, bot: &BotPlan) -> String {
    let directory = directory.to_string_lossy();
    word(&format!(
        "{}-{}",
        directory.trim_end_matches(['/', '\\']),
        bot.slug
    ))
}

/// The command that plays a bot against the plan's bots and `others`.
fn gauntlet<'a>(
    directory: &Path,
    plan: &'a Plan,
    bot: &BotPlan,
    others: impl Iterator<Item = &'a BotPlan>,
) -> String {
    let mut command = format!("referee tournament {}", named(bot));
    let known = plan.bots.iter().filter(|known| known.name != bot.name);
    for other in known.chain(others) {
        let _ = write!(command, " {}", named(other));
    }
    let _ = write!(command, " --format gauntlet --pairs {}", plan.pairs);
    if let Some(program) = &plan.game_program {
        let _ = write!(
            command,
            " --game {}",
            word(&shell_words::join(&program.command))
        );
        for option in plan.rules.split(' ').filter(|option| option.contains('=')) {
            let _ = write!(command, " --game-option {}", word(option));
        }
    } else if plan.game != "quarto" {
        let _ = write!(command, " --game {}", word(&plan.game));
    }
    if plan.rules != "standard" && plan.game == "quarto" {
        let _ = write!(command, " --rules {}", word(&plan.rules));
    }
    if plan.pieces.is_some() {
        let pieces = directory.join("pieces.csv");
        let _ = write!(command, " --pieces {}", word(&pieces.to_string_lossy()));
    }
    let usual = Limits::from(TimeControl::default());
    if bot.limits.move_time != usual.move_time {
        let time = bot.limits.move_time;
        let time = time.map_or_else(|| "none".to_owned(), |seconds| format!("{seconds}s"));
        let _ = write!(command, " --move-time {time}");
    }
    let start_time = bot.limits.start_time;
    if (start_time - usual.start_time).abs() > f64::EPSILON {
        let _ = write!(command, " --start-time {start_time}s");
    }
    if plan.sandbox.kind == "none" {
        command.push_str(" --sandbox none");
    }
    let _ = write!(command, " --out {}", out(directory, bot));
    command
}

/// A bot as a word of a command line: its folder where that gives its name.
fn named(bot: &BotPlan) -> String {
    let folder = Path::new(&bot.bot).parent();
    let folder = folder.filter(|folder| {
        let name = folder_name(folder);
        name.is_some_and(|name| name == bot.name) && only_program(folder).is_ok()
    });
    match folder {
        Some(folder) => word(&folder.to_string_lossy()),
        None => word(&bot.bot),
    }
}

fn word(text: &str) -> String {
    shell::quoted(text).into_owned()
}
