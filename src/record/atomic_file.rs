//! Files that are replaced atomically.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The start of the names of new versions; that of the file follows.
const PREFIX: &str = ".new-";

/// A new version of a file, written in the same directory and renamed on [commit](Self::commit). When
/// dropped before, it is deleted.
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
    /// Creates a new version of the file at `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{name}-"))
            // Reduced by the umask, as for any other file.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(directory_of(path))?;
        Ok(Self {
            file,
            path: path.to_owned(),
        })
    }

    /// Replaces the file. Processes that have the old version open keep it. The rename survives a loss
    /// of power only once the directory is synced, too: see [`sync_directory`].
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

/// Replaces the content of a file by `bytes`.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// The directory of a file, which need not exist.
pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Deletes the new versions that processes left in a directory when they were killed, but for those of the
/// file `except`. Only while no other process may be writing one: it would lose it.
pub fn remove_leftovers(directory: &Path, except: &str) -> io::Result<()> {
    let except = format!("{PREFIX}{except}-");
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX) && !name.starts_with(&except) && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Makes the entries of a directory survive a loss of power.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
