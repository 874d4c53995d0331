use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use crate::cli::support::console::Terminal;
use crate::cli::support::failure::{Failure, Result, bail, usage};
use crate::cli::support::folder::{GameChoice, check_not_stdin};
use crate::cli::support::games::{self, GameOptions, SetOptions, start_of};
use crate::cli::support::output::{note, print_bot_line};
use crate::cli::support::recorded::{self, AskedBotOptions, Recorded};
use crate::cli::support::runtime::examine;
use crate::cli::support::setup::{PiecesFile, palette};
use crate::cli::support::values::{self, MoveTime};
use referee::analysis::appraisal::Appraiser;
use referee::analysis::{Analyst, Effort};
use referee::bot::human::{Console as _, Typed};
use referee::bot::spec::Program;
use referee::game::{Game, Mood, Outcome, Ruleset};
use referee::play::TimeControl;
use referee::play::examiner::{Asked, Examiner, PlayedLine, Question};
use referee::play::game_runner::GameRunner;
use referee::play::seat::Seat;
use referee::record::{BotIndex, Record};
use referee::solver::{self, Value};
use referee::text::{counted, escape_controls, format_duration};

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
    ruleset: Arc<dyn Ruleset>,
    seed: u32,
    /// Kept while it may be read.
    _pieces: PiecesFile,
    /// For people; empty without a record.
    heading: String,
    /// Each with its place, for people: what its process was asked in earlier games, then what is stepped through.
    questions: Vec<(String, Question)>,
    earlier: usize,
    stop: usize,
    result: Option<String>,
    /// How the bot forfeited the recorded game, if it did.
    forfeit: Option<String>,
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
    let (task, seat) = match file {
        Some(file) => of_record(args, file, &program, &confined)?,
        None => of_position(args, confined)?,
    };
    let name = escape_controls(&program.name);
    let tap = Arc::new(move |line: &str| print_bot_line(&name, line));
    let seat = seat.with_tap(Some(tap));
    let runner = Rc::new(GameRunner::new(Arc::clone(&task.ruleset), false)?);
    let effort = Effort::Time(args.asked.time_per_move);
    let analyst = Analyst::new(effort, solver::SolverOptions::default(), &Arc::default());
    let mut dialogue = Dialogue {
        examiner: Examiner::new(&runner, seat, task.seed, Examiner::NO_LIMIT),
        appraiser: analyst.appraiser(&*task.ruleset),
        task,
        terminal: Terminal::new(palette(&io::stdout()))?,
        wait: args.wait,
        at: None,
        line: PlayedLine::default(),
        answer: None,
        is_over: false,
    };
    examine(async move { dialogue.run().await })
}

fn of_record(
    args: &Args,
    file: &Path,
    program: &Program,
    confined: &Program,
) -> Result<(Task, Seat)> {
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
    let task = Task {
        seed: recorded.seed(by, args.asked.seed),
        _pieces: pieces,
        heading: format!("{heading}\nThe bot's turns: {turns}\n"),
        questions,
        earlier,
        stop: earlier + stop,
        result: Some(recorded.record.result_line()),
        forfeit: forfeit_of(&recorded.record, by),
        ruleset: recorded.ruleset,
    };
    Ok((task, seat))
}

/// `illegal-move: it answered …`
fn forfeit_of(record: &Record, bot: BotIndex) -> Option<String> {
    let result = &record.result;
    let detail = result.detail.as_ref().filter(|_| result.by == Some(bot))?;
    Some(format!("{}: {detail}", result.reason.name()))
}

/// About the position of `--start`.
fn of_position(args: &Args, program: Program) -> Result<(Task, Seat)> {
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
    let task = Task {
        ruleset,
        heading: String::new(),
        questions: vec![("turn 1".to_owned(), question)],
        earlier: 0,
        stop: 0,
        result: None,
        forfeit: None,
        seed: args.asked.seed.unwrap_or(0),
        _pieces: pieces,
    };
    Ok((task, seat))
}

/// Plays perfectly, without a clock.
const PERFECT: &str = "perfect?slips=0";

struct Dialogue {
    task: Task,
    examiner: Examiner,
    appraiser: Option<Appraiser>,
    terminal: Terminal,
    /// A fresh process is sent nothing before Enter is pressed.
    wait: bool,
    /// The last question; `None` once the recorded game was left.
    at: Option<usize>,
    line: PlayedLine,
    answer: Option<Asked>,
    /// After the answer, or after the turn in reply.
    is_over: bool,
}

impl Dialogue {
    async fn run(&mut self) -> Result<()> {
        self.say(&self.task.heading.clone())?;
        self.fresh().await?;
        for index in 0..=self.task.stop {
            self.ask_recorded(index).await?;
            if matches!(self.answer, Some(Err(_))) && index >= self.task.earlier {
                break;
            }
        }
        self.show()?;
        while let Some(text) = self.typed("(debug) ").await? {
            let text = text.trim();
            let (word, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
            match (word, rest.trim()) {
                ("", _) => {}
                ("next" | "n", "") => self.next().await?,
                ("solver" | "s", "") => self.solver().await?,
                ("hand" | "h", turn) => self.hand(turn.to_owned()).await?,
                ("show", "") => self.show()?,
                ("again" | "a", "") => self.again().await?,
                ("help" | "?", _) => self.say(COMMANDS)?,
                ("quit" | "exit" | "q", "") => break,
                _ => {
                    let text = escape_controls(text);
                    self.say(&format!(
                        "There is no command {text}. The commands are:\n{COMMANDS}"
                    ))?;
                }
            }
        }
        Ok(self.examiner.stop().await?)
    }

    fn say(&mut self, text: &str) -> Result<()> {
        Ok(self.terminal.show(text)?)
    }

    /// `None` at the end of the input.
    async fn typed(&mut self, prompt: &str) -> Result<Option<String>> {
        match self.terminal.prompt(prompt)?.await? {
            Typed::Line(text) => Ok(Some(text)),
            Typed::End => Ok(None),
            Typed::Interrupted => Err(Failure::Interrupted),
        }
    }

    async fn fresh(&mut self) -> Result<()> {
        self.examiner.start().await?;
        let id = self.examiner.seat.process_id().unwrap_or(0);
        self.say(&format!("Process {id} has been started.\n"))?;
        if self.wait {
            let prompt = "Attach a debugger, then press Enter. ";
            self.typed(prompt).await?;
        }
        Ok(())
    }

    async fn ask(&mut self, line: PlayedLine) -> Result<()> {
        if !self.examiner.is_running() {
            self.fresh().await?;
        }
        self.answer = Some(self.examiner.ask(&line).await?);
        self.at = None;
        self.is_over = false;
        self.line = line;
        Ok(())
    }

    async fn ask_recorded(&mut self, index: usize) -> Result<()> {
        let (place, question) = self.task.questions[index].clone();
        self.ask(question.line).await?;
        self.at = Some(index);
        let (Some(then), Some(answer)) = (question.answered, &self.answer) else {
            return Ok(());
        };
        let now = match answer {
            Ok(answer) if answer.turn == *then => return Ok(()),
            Ok(answer) => escape_controls(&answer.turn),
            Err(fault) => fault.fault.reason().to_string(),
        };
        let then = escape_controls(&then);
        self.say(&format!(
            "At {place} it departs: then {then}, now {now}. The recorded game goes on.\n"
        ))
    }

    async fn next(&mut self) -> Result<()> {
        match (self.at, &self.task.result) {
            (Some(at), _) if at + 1 < self.task.questions.len() => {
                self.ask_recorded(at + 1).await?;
                self.show()
            }
            (Some(_), Some(result)) => self.say(&format!(
                "That was its last question of the game: {}\n",
                escape_controls(result)
            )),
            (None, Some(_)) => {
                self.say("The recorded game has been left; solver and hand go on from here.\n")
            }
            (_, None) => self.say("There is no recorded game; solver and hand go on from here.\n"),
        }
    }

    /// A fresh process is first asked everything before.
    async fn again(&mut self) -> Result<()> {
        let lines = self.examiner.asked().to_vec();
        self.fresh().await?;
        for line in lines.split_last().map_or(&[][..], |(_, before)| before) {
            if let Err(fault) = self.examiner.ask(line).await? {
                let (request, fault) = (&fault.request, &fault.fault);
                self.say(&format!("It fails on its way, at {request}: {fault}\n"))?;
                self.fresh().await?;
            }
        }
        self.answer = Some(self.examiner.ask(&self.line).await?);
        self.is_over = false;
        self.show()
    }

    fn after_answer(&mut self) -> Result<Option<PlayedLine>> {
        if self.is_over {
            self.say("The game is over.\n")?;
            return Ok(None);
        }
        let Some(Ok(answer)) = &self.answer else {
            self.say("The bot has made no turn; again asks it once more.\n")?;
            return Ok(None);
        };
        let line = self.line.then(&answer.turn);
        Ok((!self.ends(&line)?).then_some(line))
    }

    fn ends(&mut self, line: &PlayedLine) -> Result<bool> {
        let asked = self.session(&self.line)?.to_move();
        let session = self.session(line)?;
        let text = match session.outcome() {
            None => return Ok(false),
            Some(Outcome::Draw) => "The game ends in a draw.\n".to_owned(),
            Some(Outcome::Win(side)) => {
                let verb = if side == asked { "wins" } else { "loses" };
                let lines = session.winning_lines();
                let lines: Vec<String> = lines.iter().map(|(a, b)| format!("{a} {b}")).collect();
                format!("The bot {verb}: {}.\n", escape_controls(&lines.join(", ")))
            }
        };
        self.is_over = true;
        self.say(&text)?;
        Ok(true)
    }

    async fn solver(&mut self) -> Result<()> {
        let second = std::time::Duration::from_secs(1);
        let Some(mut perfect) = self.task.ruleset.builtin_bot(PERFECT, 0, second) else {
            return self.say("There is no solver for this game; hand plays the opponent's turn.\n");
        };
        let Some(line) = self.after_answer()? else {
            return Ok(());
        };
        let turn = perfect(&self.request(&line)?);
        let turn = turn.map_err(|error| usage!("{error}"))?;
        self.reply(&line, &turn).await
    }

    async fn hand(&mut self, mut turn: String) -> Result<()> {
        let Some(line) = self.after_answer()? else {
            return Ok(());
        };
        if turn.is_empty() {
            let picture = self.session(&line)?.picture(None);
            self.terminal.draw(&picture)?;
            let prompt = format!("The opponent is asked {}: ", self.request(&line)?);
            let Some(typed) = self.typed(&prompt).await? else {
                return Ok(());
            };
            typed.trim().clone_into(&mut turn);
        }
        let mut canonical = String::new();
        let played = self.session(&line)?.play(&turn, &mut canonical);
        if let Err(rejection) = played {
            // Without the hint, which is for the author of a program.
            return self.say(&format!("{}\n", escape_controls(&rejection.problem)));
        }
        self.reply(&line, &canonical).await
    }

    async fn reply(&mut self, line: &PlayedLine, turn: &str) -> Result<()> {
        let after = line.then(turn);
        let words = self.session(&after)?.describe_last_turn(Mood::Told);
        let (words, turn) = (escape_controls(&words), escape_controls(turn));
        self.say(&format!("The opponent {words}: {turn}\n"))?;
        if self.ends(&after)? {
            return Ok(());
        }
        self.ask(after).await?;
        self.show()
    }

    fn session(&self, line: &PlayedLine) -> Result<Box<dyn Game>> {
        Ok(line.position(&*self.task.ruleset)?)
    }

    fn request(&self, line: &PlayedLine) -> Result<String> {
        Ok(line.request(&*self.task.ruleset)?)
    }

    fn show(&mut self) -> Result<()> {
        let request = self.request(&self.line)?;
        let picture = self.session(&self.line)?.picture(None);
        let questions = &self.task.questions;
        let recorded = self.at.filter(|_| self.task.result.is_some());
        let forfeit = self.task.forfeit.as_deref();
        let forfeit = forfeit.filter(|_| self.at.is_some_and(|index| index >= self.task.earlier));
        let forfeit = forfeit.map_or("it forfeited".to_owned(), escape_controls);
        let recorded = recorded.map(|index| questions[index].1.clone());
        let title = recorded.as_ref().map_or_else(String::new, |question| {
            let of = questions.last().map_or(0, |(_, last)| last.turn);
            format!("Turn {} (its last was {of})\n", question.turn)
        });
        self.say(&format!("\n{title}"))?;
        self.terminal.draw(&picture)?;
        self.say(&format!("  asked  {}\n", escape_controls(&request)))?;
        let (mut now, mut time) = ("nothing".to_owned(), String::new());
        match &self.answer {
            Some(Ok(answer)) => {
                now = self.valued(&answer.turn)?;
                time = format!("  took   {}\n", format_duration(answer.time.elapsed));
            }
            Some(Err(fault)) => {
                now = format!("no legal turn: {}: {}", fault.fault.reason(), fault.fault);
            }
            None => {}
        }
        if let Some(question) = &recorded {
            let then = match (&question.answered, &self.answer) {
                (None, _) => format!("no legal turn: {forfeit}"),
                // Asked a second time, the solver would know more.
                (Some(then), Some(Ok(answer))) if **then == *answer.turn => now.clone(),
                (Some(then), _) => self.valued(then)?,
            };
            self.say(&format!("  then   {then}\n"))?;
        }
        self.say(&format!("  now    {now}\n{time}"))?;
        let best = self.best()?;
        self.say(&format!("  best   {best}\n"))
    }

    fn valued(&self, turn: &str) -> Result<String> {
        let shown = escape_controls(turn);
        let Some(appraiser) = &self.appraiser else {
            return Ok(shown);
        };
        let before = self.session(&self.line)?;
        let turn = before.after(turn);
        let turn = turn.map_err(|rejection| rejection.to_string())?;
        let value = appraiser.turn(&*before, &turn);
        Ok(format!("{shown:<6} {}", appraiser.words(value)))
    }

    fn best(&self) -> Result<String> {
        let Some(appraiser) = &self.appraiser else {
            return Ok("there is no solver for this game".to_owned());
        };
        let found = appraiser.position(&*self.session(&self.line)?);
        let value = match found.value {
            Some(Value::Loss) => return Ok("every turn loses".to_owned()),
            Some(value) if !found.best.is_empty() => value.name(),
            _ => return Ok("not proven in time; --time-per-move gives the solver more".to_owned()),
        };
        let shown = found.best.iter().take(SHOWN_TURNS);
        let shown: Vec<String> = shown.map(|turn| escape_controls(turn)).collect();
        let mut text = format!("{value}: {}", shown.join(", "));
        let more = found.best.len().saturating_sub(SHOWN_TURNS) as u64;
        if more > 0 {
            let _ = write!(text, " and {}", counted(more, "other turn", "other turns"));
        }
        if found.undecided > 0 {
            let undecided = counted(found.undecided as u64, "turn", "turns");
            let _ = write!(text, "; {undecided} not decided in time");
        }
        Ok(text)
    }
}

const SHOWN_TURNS: usize = 8;
