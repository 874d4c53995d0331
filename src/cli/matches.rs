//! `referee [OPTIONS] BOT1 BOT2`: plays a match.

use std::env;
use std::future::Future as _;
use std::io::{self, BufWriter};
use std::path::{self, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use clap::ValueEnum;

use super::duration;
use super::failure::Failure;
use super::games::{GameName, WithGame, with_game};
use super::records::{RecordFile, Recorded};
use super::setup::{RulesName, match_set, palette};
use super::signals;
use crate::game::Game;
use crate::play::TimeControl;
use crate::player::orphans;
use crate::player::process::Patience;
use crate::player::program::{Bot, Program, distinct_names};
use crate::player::stderr::Tap;
use crate::report::live::{Detail, Look, Screen};
use crate::seed;
use crate::series::{Entrant, Plan, Series};
use crate::strategy::Strategy;

/// `--first`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum First {
    /// BOT1 begins
    #[value(name = "1")]
    Bot1,
    /// BOT2 begins
    #[value(name = "2")]
    Bot2,
    /// The lot decides
    Random,
}

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A file, a command line, or builtin:NAME
    #[arg(value_name = "BOT1", required = true)]
    bot1: Option<String>,

    /// The other one
    #[arg(value_name = "BOT2", required = true)]
    bot2: Option<String>,

    /// Show every turn and the board; twice: also every line each way with its time
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,

    /// How many games; who begins alternates
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    games: u64,

    /// Who begins the first game (in Quarto: gives the first piece); in Quarto the lot decides by default, in Four In A Row BOT1 begins
    #[arg(long, value_enum)]
    first: Option<First>,

    /// Everything random comes from this number; drawn, and printed, when not given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// The game
    #[arg(long, value_enum, default_value = "quarto")]
    game: GameName,

    /// A piece set's CSV file
    #[arg(long, value_name = "FILE")]
    pieces: Option<PathBuf>,

    /// Which groups of cells count
    #[arg(long, value_enum, default_value = "standard")]
    rules: RulesName,

    /// Start from this board instead of an empty one: 16 characters, `.` is empty
    #[arg(long, value_name = "BOARD")]
    start: Option<String>,

    /// Time for a move
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse_positive, help_heading = "Time")]
    move_time: Duration,

    /// Time on top for the first answer of a fresh process
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse, help_heading = "Time")]
    start_time: Duration,

    /// Time for all moves of a game together; no limit when not given
    #[arg(long, value_name = "TIME", value_parser = duration::parse_positive, help_heading = "Time")]
    game_time: Option<Duration>,

    /// Added to the game clock after every move
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = duration::parse, requires = "game_time", help_heading = "Time")]
    increment: Duration,

    /// Start fresh processes for every game
    #[arg(long)]
    restart: bool,

    /// Append a record of every game to this file, one line of JSON a game
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    record: Option<PathBuf>,

    /// Print the records on stdout, and nothing else
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let set = match_set(args.pieces.as_ref())?;
    with_game(args.game, args.rules.into(), set, Match { args })
}

struct Match<'a> {
    args: &'a Args,
}

impl WithGame for Match<'_> {
    type Output = Result<(), Failure>;

    fn with<G: Game + Clone + 'static>(self, game: G) -> Self::Output {
        let args = self.args;
        let entrants = entrants(args)?;
        let start = match &args.start {
            None => game.start(),
            Some(board) => game.start_from(board).map_err(|problem| {
                Failure::Usage(format!(
                    "--start {}: {problem}",
                    crate::text::quote(board.as_bytes())
                ))
            })?,
        };
        let file = args.record.as_deref().map(RecordFile::open).transpose()?;
        let seed = args.seed.unwrap_or_else(|| {
            // Short, so that people can type it again.
            let seed = u64::from(rand::random::<u32>());
            eprintln!("referee: seed {seed}");
            seed
        });
        let first = match args.first {
            Some(First::Bot2) => 1,
            Some(First::Random) => seed::lot(seed),
            None if G::LOT => seed::lot(seed),
            Some(First::Bot1) | None => 0,
        };
        let pieces_path = match (&args.pieces, game.pieces()) {
            (Some(path), Some(_)) => Some(absolute(path)?),
            _ => None,
        };
        let look = Look {
            detail: match args.verbose {
                0 => Detail::Results,
                1 => Detail::Turns,
                _ => Detail::Lines,
            },
            palette: palette(&io::stdout()),
            err_palette: palette(&io::stderr()),
            json: args.json,
        };
        let names = entrants.each_ref().map(|entrant| entrant.name.clone());
        let plan = Plan {
            game: game.clone(),
            start,
            games: args.games,
            first,
            seed,
            time: TimeControl {
                move_time: args.move_time,
                start_time: args.start_time,
                game_time: args.game_time,
                increment: args.increment,
            },
            restart: args.restart,
            pieces_path,
        };
        let mut follow = Recorded {
            inner: Screen::new(
                &game,
                names,
                args.games,
                look,
                BufWriter::new(io::stdout().lock()),
                io::stderr(),
            ),
            file,
        };
        // One thread: a ply is handed to nobody, so nobody has to be woken for it.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let score = runtime.block_on(async {
            let mut interrupted = signals::interrupted()?;
            orphans::adopt();
            let mut series = Series::new(plan, entrants);
            let played = {
                let mut games = pin!(series.run(&mut follow));
                std::future::poll_fn(|cx| {
                    if let Poll::Ready(played) = games.as_mut().poll(cx) {
                        return Poll::Ready(played.map_err(Failure::from));
                    }
                    std::pin::Pin::new(&mut interrupted)
                        .poll(cx)
                        .map(|()| Err(Failure::Interrupted))
                })
                .await
            };
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
        })?;
        follow.inner.score(&score)?;
        Ok(())
    }
}

/// The two bots, by their places on the command line.
fn entrants(args: &Args) -> Result<[Entrant; 2], Failure> {
    let this_program = env::current_exe()
        .map_err(|error| Failure::Referee(format!("cannot find this program's file: {error}")))?;
    let program = |text: &Option<String>| -> Result<Program, Failure> {
        let text = text.as_deref().unwrap_or_default();
        match Bot::parse(text, &this_program, &Strategy::NAMES)? {
            Bot::Program(program) => Ok(program),
            Bot::Human => Err(Failure::Usage("people cannot play yet".to_owned())),
        }
    };
    let programs = [program(&args.bot1)?, program(&args.bot2)?];
    let names = distinct_names(programs.each_ref().map(|program| program.name.as_str()));
    let [a, b] = programs;
    let [name_a, name_b] = names;
    let entrant = |name: String, program: Program| Entrant {
        tap: (args.verbose > 0).then(|| tap(&name)),
        name,
        program,
    };
    Ok([entrant(name_a, a), entrant(name_b, b)])
}

/// Shows a bot's stderr, each line with its name.
fn tap(name: &str) -> Tap {
    let name = name.to_owned();
    Arc::new(move |line| eprintln!("{name}| {line}"))
}

/// A path that means the same whatever the working directory is.
fn absolute(path: &PathBuf) -> Result<String, Failure> {
    let absolute = path::absolute(path)
        .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    Ok(absolute.to_string_lossy().into_owned())
}
