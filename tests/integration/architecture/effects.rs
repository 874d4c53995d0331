//! Who starts programs, prints, and knows the machine at all.

use super::source::{File, of_project, sample};
use super::tables::{IMPURE, PRINT, PURE, START_PROGRAMS};
use super::{none, reports};

/// Files elsewhere that start programs or become one.
fn starting_programs(files: &[File], allowed: &[&str]) -> Vec<String> {
    let words = [
        "CommandExt",
        "posix_spawn",
        "posix_spawnp",
        "fork",
        "vfork",
        "execv",
        "execve",
        "execvp",
        "execvpe",
        "execveat",
    ];
    let starts = |file: &&File| {
        let mut after = file.paths.iter().filter_map(|path| {
            let std = path.after(&["std", "process"]);
            std.or_else(|| path.after(&["tokio", "process"]))
        });
        let command = after.any(|rest| {
            let first = rest.first().map(String::as_str);
            matches!(first, None | Some("Command" | "*"))
        });
        command
            || words
                .iter()
                .any(|word| file.has(&[word, "("]) || file.has(&["::", word]))
    };
    let elsewhere = |file: &&File| !allowed.iter().any(|place| file.is_in(place));
    let found = files.iter().filter(elsewhere).filter(starts);
    found
        .map(|file| format!("{} starts programs", file.path))
        .collect()
}

#[test]
fn only_bots_and_their_supervisor_are_started() {
    let files = of_project();
    none(&starting_programs(files, START_PROGRAMS));
    for place in START_PROGRAMS {
        let others: Vec<&str> = START_PROGRAMS
            .iter()
            .copied()
            .filter(|other| other != place)
            .collect();
        let found = starting_programs(files, &others);
        assert!(!found.is_empty(), "{place} does not start programs");
    }

    let bad = sample(&[
        ("a.rs", "use std::process::{Command, ExitCode};"),
        ("b.rs", "use tokio::process;"),
        ("c.rs", "fn f() { std::process::Command::new(\"x\"); }"),
        ("d.rs", "fn f() { libc::fork(); }"),
        ("good.rs", "use std::process::ExitCode; // Command"),
        ("room/e.rs", "use std::os::unix::process::CommandExt as _;"),
    ]);
    let words = ["a.rs", "b.rs", "c.rs", "d.rs", "room/e.rs"];
    reports(&starting_programs(&bad, &[]), &words);
    reports(&starting_programs(&bad, &["room"]), &words[..4]);
}

/// Files elsewhere that write to standard output or standard error.
fn printing(files: &[File], allowed: &[&str]) -> Vec<String> {
    let prints = |file: &&File| {
        let macros = ["println", "eprintln", "print", "eprint", "dbg"];
        let streams = ["stdout", "stderr"];
        macros.iter().any(|name| file.has(&[name, "!"]))
            || streams.iter().any(|name| {
                file.has(&["::", name, "("])
                    || file.paths.iter().any(|path| {
                        path.segments
                            .ends_with(&["io".to_owned(), (*name).to_owned()])
                    })
            })
    };
    let elsewhere = |file: &&File| !allowed.iter().any(|place| file.is_in(place));
    let found = files.iter().filter(elsewhere).filter(prints);
    found.map(|file| format!("{} prints", file.path)).collect()
}

#[test]
fn only_the_command_line_prints() {
    none(&printing(of_project(), PRINT));

    let bad = sample(&[
        ("a.rs", "fn f() { println!(\"x\"); }"),
        ("b.rs", "fn f() { writeln!(io::stderr(), \"x\"); }"),
        ("c.rs", "use std::io::stdout;"),
        (
            "good.rs",
            "/// println!(\"x\")\nfn f() { g(\"dbg!\", command.stdout(pipe)); }",
        ),
        ("cli/d.rs", "fn f() { eprint!(\"x\"); }"),
    ]);
    reports(&printing(&bad, &["cli"]), &["a.rs", "b.rs", "c.rs"]);
}

/// Files of pure modules that know a process, a clock, a file or the like.
fn impure(files: &[File], pure: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| pure.contains(&file.top())) {
        for path in &file.paths {
            let knows = IMPURE.iter().any(|known| path.after(known).is_some());
            if knows {
                found.push(format!("{} knows {}", file.path, path.segments.join("::")));
            }
        }
        for stream in ["stdin", "stdout", "stderr"] {
            if file.has(&["::", stream]) {
                found.push(format!("{} knows {stream}", file.path));
            }
        }
    }
    found
}

#[test]
fn rules_know_no_process_clock_or_file() {
    none(&impure(of_project(), PURE));

    let bad = sample(&[
        ("game/a.rs", "use std::{fmt, time::Instant};"),
        ("game/b.rs", "async fn f() { tokio::time::sleep(x).await; }"),
        (
            "game/c.rs",
            "fn f() { std::fs::read(x); std::io::stdin(); }",
        ),
        ("game/good.rs", "use std::io::Read;"),
        ("play.rs", "use std::time::Instant;"),
    ]);
    let words = ["std::time", "tokio::time", "std::fs", "stdin"];
    reports(&impure(&bad, &["game"]), &words);
}
