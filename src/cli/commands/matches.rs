//! `referee [OPTIONS] BOT1 BOT2` and `referee play`: plays a match.

use std::cell::RefCell;
use std::io::{self, BufWriter};
use std::rc::Rc;
use std::sync::Arc;

use crate::bot::human::{Human, SharedConsole};
use crate::bot::orphans;
use crate::bot::process::Patience;
use crate::bot::spec::{Bot, distinct_names, short_name};
use crate::bot::stderr::Tap;
use crate::cli::support::console::Terminal;
use crate::cli::support::failure::Failure;
use crate::cli::support::games::{GameName, WithGame, with_game};
use crate::cli::support::interrupt::until_interrupted;
use crate::cli::support::options::{Options, PieceFormatName};
use crate::cli::support::records::{RecordFile, Recorded};
use crate::cli::support::sandbox::Choice;
use crate::cli::support::setup::{admit, bot, match_set, palette, tell};
use crate::game::dialogue::Dialogue;
use crate::game::quarto::PieceFormat;
use crate::play::match_runner::{Follow, Plan, Score, Series};
use crate::play::seat::{Entrant, Occupant};
use crate::report::terminal_view::{Detail, Look, Screen};
use crate::strategy::PERFECT;
use crate::text::escape_controls;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A file, a command line, builtin:NAME, or human
    #[arg(value_name = "BOT1", required = true)]
    bot1: Option<String>,

    /// The other one
    #[arg(value_name = "BOT2", required = true)]
    bot2: Option<String>,

    #[command(flatten)]
    options: Options,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct PlayArgs {
    #[command(flatten)]
    options: Options,
}

/// `referee BOT1 BOT2`
pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let given = |text: &Option<String>| bot(text.as_deref().unwrap_or_default());
    let bots = [given(&args.bot1)?, given(&args.bot2)?];
    let sandbox = args.options.sandbox.sandbox(Choice::None)?;
    let bots = admit(&sandbox, &bots)?;
    let terminal = bots
        .contains(&Bot::Human)
        .then(|| Terminal::new(palette(&io::stdout())));
    start(&args.options, bots, terminal, false)
}

/// `referee play`: two people at this terminal.
pub(in crate::cli) fn play(args: &PlayArgs) -> Result<(), Failure> {
    let terminal = Terminal::new(palette(&io::stdout()));
    let bots = [Bot::Human, Bot::Human];
    start(&args.options, bots, Some(terminal), true)
}

fn ask_format(terminal: &Terminal) -> Result<PieceFormatName, Failure> {
    loop {
        let answer = terminal.ask("pieces as symbol, binary or decimal? [symbol] ")?;
        match answer.as_deref() {
            None | Some("" | "symbol" | "s") => return Ok(PieceFormatName::Symbol),
            Some("binary" | "b") => return Ok(PieceFormatName::Binary),
            Some("decimal" | "d") => return Ok(PieceFormatName::Decimal),
            Some(_) => tell("expected symbol, binary or decimal"),
        }
    }
}

fn start(
    options: &Options,
    bots: [Bot; 2],
    terminal: Option<Terminal>,
    ask: bool,
) -> Result<(), Failure> {
    if options.json && terminal.is_some() {
        return Err(Failure::Usage(
            "--json keeps stdout for records, but a person needs it; use --record FILE".to_owned(),
        ));
    }
    if !options.game.has_sets() && (options.pieces.is_some() || !options.usual_rules()) {
        return Err(Failure::Usage(
            "--pieces and --rules are for Quarto; leave them out, or play --game quarto".to_owned(),
        ));
    }
    let perfect = format!("builtin:{PERFECT}");
    let plays_perfectly =
        |bot: &Bot| matches!(bot, Bot::Program(program) if program.command == [perfect.as_str()]);
    if options.game != GameName::Quarto && bots.iter().any(plays_perfectly) {
        return Err(Failure::Usage(format!(
            "{perfect} plays Quarto only; take builtin:greedy, which plays every game"
        )));
    }
    if options.game != GameName::Quarto && options.adjudicate {
        return Err(Failure::Usage(
            "--adjudicate needs a solver, and only Quarto can be solved; leave it out".to_owned(),
        ));
    }
    let set = match_set(options.pieces.as_ref())?;
    let rules = options.rules.into();
    // Whatever is wrong is told before anybody is asked.
    let check = StartCheck { options };
    with_game(options.game, rules, set.clone(), PieceFormat::Symbol, check)?;
    let format = match (options.piece_format, &terminal) {
        (Some(format), _) => format,
        (None, Some(terminal)) if ask && options.game.has_sets() => ask_format(terminal)?,
        (None, _) => PieceFormatName::Symbol,
    };
    let names = names(options, &bots, terminal.as_ref())?;
    let play = Match {
        options,
        bots,
        names,
        terminal,
    };
    with_game(options.game, rules, set, format.into(), play)
}

/// What the two are called. Two people are asked.
fn names(
    options: &Options,
    bots: &[Bot; 2],
    terminal: Option<&Terminal>,
) -> Result<[String; 2], Failure> {
    let given = [&options.name1, &options.name2];
    let two_people = *bots == [Bot::Human, Bot::Human];
    let mut names = bots.each_ref().map(|bot| bot.name().to_owned());
    for (i, name) in names.iter_mut().enumerate() {
        if let Some(given) = given[i] {
            *name = short_name(given);
        } else if let Some(terminal) = terminal.filter(|_| two_people) {
            let usual = format!("player {}", i + 1);
            let typed = terminal.ask(&format!("name of {usual}? "))?;
            *name = typed
                .filter(|typed| !typed.is_empty())
                .map_or(usual, |typed| short_name(&typed));
        }
    }
    let distinct = distinct_names(&names.each_ref().map(String::as_str));
    // As many as there were.
    Ok(distinct.try_into().unwrap_or(names))
}

/// Whether the board that a match is to start from can start one.
struct StartCheck<'a> {
    options: &'a Options,
}

impl WithGame for StartCheck<'_> {
    type Output = Result<(), Failure>;

    fn with<G: Dialogue + Clone + 'static>(self, game: G) -> Self::Output {
        self.options.start(&game).map(|_| ())
    }
}

struct Match<'a> {
    options: &'a Options,
    bots: [Bot; 2],
    names: [String; 2],
    terminal: Option<Terminal>,
}

impl WithGame for Match<'_> {
    type Output = Result<(), Failure>;

    fn with<G: Dialogue + Clone + 'static>(self, game: G) -> Self::Output {
        let Self {
            options,
            bots,
            names,
            terminal,
        } = self;
        let start = options.start(&game)?;
        let file = options
            .record
            .as_deref()
            .map(RecordFile::open)
            .transpose()?;
        let pages = options.pages.open(&names.join(" vs "), None)?;
        let seed = options.seed();
        let plan = Plan {
            game: game.clone(),
            start,
            games: options.games,
            first: options.first::<G>(seed),
            seed,
            adjudicate: options.adjudicate,
            restart: options.restart,
            pieces_path: options.pieces_path(&game)?,
        };
        let console = terminal.map(|terminal| -> SharedConsole { Rc::new(RefCell::new(terminal)) });
        if let Some(console) = &console {
            console.borrow_mut().show(&game.instructions())?;
        }
        let mut follow = Recorded {
            inner: Screen::new(
                &game,
                names.clone(),
                options.games,
                look(options, console.is_some()),
                BufWriter::new(io::stdout().lock()),
                io::stderr(),
            ),
            file,
            pages,
        };
        let entrants = entrants(options, &game, bots, names, console.as_ref());
        let played = run_series(Series::new(plan, entrants), &mut follow);
        if let Ok(score) = &played {
            follow.inner.score(score)?;
        }
        // What was played is worth a look, also when somebody ended the match.
        let shown = follow.pages.finish();
        played?;
        shown
    }
}

fn look(options: &Options, people: bool) -> Look {
    // People need to see the board.
    let least = if people {
        Detail::Turns
    } else {
        Detail::Results
    };
    let asked = match options.verbose {
        0 => Detail::Results,
        1 => Detail::Turns,
        _ => Detail::Lines,
    };
    Look {
        detail: asked.max(least),
        palette: palette(&io::stdout()),
        err_palette: palette(&io::stderr()),
        json: options.json,
    }
}

/// Plays the match, to the end or until somebody wants it to end.
fn run_series<G: Dialogue>(
    mut series: Series<G>,
    follow: &mut impl Follow<G>,
) -> Result<Score, Failure> {
    // One thread: a ply is handed to nobody, so nobody has to be woken for it.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let score = runtime.block_on(async {
        orphans::adopt();
        let played = until_interrupted(async {
            let score = series.run(follow).await?;
            Ok(score)
        })
        .await;
        let patience = if played.is_ok() {
            Patience::POLITE
        } else {
            Patience::FAULT
        };
        let stopped = series.stop(patience).await;
        orphans::sweep();
        let score = played?;
        stopped?;
        Ok::<_, Failure>(score)
    });
    // A thread may still be waiting for somebody to type.
    runtime.shutdown_background();
    score
}

fn entrants<G: Dialogue + Clone>(
    options: &Options,
    game: &G,
    bots: [Bot; 2],
    names: [String; 2],
    console: Option<&SharedConsole>,
) -> [Entrant<G>; 2] {
    let mut names = names.into_iter();
    bots.map(|bot| {
        let name = names.next().unwrap_or_default();
        let human = bot == Bot::Human;
        let occupant = match (bot, console) {
            (Bot::Program(program), _) => {
                let tap = (options.verbose > 0).then(|| tap(&name));
                Occupant::Program(program, tap)
            }
            (Bot::Human, Some(console)) => Occupant::Human(Human::new(
                game.clone(),
                name.clone(),
                Rc::clone(console),
                options.hint,
            )),
            // A console is made whenever a person plays.
            (Bot::Human, None) => unreachable!("a person without a console"),
        };
        Entrant {
            name,
            occupant,
            time: options.time(human),
        }
    })
}

/// Shows a bot's stderr, each line with its name.
fn tap(name: &str) -> Tap {
    let name = escape_controls(name);
    Arc::new(move |line| tell(&format!("{name}| {line}")))
}
