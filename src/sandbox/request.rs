//! What a bot in a sandbox is started with: its environment, its limits, and what it sees.

use std::env;
use std::path::PathBuf;

use super::backend::{Backend, bubblewrap};
use super::cgroup::ParentGroup;
use super::interpreters::Interpreters;
use super::policy::visible_paths;
use super::private_copy::PrivateCopy;
use super::settings::{Kind, Settings};
use super::supervisor::message::SpawnRequest;
use crate::protocol::env as names;

/// Variables of the referee's environment that are passed on.
const PASSED_ON: &[&str] = &["LANG", "LANGUAGE", "TZ", "TERM"];

/// The request to start a bot with these files. `environment` is added to the few variables that
/// every bot gets.
pub(super) fn spawn_request(
    settings: &Settings,
    files: &PrivateCopy,
    environment: &[(String, String)],
) -> SpawnRequest {
    let mut visible = files.visible.clone();
    // A piece set's file is wherever its owner keeps it.
    let pieces = environment.iter().find(|(name, _)| name == names::PIECES);
    visible.extend(pieces.map(|(_, path)| PathBuf::from(path)));
    SpawnRequest {
        argv: files.argv.clone(),
        environment: variables(
            &files.interpreters.search_path,
            [&files.interpreters.environment, &settings.environment]
                .into_iter()
                .flatten()
                .chain(environment),
        ),
        backend: backend(
            settings,
            visible,
            files.directory.as_ref(),
            files.scratches(),
            files.builtin,
        ),
        directory: files.directory.clone(),
        limits: settings.limits,
        freeze: settings.freeze,
        group: group(settings),
    }
}

/// The request to start this program itself with `arguments`, to try the sandbox out from within.
/// It sees what every bot sees, and has scratch directories in `scratches`.
pub(super) fn self_test_request(
    settings: &Settings,
    arguments: Vec<String>,
    scratches: PathBuf,
) -> SpawnRequest {
    let referee = match settings.kind {
        Kind::Bwrap => bubblewrap::REFEREE.to_owned(),
        Kind::Landlock | Kind::None => settings.referee.to_string_lossy().into_owned(),
    };
    let mut argv = vec![referee];
    argv.extend(arguments);
    SpawnRequest {
        argv,
        environment: variables(&Interpreters::none(settings).search_path, &[]),
        backend: backend(settings, visible_paths(settings), None, scratches, true),
        directory: None,
        limits: settings.limits,
        freeze: settings.freeze,
        group: group(settings),
    }
}

/// All of a bot's environment: its search path, a few variables of the referee's own, and `more`.
/// Of two with the same name the later one counts.
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

/// `referee` says whether this program itself is run.
fn backend(
    settings: &Settings,
    mut visible: Vec<PathBuf>,
    directory: Option<&PathBuf>,
    scratches: PathBuf,
    referee: bool,
) -> Backend {
    match settings.kind {
        Kind::Bwrap => {
            let directory = directory.map(PathBuf::as_path);
            bubblewrap::backend(settings, &visible, directory, referee)
        }
        Kind::Landlock | Kind::None => {
            if referee {
                visible.push(settings.referee.clone());
            }
            Backend::Landlock {
                read: visible,
                scratch: scratches,
            }
        }
    }
}

/// Where the bot's control group is made, and its bytes of memory.
fn group(settings: &Settings) -> Option<(ParentGroup, u64)> {
    let parent = settings.group.clone()?;
    Some((parent, settings.limits.memory))
}
