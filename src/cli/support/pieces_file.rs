//! The file of a piece set that bots are given.

use std::fs;
use std::io::Write as _;
use std::path::{self, Path, PathBuf};

use tempfile::NamedTempFile;

use super::failure::Failure;

/// How many links may lead to a file, as for the kernel.
const MOST_LINKS: usize = 40;

/// A file that bots can read as long as this lives: the one that the user named, or a copy of it.
#[derive(Debug)]
pub(in crate::cli) struct PiecesFile {
    path: String,
    /// Is deleted when it is dropped.
    _copy: Option<NamedTempFile>,
}

impl PiecesFile {
    /// The file at `path`, from which `text` was read. When a bot could not read the same from it,
    /// because it is a pipe, a file of this process such as `/dev/stdin`, or has a name that is not
    /// UTF-8, bots get a copy.
    pub(in crate::cli) fn new(path: &Path, text: &str) -> Result<Self, Failure> {
        let absolute = path::absolute(path).map_err(|error| {
            Failure::Usage(format!(
                "{}: {error}",
                path.display(),
                error = crate::text::cause(&error)
            ))
        })?;
        match absolute.to_str() {
            Some(named) if absolute.is_file() && !is_of_this_process(&absolute) => Ok(Self {
                path: named.to_owned(),
                _copy: None,
            }),
            _ => Self::copy(text),
        }
    }

    /// A new file with this text.
    pub(in crate::cli) fn copy(text: &str) -> Result<Self, Failure> {
        let directory = std::env::temp_dir();
        let failed = |error| {
            Failure::Usage(format!(
                "cannot write a copy of the piece set into {}: {error}; set TMPDIR to a directory where you may write",
                directory.display(),
                error = crate::text::cause(&error)
            ))
        };
        let mut file = tempfile::Builder::new()
            .prefix("referee-set-")
            .suffix(".csv")
            .tempfile_in(&directory)
            .map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        let absolute = path::absolute(file.path()).map_err(failed)?;
        let Ok(path) = absolute.into_os_string().into_string() else {
            return Err(failed(std::io::Error::other("its name is not UTF-8")));
        };
        Ok(Self {
            path,
            _copy: Some(file),
        })
    }

    /// A path that means the same whatever the working directory is.
    pub(in crate::cli) fn path(&self) -> &str {
        &self.path
    }
}

/// Whether a path means another file to another process.
fn is_of_this_process(path: &Path) -> bool {
    let mut path = PathBuf::from(path);
    for _ in 0..MOST_LINKS {
        if path.starts_with("/dev") || path.starts_with("/proc") {
            return true;
        }
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("/")).join(to),
            Err(_) => return false,
        }
    }
    true
}
