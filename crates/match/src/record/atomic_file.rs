use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use referee_host::system::open_to_all;
/// The entries of a directory then survive a loss of power after `sync_directory`.
pub use referee_host::system::{directory_of, sync_directory};

/// Of the names of new versions; the file's name follows.
const PREFIX: &str = ".new-";

/// A new version of a file, renamed on [commit](Self::commit). When dropped before, it is deleted.
#[derive(Debug)]
pub struct AtomicFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl AtomicFile {
    pub fn create(path: &Path) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let prefix = format!("{PREFIX}{name}-");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        open_to_all(&mut builder);
        let file = builder.tempfile_in(directory_of(path))?;
        Ok(Self {
            file,
            path: path.to_owned(),
        })
    }

    /// Survives a loss of power only once the directory is synced, too: [`sync_directory`].
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

pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// Deletes the new versions that killed processes left in a directory, but for those of the file `except`. Only while
/// no other process may be writing one: it would lose it.
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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.jsonl");
        replace(&path, b"one").unwrap();
        let mut old = File::open(&path).unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        assert_eq!(file.write(b"two").unwrap(), 3);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        file.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        let mut text = String::new();
        old.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one");
        drop(AtomicFile::create(&path).unwrap());
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn a_path_without_a_directory_is_in_the_present_one() {
        for (path, directory) in [
            ("games.jsonl", "."),
            ("results/games.jsonl", "results"),
            ("/games.jsonl", "/"),
            ("../games.jsonl", ".."),
        ] {
            assert_eq!(directory_of(Path::new(path)), Path::new(directory));
        }
    }

    #[test]
    fn what_killed_processes_left_is_deleted_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let kept = [
            "games.jsonl".to_owned(),
            format!("{PREFIX}pieces.csv-x1"),
            format!("{PREFIX}directory"),
        ];
        let left = [format!("{PREFIX}games.jsonl-x1"), format!("{PREFIX}x2")];
        for name in kept[..2].iter().chain(&left) {
            std::fs::write(path(name), b"{}\n").unwrap();
        }
        std::fs::create_dir(path(&kept[2])).unwrap();
        remove_leftovers(folder.path(), "pieces.csv").unwrap();
        assert!(kept.iter().all(|name| path(name).exists()));
        assert!(left.iter().all(|name| !path(name).exists()));
    }

    #[test]
    fn a_directory_that_is_gone_cannot_be_synced() {
        let folder = tempfile::tempdir().unwrap();
        sync_directory(folder.path()).unwrap();
        assert!(sync_directory(&folder.path().join("gone")).is_err());
    }
}
