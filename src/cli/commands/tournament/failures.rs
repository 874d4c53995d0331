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
use crate::cli::support::prelude::*;

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

fn late_entry(directory: &Path, plan: &Plan, late: &[BotPlan]) -> String {
    let names: Vec<&str> = late.iter().map(|bot| bot.name.as_str()).collect();
    let gauntlets = late.iter().map(|bot| gauntlet(directory, plan, bot));
    let is_known = |bot: &BotPlan| plan.bots.iter().any(|known| known.name == bot.name);
    // Without it the games of both versions count for one bot.
    let by = late.iter().any(is_known).then_some(" --by version");
    let by = by.unwrap_or_default();
    format!(
        "to play with {} all the same, let {} meet the others in a folder of its own, and count both:{}{by}",
        names.join(", "),
        if names.len() == 1 { "it" } else { "each" },
        gauntlets.collect::<String>(),
    )
}

pub(super) fn mended_notice(directory: &Path, plan: &Plan, bot: &BotPlan) -> String {
    format!(
        "referee: {} did not enter when this tournament began; it has been changed since, and still plays no game \
         of it. To let it meet the others, and count both:{}",
        bot.name,
        gauntlet(directory, plan, bot)
    )
}

fn gauntlet(directory: &Path, plan: &Plan, bot: &BotPlan) -> String {
    let others = plan.bots.iter().filter(|known| known.name != bot.name);
    let words: Vec<String> = [bot].into_iter().chain(others).map(named).collect();
    let mut options = vec![format!("--format gauntlet --pairs {}", plan.pairs)];
    let game = plan.game_program.as_ref();
    let game = game.map_or_else(
        || plan.game.clone(),
        |game| shell_words::join(&game.command),
    );
    options.push(format!("--game {}", shell::quoted(&game)));
    let rules = plan.rules.split(' ').filter(|option| option.contains('='));
    options.extend(rules.map(|option| format!("--game-option {}", shell::quoted(option))));
    if plan.rules != "standard" && plan.game == "quarto" {
        options.push(format!("--rules {}", plan.rules));
    }
    let folder = directory.to_string_lossy();
    if plan.pieces.is_some() {
        let pieces = directory.join("pieces.csv");
        options.push(format!(
            "--pieces {}",
            shell::quoted(&pieces.to_string_lossy())
        ));
    }
    let Limits {
        move_time,
        start_time,
        ..
    } = bot.limits;
    let move_time = move_time.map_or_else(|| "none".to_owned(), |seconds| format!("{seconds}s"));
    options.push(format!(
        "--move-time {move_time} --start-time {start_time}s"
    ));
    if plan.sandbox.kind == "none" {
        options.push("--sandbox none".to_owned());
    }
    let out = format!("{}-{}", folder.trim_end_matches(['/', '\\']), bot.slug);
    let [folder, out] = [&*folder, &*out].map(shell::quoted);
    let bots: Vec<_> = words.iter().map(|word| shell::quoted(word)).collect();
    let (bots, options) = (bots.join(" "), options.join(" "));
    format!(
        "\n  referee tournament {bots} {options} --out {out}\n  referee standings {folder} {out}"
    )
}

fn named(bot: &BotPlan) -> String {
    let folder = Path::new(&bot.bot).parent();
    let folder = folder.filter(|folder| {
        let name = folder_name(folder);
        name.is_some_and(|name| name == bot.name) && only_program(folder).is_ok()
    });
    folder.map_or_else(
        || bot.bot.clone(),
        |folder| folder.to_string_lossy().into_owned(),
    )
}
