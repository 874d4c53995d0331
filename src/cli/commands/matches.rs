//! `referee [OPTIONS] BOT1 BOT2` and `referee play`: plays a match.

use std::cell::RefCell;
use std::io::{self, BufWriter};
use std::rc::Rc;
use std::sync::Arc;

use crate::bot::human::{Human, SharedConsole};
use crate::bot::naming::distinct_names;
use crate::bot::orphans;
use crate::bot::process::GracePeriods;
use crate::bot::spec::{BotSpec, Program};
use crate::bot::stderr::Tap;
use crate::cli::support::console::Terminal;
use crate::cli::support::failure::Failure;
use crate::cli::support::games::check_builtins;
use crate::cli::support::interrupt::until_interrupted;
use crate::cli::support::leftovers::end_orphans;
use crate::cli::support::options::{Options, PieceFormatName};
use crate::cli::support::output::{GameText, Notes, print_bot_line, print_stderr};
use crate::cli::support::pages;
use crate::cli::support::pieces_file::PiecesFile;
use crate::cli::support::records::{RecordFile, Recorded};
use crate::cli::support::runtime::runtime;
use crate::cli::support::sandbox::{print_interpreters, warn_large};
use crate::cli::support::setup::{bot, match_set, palette, terminal_width};
use crate::cli::support::signals;
use crate::cli::support::suspension;
use crate::cli::support::unconfined::warn_root;
use crate::game::quarto::PieceFormat;
use crate::log_target::SPAN;
use crate::play::game_runner::GameRunner;
use crate::play::match_runner::{MatchObserver, MatchPlan, MatchRunner};
use crate::play::seat::Seat;
use crate::report::serve::State;
use crate::report::terminal_view::{Detail, TerminalView, ViewOptions};
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

/// `referee BOT1 BOT2`
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

/// `referee play`: two people at this terminal.
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
    // Errors are reported before people are asked for anything.
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

/// The two names: from the options, else asked for when two people play, else the bots' own.
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
    // Until the end: what has been begun is put in order first.
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
        // A process that played the first game of a pair would know what the second begins with.
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
    // A bot that cannot be started any more, or a machine without processes, takes nothing away from
    // the games before.
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
    // A person must see the board.
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

/// Plays the match to its end or until it is interrupted.
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

/// Prints a bot's stderr, each line prefixed with its name.
fn tap(name: &str) -> Tap {
    let name = short_name(name);
    Arc::new(move |line| print_bot_line(&name, line))
}

/// Those of the players that are programs.
fn programs(bots: &[BotSpec]) -> impl Iterator<Item = &Program> {
    bots.iter().filter_map(|bot| match bot {
        BotSpec::Program(program) => Some(program),
        BotSpec::Human => None,
    })
}
