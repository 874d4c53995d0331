//! The ways to build a sandbox: what each needs to know, and how it is done.
//!
//! - `bubblewrap`: namespaces, by calling bubblewrap
//! - `landlock`: rules that a process puts on itself

pub(super) mod bubblewrap;
pub(super) mod landlock;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Devices without which many programs do not start. There is no `/dev/zero`: memory mapped
/// from it is counted for no process.
const DEVICES: &[&str] = &["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];

/// A backend with its parameters for one bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Backend {
    /// Landlock and seccomp.
    Landlock {
        /// What the bot may read and run.
        read: Vec<PathBuf>,
        /// Where a scratch directory of its own is made.
        scratch: PathBuf,
    },
    /// Bubblewrap and seccomp.
    Bwrap {
        /// Bubblewrap's file.
        program: PathBuf,
        /// Its arguments up to the command.
        arguments: Vec<String>,
    },
}

impl Backend {
    /// How many processes of its own there are between the supervisor and the bot, one below the
    /// other.
    pub(crate) const fn helpers(&self) -> usize {
        match self {
            Self::Landlock { .. } => 0,
            Self::Bwrap { .. } => 2,
        }
    }
}
