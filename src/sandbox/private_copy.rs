//! A confined bot's files: the private copy, and what it needs to start.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, getuid, test_kill_process};
use tempfile::TempDir;

use super::backend::bubblewrap;
use super::command::BotCommand;
use super::policy::{check_that_it_starts, search_path, visible_paths};
use super::settings::{Kind, Settings};
use super::snapshot::{BotFiles, ContentHash};
use crate::executable::CannotStart;

/// How the names of private directories begin.
const PREFIX: &str = "referee-";

/// A bot's files, copied.
#[derive(Debug)]
pub(super) struct PrivateCopy {
    /// What is run: words with the paths of the copy.
    pub(super) argv: Vec<String>,
    /// Its copied directory.
    pub(super) directory: Option<PathBuf>,
    hash: ContentHash,
    /// Its search path: directories that it can see.
    pub(super) search_path: String,
    /// What it may read.
    pub(super) visible: Vec<PathBuf>,
    /// Holds the copy and the scratch directories; removed when this is dropped.
    private: TempDir,
}

impl PrivateCopy {
    /// Copies a bot's files and finds what it needs to start.
    pub(super) fn of(
        command: BotCommand<'_>,
        others: &[BotCommand<'_>],
        settings: &Settings,
    ) -> Result<Self, CannotStart> {
        remove_left_behind();
        let own = BotFiles::of(command, others)?;
        let cannot = |cause: String, fix: &str| CannotStart {
            bot: command.name.to_owned(),
            cause,
            fix: fix.to_owned(),
        };
        // The name holds the process that it belongs to, should that one be killed.
        let private = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .map_err(|error| {
                cannot(
                    format!("there is no room for a copy of its files: {error}"),
                    "free some space for temporary files, or set TMPDIR",
                )
            })?;
        let place = private.path().canonicalize();
        let place = place.map_err(|error| cannot(error.to_string(), "set TMPDIR"))?;
        let [files, scratches] = ["bot", "scratch"].map(|name| place.join(name));
        for directory in [&files, &scratches] {
            fs::create_dir(directory).map_err(|error| {
                cannot(format!("its files cannot be copied: {error}"), "set TMPDIR")
            })?;
        }
        let copied = own.copy(&files)?;
        let search_path = search_path(settings);
        let mut argv = copied.argv;
        let builtin = own.path().is_none()
            && copied.directory.is_none()
            && argv
                .first()
                .is_some_and(|first| Path::new(first) == settings.referee);
        if builtin {
            if settings.kind == Kind::Bwrap {
                bubblewrap::REFEREE.clone_into(&mut argv[0]);
            }
        } else {
            check_that_it_starts(settings, command.name, &argv, &search_path, &place)?;
        }
        let mut visible = visible_paths(settings);
        visible.extend(copied.directory.clone());
        Ok(Self {
            argv,
            directory: copied.directory,
            hash: copied.hash,
            search_path,
            visible,
            private,
        })
    }

    /// The hash of what was copied.
    pub(super) const fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Where scratch directories are made.
    pub(super) fn scratches(&self) -> PathBuf {
        self.private.path().join("scratch")
    }
}

/// Removes the copies of a referee that was killed before it could: their names have its process
/// id.
fn remove_left_behind() {
    let entries = fs::read_dir(env::temp_dir())
        .into_iter()
        .flatten()
        .flatten();
    for entry in entries {
        let name = entry.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok())
            .and_then(Pid::from_raw);
        let gone = pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH));
        let ours = |meta: fs::Metadata| meta.is_dir() && meta.uid() == getuid().as_raw();
        if gone && entry.metadata().is_ok_and(ours) {
            // Another run may be removing it, too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
