use std::cell::RefCell;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use clap::ValueEnum;
use clap::builder::TypedValueParser;

use crate::cli::support::console::Terminal;
use crate::cli::support::failure::{Failure, Result, bail};
use crate::cli::support::games::{GameOptions, check_builtins, check_solvable, start_of};
use crate::cli::support::output::{
    self, Channel, GameText, Notes, ProgressBar, caught_up, print_bot_line,
};
use crate::cli::support::pages::{PageOptions, Pages, PagesOf};
use crate::cli::support::runtime::{until_interrupted, with_bots};
use crate::cli::support::sandbox::{SandboxOptions, warn_large, warn_root};
use crate::cli::support::setup::{bot, drawn_seed, palette, terminal_width, unreadable};
use crate::cli::support::signals;
use crate::cli::support::values::{TimeOptions, one_of};
use referee::bot::human::{Human, SharedConsole};
use referee::bot::info;
use referee::bot::naming::{bot_name, distinct_names, is_blank};
use referee::bot::process::GracePeriods;
use referee::bot::spec::Program;
use referee::bot::stderr::Tap;
use referee::entrants::argument::BotSpec;
use referee::game::Ruleset;
use referee::game::quarto::PieceFormat;
use referee::log_target::SPAN;
use referee::play::game_runner::GameRunner;
use referee::play::match_runner::{MatchPlan, MatchRunner};
use referee::play::seat::Seat;
use referee::play::stage::Table;
use referee::play::{GameEvent, Observer, TimeControl};
use referee::record::BotIndex;
use referee::record::journal::{Journal, LINGERING_LOCK, OpenError};
use referee::report::terminal_view::{Detail, TerminalView, ViewOptions};
use referee::sandbox::EnforcedLimit;
use referee::seed;
use referee::text::{escape_controls, short_name};
use referee::tournament::plan::Restart;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A file, a command line, builtin:NAME, or human
    #[arg(value_name = "BOT1", required = true)]
    bot1: Option<String>,

    /// Its opponent, in the same forms
    #[arg(value_name = "BOT2", required = true)]
    bot2: Option<String>,

    /// What is too much.
    #[arg(hide = true)]
    more: Vec<String>,

    #[command(flatten)]
    options: MatchOptions,

    #[command(flatten)]
    for_bots: BotOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PlayArgs {
    #[command(flatten)]
    options: MatchOptions,
}

/// What two people have no use for.
#[derive(Debug, Default, clap::Args)]
struct BotOptions {
    /// Start fresh processes for every game
    #[arg(long, help_heading = "Bots", hide_short_help = true)]
    restart: bool,

    /// Print the records on stdout, and nothing else
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    sandbox: SandboxOptions,
}

pub(crate) fn run_command(args: &Args) -> Result<()> {
    if let Some(word) = args.more.first() {
        let bots = [&args.bot1, &args.bot2].into_iter().flatten();
        let mut words = bots.chain(&args.more);
        let value = words.find(|word| Restart::from_str(word, false).is_ok());
        if let Some(value) = value.filter(|_| args.for_bots.restart) {
            bail!(
                "{value} is taken for a bot: in a match --restart has no value, and starts fresh processes for every game; \
                 leave {value} out"
            );
        }
        bail!(
            "a match has two bots, and {} is a third; a command with arguments is one bot in quotes (\"python3 bot.py\"), \
             so is a position, and referee tournament plays more than two",
            escape_controls(word)
        );
    }
    let sandbox = &args.for_bots.sandbox;
    let game = args.options.game.typed();
    let given = |text: &Option<String>| bot(text.as_deref().unwrap_or_default(), sandbox, &game);
    let mut bots = [given(&args.bot1)?, given(&args.bot2)?];
    let own: Vec<Program> = programs(&bots).cloned().collect();
    let mut confined = (0..own.len()).map(args.for_bots.sandbox.of_bots(&own)?);
    for bot in &mut bots {
        // A person takes none.
        if let BotSpec::Program(program) = bot
            && let Some(confined) = confined.next()
        {
            *program = confined?;
        }
    }
    warn_large(programs(&bots));
    start(&args.options, &args.for_bots, &bots)
}

pub(crate) fn play(args: &PlayArgs) -> Result<()> {
    let bots = [BotSpec::Human, BotSpec::Human];
    start(&args.options, &BotOptions::default(), &bots)
}

fn start(options: &MatchOptions, for_bots: &BotOptions, bots: &[BotSpec; 2]) -> Result<()> {
    if options.writes_files() {
        output::outlive_reader();
    }
    let time = options.time.control()?;
    // Report errors before people are asked for anything.
    let format = options.piece_format.unwrap_or_default();
    let ruleset = options.game.ruleset_with(format)?;
    let at_terminal = at_terminal(options, bots, &*ruleset);
    let console = console(at_terminal.contains(&true), for_bots.json)?;
    check_builtins(&*ruleset, programs(bots))?;
    check_solvable(&*ruleset, "--adjudicate", options.adjudicate)?;
    let plan = match_plan(options, for_bots, &*ruleset)?;
    warn_root(programs(bots));
    check_names(options)?;
    let record = options.record.as_deref();
    options.pages.check(record)?;
    // A pipe may wait for its reader, which a signal ends.
    let file = record.map(open_records).transpose()?;
    // Until the end: a second signal must not cut off the clean-up.
    let _heeded = signals::heed();
    #[cfg(unix)]
    if console.is_none() {
        crate::cli::support::suspension::start()?;
    }
    let players = Players {
        names: names(options, bots),
        options,
        bots,
        ruleset: &ruleset,
        console,
    };
    let pages = players.open_pages()?;
    let pieces = options.game.pieces_file(&*ruleset)?;
    if let Some(console) = &players.console {
        console.borrow_mut().show(&ruleset.instructions())?;
    }
    let table = players.table(&pages);
    pages.expect(options.games);
    let view = view_options(options, for_bots.json, at_terminal);
    let seats = players.seats(time, pieces.path(), &pages);
    let out = BufWriter::new(GameText);
    let observer = Watched {
        view: TerminalView::new(players.names, options.games, view, out, Notes),
        file,
        pages,
        table,
        bar: (view.detail == Detail::Score).then(|| ProgressBar::new(options.games, "games")),
    };
    let _span = tracing::info_span!(target: SPAN, "match").entered();
    let runner = GameRunner::new(ruleset, options.adjudicate)?;
    let mut runner = MatchRunner::new(runner, plan, seats);
    finish(&mut runner, observer)
}

/// Who plays, and where.
struct Players<'a> {
    options: &'a MatchOptions,
    bots: &'a [BotSpec; 2],
    names: [String; 2],
    ruleset: &'a Arc<dyn Ruleset>,
    /// Where people type, if they do not play at a page.
    console: Option<SharedConsole>,
}

impl Players<'_> {
    fn open_pages(&self) -> Result<Pages> {
        let (title, limits) = (self.names.join(" vs "), sandbox_limits(self.bots));
        let of = PagesOf {
            title: &title,
            records: self.options.record.as_deref(),
            limits: &limits,
            ..PagesOf::default()
        };
        self.options.pages.open(&of, self.ruleset)
    }

    /// On the stage, if one is shown.
    fn table(&self, pages: &Pages) -> Option<Table> {
        let mut table = pages.stage()?.table();
        table.seat(self.names.each_ref().map(String::as_str));
        Some(table)
    }

    /// `time`: of bots; `pieces`: the piece set's file unless it is built in.
    fn seats(&self, time: TimeControl, pieces: Option<&str>, pages: &Pages) -> [Seat; 2] {
        [0, 1].map(|i| {
            let name = &self.names[i];
            match &self.bots[i] {
                BotSpec::Program(program) => {
                    let seat = Seat::program(&**self.ruleset, pieces, program.clone(), time);
                    let tap = (self.options.verbose > 0).then(|| tap(name));
                    seat.named(name.clone()).with_tap(tap)
                }
                BotSpec::Human => {
                    let time = self.options.time_of_people(time);
                    Seat::human(name.clone(), self.person(name, pages), time)
                }
            }
        })
    }

    /// At this terminal, or at the page.
    fn person(&self, name: &str, pages: &Pages) -> Human {
        match &self.console {
            Some(console) => {
                let (ruleset, console) = (Arc::clone(self.ruleset), Rc::clone(console));
                Human::new(ruleset, name.to_owned(), console, self.options.hint)
            }
            None => Human::at_page(pages.seat(name)),
        }
    }
}

fn match_plan(
    options: &MatchOptions,
    for_bots: &BotOptions,
    ruleset: &dyn Ruleset,
) -> Result<MatchPlan> {
    let has_drawn_start = ruleset.info().has_drawn_start;
    let start = start_of(ruleset, options.start.as_ref())?;
    let seed = options.seed.unwrap_or_else(drawn_seed);
    Ok(MatchPlan {
        start: Some(start).filter(|_| options.start.is_some() || !has_drawn_start),
        games: options.games,
        first: options.first(ruleset, seed),
        seed,
        // A process that played the first game would know the start of the second.
        restart: for_bots.restart || has_drawn_start,
    })
}

/// Where a person types, if one does.
fn console(is_typed: bool, is_json: bool) -> Result<Option<SharedConsole>> {
    if !is_typed {
        return Ok(None);
    }
    if is_json {
        bail!("--json prints only records on stdout, but a person plays there; use --record FILE");
    }
    let terminal = Terminal::new(palette(&io::stdout()))?;
    Ok(Some(Rc::new(RefCell::new(terminal))))
}

/// Plays the games, and prints and writes what is known at the end.
fn finish(runner: &mut MatchRunner, mut observer: Watched) -> Result<()> {
    let played = run(runner, &mut |event| observer.note(event));
    // Games before a bot or the machine failed count.
    let cannot_go_on =
        played.as_ref().is_err_and(Failure::leaves_results) && runner.score().games() > 0;
    observer.bar = None;
    if played.is_ok() || cannot_go_on {
        observer.view.score(runner.score())?;
    }
    // An interrupted match gets its page, too.
    let finished = observer.pages.finish(played.is_ok());
    played?;
    finished
}

fn check_names(options: &MatchOptions) -> Result<()> {
    for (option, name) in [("--name1", &options.name1), ("--name2", &options.name2)] {
        if let Some(name) = name.as_deref().filter(|name| is_blank(name)) {
            bail!(
                "{option} {name:?}: nothing of this name can be seen; give another one, or leave {option} out"
            );
        }
    }
    Ok(())
}

/// What bounds the bots; nothing without a sandbox.
fn sandbox_limits(bots: &[BotSpec; 2]) -> Vec<EnforcedLimit> {
    let confined = programs(bots).filter_map(|program| program.confinement.as_ref());
    confined
        .map(|confinement| confinement.sandbox.bounds())
        .find(|bounds| !bounds.is_empty())
        .unwrap_or_default()
}

/// Who plays there. A person against a bot plays at the page, if one is served that can draw the game.
fn at_terminal(options: &MatchOptions, bots: &[BotSpec; 2], ruleset: &dyn Ruleset) -> [bool; 2] {
    let people = bots.each_ref().map(|bot| bot.program().is_none());
    let is_drawn = options.pages.live.is_on() && ruleset.program().is_none();
    if is_drawn && people[0] != people[1] {
        return [false; 2];
    }
    people
}

fn names(options: &MatchOptions, bots: &[BotSpec; 2]) -> [String; 2] {
    let given = [&options.name1, &options.name2];
    let two_people = bots.iter().all(|bot| bot.program().is_none());
    let names = [0, 1].map(|i| match given[i] {
        Some(given) => bot_name(given),
        None if two_people => format!("player {}", i + 1),
        None => bots[i].name().to_owned(),
    });
    let programs = [0, 1].map(|i| bots[i].program().filter(|_| given[i].is_none()));
    let distinct = distinct_names(&[0, 1].map(|i| (names[i].as_str(), programs[i])));
    distinct.try_into().unwrap_or(names)
}

/// Moves an incomplete last line, as a crash leaves it, to `FILE.cut`. Waits for the reader of a named pipe.
fn open_records(path: &Path) -> Result<(PathBuf, Journal)> {
    let is_pipe = fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
    // Held until the journal is open.
    let _pipe = is_pipe.then(|| OpenOptions::new().append(true).open(path));
    let opened = Journal::open_within(path, LINGERING_LOCK);
    let (journal, torn) = opened.map_err(|error| match error {
        OpenError::Io { error, .. } => unreadable(path, &error),
        error => Failure::Usage(error.to_string()),
    })?;
    if let Some(torn) = torn {
        tracing::warn!(
            target: referee::log_target::JOURNAL,
            "{}: the last line was incomplete; its {} bytes are now in {}",
            path.display(),
            torn.bytes,
            torn.kept_in.display()
        );
    }
    Ok((path.to_owned(), journal))
}

/// What becomes of a match.
struct Watched {
    view: TerminalView<BufWriter<Channel>, Channel>,
    /// Of `--record`: a line for each game, appended when it ends.
    file: Option<(PathBuf, Journal)>,
    pages: Pages,
    table: Option<Table>,
    bar: Option<ProgressBar>,
}

impl Watched {
    fn note(&mut self, event: &GameEvent<'_>) -> io::Result<()> {
        if let Some(table) = &mut self.table {
            table.note(event);
        }
        if let GameEvent::Ended { game, .. } = event {
            if let Some((path, journal)) = &mut self.file {
                journal.append(game.line()).map_err(|error| {
                    let (path, cause) = (path.display(), referee::text::cause(&error));
                    io::Error::other(format!("{path}: cannot write the record: {cause}"))
                })?;
            }
            self.pages.publish(game.record())?;
        }
        let is_warning = matches!(
            event,
            GameEvent::Benched { .. } | GameEvent::Ended { fault: Some(_), .. }
        );
        if let Some(bar) = self.bar.as_ref().filter(|_| is_warning) {
            bar.line.clear();
        }
        self.view.note(event)?;
        if !matches!(event, GameEvent::Ended { .. }) {
            return Ok(());
        }
        if let Some(bar) = &self.bar {
            bar.inc();
        }
        caught_up()
    }
}

fn view_options(options: &MatchOptions, json: bool, people: [bool; 2]) -> ViewOptions {
    let on_terminal = io::stdout().is_terminal() && io::stderr().is_terminal();
    ViewOptions {
        detail: match options.verbose {
            0 if people.contains(&true) => Detail::Turns,
            0 if options.games > 1 && !json && on_terminal => Detail::Score,
            0 => Detail::Results,
            1 => Detail::Turns,
            _ => Detail::Lines,
        },
        palette: palette(&io::stdout()),
        err_palette: palette(&io::stderr()),
        columns: if json {
            terminal_width(&io::stderr())
        } else {
            terminal_width(&io::stdout())
        },
        json,
        people,
    }
}

fn run(runner: &mut MatchRunner, observer: &mut Observer<'_>) -> Result<()> {
    with_bots(async {
        let played = until_interrupted(async { Ok(Box::pin(runner.run(observer)).await?) }).await;
        let grace = match played {
            Ok(_) => GracePeriods::POLITE,
            Err(_) => GracePeriods::FAULT,
        };
        let stopped = runner.stop(grace).await;
        played?;
        Ok(stopped?)
    })
}

fn tap(name: &str) -> Tap {
    let name = short_name(name);
    Arc::new(move |line| {
        if !line.as_bytes().starts_with(info::PREFIX) {
            print_bot_line(&name, line);
        }
    })
}

fn programs(bots: &[BotSpec]) -> impl Iterator<Item = &Program> {
    bots.iter().filter_map(BotSpec::program)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum First {
    /// BOT1 begins
    #[value(name = "1")]
    Bot1,
    /// BOT2 begins
    #[value(name = "2")]
    Bot2,
    /// Drawn at random
    Random,
}

fn piece_format() -> impl TypedValueParser<Value = PieceFormat> {
    let digits = "Four binary digits, such as 0101";
    one_of([
        ("symbol", "The set's characters", PieceFormat::Symbol),
        ("binary", digits, PieceFormat::Binary),
        ("decimal", "0 to 15", PieceFormat::Decimal),
    ])
}

#[derive(Debug, clap::Args)]
struct MatchOptions {
    /// Show every turn and the board; twice: also every line each way with its time
    #[arg(short, long, action = clap::ArgAction::Count, help_heading = "Output")]
    verbose: u8,

    /// Append a record of every game to this file, one line of JSON a game
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    record: Option<PathBuf>,

    /// How many games; who begins alternates
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    games: u64,

    /// Who begins the first game [default: random in Quarto, BOT1 in Four In A Row]
    ///
    /// In Quarto that bot gives the first piece
    #[arg(long, hide_short_help = true)]
    first: Option<First>,

    /// What everything random comes from [default: drawn, and printed]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    seed: Option<u64>,

    #[command(flatten)]
    game: GameOptions,

    /// Start from this position, such as "A..B............ C"
    ///
    /// As the protocol writes it: a board, where `.` is empty, or a board and the piece in hand, which the first to move
    /// places
    #[arg(
        long,
        value_name = "BOARD [PIECE]",
        allow_hyphen_values = true,
        help_heading = "Game",
        hide_short_help = true
    )]
    start: Option<String>,

    /// End a game as soon as its value is proven; marked in the record
    #[arg(long, help_heading = "Game", hide_short_help = true)]
    adjudicate: bool,

    #[command(flatten)]
    time: TimeOptions,

    #[command(flatten)]
    pages: PageOptions,

    /// What BOT1, or player 1, is called
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "People",
        hide_short_help = true
    )]
    name1: Option<String>,

    /// What BOT2, or player 2, is called
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "People",
        hide_short_help = true
    )]
    name2: Option<String>,

    /// How people type and see pieces [default: symbol]
    #[arg(long, value_name = "FORMAT", value_parser = piece_format(), help_heading = "People", hide_short_help = true)]
    piece_format: Option<PieceFormat>,

    /// Before a person's turn, say what would lose immediately
    #[arg(long, help_heading = "People", hide_short_help = true)]
    hint: bool,
}

impl MatchOptions {
    const fn writes_files(&self) -> bool {
        self.record.is_some() || self.pages.are_on()
    }

    /// A move is limited only where that was asked for.
    fn time_of_people(&self, time: TimeControl) -> TimeControl {
        let is_timed = self.time.answers.move_time.is_some();
        TimeControl {
            move_time: time.move_time.filter(|_| is_timed),
            ..time
        }
    }

    fn first(&self, ruleset: &dyn Ruleset, seed: u64) -> BotIndex {
        match self.first {
            Some(First::Bot1) => BotIndex::A,
            Some(First::Bot2) => BotIndex::B,
            None if !ruleset.info().is_first_drawn => BotIndex::A,
            Some(First::Random) | None => BotIndex::ALL[seed::first_bot(seed)],
        }
    }
}
