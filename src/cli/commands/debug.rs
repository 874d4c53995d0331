use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use crate::cli::support::console::Terminal;
use crate::cli::support::failure::{Result, bail};
use crate::cli::support::folder::{GameChoice, check_not_stdin};
use crate::cli::support::games::{self, GameOptions, SetOptions, start_of};
use crate::cli::support::output::{note, print_bot_line};
use crate::cli::support::recorded::{self, AskedBotOptions, Recorded};
use crate::cli::support::runtime::examine;
use crate::cli::support::setup::{PiecesFile, palette};
use crate::cli::support::values::{self, MoveTime};
use referee::analysis::{Analyst, Effort};
use referee::bot::spec::Program;
use referee::play::TimeControl;
use referee::play::examiner::{Examiner, PlayedLine, Question};
use referee::play::game_runner::GameRunner;
use referee::play::seat::Seat;
use referee::record::{BotIndex, Record};
use referee::solver;
use referee::study::debug::{COMMANDS, DebugSession, DebuggedGame};
use referee::text::escape_controls;

const AFTER_HELP: &str = "\
No clock runs, however long a debugger holds the bot. Without --sandbox it runs without one, since
no debugger can attach to a program in a sandbox.

Examples:
  referee debug games.jsonl --number 12 --turn 7 ./mybot
  referee debug tournament-2026-01-31-100000 --number p000012a --wait ./mybot
  referee debug --start \"A..B............ C\" ./mybot

Exit status: 0 at the end, whatever the bot answered; 2 wrong usage or input, or a bot that
cannot be started; 1 the referee itself failed; 130 interrupted.";

fn after_help() -> String {
    let prompt = "At the prompt, or in a file for standard input, a command a line:";
    format!("{prompt}\n{COMMANDS}\n{AFTER_HELP}")
}

#[derive(Debug, clap::Args)]
#[command(after_long_help = after_help(), override_usage = "referee debug [OPTIONS] FILE BOT\n       referee debug [OPTIONS] [--start \"BOARD PIECE\"] BOT")]
pub(crate) struct Args {
    /// A file of records, or the folder of a tournament; left out, the bot is asked about the position of --start
    #[arg(value_name = "FILE")]
    first: String,

    /// The bot: a file, a command line or builtin:NAME
    #[arg(value_name = "BOT")]
    second: Option<String>,

    /// The game: 1 for the first of the file, or its id, such as p000012a
    #[arg(long, value_name = "N|ID")]
    number: Option<GameChoice>,

    /// Stop after this turn, which the bot made [default: the one at which it forfeited, or else its first]
    #[arg(long, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    turn: Option<usize>,

    /// Before the game, also send what its process was sent in earlier games of the file
    #[arg(long, hide_short_help = true)]
    from_first: bool,

    /// The position, as the protocol writes it, of the game of --game [default: quarto]
    #[arg(long, value_name = "BOARD [PIECE]", allow_hyphen_values = true, conflicts_with_all = ["number", "turn", "part", "from_first"], help_heading = "Game", hide_short_help = true)]
    start: Option<String>,

    /// An option of a game that is a program, with --start; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = games::option, conflicts_with_all = ["number", "turn", "part", "from_first"], help_heading = "Game", hide_short_help = true)]
    game_option: Vec<(String, String)>,

    #[command(flatten)]
    set: SetOptions,

    /// Wait for Enter before the first line is sent, until a debugger is attached
    #[arg(long)]
    wait: bool,

    /// What `REFEREE_MOVE_TIME` says; no clock runs [default: as in the game, else 10s]
    #[arg(long, value_name = "TIME", value_parser = values::move_time, help_heading = "Time")]
    move_time: Option<MoveTime>,

    #[command(flatten)]
    asked: AskedBotOptions,
}

impl Args {
    /// As it was typed.
    fn game(&self) -> GameOptions {
        GameOptions {
            game: self.asked.game.game.clone(),
            game_option: self.game_option.clone(),
            set: self.set.clone(),
        }
    }
}

struct Task {
    game: DebuggedGame,
    /// The bot.
    seat: Seat,
    seed: u32,
    /// Kept while it may be read.
    _pieces: PiecesFile,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let (file, text) = match &args.second {
        Some(bot) => (Some(Path::new(&args.first)), bot),
        None => (None, &args.first),
    };
    if file.is_some() && !args.game_option.is_empty() {
        bail!(
            "--game-option is for a position without a record, which says the options of its game; leave it out"
        );
    }
    if file.is_some() && args.start.is_some() {
        bail!("--start is for a position without a record; leave out either it or FILE");
    }
    let program = recorded::program(text, "debugged", &args.asked.sandbox, &args.game().typed())?;
    let confined = args.asked.sandbox.clone().or_none().confine(&program)?;
    let task = match file {
        Some(file) => of_record(args, file, &program, &confined)?,
        None => of_position(args, confined)?,
    };
    let name = escape_controls(&program.name);
    let tap = Arc::new(move |line: &str| print_bot_line(&name, line));
    let seat = task.seat.with_tap(Some(tap));
    let runner = Rc::new(GameRunner::new(Arc::clone(&task.game.ruleset), false)?);
    let effort = Effort::Time(args.asked.time_per_move);
    let analyst = Analyst::new(effort, solver::SolverOptions::default(), &Arc::default());
    let appraiser = analyst.appraiser(&*task.game.ruleset);
    let examiner = Examiner::new(&runner, seat, task.seed, Examiner::NO_LIMIT);
    let terminal = Terminal::new(palette(&io::stdout()))?;
    let session = DebugSession::new(task.game, examiner, appraiser, terminal);
    let mut session = session.waiting(args.wait);
    examine(async move { Ok(session.run().await?) })
}

fn of_record(args: &Args, file: &Path, program: &Program, confined: &Program) -> Result<Task> {
    let (rules, several) = (&args.asked.game, "; choose one with --number N");
    check_not_stdin(
        &[file.to_owned()],
        "commands are read from standard input, so the game needs",
    )?;
    let recorded = Recorded::read(file, args.number.as_ref(), rules, several)?;
    let by = recorded.part(program, args.asked.part.as_deref())?;
    let own = recorded.questions(by)?;
    let (stop, turns) = recorded.stop(by, &own, args.turn)?;
    let mut questions = Vec::new();
    if args.from_first {
        for (game, asked) in recorded.earlier(by, rules)? {
            let place = |question: &Question| format!("game {game}, turn {}", question.turn);
            questions.extend(asked.into_iter().map(|asked| (place(&asked), asked)));
        }
    }
    let earlier = questions.len();
    questions.extend(
        own.into_iter()
            .map(|own| (format!("turn {}", own.turn), own)),
    );
    if recorded.process(by).is_none() && (args.asked.seed.is_none() || args.move_time.is_none()) {
        note!(
            "the record does not say with which seed and time for a move its process was started; --seed and \
             --move-time do"
        );
    }
    if let Some(since) = recorded.since(by)
        && !args.from_first
    {
        note!(
            "its process had played other games before, since {}; with --from-first it is sent those lines, too",
            escape_controls(since)
        );
    }
    let pieces = recorded.pieces()?;
    let seat = recorded.seat(by, confined, &pieces, args.move_time);
    let heading = recorded.heading(by, program);
    let seed = recorded.seed(by, args.asked.seed);
    let game = DebuggedGame {
        heading: format!("{heading}\nThe bot's turns: {turns}\n"),
        questions,
        earlier,
        stop: earlier + stop,
        result: Some(recorded.record.result_line()),
        forfeit: forfeit_of(&recorded.record, by),
        ruleset: recorded.ruleset,
    };
    Ok(Task {
        game,
        seat,
        seed,
        _pieces: pieces,
    })
}

/// `illegal-move: it answered …`
fn forfeit_of(record: &Record, bot: BotIndex) -> Option<String> {
    let result = &record.result;
    let detail = result.detail.as_ref().filter(|_| result.by == Some(bot))?;
    Some(format!("{}: {detail}", result.reason.name()))
}

/// About the position of `--start`.
fn of_position(args: &Args, program: Program) -> Result<Task> {
    if args.number.is_some() || args.turn.is_some() || args.asked.part.is_some() || args.from_first
    {
        bail!(
            "--number, --turn, --as and --from-first are for a recorded game; name its file before the bot: referee debug FILE BOT"
        );
    }
    let game = args.game();
    let ruleset = game.ruleset()?;
    let pieces = game.pieces_file(&*ruleset)?;
    let question = Question {
        turn: 1,
        line: PlayedLine::at(start_of(&*ruleset, args.start.as_ref())?),
        answered: None,
    };
    let mut time = TimeControl::default();
    if let Some(MoveTime(given)) = args.move_time {
        time.move_time = given;
    }
    let seat = Seat::program(&*ruleset, pieces.path(), program, time);
    let game = DebuggedGame {
        ruleset,
        heading: String::new(),
        questions: vec![("turn 1".to_owned(), question)],
        earlier: 0,
        stop: 0,
        result: None,
        forfeit: None,
    };
    Ok(Task {
        game,
        seat,
        seed: args.asked.seed.unwrap_or(0),
        _pieces: pieces,
    })
}
