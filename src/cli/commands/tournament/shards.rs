use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::options::{ChangesOption, PlayOptions, TournamentOptions};
use super::run::{print_summary, write_tables};
use super::{Args, Task, start};
use crate::cli::support::failure::{Result, bail};
use crate::cli::support::output::note;
use crate::cli::support::setup::wrong_at;
use crate::cli::support::values;
use referee::record::journal::{Journal, LINGERING_LOCK, TornTail};
use referee::stats::schedule::knockout::Next;
use referee::text::counted;
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::merge::{Merged, merge};
use referee::tournament::plan::Plan;
use referee::tournament::shard::Shard;
use referee::tournament::{Ended, TournamentError};

#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// Plan the next round of the tournament in --out, whose shards have been merged
    #[arg(long, conflicts_with_all = ["bots", "config"])]
    next: bool,

    #[command(flatten)]
    tournament: Args,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The folder of a planned tournament
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// The part to play: I/N is the I-th of N; in a job of a Slurm array `auto` is that job's
    #[arg(long, value_name = "I/N", default_value = "1/1", value_parser = shard_of)]
    shard: Shard,

    /// Games at a time [default: half as many as there are cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Wait this long when another referee is still playing this part, then play what it left: a
    /// scheduler may start a part again before the first attempt has ended
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = values::duration)]
    wait: Duration,

    #[command(flatten)]
    changes: ChangesOption,
}

fn shard_of(text: &str) -> Result<Shard, String> {
    if text == "auto" {
        return of_slurm(|name| env::var(name).ok()?.parse().ok()).ok_or_else(|| {
            "auto needs SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT in the environment; give the shard itself, \
             such as 3/8"
                .to_owned()
        });
    }
    text.parse::<Shard>().map_err(ToString::to_string)
}

/// Numbers of a Slurm array may begin anywhere and have steps.
fn of_slurm(number: impl Fn(&str) -> Option<u64>) -> Option<Shard> {
    let first = number("SLURM_ARRAY_TASK_MIN").unwrap_or(1);
    let step = number("SLURM_ARRAY_TASK_STEP").unwrap_or(1).max(1);
    let index = number("SLURM_ARRAY_TASK_ID")?.checked_sub(first)? / step + 1;
    let count = number("SLURM_ARRAY_TASK_COUNT")?;
    (index <= count).then_some(Shard { index, count })
}

#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// The folder of a tournament whose shards have been played
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn plan(args: &PlanArgs) -> Result<()> {
    if args.next {
        return plan_next_round(args.tournament.out.as_deref());
    }
    let tournament = &args.tournament;
    start(&tournament.bots, tournament.options()?, Task::Plan)
}

pub(crate) fn run(args: &RunArgs) -> Result<()> {
    let options = TournamentOptions {
        out: Some(args.folder.clone()),
        play: PlayOptions {
            jobs: args.jobs,
            ..PlayOptions::default()
        },
        changes: args.changes,
        ..TournamentOptions::default()
    };
    start(&[], options, Task::Shard(args.shard, args.wait))
}

pub(super) fn open_journal(
    directory: &TournamentDirectory,
    path: &Path,
    task: Task,
) -> Result<(Journal, Option<TornTail>), TournamentError> {
    let Task::Shard(_, wait) = task else {
        return directory.open_journal(path, LINGERING_LOCK);
    };
    match directory.open_journal(path, Duration::ZERO) {
        Err(TournamentError::Locked(_)) if !wait.is_zero() => note!(
            "{}: another referee is playing this part; waiting for it",
            path.display()
        ),
        Err(TournamentError::Locked(_)) => {}
        opened => return opened,
    }
    directory.open_journal(path, wait.max(LINGERING_LOCK))
}

fn read_plan(directory: &TournamentDirectory) -> Result<Plan> {
    let problem = "there is no plan.json in it; make one with referee shard plan";
    let plan = directory.plan()?;
    plan.ok_or_else(|| wrong_at(directory.path(), problem))
}

fn plan_next_round(out: Option<&Path>) -> Result<()> {
    let Some(out) = out else {
        bail!("--next needs the folder of the tournament: --out DIR");
    };
    let directory = TournamentDirectory::at(out);
    let mut plan = read_plan(&directory)?;
    // Locked, so that no referee plays meanwhile.
    let (_locked, _) = directory.open_journal(&directory.journal_file(), LINGERING_LOCK)?;
    let results = TournamentDirectory::read_journal(&directory.journal_file(), &plan)?;
    if !results.is_done(&plan) {
        bail!(
            "{}: {} of the {} games planned so far have been played and merged; play the rest \
             (referee shard run) and put the shards together (referee shard merge)",
            out.display(),
            results.games,
            2 * plan.pairs_so_far()
        );
    }
    match results.next(&plan)? {
        Some(Next::Round(round)) => {
            let games = 2 * round.count();
            plan.rounds.push(round);
            directory.write_plan(&mut plan)?;
            let (number, of) = (plan.rounds_begun(), plan.rounds_planned);
            let extra = plan.rounds.last().is_some_and(|round| round.tie_break);
            let kind = if extra { "tie-break games" } else { "games" };
            note!("round {number} of {of} has {games} {kind}");
            Ok(())
        }
        None | Some(Next::Winner(_)) => {
            let problem = "the tournament is over; there is no next round";
            Err(wrong_at(out, problem))
        }
    }
}

pub(crate) fn run_merge(args: &MergeArgs) -> Result<()> {
    let directory = TournamentDirectory::at(&args.folder);
    let plan = read_plan(&directory)?;
    let merged = merge(&directory, &plan)?;
    print_hosts(&merged);
    let ended = match merged.results.next(&plan) {
        Ok(Some(Next::Winner(winner))) => Ended::Won(winner),
        Ok(Some(Next::Round(_))) => Ended::Interrupted,
        Ok(None) | Err(_) => Ended::Complete,
    };
    write_tables(&directory, &plan, &merged.results)?;
    print_summary(ended, &plan, &merged.results)?;
    if ended == Ended::Interrupted {
        let (number, of, path) = (plan.rounds_begun(), plan.rounds_planned, directory.quoted());
        note!("round {number} of {of} is done; the next: referee shard plan --next --out {path}");
    }
    Ok(())
}

fn print_hosts(merged: &Merged) {
    for (host, report) in &merged.hosts {
        let (cpu, games, late) = (&report.cpu, report.games, report.timeouts);
        let games = counted(games, "game", "games");
        note!("{host} ({cpu}): {games}, {late} lost on time");
    }
    let twice = merged.duplicates;
    if twice > 0 {
        let games = counted(
            twice,
            "game was found twice, identical, and counts once",
            "games were found twice, identical, and count once",
        );
        note!("{games}");
    }
}

#[cfg(test)]
mod tests {
    use super::of_slurm;

    #[test]
    fn jobs_of_an_array_are_counted_from_its_first() {
        let of = |array: [(&str, u64); 4]| {
            let number =
                |name: &str| Some(array.iter().find(|(suffix, _)| name.ends_with(suffix))?.1);
            of_slurm(number).map(|shard| shard.to_string())
        };
        let array = |id| [("_ID", id), ("_MIN", 0), ("_STEP", 2), ("_COUNT", 4)];
        assert_eq!(of(array(6)).as_deref(), Some("4/4"));
        assert_eq!(of(array(8)), None);
    }
}
