//! Which paths lie within others, and what lies within a folder.

use std::fs;
use std::path::{Path, PathBuf};

/// Those of the paths that do not lie within one of `others`.
pub fn outside(mut paths: Vec<PathBuf>, others: &[PathBuf]) -> Vec<PathBuf> {
    paths.retain(|path| {
        let holds_it = |other: &PathBuf| other != path && path.starts_with(other);
        !others.iter().any(holds_it)
    });
    paths
}

/// Whether a path lies in this directory, by its canonical path if it has one.
pub fn lies_in(path: &Path, directory: &Path) -> bool {
    let canonical = path.canonicalize();
    canonical.as_deref().unwrap_or(path).starts_with(directory)
}

/// The sizes of all files within a folder, in bytes, without following links. What cannot be read counts as nothing.
pub fn bytes_within(folder: &Path) -> u64 {
    let Ok(inside) = fs::read_dir(folder) else {
        return 0;
    };
    let sizes = inside.flatten().map(|entry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => bytes_within(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
