//! The user's own interpreters (virtual environments, pyenv): a sandboxed bot uses the one it would
//! use outside, and sees its installation read-only.

use std::collections::HashSet;
use std::env;
use std::path::{Path, PathBuf};

use super::closed::{PASS, is_closed};
use super::paths::escaped_path;
use super::policy::{USUAL_PATH, is_visible, visible_paths};
use super::settings::{SandboxKind, SandboxSettings};
use super::snapshot::BotCommand;
use referee_host::executable::installation::{
    Follower, Installation, Unseen, find_users, interpreters, python_user_packages,
};
use referee_host::executable::{
    CannotStart, check_header, find_in_path, install, is_executable_file, start_of,
};

const LONGEST_SCRIPT: u64 = 1 << 16;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Interpreters {
    /// Canonical directories and files.
    pub(super) paths: Vec<PathBuf>,
    pub(super) links: Vec<PathBuf>,
    pub(super) search_path: String,
    pub(super) environment: Vec<(String, String)>,
}

/// A bot's files, and where their copies are.
#[derive(Clone, Copy)]
pub(super) struct MovedFiles<'a> {
    pub(super) original: &'a Path,
    pub(super) copy: &'a Path,
}

impl Interpreters {
    /// For bots that need no interpreter of the user's.
    pub(super) fn none(settings: &SandboxSettings) -> Self {
        Self::seeing(settings, None, Installation::default())
    }

    fn seeing(
        settings: &SandboxSettings,
        moved: Option<MovedFiles<'_>>,
        found: Installation,
    ) -> Self {
        Self {
            search_path: search_path(settings, moved, &found),
            paths: found.paths,
            links: found.links,
            environment: Vec::new(),
        }
    }

    /// Nothing of `others` is shown. An error when one cannot be shown without much else.
    pub(super) fn of(
        settings: &SandboxSettings,
        command: BotCommand<'_>,
        moved: Option<MovedFiles<'_>>,
        others: Vec<PathBuf>,
    ) -> Result<Self, Unseen> {
        let mut follower = Follower {
            here: env::current_dir().unwrap_or_default(),
            visible: visible_paths(&settings.request.expose),
            own: Vec::new(),
            others,
        };
        if let Some(moved) = moved {
            // The file of a bot that owns nothing else may be a link.
            follower.own.extend(moved.original.canonicalize());
            follower.own.push(moved.original.to_owned());
        }
        let mut found = Installation::default();
        let (first, arguments) = command.argv.split_at(1.min(command.argv.len()));
        for word in first.iter().chain(command.starts) {
            let path = Some(PathBuf::from(word)).filter(|_| word.contains('/'));
            if let Some(path) = path.or_else(|| find_users(word)) {
                found.extend(follower.follow(&path)?);
            }
        }
        // The words after the command may be scripts that it starts.
        let words = arguments.iter().map(Path::new);
        for script in words.filter(|word| word.is_file()) {
            found.extend(follower.follow_own(script).unwrap_or_default());
        }
        if found.runs_shell {
            // It may start those that it names.
            let text = text_of(command);
            let named = interpreters().filter(|name| has_word(&text, name));
            for path in named.filter_map(find_users) {
                found.extend(follower.follow(&path).unwrap_or_default());
            }
        }
        let packages = found.has_user_packages.then(python_user_packages);
        let environment = packages.flatten().map(|(base, directories)| {
            found.paths.extend(directories);
            let base = base.to_string_lossy().into_owned();
            ("PYTHONUSERBASE".to_owned(), base)
        });
        follower.tidy(&mut found);
        let mut seen = Self::seeing(settings, moved, found);
        seen.environment.extend(environment);
        Ok(seen)
    }

    /// Checks that a user without rights can read all of it, for a bot with its own user. Landlock
    /// without its own view also needs an open way to it; bubblewrap and a view make one.
    pub(super) fn check_that_others_may(
        &self,
        settings: &SandboxSettings,
        bot: &str,
    ) -> Result<(), CannotStart> {
        let makes_way = settings.kind != SandboxKind::Landlock || settings.private_view;
        for path in &self.paths {
            // Reading is enough for a file; a program that others may not run is reported later.
            let reading = if path.is_dir() { 0o005 } else { 0o004 };
            let mut way = path.ancestors().skip(1).filter(|_| !makes_way);
            let closed = match way.find(|above| is_closed(above, PASS)) {
                Some(above) => Some((above, "o+x", ", or use --sandbox bwrap")),
                None => is_closed(path, reading).then_some((path.as_path(), "o+rx", "")),
            };
            if let Some((closed, right, instead)) = closed {
                let (path, closed) = (escaped_path(path), escaped_path(closed));
                let quoted = shell_words::quote(&closed);
                return Err(CannotStart::new(
                    bot,
                    format!(
                        "it needs {path}, and {closed} is closed to the user without rights that root's bots run as"
                    ),
                    format!(
                        "run the referee as another user, open the way (chmod {right} {quoted}){instead}"
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// The referee's `PATH` as far as the sandbox shows it; directories of shims become those of the
/// programs they start.
fn search_path(
    settings: &SandboxSettings,
    moved: Option<MovedFiles<'_>>,
    found: &Installation,
) -> String {
    let given = env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    let mut seen: Vec<PathBuf> = Vec::new();
    for directory in env::split_paths(&given) {
        let Ok(canonical) = directory.canonicalize() else {
            continue;
        };
        let inside = moved.and_then(|moved| {
            let inside = canonical.strip_prefix(moved.original).ok()?;
            Some(moved.copy.join(inside))
        });
        if let Some(copied) = inside {
            seen.push(copied);
        } else if is_visible(&settings.request.expose, &canonical) {
            seen.push(directory);
        } else if found.paths.iter().any(|path| canonical.starts_with(path)) {
            seen.push(canonical);
        } else {
            let programs = found.programs.iter();
            let programs = programs.filter(|(path, _)| path.parent() == Some(&directory));
            let directories = programs.filter_map(|(_, program)| program.parent());
            seen.extend(directories.map(Path::to_owned));
        }
    }
    let mut unique = HashSet::new();
    seen.retain(|directory| unique.insert(directory.clone()));
    env::join_paths(seen)
        .ok()
        .and_then(|path| path.into_string().ok())
        .filter(|path| !path.is_empty())
        .unwrap_or_else(|| USUAL_PATH.to_owned())
}

pub(super) fn refusal(bot: &str, unseen: &Unseen) -> CannotStart {
    let (program, directory) = (
        escaped_path(&unseen.program),
        escaped_path(&unseen.directory),
    );
    let (why, instead) = if unseen.is_wide {
        (
            format!("it would see all of {directory} with it, which holds more than that program"),
            "install it in a directory of its own",
        )
    } else {
        (
            "it is neither the system's nor what your PATH leads to".to_owned(),
            "begin its program with a line such as #!/usr/bin/env python3",
        )
    };
    CannotStart::new(
        bot,
        format!("it needs {program}, which a bot in a sandbox does not see: {why}"),
        format!("{instead}, or, if bots may read all of that, --expose {directory}"),
    )
}

/// What a shell is told to do: the words of the command, and the scripts among them.
fn text_of(command: BotCommand<'_>) -> String {
    let mut text = String::new();
    for word in command.argv {
        let script = start_of(Path::new(word), LONGEST_SCRIPT).unwrap_or_default();
        text.push_str(word);
        text.push('\n');
        text.push_str(&String::from_utf8_lossy(&script));
        text.push('\n');
    }
    text
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.split(|c| !is_part(c)).any(|found| found == word)
}

/// Checks that the program and its interpreter are visible in the sandbox. `private` is the
/// directory of its copied files.
pub(super) fn check_that_it_starts(
    bot: &str,
    argv: &[String],
    interpreters: &Interpreters,
    private: &Path,
) -> Result<(), CannotStart> {
    let Some(first) = argv.first() else {
        return Ok(());
    };
    let mut needed = first.clone();
    if Path::new(first).starts_with(private) {
        match check_header(Path::new(first), first)? {
            Some(interpreter) => needed = interpreter,
            None => return Ok(()),
        }
    }
    // One named by its path was followed.
    let found = |directory: PathBuf| is_executable_file(&directory.join(&needed));
    if needed.contains('/') || env::split_paths(&interpreters.search_path).any(found) {
        return Ok(());
    }
    let found = find_in_path(&needed).unwrap_or_else(|| PathBuf::from(&needed));
    let (found, install) = (escaped_path(&found), install(&needed));
    Err(CannotStart::new(
        bot,
        format!("it needs {found}, which a bot in a sandbox does not see"),
        format!("expose the directory that it is installed in (--expose DIRECTORY), or {install}"),
    ))
}
