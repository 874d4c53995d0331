//! The table of exit statuses in `--help` and docs/command-line.md, for every command: also where nobody reads what it
//! prints, and where that cannot be written.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::classroom::{GREEDY, RANDOM};
use crate::common::files::{copy, executable};
use crate::common::hangs::HANGS;
use crate::common::{Referee, command as command_of, each_of, records};

/// What a command does when the reader of its results has gone away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// It ends with its own status.
    Outlived,
    /// It stops, with 0.
    Needed,
}

use Reader::{Needed, Outlived};

/// Words of the command line, with files that [`prepare`] writes; the status when all is read; and what a reader means.
const COMMANDS: &[(&str, i32, Reader)] = &[
    ("builtin:random builtin:random --seed 1", 0, Needed),
    (
        "builtin:random builtin:random --seed 1 -n 3 --json",
        0,
        Needed,
    ),
    (
        "builtin:random builtin:random --seed 1 -n 3 --record new.jsonl",
        0,
        Outlived,
    ),
    (
        "builtin:random builtin:random --seed 1 --report new.html",
        0,
        Outlived,
    ),
    // Both people leave: there is nothing to read.
    ("play --seed 1", 0, Needed),
    ("nobody builtin:random", 2, Outlived),
    ("new", 0, Outlived),
    ("check builtin:random", 0, Outlived),
    ("check ./wrong.sh --sandbox none", 3, Outlived),
    ("adapt gomocup nobody --out bots", 2, Outlived),
    ("league serve term --listen nowhere", 2, Outlived),
    ("ask builtin:random", 0, Needed),
    (
        "debug games.jsonl builtin:random --number 1 --as 1 --sandbox none",
        0,
        Needed,
    ),
    (
        "rerun games.jsonl ./wrong.sh --as 1 --sandbox none",
        3,
        Outlived,
    ),
    ("hunt ./wrong.sh --time 5s --sandbox none", 3, Outlived),
    (
        "puzzles run puzzle.jsonl ./wrong.sh --require 90% --sandbox none",
        3,
        Outlived,
    ),
    (
        "puzzles make late.jsonl --limit 1 -o puzzles.jsonl",
        0,
        Outlived,
    ),
    ("puzzles page puzzle.jsonl -o puzzles.html", 0, Outlived),
    (
        "compare builtin:random builtin:greedy --pairs 1 --all --seed 1 --no-check",
        4,
        Outlived,
    ),
    ("game new", 0, Outlived),
    ("game check './countdown.sh svg'", 0, Outlived),
    ("game check './countdown.sh crashes'", 3, Outlived),
    ("game check ./wrong.sh", 2, Outlived),
    (
        "tournament builtin:random builtin:greedy --pairs 1 --seed 1 --no-check --out cup",
        0,
        Outlived,
    ),
    (
        "league new --from submissions --pairs 1 --seed 1 --sandbox none",
        0,
        Outlived,
    ),
    ("league nothing", 2, Outlived),
    ("league final term --announce", 0, Outlived),
    ("league alike term --time 1s --sandbox none", 0, Outlived),
    ("league withdraw term ann --why copied", 0, Outlived),
    ("league restore term cem", 0, Outlived),
    ("league replay-game term p1a --why again", 2, Outlived),
    ("league deadline term none", 0, Outlived),
    ("league freeze term", 0, Outlived),
    ("league open-tables term off", 0, Outlived),
    ("league new-link term ann", 2, Outlived),
    (
        "grade builtin:random --scale scale.toml --out grades",
        0,
        Outlived,
    ),
    ("simulate --bots 3 --tournaments 10", 0, Needed),
    (
        "shard plan builtin:random builtin:greedy --pairs 1 --seed 1 --no-check --out parts",
        0,
        Outlived,
    ),
    ("shard run planned --shard 1/1", 0, Outlived),
    ("shard run planned --shard 2/1", 2, Outlived),
    ("shard merge played", 0, Outlived),
    ("shard merge planned", 2, Outlived),
    ("replay games.jsonl", 0, Needed),
    ("replay games.jsonl --number 9", 2, Needed),
    ("analyse late.jsonl", 0, Needed),
    ("analyse late.jsonl --output analysed.jsonl", 0, Outlived),
    (
        "alike builtin:random builtin:greedy builtin:perfect --time 1s",
        0,
        Needed,
    ),
    ("standings games.jsonl", 0, Needed),
    ("standings games.jsonl --format csv", 0, Needed),
    ("report games.jsonl --output page.html", 0, Outlived),
    ("board ................", 0, Needed),
    ("solve 'KH.FN.CMDA.JP.O. B' --all", 0, Needed),
    ("doctor", 0, Needed),
    ("print scale", 0, Needed),
    ("print completions bash", 0, Needed),
    ("print man", 0, Needed),
    ("print schema record", 0, Needed),
];

/// Commands of [`COMMANDS`] that print nothing to stdout. Those that could not begin do not, either.
const SILENT: &[&str] = &[
    "ask",
    "league deadline",
    "league freeze",
    "league open-tables",
    "league replay-game",
    "league restore",
    "league withdraw",
    "report",
    "shard plan",
    "shard run",
];

/// What shows that a run is in the midst of its work.
#[derive(Clone, Copy, Debug)]
enum Begun {
    /// This file is there, and not empty.
    File(&'static str),
    /// It is told of Ctrl-C; from then on it computes, or waits for its standard input.
    Listens,
}

use Begun::{File, Listens};

/// Runs that do not end by themselves. `slow.sh` writes a file when it starts, and never answers.
const ENDLESS: &[(&str, Begun)] = &[
    ("builtin:random builtin:random -n 1000000", File("seen")),
    (
        "builtin:random builtin:random -n 1000000 --json",
        File("seen"),
    ),
    (
        "builtin:random builtin:random -n 1000000 --record new.jsonl",
        File("seen"),
    ),
    ("play", File("seen")),
    (
        "check ./slow.sh --move-time 10m --sandbox none",
        File("begun"),
    ),
    (
        "debug games.jsonl ./slow.sh --number 1 --as 1 --move-time 10m --sandbox none",
        File("begun"),
    ),
    (
        "rerun games.jsonl ./slow.sh --as 1 --sandbox none",
        File("begun"),
    ),
    ("rerun - ./slow.sh --as 1 --sandbox none", Listens),
    (
        "hunt ./slow.sh --time 10m --move-time 10m --sandbox none",
        File("begun"),
    ),
    ("puzzles make -", Listens),
    (
        "puzzles run puzzle.jsonl ./slow.sh --move-time 10m --sandbox none",
        File("begun"),
    ),
    (
        "compare builtin:random builtin:greedy --pairs 1000 --all --no-check --out cup",
        File("cup/games.jsonl"),
    ),
    ("game check ./slow.sh", File("begun")),
    (
        "tournament builtin:random builtin:greedy --pairs 1000 --no-check --out cup",
        File("cup/games.jsonl"),
    ),
    (
        "league new --from slow --pairs 1 --move-time 10m --sandbox none",
        File("begun"),
    ),
    (
        "league alike term --time 10m --move-time 10m --sandbox none",
        Listens,
    ),
    (
        "grade ./slow.sh --scale scale.toml --out grades --move-time 10m --sandbox none",
        File("begun"),
    ),
    ("simulate --bots 20 --tournaments 1000000", Listens),
    (
        "shard plan ./slow.sh builtin:random --move-time 10m --out parts --sandbox none",
        File("begun"),
    ),
    (
        "shard run long --shard 1/1",
        File("long/shards/1-of-1.jsonl"),
    ),
    ("replay -", Listens),
    ("analyse -", Listens),
    ("standings -", Listens),
    ("report - --output page.html", Listens),
    (
        "alike ./slow.sh builtin:greedy --time 10m --move-time 10m --sandbox none",
        File("begun"),
    ),
    ("solve '................ -' --all", Listens),
];

/// Commands that only read and write a few files, or end with their standard input. The server of a class is not in this
/// build (`tests/class_server` has it).
const QUICK: &[&str] = &[
    "adapt",
    "ask",
    "board",
    "doctor",
    "game new",
    "league deadline",
    "league final",
    "league freeze",
    "league new-link",
    "league open-tables",
    "league serve",
    "league replay-game",
    "league restore",
    "league withdraw",
    "new",
    "print completions",
    "print man",
    "print scale",
    "print schema",
    "puzzles page",
    "shard merge",
];

const PROGRAMS: [(&str, &str); 3] = [
    (
        "wrong.sh",
        "#!/bin/sh\nwhile read -r line; do echo '3 A'; done\n",
    ),
    (
        "slow.sh",
        "#!/bin/sh\necho begun > \"$BEGUN\"\nexec sleep 600\n",
    ),
    ("countdown.sh", include_str!("../bots/games/countdown.sh")),
];

/// The files that commands read.
static PREPARED: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let place = tempfile::tempdir().expect("a directory");
    prepare(place.path());
    place
});

fn prepare(place: &Path) {
    let record = |name: &str, more: &[&str]| {
        let run = Referee::new([
            "builtin:random",
            "builtin:random",
            "--seed",
            "1",
            "--record",
            name,
            "-n",
            "2",
        ])
        .args(more)
        .directory(place)
        .run();
        assert_eq!(run.code, Some(0), "{run}");
    };
    record("games.jsonl", &[]);
    // Solved in no time.
    record("late.jsonl", &["--start", "KH.FN.CMDA.JP.O. B"]);
    let rung = "[[rung]]\nname = \"random\"\nbot = \"builtin:random\"\nelo0 = 0\nelo1 = 100\npoints = 10\n";
    let scale = format!("alpha = 0.05\nbeta = 0.05\nbudget = 2\nseed = 1\n\n{rung}");
    fs::write(place.join("scale.toml"), scale).expect("a file");
    let puzzle = [
        "puzzles",
        "make",
        "late.jsonl",
        "--limit",
        "1",
        "-o",
        "puzzle.jsonl",
    ];
    let run = |words: &[&str]| {
        let run = Referee::new(words).directory(place).run();
        assert_eq!(run.code, Some(0), "{run}");
    };
    run(&puzzle);
    for (folder, pairs) in [("planned", "1"), ("played", "1"), ("long", "1000")] {
        let bots = ["builtin:random", "builtin:greedy"];
        let plan = ["--pairs", pairs, "--seed", "1", "--no-check", "--out"];
        run(&[&["shard", "plan"], &bots[..], &plan, &[folder]].concat());
    }
    run(&["shard", "run", "played", "--shard", "1/1"]);
    let bot = |name: &str, text: &str| {
        fs::create_dir_all(place.join(name)).expect("a folder");
        fs::write(place.join(name).join("bot.sh"), text).expect("a bot");
    };
    for (name, text) in [("ann", RANDOM), ("ben", GREEDY), ("cem", RANDOM)] {
        bot(&format!("submissions/{name}"), text);
    }
    let slow = PROGRAMS.iter().find(|(name, _)| *name == "slow.sh");
    bot("slow/ann", slow.expect("it is there").1);
    let options = ["--pairs", "1", "--seed", "1", "--sandbox", "none"];
    let league = ["league", "term", "--from", "submissions"];
    run(&[&league[..], &options].concat());
    run(&["league", "withdraw", "term", "cem", "--why", "copied"]);
}

/// A folder of its own with all files.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a directory");
    copy(PREPARED.path(), place.path());
    for (name, text) in PROGRAMS {
        executable(&place.path().join(name), text, 0o755);
    }
    place
}

fn command(line: &str) -> (tempfile::TempDir, Referee) {
    let place = place();
    let words = shell_words::split(line).expect("words");
    let referee = Referee::new(words).directory(place.path());
    (place, referee)
}

fn closed_pipe() -> io::PipeWriter {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    writer
}

/// The names of the commands in a help text.
fn commands_in(help: &str) -> Vec<&str> {
    let Some((_, listed)) = help.split_once("Commands:\n") else {
        return Vec::new();
    };
    let (listed, _) = listed.split_once("\n\n").expect("an end");
    let names = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let names = names.filter_map(|line| line.split(' ').next());
    names.filter(|name| *name != "help").collect()
}

/// With those of commands that have some, such as `shard run`.
fn all_commands() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let help = Referee::new(["--help"]).run().stdout;
    for name in commands_in(&help) {
        let help = Referee::new([name, "--help"]).run().stdout;
        let of_it = commands_in(&help);
        // A league is also run.
        if of_it.is_empty() || name == "league" {
            all.insert(name.to_owned());
        }
        all.extend(of_it.into_iter().map(|command| format!("{name} {command}")));
    }
    assert!(all.len() > 30, "{all:?}");
    all
}

/// Which of the commands a line runs; `None` for a match.
fn command_of_line<'a>(line: &str, all: &'a BTreeSet<String>) -> Option<&'a str> {
    let is_of = |command: &&String| {
        let rest = line.strip_prefix(command.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    // `league final`, not `league`.
    let found = all.iter().filter(is_of).max_by_key(|command| command.len());
    found.map(String::as_str)
}

#[test]
fn every_command_is_in_the_tables() {
    let all = all_commands();
    let tried = |lines: &mut dyn Iterator<Item = &str>| -> BTreeSet<&str> {
        lines
            .filter_map(|line| command_of_line(line, &all))
            .collect()
    };
    let known: BTreeSet<&str> = all.iter().map(String::as_str).collect();
    let read = tried(&mut COMMANDS.iter().map(|(line, ..)| *line));
    assert_eq!(read, known);
    let endless = tried(&mut ENDLESS.iter().map(|(line, _)| *line));
    let quick = QUICK.iter().copied().collect();
    assert!(endless.is_disjoint(&quick), "{quick:?}");
    let interrupted: BTreeSet<&str> = endless.union(&quick).copied().collect();
    assert_eq!(interrupted, known);
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    each_of(COMMANDS, |&(line, status, reader)| {
        let (_place, referee) = command(line);
        let read = referee.run();
        assert_eq!(read.code, Some(status), "{line}: {read}");
        let expected = match reader {
            Outlived => vec![status],
            // What prints at once may have ended before.
            Needed => vec![0, status],
        };
        for both in [false, true] {
            let (_place, mut referee) = command(line);
            let writer = closed_pipe();
            if both {
                referee = referee.stderr(writer.try_clone().expect("a pipe"));
            }
            let run = referee.stdout(writer).run();
            let code = run.code.unwrap_or(-1);
            assert!(expected.contains(&code), "{line}: {expected:?} {run}");
            assert!(!run.stderr.contains("pipe"), "{line}: {run}");
        }
    });
}

#[test]
fn files_are_written_without_a_reader() {
    let (place, referee) = command(
        "builtin:random builtin:random --seed 1 -n 20 --record new.jsonl --report new.html",
    );
    assert_eq!(referee.stdout(closed_pipe()).run().code, Some(0));
    let text = fs::read_to_string(place.path().join("new.jsonl")).expect("records");
    assert_eq!(records(&text).len(), 20);
    assert!(place.path().join("new.html").exists());
    let (place, referee) =
        command("tournament builtin:random builtin:greedy --pairs 5 --seed 1 --no-check --out cup");
    assert_eq!(referee.stdout(closed_pipe()).run().code, Some(0));
    let table = fs::read(place.path().join("cup/standings.json")).expect("a table");
    let table: Value = serde_json::from_slice(&table).expect("JSON");
    assert_eq!(table["games"], 10);
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_a_failure() {
    each_of(COMMANDS, |&(line, status, _)| {
        let (_place, referee) = command(line);
        let run = referee.shell("exec \"$0\" \"$@\" >/dev/full").run();
        if status == 2 || SILENT.iter().any(|silent| line.starts_with(silent)) {
            assert_eq!(run.code, Some(status), "{line}: {run}");
            return;
        }
        assert_eq!(run.code, Some(1), "{line}: {run}");
        assert!(
            run.stderr.contains("no space is left on the disk"),
            "{line}: {run}"
        );
    });
}

#[cfg(target_os = "linux")]
#[test]
fn notes_that_cannot_be_written_are_no_failure() {
    each_of(COMMANDS, |&(line, status, _)| {
        let (_place, referee) = command(line);
        let run = referee.shell("exec \"$0\" \"$@\" 2>/dev/full").run();
        assert_eq!(run.code, Some(status), "{line}: {run}");
    });
}

/// Whether this process, not its parent before the `exec`, is told of SIGINT.
#[cfg(target_os = "linux")]
fn listens(id: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let caught = status
        .lines()
        .find_map(|line| line.strip_prefix("SigCgt:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.unwrap_or(0) & 1 << (Signal::INT.as_raw() - 1) != 0
}

/// Ctrl-C at a terminal reaches all of a pipeline: the reader ends, too, and perhaps first.
#[test]
fn ctrl_c_under_tee_is_an_interruption() {
    each_of(ENDLESS, |&(line, begun)| {
        if matches!(begun, Listens) && cfg!(not(target_os = "linux")) {
            return;
        }
        for has_notes in [false, true] {
            let place = place();
            let (reader, writer) = io::pipe().expect("a pipe");
            // Nothing comes, until the end.
            let (input, _held) = io::pipe().expect("a pipe");
            let notes = if has_notes {
                Stdio::from(writer.try_clone().expect("a pipe"))
            } else {
                Stdio::null()
            };
            let mut referee = command_of(env!("CARGO_BIN_EXE_referee"))
                .args(shell_words::split(line).expect("words"))
                .env("BEGUN", place.path().join("begun"))
                .env("REFEREE_BIN", env!("CARGO_BIN_EXE_referee"))
                .current_dir(&place)
                .stdin(input)
                .stdout(writer)
                .stderr(notes)
                .process_group(0)
                .spawn()
                .expect("the referee");
            let id = referee.id();
            let group = i32::try_from(id).expect("an id");
            let mut tee = command_of("tee")
                .arg("seen")
                .current_dir(&place)
                .stdin(reader)
                .stdout(Stdio::null())
                .process_group(group)
                .spawn()
                .expect("tee");
            let started = Instant::now();
            let has_begun = || match begun {
                File(name) => {
                    fs::metadata(place.path().join(name)).is_ok_and(|meta| meta.len() > 0)
                }
                #[cfg(target_os = "linux")]
                Listens => listens(id),
                #[cfg(not(target_os = "linux"))]
                Listens => true,
            };
            while !has_begun() && started.elapsed() < HANGS {
                thread::sleep(Duration::from_millis(5));
            }
            let group = Pid::from_raw(group).expect("a group");
            kill_process_group(group, Signal::INT).expect("a signal");
            let ended = loop {
                match referee.try_wait().expect("a child") {
                    None if started.elapsed() < HANGS => thread::sleep(Duration::from_millis(5)),
                    ended => break ended,
                }
            };
            let _ = referee.kill();
            let _ = (referee.wait(), tee.wait());
            assert_eq!(
                ended.and_then(|status| status.code()),
                Some(130),
                "{line} {has_notes}"
            );
        }
    });
}
