//! The options of a sandbox, for all commands that start bots.

use std::path::PathBuf;

use clap::ValueEnum;

use super::failure::Failure;
use super::setup::this_program;
use crate::player::sandbox::{Kind, Limits, Request, Sandbox, Wish};

/// `--sandbox`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Choice {
    /// Bubblewrap when it works, else Landlock; refuses when neither does
    Auto,
    /// Bubblewrap and seccomp
    Bwrap,
    /// Landlock and seccomp
    Landlock,
    /// Nothing: for bots that you trust
    None,
}

impl From<Choice> for Wish {
    fn from(choice: Choice) -> Self {
        match choice {
            Choice::Auto => Self::Auto,
            Choice::Bwrap => Self::Exactly(Kind::Bwrap),
            Choice::Landlock => Self::Exactly(Kind::Landlock),
            Choice::None => Self::Exactly(Kind::None),
        }
    }
}

/// A size with a unit: `256M`, `1G`, `64K`, `1000000`.
fn size(text: &str) -> Result<u64, String> {
    let wrong = || "expected a size such as 256M, 1.5G or 64K".to_owned();
    let lower = text.to_ascii_lowercase();
    let word = lower.strip_suffix("ib").unwrap_or(&lower);
    let (number, shift) = match word.as_bytes().last() {
        Some(b'k') => (&word[..word.len() - 1], 10),
        Some(b'm') => (&word[..word.len() - 1], 20),
        Some(b'g') => (&word[..word.len() - 1], 30),
        _ => (word, 0),
    };
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let bytes = number * f64::from(1_u32 << shift);
    if !(1.0..=1e15).contains(&bytes) {
        return Err(wrong());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "its range has just been checked"
    )]
    Ok(bytes as u64)
}

/// As [`size`], but no smaller than any program needs.
fn memory(text: &str) -> Result<u64, String> {
    match size(text)? {
        bytes if bytes < 8 << 20 => {
            Err("expected at least 8M: programs do not start with less".to_owned())
        }
        bytes => Ok(bytes),
    }
}

fn count<const LEAST: u64>(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if number >= LEAST => Ok(number),
        _ => Err(format!("expected a number of at least {LEAST}")),
    }
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Sandbox (Linux)")]
pub(super) struct SandboxOptions {
    /// What keeps the bots in
    #[arg(long, value_enum, value_name = "KIND")]
    sandbox: Option<Choice>,

    /// Memory of all processes of a bot together
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = memory)]
    memory: u64,

    /// Processes of a bot
    #[arg(long, value_name = "N", default_value = "64", value_parser = count::<1>)]
    processes: u64,

    /// Open files of a process
    #[arg(long, value_name = "N", default_value = "256", value_parser = count::<16>)]
    open_files: u64,

    /// Size of a bot's scratch directory, and of the largest file
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size)]
    scratch: u64,

    /// A file or directory that bots may read and run, such as where an interpreter is
    /// installed; may be given more than once
    #[arg(long, value_name = "PATH")]
    expose: Vec<PathBuf>,

    /// Stop a bot while its opponent thinks; also without a sandbox
    #[arg(long)]
    freeze: bool,
}

impl SandboxOptions {
    /// The sandbox that was asked for, or `usual`; tried out.
    pub(super) fn sandbox(&self, usual: Choice) -> Result<Sandbox, Failure> {
        let request = Request {
            wish: self.sandbox.unwrap_or(usual).into(),
            limits: Limits {
                memory: self.memory,
                processes: self.processes,
                open_files: self.open_files,
                scratch: self.scratch,
            },
            expose: self.expose.clone(),
            freeze: self.freeze,
            referee: this_program()?,
        };
        Sandbox::choose(&request).map_err(|error| {
            Failure::Usage(format!(
                "no sandbox: {error}; or play without one, if you trust the bots: --sandbox none"
            ))
        })
    }
}
