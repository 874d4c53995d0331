//! Stops all processes of a bot; no signal or timer undoes it.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::hierarchy::Version;

/// The file that stops and continues the processes of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freezer {
    pub(super) file: PathBuf,
    pub(super) version: Version,
}

impl Freezer {
    /// Opens it for repeated use.
    pub fn open(&self) -> io::Result<OpenFreezer> {
        let file = File::options().write(true).open(&self.file)?;
        let version = self.version;
        Ok(OpenFreezer { file, version })
    }
}

/// An open [`Freezer`].
#[derive(Debug)]
pub struct OpenFreezer {
    file: File,
    version: Version,
}

impl OpenFreezer {
    /// Stops or continues the processes. One system call.
    pub fn set(&self, frozen: bool) -> io::Result<()> {
        let word = match (self.version, frozen) {
            (Version::One, true) => "FROZEN",
            (Version::One, false) => "THAWED",
            (Version::Two, true) => "1",
            (Version::Two, false) => "0",
        };
        (&self.file).write_all(word.as_bytes())
    }
}
