//! The cost of sandboxes. Run with `cargo bench --bench sandboxes`.
//!
//! A ply: a match without a sandbox and one in each sandbox that works on this machine are played at
//! the same time, but all except one are stopped. They run in turn, in slices of a fraction of a second,
//! so that all run under the same conditions, and each slice is compared with that of the match without
//! a sandbox in the same round. There are two matches without a sandbox: their difference is the error.
//!
//! A start: games with fresh processes, minus the same run for one game. Processor time is that of the whole tree of
//! processes, as the kernel reports it when they have been waited for; what it does for them elsewhere later
//! (it frees name spaces and control groups) is not in it. The clock also measures what else the machine does.
//!
//! A tournament: games a second with fresh processes for every game, its beginning included.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use common::{build_instant, median_of_sorted, sorted};

const ROUNDS: usize = 100;
const SLICE: Duration = Duration::from_millis(150);
/// The time before each slice that is not measured, so that all processes are awake.
const WAKING: Duration = Duration::from_millis(10);
const STARTS: u32 = 100;
const PAIRS: u32 = 100;
const STARTING_ROUNDS: usize = 5;

fn main() {
    let bot = build_instant();
    let works = |kind: &&str| {
        let mut command = referee(kind, 1);
        command.args(["builtin:random", "builtin:random"]);
        command.output().is_ok_and(|output| output.status.success())
    };
    let kinds: Vec<&str> = ["none", "none", "landlock", "bwrap"]
        .into_iter()
        .filter(works)
        .collect();
    let everywhere = sched_getaffinity(None).expect("the CPUs");
    plies("on all CPUs", &kinds, &bot);
    let mut first = CpuSet::new();
    first.set(0);
    match sched_setaffinity(None, &first) {
        Ok(()) => plies("everything on CPU 0", &kinds, &bot),
        Err(error) => println!("cannot be pinned to CPU 0: {error}"),
    }
    sched_setaffinity(None, &everywhere).expect("the CPUs of before");
    starts(&kinds[1..], &bot);
    tournaments(&kinds[1..], &bot);
}

fn referee(kind: &str, games: u32) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command
        .args(["--seed", "1", "--sandbox", kind, "--move-time", "1h"])
        .args(["-n", &games.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// A match that is stopped except in its slices.
struct Match {
    referee: Child,
    /// All its processes, the referee first.
    all: Vec<Pid>,
    bots: Vec<Pid>,
}

impl Match {
    fn start(kind: &str, bot: &Path) -> Self {
        let mut playing = Self {
            referee: referee(kind, u32::MAX)
                .args([bot, bot])
                .spawn()
                .expect("the referee starts"),
            all: Vec::new(),
            bots: Vec::new(),
        };
        let started = Instant::now();
        // The processes that try out a sandbox have ended by then.
        while playing.bots.len() < 2 || playing.bots.iter().any(|&bot| plies_of(bot) < 1_000) {
            assert!(started.elapsed().as_secs() < 60, "no match has begun");
            sleep(WAKING);
            playing.all = family(Pid::from_child(&playing.referee));
            let is_bot = |pid: &&Pid| {
                let program = fs::read_link(format!("/proc/{}/exe", pid.as_raw_pid()));
                program.is_ok_and(|program| program.ends_with("instant"))
            };
            playing.bots = playing.all.iter().filter(is_bot).copied().collect();
        }
        playing.signal(Signal::STOP);
        playing
    }

    fn signal(&self, signal: Signal) {
        for &pid in &self.all {
            match kill_process(pid, signal) {
                // Something short-lived that was there when the match began.
                Err(Errno::SRCH) if !self.bots.contains(&pid) => {}
                done => done.expect("the match continues"),
            }
        }
    }

    /// Runs a slice of this match, and returns the microseconds per ply.
    fn slice(&self) -> f64 {
        self.signal(Signal::CONT);
        sleep(WAKING);
        let plies = || -> u64 { self.bots.iter().map(|&bot| plies_of(bot)).sum() };
        let (before, started) = (plies(), Instant::now());
        sleep(SLICE);
        let (after, wall) = (plies(), started.elapsed());
        self.signal(Signal::STOP);
        let plies = u32::try_from(after - before).expect("a slice is short");
        wall.as_secs_f64() * 1e6 / f64::from(plies)
    }
}

impl Drop for Match {
    fn drop(&mut self) {
        // When the bench fails, some may have ended already.
        for &pid in &self.all {
            let _ = kill_process(pid, Signal::KILL);
        }
        let _ = self.referee.kill();
        let _ = self.referee.wait();
    }
}

/// A process and all its descendants.
fn family(root: Pid) -> Vec<Pid> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(pid) = found.get(next).map(|pid| pid.as_raw_pid()) {
        for thread in fs::read_dir(format!("/proc/{pid}/task"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            let children = children.split_ascii_whitespace();
            found.extend(children.filter_map(|child| Pid::from_raw(child.parse().ok()?)));
        }
        next += 1;
    }
    found
}

/// The number of reads of a bot: one a ply.
fn plies_of(bot: Pid) -> u64 {
    let io = fs::read_to_string(format!("/proc/{}/io", bot.as_raw_pid())).unwrap_or_default();
    let reads = io.lines().find_map(|line| line.strip_prefix("syscr: "));
    reads.and_then(|reads| reads.parse().ok()).unwrap_or(0)
}

fn plies(title: &str, kinds: &[&str], bot: &Path) {
    let matches: Vec<Match> = kinds.iter().map(|kind| Match::start(kind, bot)).collect();
    let mut slices = vec![Vec::with_capacity(ROUNDS); kinds.len()];
    for round in 0..ROUNDS {
        for turn in 0..kinds.len() {
            let of = (turn + round) % kinds.len();
            slices[of].push(matches[of].slice());
        }
    }
    println!("a ply of two instant bots, {title}, {ROUNDS} slices each");
    for (kind, measured) in kinds.iter().zip(&slices) {
        let plies = sorted(measured.iter().copied());
        let ratios = sorted(measured.iter().zip(&slices[0]).map(|(a, b)| a / b));
        // 95 % of samples have the true median between these ranks.
        let off = ROUNDS.isqrt();
        println!(
            "  {kind:<8} {:>6.2} µs, {:.3} times none ({:.3} to {:.3})",
            median_of_sorted(&plies),
            median_of_sorted(&ratios),
            ratios[ROUNDS / 2 - off],
            ratios[ROUNDS / 2 + off],
        );
    }
    println!();
}

/// Time on the clock, and processor time.
#[derive(Clone, Copy)]
struct Time {
    wall: f64,
    processor: f64,
}

impl Time {
    /// Until a command has ended, in seconds.
    fn of(command: &mut Command) -> Self {
        let (before, started) = (used_by_children(), Instant::now());
        let status = command.status().expect("the referee starts");
        assert!(status.success());
        Self {
            wall: started.elapsed().as_secs_f64(),
            processor: used_by_children() - before,
        }
    }

    /// What this has taken more, for each of so many, in milliseconds.
    fn each(self, less: Self, number: u32) -> Self {
        let each = |more: f64, less: f64| (more - less).max(0.0) * 1e3 / f64::from(number);
        Self {
            wall: each(self.wall, less.wall),
            processor: each(self.processor, less.processor),
        }
    }

    fn median(measured: &[Self]) -> Self {
        let median = |what: fn(&Self) -> f64| median_of_sorted(&sorted(measured.iter().map(what)));
        Self {
            wall: median(|time| time.wall),
            processor: median(|time| time.processor),
        }
    }
}

/// Processor time, in seconds, of all children that have been waited for, with all of theirs.
fn used_by_children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("this process");
    // The name of the program may hold anything.
    let (_, fields) = stat.rsplit_once(") ").expect("a name");
    let ticks = |at: usize| -> f64 {
        let field = fields.split(' ').nth(at).expect("a field");
        field.parse().expect("a number")
    };
    #[expect(clippy::cast_precision_loss, reason = "it is 100")]
    let second = rustix::param::clock_ticks_per_second() as f64;
    (ticks(13) + ticks(14)) / second
}

fn starts(kinds: &[&str], bot: &Path) {
    let mut measured = vec![Vec::new(); kinds.len()];
    let run = |kind: &str, games: u32| {
        let mut command = referee(kind, games);
        Time::of(command.arg("--restart").args([bot, bot]))
    };
    for _ in 0..STARTING_ROUNDS {
        for (kind, measured) in kinds.iter().zip(&mut measured) {
            let once = run(kind, 1);
            measured.push(run(kind, STARTS + 1).each(once, STARTS * 2));
        }
    }
    println!("start, a game, and end of a process, on all CPUs: processor time, and by the clock");
    for (kind, measured) in kinds.iter().zip(measured) {
        let Time { wall, processor } = Time::median(&measured);
        println!("  {kind:<8} {processor:>6.2} ms {wall:>6.2} ms");
    }
    println!();
}

fn tournaments(kinds: &[&str], bot: &Path) {
    let mut measured = vec![Vec::new(); kinds.len()];
    let directory = std::env::temp_dir().join(format!("tournaments-{}", std::process::id()));
    let run = |kind: &str| {
        let _ = fs::remove_dir_all(&directory);
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        command
            .args([
                "tournament",
                "--seed",
                "1",
                "--sandbox",
                kind,
                "--jobs",
                "1",
            ])
            .args([
                "--pairs",
                &PAIRS.to_string(),
                "--restart",
                "game",
                "--no-check",
            ])
            // The instant bot knows no other beginning.
            .args(["--opening-plies", "0", "--out"])
            .args([&directory, bot, bot])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let nothing = Time {
            wall: 0.0,
            processor: 0.0,
        };
        Time::of(&mut command).each(nothing, PAIRS * 2)
    };
    for _ in 0..STARTING_ROUNDS {
        for (kind, measured) in kinds.iter().zip(&mut measured) {
            measured.push(run(kind));
        }
    }
    let _ = fs::remove_dir_all(&directory);
    println!("games of a tournament, one at a time: for a second of CPU time, and by the clock");
    for (kind, measured) in kinds.iter().zip(measured) {
        let Time { wall, processor } = Time::median(&measured);
        println!("  {kind:<8} {:>6.0} {:>6.0}", 1e3 / processor, 1e3 / wall);
    }
}
