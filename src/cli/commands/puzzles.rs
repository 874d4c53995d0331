use std::fs::File;

use clap::Subcommand;

use crate::cli::commands::report::check_not_input;
use crate::cli::support::prelude::*;
use crate::cli::support::recorded::{fault_json, fault_lines};
use crate::cli::support::runtime::run_interruptible;
use referee::play::examiner::{Asked, Line};
use referee::puzzles::making::{Maker, spread};
use referee::puzzles::{HIGHEST_LEVEL, Kind, Loaded, Puzzle, SHIPPED, read};
use referee::solver::{Limits, Solvers};
use referee::text::milliseconds;

const AFTER_HELP: &str = "\
A puzzle is a position in which some turns keep what it is worth and others do not, by the exact
solver. Two sets of 300 are part of the program: builtin:quarto and builtin:four-in-a-row.

Examples:
  referee puzzles run builtin:quarto ./mybot
  referee puzzles make games.jsonl --limit 50 -o class.jsonl
  referee puzzles page class.jsonl -o class.html
  referee puzzles run class.jsonl ./mybot --require 80%";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PuzzlesArgs {
    #[command(subcommand)]
    command: PuzzlesCommand,
}

#[derive(Debug, Subcommand)]
enum PuzzlesCommand {
    /// Make puzzles of recorded mistakes
    Make(MakeArgs),
    /// Score a bot by the puzzles it solves
    Run(Box<RunArgs>),
    /// Write a page of puzzles for people
    Page(PageArgs),
}

pub(crate) fn run(args: &PuzzlesArgs) -> Result<()> {
    match &args.command {
        PuzzlesCommand::Make(args) => make(args),
        PuzzlesCommand::Run(args) => score(args),
        PuzzlesCommand::Page(args) => write_page(args),
    }
}

fn load(set: &str) -> Result<Vec<Loaded>> {
    let path = Path::new(set);
    let loaded = if let Some(name) = set.strip_prefix("builtin:") {
        let found = SHIPPED.iter().find(|(known, _)| *known == name);
        let Some((_, text)) = found else {
            let names = SHIPPED.map(|(name, _)| format!("builtin:{name}"));
            let names = names.each_ref().map(String::as_str);
            let fix = hint(set, &names, "there are ");
            let name = quote(name.as_bytes());
            bail!("no set of puzzles is called {name}; {fix}");
        };
        read(path, text.as_bytes())
    } else {
        if path.is_dir() {
            bail!(
                "{set}: it is a folder; expected a file of puzzles, as `referee puzzles make` writes it"
            );
        }
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        read(path, file)
    };
    let puzzles = loaded?;
    if puzzles.is_empty() {
        bail!("{set}: there are no puzzles in it; `referee puzzles make` writes such files");
    }
    Ok(puzzles)
}

const MAKE_HELP: &str = "\
A puzzle is made of every position in which a bot gave a win or a draw away. Of positions that are
equal by symmetry there is one.

Exit status: 0 the puzzles are written; 2 wrong usage or input; 1 the referee itself failed;
130 interrupted, and nothing is written.";

#[derive(Debug, clap::Args)]
#[command(after_help = MAKE_HELP)]
struct MakeArgs {
    /// Files of records, as --record writes them, or folders of tournaments
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Write the puzzles to this file [default: to standard output]
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,

    /// At most so many, spread over levels and kinds, more of the easier ones; of those alike, the ones at which most bots
    /// failed
    #[arg(long, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    limit: Option<usize>,

    /// Time to solve each position, and again each turn; what takes longer is left out
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = values::positive_duration)]
    time_per_move: Duration,

    #[command(flatten)]
    solver: SolverArgs,
}

fn make(args: &MakeArgs) -> Result<()> {
    let files = all_records(&args.files)?;
    let puzzles = run_interruptible(|stop| puzzles_of(args, &files, stop))?;
    let mut text = String::new();
    for puzzle in &puzzles {
        text += &serde_json::to_string(puzzle)?;
        text.push('\n');
    }
    if let Some(path) = &args.output {
        replace_file(path, &text)?;
        text = made_table(&puzzles, &palette(&std::io::stdout()));
    }
    print(&text)
}

/// Fails for a game without a solver.
fn solvable(record: &Record) -> Result<Arc<dyn Game>, String> {
    let is_known = registry::find(&record.game).is_some();
    let ruleset = is_known.then(|| record.ruleset()).transpose()?;
    ruleset
        .filter(|ruleset| ruleset.info().is_solvable())
        .ok_or_else(|| {
            let names: Vec<&str> = GAMES.iter().map(|game| game.name).collect();
            let game = quote(record.game.as_bytes());
            format!(
                "it is a game of {game}; puzzles are made of {}, which can be solved; leave it out",
                names.join(", ")
            )
        })
}

fn puzzles_of(args: &MakeArgs, files: &[PathBuf], stop: &Arc<AtomicBool>) -> Result<Vec<Puzzle>> {
    let mut maker = Maker::new(Solvers::new(args.solver.options()));
    for path in files {
        for record in Records::open(path)? {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let (number, record) = record?;
            let added = maker.add(&record, solvable);
            added.map_err(|problem| invalid(path, number, &problem))?;
        }
    }
    let limits = || Limits::within(args.time_per_move).or_when(Arc::clone(stop));
    let bar = ProgressBar::new(maker.positions() as u64, "positions");
    let made = maker.solve(&limits, || {
        bar.inc();
        !stop.load(Ordering::Relaxed)
    });
    let puzzles = made.map_err(Failure::Referee)?;
    bar.line.clear();
    if maker.unproven > 0 {
        let positions = counted(maker.unproven, "position was", "positions were");
        note!("{positions} not proven in time and left out; --time-per-move gives more");
    }
    Ok(spread(puzzles, args.limit))
}

/// After this many starts in a row without an answer the rest is not asked.
const FAILED_STARTS: u32 = 3;

const RUN_HELP: &str = "\
One process is asked all puzzles; after a fault the next one is asked. A fault counts as a wrong
answer.

Exit status: 0 it was scored; 3 its share is below --require; 2 wrong usage or input, or a bot that
cannot be started; 1 the referee itself failed; 130 interrupted.";

#[derive(Debug, clap::Args)]
#[command(after_help = RUN_HELP)]
struct RunArgs {
    /// A file of puzzles, or builtin:quarto or builtin:four-in-a-row
    set: String,

    /// The bot: a file, a command line or builtin:NAME
    bot: String,

    /// The share of puzzles that it must solve, such as 80%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    require: Option<f64>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,

    /// What `REFEREE_SEED` says
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u32).range(0..=0x7fff_ffff))]
    seed: u32,

    #[command(flatten)]
    time: AnswerTimes,

    #[command(flatten)]
    sandbox: SandboxOptions,
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse().ok();
    let number = number.filter(|share| (0.0..=100.0).contains(share));
    let expected = || "expected a share from 0% to 100%".to_owned();
    number.map(|share: f64| share / 100.0).ok_or_else(expected)
}

struct Attempt<'a> {
    puzzle: &'a Puzzle,
    /// `None` when it was not asked, since it gave no first answer to those before.
    asked: Option<Asked>,
    time: Duration,
}

fn score(args: &RunArgs) -> Result<()> {
    let program = recorded::program(&args.bot, "scored by puzzles")?;
    let puzzles = load(&args.set)?;
    let time = args.time.control()?;
    let program = args.sandbox.confine(&program)?;
    let mut attempts = Vec::new();
    let bar = ProgressBar::new(puzzles.len() as u64, "puzzles");
    let done = examine(async {
        let mut failed_starts = 0;
        for group in puzzles.chunk_by(|a, b| a.puzzle.has_rules_of(&b.puzzle)) {
            let Loaded { puzzle, ruleset } = &group[0];
            let pieces = PiecesFile::new(None, puzzle.pieces.as_deref())?;
            let seat = Seat::program(&**ruleset, pieces.path(), program.clone(), time);
            let runner = Rc::new(GameRunner::new(Arc::clone(ruleset), false)?);
            let mut examiner = Examiner::new(&runner, seat, args.seed, time);
            for Loaded { puzzle, .. } in group {
                bar.inc();
                let begun = Instant::now();
                let mut asked = None;
                if failed_starts < FAILED_STARTS {
                    let answer = examiner.ask(&Line::at(puzzle.position.clone())).await?;
                    let has_failed = matches!(&answer, Err(fault) if fault.never_answered);
                    failed_starts = if has_failed { failed_starts + 1 } else { 0 };
                    asked = Some(answer);
                }
                attempts.push(Attempt {
                    puzzle,
                    asked,
                    time: begun.elapsed(),
                });
            }
            examiner.stop().await?;
        }
        Ok(())
    });
    bar.line.clear();
    if !matches!(done, Ok(()) | Err(Failure::Interrupted)) {
        return done;
    }
    let report = Report {
        bot: &program.name,
        set: &args.set,
        attempts: &attempts,
        is_complete: attempts.len() == puzzles.len(),
    };
    let text = |palette: &Palette| report.text(args.require, palette);
    print_found(args.json, || report.json(), text)?;
    done?;
    match args.require {
        Some(least) if report.share() < least => Err(WRONG),
        _ => Ok(()),
    }
}

const PAGE_HELP: &str = "\
The page is one file and needs no network. The browser keeps what is solved.

Exit status: 0 the page is written; 2 wrong usage or input; 1 the referee itself failed.";

#[derive(Debug, clap::Args)]
#[command(after_help = PAGE_HELP)]
struct PageArgs {
    /// A file of puzzles, or builtin:quarto or builtin:four-in-a-row
    set: String,

    /// Write the page to this file
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FILE",
        default_value = "puzzles.html"
    )]
    output: PathBuf,

    /// Its heading [default: Puzzles, and the name of the set]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// `Puzzles: class` for `lessons/class.jsonl`.
fn title_of(set: &str) -> String {
    let name = set.strip_prefix("builtin:").unwrap_or(set);
    let stem = Path::new(name).file_stem();
    let name = stem.map_or_else(|| name.into(), |stem| stem.to_string_lossy());
    format!("Puzzles: {name}")
}

fn write_page(args: &PageArgs) -> Result<()> {
    let loaded = load(&args.set)?;
    let path = &args.output;
    check_not_input(&[PathBuf::from(&args.set)], path)?;
    let title = args.title.clone().unwrap_or_else(|| title_of(&args.set));
    let page = html::puzzles(&title, loaded.iter().map(|loaded| &loaded.puzzle));
    replace_file(path, &page)?;
    let count = counted(loaded.len() as u64, "puzzle", "puzzles");
    writeln!(Stdout, "{}: a page of {count}.", path.display())?;
    Ok(())
}

const LISTED: usize = 5;

struct Report<'a> {
    bot: &'a str,
    set: &'a str,
    attempts: &'a [Attempt<'a>],
    is_complete: bool,
}

fn by_kinds_and_levels(
    cell: impl Fn(Option<Kind>, Option<u32>) -> String,
    kinds: &[Kind],
    palette: &Palette,
) -> String {
    let levels = (1..=HIGHEST_LEVEL).map(Some).chain([None]);
    let mut head = vec!["kind".to_owned()];
    head.extend(levels.clone().map(|level| match level {
        Some(level) => format!("level {level}"),
        None => "all".to_owned(),
    }));
    let mut rows = vec![head];
    for kind in kinds.iter().copied().map(Some).chain([None]) {
        let mut row = vec![kind.map_or("all", Kind::words).to_owned()];
        row.extend(levels.clone().map(|level| cell(kind, level)));
        rows.push(row);
    }
    aligned(&rows, palette, &[0])
}

fn is_of(puzzle: &Puzzle, kind: Option<Kind>, level: Option<u32>) -> bool {
    kind.is_none_or(|kind| puzzle.kind == kind) && level.is_none_or(|level| puzzle.level == level)
}

fn made_table(puzzles: &[Puzzle], palette: &Palette) -> String {
    if puzzles.is_empty() {
        return "no puzzles: no mistake was proven in these games\n".to_owned();
    }
    let cell = |kind, level| {
        let own = puzzles.iter().filter(|puzzle| is_of(puzzle, kind, level));
        own.count().to_string()
    };
    by_kinds_and_levels(cell, &Kind::ALL, palette)
}

impl Attempt<'_> {
    fn is_solved(&self) -> bool {
        matches!(&self.asked, Some(Ok(answer)) if self.puzzle.is_right(&answer.turn))
    }

    fn problem(&self, lines: usize) -> Option<String> {
        match &self.asked {
            None => Some(
                "it was not asked: its process gave no first answer three times in a row"
                    .to_owned(),
            ),
            Some(Ok(answer)) if !self.puzzle.is_right(&answer.turn) => {
                let Puzzle { value, answers, .. } = self.puzzle;
                let shown: Vec<&str> = answers.iter().take(4).map(String::as_str).collect();
                let more = match answers.len() - shown.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let (turn, shown) = (&answer.turn, shown.join(", "));
                let text = format!("{turn} lets the {value} slip; right: {shown}{more}");
                Some(escape_controls(&text))
            }
            Some(Ok(_)) => None,
            Some(Err(fault)) => Some(fault_lines(fault, lines)),
        }
    }

    fn json(&self) -> Json {
        let mut json = json!({
            "id": self.puzzle.id,
            "kind": self.puzzle.kind,
            "level": self.puzzle.level,
            "position": self.puzzle.position,
            "answers": self.puzzle.answers,
            "solved": self.is_solved(),
            "answer": null,
            "time_ms": milliseconds(self.time),
        });
        match &self.asked {
            Some(Ok(answer)) => json["answer"] = answer.turn.as_str().into(),
            Some(Err(fault)) => json["forfeit"] = fault_json(fault),
            None => {}
        }
        json
    }
}

impl Report<'_> {
    /// How many are solved, and of how many.
    fn tally(&self, kind: Option<Kind>, level: Option<u32>) -> (usize, usize) {
        let own = self.attempts.iter();
        let own = own.filter(|attempt| is_of(attempt.puzzle, kind, level));
        let solved = own.clone().filter(|attempt| attempt.is_solved());
        (solved.count(), own.count())
    }

    /// From 0 to 1; of nothing it is 0.
    fn share(&self) -> f64 {
        let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let (solved, of) = self.tally(None, None);
        number(solved) / number(of.max(1))
    }

    fn text(&self, least: Option<f64>, palette: &Palette) -> String {
        let cell = |kind, level| match self.tally(kind, level) {
            (_, 0) => String::new(),
            (solved, of) => format!("{solved}/{of}"),
        };
        let mut kinds = Kind::ALL.to_vec();
        kinds.retain(|kind| self.tally(Some(*kind), None).1 > 0);
        let mut out = by_kinds_and_levels(cell, &kinds, palette);
        let failed = self.attempts.iter().filter_map(|attempt| {
            let problem = attempt.problem(LISTED)?;
            let (puzzle, kind) = (attempt.puzzle, attempt.puzzle.kind.words());
            let (id, position) = (&puzzle.id, escape_controls(&puzzle.position));
            Some(format!("{id}  {position}  {kind}: {problem}\n"))
        });
        out.extend(failed.clone().take(LISTED));
        let more = failed.count().saturating_sub(LISTED);
        if more > 0 {
            let more = counted(more as u64, "other", "others");
            let _ = writeln!(out, "and {more}; --json has all");
        }
        let (solved, of) = self.tally(None, None);
        let (name, share) = (escape_controls(self.bot), 100.0 * self.share());
        let _ = write!(out, "{name} solves {solved} of {of}: {share:.1} %");
        if let Some(least) = least.filter(|least| self.share() < *least) {
            let _ = write!(out, ", less than {} %", 100.0 * least);
        }
        out.push('\n');
        out
    }

    fn json(&self) -> Json {
        let figures = |kind, level| {
            let (solved, of) = self.tally(kind, level);
            (of > 0).then(|| json!({"solved": solved, "of": of}))
        };
        let kinds = Kind::ALL.into_iter();
        let kinds = kinds.filter_map(|kind| Some((kind, figures(Some(kind), None)?)));
        let levels = 1..=HIGHEST_LEVEL;
        let levels = levels.filter_map(|level| Some((level, figures(None, Some(level))?)));
        let (solved, of) = self.tally(None, None);
        json!({
            "bot": self.bot,
            "set": self.set,
            "solved": solved,
            "of": of,
            "share": self.share(),
            "kinds": kinds.collect::<BTreeMap<_, _>>(),
            "levels": levels.collect::<BTreeMap<_, _>>(),
            "puzzles": self.attempts.iter().map(Attempt::json).collect::<Vec<_>>(),
            "complete": self.is_complete,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares() {
        assert_eq!(share("80%"), Ok(0.8));
        assert_eq!(share("80"), Ok(0.8));
        for wrong in ["", "%", "101%", "-1%", "NaN", "most"] {
            let error = share(wrong).unwrap_err();
            assert_eq!(error, "expected a share from 0% to 100%", "{wrong}");
        }
    }
}
