//! The program for Linux on arm64, run by QEMU: its games and values are those of this processor, and the
//! sandbox's list of system calls has the right numbers.
//!
//! QEMU emulates one process; what that starts is run by the kernel. So bots are scripts which start QEMU.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use libtest_mimic::{Failed, Trial};

use crate::cross::{Ran, Target, Test, built, equal, here};

pub(crate) const EMULATOR: &str = "qemu-aarch64";
pub(crate) const LINKER: &str = "aarch64-linux-gnu-gcc";

/// With musl the program needs no libraries.
pub(crate) const TARGET: Target = Target {
    name: "aarch64-unknown-linux-musl",
    missing_library: "target aarch64-unknown-linux-musl",
    install: "none, but: rustup target add aarch64-unknown-linux-musl",
    needs: &[(EMULATOR, "qemu-user"), (LINKER, "gcc-aarch64-linux-gnu")],
};

const TESTS: &[(&str, Test<Program>)] = &[
    ("the_same_seed_gives_the_same_records", same_records),
    ("positions_have_the_same_values", same_values),
    ("units_of_solver_and_filter", units),
];

pub(crate) fn trials() -> Vec<Trial> {
    TARGET.trials("arm64", TESTS, program)
}

fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut cargo = TARGET.cargo(arguments);
    cargo
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", LINKER)
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER", EMULATOR);
    cargo
}

/// The program's file.
pub(crate) struct Program(pub(crate) PathBuf);

/// The program, built once.
pub(crate) fn program() -> Result<&'static Program, Failed> {
    static PROGRAM: OnceLock<Result<Program, String>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        built("the referee", &mut cargo(["build", "--bin", "referee"]))?;
        Ok(Program(TARGET.program("referee")))
    });
    program
        .as_ref()
        .map_err(|error| Failed::from(error.clone()))
}

/// A script that runs a built-in bot by this command.
fn script(directory: &Path, name: &str, command: &str) {
    let path = directory.join(format!("{name}.sh"));
    std::fs::write(&path, format!("#!/bin/sh\nexec {command} bot {name}\n")).expect("a script");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, executable).expect("permissions");
}

/// Runs both with the same arguments.
fn both(program: &Path, arguments: &[&str]) -> [Ran; 2] {
    [true, false].map(|emulated| {
        let scratch = tempfile::tempdir().expect("a directory");
        let (bot, mut command) = if emulated {
            let mut command = Command::new(EMULATOR);
            command
                .arg(program)
                .args(arguments)
                .current_dir(scratch.path())
                .env_remove("RUST_LOG")
                .stdin(Stdio::null());
            (format!("{EMULATOR} '{}'", program.display()), command)
        } else {
            let bot = format!("'{}'", env!("CARGO_BIN_EXE_referee"));
            (bot, here(scratch.path(), arguments))
        };
        for name in ["random", "greedy"] {
            script(scratch.path(), name, &bot);
        }
        let output = command.output().expect("it starts");
        Ran { output, scratch }
    })
}

fn same_records(Program(program): &Program) -> Result<(), Failed> {
    for arguments in [
        &["-n", "4", "--seed", "7", "./random.sh", "./greedy.sh"][..],
        &[
            "-n",
            "2",
            "--rules",
            "squares",
            "./greedy.sh",
            "./random.sh",
        ],
        &[
            "-n",
            "2",
            "--game",
            "four-in-a-row",
            "./random.sh",
            "./greedy.sh",
        ],
    ] {
        let fixed = [
            "--seed",
            "8",
            "--move-time",
            "1m",
            "--start-time",
            "1m",
            "--sandbox",
            "none",
            "--record",
            "games.jsonl",
        ];
        let given = arguments.contains(&"--seed");
        let arguments = [&fixed[if given { 2 } else { 0 }..], arguments].concat();
        let [there, here] = both(program, &arguments);
        equal(&there.text(), &here.text(), "games")?;
        equal(
            &there.records("games.jsonl"),
            &here.records("games.jsonl"),
            "records",
        )?;
    }
    Ok(())
}

fn same_values(Program(program): &Program) -> Result<(), Failed> {
    for position in [
        "A..PC...J..EFBKL G",
        "A..PC...J..EFB.. G",
        "A..PC...J.NEFB.. G",
    ] {
        let [there, here] = both(program, &["solve", "--threads", "1", position]);
        if here.output.status.code() != Some(0) {
            return Err(here.text().into());
        }
        equal(&there.text(), &here.text(), position)?;
    }
    Ok(())
}

/// The unit tests of what depends on the processor, run by the emulator.
fn units(_: &Program) -> Result<(), Failed> {
    let mut tests = cargo(["test", "--lib", "-p", "referee-games", "-p", "referee-sandbox"]);
    tests.args(["--", "solver::", "seccomp::"]);
    built("the unit tests", &mut tests)?;
    Ok(())
}
