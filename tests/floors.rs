//! The floors of the house: arrows (`use` lines) point down only.
//!
//! ARCHITECTURE.md shows the same table. A module that is not in it fails the test, so
//! that nobody builds a room without saying on which floor.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Module → what it may use of the crate, beside itself.
const FLOORS: &[(&str, &[&str])] = &[
    // rules
    ("text", &[]),
    ("seed", &[]),
    ("protocol", &[]),
    ("game", &["text"]),
    ("solver", &["game"]),
    ("strategy", &["game", "solver"]),
    // bots
    ("bot", &["game", "protocol", "text"]),
    // paper
    ("record", &["protocol", "solver"]),
    // one game
    (
        "play",
        &[
            "bot", "game", "protocol", "record", "seed", "solver", "text",
        ],
    ),
    // truth
    ("analysis", &["game", "play", "record", "solver", "text"]),
    // many games
    ("tournament", &["game", "record", "seed", "text"]),
    (
        "arena",
        &[
            "bot",
            "game",
            "play",
            "record",
            "sandbox",
            "seed",
            "tournament",
        ],
    ),
    ("checkup", &["bot", "game", "play", "seed", "text"]),
    // to look at
    (
        "report",
        &["bot", "game", "play", "record", "text", "tournament"],
    ),
    // door
    (
        "cli",
        &[
            "analysis",
            "arena",
            "bot",
            "checkup",
            "game",
            "play",
            "protocol",
            "record",
            "report",
            "sandbox",
            "seed",
            "solver",
            "strategy",
            "text",
            "tournament",
        ],
    ),
];

/// Outside crates that only these modules may use.
const KEPT_OUT: &[(&str, &[&str])] = &[
    ("tokio", &["bot", "play", "arena", "report", "cli"]),
    ("hyper", &["report"]),
    ("askama", &["report"]),
    ("clap", &["cli"]),
    (
        "serde_json",
        &[
            "bot",
            "record",
            "play",
            "analysis",
            "arena",
            "tournament",
            "report",
            "cli",
        ],
    ),
    ("csv", &["report"]),
    ("rustix", &["bot", "play", "arena", "cli"]),
    ("anstream", &["cli"]),
    ("indicatif", &["cli"]),
];

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// `src/bot/mod.rs` and `src/bot/channel.rs` are both `bot`.
fn module_of(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap();
    let first = inside.components().next().unwrap().as_os_str();
    let name = first.to_str().unwrap();
    match name.strip_suffix(".rs").unwrap_or(name) {
        // Not yet parted: a program carries its sandbox, and a sandbox takes programs in.
        "sandbox" => "bot".to_owned(),
        name => name.to_owned(),
    }
}

/// Code without comments, documentation and string literals' worth of noise.
fn code(text: &str) -> String {
    text.lines()
        .map(|line| line.split("//").next().unwrap_or(""))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Names that follow `prefix` in the code, each once.
fn names_after<'a>(code: &'a str, prefix: &str) -> Vec<&'a str> {
    let word = |rest: &'a str| {
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        &rest[..end]
    };
    let mut names: Vec<&str> = code.split(prefix).skip(1).map(word).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn arrows_point_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let floors: BTreeMap<&str, &[&str]> = FLOORS.iter().copied().collect();
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut arrows = 0;
    for path in files {
        let module = module_of(&root, &path);
        if module == "main" || module == "lib" {
            continue;
        }
        let Some(allowed) = floors.get(module.as_str()) else {
            panic!(
                "{} is on no floor: add `{module}` to the table",
                path.display()
            );
        };
        let code = code(&fs::read_to_string(&path).unwrap());
        assert!(
            !code.contains("crate::{"),
            "{}: write one `use` a module, this test reads them",
            path.display()
        );
        for used in names_after(&code, "crate::") {
            assert!(
                used == module || allowed.contains(&used) || (module == "bot" && used == "sandbox"),
                "{} uses `{used}`: `{module}` may use {allowed:?} only",
                path.display()
            );
            arrows += 1;
        }
        for (krate, modules) in KEPT_OUT {
            assert!(
                !code.contains(&format!("{krate}::")) || modules.contains(&module.as_str()),
                "{} uses the crate `{krate}`, which is for {modules:?} only",
                path.display()
            );
        }
    }
    assert!(
        arrows > 40,
        "only {arrows} arrows were found: does the test still read the code?"
    );
}

#[test]
fn the_table_itself_points_down() {
    let floor = |name: &str| {
        let name = if name == "sandbox" { "bot" } else { name };
        FLOORS
            .iter()
            .position(|(module, _)| *module == name)
            .unwrap()
    };
    for (module, allowed) in FLOORS {
        for used in *allowed {
            assert!(floor(used) < floor(module), "{module} → {used}");
        }
    }
}

#[test]
fn files_are_rooms_not_halls() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for path in files {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 600, "{} has {lines} lines", path.display());
    }
}

#[test]
fn only_the_command_line_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for path in files {
        let module = module_of(&root, &path);
        let code = code(&fs::read_to_string(&path).unwrap());
        let prints = ["println!", "eprintln!", "print!", "eprint!", "dbg!"]
            .iter()
            .any(|print| code.contains(print));
        assert!(!prints || module == "cli", "{} prints", path.display());
    }
}
