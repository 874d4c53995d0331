use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::bot_user::BotUser;
use super::confinement::BotCommand;
use super::interpreters::{Interpreters, Own, check_that_it_starts, refusal};
use super::policy::visible_paths;
use super::private_directory::{PrivateDirectory, remove_left_behind};
use super::request::View;
use super::settings::Settings;
use super::snapshot::{BotFiles, ContentHash, own_program};
use crate::LOG_TARGET;
use crate::executable::{CannotStart, shebang};
use referee_text::cause;

/// Above this many bytes people are told: copying takes time and temporary space.
const LARGE: u64 = 100 << 20;

#[derive(Debug)]
pub(super) struct PrivateCopy {
    /// The command, with the paths of the copy.
    pub(super) argv: Vec<String>,
    pub(super) hash: ContentHash,
    /// With the copied files.
    pub(super) directory: PathBuf,
    /// The copied path and its bytes, when that is worth telling people.
    pub(super) large: Option<(PathBuf, u64)>,
    pub(super) interpreters: Interpreters,
    pub(super) view: View,
    /// Whether it starts other programs by name, as a build does.
    pub(super) compiles: bool,
    /// Copies of its piece sets, by their original paths.
    pieces: Mutex<Vec<(PathBuf, PathBuf)>>,
    /// The copy and the scratch directories; removed when dropped.
    private: PrivateDirectory,
    /// Its user, when root runs the referee. Released after the directory is removed.
    pub(super) user: Option<BotUser>,
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
        let user = BotUser::take().map_err(|error| {
            let cause = cause(&error);
            let cause = format!(
                "root runs the referee, and there is no user without rights for the bot: {cause}"
            );
            CannotStart::new(command.name, cause, "run the referee as another user")
        })?;
        let no_room = |error: io::Error| {
            let cause = cause(&error);
            let cause = format!("there is no room for a copy of its files: {cause}");
            let fix = "free some space for temporary files, or set TMPDIR";
            CannotStart::copying(command.name, cause, &error, fix)
        };
        let private = PrivateDirectory::new(user.is_some()).map_err(no_room)?;
        let place = private.path();
        let files = place.join("bot");
        fs::create_dir(&files).map_err(no_room)?;
        let copied = own.copy(&files)?;
        if let Some(user) = &user {
            // Readable by its own user, not by other bots.
            chown(&files, None, Some(user.id()))
                .and_then(|()| fs::set_permissions(&files, Permissions::from_mode(0o750)))
                .map_err(|error| {
                    let cause = cause(&error);
                    let cause = format!("its files cannot be given to a user of its own: {cause}");
                    let fix = "set TMPDIR to a directory on a local disk";
                    CannotStart::new(command.name, cause, fix)
                })?;
        }
        let own_files = own.path().map(|original| Own {
            original,
            copy: &files,
        });
        let others: Vec<PathBuf> = others
            .iter()
            .filter(|other| other.builtin.is_none())
            .filter_map(|other| own_program(other.argv))
            .collect();
        let mut argv = copied.argv;
        let builtin = own.path().is_none()
            && copied.directory.is_none()
            && argv
                .first()
                .is_some_and(|first| Path::new(first) == settings.request.referee);
        let mut interpreters = Interpreters::none(settings);
        if !builtin {
            interpreters = Interpreters::of(settings, command, own_files, others)
                .map_err(|unseen| refusal(command.name, &unseen))?;
            if user.is_some() {
                interpreters.check_that_others_may(settings, command.name)?;
            }
            if let Some(own_files) = own_files {
                start_by_copied_interpreter(&mut argv, own_files);
            }
            check_that_it_starts(command.name, &argv, &interpreters, place)?;
        }
        let mut visible = visible_paths(settings);
        visible.extend_from_slice(&interpreters.paths);
        visible.extend_from_slice(&interpreters.links);
        visible.extend(copied.directory.clone());
        let directory = copied.directory;
        let view = View::new(
            settings,
            visible,
            directory,
            &private,
            builtin,
            user.as_ref(),
        );
        tracing::debug!(target: LOG_TARGET, bot = command.name, exposed = ?view.visible, "what the bot sees");
        let large = own.path().filter(|_| copied.bytes > LARGE);
        Ok(Self {
            argv,
            hash: copied.hash,
            large: large.map(|path| (path.to_owned(), copied.bytes)),
            directory: files,
            interpreters,
            view,
            compiles: !command.starts.is_empty(),
            pieces: Mutex::default(),
            private,
            user,
        })
    }

    /// A piece set's file that the bot can read: a copy when the bot has its own user.
    pub(super) fn pieces(&self, file: &Path) -> io::Result<PathBuf> {
        if self.user.is_none() {
            return Ok(file.to_owned());
        }
        let mut known = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, copy)) = known.iter().find(|(original, _)| original == file) {
            return Ok(copy.clone());
        }
        let name = format!("pieces-{}.csv", known.len());
        let copy = self.private.path().join(name);
        fs::write(&copy, fs::read(file)?)?;
        fs::set_permissions(&copy, Permissions::from_mode(0o444))?;
        known.push((file.to_owned(), copy.clone()));
        Ok(copy)
    }
}

/// A script whose shebang line names an interpreter of its own by the original path is started by
/// the copied interpreter.
fn start_by_copied_interpreter(argv: &mut Vec<String>, own: Own<'_>) {
    let Some(script) = argv.first().filter(|first| first.contains('/')) else {
        return;
    };
    let Some((interpreter, argument)) = shebang(Path::new(script)) else {
        return;
    };
    let copied = |interpreter: &Path| {
        let directory = interpreter.parent()?.canonicalize().ok()?;
        let inside = directory.strip_prefix(own.original).ok()?;
        Some(own.copy.join(inside).join(interpreter.file_name()?))
    };
    if let Some(copied) = copied(Path::new(&interpreter)) {
        let words = [copied.to_string_lossy().into_owned()];
        argv.splice(0..0, words.into_iter().chain(argument));
    }
}
