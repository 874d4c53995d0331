//! The invariants of ARCHITECTURE.md that are absences: what must not be found in the code of
//! `src/`. Each is a function that gives what breaks it, and is shown a sample that does.

mod effects;
mod map;
mod paths;
mod source;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use self::source::{File, of_project, sample};
use self::tables::{CRATES, GAME_TRAITS, MODULES, MOST_LINES, WITHOUT_TYPES_OF_GAMES};

fn none(violations: &[String]) {
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

/// Asserts that a check reports just these words, in this order, one a violation.
#[track_caller]
fn reports(violations: &[String], words: &[&str]) {
    assert_eq!(violations.len(), words.len(), "{violations:#?}");
    for (violation, word) in violations.iter().zip(words) {
        assert!(violation.contains(word), "{word}: {violation}");
    }
}

/// Files that use a module which is not below their own, or of which nobody said so.
fn upward(files: &[File], modules: &[(&str, &[&str])]) -> Vec<String> {
    let modules: BTreeMap<&str, &[&str]> = modules.iter().copied().collect();
    let mut found = Vec::new();
    for file in files {
        let top = file.top();
        if matches!(top, "lib" | "main") {
            continue;
        }
        let Some(allowed) = modules.get(top) else {
            found.push(format!("{}: `{top}` is not in the table", file.path));
            continue;
        };
        if file.has(&["crate", "::", "{"]) {
            found.push(format!("{}: write one `use` a module", file.path));
        }
        let mut seen = BTreeSet::new();
        for path in &file.paths {
            let Some(used) = path.inside.as_ref().and_then(|path| path.first()) else {
                continue;
            };
            if used != top && !allowed.contains(&used.as_str()) {
                seen.insert(format!(
                    "{} uses `{used}`: `{top}` may use {allowed:?} only",
                    file.path
                ));
            }
        }
        found.extend(seen);
    }
    found
}

#[test]
fn arrows_point_down() {
    let files = of_project();
    none(&upward(files, MODULES));
    let arrows = paths::uses(files);
    let between = arrows.iter().flat_map(|(from, to)| {
        let top = |path: &str| path.split("::").next().unwrap_or_default().to_owned();
        to.iter().filter(move |to| top(to) != top(from))
    });
    let count = between.count();
    assert!(count > 100, "only {count} arrows were found");

    let bad = sample(&[
        ("low.rs", "use std::fmt;\nuse crate::high::{self, Thing};"),
        ("high/mod.rs", "use crate::low;"),
        ("high/part.rs", "fn f() { super::super::other::g(); }"),
        ("other.rs", "use crate::{low, high};"),
        ("unheard_of.rs", ""),
    ]);
    let modules: &[(&str, &[&str])] = &[
        ("low", &[]),
        ("high", &["low"]),
        ("other", &["low", "high"]),
    ];
    let words = [
        "low.rs uses `high`",
        "high/part.rs uses `other`",
        "other.rs: write one `use`",
        "`unheard_of` is not in the table",
    ];
    reports(&upward(&bad, modules), &words);
}

#[test]
fn the_table_itself_points_down() {
    let place = |name: &str| MODULES.iter().position(|(module, _)| *module == name);
    let files = of_project();
    for (module, allowed) in MODULES {
        assert!(
            files.iter().any(|file| file.top() == *module),
            "there is no module {module}"
        );
        for used in *allowed {
            assert!(place(used) < place(module), "{module} → {used}");
            assert!(place(used).is_some(), "{module} → {used}");
        }
    }
}

/// Files that use each other in a circle.
fn circles(files: &[File]) -> Vec<String> {
    let circles = paths::circles(files).into_iter();
    circles.map(|circle| circle.join(" uses ")).collect()
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    none(&circles(of_project()));

    let bad = sample(&[
        (
            "a/mod.rs",
            "mod b; mod c; mod d; pub use b::Shown; use d::D;",
        ),
        ("a/b.rs", "use super::c::C; pub struct Shown;"),
        ("a/c.rs", "fn f() { crate::a::Shown; }"),
        // What is defined above may be used: this is no circle.
        ("a/d.rs", "use super::Other;"),
        ("e.rs", "mod inner { use super::super::f; }"),
        ("f.rs", "use crate::e;"),
    ]);
    reports(
        &circles(&bad),
        &["a::b uses a::c uses a::b", "e uses f uses e"],
    );
}

/// Files that are too long to be read at once.
fn long_files(files: &[File], most: usize) -> Vec<String> {
    let long = files.iter().filter(|file| file.lines > most);
    long.map(|file| format!("{} has {} lines", file.path, file.lines))
        .collect()
}

#[test]
fn files_are_short() {
    none(&long_files(of_project(), MOST_LINES));

    let bad = sample(&[("a.rs", "\n\n\n"), ("b.rs", "\n\n")]);
    reports(&long_files(&bad, 2), &["a.rs has 3 lines"]);
}

/// Type parameters that are bounded by a trait of a game.
fn types_of_games(files: &[File], modules: &[&str]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for file in files.iter().filter(|file| modules.contains(&file.top())) {
        for (at, token) in file.tokens.iter().enumerate() {
            if !GAME_TRAITS.contains(&token.as_str()) {
                continue;
            }
            // `crate::game::Game` is bounded by what is before it all.
            let mut begin = at;
            while begin >= 2 && file.tokens[begin - 1] == "::" {
                begin -= 2;
            }
            let before = begin.checked_sub(1).map(|at| file.tokens[at].as_str());
            if matches!(before, Some(":" | "+" | "impl")) {
                found.insert(format!("{} has a type parameter of a {token}", file.path));
            }
        }
        if file.has(&["<", "G", ">"]) || file.has(&["<", "G", ","]) || file.has(&["<", "G", ":"]) {
            found.insert(format!("{} has a type parameter G", file.path));
        }
    }
    found.into_iter().collect()
}

#[test]
fn above_one_game_no_type_is_that_of_a_game() {
    none(&types_of_games(of_project(), WITHOUT_TYPES_OF_GAMES));

    let bad = sample(&[
        ("cli/a.rs", "fn f<T: Game>(x: T) {}"),
        (
            "cli/b.rs",
            "fn f<T>(x: T) where T: Clone + crate::game::HumanInput {}",
        ),
        ("cli/c.rs", "fn f(x: &impl Game) {}"),
        ("cli/d.rs", "struct S<G>(G);"),
        (
            "cli/good.rs",
            "use crate::game::Game as _; fn f(x: &dyn Game) {}",
        ),
        ("game/e.rs", "fn f<T: Game>(x: T) {}"),
    ]);
    let words = ["cli/a.rs", "cli/b.rs", "cli/c.rs", "cli/d.rs"];
    reports(&types_of_games(&bad, &["cli"]), &words);
}

/// Files that use an outside crate which is not for their module.
fn strayed_crates(files: &[File], crates: &[(&str, &[&str])]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for file in files.iter().filter(|file| file.top() != "main") {
        for path in &file.paths {
            let of = crates
                .iter()
                .find(|(name, _)| path.after(&[name]).is_some());
            if let Some((name, modules)) = of
                && !modules.contains(&file.top())
            {
                let path = &file.path;
                found.insert(format!("{path} uses `{name}`, which is for {modules:?}"));
            }
        }
    }
    found.into_iter().collect()
}

#[test]
fn outside_crates_keep_to_their_modules() {
    none(&strayed_crates(of_project(), CRATES));

    let bad = sample(&[
        ("a.rs", "use tokio::time;"),
        ("b.rs", "#[derive(serde::Serialize)] struct S;"),
        ("good.rs", "mod tokio; use self::tokio::x; // tokio::y"),
        ("cli.rs", "use tokio::time;"),
    ]);
    let crates: &[(&str, &[&str])] = &[("tokio", &["cli"]), ("serde", &["cli"])];
    reports(&strayed_crates(&bad, crates), &["a.rs", "b.rs"]);
}

#[test]
fn every_outside_crate_is_in_the_table() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let manifest = fs::read_to_string(manifest).expect("the manifest");
    let manifest: toml::Table = toml::from_str(&manifest).expect("TOML");
    let of = |system: &str| &manifest["target"][system]["dependencies"];
    let tables = [
        &manifest["dependencies"],
        of("cfg(target_os = \"linux\")"),
        of("cfg(unix)"),
        of("cfg(windows)"),
    ];
    let wanted: BTreeSet<String> = tables
        .iter()
        .flat_map(|table| table.as_table().expect("a table").keys())
        .map(|name| name.replace('-', "_"))
        .collect();
    let found: BTreeSet<String> = CRATES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(found, wanted);
}
