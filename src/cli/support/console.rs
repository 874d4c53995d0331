//! The console that people play at: line editing and history on a terminal, plain reading when
//! standard input is a pipe.

use std::cell::Cell;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::rc::Rc;
use std::sync::mpsc;

use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor};
use tokio::sync::oneshot;

use super::output::{GameText, wait_for_results};
use super::setup::terminal_width;
use referee::bot::exhaustion::start_thread;
use referee::bot::human::{Console, Typed, Typing};
use referee::game::Picture;
use referee::report::terminal::{Palette, draw_within, wrapped};
use referee::system::TerminalMode;
use referee::text::escape_controls;

type PromptRequest = (String, oneshot::Sender<io::Result<Typed>>);

/// Standard input and output as a console. A separate thread reads, so that clocks, the bots'
/// stderr and signals are handled while a person thinks.
pub(crate) struct Terminal {
    requests: mpsc::Sender<PromptRequest>,
    /// Whether the thread shows prompts and echoes input; otherwise this side does.
    editing: bool,
    prompt_open: Rc<Cell<bool>>,
    palette: Palette,
    original_mode: Option<TerminalMode>,
}

impl Terminal {
    pub(crate) fn new(palette: Palette) -> io::Result<Self> {
        let (sender, requests) = mpsc::channel();
        let editing = io::stdin().is_terminal() && io::stdout().is_terminal();
        let original_mode = editing.then(TerminalMode::current).flatten();
        // The thread ends when the channel closes, or with the process while it is reading.
        start_thread("keyboard", move || {
            if editing {
                edit_lines(&requests);
            } else {
                read_lines(&requests);
            }
        })?;
        Ok(Self {
            requests: sender,
            editing,
            prompt_open: Rc::default(),
            palette,
            original_mode,
        })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The thread may be in the middle of editing a line.
        if let Some(mode) = &self.original_mode {
            mode.restore();
            if self.prompt_open.get() {
                // The next output must start on a new line.
                let _ = print("\n");
            }
        }
    }
}

impl Console for Terminal {
    fn show(&mut self, text: &str) -> io::Result<()> {
        match terminal_width(&io::stdout()).filter(|_| self.editing) {
            Some(width) => print(&wrapped(text, width)),
            None => print(text),
        }
    }

    fn draw(&mut self, picture: &Picture) -> io::Result<()> {
        let columns = terminal_width(&io::stdout());
        print(&draw_within(picture, &self.palette, columns))
    }

    fn prompt(&mut self, prompt: &str) -> io::Result<Typing> {
        let editing = self.editing;
        if !editing {
            print(prompt)?;
        }
        let prompt_open = Rc::clone(&self.prompt_open);
        let requests = self.requests.clone();
        let prompt = prompt.to_owned();
        Ok(Box::pin(async move {
            wait_for_results()?;
            let (reply, line) = oneshot::channel();
            let sent = requests.send((prompt, reply));
            sent.map_err(|_| reader_ended())?;
            prompt_open.set(true);
            let typed = line.await.map_err(|_| reader_ended())??;
            prompt_open.set(false);
            match &typed {
                _ if editing => {}
                Typed::Line(line) => print(&format!("{}\n", escape_controls(line)))?,
                Typed::End | Typed::Interrupted => print("\n")?,
            }
            Ok(typed)
        }))
    }
}

fn reader_ended() -> io::Error {
    io::Error::other("the thread that reads the keyboard has ended")
}

fn edit_lines(requests: &mpsc::Receiver<PromptRequest>) {
    // A prompt may be abandoned at any moment: no terminal mode may stay switched on.
    let config = Config::builder().bracketed_paste(false).build();
    let Ok(mut editor) = Editor::<(), _>::with_history(config, MemHistory::new()) else {
        // A terminal that cannot be edited on can still be read from.
        return read_lines(requests);
    };
    while let Ok((prompt, reply)) = requests.recv() {
        let typed = match editor.readline(&prompt) {
            Ok(line) => {
                // History is a convenience: its errors are ignored.
                let _ = editor.add_history_entry(line.as_str());
                Ok(Typed::Line(line))
            }
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupted),
            Err(error) => Err(io::Error::other(error)),
        };
        // The game may have ended meanwhile.
        let _ = reply.send(typed);
    }
}

fn read_lines(requests: &mpsc::Receiver<PromptRequest>) {
    while let Ok((_, reply)) = requests.recv() {
        let mut bytes = Vec::new();
        let typed = match io::stdin().lock().read_until(b'\n', &mut bytes) {
            Ok(0) => Ok(Typed::End),
            Ok(_) => {
                let line = String::from_utf8_lossy(&bytes).trim().to_owned();
                Ok(Typed::Line(line))
            }
            Err(error) => Err(io::Error::other(format!(
                "standard input cannot be read: {error}",
                error = referee::text::cause(&error)
            ))),
        };
        let _ = reply.send(typed);
    }
}

fn print(text: &str) -> io::Result<()> {
    GameText.write_all(text.as_bytes())
}
