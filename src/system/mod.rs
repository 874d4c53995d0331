//! What systems do in ways of their own, behind one interface: process ids, the permissions of files,
//! terminals. Here, and in the modules of the same names (`unix`, `windows`) beside what they belong to,
//! is all that is chosen by the system for which the program is built.
//!
//! - `unix`: Linux, macOS, the BSDs
//! - `windows`: Windows

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use self::unix::*;
#[cfg(windows)]
pub(crate) use self::windows::*;

/// What a machine has too little of, as an error of a call says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shortage {
    /// Processes and threads.
    Processes,
    Memory,
    /// Files that this process may have open.
    OwnFiles,
    /// Files that all processes may have open.
    Files,
}

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryKind {
    Directory,
    File,
    Link,
    /// A pipe, a socket or a device.
    Other,
}
