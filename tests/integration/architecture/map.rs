//! The map of modules in ARCHITECTURE.md, and the paths that documents name.
//!
//! The map is the first block of the file that is marked `text`. An entry is the first word of a
//! line, indented by more than the folder that it is in; two spaces are before what is said of it:
//!
//! ```text
//! bot/             programs and people
//!   channel · fault  one line, and what can be wrong with it
//! cli/             commands
//!   commands/      one file a command
//! protocol         the frame of a line
//! ```
//!
//! Every folder of `src/` and every file beside them must be in it, and all that is in it must
//! exist: `channel` is `bot/channel.rs` or `bot/channel/`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::source::{File, of_project, sample};
use super::{none, reports};

/// The entries of a map: paths without endings.
fn entries(document: &str) -> Vec<String> {
    let block = document.split("```text\n").nth(1).unwrap_or_default();
    let block = block.split("```").next().unwrap_or_default();
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut entries = Vec::new();
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        above.retain(|(other, _)| *other < indent);
        let names = line.trim().split("  ").next().unwrap_or_default();
        for name in names.split([' ', '·']).filter(|name| !name.is_empty()) {
            let name = name.trim_end_matches('/').trim_end_matches(".rs");
            let folder = above.iter().map(|(_, folder)| format!("{folder}/"));
            entries.push(folder.collect::<String>() + name);
        }
        if let Some(folder) = names.strip_suffix('/') {
            above.push((indent, folder.to_owned()));
        }
    }
    entries
}

/// What the map lacks, and what it has that is not there.
fn differences(document: &str, files: &[File]) -> Vec<String> {
    let mut wanted = BTreeSet::new();
    let mut known = BTreeSet::new();
    for file in files
        .iter()
        .filter(|file| !file.path.ends_with("/tests.rs"))
    {
        let name = file.path.trim_end_matches(".rs");
        known.insert(name.to_owned());
        match name.rsplit_once('/') {
            None => {
                wanted.insert(name.to_owned());
            }
            Some((folder, _)) => {
                let ends = folder.match_indices('/').map(|(at, _)| at);
                let folders = ends
                    .chain([folder.len()])
                    .map(|end| folder[..end].to_owned());
                wanted.extend(folders.clone());
                known.extend(folders);
            }
        }
    }
    for root in ["lib", "main"] {
        wanted.remove(root);
    }
    // `merge.rs` and `merge/` are one module.
    let entries: BTreeSet<String> = entries(document).into_iter().collect();
    let lacking = wanted.difference(&entries);
    let lacking = lacking.map(|name| format!("the map does not have {name}"));
    let gone = entries.difference(&known);
    let gone = gone.map(|name| format!("the map has {name}, which is not in src/"));
    lacking.chain(gone).collect()
}

#[test]
fn the_map_of_modules_is_that_of_the_code() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let document = fs::read_to_string(document).expect("the document");
    none(&differences(&document, of_project()));

    let files = sample(&[
        ("lib.rs", ""),
        ("bot/mod.rs", ""),
        ("bot/channel.rs", ""),
        ("bot/fault.rs", ""),
        ("cli/mod.rs", ""),
        ("cli/commands/board.rs", ""),
        ("protocol.rs", ""),
    ]);
    let map = "# A\n```text\nbot/             programs and people\n  channel · fault  one line\n\ncli/             commands\n  commands/      files\nprotocol         lines\n```\n";
    none(&differences(map, &files));
    let bad = map
        .replace("commands/ ", "orders/ ")
        .replace("fault", "blame");
    let words = ["cli/commands", "bot/blame", "cli/orders"];
    reports(&differences(&bad, &files), &words);
}

/// Paths of this project that a text names and that do not exist.
fn missing_paths(text: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    text.split(|c: char| !is_part(c))
        .map(|word| word.trim_end_matches(['.', '/']))
        .filter(|word| word.starts_with("src/") || word.starts_with("tests/"))
        .filter(|word| !root.join(word).exists())
        .map(|word| format!("there is no {word}"))
        .collect()
}

#[test]
fn files_that_are_named_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for name in ["README.md", "ARCHITECTURE.md", "SECURITY.md", "src/lib.rs"] {
        let text = fs::read_to_string(root.join(name)).expect("a document");
        let missing = missing_paths(&text).into_iter();
        found.extend(missing.map(|missing| format!("{name}: {missing}")));
    }
    none(&found);

    let bad = "see `tests/bots`, tests/integration/main.rs. And (src/nowhere.rs), tests/gone.";
    reports(&missing_paths(bad), &["src/nowhere.rs", "tests/gone"]);
}
