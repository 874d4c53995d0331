//! Whole matches of the release build against the floor: two children asked in turn over
//! blocking pipes, and nothing else. Run with `cargo bench --bench matches`.
//!
//! Everything runs on one CPU, the most repeatable setting: a wake-up is then a switch of
//! context and no interrupt to another core.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rustix::thread::{CpuSet, sched_setaffinity};

/// Turns of every game of the instant bot against itself.
const TURNS: u32 = 17;
const ROUNDS: usize = 5;

/// What a run took.
#[derive(Clone, Copy, Default)]
struct Run {
    wall: Duration,
    /// Of the process itself, without its children.
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
    in_sandboxes("processes kept", 20_000, &bot, false);
    in_sandboxes("fresh processes for every game", 100, &bot, true);
}

/// Runs the referee without a sandbox and in each that works here, in turn. What a run takes before
/// and after its games (a sandbox is tried out first, and files are copied) is taken off: it is
/// that of a run of one game.
fn in_sandboxes(title: &str, games: u32, bot: &Path, fresh: bool) {
    let works = |kind: &&str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        command.args(["--sandbox", kind, "--seed", "1"]);
        command.args(["builtin:random", "builtin:random"]);
        command.output().is_ok_and(|output| output.status.success())
    };
    let kinds: Vec<&str> = ["none", "landlock", "bwrap"]
        .into_iter()
        .filter(works)
        .collect();
    let mut runs = vec![Vec::new(); kinds.len()];
    for _ in 0..=ROUNDS {
        for (kind, runs) in kinds.iter().zip(&mut runs) {
            let once = referee(1, bot, fresh, kind);
            let mut run = referee(games + 1, bot, fresh, kind);
            run.wall = run.wall.saturating_sub(once.wall);
            runs.push(run);
        }
    }
    println!("in a sandbox, {title}");
    let each = if fresh { games * 2 } else { games * TURNS };
    let per = |run: &Run| run.wall.as_secs_f64() * 1e6 / f64::from(each);
    for (kind, measured) in kinds.iter().zip(&runs) {
        // The first round warms up.
        let unit = if fresh {
            "µs per process"
        } else {
            "µs per ply"
        };
        row(kind, &measured[1..], per, unit);
        // Of the same round: the machine is not the same for long.
        let rounds = measured[1..].iter().zip(&runs[0][1..]);
        let ratios = sorted(rounds.map(|(run, plain)| per(run) / per(plain)));
        println!("  {kind:<8} {:>14.3} times none", middle(&ratios));
    }
    println!();
}

/// Runs floor and referee in turn, so that both see the same machine.
fn compare(title: &str, games: u32, bot: &Path, fresh: bool) {
    let mut floors = Vec::new();
    let mut referees = Vec::new();
    for _ in 0..=ROUNDS {
        floors.push(floor(games, bot, fresh));
        referees.push(referee(games, bot, fresh, "none"));
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
        middle(&figures),
        figures[0],
        figures[figures.len() - 1]
    );
}

fn median(runs: &[Run], figure: impl Fn(&Run) -> f64) -> f64 {
    middle(&sorted(runs.iter().map(figure)))
}

fn sorted(figures: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures
}

/// Of sorted figures.
fn middle(figures: &[f64]) -> f64 {
    figures[figures.len() / 2]
}

/// Compiles the bot, beside the bench's own program.
fn build_instant() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/bots/instant.rs");
    // In a directory of its own: a sandbox copies it.
    let directory = env::current_exe().unwrap().with_file_name("instant-bot");
    fs::create_dir_all(&directory).unwrap();
    let target = directory.join("instant");
    let status = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition=2024", "-Copt-level=3", "-Cpanic=abort"])
        .args(["-Ctarget-feature=+crt-static", "-o"])
        .arg(&target)
        .arg(source)
        .status()
        .expect("rustc starts");
    assert!(status.success(), "rustc failed");
    target
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

/// The same lines as in a match, written and read without looking at them.
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

fn referee(games: u32, bot: &Path, fresh: bool, sandbox: &str) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command
        .args([
            "--seed",
            "1",
            "-n",
            &games.to_string(),
            "--sandbox",
            sandbox,
        ])
        .args(fresh.then_some("--restart"))
        .args([bot, bot])
        .stdout(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().expect("the referee starts");
    let pid = Pid::from_child(&child);
    // Leaves it a zombie, whose own CPU time can still be read.
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
