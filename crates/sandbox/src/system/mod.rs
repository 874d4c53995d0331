//! What systems do in ways of their own, behind one interface: process ids, the permissions of files,
//! terminals. Here, and in the modules of the same names (`unix`, `windows`) beside what they belong to,
//! is all that is chosen by the system for which the program is built.
//!
//! - `unix`: Linux, macOS, the BSDs
//! - `windows`: Windows

use std::io;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use self::unix::*;
#[cfg(windows)]
pub use self::windows::*;

/// What a machine has too little of, as an error of a call says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// Processes and threads.
    Processes,
    Memory,
    /// Files that this process may have open.
    OwnFiles,
    /// Files that all processes may have open.
    Files,
    /// Space for files.
    Space,
}

impl Shortage {
    /// `None` when an error has another cause.
    pub fn from_error(error: &io::Error) -> Option<Self> {
        let code = error.raw_os_error()?;
        let found = SHORTAGES.iter().find(|(_, known)| *known == code);
        found.map(|(shortage, _)| *shortage)
    }

    /// The shortage that a text names in the words of the system: some programs report errors in no other way.
    pub fn in_words(text: &str) -> Option<Self> {
        let named = |(_, code): &&(Self, i32)| {
            let error = io::Error::from_raw_os_error(*code).to_string();
            let words = error.split(" (os error").next().unwrap_or(&error);
            text.contains(words)
        };
        SHORTAGES.iter().find(named).map(|(shortage, _)| *shortage)
    }

    /// The error that says so.
    pub fn error(self) -> io::Error {
        let found = SHORTAGES.iter().find(|(known, _)| *known == self);
        io::Error::from_raw_os_error(found.map_or(0, |(_, code)| *code))
    }
}

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    Directory,
    File,
    Link,
    /// A pipe, a socket or a device.
    Other,
}
