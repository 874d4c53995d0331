//! The ways to build a sandbox: what each needs to know, and how it is done.
//!
//! - `bubblewrap`: namespaces, by calling bubblewrap
//! - `landlock`: rules that a process puts on itself

pub(super) mod bubblewrap;
pub(super) mod landlock;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::closed::ClosedDirectory;
use super::settings::Kind;

/// Devices without which many programs do not start. There is no `/dev/zero`: memory mapped
/// from it is counted for no process.
const DEVICES: &[&str] = &["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];

/// A backend with its parameters for one bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// Landlock and seccomp.
    Landlock {
        /// What the bot may read and run.
        read: Vec<PathBuf>,
        /// Where a scratch directory of its own is made.
        scratch: PathBuf,
        /// Whether it has process ids and a scratch file system of its own.
        own_view: bool,
        /// Directories that are closed to its user, which the view opens as far as needed.
        closed: Vec<ClosedDirectory>,
    },
    /// Bubblewrap and seccomp.
    Bwrap {
        /// Bubblewrap's file.
        program: PathBuf,
        /// Its arguments up to the command.
        arguments: Vec<String>,
        /// When the box that it builds is kept, and bots are started in it without bubblewrap: what is
        /// shown within the scratch directory.
        kept: Option<Vec<PathBuf>>,
    },
}

impl Backend {
    /// Its name, as on the command line.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Landlock { .. } => Kind::Landlock.name(),
            Self::Bwrap { .. } => Kind::Bwrap.name(),
        }
    }

    /// How many processes of its own there are between the supervisor and the bot, one below the
    /// other.
    pub const fn helpers(&self) -> usize {
        match self {
            Self::Landlock { own_view, .. } => *own_view as usize,
            Self::Bwrap { kept: Some(_), .. } => 1,
            Self::Bwrap { .. } => 2,
        }
    }
}
