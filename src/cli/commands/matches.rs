//! `referee [OPTIONS] BOT1 BOT2` and `referee play`: plays a match.

use std::cell::RefCell;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;

use crate::bot::human::{Human, SharedConsole};
use crate::bot::naming::distinct_names;
use crate::bot::orphans;
use crate::bot::process::GracePeriods;
use crate::bot::spec::{BotSpec, Program};
use crate::bot::stderr::Tap;
use crate::cli::support::console::Terminal;
use crate::cli::support::failure::Failure;
use crate::cli::support::games::{self, GameArg, check_builtins};
use crate::cli::support::output::{GameText, Notes, print_bot_line, print_stderr};
use crate::cli::support::records::{RecordFile, Recorded};
use crate::cli::support::runtime::{end_orphans, runtime, until_interrupted};
use crate::cli::support::sandbox::{SandboxOptions, print_interpreters, warn_large, warn_root};
use crate::cli::support::setup::{PiecesFile, RulesName, bot, match_set, palette, terminal_width};
use crate::cli::support::values::{self, ClockName, MoveTime, check_clock};
use crate::cli::support::{pages, signals, suspension};
use crate::game::quarto::PieceFormat;
use crate::log_target::SPAN;
use crate::play::TimeControl;
use crate::play::game_runner::GameRunner;
use crate::play::match_runner::{MatchObserver, MatchPlan, MatchRunner};
use crate::play::seat::Seat;
use crate::record::BotIndex;
use crate::report::serve::State;
use crate::report::terminal_view::{Detail, TerminalView, ViewOptions};
use crate::seed;
use crate::session::Ruleset;
use crate::session::registry::Choices;
use crate::strategy::PERFECT;
use crate::strategy::builtin::base_name;
use crate::text::{escape_controls, short_name};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
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
    options: Options,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct PlayArgs {
    #[command(flatten)]
    options: Options,
}

pub(in crate::cli) fn run_command(args: &Args) -> Result<(), Failure> {
    if let Some(word) = args.more.first() {
        return Err(Failure::Usage(format!(
            "a match has two bots, and {} is a third; a command with arguments is one bot in quotes (\"python3 bot.py\"), \
             so is a position, and referee tournament plays more than two",
            escape_controls(word)
        )));
    }
    let given = |text: &Option<String>| bot(text.as_deref().unwrap_or_default());
    let bots = [given(&args.bot1)?, given(&args.bot2)?];
    let sandboxes = args.options.sandbox.of_bots(&bots)?;
    let bots = sandboxes.confine(&bots)?;
    let programs = || {
        bots.iter().filter_map(|bot| match bot {
            BotSpec::Program(program) => Some(program),
            BotSpec::Human => None,
        })
    };
    warn_large(programs());
    if args.options.verbose > 0 {
        programs().for_each(print_interpreters);
    }
    let terminal = bots
        .contains(&BotSpec::Human)
        .then(|| Terminal::new(palette(&io::stdout())))
        .transpose()?;
    start(&args.options, bots, terminal, false)
}

pub(in crate::cli) fn play(args: &PlayArgs) -> Result<(), Failure> {
    let terminal = Terminal::new(palette(&io::stdout()))?;
    let bots = [BotSpec::Human, BotSpec::Human];
    start(&args.options, bots, Some(terminal), true)
}

fn ask_format(terminal: &Terminal) -> Result<PieceFormatName, Failure> {
    loop {
        let answer = terminal.ask("pieces as symbol, binary or decimal? [symbol] ")?;
        match answer.as_deref() {
            None | Some("" | "symbol" | "s") => return Ok(PieceFormatName::Symbol),
            Some("binary" | "b") => return Ok(PieceFormatName::Binary),
            Some("decimal" | "d") => return Ok(PieceFormatName::Decimal),
            Some(_) => print_stderr("expected symbol, binary or decimal"),
        }
    }
}

fn start(
    options: &Options,
    bots: [BotSpec; 2],
    terminal: Option<Terminal>,
    ask: bool,
) -> Result<(), Failure> {
    if options.json && terminal.is_some() {
        return Err(Failure::Usage(
            "--json prints only records on stdout, but a person plays there; use --record FILE"
                .to_owned(),
        ));
    }
    if !options.game.has_piece_sets() && (options.pieces.is_some() || !options.has_standard_rules())
    {
        return Err(Failure::Usage(
            "--pieces and --rules are for Quarto; leave them out, or play --game quarto".to_owned(),
        ));
    }
    let perfect = format!("builtin:{PERFECT}");
    let plays_perfectly = |bot: &BotSpec| matches!(bot, BotSpec::Program(program) if program.builtin().map(base_name) == Some(PERFECT));
    options.check_time()?;
    let set = match_set(options.pieces.as_ref())?;
    let choices = |format| Choices {
        rules: options.rules.into(),
        set: set.clone(),
        format,
    };
    // Report errors before people are asked for anything.
    let ruleset = options.ruleset(choices(PieceFormat::Symbol))?;
    check_builtins(&*ruleset, programs(&bots))?;
    if !ruleset.is_solvable() && bots.iter().any(plays_perfectly) {
        return Err(Failure::Usage(format!(
            "{perfect} plays the games that this program can solve; use builtin:random, or a bot of yours"
        )));
    }
    if !ruleset.is_solvable() && options.adjudicate {
        return Err(Failure::Usage(
            "--adjudicate needs a solver, and a game that is a program has none; leave it out"
                .to_owned(),
        ));
    }
    options.start(&*ruleset)?;
    let format = match (options.piece_format, &terminal) {
        (Some(format), _) => format,
        (None, Some(terminal)) if ask && options.game.has_piece_sets() => ask_format(terminal)?,
        (None, _) => PieceFormatName::Symbol,
    };
    warn_root(programs(&bots));
    let names = names(options, &bots, terminal.as_ref())?;
    let ruleset = match format {
        PieceFormatName::Symbol => ruleset,
        format => options.ruleset(choices(format.into()))?,
    };
    play_match(options, ruleset, bots, names, terminal)
}

/// From the options, else asked for when two people play, else the bots' own.
fn names(
    options: &Options,
    bots: &[BotSpec; 2],
    terminal: Option<&Terminal>,
) -> Result<[String; 2], Failure> {
    let given = [&options.name1, &options.name2];
    let two_people = *bots == [BotSpec::Human, BotSpec::Human];
    let mut names = bots.each_ref().map(|bot| bot.name().to_owned());
    for (i, name) in names.iter_mut().enumerate() {
        if let Some(given) = given[i] {
            *name = short_name(given);
        } else if let Some(terminal) = terminal.filter(|_| two_people) {
            let default = format!("player {}", i + 1);
            let typed = terminal.ask(&format!("name of {default}? "))?;
            *name = typed
                .filter(|typed| !typed.is_empty())
                .map_or(default, |typed| short_name(&typed));
        }
    }
    let files = [0, 1].map(|i| match (&bots[i], given[i]) {
        (BotSpec::Program(program), None) => program.own_file(),
        _ => None,
    });
    let distinct = distinct_names(&[0, 1].map(|i| (names[i].as_str(), files[i].as_deref())));
    // `distinct_names` returns as many names as it is given.
    Ok(distinct.try_into().unwrap_or(names))
}

fn play_match(
    options: &Options,
    ruleset: Arc<dyn Ruleset>,
    bots: [BotSpec; 2],
    names: [String; 2],
    terminal: Option<Terminal>,
) -> Result<(), Failure> {
    // Until the end: a second signal must not cut off the clean-up.
    let _heeded = signals::heed();
    if terminal.is_none() {
        suspension::start()?;
    }
    let start = options.start(&*ruleset)?;
    let limits = pages::limits(programs(&bots));
    let title = names.join(" vs ");
    let pages = options.pages.open(
        &title,
        None,
        options.record.as_deref(),
        None,
        limits,
        &ruleset,
    )?;
    let file = options
        .record
        .as_deref()
        .map(RecordFile::open)
        .transpose()?;
    let seed = options.seed();
    let plan = MatchPlan {
        start,
        games: options.games,
        first: options.first(&*ruleset, seed),
        seed,
        // A process that played the first game would know the start of the second.
        restart: options.restart || ruleset.has_drawn_start(),
    };
    let pieces = options.pieces_file(&*ruleset)?;
    let people = bots.each_ref().map(|bot| *bot == BotSpec::Human);
    let console = terminal.map(|terminal| -> SharedConsole { Rc::new(RefCell::new(terminal)) });
    if let Some(console) = &console {
        console.borrow_mut().show(&ruleset.instructions())?;
    }
    let table = pages.stage().map(|stage| {
        let mut table = stage.table();
        table.seat(names.each_ref().map(String::as_str));
        table
    });
    pages.expect(options.games);
    let mut observer = Recorded {
        inner: TerminalView::new(
            names.clone(),
            options.games,
            view_options(options, people),
            BufWriter::new(GameText),
            Notes,
        ),
        file,
        pages,
        table,
    };
    let seats = seats(
        options,
        &ruleset,
        bots,
        names,
        pieces.as_ref().map(PiecesFile::path),
        console.as_ref(),
    );
    // All tasks of the match run on this thread.
    let _span = tracing::info_span!(target: SPAN, "match").entered();
    let runner = GameRunner::new(ruleset, options.adjudicate)?;
    let mut runner = MatchRunner::new(runner, plan, seats);
    let played = run(&mut runner, &mut observer);
    // Games before a bot or the machine failed count.
    let cannot_go_on = matches!(played, Err(Failure::Usage(_) | Failure::Exhausted(_)))
        && runner.score().games() > 0;
    if played.is_ok() || cannot_go_on {
        observer.inner.score(runner.score())?;
    }
    // An interrupted match gets its page, too.
    let state = if played.is_ok() {
        State::Finished
    } else {
        State::Interrupted
    };
    let finished = observer.pages.finish(state);
    played?;
    finished
}

fn view_options(options: &Options, people: [bool; 2]) -> ViewOptions {
    let least = if people.contains(&true) {
        Detail::Turns
    } else {
        Detail::Results
    };
    let requested = match options.verbose {
        0 => Detail::Results,
        1 => Detail::Turns,
        _ => Detail::Lines,
    };
    ViewOptions {
        detail: requested.max(least),
        palette: palette(&io::stdout()),
        err_palette: palette(&io::stderr()),
        columns: if options.json {
            terminal_width(&io::stderr())
        } else {
            terminal_width(&io::stdout())
        },
        json: options.json,
        people,
    }
}

fn run(runner: &mut MatchRunner, observer: &mut dyn MatchObserver) -> Result<(), Failure> {
    // A single thread: no ply has to wake another thread.
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        orphans::adopt();
        let played = until_interrupted(async {
            Box::pin(runner.run(observer)).await?;
            Ok(())
        })
        .await;
        let grace = if played.is_ok() {
            GracePeriods::POLITE
        } else {
            GracePeriods::FAULT
        };
        let stopped = runner.stop(grace).await;
        end_orphans();
        played?;
        stopped?;
        Ok::<_, Failure>(())
    });
    // A thread may still be blocked reading the keyboard.
    runtime.shutdown_background();
    done
}

fn seats(
    options: &Options,
    ruleset: &Arc<dyn Ruleset>,
    bots: [BotSpec; 2],
    names: [String; 2],
    pieces_path: Option<&str>,
    console: Option<&SharedConsole>,
) -> [Seat; 2] {
    let mut names = names.into_iter();
    bots.map(|bot| {
        let name = names.next().unwrap_or_default();
        let time = options.time(bot == BotSpec::Human);
        match (bot, console) {
            (BotSpec::Program(program), _) => {
                let tap = (options.verbose > 0).then(|| tap(&name));
                let seat = Seat::program(&**ruleset, pieces_path, program, time).named(name);
                match tap {
                    Some(tap) => seat.with_tap(tap),
                    None => seat,
                }
            }
            (BotSpec::Human, Some(console)) => {
                let (ruleset, console) = (Arc::clone(ruleset), Rc::clone(console));
                let human = Human::new(ruleset, name.clone(), console, options.hint);
                Seat::human(name, human, time)
            }
            // A console is created whenever a person plays.
            (BotSpec::Human, None) => unreachable!("a person without a console"),
        }
    })
}

/// Prints stderr, each line prefixed with the bot's name.
fn tap(name: &str) -> Tap {
    let name = short_name(name);
    Arc::new(move |line| print_bot_line(&name, line))
}

fn programs(bots: &[BotSpec]) -> impl Iterator<Item = &Program> {
    bots.iter().filter_map(|bot| match bot {
        BotSpec::Program(program) => Some(program),
        BotSpec::Human => None,
    })
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PieceFormatName {
    /// The set's characters
    Symbol,
    /// Four binary digits, such as 0101
    Binary,
    /// 0 to 15
    Decimal,
}

impl From<PieceFormatName> for PieceFormat {
    fn from(name: PieceFormatName) -> Self {
        match name {
            PieceFormatName::Symbol => Self::Symbol,
            PieceFormatName::Binary => Self::Binary,
            PieceFormatName::Decimal => Self::Decimal,
        }
    }
}

fn at_least_one(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number of at least 1".to_owned()),
        Ok(number) => Ok(number),
    }
}

#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(in crate::cli) struct Options {
    /// Show every turn and the board; twice: also every line each way with its time
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,

    /// How many games; who begins alternates
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = at_least_one, allow_negative_numbers = true)]
    games: u64,

    /// Who begins the first game (in Quarto: gives the first piece) [default: random in Quarto,
    /// BOT1 in Four In A Row]
    #[arg(long, value_enum)]
    first: Option<First>,

    /// Everything random comes from this number; drawn, and printed, when not given
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::seed)]
    seed: Option<u64>,

    /// The game
    #[arg(long, value_parser = games::parser(), default_value = "quarto")]
    pub(in crate::cli) game: GameArg,

    /// An option of a game that is a program; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = games::option)]
    pub(in crate::cli) game_option: Vec<(String, String)>,

    /// A piece set's CSV file
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) pieces: Option<PathBuf>,

    /// Which groups of cells count
    #[arg(long, value_enum, default_value = "standard")]
    pub(in crate::cli) rules: RulesName,

    /// Start from this position instead of an empty board, as the protocol writes it: a board, where `.` is empty, or a
    /// board and the piece in hand, which whoever begins places: "A..B............ C"
    #[arg(long, value_name = "BOARD [PIECE]", allow_hyphen_values = true)]
    start: Option<String>,

    /// Time for a move; none for no limit [default: 10s; people have no limit unless this is given]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = values::move_time, help_heading = "Time")]
    move_time: Option<MoveTime>,

    /// Time on top for the first answer of a fresh process
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "10s", value_parser = values::duration, help_heading = "Time")]
    start_time: Duration,

    /// Time for all moves of a game together; no limit when not given
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = values::positive_duration, help_heading = "Time")]
    game_time: Option<Duration>,

    /// Added to the game clock after every move
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "0s", value_parser = values::duration, requires = "game_time", help_heading = "Time")]
    increment: Duration,

    /// What clocks measure: time, without that in which a bot could run but waits for a processor; or
    /// processor time of the bot's processes, with a limit of ten times as much wall time (at least
    /// 5 s more)
    #[arg(
        long,
        value_enum,
        value_name = "KIND",
        default_value = "wall",
        help_heading = "Time"
    )]
    clock: ClockName,

    /// End a game as soon as its value is proven; marked in the record
    #[arg(long)]
    pub(in crate::cli) adjudicate: bool,

    /// Start fresh processes for every game
    #[arg(long)]
    pub(in crate::cli) restart: bool,

    #[command(flatten)]
    pub(in crate::cli) sandbox: SandboxOptions,

    /// Append a record of every game to this file, one line of JSON a game
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    record: Option<PathBuf>,

    /// Print the records on stdout, and nothing else
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    pub(in crate::cli) pages: pages::PageOptions,

    /// What BOT1, or player 1, is called
    #[arg(long, value_name = "NAME", help_heading = "People")]
    name1: Option<String>,

    /// What BOT2, or player 2, is called
    #[arg(long, value_name = "NAME", help_heading = "People")]
    name2: Option<String>,

    /// How people type and see pieces [default: symbol]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "People")]
    piece_format: Option<PieceFormatName>,

    /// Before a person's turn, say what would lose at once
    #[arg(long, help_heading = "People")]
    hint: bool,
}

impl Options {
    fn has_standard_rules(&self) -> bool {
        self.rules == RulesName::Standard
    }

    fn time(&self, human: bool) -> TimeControl {
        let default = TimeControl::default().move_time.filter(|_| !human);
        TimeControl {
            move_time: self.move_time.map_or(default, |MoveTime(limit)| limit),
            start_time: self.start_time,
            game_time: self.game_time,
            increment: self.increment,
            kind: self.clock.into(),
        }
    }

    fn check_time(&self) -> Result<(), Failure> {
        check_clock(self.time(false)).map(|_| ())
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(|| {
            // Short enough to type.
            let seed = u64::from(rand::random::<u32>());
            print_stderr(&format!("referee: seed {seed}"));
            seed
        })
    }

    fn first(&self, ruleset: &dyn Ruleset, seed: u64) -> BotIndex {
        let drawn = || BotIndex::ALL[seed::first_bot(seed)];
        match self.first {
            Some(First::Bot2) => BotIndex::B,
            Some(First::Random) => drawn(),
            None if ruleset.is_first_drawn() => drawn(),
            Some(First::Bot1) | None => BotIndex::A,
        }
    }

    fn ruleset(&self, choices: Choices) -> Result<Arc<dyn Ruleset>, Failure> {
        self.game
            .ruleset(choices, &self.game_option.iter().cloned().collect())
    }

    /// As records hold it; `None` when it is drawn.
    fn start(&self, ruleset: &dyn Ruleset) -> Result<Option<String>, Failure> {
        let session = match &self.start {
            None if ruleset.has_drawn_start() => return Ok(None),
            None => ruleset.start(),
            Some(board) => ruleset.start_from(board).map_err(|problem| {
                let board = crate::text::quote(board.as_bytes());
                Failure::Usage(format!("--start {board}: {problem}"))
            })?,
        };
        let mut start = String::new();
        session.write_start(&mut start);
        Ok(Some(start))
    }

    /// `None` for the built-in set.
    fn pieces_file(&self, ruleset: &dyn Ruleset) -> Result<Option<PiecesFile>, Failure> {
        let (Some(path), Some(text)) = (&self.pieces, ruleset.pieces()) else {
            return Ok(None);
        };
        PiecesFile::new(path, text).map(Some)
    }
}
