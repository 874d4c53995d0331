//! Bots that come after a tournament has begun, or have changed since: the commands by which they play.

use std::fmt::Write as _;
use std::path::Path;

use crate::arena::plan::{BotPlan, Limits, Plan};
use crate::bot::naming::folder_name;
use crate::bot::shell;
use crate::bot::submission::only_program;
use crate::play::TimeControl;

/// For how many bots the commands are written out.
const WRITTEN: usize = 3;

/// The end of the refusal to resume a tournament with other bots: how these play all the same.
pub(super) fn way(directory: &Path, plan: &Plan, late: &[BotPlan]) -> String {
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
        // Otherwise the games of both versions would count for one bot.
        text.push_str(" --by version");
    }
    text
}

/// That a bot which did not enter has been mended, and how it plays.
pub(super) fn mended(directory: &Path, plan: &Plan, bot: &BotPlan) -> String {
    let gauntlet = gauntlet(directory, plan, bot, [].iter());
    format!(
        "referee: {} did not enter when this tournament began; it has been changed since, and still plays no game \
         of it. To let it meet the others, and count both:\n  {gauntlet}\n  referee standings {} {}",
        bot.name,
        word(&directory.to_string_lossy()),
        out(directory, bot)
    )
}

/// The folder of a late bot's games, as a word of a command line.
fn out(directory: &Path, bot: &BotPlan) -> String {
    let directory = directory.to_string_lossy();
    word(&format!(
        "{}-{}",
        directory.trim_end_matches(['/', '\\']),
        bot.slug
    ))
}

/// The command by which a bot plays against those of a plan, and against these others.
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

/// A bot as a word of a command line: by its folder where that is its name, so that it is called the same.
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
