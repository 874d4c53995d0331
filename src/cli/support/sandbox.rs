//! The options of a sandbox, for all commands that start bots.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::{Deserialize, Deserializer};

use super::config_values::{parsed, word};
use super::failure::Failure;
use super::setup::this_program;
use super::size;
use crate::arena::plan::SandboxPlan;
use crate::sandbox::{Kind, ResourceLimits, Sandbox, SandboxRequest, Selection};

/// `--sandbox`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Choice {
    /// Bubblewrap when it works, else Landlock; refuses when neither does
    Auto,
    /// Bubblewrap and seccomp
    Bwrap,
    /// Landlock and seccomp
    Landlock,
    /// Nothing: for bots that you trust
    None,
}

impl From<Choice> for Selection {
    fn from(choice: Choice) -> Self {
        match choice {
            Choice::Auto => Self::Auto,
            Choice::Bwrap => Self::Exactly(Kind::Bwrap),
            Choice::Landlock => Self::Exactly(Kind::Landlock),
            Choice::None => Self::Exactly(Kind::None),
        }
    }
}

/// The layers of a sandbox, for people. Plans call the supervisor by its old name, `guard`.
pub(in crate::cli) fn layer_names(kind: Kind) -> String {
    kind.layers().join(", ").replace("guard", "supervisor")
}

/// Parses a memory limit: at least what any program needs to start.
fn memory(text: &str) -> Result<u64, String> {
    match size::parse(text)? {
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

/// The options of a sandbox; in a configuration file they are the table `[sandbox]`.
#[derive(Clone, Debug, Default, clap::Args, Deserialize)]
#[command(next_help_heading = "Sandbox (Linux)")]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::cli) struct SandboxOptions {
    /// The sandbox that bots run in [default: auto for tournaments, none for matches]
    #[arg(long = "sandbox", value_enum, value_name = "KIND")]
    #[serde(default, deserialize_with = "word")]
    kind: Option<Choice>,

    /// Memory of all processes of a bot together [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    #[serde(default, deserialize_with = "memory_text")]
    memory: Option<u64>,

    /// Processes of a bot [default: 64]
    #[arg(long, value_name = "N", value_parser = count::<1>)]
    processes: Option<u64>,

    /// Open files of a process [default: 256]
    #[arg(long, value_name = "N", value_parser = count::<16>)]
    open_files: Option<u64>,

    /// Size of a bot's scratch directory, and of the largest file [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_positive)]
    #[serde(default, deserialize_with = "size_text")]
    scratch: Option<u64>,

    /// A file or directory that bots may read and run, such as where an interpreter is
    /// installed; may be given more than once
    #[arg(long, value_name = "PATH")]
    #[serde(default)]
    expose: Vec<PathBuf>,

    /// Stop a bot while its opponent thinks; also without a sandbox
    #[arg(long)]
    #[serde(default)]
    freeze: bool,
}

fn memory_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    parsed(deserializer, memory)
}

fn size_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    parsed(deserializer, size::parse_positive)
}

impl SandboxOptions {
    /// These options, with those of a file where these are not given.
    pub(in crate::cli) fn or(self, file: Self) -> Self {
        Self {
            kind: self.kind.or(file.kind),
            memory: self.memory.or(file.memory),
            processes: self.processes.or(file.processes),
            open_files: self.open_files.or(file.open_files),
            scratch: self.scratch.or(file.scratch),
            expose: [self.expose, file.expose].concat(),
            freeze: self.freeze || file.freeze,
        }
    }

    /// Resolves relative paths against `base`.
    pub(in crate::cli) fn relative_to(&mut self, base: &Path) {
        for path in &mut self.expose {
            *path = base.join(&*path);
        }
    }

    /// These options, with those of a resumed tournament's plan where these are not given.
    pub(in crate::cli) fn or_planned(mut self, planned: &SandboxPlan) -> Self {
        self.kind = self.kind.or(Choice::from_str(&planned.kind, false).ok());
        self.memory = self.memory.or(Some(planned.memory));
        self.processes = self.processes.or(Some(planned.processes));
        self.open_files = self.open_files.or(Some(planned.open_files));
        self.scratch = self.scratch.or(Some(planned.scratch));
        if self.expose.is_empty() {
            self.expose = planned.expose.iter().map(PathBuf::from).collect();
        }
        self.freeze |= planned.freeze;
        self
    }

    /// The entry in a plan for the sandbox that these options selected.
    pub(in crate::cli) fn plan(&self, sandbox: &Sandbox) -> SandboxPlan {
        let limits = sandbox.limits();
        SandboxPlan {
            kind: sandbox.kind().name().to_owned(),
            layers: sandbox
                .kind()
                .layers()
                .iter()
                .map(|&layer| layer.to_owned())
                .collect(),
            memory: limits.memory,
            memory_by: sandbox.memory_bound(),
            processes: limits.processes,
            open_files: limits.open_files,
            scratch: limits.scratch,
            expose: self
                .expose
                .iter()
                .map(|path| path.to_string_lossy().into_owned())
                .collect(),
            freeze: sandbox.freezes(),
        }
    }

    /// Selects the sandbox, `default` when none was chosen, and tests that it works.
    pub(in crate::cli) fn sandbox(&self, default: Choice) -> Result<Sandbox, Failure> {
        let default_limits = ResourceLimits::default();
        let request = SandboxRequest {
            selection: self.kind.unwrap_or(default).into(),
            limits: ResourceLimits {
                memory: self.memory.unwrap_or(default_limits.memory),
                processes: self.processes.unwrap_or(default_limits.processes),
                open_files: self.open_files.unwrap_or(default_limits.open_files),
                scratch: self.scratch.unwrap_or(default_limits.scratch),
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
