//! What neither Cargo nor clippy holds: which module of a crate uses which, what calculates only, and who prints and starts
//! programs. Which crate uses which, Cargo holds.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of `crates/match` from below to above: each uses only those before it.
const ORDER: &str = "seed protocol log_target bot game_program record play analysis";

/// The files of `crates/sandbox` in the order in which its documentation has a reader meet them: each uses only those before
/// it. The files of a folder stand together; the name of the folder is its `mod.rs`.
const SANDBOX_ORDER: &str = "log_target trouble paths limits \
     procfs session private_directory bot_user \
     cgroup/controller cgroup/group cgroup/hierarchy cgroup/parent_groups cgroup/bot_groups cgroup/search cgroup \
     seccomp/calls seccomp \
     snapshot/written_files snapshot/outputs snapshot/ignore snapshot/files snapshot/bot_command snapshot/ownership snapshot/hidden \
     snapshot/walk snapshot \
     settings enforcement unsupported \
     policy closed interpreters view private_copy \
     backend backend/landlock backend/bubblewrap spawn_request \
     supervisor/sys supervisor/message supervisor/namespaces supervisor/start supervisor/mounts supervisor/private_view \
     supervisor/kept_box supervisor/kept_boxes supervisor/watched_scratch supervisor/scratch supervisor/spawn \
     supervisor/descendants supervisor/usage_meter supervisor/supervise supervisor/watch supervisor/self_test \
     supervisor/client supervisor \
     probe sandbox examination confinement";

/// What the sandbox does not know, besides the names of games and piece sets: parts of a game, and who plays it.
const WORDS_OF_GAMES: &str =
    "game board piece gift ply quarto puzzle opponent solver strategy middlegame endgame player";

/// What only calculates, and what it does not name.
const PURE: &str =
    "text/ stats/ match/src/seed.rs match/src/protocol.rs tournament/src/openings.rs";
const IMPURE: &str = "std::env std::fs std::net std::os std::process std::thread Instant SystemTime \
     tokio rustix tempfile";

/// Who prints, or says how the languages of bots do. Who starts programs: the sandbox, bots, a game, the organiser's command,
/// and a version manager that is asked for its interpreter.
const PRINT: &str = "src/cli/ sandbox/src/supervisor/ sandbox/src/snapshot/outputs.rs host/src/executable/interpreter.rs";
const PRINTS: &str = "println! eprintln! print! eprint! dbg! io::stdout io::stderr";
const START: &str = "sandbox/ host/src/executable/shim.rs match/src/bot/process/ match/src/game_program/connection.rs \
     src/cli/commands/league/mod.rs";
const STARTS: &str =
    "process::Command process::{Command CommandExt posix_spawn fork() execve execvp";

/// The files of the program and its crates: path from `crates`, or from the root, and code without the lines that are
/// comments.
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    find(&root.join("src"), root, &mut found);
    let crates = root.join("crates");
    for entry in fs::read_dir(&crates).expect("a directory") {
        let folder = entry.expect("an entry").path();
        // Python's module and that of pages are programs of their own.
        if !["python", "web"].iter().any(|name| folder.ends_with(name)) {
            find(&folder.join("src"), &crates, &mut found);
        }
    }
    assert!(found.len() > 150, "only {} files were found", found.len());
    found
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn module(path: &str) -> &str {
    path.split(['/', '.']).next().unwrap_or_default()
}

fn begins_with_any(path: &str, places: &str) -> bool {
    places
        .split_whitespace()
        .any(|place| path.starts_with(place))
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
    let mut found = Vec::new();
    for (path, code) in files() {
        if let Some(inside) = path.strip_prefix("match/src/")
            && inside != "lib.rs"
        {
            found.extend(upward(inside, &code));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    for bad in ["use crate::play::turn;", "use crate::{record, seed};"] {
        assert_eq!(upward("bot/mod.rs", bad).len(), 1, "{bad}");
    }
    assert_eq!(upward("play/mod.rs", "use crate::record::Side;"), [""; 0]);
}

/// The paths that a tree of `use` names, such as `a::b` and `a::c` of `a::{b, c}`; of a path in code, that path.
fn expanded(tree: &str) -> Vec<String> {
    let is_path = |c: char| is_part(c) || c == ':';
    let end = tree.find(|c| !is_path(c)).unwrap_or(tree.len());
    let (path, rest) = tree.split_at(end);
    if !rest.starts_with('{') || !(path.is_empty() || path.ends_with("::")) {
        return vec![path.to_owned()];
    }
    let (mut depth, mut start, mut found) = (0, 1, Vec::new());
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && c == ',' {
            let inner = Some(rest[start..at].trim()).filter(|inner| !inner.is_empty());
            let inner = inner.into_iter().flat_map(expanded);
            found.extend(inner.map(|inner| format!("{path}{inner}")));
            start = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    found
}

/// The modules, other than itself, that the code of one names. `modules` are all of its crate, the root as an empty name.
fn named_modules<'a>(module: &str, code: &str, modules: &[&'a str]) -> BTreeSet<&'a str> {
    let mut named = BTreeSet::new();
    // Whether a line is in a module that this file holds: the parent of that is the file.
    let mut is_inside = false;
    let mut text = String::new();
    for line in code.lines() {
        is_inside = is_inside && line != "}" || line.contains("mod ") && line.ends_with(" {");
        let line = line.replace("super::", if is_inside { "self::" } else { "super::" });
        text.push_str(&line);
        text.push('\n');
    }
    let child = |parent: &str, name: &str| {
        let path = if parent.is_empty() {
            name.to_owned()
        } else {
            format!("{parent}/{name}")
        };
        modules.iter().find(|module| **module == path).copied()
    };
    for (at, _) in text.match_indices("::") {
        let before = text[..at].trim_end_matches(is_part);
        let first = &text[before.len()..at];
        if before.ends_with(':') {
            continue;
        }
        let parent = module.rsplit_once('/').map_or("", |(parent, _)| parent);
        let place = match first {
            "crate" => "",
            "super" => parent,
            "self" => module,
            // The children of a module have a name in it.
            name => {
                named.extend(child(module, name));
                continue;
            }
        };
        for path in expanded(&text[at + 2..]) {
            let mut found = modules.iter().find(|module| **module == place).copied();
            for name in path.split("::") {
                match found.and_then(|found| child(found, name)) {
                    Some(inner) => found = Some(inner),
                    None => break,
                }
            }
            named.extend(found);
        }
    }
    named.remove(module);
    named
}

/// What is wrong with the order of the files of a crate: path from its `src`, and code.
fn disorder(files: &[(String, String)], order: &str) -> Vec<String> {
    let order: Vec<&str> = order.split_whitespace().chain([""]).collect();
    let mut found = Vec::new();
    for (at, module) in order.iter().enumerate() {
        let folder = module.split('/').next();
        let before = order[..at]
            .iter()
            .rposition(|other| other.split('/').next() == folder);
        if before.is_some_and(|before| before + 1 != at) {
            found.push(format!("`{module}` does not stand beside its folder"));
        }
    }
    let mut missing: BTreeSet<&str> = order.iter().copied().collect();
    for (path, code) in files {
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let module = if module == "lib" { "" } else { module };
        missing.remove(module);
        let Some(place) = order.iter().position(|other| *other == module) else {
            found.push(format!("{path} has no place in the order"));
            continue;
        };
        let later = named_modules(module, code, &order)
            .into_iter()
            .filter(|used| !order[..place].contains(used));
        found.extend(later.map(|used| format!("{path} uses `{used}`, which comes after it")));
    }
    found.extend(
        missing
            .iter()
            .map(|module| format!("there is no `{module}`")),
    );
    found
}

#[test]
fn the_sandbox_is_read_in_one_order() {
    let inside = |(path, code): (String, String)| {
        Some((path.strip_prefix("sandbox/src/")?.to_owned(), code))
    };
    let files: Vec<(String, String)> = files().into_iter().filter_map(inside).collect();
    assert_eq!(disorder(&files, SANDBOX_ORDER), [""; 0]);
    // Each of these closes a circle.
    for (path, code) in [
        ("limits.rs", "use super::settings::Settings;"),
        ("limits.rs", "fn f() -> crate::Sandbox {}"),
        (
            "cgroup/group.rs",
            "use super::{controller::Version, search};",
        ),
        ("cgroup/group.rs", "use super::find_parent_groups;"),
        ("backend/mod.rs", "fn f() { landlock::restrict_self(); }"),
        (
            "snapshot/outputs.rs",
            "mod pipes {\n    use crate::snapshot::walk;\n}",
        ),
        (
            "settings.rs",
            "use crate::{\n    limits::ResourceLimits,\n    supervisor::KeptBoxes,\n};",
        ),
    ] {
        let mut files = files.clone();
        let file = files
            .iter_mut()
            .find(|file| file.0 == path)
            .expect("a file");
        file.1.extend(["\n", code, "\n"]);
        let found = disorder(&files, SANDBOX_ORDER);
        assert_eq!(found.len(), 1, "{path}: {code}: {found:?}");
    }
}

/// The words of a text in lower case, also those within names such as `PieceSet` and `most_games`.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    for (c, next) in text.chars().zip(text.chars().skip(1).chain([' '])) {
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
        if !next.is_alphabetic() || c.is_lowercase() && next.is_uppercase() {
            words.insert(std::mem::take(&mut word));
        }
    }
    words
}

/// The names in a folder of the root, without extensions.
fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let entries = entries
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path());
    let stem = |path: PathBuf| {
        path.file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    entries.filter_map(stem).collect()
}

/// The first word of a game in a text, of these or a name.
fn word_of_games(text: &str, names: &[String]) -> Option<String> {
    let found = words(text);
    let is_there = |word: &str| found.contains(word) || found.contains(&format!("{word}s"));
    let mut listed = WORDS_OF_GAMES.split_whitespace();
    let word = listed.find(|word| is_there(word)).map(str::to_owned);
    word.or_else(|| {
        let is_name = |name: &&String| match words(name).len() {
            1 => is_there(name),
            _ => text.to_lowercase().contains(name.as_str()),
        };
        names.iter().find(is_name).cloned()
    })
}

#[test]
fn the_sandbox_knows_nothing_of_games() {
    fn look(folder: &Path, names: &[String], found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                look(&path, names, found);
            } else {
                let text = fs::read_to_string(&path).expect("a text");
                let word = word_of_games(&text, names);
                found.extend(word.map(|word| format!("{}: {word}", path.display())));
            }
        }
    }
    let mut names: Vec<String> = ["games", "sets"].into_iter().flat_map(names).collect();
    // Each game is a folder; the files beside them are of all games.
    let games = fs::read_dir("crates/games/src/game").expect("a directory");
    let games = games.map(|entry| entry.expect("an entry").path());
    let games = games.filter(|path| path.is_dir());
    names.extend(games.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())));
    assert!(names.len() > 5, "{names:?}");
    let mut found = Vec::new();
    let sandbox = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/sandbox");
    look(&sandbox, &names, &mut found);
    assert!(found.is_empty(), "{found:#?}");
    for bad in [
        "const PIECES: u8",
        "PieceSet",
        "fn most_games()",
        "// A ply.",
        "tic-tac-toe",
        "FOUR_IN_A_ROW",
    ] {
        assert!(word_of_games(bad, &names).is_some(), "{bad}");
    }
    assert_eq!(word_of_games("begin, apply: reply, keyboard", &names), None);
}

#[test]
fn what_calculates_knows_no_process_clock_or_file() {
    let mut found = Vec::new();
    for (path, code) in files() {
        let word = first(&code, IMPURE);
        found.extend(
            word.filter(|_| begins_with_any(&path, PURE))
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
            if let Some(word) = first(&code, words)
                && !begins_with_any(&path, places)
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
