//! The bots of a comparison: the new version, the old one, and the pool.

use super::Args;
use crate::arena::entrants::{self, BotRequest, Entrant};
use crate::arena::preparation::{identical, same_program};
use crate::bot::spec::BotSpec;
use crate::cli::commands::tournament::Options;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::print_stderr;
use crate::cli::support::sandbox::warn_large;
use crate::cli::support::setup::this_program;
use crate::cli::support::unconfined::warn_root;
use crate::sandbox::Sandbox;
use crate::strategy;

/// The new version first, then the old one, then the others.
pub(super) struct Bots {
    pub(super) entered: Vec<Entrant>,
}

impl Bots {
    /// Finds them. Of a folder of the pool those that cannot be started are left out.
    pub(super) fn find(args: &Args, options: &Options, sandbox: &Sandbox) -> Result<Self, Failure> {
        let mut requests = Vec::new();
        for (text, place) in [(&args.new, "NEW"), (&args.old, "OLD")] {
            let text = text.as_deref().unwrap_or_default();
            let mut found = options.bots(&[text.to_owned()])?;
            match (found.pop(), found.len()) {
                (Some(one), 0) => requests.push(one),
                (_, more) => {
                    return Err(Failure::Usage(format!(
                        "{text}: it holds {} bots, and {place} is one; name its file",
                        more + 1
                    )));
                }
            }
        }
        name_versions(&mut requests)?;
        requests.extend(options.bots(&args.pool)?);
        let found = entrants::find(&requests, &this_program()?, sandbox)?;
        for rejected in &found.rejected {
            let is_of_folder = requests[2..]
                .iter()
                .any(|request| request.text == rejected.bot.bot)
                && !args.pool.contains(&rejected.bot.bot);
            if !is_of_folder {
                return Err(Failure::Usage(rejected.reason.clone()));
            }
            print_stderr(&format!(
                "referee: {} is left out of the pool: {}",
                rejected.bot.name, rejected.reason
            ));
        }
        let mut entered = found.entered;
        let versions: Vec<String> = entered[..2]
            .iter()
            .map(|bot| bot.plan.name.clone())
            .collect();
        let mut twice = Vec::new();
        for group in identical(&entered) {
            let of_versions = |name: &&str| versions.iter().any(|version| version == name);
            let (same, others): (Vec<&str>, Vec<&str>) =
                group.iter().copied().partition(of_versions);
            if same.len() == 2 {
                print_stderr(&format!(
                    "referee: warning: {} and {} are the same program, so neither is better",
                    same[0], same[1]
                ));
            }
            if same.is_empty() {
                print_stderr(&format!("referee: warning: {}", same_program(&group)));
            } else {
                twice.extend(others.into_iter().map(str::to_owned));
            }
        }
        for name in &twice {
            print_stderr(&format!(
                "referee: {name} is left out of the pool: it is one of the two versions"
            ));
        }
        entered.retain(|bot| !twice.contains(&bot.plan.name));
        warn_root(entered.iter().map(|bot| &bot.program));
        warn_large(entered.iter().map(|bot| &bot.program));
        Ok(Self { entered })
    }
}

/// Gives the versions the names of their files, and says which is which where these are the same.
fn name_versions(requests: &mut [BotRequest]) -> Result<(), Failure> {
    let referee = this_program()?;
    let mut names = Vec::new();
    for request in requests.iter() {
        let name = match (
            &request.name,
            BotSpec::parse(&request.text, &referee, &strategy::NAMES),
        ) {
            (Some(name), _) => name.clone(),
            (None, Ok(spec)) => spec.name().to_owned(),
            // Why it cannot be started is said where it is looked for.
            (None, Err(_)) => return Ok(()),
        };
        names.push(name);
    }
    let is_same = names.first() == names.last();
    for ((request, name), which) in requests.iter_mut().zip(names).zip(["new", "old"]) {
        request.name = Some(if is_same {
            format!("{name} ({which})")
        } else {
            name
        });
    }
    Ok(())
}
