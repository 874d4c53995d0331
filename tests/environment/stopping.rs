//! Bots that the referee cannot end the usual way: one that leaves its process group, and one with
//! the rights of another user. Perl is needed for the system calls.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use rustix::process::getuid;
use serde_json::Value;

use crate::common::files::copy_program;
use crate::common::{Referee, Run, records as records_of, signals};
use crate::hangs::HANGS;
use crate::requirements::{is_ci, program, unavailable};

/// The user without rights: `nobody` on every system.
const NOBODY: u32 = 65534;

const BOTS: [&str; 2] = ["./leaves-group.pl", "builtin:random"];

/// A run that must end by itself; one that hangs is ended by the harness.
fn ends(run: &Run, code: i32, said: &str) -> Result<(), Failed> {
    if run.code == Some(code) && format!("{}{}", run.stdout, run.stderr).contains(said) {
        Ok(())
    } else {
        Err(format!("expected status {code} and `{said}`\n{run}").into())
    }
}

fn in_a_match() -> Result<(), Failed> {
    let run = Referee::new(["--seed", "1", "--move-time", "300ms", "--start-time", "2s"])
        .args(BOTS)
        .run();
    ends(&run, 0, "forfeits (timeout)")
}

fn in_a_check() -> Result<(), Failed> {
    let run = Referee::new(["check", "--move-time", "300ms", "--start-time", "2s"])
        .args(&BOTS[..1])
        .run();
    ends(&run, 3, "✗ answers the opening: timeout")
}

fn in_a_tournament() -> Result<(), Failed> {
    let run = Referee::new(["tournament", "--sandbox", "none", "--seed", "1"])
        .args(["--move-time", "300ms", "--start-time", "2s"])
        .args(BOTS)
        .args(["builtin:greedy"])
        .shell("exec \"$0\" \"$@\" --out \"$SCRATCH/out\"")
        .run();
    ends(&run, 0, "does not enter")
}

fn interrupted() -> Result<(), Failed> {
    for signal in ["INT", "TERM", "HUP"] {
        let mut running = Referee::new(["--seed", "1", "--move-time", "60s"])
            .args(BOTS)
            .start();
        running.wait_until(|scratch| scratch.join("left").exists());
        running.signal(signal);
        ends(&running.finish(), 130, "")?;
    }
    Ok(())
}

/// Perl with the rights of root, started by a referee without: it gives itself the rest, too.
fn out_of_reach() -> Result<(), Failed> {
    let directory = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o777))
        .tempdir()?;
    let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
    copy_program(
        &program("perl", &[]).ok_or("no perl")?,
        path("perl").as_ref(),
    );
    fs::set_permissions(path("perl"), Permissions::from_mode(0o4755))?;
    copy_program(
        env!("CARGO_BIN_EXE_referee").as_ref(),
        path("referee").as_ref(),
    );
    let bot = format!(
        "{} -e '$< = 0; $> = 0; print STDERR $$; sleep 1 while 1'",
        path("perl")
    );
    let mut child = Command::new("setpriv")
        .args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")])
        .args([
            "--clear-groups",
            "--",
            &path("referee"),
            "--seed",
            "1",
            "--json",
            "--sandbox",
            "none",
        ])
        .args(["--move-time", "300ms", "--start-time", "2s", "--first", "1"])
        .args([&bot, "builtin:random"])
        .current_dir(directory.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let begun = Instant::now();
    while child.try_wait()?.is_none() && begun.elapsed() < HANGS {
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = child.try_wait()?;
    child.kill()?;
    let output = child.wait_with_output()?;
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let record: serde_json::Value = serde_json::from_str(&stdout).unwrap_or_default();
    let pid = record["result"]["stderr"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let was_there = signals::send("KILL", &pid);
    let said =
        stderr.contains("could not be killed") && stderr.contains(&format!("(process {pid})"));
    if ended.is_some_and(|status| status.code() == Some(0)) && was_there && said {
        Ok(())
    } else {
        Err(format!("{ended:?}, process {pid}\n{stdout}\n{stderr}").into())
    }
}

/// What makes name spaces of processes, here also for people who are not root.
const UNSHARE: [&str; 5] = [
    "--user",
    "--map-root-user",
    "--pid",
    "--fork",
    "--mount-proc",
];

/// A child from before, whose process group began outside of the name space of processes: as a number it is 0.
fn group_from_outside() -> Result<(), Failed> {
    let output = Command::new("unshare")
        .args(UNSHARE)
        .args(["sh", "-c", "sleep 300 & exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_referee"))
        .args(["--seed", "1", "--sandbox", "none"])
        .args(["builtin:greedy", "builtin:random"])
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{output:#?}").into())
}

/// What a program gets as the time when this is loaded before the C library: one beyond the year 9999.
const LATE_CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *time)
{
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, time);
    if (id == CLOCK_REALTIME)
        time->tv_sec += 253402300800;
    return result;
}
"#;

/// One that is set back a year when it has been looked at a few times.
const CLOCK_SET_BACK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>
static atomic_int looks;
int clock_gettime(clockid_t id, struct timespec *time)
{
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, time);
    if (id == CLOCK_REALTIME && ++looks > 4)
        time->tv_sec -= 31557600;
    return result;
}
"#;

/// A library of this source, in a folder.
fn library(folder: &Path, source: &str) -> Result<PathBuf, Failed> {
    let (file, library) = (folder.join("clock.c"), folder.join("clock.so"));
    fs::write(&file, source)?;
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &file])
        .arg("-ldl")
        .status()?;
    assert!(compiled.success(), "it does not compile");
    Ok(library)
}

/// Times of bots are measured by another clock: nobody loses on time, nothing is played again, and what was played is read in
/// the order of its games.
fn clock_set_back() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let library = library(folder.path(), CLOCK_SET_BACK)?;
    let years = |records: &[Value]| -> Vec<String> {
        let started = records.iter().map(|record| &record["started"]);
        started
            .map(|time| time.as_str().unwrap_or_default()[..4].to_owned())
            .collect()
    };
    let words = ["--sandbox", "none", "--seed", "1", "--move-time", "10s"];
    let run = Referee::new(["builtin:random", "./drawn.sh 0.01", "-n", "8"])
        .args(words)
        .env("LD_PRELOAD", &library)
        .recorded()
        .run();
    ends(&run, 0, "in 8 games).")?;
    let records = run.records();
    let in_match = years(&records);
    assert!(in_match.first() > in_match.last(), "{in_match:?} {run}");
    let cup = folder.path().join("cup");
    let run = Referee::new(["tournament", "--no-check", "--pairs", "4", "--out"])
        .args([&cup])
        .args(["builtin:random", "./drawn.sh 0.01"])
        .args(words)
        .env("LD_PRELOAD", &library)
        .run();
    ends(&run, 0, "wins the tournament.")?;
    ends(&run, 0, "referee: 8 games in ")?;
    let games = records_of(&fs::read_to_string(cup.join("games.jsonl"))?);
    let in_cup = years(&games);
    assert!(
        in_cup.iter().min() < in_cup.iter().max(),
        "{in_cup:?} {run}"
    );
    for game in records.iter().chain(&games) {
        assert_ne!(game["result"]["reason"], "timeout", "{game}");
        assert!(game["voids"].is_null(), "{game}");
        let times = game["times_ms"].as_array().ok_or("times")?;
        let is_time = |time: &Value| {
            time.as_f64()
                .is_some_and(|ms| (0.0..10_000.0).contains(&ms))
        };
        assert!(times.iter().all(is_time), "{game}");
    }
    // It goes on and is read as ever.
    let again = Referee::new(["tournament", "--out"])
        .args([&cup])
        .args(words)
        .run();
    ends(&again, 0, "wins the tournament.")?;
    let page = folder.path().join("cup.html");
    let report = Referee::new(["report"])
        .args([&cup, Path::new("-o"), &page])
        .run();
    ends(&report, 0, "8 games of 2 bots")
}

/// A time that no record can hold ends no game, and no tournament.
fn late_clock() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let library = library(folder.path(), LATE_CLOCK)?;
    let bots = ["builtin:random", "builtin:greedy"];
    let run = Referee::new(["--sandbox", "none", "--seed", "1"])
        .args(bots)
        .env("LD_PRELOAD", &library)
        .recorded()
        .run();
    ends(&run, 0, "builtin:greedy wins")?;
    assert_eq!(run.records()[0]["started"], "9999-12-30T22:00:00Z", "{run}");
    let run = Referee::new([
        "tournament",
        "--sandbox",
        "none",
        "--no-check",
        "--seed",
        "1",
        "--pairs",
        "1",
    ])
    .args(bots)
    .env("LD_PRELOAD", &library)
    .shell("cd \"$SCRATCH\" && exec \"$0\" \"$@\"")
    .run();
    ends(&run, 0, "all files are in tournament-9999-")
}

pub(crate) fn trials() -> Vec<Trial> {
    type Test = fn() -> Result<(), Failed>;
    let tests: [(&str, Test); 4] = [
        ("a bot leaves its group in a match", in_a_match),
        ("a bot leaves its group in a check", in_a_check),
        ("a bot leaves its group in a tournament", in_a_tournament),
        ("a bot leaves its group and is interrupted", interrupted),
    ];
    let perl = program("perl", &[]).is_some();
    let mut trials: Vec<Trial> = tests
        .into_iter()
        .map(|(name, test)| {
            let name = format!("stopping::{name}");
            if perl {
                Trial::test(name, test)
            } else {
                unavailable(name, "perl", "perl-base")
            }
        })
        .collect();
    let name = "stopping::a bot is out of the referee's reach";
    trials.push(match (perl, program("setpriv", &[])) {
        (false, _) => unavailable(name, "perl", "perl-base"),
        (_, None) => unavailable(name, "setpriv", "util-linux"),
        // Only root can give a program the rights of another user.
        _ => Trial::test(name, out_of_reach).with_ignored_flag(!getuid().is_root() && !is_ci()),
    });
    let clocks: [(&str, Test); 2] = [
        ("stopping::a clock beyond the year 9999", late_clock),
        ("stopping::a clock that is set back a year", clock_set_back),
    ];
    for (name, test) in clocks {
        trials.push(match program("cc", &[]) {
            Some(_) => Trial::test(name, test),
            None => unavailable(name, "cc", "gcc"),
        });
    }
    let name = "stopping::a child from before is of a group from outside";
    let makes_name_spaces = || {
        let tried = Command::new("unshare").args(UNSHARE).arg("true").output();
        tried.is_ok_and(|output| output.status.success())
    };
    trials.push(if program("unshare", &[]).is_none() {
        unavailable(name, "unshare", "util-linux")
    } else {
        Trial::test(name, group_from_outside).with_ignored_flag(!is_ci() && !makes_name_spaces())
    });
    trials
}
