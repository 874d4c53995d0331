//! `referee debug [FILE] BOT`: asks a bot the questions of a recorded game again, and waits after one of them.

mod dialogue;

use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use self::dialogue::{Dialogue, Script};
use crate::analysis::{Analyst, Effort};
use crate::bot::spec::Program;
use crate::cli::support::console::Terminal;
use crate::cli::support::folder::GameChoice;
use crate::cli::support::games::{GameOptions, SetOptions, start_of};
use crate::cli::support::output::print_bot_line;
use crate::cli::support::prelude::*;
use crate::cli::support::recorded::{self, AskedBotOptions, Recorded, RecordedRules};
use crate::cli::support::runtime::examine;
use crate::cli::support::setup::PiecesFile;
use crate::cli::support::values::{self, MoveTime};
use crate::game::Game;
use crate::play::TimeControl;
use crate::play::examiner::{Examiner, Line, Question};
use crate::play::game_runner::GameRunner;
use crate::play::seat::Seat;
use crate::solver;
use crate::text::escape_controls;

/// At the prompt.
const COMMANDS: &str = "  next         go on to the next question of the recorded game
  solver       play the bot's answer, and the opponent's turn perfectly; ask again
  hand [TURN]  play the bot's answer, and this turn of the opponent, such as \"6 A\"; ask again
  show         the position and the answers once more
  again        ask the same question again, in a fresh process
  help, quit
";

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
#[command(after_help = after_help(), override_usage = "referee debug [OPTIONS] FILE BOT\n       referee debug [OPTIONS] [--start \"BOARD PIECE\"] BOT")]
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
    #[arg(long)]
    from_first: bool,

    /// The position, as the protocol writes it, of the game of --game [default: quarto]
    #[arg(long, value_name = "BOARD [PIECE]", allow_hyphen_values = true, conflicts_with_all = ["number", "turn", "part", "from_first"])]
    start: Option<String>,

    #[command(flatten)]
    set: SetOptions,

    /// Wait for Enter before the first line is sent, until a debugger is attached
    #[arg(long)]
    wait: bool,

    /// What `REFEREE_MOVE_TIME` says; no clock runs [default: as in the game, else 10s]
    #[arg(long, value_name = "TIME", value_parser = values::move_time)]
    move_time: Option<MoveTime>,

    #[command(flatten)]
    asked: AskedBotOptions,
}

struct Task {
    ruleset: Arc<dyn Game>,
    script: Script,
    seat: Seat,
    seed: u32,
    /// Kept while it may be read.
    _pieces: Option<PiecesFile>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (file, text) = match &args.second {
        Some(bot) => (Some(Path::new(&args.first)), bot),
        None => (None, &args.first),
    };
    if file.is_some() && args.start.is_some() {
        bail!("--start is for a position without a record; leave out either it or FILE");
    }
    let program = recorded::program(text, "debugged")?;
    let confined = args.asked.sandbox.clone().or_none().confine(&program)?;
    let task = match file {
        Some(file) => of_record(args, file, &program, &confined)?,
        None => of_position(args, confined)?,
    };
    let ruleset = &*task.ruleset;
    let name = escape_controls(&program.name);
    let tap = Arc::new(move |line: &str| print_bot_line(&name, line));
    let seat = task.seat.with_tap(Some(tap));
    let runner = Rc::new(GameRunner::new(Arc::clone(&task.ruleset), false)?);
    let effort = Effort::Time(args.asked.time_per_move);
    let analyst = Analyst::new(effort, solver::Options::default(), &Arc::default());
    let terminal = Terminal::new(palette(&io::stdout()))?;
    examine(async move {
        let mut dialogue = Dialogue {
            ruleset,
            examiner: Examiner::new(&runner, seat, task.seed, Examiner::NO_LIMIT),
            script: task.script,
            appraiser: analyst.appraiser(ruleset),
            terminal,
            wait: args.wait,
            at: None,
            line: Line::default(),
            answer: None,
            is_over: false,
        };
        dialogue.run().await
    })
}

fn of_record(
    args: &Args,
    file: &Path,
    program: &Program,
    confined: &Program,
) -> Result<Task, Failure> {
    let rules = RecordedRules::new(&args.asked.game);
    let recorded = Recorded::read(
        file,
        args.number.as_ref(),
        &rules,
        "; choose one with --number N",
    )?;
    let by = recorded.part(program, args.asked.part.as_deref())?;
    let own = recorded.questions(by)?;
    let (stop, turns) = recorded.stop(by, &own, args.turn)?;
    let mut questions = Vec::new();
    if args.from_first {
        for (game, asked) in recorded.earlier(by, &rules)? {
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
    Ok(Task {
        seat: recorded.seat(by, confined, pieces.as_ref(), args.move_time),
        seed: recorded.seed(by, args.asked.seed),
        _pieces: pieces,
        script: Script {
            heading: format!(
                "{}\nThe bot's turns: {turns}\n",
                recorded.heading(by, program)
            ),
            questions,
            earlier,
            stop: earlier + stop,
            result: Some(recorded.record.result_line()),
        },
        ruleset: recorded.ruleset,
    })
}

/// About the position of `--start`.
fn of_position(args: &Args, program: Program) -> Result<Task, Failure> {
    if args.number.is_some() || args.turn.is_some() || args.asked.part.is_some() || args.from_first
    {
        bail!(
            "--number, --turn, --as and --from-first are for a recorded game; name its file before the bot: referee debug FILE BOT"
        );
    }
    let game = GameOptions {
        game: args.asked.game.game.clone(),
        set: args.set.clone(),
        ..GameOptions::default()
    };
    let ruleset = game.ruleset()?;
    let pieces = game.pieces_file(&*ruleset)?;
    let start = start_of(&*ruleset, args.start.as_ref())?;
    let line = Line {
        start,
        ..Line::default()
    };
    let question = Question {
        turn: 1,
        line,
        answered: None,
    };
    let mut time = TimeControl::default();
    if let Some(MoveTime(given)) = args.move_time {
        time.move_time = given;
    }
    let path = pieces.as_ref().map(PiecesFile::path);
    Ok(Task {
        seat: Seat::program(&*ruleset, path, program, time),
        ruleset,
        script: Script {
            heading: String::new(),
            questions: vec![("turn 1".to_owned(), question)],
            earlier: 0,
            stop: 0,
            result: None,
        },
        seed: args.asked.seed.unwrap_or(0),
        _pieces: pieces,
    })
}
