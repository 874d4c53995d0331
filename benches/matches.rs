//! Whole matches of the release build, compared with the floor: a minimal program that only asks two
//! child processes in turn over blocking pipes. Run with `cargo bench --bench matches`.
//!
//! Everything runs on one CPU, the most repeatable setting: a wake-up is then a context switch
//! and no interrupt to another core.

mod common;

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rustix::thread::{CpuSet, sched_setaffinity};

use common::{build_instant, median_of_sorted, sorted};

/// Turns of every game of the instant bot against itself.
const TURNS: u32 = 17;
const ROUNDS: usize = 5;

/// The time of a run.
#[derive(Clone, Copy, Default)]
struct Run {
    wall: Duration,
    /// CPU time of the process itself, without its children.
    cpu: Duration,
}

fn main() {
    let bot = build_instant();
    let mut cpus = CpuSet::new();
    cpus.set(0);
    if let Err(error) = sched_setaffinity(None, &cpus) {
        println!("not pinned to one CPU: {error}");
    }
    println!(
        "two instant bots, everything on CPU 0, medians of {ROUNDS} rounds (minimum to maximum)\n"
    );
    compare("processes kept", 10_000, &bot, false);
    compare("fresh processes for every game", 1_000, &bot, true);
}

/// Runs floor and referee in turn, so that both run under the same conditions.
fn compare(title: &str, games: u32, bot: &Path, fresh: bool) {
    let mut floors = Vec::new();
    let mut referees = Vec::new();
    for _ in 0..=ROUNDS {
        floors.push(floor(games, bot, fresh));
        referees.push(referee(games, bot, fresh));
    }
    // The first round warms up.
    let (floors, referees) = (&floors[1..], &referees[1..]);
    let plies = f64::from(games * TURNS);
    let games = f64::from(games);
    println!("{title}");
    row(
        "floor",
        floors,
        |run| games / run.wall.as_secs_f64(),
        "games/s",
    );
    row(
        "referee",
        referees,
        |run| games / run.wall.as_secs_f64(),
        "games/s",
    );
    row(
        "floor",
        floors,
        |run| plies / run.wall.as_secs_f64(),
        "plies/s",
    );
    row(
        "referee",
        referees,
        |run| plies / run.wall.as_secs_f64(),
        "plies/s",
    );
    let per_ply = |run: &Run| run.cpu.as_secs_f64() * 1e6 / plies;
    row("referee", referees, per_ply, "µs of its own CPU per ply");
    let ratio = median(referees, |run| 1.0 / run.wall.as_secs_f64())
        / median(floors, |run| 1.0 / run.wall.as_secs_f64());
    println!("  referee / floor {ratio:>14.2}\n");
}

fn row(name: &str, runs: &[Run], figure: impl Fn(&Run) -> f64, unit: &str) {
    let figures = sorted(runs.iter().map(figure));
    let digits = if figures[0] < 100.0 { 2 } else { 0 };
    println!(
        "  {name:<8} {:>14.digits$} ({:.digits$} to {:.digits$}) {unit}",
        median_of_sorted(&figures),
        figures[0],
        figures[figures.len() - 1]
    );
}

fn median(runs: &[Run], figure: impl Fn(&Run) -> f64) -> f64 {
    median_of_sorted(&sorted(runs.iter().map(figure)))
}

struct Asked {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

fn start(bot: &Path) -> Asked {
    let mut child = Command::new(bot)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the bot starts");
    let input = child.stdin.take().unwrap();
    let output = child.stdout.take().unwrap();
    Asked {
        child,
        input,
        output,
    }
}

fn stop(asked: Asked) {
    let Asked {
        mut child, input, ..
    } = asked;
    drop(input);
    child.wait().unwrap();
}

/// Exchanges the same lines as in a match, without checking them.
fn floor(games: u32, bot: &Path, fresh: bool) -> Run {
    let drawn = b"IONGCABMHEDJPLKF";
    let lines: Vec<Vec<u8>> = (0..=16)
        .map(|placed| {
            let mut line = vec![b'.'; 16];
            let placed: usize = if placed == 0 { 0 } else { placed - 1 };
            line[..placed].copy_from_slice(&drawn[..placed]);
            line.extend([b' ', drawn[placed], b'\n']);
            line
        })
        .enumerate()
        .map(|(turn, mut line)| {
            if turn == 0 {
                line[17] = b'-';
            }
            line
        })
        .collect();
    let started = Instant::now();
    let mut pair = [start(bot), start(bot)];
    for _ in 0..games {
        for (turn, line) in lines.iter().enumerate() {
            let asked = &mut pair[turn % 2];
            asked.input.write_all(line).unwrap();
            assert!(asked.output.read(&mut [0; 64]).unwrap() > 0);
        }
        if fresh {
            pair.into_iter().for_each(stop);
            pair = [start(bot), start(bot)];
        }
    }
    pair.into_iter().for_each(stop);
    Run {
        wall: started.elapsed(),
        cpu: Duration::ZERO,
    }
}

fn referee(games: u32, bot: &Path, fresh: bool) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command
        .args(["--seed", "1", "-n", &games.to_string()])
        .args(fresh.then_some("--restart"))
        .args([bot, bot])
        .stdout(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().expect("the referee starts");
    let pid = Pid::from_child(&child);
    // Leaves it as a zombie, whose own CPU time can still be read.
    waitid(
        WaitId::Pid(pid),
        WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
    )
    .unwrap();
    let wall = started.elapsed();
    let cpu = own_cpu(child.id());
    assert!(child.wait().unwrap().success());
    Run { wall, cpu }
}

/// User and system time of a process without its children, in steps of 10 ms.
fn own_cpu(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: u64 = [11, 12]
        .iter()
        .filter_map(|&i| fields.get(i)?.parse::<u64>().ok())
        .sum();
    Duration::from_millis(10 * ticks)
}
