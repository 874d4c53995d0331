//! Sources that are handed in to a league are built by real compilers, in the sandbox where there is one.

use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};

use crate::common::Referee;
use crate::requirements::{program, unavailable};

/// Whether bubblewrap works here.
fn has_sandbox() -> bool {
    let run = Referee::new(["check", "--sandbox", "bwrap", "builtin:random"]).run();
    run.code == Some(0)
}

fn sources_are_built() -> Result<(), Failed> {
    let players = Path::new(env!("CARGO_MANIFEST_DIR")).join("players");
    let player = |name: &str| fs::read_to_string(players.join(name));
    let teacher = tempfile::tempdir()?;
    let hand_in_bytes = |path: &str, text: &[u8]| {
        let path = teacher.path().join("class").join(path);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(path, text)
    };
    let hand_in = |path: &str, text: &str| hand_in_bytes(path, text.as_bytes());
    let c = player("random.c")?;
    hand_in("c/random.c", &c)?;
    hand_in("cpp/src/random.cpp", &player("random.cpp")?)?;
    hand_in("java/Random.java", &player("Random.java")?)?;
    // In Latin-1.
    hand_in_bytes("java/Helper.java", b"class Helper {} // gr\xfc\xdfe\n")?;
    hand_in("make/random.c", &c)?;
    hand_in(
        "make/Makefile",
        "player: random.c\n\tgcc -o player random.c\n",
    )?;
    hand_in("broken/broken.c", "int main(void) { return nothing; }\n")?;
    let sandbox = if has_sandbox() { "bwrap" } else { "none" };
    let options = ["league", "term", "--from", "class", "--sandbox", sandbox];
    let run = Referee::new([&options[..], &["--pairs", "1", "--seed", "1"]].concat())
        .directory(teacher.path())
        .run();
    let is_built = run.stdout.ends_with("12 new games, 0 kept\n");
    let table = fs::read_to_string(teacher.path().join("term/students.csv"))?;
    let words = ["\nbroken,", "broken.c cannot be built: ", "nothing"];
    if run.code == Some(0) && is_built && words.iter().all(|words| table.contains(words)) {
        Ok(())
    } else {
        Err(run.to_string().into())
    }
}

/// One build kills all that it may signal, for as long as the others are built: theirs and their bots are out of its reach.
fn a_build_that_kills() -> Result<(), Failed> {
    let players = Path::new(env!("CARGO_MANIFEST_DIR")).join("players");
    let source = fs::read_to_string(players.join("random.c"))?;
    let teacher = tempfile::tempdir()?;
    let mut students = vec![(
        "killer",
        "-for i in 1 2 3 4 5; do kill -9 -1; sleep 0.2; done",
    )];
    students.extend(["ann", "bob", "eve"].map(|name| (name, "sleep 0.3")));
    for (name, command) in students {
        let folder = teacher.path().join("class").join(name);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("random.c"), &source)?;
        let rule = format!("player: random.c\n\t{command}\n\tgcc -o player random.c\n");
        fs::write(folder.join("Makefile"), rule)?;
    }
    let options = ["league", "term", "--from", "class", "--sandbox"];
    for sandbox in ["bwrap", "landlock"] {
        let works = Referee::new(["check", "--sandbox", sandbox, "builtin:random"]).run();
        if works.code != Some(0) {
            continue;
        }
        let _ = fs::remove_dir_all(teacher.path().join("term"));
        let run = Referee::new([&options[..], &[sandbox, "--pairs", "1", "--seed", "1"]].concat())
            .directory(teacher.path())
            .run();
        let table = fs::read_to_string(teacher.path().join("term/students.csv"))?;
        let is_out = |name: &str| {
            let mut lines = table.lines().filter(|line| line.starts_with(name));
            lines.any(|line| line.contains("cannot be built"))
        };
        if run.code != Some(0) || ["ann", "bob", "eve"].into_iter().any(is_out) {
            return Err(format!("{table}\n{run}").into());
        }
    }
    Ok(())
}

/// Whether a sandbox works here.
fn has_any_sandbox() -> bool {
    let check = |kind| Referee::new(["check", "--sandbox", kind, "builtin:random"]).run();
    ["bwrap", "landlock"]
        .into_iter()
        .any(|kind| check(kind).code == Some(0))
}

/// Sources of languages with a toolchain of their own, each as one file and as a project; what is in `broken` does not
/// compile.
fn hand_in_by_toolchains(class: &Path) -> Result<Vec<&'static str>, Failed> {
    let players = Path::new(env!("CARGO_MANIFEST_DIR")).join("players");
    let hand_in = |path: &str, text: &str| {
        let path = class.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(path, text)
    };
    for (name, ending, main, project) in [
        (
            "rust",
            "rs",
            "src/main.rs",
            (
                "Cargo.toml",
                "[package]\nname = \"player\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            ),
        ),
        (
            "go",
            "go",
            "main.go",
            ("go.mod", "module example.com/player\n\ngo 1.19\n"),
        ),
        (
            "haskell",
            "hs",
            "app/Main.hs",
            (
                "player.cabal",
                "cabal-version: 1.12\nname: player\nversion: 0.1\nbuild-type: Simple\n\nexecutable player\n  \
                 main-is: Main.hs\n  hs-source-dirs: app\n  build-depends: base, time\n  \
                 default-language: Haskell2010\n",
            ),
        ),
        (
            "ocaml",
            "ml",
            "bin/main.ml",
            ("dune-project", "(lang dune 2.0)\n"),
        ),
    ] {
        let source = fs::read_to_string(players.join(format!("random.{ending}")))?;
        hand_in(&format!("{name}/bot.{ending}"), &source)?;
        hand_in(&format!("{name}-project/{main}"), &source)?;
        hand_in(&format!("{name}-project/{}", project.0), project.1)?;
    }
    hand_in("ocaml-project/bin/dune", "(executable (name main))\n")?;
    hand_in(
        "go-project/choice/choice.go",
        "package choice\n\nfunc One() int { return 1 }\n",
    )?;
    for (ending, text) in [
        ("go", "package main\n\nfunc main() { nothing() }\n"),
        ("hs", "main = print nothing\n"),
        ("ml", "let () = print_int nothing\n"),
        ("rs", "fn main() { let a = 1; nothing() }\n"),
    ] {
        hand_in(&format!("broken-{ending}/bot.{ending}"), text)?;
    }
    Ok(vec![
        "undefined: nothing",
        "Variable not in scope: nothing",
        "Unbound value nothing",
        "cannot find function `nothing`",
    ])
}

fn toolchains_are_followed() -> Result<(), Failed> {
    let teacher = tempfile::tempdir()?;
    let errors = hand_in_by_toolchains(&teacher.path().join("class"))?;
    let sandbox = if has_sandbox() { "bwrap" } else { "none" };
    let options = ["league", "term", "--from", "class", "--sandbox", sandbox];
    let more = ["--pairs", "1", "--seed", "1", "--jobs", "2"];
    let run = Referee::new([&options[..], &more].concat())
        .directory(teacher.path())
        .run();
    let table = fs::read_to_string(teacher.path().join("term/students.csv"))?;
    let is_right = run.code == Some(0)
        && run.stdout.ends_with("56 new games, 0 kept\n")
        && errors.iter().all(|error| table.contains(error));
    let reported: Vec<&str> = table
        .lines()
        .filter(|line| line.contains(" cannot be built: "))
        .filter_map(|line| line.strip_prefix("broken-")?.get(..2))
        .collect();
    let built = |name: &str| -> Result<bool, Failed> {
        let mut versions = fs::read_dir(teacher.path().join("term/bots").join(name))?.flatten();
        let built = "referee-built/referee-built-bot";
        Ok(versions.any(|version| version.path().join(built).exists()))
    };
    let mut all_built = true;
    for name in ["rust", "go", "haskell", "ocaml"] {
        all_built &= built(name)? && built(&format!("{name}-project"))?;
    }
    if is_right && all_built && reported == ["go", "hs", "ml", "rs"] {
        Ok(())
    } else {
        Err(format!("{reported:?}\n{run}").into())
    }
}

/// A test, unless one of these commands is missing.
fn trial(
    name: &'static str,
    needs: &[(&'static str, &'static str)],
    test: fn() -> Result<(), Failed>,
) -> Trial {
    let missing = needs
        .iter()
        .find(|(command, _)| program(command, &[]).is_none());
    match missing {
        Some(&(command, package)) => unavailable(name, command, package),
        None => Trial::test(name, test),
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "builds::sources are built",
            &[
                ("gcc", "gcc"),
                ("g++", "g++"),
                ("make", "make"),
                ("javac", "default-jdk-headless"),
            ],
            sources_are_built,
        ),
        trial(
            "builds::a build that kills reaches no other",
            &[("gcc", "gcc"), ("make", "make")],
            a_build_that_kills,
        )
        .with_ignored_flag(!has_any_sandbox()),
        trial(
            "builds::toolchains are followed",
            &[
                ("cargo", "cargo"),
                ("go", "golang-go"),
                ("ghc", "ghc"),
                ("ocamlopt", "ocaml-nox"),
                ("dune", "ocaml-dune"),
            ],
            toolchains_are_followed,
        ),
    ]
}
