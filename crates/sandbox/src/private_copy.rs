use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::bot_user::BotUser;
use super::interpreters::{Interpreters, MovedFiles, check_that_it_starts, refusal};
use super::log_target::LOG_TARGET;
use super::policy::visible_paths;
use super::private_directory::{PrivateDirectory, remove_left_behind};
use super::settings::SandboxSettings;
use super::snapshot::BotCommand;
use super::snapshot::{BotFiles, FileSet, bot_program};
use super::view::BotView;
use referee_host::executable::{CannotStart, shebang};
use referee_text::cause;

/// Above this many bytes people are told: copying takes time and temporary space.
const LARGE: u64 = 100 << 20;

#[derive(Debug)]
pub(super) struct PrivateCopy {
    /// The command, with the paths of the copy.
    pub(super) argv: Vec<String>,
    pub(super) files: FileSet,
    /// With the copied files.
    pub(super) directory: PathBuf,
    /// The copied path and its bytes, when that is worth telling people.
    pub(super) large: Option<(PathBuf, u64)>,
    /// Names of what lies in its folder and is another entrant's.
    pub(super) hidden: Vec<String>,
    /// Whether of its folder only its program's file is copied.
    pub(super) is_alone: bool,
    pub(super) interpreters: Interpreters,
    pub(super) view: BotView,
    /// Whether it starts other programs by name, as a build does.
    pub(super) compiles: bool,
    /// Copies of files that it is given besides, by their original paths.
    given_files: Mutex<Vec<(PathBuf, PathBuf)>>,
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
        settings: &SandboxSettings,
    ) -> Result<Self, CannotStart> {
        remove_left_behind();
        let originals = BotFiles::of(command, others)?;
        let user = take_user(command.name)?;
        let (private, directory) = make_folder(command.name, user.is_some())?;
        let copied = originals.copy(&directory)?;
        if let Some(user) = &user {
            give_to(user, &directory, command.name)?;
        }
        let moved = originals.path().map(|original| MovedFiles {
            original,
            copy: &directory,
        });
        let mut argv = copied.argv;
        let is_referee = moved.is_none()
            && copied.directory.is_none()
            && starts(&argv, &settings.request.referee);
        let mut interpreters = Interpreters::none(settings);
        if !is_referee {
            interpreters = Interpreters::of(settings, command, moved, programs_of(others))
                .map_err(|unseen| refusal(command.name, &unseen))?;
            if user.is_some() {
                interpreters.check_that_others_may(settings, command.name)?;
            }
            if let Some(moved) = moved {
                start_by_copied_interpreter(&mut argv, moved);
            }
            check_that_it_starts(command.name, &argv, &interpreters, private.path())?;
        }
        let view = BotView {
            visible: visible_to_bot(settings, &interpreters, copied.directory.as_ref()),
            directory: copied.directory,
            scratches: private.scratches(),
            is_referee,
            closed: Vec::new(),
        };
        let view = view.confined_by(settings, &private, user.as_ref());
        tracing::debug!(target: LOG_TARGET, bot = command.name, exposed = ?view.visible, "what the bot sees");
        let large = originals.path().filter(|_| copied.files.bytes > LARGE);
        Ok(Self {
            argv,
            large: large.map(|path| (path.to_owned(), copied.files.bytes)),
            files: copied.files,
            hidden: originals.hidden(),
            is_alone: originals.path().is_some() && !originals.is_directory(),
            directory,
            interpreters,
            view,
            compiles: !command.starts.is_empty(),
            given_files: Mutex::default(),
            private,
            user,
        })
    }

    /// Where the bot can read a file that it is given: a copy when the bot has its own user.
    pub(super) fn given_file(&self, file: &Path) -> io::Result<PathBuf> {
        if self.user.is_none() {
            return Ok(file.to_owned());
        }
        let known = self.given_files.lock();
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        if let Some((_, copy)) = known.iter().find(|(original, _)| original == file) {
            return Ok(copy.clone());
        }
        let mut copy = self.private.path().join(format!("given-{}", known.len()));
        if let Some(extension) = file.extension() {
            copy.set_extension(extension);
        }
        fs::write(&copy, fs::read(file)?)?;
        fs::set_permissions(&copy, Permissions::from_mode(0o444))?;
        known.push((file.to_owned(), copy.clone()));
        Ok(copy)
    }
}

/// An empty folder for the copy, in a directory that only the bot and the referee may enter.
fn make_folder(bot: &str, has_user: bool) -> Result<(PrivateDirectory, PathBuf), CannotStart> {
    let no_room = |error: io::Error| no_room(bot, &error);
    let private = PrivateDirectory::new(has_user).map_err(no_room)?;
    let directory = private.path().join("bot");
    fs::create_dir(&directory).map_err(no_room)?;
    Ok((private, directory))
}

/// A user for a bot; `None` where the referee's user is that of bots, too.
fn take_user(bot: &str) -> Result<Option<BotUser>, CannotStart> {
    BotUser::take().map_err(|error| {
        let cause = cause(&error);
        let cause = format!(
            "root runs the referee, and there is no user without rights for the bot: {cause}"
        );
        CannotStart::new(bot, cause, "run the referee as another user")
    })
}

/// Makes copied files readable by the user of their bot, not by other bots.
fn give_to(user: &BotUser, directory: &Path, bot: &str) -> Result<(), CannotStart> {
    chown(directory, None, Some(user.id()))
        .and_then(|()| fs::set_permissions(directory, Permissions::from_mode(0o750)))
        .map_err(|error| {
            let cause = cause(&error);
            let cause = format!("its files cannot be given to a user of its own: {cause}");
            let fix = "set TMPDIR to a directory on a local disk";
            CannotStart::new(bot, cause, fix)
        })
}

fn no_room(bot: &str, error: &io::Error) -> CannotStart {
    let cause = format!("there is no room for a copy of its files: {}", cause(error));
    let fix = "free some space for temporary files, or set TMPDIR";
    CannotStart::copying(bot, cause, error, fix)
}

/// Whether a command starts this program.
fn starts(argv: &[String], program: &Path) -> bool {
    argv.first()
        .is_some_and(|first| Path::new(first) == program)
}

fn visible_to_bot(
    settings: &SandboxSettings,
    interpreters: &Interpreters,
    directory: Option<&PathBuf>,
) -> Vec<PathBuf> {
    let mut visible = visible_paths(&settings.request.expose);
    visible.extend_from_slice(&interpreters.paths);
    visible.extend_from_slice(&interpreters.links);
    visible.extend(directory.cloned());
    visible
}

/// The programs of bots that are not built in.
fn programs_of(bots: &[BotCommand<'_>]) -> Vec<PathBuf> {
    let bots = bots.iter().filter(|bot| bot.builtin.is_none());
    bots.filter_map(|bot| bot_program(bot.argv)).collect()
}

/// A script whose shebang line names an interpreter of its own by the original path is started by
/// the copied interpreter.
fn start_by_copied_interpreter(argv: &mut Vec<String>, moved: MovedFiles<'_>) {
    let Some(script) = argv.first().filter(|first| first.contains('/')) else {
        return;
    };
    let Some((interpreter, argument)) = shebang(Path::new(script)) else {
        return;
    };
    let copied = |interpreter: &Path| {
        let directory = interpreter.parent()?.canonicalize().ok()?;
        let inside = directory.strip_prefix(moved.original).ok()?;
        Some(moved.copy.join(inside).join(interpreter.file_name()?))
    };
    if let Some(copied) = copied(Path::new(&interpreter)) {
        let words = [copied.to_string_lossy().into_owned()];
        argv.splice(0..0, words.into_iter().chain(argument));
    }
}
