//! Paths as messages have them, and those that belong to the system.

use std::path::Path;

use referee_text::escape;

/// Directories of the system: every bot may read them, and their contents need no copy.
pub(super) const SYSTEM_DIRECTORIES: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/snap",
];

/// Whether a path leads into a directory of the system.
pub(super) fn is_system(path: &Path) -> bool {
    path.canonicalize()
        .is_ok_and(|path| lies_in_any(&path, SYSTEM_DIRECTORIES))
}

/// Whether a path, without links, lies in one of these directories.
pub(super) fn lies_in_any(path: &Path, directories: &[impl AsRef<Path>]) -> bool {
    directories.iter().any(|above| path.starts_with(above))
}

/// The directory in which a path without links lies.
pub(super) fn parent_directory(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// Safe to print.
pub(super) fn escaped_path(path: &Path) -> String {
    escape(path.as_os_str().as_encoded_bytes())
}
