//! What a sandboxed bot is started with: environment, limits, view.

use std::env;
use std::path::{Path, PathBuf};

use super::backend::{Backend, bubblewrap};
use super::bot_user::BotUser;
use super::cgroup::{Allowance, Controller};
use super::closed::ClosedDirectory;
use super::interpreters::Interpreters;
use super::policy::visible_paths;
use super::private_copy::PrivateCopy;
use super::seccomp::Situation;
use super::settings::{Kind, Settings};
use super::supervisor::message::{Restrictions, SpawnRequest};

/// Names a file for the bot to read.
const PIECES: &str = "REFEREE_PIECES";

/// Variables of the referee that bots inherit.
const PASSED_ON: &[&str] = &["LANG", "LANGUAGE", "TZ", "TERM"];

/// More than the helper processes of any backend.
const HELPERS: u64 = 8;

/// `environment` is added to the few variables that every bot gets.
pub(super) fn spawn_request(
    settings: &Settings,
    files: &PrivateCopy,
    environment: &[(String, String)],
) -> SpawnRequest {
    let mut visible = files.visible.clone();
    let mut environment = environment.to_vec();
    // A piece set may lie anywhere.
    if let Some((_, path)) = environment.iter_mut().find(|(name, _)| name == PIECES) {
        // Without a copy the bot finds the original, or reports that it cannot.
        let file = files
            .pieces(Path::new(path))
            .unwrap_or_else(|_| PathBuf::from(&*path));
        *path = file.to_string_lossy().into_owned();
        visible.push(file);
    }
    let more = [
        &files.interpreters.environment,
        &settings.request.environment,
    ];
    let more = more.into_iter().flatten().chain(&environment);
    let backend = backend(
        settings,
        visible,
        files.directory.as_deref(),
        files.scratches(),
        files.builtin,
        (files.user(), &files.closed),
    );
    let variables = variables(&files.interpreters.search_path, more);
    let mut request = request(
        settings,
        files.argv.clone(),
        variables,
        backend,
        files.user(),
    );
    request.directory.clone_from(&files.directory);
    request.restrictions.situation.compiles = files.compiles;
    request
}

/// Starts this program with `arguments`, to try the sandbox from within. It sees what every bot
/// sees, and has scratch directories in `scratches`.
pub(super) fn self_test_request(
    settings: &Settings,
    arguments: Vec<String>,
    scratches: PathBuf,
    user: Option<&BotUser>,
) -> SpawnRequest {
    let referee = match settings.kind {
        Kind::Bwrap => bubblewrap::REFEREE.to_owned(),
        Kind::Landlock | Kind::None => settings.request.referee.to_string_lossy().into_owned(),
    };
    let mut argv = vec![referee];
    argv.extend(arguments);
    let visible = visible_paths(settings);
    let closed = match user {
        Some(_) => {
            let more = [scratches.clone(), settings.request.referee.clone()];
            ClosedDirectory::in_view(settings, visible.iter().cloned().chain(more))
        }
        None => Vec::new(),
    };
    let variables = variables(&Interpreters::none(settings).search_path, &[]);
    let backend = backend(settings, visible, None, scratches, true, (user, &closed));
    request(settings, argv, variables, backend, user)
}

/// The most games of one bot at the same time, as far as its processes are counted together.
fn games_at_once() -> u64 {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    // A bot may play against itself.
    (processors as u64).max(8) * 2
}

/// A program that starts in its scratch directory.
fn request(
    settings: &Settings,
    argv: Vec<String>,
    environment: Vec<(String, String)>,
    backend: Backend,
    user: Option<&BotUser>,
) -> SpawnRequest {
    let limits = settings.request.limits;
    let shared_files = settings.kind == Kind::Landlock && !settings.own_view;
    SpawnRequest {
        argv,
        environment,
        directory: None,
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
fn variables<'a>(
    search_path: &str,
    more: impl IntoIterator<Item = &'a (String, String)>,
) -> Vec<(String, String)> {
    let mut variables = vec![("PATH".to_owned(), search_path.to_owned())];
    for (name, value) in env::vars_os() {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str())
            && (PASSED_ON.contains(&name) || name.starts_with("LC_"))
        {
            variables.push((name.to_owned(), value.to_owned()));
        }
    }
    variables.extend(more.into_iter().cloned());
    variables
}

/// `referee` says whether this program itself is run. `closed` are directories on the way of the
/// user.
fn backend(
    settings: &Settings,
    mut visible: Vec<PathBuf>,
    directory: Option<&Path>,
    scratches: PathBuf,
    referee: bool,
    (user, closed): (Option<&BotUser>, &[ClosedDirectory]),
) -> Backend {
    match settings.kind {
        Kind::Bwrap => bubblewrap::backend(settings, &visible, directory, referee, user.is_some()),
        Kind::Landlock | Kind::None => {
            if referee {
                visible.push(settings.request.referee.clone());
            }
            Backend::Landlock {
                read: visible,
                scratch: scratches,
                own_view: settings.own_view,
                closed: closed.to_owned(),
            }
        }
    }
}
