//! A running program of a game: a line to its stdin, a line from its stdout.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::failure::{AnswerProblem, StartFailure};
use super::messages::MOST_BYTES;
use crate::bot::children::{self, OwnedChild};
use crate::bot::exhaustion::start_thread;
use crate::bot::fault::crash::explaining_line;
use crate::bot::fault::{Fault, Stream};
use crate::bot::process::exit_of;
use crate::bot::spec::Program;
use crate::log_target::GAME;
use referee_host::system::Pid;
use referee_host::threads::locked;
use referee_text::{cause, escape_lines};

pub const TIME: Duration = Duration::from_secs(10);

/// For the program to exit after the end of its input.
const ENDING: Duration = Duration::from_secs(1);

/// How much of the end of its stderr is kept, in bytes.
const TAIL: usize = 4096;

/// A line with its newline, which only the last has not, and whether more had arrived with it.
type Answer = (Vec<u8>, bool);

#[derive(Debug)]
pub(super) struct Connection {
    child: Child,
    /// The referee does not take it for what a bot left behind.
    _owned: OwnedChild,
    /// Its input is closed with them.
    questions: Option<Sender<String>>,
    answers: Receiver<Answer>,
    answered: u32,
    /// The end of what it wrote there; shared with a thread as long as it may write more.
    stderr: Arc<Mutex<Vec<u8>>>,
}

impl Connection {
    pub(super) fn start(program: &Program) -> Result<Self, StartFailure> {
        let (first, arguments) = program.argv.split_first().ok_or(StartFailure::NoCommand)?;
        let mut command = Command::new(first);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(directory) = &program.directory {
            command.current_dir(directory);
        }
        // Ctrl-C is for the referee.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let starting = children::starting();
        let mut child = command
            .spawn()
            .map_err(|error| StartFailure::Spawn(cause(&error)))?;
        let pid = pid(&child).ok_or(StartFailure::NoProcessId)?;
        let owned = starting.own(pid, &program.name);
        drop(starting);
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(stderr)) = streams else {
            return Err(StartFailure::NoPipes);
        };
        let (questions, asked) = channel();
        let (sender, answers) = channel();
        let connection = Self {
            child,
            _owned: owned,
            questions: Some(questions),
            answers,
            answered: 0,
            stderr: Arc::default(),
        };
        let tail = Arc::clone(&connection.stderr);
        let threads = [
            start_thread("game-answers", move || {
                exchange(input, output, &asked, &sender);
            }),
            start_thread("game-stderr", move || keep_stderr(&tail, stderr)),
        ];
        for thread in threads {
            thread.map_err(|error| StartFailure::NoThread(cause(&error)))?;
        }
        Ok(connection)
    }

    /// `question` has its newline, the answer has none.
    pub(super) fn ask(&mut self, question: &str) -> Result<String, AnswerProblem> {
        if let Some(questions) = &self.questions {
            // Where it has ended, no answer comes.
            let _ = questions.send(question.to_owned());
        }
        let (mut line, is_more) = match self.answers.recv_timeout(TIME) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => return Err(self.late()),
            // The question could not be written.
            Err(RecvTimeoutError::Disconnected) => return Err(self.gone(Stream::Input, Vec::new())),
        };
        if line.pop_if(|last| *last == b'\n').is_none() {
            return Err(match line.len() {
                MOST_BYTES.. => AnswerProblem::TooLong,
                _ => self.gone(Stream::Output, line),
            });
        }
        self.answered = self.answered.saturating_add(1);
        line.pop_if(|last| *last == b'\r');
        if is_more {
            return Err(AnswerProblem::MoreLines { first: line });
        }
        String::from_utf8(line).map_err(|error| AnswerProblem::NotUtf8(error.into_bytes()))
    }

    fn late(&mut self) -> AnswerProblem {
        kill(&mut self.child);
        AnswerProblem::Late {
            stderr: self.explaining_line(),
        }
    }

    /// After the end of this stream, and what there was of an answer.
    fn gone(&mut self, stream: Stream, partial: Vec<u8>) -> AnswerProblem {
        let fault = match self.end(ENDING) {
            Some(status) => Fault::Exited {
                exit: exit_of(status),
                partial,
                answered: self.answered,
            },
            None => Fault::Closed { stream, partial },
        };
        AnswerProblem::Gone {
            fault: Box::new(fault),
            stderr: self.explaining_line(),
        }
    }

    /// The line of its stderr that explains most.
    fn explaining_line(&self) -> Option<String> {
        // Its thread reads what was written before the exit.
        let since = Instant::now();
        while Arc::strong_count(&self.stderr) > 1 && since.elapsed() < ENDING {
            thread::sleep(Duration::from_millis(5));
        }
        let stderr = escape_lines(&locked(&self.stderr));
        explaining_line(&stderr)
    }

    /// Closes its input, and kills it if it does not exit.
    fn end(&mut self, patience: Duration) -> Option<std::process::ExitStatus> {
        self.questions = None;
        let since = Instant::now();
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            if since.elapsed() >= patience {
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
        kill(&mut self.child);
        // It has been killed; only one that hangs in the kernel is still there.
        let _ = self.child.wait();
        None
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _ = self.end(ENDING);
    }
}

fn pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}

/// Until there are no more questions, or one cannot be written. A program that neither reads nor answers keeps only this
/// thread waiting.
fn exchange(
    mut input: ChildStdin,
    output: ChildStdout,
    questions: &Receiver<String>,
    answers: &Sender<Answer>,
) {
    let mut output = BufReader::new(output);
    for question in questions {
        let mut line = Vec::new();
        let mut limited = (&mut output).take(MOST_BYTES as u64);
        let written = input.write_all(question.as_bytes());
        if written.is_err() || limited.read_until(b'\n', &mut line).is_err() {
            return;
        }
        let is_more = !output.buffer().is_empty();
        if answers.send((line, is_more)).is_err() {
            return;
        }
    }
}

fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = pid(child) {
        // It has exited already, or cannot be killed.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}

fn keep_stderr(kept: &Mutex<Vec<u8>>, stderr: ChildStderr) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut stderr).take(TAIL as u64).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            break;
        }
        tracing::debug!(target: GAME, "the game's program says: {}", escape_lines(&line).trim_end());
        let mut tail = locked(kept);
        tail.extend_from_slice(&line);
        let surplus = tail.len().saturating_sub(TAIL);
        tail.drain(..surplus);
    }
}
