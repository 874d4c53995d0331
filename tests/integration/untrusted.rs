//! What others have named, written and printed, through every command that shows it: nothing of it formats a terminal, a page, a
//! picture, a document or a table.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

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
        "--out",
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

/// Names of people, of files that are not there, of options, and of what a spreadsheet or a page would take for its own.
const ODD_NAMES: [&str; 34] = [
    "a",
    "A",
    "a b",
    "a\tb",
    "a\nb",
    "a\r",
    "\0a",
    "\u{7f}a",
    "\u{1b}]0;a\u{7}",
    "a\u{200b}b",
    "\u{202e}a",
    "é",
    "..",
    ".",
    "/etc/passwd",
    "../../a",
    "C:\\a",
    "con",
    "nul.txt",
    "-rf",
    "--help",
    "=1+1",
    "+1",
    "@a",
    "a|b",
    "`a`",
    "<b>a</b>",
    "&amp;",
    "\"a\"",
    "'a'",
    "a,b;c",
    "👩‍💻",
    "日本語",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
];

/// In tables, pages and files of games that others have recorded.
#[test]
fn odd_names_are_told_apart_in_each_output() {
    let class = Class::of(&[]);
    let count = ODD_NAMES.len();
    let game = |number: usize| {
        let names = [ODD_NAMES[number], ODD_NAMES[(number + 1) % count]];
        let bots = names.map(|name| json!({"name": name, "command": [name]}));
        json!({
            "v": 1, "game": "quarto", "rules": "standard", "id": format!("1-{number}"), "bots": bots, "first": 0, "seed": 1,
            "start": "................", "turns": ["- K", "6 A"], "times_ms": [1.0, 3.0], "started": "2026-01-31T10:00:00Z",
            "result": {"winner": 0, "reason": "timeout", "by": 1, "answer": "x", "detail": "nothing came"},
        })
        .to_string()
    };
    let games: Vec<String> = (0..count).map(game).collect();
    class.write("games.jsonl", &(games.join("\n") + "\n"));
    let run = |arguments: &[&str]| {
        let run = class.run(arguments);
        is_plain(&run);
        run.stdout
    };
    let distinct = |what: &str, names: Vec<String>| {
        let all: BTreeSet<&String> = names.iter().collect();
        assert_eq!(
            (names.len(), all.len()),
            (count, count),
            "{what}: {names:?}"
        );
    };
    let table = run(&["standings", "games.jsonl"]);
    // Two columns of numbers around each name, and one for each place.
    let rows = table.lines().skip(1).take_while(|line| !line.is_empty());
    distinct("table", rows.map(str::to_owned).collect());
    let csv = run(&["standings", "games.jsonl", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let names = rows.iter().map(|row| row[1].to_owned()).collect::<Vec<_>>();
    // As text for each spreadsheet.
    assert!(
        !names
            .iter()
            .any(|name| name.starts_with(['=', '+', '-', '@', '\t', '\r'])),
        "{names:?}"
    );
    distinct("CSV", names);
    // As data, the names are what they are.
    let json = run(&["standings", "games.jsonl", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let rows = json["standings"].as_array().expect("a list").iter();
    let names: BTreeSet<&str> = rows.filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, BTreeSet::from(ODD_NAMES));
    let markdown = run(&["standings", "games.jsonl", "--format", "markdown"]);
    let rows: Vec<&str> = markdown
        .lines()
        .filter(|line| line.starts_with('|'))
        .collect();
    let cells = |row: &&str| row.matches('|').count();
    assert!(
        rows.iter().all(|row| cells(row) == cells(&rows[0])),
        "{markdown}"
    );
    assert!(!without_code(&markdown).contains("<b>"), "{markdown}");
    distinct(
        "Markdown",
        rows[2..].iter().map(|row| (*row).to_owned()).collect(),
    );
    run(&["report", "games.jsonl", "-o", "page.html"]);
    let page = class.read("page.html");
    assert!(!page.contains("<b>a</b>"));
    let bots = crate::report::entries(&crate::report::data(&page), "b");
    distinct("page", bots.iter().map(|bot| bot[1].to_string()).collect());
    // A page for each, within the folder and told apart where case does not matter.
    run(&["report", "games.jsonl", "--each", "pages"]);
    let pages = below(&class.path("pages"));
    for extension in ["html", "md"] {
        let is_one = |path: &&PathBuf| path.extension().is_some_and(|is| is == extension);
        let names = pages.iter().filter(is_one).map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy();
            name.to_lowercase()
        });
        let names: Vec<String> = names.collect();
        assert!(
            !names.iter().any(|name| name.starts_with(['.', '-'])),
            "{names:?}"
        );
        distinct("pages", names);
    }
    assert_eq!(pages.len(), 2 * count, "{pages:?}");
    let outside = fs::read_dir(class.path("")).expect("a folder").count();
    assert_eq!(outside, 3, "games, a page and the folder of pages");
}
