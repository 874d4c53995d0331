//! A file that replaces another whole or not at all.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that is written beside another, and takes its place when it is whole. Dropped before,
/// it leaves nothing behind.
///
/// ```
/// use std::io::Write as _;
/// use referee::record::atomic_file::AtomicFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("games.jsonl");
/// let mut file = AtomicFile::create(&path)?;
/// file.write_all(b"{}\n")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"{}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl AtomicFile {
    /// Begins a new file for `path`, in the same directory.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = tempfile::Builder::new()
            .prefix(".new-")
            // As for any other file: the umask takes away what others may not do.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(directory_of(path))?;
        Ok(Self {
            file,
            path: path.to_owned(),
        })
    }

    /// Puts it in place. Who has the old file open keeps it whole. To survive a loss of power
    /// under its name, the directory has to be synced, too: [`sync_directory`].
    pub fn commit(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file
            .persist(&self.path)
            .map_err(|failed| failed.error)?;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Puts `bytes` in the place of what the file holds.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// Where a file is, or is to be.
pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Makes the names in a directory survive a loss of power.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
