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
    let hand_in = |path: &str, text: &str| {
        let path = teacher.path().join("class").join(path);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(path, text)
    };
    let c = player("random.c")?;
    hand_in("c/random.c", &c)?;
    hand_in("cpp/src/random.cpp", &player("random.cpp")?)?;
    hand_in("java/Random.java", &player("Random.java")?)?;
    hand_in("java/Helper.java", "class Helper {}\n")?;
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
    let words = [
        "did not enter: broken: broken.c cannot be built: ",
        "nothing",
    ];
    if run.code == Some(0) && is_built && words.iter().all(|words| run.stdout.contains(words)) {
        Ok(())
    } else {
        Err(run.to_string().into())
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let name = "builds::sources are built";
    for (command, package) in [
        ("gcc", "gcc"),
        ("g++", "g++"),
        ("make", "make"),
        ("javac", "default-jdk-headless"),
    ] {
        if program(command, &[]).is_none() {
            return vec![unavailable(name, command, package)];
        }
    }
    vec![Trial::test(name, sources_are_built)]
}
