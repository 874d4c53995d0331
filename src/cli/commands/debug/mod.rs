//! `referee debug [FILE] BOT`: asks a bot the questions of a recorded game again, and waits after one of them.

mod dialogue;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use self::dialogue::{Dialogue, Opening};
use crate::analysis::appraisal::Appraiser;
use crate::bot::orphans;
use crate::bot::spec::{BotSpec, Program};
use crate::cli::support::console::Terminal;
use crate::cli::support::failure::Failure;
use crate::cli::support::folder::GameChoice;
use crate::cli::support::games::{self, SetOptions};
use crate::cli::support::output::{print_bot_line, print_stderr};
use crate::cli::support::recorded::{self, AskedBotOptions, Recorded, RecordedRules};
use crate::cli::support::runtime::{end_orphans, runtime, until_interrupted};
use crate::cli::support::setup::{PiecesFile, palette};
use crate::cli::support::signals;
use crate::cli::support::values::{self, MoveTime};
use crate::play::TimeControl;
use crate::play::questions::{Conversation, Line, Question};
use crate::play::seat::Seat;
use crate::session::registry::{Choices, GAMES, GameInfo};
use crate::session::{Ruleset, Solvers};
use crate::solver;
use crate::text::{escape_controls, quote};

const AFTER_HELP: &str = "\
At the prompt, or in a file for standard input, a command a line:
  next         go on to the next question of the recorded game
  solver       play the bot's answer, and the opponent's turn perfectly; ask again
  hand [TURN]  play the bot's answer, and this turn of the opponent, such as \"6 A\"; ask again
  show         the position and the answers once more
  again        ask the same question again, in a fresh process
  help, quit

No clock runs, however long a debugger holds the bot. Without --sandbox it runs without one, since
no debugger can attach to a program in a sandbox.

Examples:
  referee debug games.jsonl --game 12 --turn 7 ./mybot
  referee debug tournament-2026-01-31-100000 --game p000012a --wait ./mybot
  referee debug --start \"A..B............ C\" ./mybot

Exit status: 0 at the end, whatever the bot answered; 2 wrong usage or input, or a bot that
cannot be started; 1 the referee itself failed; 130 interrupted.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, override_usage = "referee debug [OPTIONS] FILE BOT\n       referee debug [OPTIONS] [--start \"BOARD PIECE\"] BOT")]
pub(in crate::cli) struct Args {
    /// A file of records, or the folder of a tournament; left out, the bot is asked about the position of --start
    #[arg(value_name = "FILE")]
    first: String,

    /// The bot: a file, a command line or builtin:NAME
    #[arg(value_name = "BOT")]
    second: Option<String>,

    /// The game: 1 for the first of the file, or its id, such as p000012a
    #[arg(long, value_name = "N|ID")]
    game: Option<GameChoice>,

    /// Stop after this turn, which the bot made [default: the one at which it forfeited, or else its first]
    #[arg(long, value_name = "N", value_parser = values::at_least::<usize>(1), allow_negative_numbers = true)]
    turn: Option<usize>,

    /// Before the game, also send what its process was sent in earlier games of the file
    #[arg(hide_short_help = true, long)]
    from_first: bool,

    /// The position, as the protocol writes it; 42 cells are one of Four In A Row; with --game-program a state of that game
    #[arg(long, value_name = "BOARD [PIECE]", allow_hyphen_values = true, conflicts_with_all = ["game", "turn", "part", "from_first"])]
    start: Option<String>,

    #[command(flatten)]
    set: SetOptions,

    /// Wait for Enter before the first line is sent, until a debugger is attached
    #[arg(hide_short_help = true, long)]
    wait: bool,

    /// What `REFEREE_MOVE_TIME` says; no clock runs [default: as in the game, else 10s]
    #[arg(long, value_name = "TIME", value_parser = values::move_time)]
    move_time: Option<MoveTime>,

    #[command(flatten)]
    asked: AskedBotOptions,
}

struct Task {
    ruleset: Arc<dyn Ruleset>,
    questions: Vec<Question>,
    opening: Opening,
    pieces: Option<PiecesFile>,
    appraiser: Option<Appraiser>,
    seed: u32,
    time: TimeControl,
    environment: Vec<(String, String)>,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let (file, text) = match &args.second {
        Some(bot) => (Some(Path::new(&args.first)), bot),
        None => (None, &args.first),
    };
    if file.is_some() && args.start.is_some() {
        return Err(Failure::Usage(
            "--start is for a position without a record; leave out either it or FILE".to_owned(),
        ));
    }
    let program = recorded::program(text, "debugged")?;
    let task = match file {
        Some(file) => of_record(args, file, &program)?,
        None => of_position(args)?,
    };
    let spec = [BotSpec::Program(program)];
    let sandboxes = args.asked.sandbox.clone().or_none().of_bots(&spec)?;
    let [BotSpec::Program(program)] = sandboxes.confine(&spec)? else {
        return Err(Failure::Referee("the bot is no program".to_owned()));
    };
    talk(args, task, program)
}

fn talk(args: &Args, task: Task, program: Program) -> Result<(), Failure> {
    let terminal = Terminal::new(palette(&io::stdout()))?;
    let name = escape_controls(&program.name);
    let pieces = task.pieces.as_ref().map(PiecesFile::path);
    let seat = Seat::program(&*task.ruleset, pieces, program, task.time)
        .with_environment(task.environment)
        .with_tap(Arc::new(move |line| print_bot_line(&name, line)));
    let mut dialogue = Dialogue::new(
        &*task.ruleset,
        Conversation::new(&*task.ruleset, seat, task.seed),
        task.questions,
        task.appraiser,
        terminal,
        args.wait,
    );
    let _heeded = signals::heed();
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        orphans::adopt();
        let done = until_interrupted(Box::pin(dialogue.run(task.opening))).await;
        let stopped = dialogue.stop().await;
        end_orphans();
        done?;
        stopped?;
        Ok::<_, Failure>(())
    });
    // A thread may be blocked reading the keyboard.
    runtime.shutdown_background();
    done
}

fn of_record(args: &Args, file: &Path, program: &Program) -> Result<Task, Failure> {
    let rules = RecordedRules::new(&args.asked.game_program);
    let recorded = Recorded::read(
        file,
        args.game.as_ref(),
        &rules,
        "; choose one with --game N",
    )?;
    let by = recorded.part(program, args.asked.part.as_deref())?;
    let questions = recorded.questions(by)?;
    let (stop, turns) = recorded.stop(by, &questions, args.turn)?;
    let earlier = if args.from_first {
        recorded.earlier(by, &rules)?
    } else {
        Vec::new()
    };
    let record = &recorded.record;
    if recorded.process(by).is_none() && (args.asked.seed.is_none() || args.move_time.is_none()) {
        print_stderr(
            "referee: the record does not say with which seed and time for a move its process was started; --seed and \
             --move-time do",
        );
    }
    if let Some(since) = recorded.since(by)
        && !args.from_first
    {
        print_stderr(&format!(
            "referee: its process had played other games before, since {}; with --from-first it is sent those lines, too",
            escape_controls(since)
        ));
    }
    let ruleset = Arc::clone(&recorded.ruleset);
    let solvers = Solvers::new(solver::Options::default());
    let appraiser = Appraiser::new(&*ruleset, &solvers, args.asked.time_per_move);
    Ok(Task {
        pieces: recorded.pieces()?,
        seed: recorded.seed(by, args.asked.seed),
        time: TimeControl {
            move_time: recorded.move_time(by, args.move_time),
            ..TimeControl::default()
        },
        environment: recorded.environment(by),
        opening: Opening {
            heading: recorded.heading(by, program),
            stop,
            turns,
            earlier,
            result: Some(record.result_line()),
        },
        ruleset,
        questions,
        appraiser,
    })
}

/// About the position of `--start`.
fn of_position(args: &Args) -> Result<Task, Failure> {
    if args.game.is_some() || args.turn.is_some() || args.asked.part.is_some() || args.from_first {
        return Err(Failure::Usage(
            "--game, --turn, --as and --from-first are for a recorded game; name its file before the bot: referee debug FILE BOT"
                .to_owned(),
        ));
    }
    if let Some(text) = &args.asked.game_program.game_program {
        return of_state(args, text);
    }
    let given = args.start.as_deref();
    let cells = given.and_then(|text| {
        text.split([' ', '\t'])
            .map(|word| word.chars().count())
            .max()
    });
    let is_of = |game: &&GameInfo| {
        let mut board = String::new();
        game.ruleset(Choices::default())
            .start()
            .write_board(&mut board);
        Some(board.chars().count()) == cells
    };
    let game = GAMES.iter().find(is_of).unwrap_or(&GAMES[0]);
    let ruleset = game.ruleset(args.set.choices()?);
    Ok(Task {
        pieces: args.set.file(&*ruleset)?,
        ..at_start(args, ruleset)?
    })
}

/// About a state of a game that is a program.
fn of_state(args: &Args, program: &str) -> Result<Task, Failure> {
    if !args.set.is_default() {
        return Err(Failure::Usage(
            "--pieces and --rules are for Quarto; leave them out, or --game-program".to_owned(),
        ));
    }
    let game = games::program("--game-program", program, BTreeMap::new())?;
    at_start(args, Arc::new(game))
}

fn at_start(args: &Args, ruleset: Arc<dyn Ruleset>) -> Result<Task, Failure> {
    let mut start = String::new();
    match &args.start {
        None => ruleset.start(),
        Some(text) => ruleset.start_from(text).map_err(|problem| {
            let text = quote(text.as_bytes());
            Failure::Usage(format!("--start {text}: {problem}"))
        })?,
    }
    .write_start(&mut start);
    let solvers = Solvers::new(solver::Options::default());
    let appraiser = Appraiser::new(&*ruleset, &solvers, args.asked.time_per_move);
    let move_time = args
        .move_time
        .map_or(TimeControl::default().move_time, |MoveTime(time)| time);
    Ok(Task {
        ruleset,
        questions: vec![Question {
            turn: 1,
            line: Line {
                start,
                turns: Vec::new(),
            },
            answered: None,
        }],
        opening: Opening::default(),
        pieces: None,
        appraiser,
        seed: args.asked.seed.unwrap_or(0),
        time: TimeControl {
            move_time,
            ..TimeControl::default()
        },
        environment: Vec::new(),
    })
}
