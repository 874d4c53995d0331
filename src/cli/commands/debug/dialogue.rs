//! The conversation at the terminal: asks the bot, shows its answers, and runs what is typed.

use std::io;

use crate::analysis::appraisal::Appraiser;
use crate::bot::human::{Console as _, Typed};
use crate::cli::support::console::Terminal;
use crate::cli::support::failure::Failure;
use crate::game::{Outcome, Rejection};
use crate::play::questions::{Answer, Conversation, Line, Question};
use crate::play::seat::StartError;
use crate::session::{BuiltinBot, BuiltinOptions, Ruleset, Session};
use crate::solver::Value;
use crate::text::{counted, escape_controls};

/// Plays perfectly, without a clock.
const PERFECT: &str = "perfect?slips=0";

const HELP: &str = "\
next         go on to the next question of the recorded game
solver       play the bot's answer, and the opponent's turn perfectly; ask again
hand [TURN]  play the bot's answer, and this turn of the opponent; ask again
show         the position and the answers once more
again        ask the same question again, in a fresh process
quit         end the bot, and leave
";

#[derive(Debug, Default)]
pub(super) struct Opening {
    pub(super) heading: String,
    /// A question's index.
    pub(super) stop: usize,
    /// For people.
    pub(super) turns: String,
    /// Of its process, with their numbers.
    pub(super) earlier: Vec<(u64, Vec<Question>)>,
    pub(super) result: Option<String>,
}

pub(super) struct Dialogue<'a> {
    ruleset: &'a dyn Ruleset,
    bot: Conversation<'a>,
    questions: Vec<Question>,
    /// The last question; `None` once the recorded game was left.
    at: Option<usize>,
    line: Line,
    answer: Option<Answer>,
    /// After the answer, or after the turn in reply.
    is_over: bool,
    appraiser: Option<Appraiser>,
    /// For the opponent; `None` without a solver.
    perfect: Option<BuiltinBot<'a>>,
    terminal: Terminal,
    wait: bool,
    result: Option<String>,
}

enum Next {
    Prompt,
    Quit,
}

impl<'a> Dialogue<'a> {
    /// `questions` are not empty. With `wait` a fresh process is sent nothing before Enter is pressed.
    pub(super) fn new(
        ruleset: &'a dyn Ruleset,
        bot: Conversation<'a>,
        questions: Vec<Question>,
        appraiser: Option<Appraiser>,
        terminal: Terminal,
        wait: bool,
    ) -> Self {
        let options = BuiltinOptions {
            seed: 0,
            move_time: std::time::Duration::from_secs(1),
        };
        Self {
            ruleset,
            bot,
            questions,
            at: None,
            line: Line::default(),
            answer: None,
            is_over: false,
            appraiser,
            perfect: ruleset.builtin_bot(PERFECT, options),
            terminal,
            wait,
            result: None,
        }
    }

    /// Asks up to the question of the opening, then reads commands until `quit` or the end of the input.
    pub(super) async fn run(&mut self, opening: Opening) -> Result<(), Failure> {
        if !opening.heading.is_empty() {
            self.say(&format!("{}\n", opening.heading))?;
            self.say(&format!("The bot's turns: {}\n", opening.turns))?;
        }
        self.result = opening.result;
        self.fresh().await?;
        for (number, questions) in opening.earlier {
            for question in questions {
                let answer = self.bot.ask(&question.line).await?;
                self.compare(
                    &format!("game {number}, turn {}", question.turn),
                    &question,
                    &answer,
                )?;
                if matches!(answer, Answer::Fault(..)) {
                    self.fresh().await?;
                }
            }
        }
        for index in 0..=opening.stop {
            self.ask_recorded(index).await?;
            if matches!(self.answer, Some(Answer::Fault(..))) {
                break;
            }
        }
        self.show()?;
        loop {
            let typed = self.terminal.prompt("(debug) ")?.await?;
            let text = match typed {
                Typed::Line(text) => text,
                Typed::End => return Ok(()),
                Typed::Interrupted => return Err(Failure::Interrupted),
            };
            if let Next::Quit = self.command(text.trim()).await? {
                return Ok(());
            }
        }
    }

    pub(super) async fn stop(&mut self) -> io::Result<()> {
        self.bot.stop().await
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        self.terminal.show(text)
    }

    async fn command(&mut self, text: &str) -> Result<Next, Failure> {
        let (word, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        match (word, rest.trim()) {
            ("", _) => {}
            ("next" | "n", "") => self.next().await?,
            ("solver" | "s", "") => self.solver().await?,
            ("hand" | "h", turn) => self.hand(turn).await?,
            ("show", "") => self.show()?,
            ("again" | "a", "") => self.again().await?,
            ("help" | "?", _) => self.say(HELP)?,
            ("quit" | "exit" | "q", "") => return Ok(Next::Quit),
            _ => {
                let text = escape_controls(text);
                self.say(&format!(
                    "There is no command {text}. The commands are:\n{HELP}"
                ))?;
            }
        }
        Ok(Next::Prompt)
    }

    /// Shows the process id, and waits for Enter if wanted.
    async fn fresh(&mut self) -> Result<(), Failure> {
        let id = self.bot.start().await.map_err(|error| match error {
            StartError::CannotStart(error) => Failure::from(error),
            StartError::Exhausted(limit) => Failure::Exhausted(limit),
        })?;
        let id = id.map_or_else(|| "unknown".to_owned(), |id| id.to_string());
        self.say(&format!("Process {id} has been started.\n"))?;
        if self.wait {
            let typing = self
                .terminal
                .prompt("Attach a debugger, then press Enter. ")?;
            if typing.await? == Typed::Interrupted {
                return Err(Failure::Interrupted);
            }
        }
        Ok(())
    }

    /// The process has been sent those before.
    async fn ask_recorded(&mut self, index: usize) -> Result<(), Failure> {
        let question = self.questions[index].clone();
        self.ask(question.line.clone()).await?;
        self.at = Some(index);
        if let Some(answer) = self.answer.take() {
            let is_known = question.answered.is_some();
            if is_known {
                self.compare(&format!("turn {}", question.turn), &question, &answer)?;
            }
            self.answer = Some(answer);
        }
        Ok(())
    }

    /// A fresh process is first asked everything before.
    async fn ask(&mut self, line: Line) -> Result<(), Failure> {
        if !self.bot.is_running() {
            self.fresh().await?;
            self.catch_up(self.bot.asked().len()).await?;
        }
        let answer = self.bot.ask(&line).await?;
        self.heard(line, answer);
        Ok(())
    }

    /// Asks a fresh process the first `count` questions again.
    async fn catch_up(&mut self, count: usize) -> Result<(), Failure> {
        let lines = self.bot.asked()[..count].to_vec();
        for line in lines {
            if let Answer::Fault(fault, _) = self.bot.ask_again(&line).await? {
                let request = request_of(&*self.session(&line)?);
                self.say(&format!("It fails on its way, at {request}: {fault}\n"))?;
                self.fresh().await?;
            }
        }
        Ok(())
    }

    fn heard(&mut self, line: Line, answer: Answer) {
        self.at = None;
        self.is_over = false;
        self.line = line;
        self.answer = Some(answer);
    }

    fn compare(
        &mut self,
        place: &str,
        question: &Question,
        answer: &Answer,
    ) -> Result<(), Failure> {
        let then = question.answered.as_deref();
        if answer.turn() == then {
            return Ok(());
        }
        let then = then.map_or_else(|| "a forfeit".to_owned(), escape_controls);
        let now = match answer {
            Answer::Turn(turn) => escape_controls(turn),
            Answer::Fault(fault, _) => format!("{}", fault.reason()),
        };
        self.say(&format!(
            "At {place} it departs: then {then}, now {now}. The recorded game goes on.\n"
        ))?;
        Ok(())
    }

    async fn next(&mut self) -> Result<(), Failure> {
        match self.at {
            Some(at) if at + 1 < self.questions.len() => {
                self.ask_recorded(at + 1).await?;
                self.show()
            }
            Some(_) if self.result.is_some() => {
                let result = self.result.clone().unwrap_or_default();
                Ok(self.say(&format!(
                    "That was its last question of the game: {}\n",
                    escape_controls(&result)
                ))?)
            }
            _ if self.result.is_some() => Ok(self.say(
                "The recorded game has been left; solver and hand go on from here.
",
            )?),
            _ => Ok(self.say(
                "There is no recorded game; solver and hand go on from here.
",
            )?),
        }
    }

    async fn again(&mut self) -> Result<(), Failure> {
        self.fresh().await?;
        let before = self.bot.asked().len().saturating_sub(1);
        self.catch_up(before).await?;
        self.answer = Some(self.bot.ask_again(&self.line.clone()).await?);
        self.is_over = false;
        self.show()
    }

    /// The opponent is to move; prints why when there is no such position.
    fn after_answer(&mut self) -> Result<Option<Line>, Failure> {
        if self.is_over {
            self.say("The game is over.\n")?;
            return Ok(None);
        }
        let Some(turn) = self.answer.as_ref().and_then(Answer::turn) else {
            self.say("The bot has made no turn; again asks it once more.\n")?;
            return Ok(None);
        };
        let line = self.line.then(turn);
        if self.ends(&line)? {
            return Ok(None);
        }
        Ok(Some(line))
    }

    /// Prints how the game ended, if it did.
    fn ends(&mut self, line: &Line) -> Result<bool, Failure> {
        let (outcome, by_bot, won) = {
            let asked = self.session(&self.line)?.to_move();
            let session = self.session(line)?;
            let lines = session.winning_lines();
            let lines: Vec<String> = lines.iter().map(|(a, b)| format!("{a} {b}")).collect();
            let by_bot = session.outcome() == Some(Outcome::Win(asked));
            (
                session.outcome(),
                by_bot,
                escape_controls(&lines.join(", ")),
            )
        };
        self.is_over = outcome.is_some();
        match outcome {
            None => {}
            Some(Outcome::Draw) => self.say("The game ends in a draw.\n")?,
            Some(Outcome::Win(_)) if by_bot => self.say(&format!("The bot wins: {won}.\n"))?,
            Some(Outcome::Win(_)) => self.say(&format!("The bot loses: {won}.\n"))?,
        }
        Ok(self.is_over)
    }

    async fn solver(&mut self) -> Result<(), Failure> {
        if self.perfect.is_none() {
            self.say("There is no solver for this game; hand plays the opponent's turn.\n")?;
            return Ok(());
        }
        let Some(line) = self.after_answer()? else {
            return Ok(());
        };
        let request = request_of(&*self.session(&line)?);
        let answered = self.perfect.as_mut().map(|bot| bot(&request));
        let turn = answered
            .transpose()
            .map_err(Failure::Referee)?
            .unwrap_or_default();
        self.reply(&line, &turn).await
    }

    async fn hand(&mut self, turn: &str) -> Result<(), Failure> {
        let Some(line) = self.after_answer()? else {
            return Ok(());
        };
        let mut typed = turn.to_owned();
        if typed.is_empty() {
            let session = self.session(&line)?;
            let (request, picture) = (request_of(&*session), session.picture());
            drop(session);
            self.terminal.draw(&picture)?;
            let prompt = format!("The opponent is asked {request}: ");
            typed = match self.terminal.prompt(&prompt)?.await? {
                Typed::Line(text) => text.trim().to_owned(),
                Typed::End => return Ok(()),
                Typed::Interrupted => return Err(Failure::Interrupted),
            };
        }
        let mut canonical = String::new();
        let played = self.session(&line)?.play(&typed, &mut canonical);
        if let Err(Rejection::Malformed(problem) | Rejection::Illegal(problem)) = played {
            self.say(&format!("{}\n", escape_controls(&problem)))?;
            return Ok(());
        }
        self.reply(&line, &canonical).await
    }

    async fn reply(&mut self, line: &Line, turn: &str) -> Result<(), Failure> {
        let after = line.then(turn);
        let words = self.session(&after)?.describe_last_turn();
        self.say(&format!(
            "The opponent {}: {}\n",
            escape_controls(&words),
            escape_controls(turn)
        ))?;
        if self.ends(&after)? {
            return Ok(());
        }
        self.ask(after).await?;
        self.show()
    }

    fn session(&self, line: &Line) -> Result<Box<dyn Session + 'a>, Failure> {
        line.session(self.ruleset).map_err(Failure::Referee)
    }

    fn show(&mut self) -> Result<(), Failure> {
        let session = self.session(&self.line)?;
        let (request, picture) = (request_of(&*session), session.picture());
        drop(session);
        let question = self.at.map(|index| self.questions[index].clone());
        let is_recorded = question.is_some() && self.result.is_some();
        let recorded = question.filter(|_| is_recorded);
        if let Some(question) = &recorded {
            let of = self.questions.last().map_or(0, |last| last.turn);
            self.say(&format!("\nTurn {} (its last was {of})\n", question.turn))?;
        } else {
            self.say("\n")?;
        }
        self.terminal.draw(&picture)?;
        self.say(&format!("  asked  {}\n", escape_controls(&request)))?;
        // Asked a second time, the solver would know more.
        let mut known = None;
        if let Some(question) = &recorded {
            let then = match &question.answered {
                None => "no legal turn: it forfeited".to_owned(),
                Some(turn) => {
                    let value = valued(self.appraiser.as_ref(), &request, turn)?;
                    known = Some((turn.clone(), value.clone()));
                    value
                }
            };
            self.say(&format!("  then   {then}\n"))?;
        }
        let now = match (&self.answer, known) {
            (Some(Answer::Turn(turn)), Some((then, value))) if then == *turn => value,
            (Some(Answer::Turn(turn)), _) => valued(self.appraiser.as_ref(), &request, turn)?,
            (Some(Answer::Fault(fault, _)), _) => {
                format!("no legal turn: {}: {fault}", fault.reason())
            }
            (None, _) => "nothing".to_owned(),
        };
        self.say(&format!("  now    {now}\n"))?;
        let best = best(self.appraiser.as_ref(), &request)?;
        Ok(self.say(&format!("  best   {best}\n"))?)
    }
}

fn request_of(session: &dyn Session) -> String {
    let mut request = String::new();
    session.write_request(&mut request);
    request
}

const SHOWN_TURNS: usize = 8;

pub(super) fn valued(
    appraiser: Option<&Appraiser>,
    request: &str,
    turn: &str,
) -> Result<String, Failure> {
    let shown = escape_controls(turn);
    let Some(appraiser) = appraiser else {
        return Ok(shown);
    };
    let value = appraiser.turn(request, turn).map_err(Failure::Referee)?;
    Ok(format!("{shown:<6} {}", appraiser.words(value)))
}

fn best(appraiser: Option<&Appraiser>, request: &str) -> Result<String, Failure> {
    let Some(appraiser) = appraiser else {
        return Ok("there is no solver for this game".to_owned());
    };
    let found = appraiser.position(request).map_err(Failure::Referee)?;
    let Some(value) = found.value else {
        return Ok("not proven in time; --time-per-move gives the solver more".to_owned());
    };
    if value == Value::Loss {
        return Ok("every turn loses".to_owned());
    }
    if found.best.is_empty() {
        return Ok(format!(
            "a {}, but the turns that keep it were not found in time; --time-per-move gives the solver more",
            value.name()
        ));
    }
    let shown = found.best.iter().take(SHOWN_TURNS);
    let shown: Vec<String> = shown.map(|turn| escape_controls(turn)).collect();
    let mut text = format!("{}: {}", value.name(), shown.join(", "));
    let more = found.best.len().saturating_sub(SHOWN_TURNS) as u64;
    if more > 0 {
        let more = counted(more, "other turn", "other turns");
        text = format!("{text} and {more}");
    }
    if found.undecided > 0 {
        let undecided = counted(found.undecided as u64, "turn", "turns");
        text = format!("{text}; {undecided} not decided in time");
    }
    Ok(text)
}
