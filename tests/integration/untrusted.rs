//! What others have named, written and printed, through every command that shows it: nothing of it formats a terminal, a page, a
//! picture, a document or a table.

use std::fs;
use std::path::{Path, PathBuf};

use crate::classroom::{Class, RANDOM, SETTINGS};
use crate::common::Run;

/// HTML that would run, in a name and in an answer.
const MARKUP: &str = "<img src=x onerror=y>";

/// Names that would write to a terminal, begin a line, turn text round, and be markup of each kind.
const NAMES: [&str; 7] = [
    "e\u{1b}[2Jx",
    "n\nl",
    "u\u{202e}x",
    MARKUP,
    "p|q",
    "b`c",
    "=1+1",
];

fn class() -> Class {
    let class = Class::of(&[]);
    for name in NAMES {
        class.write(&format!("class/{name}/bot.sh"), RANDOM);
    }
    let says = format!(
        "#!/bin/sh\nprintf '\\033[2J{MARKUP}\\n' >&2\nwhile read -r line; do printf 'x\\033[1m {MARKUP}|`c`\\n'; done\n"
    );
    class.write("class/says/bot.sh", &says);
    class
}

/// Of standard output and standard error.
fn is_plain(run: &Run) {
    let is_wild = |c: char| (c.is_control() && !"\n\t\r".contains(c)) || c == '\u{202e}';
    for text in [&run.stdout, &run.stderr] {
        assert!(!text.contains(is_wild), "{run}");
    }
    // Nobody else's line is begun.
    let begins = |line: &str| line == "l" || line.starts_with("l:") || line.starts_with("l ");
    let mut lines = run.stdout.lines().chain(run.stderr.lines());
    assert!(!lines.any(begins), "{run}");
}

/// All files below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(below(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// Without what a document shows as code.
fn without_code(markdown: &str) -> String {
    let lines = markdown.lines().filter(|line| !line.starts_with("    "));
    let mut fenced = false;
    let lines = lines.filter(|line| {
        fenced ^= line.starts_with("```");
        !fenced
    });
    let in_line = |line: &str| line.split('`').step_by(2).collect::<String>();
    lines.map(in_line).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_others_wrote_is_text_in_each_output() {
    let class = class();
    let plain = |arguments: &[&str]| {
        let run = class.referee(arguments).run();
        assert!(matches!(run.code, Some(0 | 2 | 3)), "{run}");
        is_plain(&run);
        run
    };
    plain(&["check", "--each", "class", "--sandbox", "none"]);
    for name in NAMES {
        plain(&["check", &format!("class/{name}"), "--sandbox", "none"]);
    }
    let played = [
        "tournament",
        "class",
        "--no-check",
        "--out",
        "cup",
        "--report",
        "cup.html",
    ];
    plain(&[&played[..], &SETTINGS[..]].concat());
    for format in ["table", "csv", "json", "markdown"] {
        let run = plain(&["standings", "cup", "--format", format]);
        if format == "csv" {
            let formula = |line: &str| {
                line.split(',')
                    .any(|cell| cell.trim_matches('"').starts_with('='))
            };
            assert!(!run.stdout.lines().any(formula), "{run}");
        }
        if format == "markdown" {
            assert!(!without_code(&run.stdout).contains('<'), "{run}");
        }
    }
    plain(&["report", "cup", "--each", "pages"]);
    plain(&["report", "cup", "-o", "page.html"]);
    plain(&["replay", "cup/games.jsonl", "--number", "1"]);
    let term = [
        "league",
        "term",
        "--from",
        "class",
        "--no-check",
        "--report",
        "term.html",
    ];
    plain(&[&term[..], &SETTINGS[..]].concat());
    plain(&[
        "alike",
        "class",
        "--time",
        "1s",
        "--sandbox",
        "none",
        "--html",
        "alike.html",
    ]);
    let folder = class.path("");
    let pages = below(&folder).into_iter().filter(|path| {
        let is_bot =
            path.ends_with("bot.sh") || path.components().any(|part| part.as_os_str() == "class");
        !is_bot
    });
    for page in pages {
        let Ok(text) = fs::read_to_string(&page) else {
            continue;
        };
        match page.extension().and_then(|extension| extension.to_str()) {
            Some("html" | "svg") => assert!(!text.contains(MARKUP), "{}", page.display()),
            Some("md") => {
                let outside = without_code(&text);
                assert!(!outside.contains("<img"), "{}: {outside}", page.display());
            }
            _ => {}
        }
    }
}
