//! What usual libraries need to run in a sandbox: processes and threads, and memory that they share by name. Each bot of
//! tests/bots/libraries plays in each sandbox, as root and as a user.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use crate::common::files::executable;
use crate::common::{Referee, Run};
use crate::hostile::{User, sandboxes};
use crate::requirements::{program, unavailable};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bots/libraries");

/// A bot of [`FOLDER`].
struct Bot {
    file: &'static str,
    /// What it needs, and its package.
    needs: [&'static str; 2],
    /// How it is compiled into `bot`, if it has to be.
    build: Option<&'static str>,
    /// Packages of Python that lie beside it.
    packages: &'static [&'static str],
}

impl Bot {
    const fn script(file: &'static str, needs: [&'static str; 2]) -> Self {
        Self {
            file,
            needs,
            build: None,
            packages: &[],
        }
    }

    const fn compiled(file: &'static str, needs: [&'static str; 2], build: &'static str) -> Self {
        Self {
            build: Some(build),
            ..Self::script(file, needs)
        }
    }
}

/// Where packages of Python are, of whichever version.
const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/tools/lib");

const BOTS: [Bot; 7] = [
    Bot::script("pool.py", ["python3", "python3"]),
    Bot {
        packages: &["joblib", "cloudpickle"],
        ..Bot::script("loky.py", ["joblib", "python3-joblib"])
    },
    Bot::script("Streams.java", ["java", "default-jdk-headless"]),
    Bot::script("workers.js", ["node", "nodejs"]),
    Bot::compiled(
        "goroutines.go",
        ["go", "golang-go"],
        "go build -o bot goroutines.go",
    ),
    Bot::compiled(
        "openmp.c",
        ["gcc", "gcc"],
        "gcc -O2 -fopenmp -o bot openmp.c",
    ),
    Bot::compiled(
        "rayon",
        ["cargo", "rustc"],
        "cargo build --quiet --locked --target-dir cache --manifest-path rayon/Cargo.toml",
    ),
];

/// Whether what it needs is here.
fn is_ready(bot: &Bot) -> bool {
    match bot.packages {
        [] => program(bot.needs[0], &[]).is_some(),
        packages => packages.iter().all(|package| folder_of(package).is_some()),
    }
}

fn folder_of(package: &str) -> Option<PathBuf> {
    let versions = fs::read_dir(PACKAGES).ok()?.flatten();
    let mut folders = versions.map(|version| version.path().join("site-packages").join(package));
    folders.find(|folder| folder.is_dir())
}

/// What is started: the source, or what was made of it. A copy, since the bot's user may not enter this folder.
fn prepare(place: &Path, bot: &Bot) -> Result<String, Failed> {
    copy(&Path::new(FOLDER).join(bot.file), &place.join(bot.file))?;
    for package in bot.packages {
        let folder = folder_of(package).ok_or("the package")?;
        copy(&folder, &place.join(package))?;
    }
    let Some(build) = bot.build else {
        return Ok(place.join(bot.file).to_string_lossy().into_owned());
    };
    let mut words = build.split(' ');
    let output = std::process::Command::new(words.next().ok_or("a command")?)
        .args(words)
        .current_dir(place)
        .env("GOCACHE", place.join("cache"))
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let made = place.join("cache/debug/bot");
    if made.exists() {
        fs::rename(made, place.join("bot"))?;
    }
    let _ = fs::remove_dir_all(place.join("cache"));
    Ok(place.join("bot").to_string_lossy().into_owned())
}

/// A file, or a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<(), Failed> {
    if from.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    let text = fs::read(from)?;
    let mode = if text.starts_with(b"#!") {
        0o755
    } else {
        0o644
    };
    executable(to, text, mode);
    Ok(())
}

fn run(words: &[&str], bot: &Bot, kind: &str, user: User) -> Result<Run, Failed> {
    let referee = Referee::new(words).args(["--sandbox", kind]);
    let folder = referee.scratch().to_owned();
    let [place, temporary] = ["bot", "tmp"].map(|name| folder.join(name));
    for path in [&place, &temporary] {
        fs::create_dir(path)?;
        user.give(path);
    }
    fs::write(folder.join("open"), "")?;
    user.give(&folder.join("open"));
    let command = prepare(&place, bot)?;
    let run = referee
        .args(["--start-time", "60s", &command])
        .env("TMPDIR", &temporary)
        .directory(&place)
        .shell(user.script(&folder.join("open")))
        .run();
    Ok(run)
}

fn plays(bot: &Bot, kind: &str, user: User) -> Result<(), Failed> {
    let words = ["--seed", "3", "-n", "2", "builtin:random"];
    let run = run(&words, bot, kind, user)?;
    let has_played = run.code == Some(0) && run.stdout.contains("Forfeits: none.");
    has_played
        .then_some(())
        .ok_or_else(|| run.to_string().into())
}

/// It fails its check, and is told that there is no memory that processes share by name.
fn is_told(bot: &Bot, kind: &str, user: User) -> Result<(), Failed> {
    let run = run(&["check"], bot, kind, user)?;
    let is_told = run
        .stdout
        .contains("has no memory that processes share by name");
    is_told.then_some(()).ok_or_else(|| run.to_string().into())
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for bot in &BOTS {
        let [command, package] = bot.needs;
        let file = bot.file;
        if !is_ready(bot) {
            trials.push(unavailable(format!("libraries::{file}"), command, package));
            continue;
        }
        for (kind, user, is_ready) in sandboxes() {
            if kind == "none" {
                continue;
            }
            // Without name spaces the system's own /dev/shm would be seen, and so it is not.
            let has_memory = file != "pool.py" || user != User::WithoutSpaces;
            let name = format!("libraries::{file} in {kind}{}", user.suffix());
            let trial = Trial::test(name, move || {
                if has_memory {
                    plays(bot, kind, user)
                } else {
                    is_told(bot, kind, user)
                }
            });
            trials.push(trial.with_ignored_flag(!is_ready));
        }
    }
    trials
}
