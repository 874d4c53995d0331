//! The conversation at the terminal: asks the bot, shows its answers, and runs what is typed.

use super::COMMANDS;
use crate::analysis::appraisal::Appraiser;
use crate::bot::human::{Console as _, Typed};
use crate::cli::support::console::Terminal;
use crate::cli::support::prelude::*;
use crate::game::Game;
use crate::game::{Outcome, Rejection};
use crate::play::examiner::{Asked, Examiner, Line, Question};
use crate::solver::Value;
use crate::text::{counted, escape_controls, format_duration};

/// Plays perfectly, without a clock.
const PERFECT: &str = "perfect?slips=0";

/// What is asked before the first command.
pub(super) struct Script {
    /// For people; empty without a record.
    pub(super) heading: String,
    /// Each with its place, for people: what its process was asked in earlier games, then what is stepped through.
    pub(super) questions: Vec<(String, Question)>,
    /// How many are of earlier games.
    pub(super) earlier: usize,
    /// The index of the last question to ask.
    pub(super) stop: usize,
    /// The result of the recorded game, if there is one.
    pub(super) result: Option<String>,
}

pub(super) struct Dialogue<'a> {
    pub(super) ruleset: &'a dyn Game,
    pub(super) examiner: Examiner,
    pub(super) script: Script,
    pub(super) appraiser: Option<Appraiser>,
    pub(super) terminal: Terminal,
    /// A fresh process is sent nothing before Enter is pressed.
    pub(super) wait: bool,
    /// The last question; `None` once the recorded game was left.
    pub(super) at: Option<usize>,
    pub(super) line: Line,
    pub(super) answer: Option<Asked>,
    /// After the answer, or after the turn in reply.
    pub(super) is_over: bool,
}

impl Dialogue<'_> {
    /// Asks up to the question to stop at, then reads commands until `quit` or the end of the input.
    pub(super) async fn run(&mut self) -> Result<(), Failure> {
        self.say(&self.script.heading.clone())?;
        self.fresh().await?;
        for index in 0..=self.script.stop {
            self.ask_recorded(index).await?;
            if matches!(self.answer, Some(Err(_))) && index >= self.script.earlier {
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

    fn say(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.terminal.show(text)?)
    }

    /// `None` at the end of the input.
    async fn typed(&mut self, prompt: &str) -> Result<Option<String>, Failure> {
        match self.terminal.prompt(prompt)?.await? {
            Typed::Line(text) => Ok(Some(text)),
            Typed::End => Ok(None),
            Typed::Interrupted => Err(Failure::Interrupted),
        }
    }

    /// Shows the process id, and waits for Enter if wanted.
    async fn fresh(&mut self) -> Result<(), Failure> {
        self.examiner.start().await?;
        let id = self.examiner.seat.process_id();
        let id = id.map_or_else(|| "unknown".to_owned(), |id| id.to_string());
        self.say(&format!("Process {id} has been started.\n"))?;
        if self.wait {
            let prompt = "Attach a debugger, then press Enter. ";
            self.typed(prompt).await?;
        }
        Ok(())
    }

    /// After a fault a fresh process goes on.
    async fn ask(&mut self, line: Line) -> Result<(), Failure> {
        if !self.examiner.is_running() {
            self.fresh().await?;
        }
        self.answer = Some(self.examiner.ask(&line).await?);
        self.at = None;
        self.is_over = false;
        self.line = line;
        Ok(())
    }

    async fn ask_recorded(&mut self, index: usize) -> Result<(), Failure> {
        let (place, question) = self.script.questions[index].clone();
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

    async fn next(&mut self) -> Result<(), Failure> {
        match (self.at, &self.script.result) {
            (Some(at), _) if at + 1 < self.script.questions.len() => {
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
    async fn again(&mut self) -> Result<(), Failure> {
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

    /// The opponent is to move; prints why when there is no such position.
    fn after_answer(&mut self) -> Result<Option<Line>, Failure> {
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

    /// Prints how the game ended, if it did.
    fn ends(&mut self, line: &Line) -> Result<bool, Failure> {
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

    async fn solver(&mut self) -> Result<(), Failure> {
        let second = std::time::Duration::from_secs(1);
        let Some(mut perfect) = self.ruleset.builtin_bot(PERFECT, 0, second) else {
            return self.say("There is no solver for this game; hand plays the opponent's turn.\n");
        };
        let Some(line) = self.after_answer()? else {
            return Ok(());
        };
        let turn = perfect(&self.request(&line)?).map_err(Failure::Referee)?;
        self.reply(&line, &turn).await
    }

    async fn hand(&mut self, mut turn: String) -> Result<(), Failure> {
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
        if let Err(Rejection::Malformed(problem) | Rejection::Illegal(problem)) = played {
            return self.say(&format!("{}\n", escape_controls(&problem)));
        }
        self.reply(&line, &canonical).await
    }

    async fn reply(&mut self, line: &Line, turn: &str) -> Result<(), Failure> {
        let after = line.then(turn);
        let words = self.session(&after)?.describe_last_turn();
        let (words, turn) = (escape_controls(&words), escape_controls(turn));
        self.say(&format!("The opponent {words}: {turn}\n"))?;
        if self.ends(&after)? {
            return Ok(());
        }
        self.ask(after).await?;
        self.show()
    }

    fn session(&self, line: &Line) -> Result<Box<dyn Game>, Failure> {
        line.position(self.ruleset).map_err(Failure::Referee)
    }

    fn request(&self, line: &Line) -> Result<String, Failure> {
        line.request(self.ruleset).map_err(Failure::Referee)
    }

    fn show(&mut self) -> Result<(), Failure> {
        let request = self.request(&self.line)?;
        let picture = self.session(&self.line)?.picture(None);
        let questions = &self.script.questions;
        let recorded = self.at.filter(|_| self.script.result.is_some());
        let recorded = recorded.map(|index| questions[index].1.clone());
        let title = recorded.as_ref().map_or_else(String::new, |question| {
            let of = questions.last().map_or(0, |(_, last)| last.turn);
            format!("Turn {} (its last was {of})\n", question.turn)
        });
        self.say(&format!("\n{title}"))?;
        self.terminal.draw(&picture)?;
        self.say(&format!("  asked  {}\n", escape_controls(&request)))?;
        // Asked a second time, the solver would know more.
        let mut known = None;
        if let Some(question) = &recorded {
            let then = match &question.answered {
                None => "no legal turn: it forfeited".to_owned(),
                Some(turn) => {
                    let value = self.valued(&request, turn)?;
                    known = Some((turn.clone(), value.clone()));
                    value
                }
            };
            self.say(&format!("  then   {then}\n"))?;
        }
        let now = match (&self.answer, known) {
            (Some(Ok(answer)), Some((then, value))) if *then == answer.turn => value,
            (Some(Ok(answer)), _) => self.valued(&request, &answer.turn)?,
            (Some(Err(fault)), _) => {
                format!("no legal turn: {}: {}", fault.fault.reason(), fault.fault)
            }
            (None, _) => "nothing".to_owned(),
        };
        let time = match &self.answer {
            Some(Ok(answer)) => format!("  took   {}\n", format_duration(answer.time.elapsed)),
            _ => String::new(),
        };
        self.say(&format!("  now    {now}\n{time}"))?;
        let best = self.best(&request)?;
        self.say(&format!("  best   {best}\n"))
    }

    fn valued(&self, request: &str, turn: &str) -> Result<String, Failure> {
        let shown = escape_controls(turn);
        let Some(appraiser) = &self.appraiser else {
            return Ok(shown);
        };
        let before = self.ruleset.read_request(request);
        let before = before.map_err(Failure::Referee)?;
        let turn = before.after(turn);
        let turn = turn.map_err(|rejection| Failure::Referee(rejection.text().to_owned()))?;
        let value = appraiser.turn(&*before, &turn);
        Ok(format!("{shown:<6} {}", appraiser.words(value)))
    }

    fn best(&self, request: &str) -> Result<String, Failure> {
        let Some(appraiser) = &self.appraiser else {
            return Ok("there is no solver for this game".to_owned());
        };
        let position = self.ruleset.read_request(request);
        let found = appraiser.position(&*position.map_err(Failure::Referee)?);
        let value = match found.value {
            None => {
                return Ok("not proven in time; --time-per-move gives the solver more".to_owned());
            }
            Some(Value::Loss) => return Ok("every turn loses".to_owned()),
            Some(value) => value.name(),
        };
        if found.best.is_empty() {
            return Ok(format!(
                "a {value}, but the turns that keep it were not found in time; --time-per-move gives the solver more"
            ));
        }
        let shown = found.best.iter().take(SHOWN_TURNS);
        let shown: Vec<String> = shown.map(|turn| escape_controls(turn)).collect();
        let mut text = format!("{value}: {}", shown.join(", "));
        let more = found.best.len().saturating_sub(SHOWN_TURNS) as u64;
        if more > 0 {
            text = format!("{text} and {}", counted(more, "other turn", "other turns"));
        }
        if found.undecided > 0 {
            let undecided = counted(found.undecided as u64, "turn", "turns");
            text = format!("{text}; {undecided} not decided in time");
        }
        Ok(text)
    }
}

const SHOWN_TURNS: usize = 8;
