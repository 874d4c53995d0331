//! Files of all versions: `bots/NAME/VERSION` in the league's folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::intake::Submission;
use super::state::{League, Member, Status, Version};
use crate::executable::CannotStart;
use crate::record::atomic_file::sync_directory;
use crate::sandbox::snapshot::copy_tree;
use crate::text::unreadable;

/// Digits of the files' hash that name a version.
const DIGITS: usize = 12;

/// Why a submission is refused.
#[derive(Debug, thiserror::Error)]
pub enum NotTakenIn {
    #[error("{0}")]
    Submission(#[from] CannotStart),
    /// The league's folder cannot be written.
    #[error("{}", unreadable(.0, .1))]
    Folder(PathBuf, io::Error),
}

pub fn folder(league: &Path, member: &Member, version: &str) -> PathBuf {
    league.join("bots").join(&member.folder).join(version)
}

/// Copies a submission's files, unless known. Returns whether the version is new.
pub fn take_in(
    league: &mut League,
    directory: &Path,
    submission: &Submission,
) -> Result<bool, NotTakenIn> {
    let member = league.member(&submission.name);
    member.id = member.id.take().or_else(|| submission.id.clone());
    let versions = directory.join("bots").join(&member.folder);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| NotTakenIn::Folder(path, error)
    };
    fs::create_dir_all(&versions).map_err(failed(&versions))?;
    let mut builder = tempfile::Builder::new();
    let copy = builder
        .prefix(".new-")
        .tempdir_in(&versions)
        .map_err(failed(&versions))?;
    let (hash, _) = copy_tree(&submission.name, &submission.folder, copy.path())?;
    let id: String = hash.to_string().chars().take(DIGITS).collect();
    let place = versions.join(&id);
    if !place.exists() {
        fs::rename(copy.path(), &place).map_err(failed(&place))?;
        sync_directory(&versions).map_err(failed(&versions))?;
    }
    if !submission.is_newest && member.versions.iter().any(|version| version.id == id) {
        return Ok(false);
    }
    member.refused = None;
    if member.versions.last().is_some_and(|last| last.id == id) {
        return Ok(false);
    }
    let mut known = member.versions.iter();
    let known = known.find(|version| version.id == id);
    let status = known.map_or(Status::New, |known| known.status.clone());
    member.versions.push(Version {
        id,
        received: submission.received,
        status,
    });
    Ok(true)
}
