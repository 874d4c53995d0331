//! The ways to build a sandbox.

pub(super) mod bubblewrap;
pub(super) mod landlock;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::closed::ClosedDirectory;

/// Devices without which many programs do not start. Not `/dev/zero`: memory mapped from it counts
/// for no process.
const DEVICES: &[&str] = &["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxBackend {
    Landlock {
        read: Vec<PathBuf>,
        scratch: PathBuf,
        /// Whether it has its own process ids and scratch file system.
        private_view: bool,
        /// Directories closed to its user, which the view opens as far as needed.
        closed: Vec<ClosedDirectory>,
    },
    Bwrap {
        program: PathBuf,
        arguments: Vec<String>,
        /// When the box is kept, and bots start in it without bubblewrap: what is shown within the
        /// scratch directory.
        kept: Option<Vec<PathBuf>>,
    },
}

impl SandboxBackend {
    /// How many helper processes lie between the supervisor and the bot, each the parent of the
    /// next.
    pub const fn helpers(&self) -> usize {
        match self {
            Self::Landlock { private_view, .. } => *private_view as usize,
            Self::Bwrap { kept: Some(_), .. } => 1,
            Self::Bwrap { .. } => 2,
        }
    }
}
