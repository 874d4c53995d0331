//! What neither Cargo nor clippy holds while this is one crate: which module uses which, what the rules do not know, and who
//! prints and starts programs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The modules from below to above: each uses only those before it.
const ORDER: &str = "system text threads game solver strategy drawing executable sandbox seed \
     protocol log_target bot game_program record play analysis puzzles hunt tournament alike checkup arena \
     league report";

/// Modules that calculate, and what they do not name.
const PURE: &str = "seed protocol tournament";
const IMPURE: &str = "std::env std::fs std::net std::os std::process std::thread Instant SystemTime \
     tokio rustix tempfile";

/// Who prints. Who starts programs: bots, a game, and the organiser's command.
const PRINT: &str = "cli/";
const PRINTS: &str = "println! eprintln! print! eprint! dbg! io::stdout io::stderr";
const START: &str = "bot/process/ game_program/connection.rs cli/commands/league/mod.rs";
const STARTS: &str =
    "process::Command process::{Command CommandExt posix_spawn fork() execve execvp";

/// The files of `src/`: path, and code without the lines that are comments.
fn files() -> Vec<(String, String)> {
    fn find(folder: &Path, root: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                find(&path, root, found);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs")
            {
                let text = fs::read_to_string(&path).expect("a text");
                let tests = "#[cfg(test)]\nmod tests {";
                let (code, _) = text.split_once(tests).unwrap_or((&text, ""));
                let is_code = |line: &&str| !line.trim_start().starts_with("//");
                let code: Vec<&str> = code.lines().filter(is_code).collect();
                let inside = path.strip_prefix(root).expect("it is in src");
                found.push((inside.to_string_lossy().into_owned(), code.join("\n")));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    find(&root, &root, &mut found);
    assert!(found.len() > 100, "only {} files were found", found.len());
    found
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn module(path: &str) -> &str {
    path.split(['/', '.']).next().unwrap_or_default()
}

/// The first of these words that code has, none as a part of a longer name.
fn first<'a>(code: &str, words: &'a str) -> Option<&'a str> {
    words.split_whitespace().find(|word| {
        code.match_indices(*word).any(|(at, _)| {
            let (before, after) = (&code[..at], &code[at + word.len()..]);
            !before.ends_with(is_part) && !after.starts_with(is_part)
        })
    })
}

/// What a file uses as `crate::NAME` that is not below it.
fn upward(path: &str, code: &str) -> Vec<String> {
    let place = |name: &str| ORDER.split_whitespace().position(|module| module == name);
    let own = module(path);
    let named = code.split("crate::").skip(1);
    let named: BTreeSet<&str> = named
        .map(|rest| &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())])
        .collect();
    named
        .into_iter()
        .filter(|used| *used != own && (place(used).is_none() || place(used) > place(own)))
        .map(|used| format!("{path} uses `crate::{used}`, which is not below it"))
        .collect()
}

#[test]
fn arrows_point_down() {
    let above = |(path, code): &(String, String)| match module(path) {
        "lib" | "main" | "cli" => Vec::new(),
        _ => upward(path, code),
    };
    let found: Vec<String> = files().iter().flat_map(above).collect();
    assert!(found.is_empty(), "{found:#?}");
    for bad in ["use crate::play::turn;", "use crate::{text, seed};"] {
        assert_eq!(upward("game/mod.rs", bad).len(), 1, "{bad}");
    }
    assert_eq!(upward("play/mod.rs", "use crate::game::Side;"), [""; 0]);
}

#[test]
fn rules_know_no_process_clock_or_file() {
    let mut found = Vec::new();
    for (path, code) in files() {
        let is_pure = first(PURE, module(&path)).is_some();
        found.extend(
            first(&code, IMPURE)
                .filter(|_| is_pure)
                .map(|word| format!("{path}: {word}")),
        );
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn only_the_command_line_prints_and_few_start_programs() {
    let mut found = Vec::new();
    for (path, code) in files() {
        for (words, places) in [(PRINTS, PRINT), (STARTS, START)] {
            let mut places = places.split_whitespace();
            if let Some(word) = first(&code, words)
                && !places.any(|place| path.starts_with(place))
            {
                found.push(format!("{path}: {word}"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn files_that_are_named_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "SECURITY.md",
        "CONTRIBUTING.md",
    ] {
        let text = fs::read_to_string(root.join(name)).expect("a document");
        let is_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        for word in text.split(|c| !is_path(c)) {
            let path = word.trim_end_matches(['.', '/']);
            let is_ours = ["src/", "tests/", "crates/"]
                .iter()
                .any(|top| path.starts_with(top));
            assert!(
                !is_ours || root.join(path).exists(),
                "{name}: there is no {path}"
            );
        }
    }
}
