//! Whether a page can be written where `--report` wants it.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf, absolute};

use super::failure::Failure;
use crate::record::atomic_file::{AtomicFile, directory_of};

/// How much of a file is read to find whether it is a page, in bytes.
const PAGE_HEAD: u64 = 4096;

/// Whether a page can be written to `path`, and takes the place of nothing but another page. `coming` is a
/// directory that is yet to be made.
pub(in crate::cli) fn check_target(
    path: &Path,
    records: Option<&Path>,
    coming: Option<&Path>,
) -> Result<(), Failure> {
    let refused = |why: &str| {
        Err(Failure::Usage(format!(
            "--report {}: {why}",
            path.display()
        )))
    };
    if path == Path::new("-") {
        return Ok(());
    }
    if path.is_dir() {
        return refused("it is a directory; give a file within it");
    }
    if records.is_some_and(|records| place_of(records) == place_of(path)) {
        return refused("the page would replace the records; choose another file");
    }
    if path.exists() && !path.is_file() {
        // A pipe or a device is written to as it is.
        return Ok(());
    }
    if path.is_file() && !is_page(path).unwrap_or(false) {
        return refused(
            "there is another file, which is no page of the referee; choose another name",
        );
    }
    let directory = directory_of(path);
    if !directory.is_dir() && coming.is_some_and(|coming| is_same(coming, directory)) {
        return Ok(());
    }
    if !directory.is_dir() {
        return refused(&format!(
            "there is no directory {}; make it first",
            directory.display()
        ));
    }
    // A page is written beside its place and then put into it.
    match AtomicFile::create(path) {
        Ok(_) => Ok(()),
        Err(error) => refused(&format!(
            "{}: {error}; choose a place where you may write",
            directory.display(),
            error = crate::text::cause(&error)
        )),
    }
}

/// Whether two paths, which need not exist, lead to the same place.
fn is_same(a: &Path, b: &Path) -> bool {
    let bare =
        |path: &Path| -> Option<PathBuf> { Some(absolute(path).ok()?.components().collect()) };
    bare(a).is_some_and(|a| bare(b).is_some_and(|b| a == b))
}

/// A path without links and detours, also of a file that is yet to be made.
fn place_of(path: &Path) -> PathBuf {
    let whole = fs::canonicalize(path).ok().or_else(|| {
        let directory = fs::canonicalize(directory_of(path)).ok()?;
        Some(directory.join(path.file_name()?))
    });
    whole.unwrap_or_else(|| path.to_owned())
}

/// Whether a file is empty, or a page that this program wrote.
fn is_page(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    fs::File::open(path)?
        .take(PAGE_HEAD)
        .read_to_end(&mut start)?;
    let mark = b"<meta name=\"generator\" content=\"referee ";
    Ok(start.is_empty() || start.windows(mark.len()).any(|window| window == mark))
}
