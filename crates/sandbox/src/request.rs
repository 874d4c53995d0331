//! What a sandboxed bot is started with: environment, limits, view.

use std::env;
use std::path::{Path, PathBuf};

use super::backend::{Backend, bubblewrap};
use super::bot_user::BotUser;
use super::cgroup::{Allowance, Controller};
use super::closed::ClosedDirectory;
use super::interpreters::Interpreters;
use super::policy::{visible_paths, without_repeats};
use super::private_copy::PrivateCopy;
use super::private_directory::PrivateDirectory;
use super::seccomp::Situation;
use super::settings::{Kind, Settings};
use super::supervisor::message::{Restrictions, SpawnRequest};

/// Names a file for the bot to read.
const PIECES: &str = "REFEREE_PIECES";

/// Variables of the referee that bots inherit.
const PASSED_ON: &[&str] = &["LANG", "LANGUAGE", "TZ", "TERM"];

/// More than the helper processes of any backend.
const HELPERS: u64 = 8;

/// What a program sees and where it starts.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) visible: Vec<PathBuf>,
    /// Its scratch directory when `None`.
    directory: Option<PathBuf>,
    scratches: PathBuf,
    /// Whether the program is this one.
    is_referee: bool,
    /// Directories that the bot's user may not enter; what lies below them is mounted elsewhere.
    closed: Vec<ClosedDirectory>,
}

impl View {
    /// With scratch directories in `private`.
    pub(super) fn new(
        settings: &Settings,
        mut visible: Vec<PathBuf>,
        directory: Option<PathBuf>,
        private: &PrivateDirectory,
        is_referee: bool,
        user: Option<&BotUser>,
    ) -> Self {
        let mut closed = Vec::new();
        // Only Landlock shows paths in place; bubblewrap makes a way to each.
        if settings.own_view && user.is_some() {
            let mut paths = visible.clone();
            paths.push(private.path().to_owned());
            paths.extend(is_referee.then(|| settings.request.referee.clone()));
            closed = ClosedDirectory::above(paths);
        }
        if settings.kind == Kind::Landlock {
            visible = without_repeats(&visible);
        }
        Self {
            visible,
            directory,
            scratches: private.scratches(),
            is_referee,
            closed,
        }
    }
}

/// `environment` is added to the few variables that every bot gets.
pub(super) fn spawn_request(
    settings: &Settings,
    files: &PrivateCopy,
    environment: &[(String, String)],
) -> SpawnRequest {
    let mut view = files.view.clone();
    let mut environment = environment.to_vec();
    // A piece set may lie anywhere.
    if let Some((_, path)) = environment.iter_mut().find(|(name, _)| name == PIECES) {
        // Without a copy the bot finds the original, or reports that it cannot.
        let file = files
            .pieces(Path::new(path))
            .unwrap_or_else(|_| PathBuf::from(&*path));
        *path = file.to_string_lossy().into_owned();
        view.visible.push(file);
    }
    let more = [
        &files.interpreters.environment,
        &settings.request.environment,
        &environment,
    ];
    let variables = variables(
        &files.interpreters.search_path,
        more.into_iter().flatten().cloned(),
    );
    let user = files.user.as_ref();
    let mut request = request(settings, files.argv.clone(), variables, view, user);
    request.restrictions.situation.compiles = files.compiles;
    request
}

/// Starts this program with `arguments`, to try the sandbox from within. It sees what every bot
/// sees, and has scratch directories in `private`.
pub(super) fn self_test_request(
    settings: &Settings,
    arguments: Vec<String>,
    private: &PrivateDirectory,
    user: Option<&BotUser>,
) -> SpawnRequest {
    let mut argv = vec![settings.request.referee.to_string_lossy().into_owned()];
    argv.extend(arguments);
    let view = View::new(settings, visible_paths(settings), None, private, true, user);
    let variables = variables(&Interpreters::none(settings).search_path, None);
    request(settings, argv, variables, view, user)
}

/// The most games of one bot at the same time, as far as its processes are counted together.
fn games_at_once() -> u64 {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    // A bot may play against itself.
    (processors as u64).max(8) * 2
}

fn request(
    settings: &Settings,
    mut argv: Vec<String>,
    environment: Vec<(String, String)>,
    view: View,
    user: Option<&BotUser>,
) -> SpawnRequest {
    let View {
        mut visible,
        directory,
        is_referee,
        ..
    } = view;
    let own_view = settings.own_view;
    let backend = match settings.kind {
        Kind::Bwrap => {
            if is_referee {
                bubblewrap::REFEREE.clone_into(&mut argv[0]);
            }
            let place = directory.as_deref();
            bubblewrap::backend(settings, &visible, place, is_referee, user.is_some())
        }
        Kind::Landlock | Kind::None => {
            visible.extend(is_referee.then(|| settings.request.referee.clone()));
            Backend::Landlock {
                read: visible,
                scratch: view.scratches,
                own_view,
                closed: view.closed,
            }
        }
    };
    let limits = settings.request.limits;
    let shared_files = settings.kind == Kind::Landlock && !own_view;
    SpawnRequest {
        argv,
        environment,
        directory,
        backend,
        restrictions: Restrictions {
            limits,
            tasks: match user {
                Some(_) => Some(limits.threads().saturating_mul(games_at_once())),
                // In a user namespace. Otherwise there is no bound: a desktop user has many.
                None => (!shared_files).then(|| limits.threads()),
            },
            situation: Situation {
                shared_files,
                // No signal continues what the kernel stopped.
                freeze: settings.request.freeze
                    && settings.groups.version(Controller::Freezer).is_none(),
                compiles: false,
            },
            user: user.map(BotUser::id),
        },
        groups: settings.groups.clone(),
        allowance: Allowance {
            memory: limits.memory,
            // The helpers between the supervisor and the bot are in the groups too.
            tasks: limits.threads().saturating_add(HELPERS),
        },
    }
}

/// A bot's environment: `PATH`, a few variables of the referee, and `more`. The last of two with
/// the same name counts.
fn variables(
    search_path: &str,
    more: impl IntoIterator<Item = (String, String)>,
) -> Vec<(String, String)> {
    let mut variables = vec![("PATH".to_owned(), search_path.to_owned())];
    for (name, value) in env::vars_os() {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str())
            && (PASSED_ON.contains(&name) || name.starts_with("LC_"))
        {
            variables.push((name.to_owned(), value.to_owned()));
        }
    }
    variables.extend(more);
    variables
}
