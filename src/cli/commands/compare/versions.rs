use super::Args;
use crate::cli::commands::tournament::{TournamentOptions, folder_context};
use crate::cli::support::building::SourceBuilder;
use crate::cli::support::failure::{Failure, Result};
use crate::cli::support::output::note;
use crate::cli::support::sandbox::{warn_large, warn_root};
use crate::cli::support::setup::{located, this_program};
use referee::sandbox::Sandbox;
use referee::text::{escape_controls, join_parts};
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::entrants::{self, Entrant};
use referee::tournament::plan::BotPlan;
use referee::tournament::preparation::{identical, same_program};

/// The two versions and the others of the pool, as programs that can be started.
pub(super) fn find(
    args: &Args,
    options: &TournamentOptions,
    sandbox: &Sandbox,
) -> Result<Vec<Entrant>> {
    let mut wanted = vec![options.bot(&args.new)?, options.bot(&args.old)?];
    name_versions(&mut wanted);
    wanted.extend(options.bots(&args.pool)?);
    let directory = args.out.as_deref().map(TournamentDirectory::at);
    let markdown = args.markdown.clone();
    let folders = folder_context(directory.as_ref(), args.changes.accept_changes, markdown)?;
    let (builder, this) = (SourceBuilder(&args.play.sandbox), this_program()?);
    let found = entrants::find_in(&wanted, builder.finder(&this), sandbox, &folders)?;
    for rejected in &found.rejected {
        let is_of_folder = wanted[2..].iter().any(|bot| bot.bot == rejected.bot.bot)
            && !args.pool.contains(&rejected.bot.bot);
        if !is_of_folder {
            return Err(Failure::Usage(join_parts(&rejected.absence, "\n    ")));
        }
        left_out(&rejected.bot.name, &rejected.absence);
    }
    let mut entered = found.entered;
    let versions = [0, 1].map(|place| entered[place].plan.name.clone());
    let mut twice = Vec::new();
    for group in identical(&entered) {
        let of_versions = |name: &&str| versions.iter().any(|version| version == name);
        let (same, others): (Vec<&str>, Vec<&str>) = group.iter().copied().partition(of_versions);
        if let [new, old] = same[..] {
            note!("warning: {new} and {old} are the same program, so neither is better");
        }
        if same.is_empty() {
            note!("warning: {}", same_program(&group));
        } else {
            twice.extend(others.into_iter().map(str::to_owned));
        }
    }
    for name in &twice {
        left_out(name, "it is one of the two versions");
    }
    entered.retain(|bot| !twice.contains(&bot.plan.name));
    warn_root(entered.iter().map(|bot| &bot.program));
    warn_large(entered.iter().map(|bot| &bot.program));
    Ok(entered)
}

fn name_versions(bots: &mut [BotPlan]) {
    for version in bots.iter_mut().filter(|bot| bot.name.is_empty()) {
        // Another failure is reported when the bot is looked for.
        let Ok(found) = located(&version.bot) else {
            return;
        };
        found.name().clone_into(&mut version.name);
    }
    if let [new, old] = bots
        && new.name == old.name
    {
        new.name += " (new)";
        old.name += " (old)";
    }
}

/// Says it.
pub(super) fn left_out(name: &str, why: impl std::fmt::Display) {
    let name = escape_controls(name);
    let why = join_parts(why, "\n    ");
    note!("{name} is left out of the pool: {why}");
}
