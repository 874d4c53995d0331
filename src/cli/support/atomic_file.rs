//! A file that is written beside another and put in its place when it is whole.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::NamedTempFile;

/// A new file in the directory where `path` is to be.
pub(in crate::cli) fn beside(path: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(".new-")
        // As for any other file: the umask takes away what others may not do.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory_of(path))
}

/// Puts it in place. Who has the old file open keeps it whole.
pub(in crate::cli) fn put_in_place(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}

/// Where a file is, or is to be.
pub(in crate::cli) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}
