//! Where output goes and in which form: `--out` and `--format`, and the names that they had.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::common::games::{GAMES, write};
use crate::common::{Referee, Run};

const BOARD: &str = "A..PC...J..EF...";

/// A command, the old words for where its output goes, and the new ones.
const NAMES: [[&str; 3]; 16] = [
    ["board BOARD", "--svg -", "--format svg"],
    ["board BOARD", "--svg -", "--out - --format svg"],
    ["board BOARD", "--svg b.svg", "--out b.svg"],
    ["board BOARD", "--svg b.txt", "--out b.txt --format svg"],
    ["board BOARD", "--page -", "--format html"],
    ["board BOARD", "--page b.html", "--out b.html"],
    ["board BOARD", "--output b.svg", "--out b.svg"],
    ["replay g --number 2", "--html", "-o game-2.html"],
    ["replay g --number 2", "--html=o.html", "--out o.html"],
    ["replay g --number 2", "--html=-", "--format html"],
    ["replay g --number 2 --turn 1", "--svg o.svg", "-o o.svg"],
    ["replay g --number 2 --turn 1", "--svg -", "--format svg"],
    ["check builtin:random", "--csv fit.csv", "-o fit.csv"],
    [
        "alike builtin:random builtin:greedy --time 30s",
        "--html a.html",
        "-o a.html",
    ],
    ["report g", "--output p.html", "-o p.html"],
    ["standings g", "--json", "--format json"],
];

fn run(place: &Path, command: &str, words: &str) -> Run {
    let words = command.split(' ').chain(words.split(' '));
    let words = words.map(|word| if word == "BOARD" { BOARD } else { word });
    Referee::new(words).directory(place).run()
}

/// Each number is told as `0`: a check tells measured times.
fn without_numbers(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let words = text.split(|symbol: char| symbol.is_ascii_digit() || symbol == '.');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("0")
}

fn files(place: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let entries = fs::read_dir(place).expect("a folder");
    entries
        .map(|entry| {
            let entry = entry.expect("an entry");
            (
                entry.file_name(),
                fs::read(entry.path()).expect("its content"),
            )
        })
        .collect()
}

#[test]
fn an_old_name_writes_the_same_as_the_new_one() {
    for [command, old, new] in NAMES {
        let [old, new] = [old, new].map(|words| {
            let place = tempfile::tempdir().expect("a folder");
            write(&place.path().join("g"), &GAMES[..3]);
            let run = run(place.path(), command, words);
            assert_eq!(run.code, Some(0), "{command} {words}: {run}");
            let (printed, files) = (run.stdout, files(place.path()));
            if command.starts_with("check") {
                let files = files.into_iter();
                let files = files.map(|(name, bytes)| (name, without_numbers(&bytes).into()));
                return (without_numbers(printed.as_bytes()), files.collect());
            }
            (printed, files)
        });
        assert!(!old.0.is_empty() || old.1.len() > 1, "{command}");
        assert!(old == new, "{command}");
    }
}

#[test]
fn no_help_has_an_old_name() {
    for command in ["board", "replay", "check", "alike", "report", "standings"] {
        let help = Referee::new([command, "--help"]).run().stdout;
        for old in ["--svg", "--page", "--html", "--csv", "--output"] {
            assert!(!help.contains(old), "{command} {old}: {help}");
        }
    }
}

#[test]
fn what_does_not_go_together_is_told() {
    let place = tempfile::tempdir().expect("a folder");
    write(&place.path().join("g"), &GAMES[..3]);
    for (command, words, part) in [
        (
            "board BOARD",
            "--out b.png",
            "expected a file with the extension .svg (a picture) or .html (a page)",
        ),
        (
            "board BOARD",
            "--out -",
            "add --format svg or --format html",
        ),
        (
            "board BOARD",
            "--out b.html --format svg",
            "choose a file with the extension .svg",
        ),
        ("board BOARD", "--out b.svg --svg b.svg", "--svg"),
        ("board BOARD", "--out b.svg --json", "--json"),
        (
            "replay g --number 2",
            "-o game",
            "--format svg or --format html",
        ),
        (
            "replay g --number 2",
            "-o o.html --turn 1",
            "--turn is for a picture; add --out FILE.svg",
        ),
        (
            "replay g --number 2",
            "--turn 1",
            "--turn is for a picture; add --out FILE.svg",
        ),
        (
            "replay g --number 2",
            "--private",
            "--private is for a page; add --out FILE.html",
        ),
        (
            "replay g --number 2",
            "-o o.svg",
            "a picture shows one position, so add --turn N",
        ),
        ("replay g --quiet", "-o o.html", "--quiet"),
        (
            "check builtin:random",
            "-o fit.txt",
            "expected a file with the extension .csv",
        ),
        ("check builtin:random", "-o fit.csv --watch", "--watch"),
        (
            "alike builtin:random builtin:greedy",
            "-o a.csv",
            "expected a file with the extension .html",
        ),
    ] {
        let run = run(place.path(), command, words);
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{words}: {run}");
        assert!(run.stderr.contains(part), "`{part}` is missing\n{run}");
    }
    assert_eq!(files(place.path()).len(), 1);
}
