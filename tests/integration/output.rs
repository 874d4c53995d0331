//! Whoever reads what the referee prints, or does not read it, changes nothing in the games, and a
//! signal ends the referee wherever it stands.

#![cfg(target_os = "linux")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Read as _};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::common::{RECORDS, Referee, Run, Running, each_of};

/// Longer than any clock of the bots in a test.
const LONG: Duration = Duration::from_secs(3);

fn set_blocking(file: impl AsFd, blocking: bool) {
    let mut flags = fcntl_getfl(&file).expect("flags");
    flags.set(OFlags::NONBLOCK, !blocking);
    fcntl_setfl(&file, flags).expect("flags");
}

/// Writes until nothing more fits; returns how many bytes that were.
fn fill(mut pipe: impl io::Write + AsFd) -> usize {
    set_blocking(&pipe, false);
    let mut all = 0;
    while let Ok(count) = pipe.write(&[b'.'; 4096]) {
        all += count;
    }
    set_blocking(&pipe, true);
    all
}

/// A pipe into which nothing can be written before somebody reads, and how many bytes are in it.
fn full_pipe() -> (PipeReader, PipeWriter, usize) {
    let (reader, writer) = io::pipe().expect("a pipe");
    let filled = fill(&writer);
    (reader, writer, filled)
}

/// What is in a pipe after `filled` bytes.
fn rest(mut reader: PipeReader, filled: usize) -> String {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).expect("a pipe");
    String::from_utf8(bytes.split_off(filled)).expect("UTF-8")
}

/// Waits until a thread waits in a call of the system.
#[track_caller]
fn waits_in(running: &mut Running, call: &str) {
    let threads = PathBuf::from(format!("/proc/{}/task", running.id()));
    running.wait_until(|_| {
        let threads = fs::read_dir(&threads).into_iter().flatten().flatten();
        threads.into_iter().any(|thread| {
            fs::read_to_string(thread.path().join("syscall")).is_ok_and(|now| now.starts_with(call))
        })
    });
}

/// Waits until a thread waits for a stream that takes nothing: in `write`.
#[track_caller]
fn prints(running: &mut Running) {
    let write = if cfg!(target_arch = "x86_64") {
        "1 "
    } else {
        "64 "
    };
    waits_in(running, write);
}

/// Waits until a thread waits for a reader of a pipe: in `openat`.
#[track_caller]
fn opens(running: &mut Running) {
    let open = if cfg!(target_arch = "x86_64") {
        "257 "
    } else {
        "56 "
    };
    waits_in(running, open);
}

/// The records of some games.
fn games(directory: &Path) -> PathBuf {
    let path = directory.join("games.jsonl");
    let run = Referee::new(["--seed", "1", "-n", "3", "builtin:random", "builtin:random"])
        .args(["--record".as_ref(), path.as_os_str()])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    path
}

/// Checks that no game was lost on time, and that all were played.
#[track_caller]
fn undisturbed(run: &Run, games: usize) {
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.records().len(), games, "{run}");
    for record in run.records() {
        assert_eq!(record["result"]["by"], serde_json::Value::Null, "{run}");
        assert_eq!(record["voids"], serde_json::Value::Null, "{run}");
    }
}

// A signal ends it

#[test]
fn a_signal_ends_what_waits_for_a_reader_of_stdout() {
    let place = tempfile::tempdir().expect("a directory");
    let file = games(place.path());
    let file = file.to_str().expect("a path");
    let play = ["-n", "1000000", "builtin:random", "builtin:random"];
    let commands: &[&[&str]] = &[
        &["--seed", "1"],
        &["--seed", "1", "--json"],
        &["--seed", "1", "-vv"],
        &["board", "................"],
        &["pieces"],
        &["print", "man"],
        &["replay", file],
        &["standings", file],
        &["report", "-o", "-", file],
        &["analyse", "--time-per-move", "1ms", file],
        &["solve", "A..PC...J..EF... G"],
        &["check", "builtin:random"],
    ];
    let signals = ["INT", "TERM", "HUP"].into_iter().cycle();
    let all: Vec<_> = signals.zip(commands.iter().copied()).collect();
    each_of(&all, |&(signal, command)| {
        let (_reader, writer, _) = full_pipe();
        let mut referee = Referee::new(command).stdout(writer);
        if command[0].starts_with('-') {
            referee = referee.args(play);
        }
        let mut running = referee.start();
        prints(&mut running);
        running.signal(signal);
        let run = running.finish();
        assert_eq!(run.code, Some(130), "{command:?} {run}");
        assert!(
            run.stderr.contains("referee: interrupted"),
            "{command:?} {run}"
        );
        // `check` may be ended before its first line is complete.
        assert!(
            run.stderr
                .contains("of the results were not written, since there was no reader"),
            "{command:?} {run}"
        );
    });
}

#[test]
fn a_signal_ends_a_tournament_whose_summary_nobody_reads() {
    let (_reader, writer, _) = full_pipe();
    let mut running = Referee::new(["tournament", "--sandbox", "none", "--seed", "1"])
        .args(["--rounds", "2", "builtin:random", "builtin:greedy"])
        .shell("exec \"$0\" \"$@\" --out \"$SCRATCH/out\"")
        .stdout(writer)
        .start();
    running.wait_until(|scratch| scratch.join("out/standings.csv").exists());
    thread::sleep(Duration::from_millis(500));
    running.signal("INT");
    let run = running.finish();
    assert_eq!(run.code, Some(130), "{run}");
    assert!(run.stderr.contains("were not written"), "{run}");
    assert_eq!(run.file("out/games.jsonl").lines().count(), 40, "{run}");
}

/// A match that writes its records to a named pipe and its stderr to a file.
fn to_named_pipe(games: &str) -> (Referee, PathBuf) {
    let referee = Referee::new([
        "--seed",
        "1",
        "-n",
        games,
        "builtin:random",
        "builtin:random",
    ])
    .recorded()
    .shell("exec \"$0\" \"$@\" 2>\"$SCRATCH/stderr\"");
    let pipe = referee.scratch().join(RECORDS);
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    (referee, pipe)
}

#[test]
fn a_signal_ends_the_wait_for_a_reader_of_records() {
    each_of(&["INT", "TERM", "HUP"], |signal| {
        let (referee, pipe) = to_named_pipe("1000000");
        let mut running = referee.start();
        opens(&mut running);
        running.signal(signal);
        // What the harness reads at the end is a file.
        while running.is_running() {
            thread::sleep(Duration::from_millis(2));
        }
        fs::remove_file(pipe).expect("a pipe");
        let run = running.finish();
        assert_eq!(run.code, Some(130), "{run}");
        assert_eq!(run.stdout, "", "{run}");
    });
}

#[test]
fn a_reader_of_records_may_come_late() {
    let (referee, pipe) = to_named_pipe("60");
    let mut running = referee.start();
    opens(&mut running);
    let mut text = String::new();
    let mut reader = File::open(&pipe).expect("a pipe");
    reader.read_to_string(&mut text).expect("records");
    fs::remove_file(pipe).expect("a pipe");
    let run = running.finish();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(text.lines().count(), 60, "{run}");
    assert!(text.ends_with('\n'), "{run}");
}

#[test]
fn a_signal_ends_a_match_whose_records_nobody_reads() {
    let (referee, pipe) = to_named_pipe("1000000");
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let reader = options.custom_flags(0).open(&pipe).expect("a pipe");
    fill(&reader);
    let mut running = referee.start();
    prints(&mut running);
    // The first asks the match to end, the third ends the program.
    while running.is_running() {
        running.signal("INT");
        thread::sleep(Duration::from_millis(20));
    }
    fs::remove_file(pipe).expect("a pipe");
    let run = running.finish();
    assert_eq!(run.code, Some(130), "{run}");
}

// Streams that somebody has made non-blocking

#[test]
fn streams_may_be_non_blocking() {
    let (out, to_out) = io::pipe().expect("a pipe");
    let (err, to_err) = io::pipe().expect("a pipe");
    set_blocking(&to_out, false);
    set_blocking(&to_err, false);
    let running = Referee::new(["--seed", "1", "-n", "60", "-v", "--json"])
        .args(["builtin:random", "builtin:random"])
        .stdout(to_out)
        .stderr(to_err)
        .start();
    // Both are full by now.
    thread::sleep(Duration::from_millis(500));
    let [out, err] = [out, err].map(|pipe| thread::spawn(move || rest(pipe, 0)));
    let run = running.finish();
    let [out, err] = [out, err].map(|reader| reader.join().expect("text"));
    assert_eq!(run.code, Some(0), "{err}");
    assert_eq!(out.lines().count(), 60, "{err}");
    let headings = err.matches("builtin:random#1 against").count();
    assert!(headings >= 2, "{err}");
    assert!(
        headings == 60 || err.contains("lines were not shown"),
        "{headings} of 60 games are shown, and nothing said"
    );
}

// Nobody reads

#[test]
fn an_unread_stderr_disturbs_no_game() {
    // Neither the bot that talks nor its opponent.
    for bots in [
        ["./talks.sh 3000", "builtin:random"],
        ["./floods-stderr.sh", "builtin:random"],
    ] {
        let (_reader, writer, _) = full_pipe();
        let run = Referee::new(["--seed", "1", "-n", "2", "-v"])
            .args(["--move-time", "10s"])
            .args(bots)
            .recorded()
            .stderr(writer)
            .run();
        undisturbed(&run, 2);
        assert!(run.last_line().starts_with("Score: "), "{run}");
    }
}

#[test]
fn a_pause_of_the_reader_is_on_no_clock() {
    // The first lines fit in, so the rest is to be written while a clock runs.
    let (reader, writer) = io::pipe().expect("a pipe");
    let running = Referee::new(["--seed", "1", "-n", "2", "-v", "--move-time", "1500ms"])
        .args(["./talks.sh 2000", "builtin:random"])
        .recorded()
        .stdout(writer.try_clone().expect("a pipe"))
        .stderr(writer)
        .start();
    thread::sleep(LONG);
    let reader = thread::spawn(move || rest(reader, 0));
    let run = running.finish();
    let text = reader.join().expect("text");
    undisturbed(&run, 2);
    let last = text.lines().next_back().unwrap_or_default();
    assert!(last.starts_with("Score: "), "{last}");
    for record in run.records() {
        for time in record["times_ms"].as_array().expect("times") {
            assert!(time.as_f64() < Some(1500.0), "{record}");
        }
    }
}

#[test]
fn lines_that_nobody_read_are_counted() {
    let (reader, writer, filled) = full_pipe();
    let mut running = Referee::new(["--seed", "1", "-v", "-n", "2"])
        .args(["./talks.sh 60000", "builtin:random"])
        .recorded()
        .stderr(writer)
        .start();
    // The first game is over, and waits for nobody. The second is read.
    running.wait_until(|scratch| fs::metadata(scratch.join(RECORDS)).is_ok_and(|m| m.len() > 0));
    let reader = thread::spawn(move || rest(reader, filled));
    let run = running.finish();
    let text = reader.join().expect("text");
    undisturbed(&run, 2);
    let notice = text.lines().find_map(|line| {
        line.strip_prefix("referee: ")?
            .split_once(" lines were not shown")
    });
    let (count, _) = notice.unwrap_or_else(|| panic!("no notice in {} bytes", text.len()));
    let count: usize = count.replace(',', "").parse().expect("a number");
    let shown = text.matches("talks.sh| ").count();
    let turns = |record: &serde_json::Value| record["turns"].as_array().expect("turns").len() / 2;
    let asked: usize = run.records().iter().map(turns).sum();
    // The end of the last may still be in the bot's pipe when a game is over.
    assert!(
        shown + count >= 60000 * (asked - 2),
        "{shown} {count} {asked}"
    );
}

#[test]
fn a_tournament_whose_stderr_nobody_reads() {
    let (_reader, writer, _) = full_pipe();
    let run = Referee::new(["tournament", "--sandbox", "none", "--seed", "1"])
        .args(["--rounds", "2", "builtin:random", "builtin:greedy"])
        .shell("exec \"$0\" \"$@\" --out \"$SCRATCH/out\"")
        .stderr(writer)
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.file("out/games.jsonl").lines().count(), 40, "{run}");
}

// Streams that cannot be written

#[test]
fn a_stderr_that_fails_ends_nothing() {
    for to in ["2>/dev/full", "2>&-"] {
        let run = Referee::new(["--seed", "1", "-n", "2", "-v", "./talks.sh 20", "./ends.sh"])
            .recorded()
            .shell(format!("exec \"$0\" \"$@\" {to}"))
            .run();
        assert_eq!(run.code, Some(0), "{to} {run}");
        assert_eq!(run.records().len(), 2, "{to} {run}");
        let run = Referee::new(["tournament", "--sandbox", "none", "--seed", "1"])
            .args(["--rounds", "2", "builtin:random", "builtin:greedy"])
            .shell(format!("exec \"$0\" \"$@\" --out \"$SCRATCH/out\" {to}"))
            .run();
        assert_eq!(run.code, Some(0), "{to} {run}");
        assert_eq!(run.file("out/games.jsonl").lines().count(), 40, "{run}");
    }
}

#[test]
fn a_stdout_that_fails_is_reported() {
    for arguments in [
        &[
            "--seed",
            "1",
            "-n",
            "1000000",
            "builtin:random",
            "builtin:random",
        ][..],
        &["--seed", "1", "-v", "builtin:random", "builtin:random"],
        &["board", "................"],
    ] {
        let run = Referee::new(arguments)
            .shell("exec \"$0\" \"$@\" >/dev/full")
            .run();
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.stderr.contains("no space is left on the disk"), "{run}");
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        // Not a failure: what was asked for has been read.
        let run = Referee::new(arguments).stdout(writer).run();
        assert_eq!(run.code, Some(0), "{run}");
        assert!(!run.stderr.contains("ipe"), "{run}");
    }
}

// The order of both streams in one place

#[test]
fn both_streams_keep_their_order_in_one_place() {
    let run = Referee::new(["--seed", "1", "-n", "20", "-v", "--first", "1"])
        .args(["./ends.sh", "builtin:random"])
        .shell("exec \"$0\" \"$@\" 2>&1")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let mut at = 0;
    for game in 1..=20 {
        for part in [
            format!("Game {game}: "),
            "forfeits (".to_owned(),
            "  reproduce: ".to_owned(),
            "builtin:random wins: ".to_owned(),
        ] {
            let found = run.stdout[at..].find(&part);
            at += found.unwrap_or_else(|| panic!("`{part}` of game {game} is missing\n{run}"));
        }
    }
}
