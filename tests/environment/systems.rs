//! The same seed gives the same records on Linux x86-64, on arm64 (QEMU) and on Windows (Wine).

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::cross::{built, equal, here, records};
use crate::requirements::unavailable;
use crate::{arm64, windows};

/// Games of the tournament: three bots, two pairs of games for each two of them.
const GAMES: usize = 12;

pub(crate) fn trials() -> Vec<Trial> {
    let name = "systems::the_same_seed_gives_the_same_tournament";
    let missing = windows::TARGET
        .missing()
        .or_else(|| arm64::TARGET.missing());
    vec![match missing {
        Some((command, package)) => unavailable(name, command, package),
        None => Trial::test(name, same_tournament),
    }]
}

/// A compiled bot against two built-in ones, all by the same names on every system.
fn same_tournament() -> Result<(), Failed> {
    let here = on_linux()?;
    let windows = on_windows()?;
    let arm64 = on_arm64()?;
    if here.len() != GAMES {
        return Err(format!("{} games, expected {GAMES}", here.len()).into());
    }
    equal(&windows, &here, "records of Windows and Linux")?;
    equal(&arm64, &here, "records of arm64 and x86-64")
}

/// Writes the file of the tournament, in which each bot has its command on this system.
fn describe(directory: &Path, commands: [&str; 3]) -> Result<(), Failed> {
    let mut text = "seed = 26\npairs = 2\nrules = \"squares\"\n".to_owned();
    for (name, command) in ["compiled", "greedy", "random"].into_iter().zip(commands) {
        let _ = write!(
            text,
            "\n[[bots]]\nname = \"{name}\"\ncommand = \"{command}\"\n"
        );
    }
    fs::write(directory.join("cup.toml"), text)?;
    Ok(())
}

/// What the referee is given everywhere. An emulator is slow.
const ARGUMENTS: [&str; 11] = [
    "tournament",
    "--config",
    "cup.toml",
    "--out",
    "cup",
    "--sandbox",
    "none",
    "--move-time",
    "60s",
    "--start-time",
    "60s",
];

/// All games that were played, in the order of their ids, without what may differ.
fn games(directory: &Path) -> Vec<Value> {
    let mut games = records(&directory.join("cup/games.jsonl"));
    for game in &mut games {
        for bot in game["bots"].as_array_mut().into_iter().flatten() {
            if let Some(bot) = bot.as_object_mut() {
                bot.remove("command");
            }
        }
    }
    games.sort_by_key(|game| game["id"].to_string());
    games
}

/// The bot, compiled for a system.
fn compile(compiler: &str, options: &[&str], program: &Path) -> Result<(), Failed> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bots/portable/bot.c");
    let mut compile = Command::new(compiler);
    compile.args(options).arg("-o").args([program, &source]);
    Ok(built("the bot", &mut compile)?)
}

/// Runs the tournament to its end.
fn run(directory: &Path, command: &mut Command) -> Result<Vec<Value>, Failed> {
    let output = windows::output(command)?;
    if output.status.code() == Some(0) {
        return Ok(games(directory));
    }
    Err(format!("{command:?}: {output:#?}").into())
}

fn on_linux() -> Result<Vec<Value>, Failed> {
    let scratch = tempfile::tempdir()?;
    compile("cc", &[], &scratch.path().join("bot"))?;
    describe(
        scratch.path(),
        ["./bot", "builtin:greedy", "builtin:random"],
    )?;
    run(scratch.path(), &mut here(scratch.path(), ARGUMENTS))
}

fn on_windows() -> Result<Vec<Value>, Failed> {
    let place = windows::place()?;
    let mut last = Err("it was not tried".into());
    for _ in 0..windows::STARTS {
        let scratch = tempfile::tempdir()?;
        fs::copy(place.bot(), scratch.path().join("bot.exe"))?;
        let commands = ["./bot.exe", "builtin:greedy", "builtin:random"];
        describe(scratch.path(), commands)?;
        last = run(
            scratch.path(),
            &mut place.windows(scratch.path(), ARGUMENTS),
        );
        let words = format!("{last:?}");
        if !words.contains(windows::INTERNAL) {
            break;
        }
    }
    last
}

/// QEMU emulates one process, so each bot is a script that starts QEMU.
fn on_arm64() -> Result<Vec<Value>, Failed> {
    let arm64::Program(program) = arm64::program()?;
    let scratch = tempfile::tempdir()?;
    let bot = scratch.path().join("bot.arm64");
    compile(arm64::LINKER, &["-static"], &bot)?;
    let referee = program.display();
    for (name, command) in [
        ("compiled", format!("'{}'", bot.display())),
        ("greedy", format!("'{referee}' bot greedy")),
        ("random", format!("'{referee}' bot random")),
    ] {
        let script = scratch.path().join(name);
        fs::write(
            &script,
            format!("#!/bin/sh\nexec {} {command}\n", arm64::EMULATOR),
        )?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    }
    describe(scratch.path(), ["./compiled", "./greedy", "./random"])?;
    let mut command = Command::new(arm64::EMULATOR);
    command
        .arg(program)
        .args(ARGUMENTS)
        .current_dir(scratch.path())
        .env_remove("RUST_LOG");
    run(scratch.path(), &mut command)
}
