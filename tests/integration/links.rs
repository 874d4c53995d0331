//! What documents refer to is there: the targets of their links, headings included, the files that they name, and the
//! modules of the tests that they say how to run. Whoever types their commands one after another in one folder is not
//! told that a folder holds something else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Folders whose files are named by their path in backquotes.
const FOLDERS: [&str; 13] = [
    "benches", "crates", "docs", "examples", "fuzz", "games", "players", "puzzles", "schemas",
    "scripts", "sets", "src", "tests",
];

fn source(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The Markdown files of a folder, as they are called from the folder of the sources.
fn documents(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(source(folder)).expect("a folder");
    let names = entries.map(|entry| Path::new(folder).join(entry.expect("an entry").file_name()));
    let mut files: Vec<PathBuf> = names
        .filter(|name| name.extension().is_some_and(|ending| ending == "md"))
        .collect();
    files.sort();
    files
}

/// The lines outside fenced blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        (!inside && !fence).then_some((index + 1, line))
    })
}

/// The address of a heading, as forges make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ if letter.is_alphanumeric() => Some(letter),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter_map(|(_, line)| line.strip_prefix('#'));
    headings
        .map(|heading| anchor(heading.trim_start_matches('#')))
        .collect()
}

/// What stands between two marks, wherever they are in a line.
fn between<'a>(line: &'a str, begin: &'a str, end: char) -> impl Iterator<Item = &'a str> {
    line.split(begin)
        .skip(1)
        .filter_map(move |rest| rest.split_once(end).map(|(inner, _)| inner))
}

/// `docs/../protocol.md` is `protocol.md`.
fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

/// What a document refers to and is not there.
fn dangling(document: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let folder = document.parent().unwrap_or(Path::new(""));
    for (number, line) in prose(text) {
        let mut missing =
            |what: &str| found.push(format!("{}:{number}: {what}", document.display()));
        let pictures = between(line, "src=\"", '"').chain(between(line, "srcset=\"", '"'));
        for link in between(line, "](", ')').chain(pictures) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = source(normal(&folder.join(file)));
            let other;
            let headings = if file.is_empty() {
                text
            } else {
                other = fs::read_to_string(&target).unwrap_or_default();
                &other
            };
            let is_there = file.is_empty() || target.exists();
            if !is_there || !heading.is_empty() && !anchors(headings).contains(heading) {
                missing(link);
            }
        }
        for name in line.split('`').skip(1).step_by(2) {
            let is_path = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
            let top = name.split_once('/').map_or("", |(top, _)| top);
            let written = FOLDERS.contains(&top) && name.chars().all(is_path);
            // Modules are named without their ending.
            if written && !source(name).exists() && !source(format!("{name}.rs")).exists() {
                // Players are compiled into a folder that is not there before; the other is one of a bot in Java.
                let others = ["players/build/", "src/main/java"];
                if !others.iter().any(|other| name.starts_with(other)) {
                    missing(name);
                }
            }
        }
        for test in between(line, "--test ", ':') {
            if let Some((suite, module)) = test.split_once(' ') {
                let module = format!("tests/{suite}/{}", module.trim_start_matches("-- "));
                if !source(&module).exists() && !source(format!("{module}.rs")).exists() {
                    missing(&module);
                }
            }
        }
    }
    found
}

fn all_documents() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/internals", "players"];
    let documents: Vec<PathBuf> = folders.into_iter().flat_map(documents).collect();
    assert!(documents.len() > 25, "{documents:?}");
    documents
}

/// The folder in which a command begins a tournament or a league, and what it is begun with.
fn begun(line: &str) -> Option<(&str, String)> {
    let command = line.trim_start_matches("$ ").split(" #").next()?;
    let words: Vec<&str> = command.split_whitespace().collect();
    let ["referee", kind @ ("tournament" | "league"), rest @ ..] = &words[..] else {
        return None;
    };
    let after = |option: &str| words.iter().skip_while(|word| **word != option).nth(1);
    if *kind == "league" {
        // That of the final is chosen by the league.
        let folder = rest.first().filter(|word| **word != "final")?;
        return Some((folder, (*kind).to_owned()));
    }
    let folder = after("--out")?;
    let is_name = folder.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    // Without a bot it goes on, whatever it was begun with.
    let has_bots = rest.first().is_some_and(|word| !word.starts_with('-'));
    let report = [Some(&"--report"), after("--report")];
    let with = words.iter().filter(|word| !report.contains(&Some(word)));
    let with: Vec<&str> = with.copied().collect();
    (is_name && has_bots).then(|| (*folder, with.join(" ")))
}

#[test]
fn a_folder_is_begun_with_one_command() {
    let mut folders: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut found = Vec::new();
    for document in all_documents() {
        let text = fs::read_to_string(source(&document)).expect("a document");
        for line in text.lines() {
            let Some((folder, with)) = begun(line) else {
                continue;
            };
            let here = document.display().to_string();
            let first = folders
                .entry(folder.to_owned())
                .or_insert_with(|| (with.clone(), here.clone()));
            if first.0 != with {
                found.push(format!(
                    "{here}: {folder} is begun differently in {}",
                    first.1
                ));
            }
        }
    }
    assert!(folders.len() > 6, "{folders:?}");
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn lead_somewhere() {
    let documents = all_documents();
    let mut found = Vec::new();
    for document in documents {
        let text = fs::read_to_string(source(&document)).expect("a document");
        found.extend(dangling(&document, &text));
    }
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// What a document in a package links to, and the scripts that its commands run, are in the package.
#[test]
fn packages_have_what_their_documents_name() {
    let make = fs::read_to_string(source("scripts/packages/make.py")).expect("a script");
    let list = make.lines().find(|line| line.starts_with("BESIDE = "));
    let words = list.expect("a list").split('"');
    let shipped: Vec<&str> = words.skip(1).step_by(2).collect();
    let has = |path: &Path| shipped.iter().any(|shipped| path.starts_with(shipped));
    let mut found = Vec::new();
    for document in all_documents().into_iter().filter(|document| has(document)) {
        let text = fs::read_to_string(source(&document)).expect("a document");
        let folder = document.parent().unwrap_or(Path::new(""));
        let links = prose(&text).flat_map(|(_, line)| between(line, "](", ')'));
        let links = links.filter(|link| !link.contains("://") && !link.starts_with('#'));
        let links = links.map(|link| normal(&folder.join(link.split('#').next().unwrap_or(link))));
        let words = text.split(|letter: char| letter.is_whitespace() || "`()".contains(letter));
        let scripts = words
            .filter(|word| word.starts_with("scripts/"))
            .map(PathBuf::from);
        for path in links.chain(scripts).filter(|path| !has(path)) {
            found.push(format!("{}: {}", document.display(), path.display()));
        }
    }
    assert!(
        shipped.contains(&"docs") && found.is_empty(),
        "\n{}\n",
        found.join("\n")
    );
}

/// Each of these is noticed.
#[test]
fn that_lead_nowhere_are_found() {
    let text = "[a](protocol.md#four-in-a-row), [b](../protocol.md#four-in-a-row), [c](#here)\n\
                # Here, `or` there\n[d](#here-or-there) <img src=\"pictures/none.svg\"> `src/none.rs` `crates/match/src/seed`\n\
                ```\n[e](none.md)\n```\n`cargo test --test integration documents::` `cargo test --test integration faults::`\n";
    assert_eq!(
        dangling(Path::new("docs/sample.md"), text),
        [
            "docs/sample.md:1: protocol.md#four-in-a-row",
            "docs/sample.md:1: #here",
            "docs/sample.md:3: pictures/none.svg",
            "docs/sample.md:3: src/none.rs",
            "docs/sample.md:7: tests/integration/documents",
        ]
    );
}

/// The guide's list of chapters has every document.
#[test]
fn the_guide_has_every_document() {
    let list = fs::read_to_string(source("docs/SUMMARY.md")).expect("a list");
    let listed: BTreeSet<PathBuf> = prose(&list)
        .flat_map(|(_, line)| between(line, "](", ')'))
        .map(|link| normal(&Path::new("docs").join(link)))
        .collect();
    let mut expected: BTreeSet<PathBuf> = all_documents().into_iter().collect();
    expected.remove(Path::new("docs/SUMMARY.md"));
    assert_eq!(listed, expected);
}
