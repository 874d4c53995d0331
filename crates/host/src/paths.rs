//! Which paths lie within others.

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
