//! A running program of a game: a line to its stdin, a line from its stdout.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::messages::MOST_BYTES;
use crate::bot::children::{self, OwnedChild};
use crate::bot::fault::crash::explaining_line;
use crate::bot::spec::Program;
use crate::log_target::GAME;
use crate::system::Pid;
use crate::text::{cause, counted, escape, escape_lines};
use crate::threads::locked;

pub const TIME: Duration = Duration::from_secs(10);

/// Between two looks at whether an answer is late.
const WATCHING: Duration = Duration::from_millis(250);

/// For the program to exit after the end of its input.
const ENDING: Duration = Duration::from_secs(1);

/// How much of the end of its stderr is kept, in bytes.
const TAIL: usize = 4096;

#[derive(Debug)]
pub(super) struct Connection {
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    shared: Arc<Shared>,
    begun: Instant,
}

#[derive(Debug)]
struct Shared {
    child: Mutex<Child>,
    /// The referee does not take it for what a bot left behind.
    _owned: OwnedChild,
    /// When its answer is late, in milliseconds since it began; 0 while nothing is asked.
    deadline: AtomicU64,
    is_late: AtomicBool,
    is_over: AtomicBool,
    stderr: Mutex<Vec<u8>>,
}

impl Connection {
    /// The error is the end of a sentence that begins with its name.
    pub(super) fn start(program: &Program) -> Result<Self, String> {
        let (first, arguments) = program.argv.split_first().ok_or("has no command")?;
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
            .map_err(|error| format!("cannot be started: {}", cause(&error)))?;
        let pid = pid(&child).ok_or("has no process id")?;
        let owned = starting.own(pid, &program.name);
        drop(starting);
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(stderr)) = streams else {
            return Err("has no pipes".to_owned());
        };
        let shared = Arc::new(Shared {
            child: Mutex::new(child),
            _owned: owned,
            deadline: AtomicU64::new(0),
            is_late: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            stderr: Mutex::new(Vec::new()),
        });
        let begun = Instant::now();
        let (of_watch, of_stderr) = (Arc::clone(&shared), Arc::clone(&shared));
        let threads = [
            thread::Builder::new()
                .name("game-watch".to_owned())
                .spawn(move || watch(&of_watch, begun)),
            thread::Builder::new()
                .name("game-stderr".to_owned())
                .spawn(move || keep_stderr(&of_stderr, stderr)),
        ];
        let connection = Self {
            input: Some(input),
            output: BufReader::new(output),
            line: Vec::new(),
            shared,
            begun,
        };
        for thread in threads {
            thread.map_err(|error| format!("cannot be watched: {}", cause(&error)))?;
        }
        Ok(connection)
    }

    /// `question` has its newline, the answer has none. The error is the end of a sentence that begins with its name.
    pub(super) fn ask(&mut self, question: &str) -> Result<&str, String> {
        let deadline = self.begun.elapsed() + TIME;
        let deadline = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
        self.shared.deadline.store(deadline, Ordering::Relaxed);
        self.line.clear();
        let asked = self.exchange(question);
        self.shared.deadline.store(0, Ordering::Relaxed);
        if asked.is_err() || !self.line.ends_with(b"\n") {
            return Err(match self.line.len() {
                MOST_BYTES.. => format!("answered with a line of more than {MOST_BYTES} bytes"),
                _ => self.ended(),
            });
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let shown = || escape(&line[..line.len().min(200)]);
        if !self.output.buffer().is_empty() {
            let shown = shown();
            return Err(format!(
                "answered with more than one line: {shown} and more"
            ));
        }
        std::str::from_utf8(line)
            .map_err(|_| format!("answered {}, which is not UTF-8 text", shown()))
    }

    fn exchange(&mut self, question: &str) -> io::Result<()> {
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        input.write_all(question.as_bytes())?;
        input.flush()?;
        let mut limited = (&mut self.output).take(MOST_BYTES as u64);
        limited.read_until(b'\n', &mut self.line).map(|_| ())
    }

    fn ended(&mut self) -> String {
        if self.shared.is_late.load(Ordering::Relaxed) {
            let seconds = counted(TIME.as_secs(), "second", "seconds");
            return format!(
                "did not answer within {seconds}; does it flush after every line?{}",
                self.stderr_ending()
            );
        }
        let status = self.end(ENDING);
        let how = match status {
            Some(status) => match status.code() {
                Some(code) => format!("ended with status {code}"),
                None => format!("was killed ({status})"),
            },
            None => "closed its output".to_owned(),
        };
        format!("{how} instead of answering{}", self.stderr_ending())
    }

    fn stderr_ending(&self) -> String {
        // Its thread reads what was written before the exit.
        let since = Instant::now();
        while !self.shared.is_over.load(Ordering::Relaxed) && since.elapsed() < ENDING {
            thread::sleep(Duration::from_millis(5));
        }
        let stderr = escape_lines(&locked(&self.shared.stderr));
        explaining_line(&stderr)
            .map_or_else(String::new, |line| format!("; stderr ended with: {line}"))
    }

    /// Closes its input, and kills it if it does not exit.
    fn end(&mut self, patience: Duration) -> Option<std::process::ExitStatus> {
        self.input = None;
        let since = Instant::now();
        loop {
            if let Ok(Some(status)) = locked(&self.shared.child).try_wait() {
                return Some(status);
            }
            if since.elapsed() >= patience {
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
        let mut child = locked(&self.shared.child);
        kill(&mut child);
        // It has been killed; only one that hangs in the kernel is still there.
        let _ = child.wait();
        None
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _ = self.end(ENDING);
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

fn pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}

/// Kills a program whose answer is late: its pipe is closed then, and the exchange ends.
fn watch(shared: &Shared, begun: Instant) {
    while !shared.is_over.load(Ordering::Relaxed) {
        thread::sleep(WATCHING);
        let deadline = shared.deadline.load(Ordering::Relaxed);
        if deadline != 0 && begun.elapsed().as_millis() > u128::from(deadline) {
            shared.is_late.store(true, Ordering::Relaxed);
            kill(&mut locked(&shared.child));
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

fn keep_stderr(shared: &Shared, stderr: ChildStderr) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut stderr).take(TAIL as u64).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            break;
        }
        tracing::debug!(target: GAME, "the game's program says: {}", escape_lines(&line).trim_end());
        let mut tail = locked(&shared.stderr);
        tail.extend_from_slice(&line);
        let surplus = tail.len().saturating_sub(TAIL);
        tail.drain(..surplus);
    }
    shared.is_over.store(true, Ordering::Relaxed);
}
