//! A machine on which twelve programs compute and two write to the disk, or on which nothing of a program is in memory when
//! it starts: no honest bot loses a game by its clock, while it starts as little as while it plays; one that sleeps, or that
//! computes too long, loses every game. And a start of which nothing is heard in time.
//!
//! `REFEREE_CROWD=60 cargo test --release --test environment crowd::` plays sixty games of each bot in place of four.

use std::env;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use referee::bot::process::{Process, SilentStart};
use referee::entrants::argument::BotSpec;
use referee::sandbox::{Sandbox, SandboxKind, SandboxRequest};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::files::{copy_program, executable};
use crate::common::{bots, command, hangs, plain_directory};
use crate::requirements::{is_ci, program, unavailable};

const WRITERS: usize = 2;

/// What each of them writes and reads again.
const WRITTEN: &str = "count=2048";

/// Programs that keep the CPUs and the disk busy until this is dropped.
struct Crowd {
    programs: Vec<Child>,
    _files: TempDir,
}

impl Crowd {
    /// So many that compute, beside those that write.
    fn gather(loops: usize) -> Self {
        let files = tempfile::Builder::new().prefix("crowd-").tempdir();
        let files = files.expect("a folder");
        let computes = |_| "while :; do :; done".to_owned();
        let file = |number: usize| files.path().join(number.to_string());
        // The shell becomes the last program, so that killing it leaves none behind.
        let writes = |number| {
            let file = file(number);
            format!(
                "trap 'kill $!; exit' TERM; while :; do \
                   dd if=/dev/zero of={0} bs=1M {WRITTEN} conv=fsync 2>/dev/null & wait $!; \
                   dd if={0} of=/dev/null bs=1M 2>/dev/null & wait $!; \
                 done",
                file.display()
            )
        };
        let scripts = (0..loops).map(computes).chain((0..WRITERS).map(writes));
        let start = |script: String| {
            Command::new("sh")
                .args(["-c", &script])
                .stdin(Stdio::null())
                .spawn()
                .expect("a shell")
        };
        Self {
            programs: scripts.map(start).collect(),
            _files: files,
        }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for program in &mut self.programs {
            // Not SIGKILL: what writes has to stop its own child.
            let id = program.id().to_string();
            let _ = Command::new("kill").arg(id).status();
            let _ = program.wait();
        }
    }
}

/// How many games of each bot.
fn games() -> usize {
    let games = env::var("REFEREE_CROWD").ok();
    games.and_then(|games| games.parse().ok()).unwrap_or(4)
}

/// What is done before each game.
type Before = fn() -> io::Result<()>;

/// Nothing.
const WARM: Before = || Ok(());

/// The kernel forgets what it has read from the disk.
const COLD: Before = || {
    rustix::fs::sync();
    fs::write(DROP_CACHES, "3")
};

/// Only root may write it, and not in every container.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// The limits of a game: for a move, and in addition for a start.
#[derive(Clone, Copy)]
struct Limits {
    move_time: Duration,
    start_time: Duration,
}

impl Limits {
    /// So many times what a bot needs for its first answer, half of it to start.
    fn of(need: Duration, times: f64) -> Self {
        let half = need.mul_f64(times / 2.0);
        Self {
            move_time: half,
            start_time: half,
        }
    }
}

/// The record of a game of a bot, played by a process of its own.
fn record(bot: &str, limits: Limits, seed: usize) -> Result<Value, Failed> {
    let milliseconds = |time: Duration| format!("{}ms", time.as_millis());
    // Not `Referee`, whose runs have an end: a game may be played three times, each with ten times its limits.
    let output = command(env!("CARGO_BIN_EXE_referee"))
        .args(["--json", "--sandbox", "none", "--first", "1"])
        .args(["--move-time", &milliseconds(limits.move_time)])
        .args(["--start-time", &milliseconds(limits.start_time)])
        .args(["--seed", &seed.to_string(), bot, "builtin:random"])
        .current_dir(bots())
        .stderr(Stdio::inherit())
        .output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The records of its games.
fn records(bot: &str, limits: Limits, before: Before) -> Result<Vec<Value>, Failed> {
    let play = |seed: usize| {
        before()?;
        record(bot, limits, seed)
    };
    (0..games()).map(play).collect()
}

/// What a bot needs here for its first answer, while nothing else runs: the most CPU time that it used in a game.
fn need(bot: &str) -> Result<Duration, Failed> {
    let limits = Limits::of(hangs::HANGS, 1.0);
    let mut most = LEAST;
    for seed in 0..3 {
        let record = record(bot, limits, seed)?;
        let used = record["usage"][0]["cpu_ms"].as_f64().ok_or("no usage")?;
        most = most.max(Duration::from_secs_f64(used / 1000.0));
    }
    Ok(most)
}

/// No bot is given less: what the referee itself takes to start one counts.
const LEAST: Duration = Duration::from_millis(20);

/// The limits of those that exceed them.
const SHORT: Limits = Limits {
    move_time: Duration::from_millis(150),
    start_time: Duration::from_millis(50),
};

fn player(name: &str) -> String {
    format!("{}/players/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn a_crowded_machine_convicts_the_slow_ones_only() -> Result<(), Failed> {
    let bots = HonestBot::all()?;
    let _crowd = Crowd::gather(12);
    convicts_the_slow_ones_only(&bots, 2.0, WARM)
}

/// The pages of a program, of its interpreter and of the shell are read from a disk that others keep busy.
fn a_busy_disk_convicts_the_slow_ones_only() -> Result<(), Failed> {
    let bots = HonestBot::all()?;
    let _crowd = Crowd::gather(4);
    for times in [3.0, 2.0, 1.5] {
        convicts_the_slow_ones_only(&bots, times, COLD)?;
    }
    Ok(())
}

/// A bot, and what it needs on an idle machine.
struct HonestBot {
    command: String,
    need: Duration,
}

impl HonestBot {
    fn all() -> Result<Vec<Self>, Failed> {
        let commands = [
            "builtin:greedy".to_owned(),
            format!("python3 {}", player("greedy.py")),
            format!("java {}", player("Random.java")),
        ];
        let measured = commands.into_iter().map(|command| {
            let need = need(&command)?;
            Ok(Self { command, need })
        });
        measured.collect()
    }
}

/// The limits are so many times what an honest bot needs: its first answer takes many times as long here.
fn convicts_the_slow_ones_only(
    honest: &[HonestBot],
    times: f64,
    before: Before,
) -> Result<(), Failed> {
    let slow = ["./sleeps.sh 1", "./computes.sh"];
    let mut wrong = Vec::new();
    for bot in honest {
        let limits = Limits::of(bot.need, times);
        // The opponent is honest, too.
        let is_wrong = |record: &Value| record["result"]["reason"] == "timeout";
        let records = records(&bot.command, limits, before)?;
        wrong.extend(records.into_iter().filter(is_wrong));
    }
    for bot in slow {
        let is_wrong = |record: &Value| {
            let result = &record["result"];
            result["reason"] != "timeout" || result["by"] != 0
        };
        let records = records(bot, SHORT, before)?;
        wrong.extend(records.into_iter().filter(is_wrong));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let of = games() * (honest.len() + slow.len());
    Err(format!(
        "{} of {of} verdicts are wrong with {times} times what they need: {wrong:#?}",
        wrong.len()
    )
    .into())
}

/// A supervisor that reads what it is to start, and says nothing until it is told to end: it has not come to it.
fn a_start_of_which_nothing_is_heard_is_told_as_that(kind: SandboxKind) -> Result<(), Failed> {
    const LIMIT: Duration = Duration::from_millis(200);
    let place = plain_directory();
    let referee = place.path().join("referee");
    copy_program(Path::new(env!("CARGO_BIN_EXE_referee")), &referee);
    let sandbox = Sandbox::choose(&SandboxRequest {
        kind: Some(kind),
        referee: referee.clone(),
        ..SandboxRequest::default()
    })?;
    let bot = bots().join("drawn.sh");
    let BotSpec::Program(program) = BotSpec::parse(&bot.to_string_lossy(), &referee, &[])? else {
        return Err("it is not a program".into());
    };
    let program = program.confine(&sandbox, &[])?;
    fs::remove_file(&referee)?;
    executable(&referee, "#!/bin/sh\nexec cat >/dev/null\n", 0o755);
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let error = runtime.enable_all().build()?.block_on(async {
        let mut process = Process::start(&program, &[], None)?;
        process.ready_within(LIMIT).await
    });
    let error = error.err().ok_or("it runs")?;
    let silent = SilentStart::of(&error).ok_or_else(|| format!("it is another error: {error}"))?;
    if silent.waited < LIMIT || !error.to_string().contains("did not report that it runs") {
        return Err(format!("{error}").into());
    }
    Ok(())
}

fn works(kind: SandboxKind) -> bool {
    let request = SandboxRequest {
        kind: Some(kind),
        referee: env!("CARGO_BIN_EXE_referee").into(),
        ..SandboxRequest::default()
    };
    Sandbox::choose(&request).is_ok()
}

pub(crate) fn trials() -> Vec<Trial> {
    let of_starts = SandboxKind::BACKENDS.map(|kind| {
        let name = format!("crowd::a_start_of_which_nothing_is_heard_is_told_as_that in {kind}");
        let test = move || a_start_of_which_nothing_is_heard_is_told_as_that(kind);
        Trial::test(name, test).with_ignored_flag(!is_ci() && !works(kind))
    });
    let needed = [("python3", "python3"), ("java", "default-jdk-headless")];
    let missing = needed
        .into_iter()
        .find(|(command, _)| program(command, &[]).is_none());
    let of_verdicts = |name: &str, test: fn() -> Result<(), Failed>| {
        let name = format!("crowd::{name}");
        match missing {
            None => Trial::test(name, test),
            Some((command, package)) => unavailable(name, command, package),
        }
    };
    let can_forget = fs::OpenOptions::new().write(true).open(DROP_CACHES).is_ok();
    let of_crowds = [
        of_verdicts(
            "a_crowded_machine_convicts_the_slow_ones_only",
            a_crowded_machine_convicts_the_slow_ones_only,
        ),
        of_verdicts(
            "a_busy_disk_convicts_the_slow_ones_only",
            a_busy_disk_convicts_the_slow_ones_only,
        )
        .with_ignored_flag(!can_forget),
    ];
    of_starts.into_iter().chain(of_crowds).collect()
}
