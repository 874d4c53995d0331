//! Submissions as the entries of a folder.

use std::fs;
use std::io;
use std::path::Path;

use jiff::Timestamp;

use super::{Intake, IntakeError, Refused, Submission};
use crate::bot::naming::short_name;
use crate::bot::submission::{entries, is_program};

/// Reads the entries of a folder: each folder in it is somebody's submission, and so is each program.
pub(super) fn read(source: &Path) -> Result<Intake, IntakeError> {
    let mut intake = Intake::default();
    for path in entries(source).map_err(IntakeError::unreadable(source))? {
        let is_folder = path.is_dir();
        let name = if is_folder {
            path.file_name()
        } else {
            path.file_stem()
        };
        let name = short_name(&name.unwrap_or_default().to_string_lossy());
        if !is_folder && !is_program(&path) {
            continue;
        }
        let folder = if is_folder {
            Ok(path.clone())
        } else {
            alone(&path, &mut intake)
        };
        let found = folder.and_then(|folder| Ok((newest(&folder)?, folder)));
        match found {
            Ok((received, folder)) => intake.submissions.push(Submission {
                name,
                folder,
                received,
                found_in: path.display().to_string(),
            }),
            Err(error) => intake.refused.push(Refused {
                name,
                reason: format!("{}: {error}", path.display()),
            }),
        }
    }
    Ok(intake)
}

/// Copies a file into a folder of its own.
fn alone(file: &Path, intake: &mut Intake) -> io::Result<std::path::PathBuf> {
    let staging = match &mut intake.staging {
        Some(staging) => staging,
        none => none.insert(tempfile::tempdir()?),
    };
    let name = file.file_name().unwrap_or_default();
    let folder = staging.path().join(name);
    fs::create_dir(&folder)?;
    let copy = folder.join(name);
    fs::copy(file, &copy)?;
    let modified = fs::metadata(file)?.modified()?;
    fs::File::options()
        .append(true)
        .open(&copy)?
        .set_modified(modified)?;
    Ok(folder)
}

/// When the newest file of a folder was changed.
fn newest(folder: &Path) -> io::Result<Timestamp> {
    let mut newest = Timestamp::UNIX_EPOCH;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let meta = entry.metadata()?;
            if meta.is_dir() {
                folders.push(entry.path());
            } else {
                let modified = Timestamp::try_from(meta.modified()?).map_err(io::Error::other)?;
                newest = newest.max(modified);
            }
        }
    }
    Ok(newest)
}
