//! Steps through the questions of a recorded game with a bot of now, while a debugger may hold it.

use std::fmt::Write as _;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use referee_games::game::{Game, Mood, Outcome, Rejection, RequestError, Ruleset};
use referee_games::solver::Value;
use referee_match::analysis::appraisal::Appraiser;
use referee_match::bot::human::{Console, Typed};
use referee_match::play::examiner::{Asked, Examiner, ImpossibleLine, PlayedLine, Question};
use referee_match::play::game_runner::GameError;
use referee_text::{counted, escape_controls, format_duration};

/// What a person types, for the help.
pub const COMMANDS: &str = "  next         go on to the next question of the recorded game
  solver       play the bot's answer, and the opponent's turn perfectly; ask again
  hand [TURN]  play the bot's answer, and this turn of the opponent, such as \"6 A\"; ask again
  show         the position and the answers once more
  again        ask the same question again, in a fresh process
  help, quit
";

/// Of the best turns, so many are listed.
const SHOWN_TURNS: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum DebugError {
    #[error(transparent)]
    Game(#[from] GameError),
    /// Of the console, or of stopping the bot.
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Line(#[from] ImpossibleLine),
    /// The solver does not play on from there.
    #[error(transparent)]
    Solver(#[from] RequestError),
    /// An answer that cannot be judged.
    #[error("{0}")]
    Turn(Rejection),
    #[error("interrupted")]
    Interrupted,
}

type Result<T> = std::result::Result<T, DebugError>;

/// What is stepped through.
#[derive(Debug)]
pub struct DebuggedGame {
    pub ruleset: Arc<dyn Ruleset>,
    /// For people; empty without a record.
    pub heading: String,
    /// Each with its place, for people: what its process was asked in earlier games, then what is stepped through.
    pub questions: Vec<(String, Question)>,
    /// How many of them are of earlier games.
    pub earlier: usize,
    /// The index of the question after which a person types.
    pub stop: usize,
    /// Of the recorded game, a sentence; `None` without a record.
    pub result: Option<String>,
    /// How the bot forfeited the recorded game, if it did.
    pub forfeit: Option<String>,
}

/// Plays perfectly, without a clock.
const PERFECT: &str = "perfect?slips=0";

/// Asks a bot the questions of a recorded game, or about a position, and goes on from there as a person types.
pub struct DebugSession<C> {
    game: DebuggedGame,
    examiner: Examiner,
    appraiser: Option<Appraiser>,
    console: C,
    /// A fresh process is sent nothing before Enter is pressed.
    waits: bool,
    /// The last question; `None` once the recorded game was left.
    at: Option<usize>,
    line: PlayedLine,
    answer: Option<Asked>,
    /// After the answer, or after the turn in reply.
    is_over: bool,
}

impl<C: Console> DebugSession<C> {
    /// `examiner`: of the bot. Without an appraiser no answer is judged.
    pub fn new(
        game: DebuggedGame,
        examiner: Examiner,
        appraiser: Option<Appraiser>,
        console: C,
    ) -> Self {
        Self {
            game,
            examiner,
            appraiser,
            console,
            waits: false,
            at: None,
            line: PlayedLine::default(),
            answer: None,
            is_over: false,
        }
    }

    /// Waits for Enter before anything is sent to a fresh process: until a debugger is attached.
    #[must_use]
    pub fn waiting(mut self, waits: bool) -> Self {
        self.waits = waits;
        self
    }

    /// To the end of the input, or until the person quits.
    pub async fn run(&mut self) -> Result<()> {
        self.say(&self.game.heading.clone())?;
        self.fresh().await?;
        for index in 0..=self.game.stop {
            self.ask_recorded(index).await?;
            if matches!(self.answer, Some(Err(_))) && index >= self.game.earlier {
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
        Ok(self.console.show(text)?)
    }

    /// `None` at the end of the input.
    async fn typed(&mut self, prompt: &str) -> Result<Option<String>> {
        match self.console.prompt(prompt)?.await? {
            Typed::Line(text) => Ok(Some(text)),
            Typed::End => Ok(None),
            Typed::Interrupted => Err(DebugError::Interrupted),
        }
    }

    async fn fresh(&mut self) -> Result<()> {
        self.examiner.start().await?;
        let id = self.examiner.seat.process_id().unwrap_or(0);
        self.say(&format!("Process {id} has been started.\n"))?;
        if self.waits {
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
        let (place, question) = self.game.questions[index].clone();
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
        match (self.at, &self.game.result) {
            (Some(at), _) if at + 1 < self.game.questions.len() => {
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
        let second = Duration::from_secs(1);
        let Some(mut perfect) = self.game.ruleset.builtin_bot(PERFECT, 0, second) else {
            return self.say("There is no solver for this game; hand plays the opponent's turn.\n");
        };
        let Some(line) = self.after_answer()? else {
            return Ok(());
        };
        let turn = perfect(&self.request(&line)?);
        self.reply(&line, &turn?).await
    }

    async fn hand(&mut self, mut turn: String) -> Result<()> {
        let Some(line) = self.after_answer()? else {
            return Ok(());
        };
        if turn.is_empty() {
            let picture = self.session(&line)?.picture(None);
            self.console.draw(&picture)?;
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
        Ok(line.position(&*self.game.ruleset)?)
    }

    fn request(&self, line: &PlayedLine) -> Result<String> {
        Ok(line.request(&*self.game.ruleset)?)
    }

    fn show(&mut self) -> Result<()> {
        let request = self.request(&self.line)?;
        let picture = self.session(&self.line)?.picture(None);
        let questions = &self.game.questions;
        let recorded = self.at.filter(|_| self.game.result.is_some());
        let forfeit = self.game.forfeit.as_deref();
        let forfeit = forfeit.filter(|_| self.at.is_some_and(|index| index >= self.game.earlier));
        let forfeit = forfeit.map_or("it forfeited".to_owned(), escape_controls);
        let recorded = recorded.map(|index| questions[index].1.clone());
        let title = recorded.as_ref().map_or_else(String::new, |question| {
            let of = questions.last().map_or(0, |(_, last)| last.turn);
            format!("Turn {} (its last was {of})\n", question.turn)
        });
        self.say(&format!("\n{title}"))?;
        self.console.draw(&picture)?;
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
        let turn = before.after(turn).map_err(DebugError::Turn)?;
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
