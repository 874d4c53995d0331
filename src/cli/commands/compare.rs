use std::collections::BTreeSet;
use std::fs::OpenOptions;

use super::tournament::{Options, PlayOptions, Venue, keep_plan, play_until};
use crate::cli::support::prelude::*;
use crate::cli::support::setup::bot;
use referee::arena::comparison::{Progress, round};
use referee::arena::plan::Format;
use referee::arena::preparation::{identical, same_program};
use referee::arena::{self, until};
use referee::report::comparison::{Ended, Report};
use referee::seed::{self, Purpose, generator};
use referee::tournament::comparison::{Question, Terms, Verdict, draw};

const BUDGET: &str = "10m";

/// How probable it may be that yes (better, or not worse) is wrong, and that no is.
const ERROR: f64 = 0.05;

const AFTER_HELP: &str = "\
Both play pairs of games from the same opening, with the seats swapped, until it is certain enough
whether NEW is better, or until time is up. With --pool both also play others, from the same
openings; then half of the comparisons are those of the results against them.

Examples:
  referee compare ./mybot old/mybot
  referee compare ./mybot old/mybot --pool players/ --time 5m --markdown comment.md
  referee compare --margin -20 ./mybot old/mybot --json

Exit status: 0 NEW is better (with a margin below 0: not worse); 3 it is not, or it cannot play;
4 undecided; 2 wrong usage or input, or another bot that cannot play; 1 the referee itself
failed; 130 interrupted, after what is known so far has been printed.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The new version: a file, a command line or builtin:NAME
    new: String,

    /// The old version, in the same forms
    old: String,

    /// Others that both play: a bot, or a folder of bots; may be given more than once
    #[arg(long, value_name = "DIR|BOT")]
    pool: Vec<String>,

    /// The difference that matters, in Elo: NEW is not better by so much; below 0, such as -20, asks instead whether
    /// NEW is not worse by so much
    #[arg(long, value_name = "ELO", default_value_t = 50.0)]
    margin: f64,

    /// The most time, with the check of the bots; none for no limit
    #[arg(long = "time", alias = "budget", value_name = "TIME", default_value = BUDGET, value_parser = values::move_time)]
    budget: MoveTime,

    /// The most comparisons: pairs of games, and with others of the pool two pairs
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pairs: u32,

    /// Play all --pairs, even when it is certain before
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    games: GamesRequest,

    #[command(flatten)]
    play: PlayOptions,

    /// Keep the games in this folder, as a tournament does; what was played there before counts
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Write the result as Markdown to this file, for a pull request; - for standard output
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    markdown: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    fn asks_not_worse(&self) -> bool {
        self.margin < 0.0
    }

    /// `has_pool`: both play others, too.
    fn terms(&self, has_pool: bool) -> Terms {
        let question = if self.asks_not_worse() {
            Question::NotWorse
        } else {
            Question::Better
        };
        Terms {
            question,
            margin: self.margin.abs(),
            direct: f64::from(percentage(has_pool)) / 100.0,
            alpha: ERROR,
            beta: ERROR,
        }
    }

    fn writes_markdown_to_stdout(&self) -> bool {
        self.markdown.as_deref() == Some(Path::new("-"))
    }
}

const fn percentage(has_pool: bool) -> u8 {
    if has_pool { 50 } else { 100 }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    args.terms(true).test()?;
    if args.json && args.writes_markdown_to_stdout() {
        bail!("--json and --markdown - both write to standard output; give --markdown a file");
    }
    let options = Options {
        request: PlanRequest {
            pairs: Some(args.pairs),
            games: args.games.clone(),
            ..PlanRequest::default()
        },
        play: args.play.clone(),
        ..Options::default()
    };
    let ruleset = options.ruleset(None)?;
    check_solvable(&*ruleset, "--adjudicate", args.games.adjudicate)?;
    let sandbox = args.play.sandbox.sandbox()?;
    let bots = find(args, &options, &sandbox)?;
    if let Some(file) = &args.markdown
        && !args.writes_markdown_to_stdout()
    {
        // Before minutes of games; the content is replaced only by a result.
        let opened = OpenOptions::new().create(true).append(true).open(file);
        opened.map_err(|error| unreadable(file, &error))?;
    }
    announce(&sandbox);
    let temporary = tempfile::tempdir()?;
    let directory = TournamentDirectory::make(args.out.as_deref().unwrap_or(temporary.path()))?;
    let venue = Venue::new(options, ruleset, sandbox, &bots, &directory)?;
    let report = with_bots(play(args, &venue, &directory, begun, bots))?;
    print_report(args, &report)?;
    if let Some(out) = &args.out {
        note!("all files are in {}", out.display());
    }
    match (report.ended, report.verdict()) {
        (Ended::Interrupted, _) => Err(Failure::Interrupted),
        (_, Verdict::Better | Verdict::NotWorse) => Ok(()),
        (_, Verdict::NotBetter | Verdict::Worse | Verdict::Unfit) => Err(WRONG),
        (_, Verdict::Undecided) => Err(Failure::Told(4)),
    }
}

fn print_report(args: &Args, report: &Report) -> Result<()> {
    if args.writes_markdown_to_stdout() {
        print(&report.markdown())?;
    } else {
        print_found(args.json, || report.json(), |palette| report.text(palette))?;
    }
    match &args.markdown {
        Some(file) if !args.writes_markdown_to_stdout() => {
            fs::write(file, report.markdown()).map_err(|error| unreadable(file, &error))
        }
        _ => Ok(()),
    }
}

fn announce_terms(args: &Args, others: usize, jobs: usize, seed: u64) {
    let (elo, error) = (args.margin.abs(), 100.0 * ERROR);
    let asked = if args.asks_not_worse() {
        format!("is NEW not worse? H0: it is worse by {elo} Elo; H1: it is as good")
    } else {
        format!("is NEW better? H0: it is not better; H1: it is better by {elo} Elo")
    };
    note!("{asked}; a wrong yes or no in at most {error}% of cases (α = β)");
    let budget = match args.budget {
        MoveTime(Some(budget)) => format!("at most {}", in_short(budget)),
        MoveTime(None) => "no limit of time".to_owned(),
    };
    let most = counted(u64::from(args.pairs), "comparison", "comparisons");
    let games = counted(jobs as u64, "game", "games");
    note!("at most {most}, {budget}, {games} at a time, seed {seed}");
    if others > 0 {
        note!(
            "{}% of the comparisons are with OLD, the others with {}, in equal shares",
            percentage(true),
            counted(others as u64, "other bot", "other bots"),
        );
    }
}

async fn play(
    args: &Args,
    venue: &Venue,
    directory: &TournamentDirectory,
    begun: Instant,
    mut entered: Vec<Entrant>,
) -> Result<Report> {
    let mut stops = signals::heed();
    let budget = args.budget.0;
    let deadline = budget.and_then(|budget| begun.checked_add(budget));
    let old = directory.plan()?;
    let seed = args.games.seed.or(old.as_ref().map(|old| old.seed));
    let seed = seed.unwrap_or_else(seed::drawn);
    announce_terms(args, entered.len() - 2, venue.settings.jobs, seed);
    let (mut problem, mut ended, mut rejected) = (None, None, Vec::new());
    if let Some(old) = &old {
        // Those of the pool that failed the check play no games.
        rejected.clone_from(&old.rejected);
        entered.retain(|bot| !old.has_rejected(&bot.plan.name));
    } else if !args.games.no_check {
        // Report bad openings before the checks.
        let request = venue.request();
        request.check_openings(&*venue.settings.ruleset, seed)?;
        let checked = venue.check(entered.clone(), &mut rejected);
        tokio::select! {
            fit = checked => {
                let fit = fit?;
                problem = refused(&entered, &rejected)?;
                ended = problem.as_ref().map(|_| Ended::Unfit);
                if problem.is_none() {
                    entered = fit;
                }
            }
            () = until(deadline) => ended = Some(Ended::Budget),
            _ = stops.recv() => ended = Some(Ended::Interrupted),
        }
    }
    let bots = entered.iter().map(|bot| bot.plan.clone());
    let mut bots: Vec<BotPlan> = bots.collect();
    let others = entered.len() - 2;
    let percentage = percentage(others > 0);
    let mut random = generator(seed, Purpose::Opponent, [0, 0]);
    let opponents = draw(&mut random, others + 1, percentage, args.pairs);
    let terms = args.terms(others > 0);
    let mut progress = Progress::new(terms.test()?, others + 1, opponents.clone());
    let ended = if let Some(ended) = ended {
        ended
    } else {
        let request = PlanRequest {
            schedule: ScheduleRequest {
                format: Some(Format::Gauntlet),
                rounds: Some(1),
                ..ScheduleRequest::default()
            },
            // Which games count must not depend on later games.
            bench_after: Some(0),
            ..venue.request()
        };
        let mut plan = request.new_plan(&*venue.settings.ruleset, bots.clone(), rejected, seed)?;
        plan.rounds = vec![round(&opponents)];
        warn_of_few_openings(&plan, opponents.len());
        let differences = old.as_ref().map(|old| {
            let mut differences = old.differences(&plan);
            if differences.is_empty() && old.rounds != plan.rounds {
                differences.push("the pairs of games are others (--pairs)".to_owned());
            }
            differences
        });
        keep_plan(directory, &mut plan, differences)?;
        let file = directory.journal_file();
        let mut arena = venue.arena(directory, &file, plan, entered)?;
        arena.deadline = deadline;
        games(args, arena, &mut progress, &mut stops).await?
    };
    Ok(Report {
        new: bots.remove(0),
        opponents: bots,
        terms,
        progress,
        elapsed: begun.elapsed(),
        budget,
        most: args.pairs,
        seed,
        ended,
        problem,
    })
}

async fn games(
    args: &Args,
    arena: Arena<'_>,
    progress: &mut Progress,
    stops: &mut Stops,
) -> Result<Ended> {
    let (before, begun) = (arena.results.games, Instant::now());
    if before > 0 {
        note!(
            "{} in this folder were played before",
            counted(before, "game", "games")
        );
    }
    let line = ProgressLine::new();
    let all = args.all;
    let resume = "to go on: the same command with --out and the same folder";
    let is_enough = |results: &Results| {
        progress.advance(&results.endings, all);
        if line.is_due() {
            let played = results.games - before;
            line.report(shown(progress, results.games, played, begun.elapsed()));
        }
        !all && progress.comparison.is_decided()
    };
    let (ended, _) = play_until(arena, resume, stops, &line, is_enough).await?;
    Ok(match ended {
        arena::Ended::Interrupted => Ended::Interrupted,
        // The last games may have decided it.
        _ if !all && progress.comparison.is_decided() => Ended::Decided,
        arena::Ended::TimeUp => Ended::Budget,
        _ => Ended::Complete,
    })
}

fn warn_of_few_openings(plan: &Plan, comparisons: usize) {
    let different: BTreeSet<&String> = plan.openings.iter().collect();
    if different.len() < comparisons {
        note!(
            "warning: only {} for {}: of bots that always answer the same the later games are repetitions, \
             and the error rates do not hold for them",
            counted(different.len() as u64, "opening", "different openings"),
            counted(comparisons as u64, "comparison", "comparisons"),
        );
    }
}

fn shown(progress: &Progress, games: u64, played: u64, time: Duration) -> String {
    let played = f64::from(u32::try_from(played).unwrap_or(u32::MAX));
    let pace = played / time.as_secs_f64().max(1e-6);
    let mut text = format!("{}, {pace:.1}/s", counted(games, "game", "games"));
    if let Some(found) = progress.comparison.advantage() {
        let [mean, low, high] =
            [found.mean, found.interval[0], found.interval[1]].map(|x| 100.0 * x);
        let _ = write!(text, "; advantage {mean:.1}% ({low:.1}% to {high:.1}%)");
    }
    text
}

/// Why NEW cannot play. Fails when OLD cannot; others are left out.
fn refused(entered: &[Entrant], rejected: &[RejectedBot]) -> Result<Option<String>> {
    let of = |place: usize| {
        let name = &entered[place].plan.name;
        let found = rejected.iter().find(|bot| bot.bot.name == *name);
        found.map(|bot| join_parts(&bot.reason, "\n    "))
    };
    if let Some(reason) = of(0) {
        return Ok(Some(reason));
    }
    if let Some(reason) = of(1) {
        bail!(
            "{}, with which NEW is compared, cannot play: {reason}",
            escape_controls(&entered[1].plan.name)
        );
    }
    for bot in rejected {
        left_out(&bot.bot.name, &bot.reason);
    }
    Ok(None)
}

fn left_out(name: &str, why: &str) {
    let name = escape_controls(name);
    let why = join_parts(why, "\n    ");
    note!("{name} is left out of the pool: {why}");
}

fn find(args: &Args, options: &Options, sandbox: &Sandbox) -> Result<Vec<Entrant>> {
    let mut wanted = Vec::new();
    for (text, place) in [(&args.new, "NEW"), (&args.old, "OLD")] {
        let found = options.bots(std::slice::from_ref(text))?;
        if found.len() != 1 {
            let count = found.len();
            bail!("{text}: it holds {count} bots, and {place} is one; name its file");
        }
        wanted.extend(found);
    }
    name_versions(&mut wanted);
    wanted.extend(options.bots(&args.pool)?);
    let found = entrants::find(&wanted, &this_program()?, sandbox)?;
    for rejected in &found.rejected {
        let is_of_folder = wanted[2..].iter().any(|bot| bot.bot == rejected.bot.bot)
            && !args.pool.contains(&rejected.bot.bot);
        if !is_of_folder {
            return Err(Failure::Usage(join_parts(&rejected.reason, "\n    ")));
        }
        left_out(&rejected.bot.name, &rejected.reason);
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
        let Ok(spec) = bot(&version.bot) else { return };
        spec.name().clone_into(&mut version.name);
    }
    if let [new, old] = bots
        && new.name == old.name
    {
        new.name += " (new)";
        old.name += " (old)";
    }
}
