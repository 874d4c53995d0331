//! The terminal that people play at: line editing and history when it is one, plain
//! reading when standard input is a pipe.

use std::cell::Cell;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor};
use tokio::sync::oneshot;

use super::failure::Failure;
use crate::bot::human::{Console, Typed, Typing};
use crate::game::Picture;
use crate::report::terminal::{Palette, draw};

/// A prompt, and where the line goes.
type Order = (String, oneshot::Sender<io::Result<Typed>>);

/// Standard input and output as a console. A thread of its own reads, so that a clock, a bot's
/// stderr and signals are attended to while somebody thinks.
pub(in crate::cli) struct Terminal {
    orders: mpsc::Sender<Order>,
    /// The thread shows prompts and what is typed; otherwise we do.
    editing: bool,
    /// A prompt is on the screen, and nobody has answered it.
    asking: Rc<Cell<bool>>,
    palette: Palette,
    /// How the terminal was set up when we came.
    before: Option<Termios>,
}

impl Terminal {
    pub(in crate::cli) fn new(palette: Palette) -> Self {
        let (orders, ordered) = mpsc::channel();
        let editing = io::stdin().is_terminal() && io::stdout().is_terminal();
        let before = editing
            .then(|| tcgetattr(io::stdin().as_fd()).ok())
            .flatten();
        // The thread ends with the channel, or with the process when it is reading.
        thread::spawn(move || {
            if editing {
                edit_lines(&ordered);
            } else {
                read_lines(&ordered);
            }
        });
        Self {
            orders,
            editing,
            asking: Rc::default(),
            palette,
            before,
        }
    }

    fn order(&self, prompt: &str) -> io::Result<oneshot::Receiver<io::Result<Typed>>> {
        if !self.editing {
            say(prompt)?;
        }
        let (tell, told) = oneshot::channel();
        self.orders
            .send((prompt.to_owned(), tell))
            .map_err(|_| gone())?;
        self.asking.set(true);
        Ok(told)
    }

    /// Asks a question before the games begin; `None` at the end of input. Must not be called
    /// within an asynchronous runtime.
    pub(in crate::cli) fn ask(&self, prompt: &str) -> Result<Option<String>, Failure> {
        let typed = self.order(prompt)?.blocking_recv().map_err(|_| gone())??;
        self.asking.set(false);
        echo(self.editing, &typed)?;
        match typed {
            Typed::Line(line) => Ok(Some(line.trim().to_owned())),
            Typed::End => Ok(None),
            Typed::Interrupted => Err(Failure::Interrupted),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The thread may be in the middle of editing a line.
        if let Some(before) = &self.before {
            let _ = tcsetattr(io::stdin().as_fd(), OptionalActions::Now, before);
            if self.asking.get() {
                // What is said next must not stick to the prompt.
                let _ = say("\n");
            }
        }
    }
}

impl Console for Terminal {
    fn show(&mut self, text: &str) -> io::Result<()> {
        say(text)
    }

    fn draw(&mut self, picture: &Picture) -> io::Result<()> {
        let text = draw(picture, &self.palette);
        self.show(&text)
    }

    fn prompt(&mut self, prompt: &str) -> io::Result<Typing> {
        let told = self.order(prompt)?;
        let editing = self.editing;
        let asking = Rc::clone(&self.asking);
        Ok(Box::pin(async move {
            let typed = told.await.map_err(|_| gone())??;
            asking.set(false);
            echo(editing, &typed)?;
            Ok(typed)
        }))
    }
}

fn gone() -> io::Error {
    io::Error::other("the thread that reads the keyboard has ended")
}

/// With line editing and history.
fn edit_lines(ordered: &mpsc::Receiver<Order>) {
    let editor = {
        // A prompt may be left at any moment: nothing must stay switched on in the terminal.
        let config = Config::builder().bracketed_paste(false).build();
        Editor::<(), _>::with_history(config, MemHistory::new())
    };
    let Ok(mut editor) = editor else {
        // A terminal that cannot be edited on can still be read from.
        return read_lines(ordered);
    };
    while let Ok((prompt, tell)) = ordered.recv() {
        let typed = match editor.readline(&prompt) {
            Ok(line) => {
                // A line that is not remembered is no loss.
                let _ = editor.add_history_entry(line.as_str());
                Ok(Typed::Line(line))
            }
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupted),
            Err(error) => Err(io::Error::other(error)),
        };
        // The game may have ended meanwhile.
        let _ = tell.send(typed);
    }
}

/// Plainly. The prompt is shown elsewhere: this thread must not wait for standard output, which
/// the games hold on to.
fn read_lines(ordered: &mpsc::Receiver<Order>) {
    while let Ok((_, tell)) = ordered.recv() {
        let mut bytes = Vec::new();
        let typed = match io::stdin().lock().read_until(b'\n', &mut bytes) {
            Ok(0) => Ok(Typed::End),
            Ok(_) => {
                let line = String::from_utf8_lossy(&bytes).trim().to_owned();
                Ok(Typed::Line(line))
            }
            Err(error) => Err(io::Error::other(format!(
                "standard input cannot be read: {error}"
            ))),
        };
        let _ = tell.send(typed);
    }
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints what was read from a pipe after its prompt, so that the output of a scripted session
/// reads like one that was typed.
fn echo(editing: bool, typed: &Typed) -> io::Result<()> {
    match typed {
        _ if editing => Ok(()),
        Typed::Line(line) => say(&format!("{}\n", crate::text::escape_controls(line))),
        Typed::End | Typed::Interrupted => say("\n"),
    }
}
