//! Kills bots without a sandbox when the referee is killed: a small process that outlives it.
//!
//! The referee starts its own program as `referee supervisor watch` before the first such bot, and writes a
//! line before one starts, when it has started and when it has been reaped. When the pipe ends, the process
//! groups that are left are killed; one that was about to start is found by an entry of its environment. A death
//! signal would reach the first process of a bot only, and would come with the end of the thread that started it.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, BufRead as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid, getppid, kill_process_group};

use super::message::{COMMAND, WATCH};
use crate::log_target::LOG_TARGET;
use crate::procfs::{self, ProcessStat};

/// Before the entry of its environment by which a bot is found that is about to be started.
const STARTING: &str = "?";

/// Before that entry again: it has been told which process it is, or none was started.
const NO_LONGER_STARTING: &str = "!";

/// Before the number of a process.
const STARTED: &str = "+";

/// Before the number of a process.
const REAPED: &str = "-";

/// Which program watches; none does before [`enable`].
static ENABLED: OnceLock<()> = OnceLock::new();

static RUNNING: Mutex<Option<Watcher>> = Mutex::new(None);

#[derive(Debug)]
struct Watcher {
    pid: Pid,
    lines: ChildStdin,
}

/// From now on bots without a sandbox are watched. Only for the program `referee`, which is started again
/// for that.
pub fn enable() {
    let _ = ENABLED.set(());
}

/// The process that watches, a child of this one.
pub fn watcher() -> Option<Pid> {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    running.as_ref().map(|watcher| watcher.pid)
}

/// A bot that is about to be started, until it is known to have [started](Self::started).
#[derive(Debug)]
pub struct StartingBot {
    mark: String,
}

/// Call it before a bot is started whose environment has this entry, such as `NAME=7`. By it the bot is found if this
/// process is killed before it has said which process it is. No other program may have the entry.
pub fn starting(mark: String) -> StartingBot {
    let bot = StartingBot { mark };
    if ENABLED.get().is_none() {
        return bot;
    }
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    if running.is_none() {
        // A machine without another process is tried again at the next start.
        match start() {
            Ok(watcher) => *running = Some(watcher),
            Err(error) => tracing::info!(target: LOG_TARGET, %error, "nothing watches"),
        }
    }
    tell(&mut running, STARTING, &bot.mark);
    bot
}

impl StartingBot {
    /// It leads this process group.
    pub fn started(self, leader: Pid) {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        tell(&mut running, STARTED, leader.as_raw_pid());
    }
}

impl Drop for StartingBot {
    fn drop(&mut self) {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        tell(&mut running, NO_LONGER_STARTING, &self.mark);
    }
}

/// That bot was reaped.
pub fn reaped(leader: Pid) {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    tell(&mut running, REAPED, leader.as_raw_pid());
}

fn tell(running: &mut Option<Watcher>, what: &str, of: impl Display) {
    if let Some(watcher) = running {
        // EPIPE: it was killed.
        let line = format!("{what}{of}\n");
        let _ = watcher.lines.write_all(line.as_bytes());
    }
}

fn start() -> io::Result<Watcher> {
    let mut child = Command::new("/proc/self/exe")
        .args([COMMAND, WATCH, &getpid().as_raw_pid().to_string()])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C is for the referee.
        .process_group(0)
        .spawn()?;
    let pid = Pid::from_child(&child);
    let lines = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    Ok(Watcher { pid, lines })
}

/// Runs this process as the watcher. The argument is the number of the referee's process.
pub(super) fn run(mut arguments: impl Iterator<Item = String>) -> io::Result<()> {
    let referee = arguments
        .next()
        .and_then(|pid| Pid::from_raw(pid.parse().ok()?));
    let mut bots: BTreeMap<i32, Option<u64>> = BTreeMap::new();
    let mut starting: Vec<String> = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let number = |what| line.strip_prefix(what)?.parse().ok();
        if let Some(pid) = number(STARTED) {
            let started = Pid::from_raw(pid).and_then(ProcessStat::read);
            bots.insert(pid, started.and_then(|stat| stat.started()));
        } else if let Some(pid) = number(REAPED) {
            bots.remove(&pid);
        } else if let Some(mark) = line.strip_prefix(STARTING) {
            starting.push(mark.to_owned());
        } else if let Some(mark) = line.strip_prefix(NO_LONGER_STARTING)
            && let Some(place) = starting.iter().position(|other| other == mark)
        {
            starting.swap_remove(place);
        }
    }
    for (pid, started) in bots {
        let Some(leader) = Pid::from_raw(pid) else {
            continue;
        };
        // Another process may have the number by now. Without a leader it is that of the group still: it is not
        // given to another process as long as the group has members.
        if ProcessStat::read(leader).is_none_or(|stat| stat.started() == started) {
            // ESRCH: all of them have exited.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
    kill_starting(starting, referee);
    Ok(())
}

/// How long the system may take to give the children of a killed process to another.
const ADOPTED: Duration = Duration::from_secs(10);

/// How long a new process may take to become its program: until then it has the referee's environment.
const EXECUTED: Duration = Duration::from_secs(2);

const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Kills bots of which is known only which entry their environment has, now that their referee has been killed.
fn kill_starting(mut marks: Vec<String>, referee: Option<Pid>) {
    let since = Instant::now();
    // The pipe ends before the bots have another parent.
    while getppid() == referee && since.elapsed() < ADOPTED {
        thread::sleep(BETWEEN_LOOKS);
    }
    let adopted_by = getppid();
    let since = Instant::now();
    while !marks.is_empty() && since.elapsed() < EXECUTED {
        for (leader, environment) in procfs::environments() {
            let mut entries = environment.split(|&byte| byte == 0);
            let Some(place) = entries.find_map(|entry| {
                let is_it = |mark: &String| mark.as_bytes() == entry;
                marks.iter().position(is_it)
            }) else {
                continue;
            };
            // What a bot started has the entry, too. Another referee's bot has another parent.
            let is_left = ProcessStat::read(leader)
                .is_some_and(|stat| stat.group() == Some(leader) && stat.parent() == adopted_by);
            if is_left {
                let _ = kill_process_group(leader, Signal::KILL);
                marks.swap_remove(place);
            }
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}
