//! What differs between systems, behind one interface: process ids, file permissions, terminals.

use std::io;
use std::path::Path;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use self::unix::*;
#[cfg(windows)]
pub use self::windows::*;

/// What a machine is short of, as an error of a call says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    Processes,
    Memory,
    /// Files that this process may have open.
    OwnFiles,
    /// Files that all processes may have open.
    Files,
    Space,
}

impl Shortage {
    /// `None` when an error has another cause.
    pub fn from_error(error: &io::Error) -> Option<Self> {
        let code = error.raw_os_error()?;
        let found = SHORTAGES.iter().find(|(_, known)| *known == code);
        found.map(|(shortage, _)| *shortage)
    }

    /// The shortage that a text names in the system's words; some programs report errors in no
    /// other way.
    pub fn in_words(text: &str) -> Option<Self> {
        let named = |(_, code): &&(Self, i32)| {
            let error = io::Error::from_raw_os_error(*code).to_string();
            let words = error.split(" (os error").next().unwrap_or(&error);
            text.contains(words)
        };
        SHORTAGES.iter().find(named).map(|(shortage, _)| *shortage)
    }

    pub fn error(self) -> io::Error {
        let found = SHORTAGES.iter().find(|(known, _)| *known == self);
        io::Error::from_raw_os_error(found.map_or(0, |(_, code)| *code))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    Directory,
    File,
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// `.` for a name alone. The file need not exist.
pub fn directory_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new("."))
}
