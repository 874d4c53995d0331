//! What a sandboxed bot is started with: environment, limits, view.

use std::env;
use std::path::{Path, PathBuf};

use super::backend::{SandboxBackend, bubblewrap};
use super::bot_user::BotUser;
use super::cgroup::{GroupAllowance, GroupController, ParentGroups};
use super::interpreters::Interpreters;
use super::limits::ResourceLimits;
use super::policy::visible_paths;
use super::private_copy::PrivateCopy;
use super::private_directory::PrivateDirectory;
use super::seccomp::FilterSituation;
use super::settings::{SandboxKind, SandboxSettings};
use super::view::BotView;

use serde::{Deserialize, Serialize};

/// Variables of the referee that bots inherit.
const PASSED_ON: &[&str] = &["LANG", "LANGUAGE", "TZ", "TERM"];

/// A bot to start. Sent with it: its standard input, and a kept box if any.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpawnRequest {
    pub argv: Vec<String>,
    /// Without the variable for its scratch directory.
    pub environment: Vec<(String, String)>,
    /// Working directory; its scratch directory when `None`.
    pub directory: Option<PathBuf>,
    pub backend: SandboxBackend,
    pub restrictions: BotRestrictions,
    pub groups: ParentGroups,
    pub allowance: GroupAllowance,
}

/// What a process restricts itself to before it becomes the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotRestrictions {
    pub limits: ResourceLimits,
    /// Processes and threads that the kernel counts together with its own, if it counts few others.
    pub(crate) tasks: Option<u64>,
    pub(crate) situation: FilterSituation,
    /// User and group id of its processes; the referee's when `None`.
    pub(crate) user: Option<u32>,
}

/// `environment` is added to the few variables that every bot gets; `file_variables` are those of it that
/// name a file for the bot to read.
pub(super) fn spawn_request(
    settings: &SandboxSettings,
    files: &PrivateCopy,
    environment: &[(String, String)],
    file_variables: &[&str],
) -> SpawnRequest {
    let mut view = files.view.clone();
    let mut environment = environment.to_vec();
    let names_file = |name: &str| file_variables.contains(&name);
    let variables_of_files = environment.iter_mut().filter(|(name, _)| names_file(name));
    // They may lie anywhere.
    for (_, path) in variables_of_files {
        // Without a copy the bot finds the original, or reports that it cannot.
        let file = files
            .given_file(Path::new(path))
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
    settings: &SandboxSettings,
    arguments: Vec<String>,
    private: &PrivateDirectory,
    user: Option<&BotUser>,
) -> SpawnRequest {
    let mut argv = vec![settings.request.referee.to_string_lossy().into_owned()];
    argv.extend(arguments);
    let view = BotView {
        visible: visible_paths(&settings.request.expose),
        directory: None,
        scratches: private.scratches(),
        is_referee: true,
        closed: Vec::new(),
    };
    let view = view.confined_by(settings, private, user);
    let variables = variables(&Interpreters::none(settings).search_path, None);
    request(settings, argv, variables, view, user)
}

/// The most processes started for one bot at the same time, as far as they are counted together.
fn starts_at_the_same_time() -> u64 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // A bot may meet itself.
    (cores as u64).max(8) * 2
}

fn request(
    settings: &SandboxSettings,
    mut argv: Vec<String>,
    environment: Vec<(String, String)>,
    view: BotView,
    user: Option<&BotUser>,
) -> SpawnRequest {
    let directory = view.directory.clone();
    if view.is_referee && settings.kind == SandboxKind::Bwrap {
        bubblewrap::REFEREE.clone_into(&mut argv[0]);
    }
    let backend = backend(settings, view, user);
    let helpers = backend.helpers();
    let limits = settings.request.limits;
    SpawnRequest {
        argv,
        environment,
        directory,
        backend,
        restrictions: restrictions(settings, user),
        groups: settings.groups.clone(),
        allowance: GroupAllowance {
            memory: limits.memory,
            // The helpers between the supervisor and the bot are in the groups too.
            tasks: limits.threads().saturating_add(helpers as u64),
        },
    }
}

fn backend(settings: &SandboxSettings, view: BotView, user: Option<&BotUser>) -> SandboxBackend {
    let BotView {
        mut visible,
        directory,
        scratches,
        is_referee,
        closed,
    } = view;
    match settings.kind {
        SandboxKind::Bwrap => {
            let place = directory.as_deref();
            bubblewrap::backend(settings, &visible, place, is_referee, user.is_some())
        }
        SandboxKind::Landlock | SandboxKind::None => {
            visible.extend(is_referee.then(|| settings.request.referee.clone()));
            SandboxBackend::Landlock {
                read: visible,
                scratch: scratches,
                private_view: settings.private_view,
                closed,
            }
        }
    }
}

fn restrictions(settings: &SandboxSettings, user: Option<&BotUser>) -> BotRestrictions {
    let limits = settings.request.limits;
    let shared_files = settings.kind == SandboxKind::Landlock && !settings.private_view;
    BotRestrictions {
        limits,
        tasks: match user {
            Some(_) => Some(limits.threads().saturating_mul(starts_at_the_same_time())),
            // In a user namespace. Otherwise there is no bound: a desktop user has many.
            None => (!shared_files).then(|| limits.threads()),
        },
        situation: FilterSituation {
            shared_files,
            // No signal continues what the kernel stopped.
            freeze: settings.request.freeze
                && settings.groups.version(GroupController::Freezer).is_none(),
            compiles: false,
        },
        user: user.map(BotUser::id),
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
