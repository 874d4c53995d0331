//! A confined bot's files: the private copy, and what it needs to start.

use std::fs;
use std::path::{Path, PathBuf};

use super::backend::bubblewrap;
use super::command::BotCommand;
use super::policy::{check_that_it_starts, search_path, visible_paths};
use super::private_directory::{PrivateDirectory, remove_left_behind};
use super::settings::{Kind, Settings};
use super::snapshot::{BotFiles, ContentHash};
use crate::executable::CannotStart;

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
    /// Whether it is one of this program's own.
    pub(super) builtin: bool,
    /// Holds the copy and the scratch directories; removed when this is dropped.
    private: PrivateDirectory,
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
        let private = PrivateDirectory::new().map_err(|error| {
            cannot(
                format!("there is no room for a copy of its files: {error}"),
                "free some space for temporary files, or set TMPDIR",
            )
        })?;
        let place = private.path();
        let files = place.join("bot");
        fs::create_dir(&files).map_err(|error| {
            cannot(format!("its files cannot be copied: {error}"), "set TMPDIR")
        })?;
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
            check_that_it_starts(settings, command.name, &argv, &search_path, place)?;
        }
        let mut visible = visible_paths(settings);
        visible.extend(copied.directory.clone());
        Ok(Self {
            argv,
            directory: copied.directory,
            hash: copied.hash,
            search_path,
            visible,
            builtin,
            private,
        })
    }

    /// The hash of what was copied.
    pub(super) const fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Where scratch directories are made.
    pub(super) fn scratches(&self) -> PathBuf {
        self.private.scratches()
    }
}
