//! What an error of a sandbox is about, beside its words: nothing has to read those, and it stays known when a supervisor
//! reports the error.

use std::error::Error;
use std::io;

use serde::{Deserialize, Serialize};

/// What keeps a sandbox from working and has a remedy of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SandboxTrouble {
    /// `bwrap` is not in the search path.
    NoBubblewrap,
    /// The kernel has no Landlock, or one that is too old.
    NoLandlock,
    /// No control group can be made.
    NoGroup,
    /// The directory for temporary files cannot be used.
    TemporaryDirectory,
    /// The path of that directory is not UTF-8.
    NameOfTemporaryDirectory,
    /// The sandbox was not built within its time.
    Late,
    /// The users that root's bots run as may not run the referee's own program.
    ClosedProgram,
}

/// An error in words that say what was being done.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
struct Described {
    words: String,
    trouble: Option<SandboxTrouble>,
    /// The system's number of the error.
    errno: Option<i32>,
}

pub(crate) fn troubled(trouble: SandboxTrouble, words: impl Into<String>) -> io::Error {
    with_parts(words.into(), Some(trouble), None)
}

/// `words` name the cause, too. Its kind and what it is about are kept, unless `trouble` says that better.
pub(crate) fn described(
    words: String,
    trouble: Option<SandboxTrouble>,
    cause: &(dyn Error + 'static),
) -> io::Error {
    let causes = std::iter::successors(Some(cause), |&error| error.source());
    let mut errors = causes.filter_map(|error| error.downcast_ref::<io::Error>());
    let found = errors.find(|error| errno_of(error).is_some() || trouble_of(error).is_some());
    let described = Described {
        words,
        trouble: trouble.or_else(|| trouble_of(found?)),
        errno: found.and_then(errno_of),
    };
    io::Error::new(
        found.map_or(io::ErrorKind::Other, io::Error::kind),
        described,
    )
}

pub(crate) fn with_parts(
    words: String,
    trouble: Option<SandboxTrouble>,
    errno: Option<i32>,
) -> io::Error {
    io::Error::other(Described {
        words,
        trouble,
        errno,
    })
}

fn described_in(error: &io::Error) -> Option<&Described> {
    error.get_ref()?.downcast_ref()
}

pub(crate) fn trouble_of(error: &io::Error) -> Option<SandboxTrouble> {
    described_in(error)?.trouble
}

/// The system's number of an error, also of one that has been described.
pub(crate) fn errno_of(error: &io::Error) -> Option<i32> {
    let number = error.raw_os_error();
    number.or_else(|| described_in(error)?.errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_error_is_about_stays_known() {
        let denied = io::Error::from_raw_os_error(libc::EACCES);
        let first = described("a file".to_owned(), Some(SandboxTrouble::NoGroup), &denied);
        let second = described(format!("again: {first}"), None, &first);
        assert_eq!(second.to_string(), "again: a file");
        assert_eq!(trouble_of(&second), Some(SandboxTrouble::NoGroup));
        assert_eq!(errno_of(&second), Some(libc::EACCES));
        assert_eq!(second.kind(), io::ErrorKind::PermissionDenied);
        let other = described("none".to_owned(), None, &io::Error::other("words"));
        assert_eq!((trouble_of(&other), errno_of(&other)), (None, None));
    }
}
