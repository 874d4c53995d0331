//! A person: at this terminal, asked again when the answer is unusable, or at the live page, whose answers are judged like a
//! bot's.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout};

use super::fault::{Exit, Fault, ProcessState, Timeout, TimeoutEvidence};
use super::{Allowance, Player, Reply};
use referee_games::game::{Game, Ruleset};
use referee_games::game::{Picture, Side};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    Line(String),
    End,
    Interrupted,
}

pub type Typing = Pin<Box<dyn Future<Output = io::Result<Typed>>>>;

pub trait Console {
    fn show(&mut self, text: &str) -> io::Result<()>;

    fn draw(&mut self, picture: &Picture) -> io::Result<()>;

    fn prompt(&mut self, prompt: &str) -> io::Result<Typing>;
}

pub type SharedConsole = Rc<RefCell<dyn Console>>;

/// What the person at the live page is asked. Clones are the same.
#[derive(Clone, Debug)]
pub struct Inbox(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    name: String,
    /// Proves that an answer is from the person.
    secret: String,
    asked: watch::Sender<Asked>,
}

#[derive(Debug, Default)]
struct Asked {
    question: String,
    /// Of the first answer; `None` once it has come.
    answer: Option<oneshot::Sender<String>>,
}

/// How long an answer waits for its question: the page shows a turn a moment before the game asks for it.
const PATIENCE: Duration = Duration::from_secs(2);

impl Inbox {
    /// What is asked before every game but the first.
    const AGAIN: &str = "again";

    pub fn new(name: String) -> Self {
        Self(Arc::new(Shared {
            name,
            secret: format!("{:032x}", rand::random::<u128>()),
            asked: watch::Sender::default(),
        }))
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub fn secret(&self) -> &str {
        &self.0.secret
    }

    /// Whether this is the first answer to a question that is asked, or is in a moment.
    pub async fn answer(&self, question: &str, answer: &str) -> bool {
        let mut asked = self.0.asked.subscribe();
        let is_it = asked.wait_for(|asked| asked.question == question);
        let waited = timeout(PATIENCE, is_it).await.is_ok();
        let mut sender = None;
        self.0.asked.send_if_modified(|asked| {
            if waited && asked.question == question {
                sender = asked.answer.take();
            }
            false
        });
        sender.is_some_and(|sender| sender.send(answer.to_owned()).is_ok())
    }

    async fn ask(&self, question: &str) -> io::Result<String> {
        let (sender, answer) = oneshot::channel();
        self.0.asked.send_replace(Asked {
            question: question.to_owned(),
            answer: Some(sender),
        });
        answer.await.map_err(io::Error::other)
    }
}

pub struct Human {
    place: Place,
    /// In protocol form.
    answer: String,
}

enum Place {
    Terminal(AtTerminal),
    Page { inbox: Inbox, has_played: bool },
}

struct AtTerminal {
    ruleset: Arc<dyn Ruleset>,
    name: String,
    console: SharedConsole,
    hints: bool,
}

impl Human {
    pub fn new(
        ruleset: Arc<dyn Ruleset>,
        name: String,
        console: SharedConsole,
        hints: bool,
    ) -> Self {
        Self::at(Place::Terminal(AtTerminal {
            ruleset,
            name,
            console,
            hints,
        }))
    }

    pub fn at_page(inbox: Inbox) -> Self {
        Self::at(Place::Page {
            inbox,
            has_played: false,
        })
    }

    const fn at(place: Place) -> Self {
        Self {
            place,
            answer: String::new(),
        }
    }

    /// Whether each further game waits until the person wants it.
    pub const fn wants_games(&self) -> bool {
        matches!(self.place, Place::Page { .. })
    }

    /// Before a game; at the page this takes until the person wants it.
    pub async fn start(&mut self) -> io::Result<()> {
        if let Place::Page { inbox, has_played } = &mut self.place
            && mem::replace(has_played, true)
        {
            inbox.ask(Inbox::AGAIN).await?;
        }
        Ok(())
    }

    /// One turn in protocol form; `None` when the person leaves.
    async fn turn(&self, request: &str) -> io::Result<Option<String>> {
        let request = request.trim_end_matches('\n');
        match &self.place {
            Place::Terminal(terminal) => terminal.turn(request).await,
            Place::Page { inbox, .. } => inbox.ask(request).await.map(Some),
        }
    }
}

impl AtTerminal {
    /// `None` when the person leaves.
    async fn ask_text(&self, turn: &dyn Game, side: Side) -> io::Result<Option<String>> {
        let prompt = format!("{}, {} ", self.name, turn.question());
        loop {
            let typing = self.console.borrow_mut().prompt(&prompt)?;
            let line = match typing.await? {
                Typed::Line(line) => line,
                Typed::End => return Ok(None),
                Typed::Interrupted => return Err(io::ErrorKind::Interrupted.into()),
            };
            let mut console = self.console.borrow_mut();
            match line.trim() {
                "" => {}
                "help" | "?" => console.show(&self.ruleset.instructions())?,
                "board" => console.draw(&turn.picture(Some(side)))?,
                "pieces" => console.show(&turn.inventory())?,
                "quit" | "exit" => return Ok(None),
                text => return Ok(Some(text.to_owned())),
            }
        }
    }

    async fn turn(&self, request: &str) -> io::Result<Option<String>> {
        let mut turn = self
            .ruleset
            .read_request(request)
            .map_err(io::Error::other)?;
        let side = turn.to_move();
        let picture = turn.picture(Some(side));
        if picture.hand.is_none() && turn.board().chars().all(|symbol| symbol == '.') {
            // No move has been shown yet: the first choice needs the pieces.
            self.console.borrow_mut().draw(&picture)?;
        }
        loop {
            let before = turn.picture(Some(side)).cells;
            if self.hints
                && let Some(hint) = turn.hint()
            {
                self.console.borrow_mut().show(&format!("hint: {hint}\n"))?;
            }
            let answer = loop {
                let Some(text) = self.ask_text(&*turn, side).await? else {
                    return Ok(None);
                };
                match turn.make_typed(&text) {
                    Ok(answer) => break answer,
                    Err(problem) => self.console.borrow_mut().show(&format!("{problem}\n"))?,
                }
            };
            if answer.is_some() {
                return Ok(answer);
            }
            // The board with the placed piece, before a gift is chosen.
            let mut picture = turn.picture(Some(side));
            let mut rows = before.iter().zip(&picture.cells).enumerate();
            picture.last = rows.find_map(|(r, (before, after))| {
                let mut cells = before.iter().zip(after);
                Some((r, cells.position(|(before, after)| before != after)?))
            });
            self.console.borrow_mut().draw(&picture)?;
        }
    }
}

impl Player for Human {
    async fn ask(
        &mut self,
        request: &str,
        allowance: Allowance,
    ) -> io::Result<Result<Reply<'_>, Fault>> {
        let asked = Instant::now();
        let Ok(answer) = timeout(allowance.time, self.turn(request)).await else {
            return Ok(Err(Fault::Timeout(Box::new(Timeout {
                evidence: TimeoutEvidence::Nothing(ProcessState::Waiting),
                ..Timeout::new(request, allowance, false, asked.elapsed())
            }))));
        };
        let Some(answer) = answer? else {
            return Ok(Err(Fault::Exited {
                exit: Exit::Left,
                partial: Vec::new(),
                answered: 0,
            }));
        };
        self.answer = answer;
        let elapsed = asked.elapsed();
        Ok(Ok(Reply {
            line: self.answer.as_bytes(),
            elapsed,
            charged: elapsed,
            fresh: false,
        }))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_waits_for_its_question() {
        let inbox = Inbox::new("ann".to_owned());
        let late = || async {
            sleep(PATIENCE / 2).await;
            inbox.ask("A...............").await
        };
        let (taken, answer) = tokio::join!(inbox.answer("A...............", "2 C"), late());
        assert_eq!((taken, answer.ok().as_deref()), (true, Some("2 C")));
        // A second answer is refused without a wait.
        let asked = Instant::now();
        assert!(!inbox.answer("A...............", "3 C").await);
        assert_eq!(asked.elapsed(), Duration::ZERO);
        assert!(!inbox.answer("another", "2 C").await);
        assert_eq!(asked.elapsed(), PATIENCE);
    }
}
