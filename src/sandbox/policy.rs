//! What a bot in a sandbox sees of the system: libraries and interpreters, its own files, and
//! what was exposed to it. All of it read-only.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, getuid, test_kill_process};

use super::snapshot::{Belongings, SYSTEM};
use super::supervisor::order::{Bounds, Order, Wall};
use super::{Admitted, Confinement, Kind, Limits, Sandbox, Setup, backend::bubblewrap};
use crate::bot::executable::{CannotStart, check_header, install, is_executable_file};
use crate::bot::spec::Program;
use crate::protocol::env as names;
use crate::text::escape;

/// What programs look up at their start. Nothing here is secret on any system; the rest of
/// `/etc` is not shown.
const SETTINGS: &[&str] = &[
    "/etc/alternatives",
    "/etc/default/locale",
    "/etc/group",
    "/etc/guile",
    "/etc/java",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/lua",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/perl",
    "/etc/php",
    "/etc/profile.d/lang.sh",
    "/etc/python3",
    "/etc/R",
    "/etc/sbclrc",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
];

/// Settings whose names begin so: `java-17-openjdk` and the like.
const SETTINGS_OF: &[&str] = &["java-", "python3."];

/// What the system tells of the processors, which runtimes count.
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// Variables of the referee's environment that are passed on.
const PASSED_ON: &[&str] = &["LANG", "LANGUAGE", "TZ", "TERM"];

/// How the names of private directories begin.
const PREFIX: &str = "referee-";

/// The search path of a system that has none.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What every bot may read.
fn common(setup: &Setup) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = SYSTEM.iter().chain(SETTINGS).map(PathBuf::from).collect();
    for entry in fs::read_dir("/etc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        if SETTINGS_OF
            .iter()
            .any(|start| name.to_string_lossy().starts_with(start))
        {
            paths.push(entry.path());
        }
    }
    paths.push(PROCESSORS.into());
    paths.extend(setup.expose.iter().cloned());
    paths.retain(|path| path.exists());
    paths
}

/// Copies a program's files, and finds what it needs to start.
pub(super) fn admit(
    sandbox: &Sandbox,
    program: &Program,
    directory: Option<&Path>,
    others: &[&Program],
) -> Result<Admitted, CannotStart> {
    remove_left_behind();
    let own = Belongings::of(program, directory, others)?;
    let cannot = |cause: String, fix: &str| CannotStart {
        bot: program.name.clone(),
        cause,
        fix: fix.to_owned(),
    };
    // The name tells which process it belongs to, should that one be killed.
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
    let copied = own.copy(program, &files)?;
    let path = search_path(&sandbox.0);
    let mut argv = copied.argv;
    let builtin = own.path().is_none() && copied.directory.is_none() && is_referee(sandbox, &argv);
    if builtin {
        if sandbox.kind() == Kind::Bwrap {
            bubblewrap::REFEREE.clone_into(&mut argv[0]);
        }
    } else {
        see_that_it_starts(&sandbox.0, program, &argv, &path, &place)?;
    }
    let mut seen = common(&sandbox.0);
    seen.extend(copied.directory.clone());
    Ok(Admitted {
        argv,
        directory: copied.directory,
        hash: copied.hash,
        path,
        seen,
        private,
    })
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

fn is_referee(sandbox: &Sandbox, argv: &[String]) -> bool {
    argv.first()
        .is_some_and(|first| Path::new(first) == sandbox.0.referee)
}

/// The directories of the search path that can be seen in a sandbox.
fn search_path(setup: &Setup) -> String {
    let given = env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    let seen: Vec<PathBuf> = env::split_paths(&given)
        .filter(|directory| is_seen(setup, directory))
        .collect();
    env::join_paths(seen)
        .ok()
        .and_then(|path| path.into_string().ok())
        .filter(|path| !path.is_empty())
        .unwrap_or_else(|| USUAL_PATH.to_owned())
}

/// Whether something of this system can be seen in a sandbox.
fn is_seen(setup: &Setup, path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else {
        return false;
    };
    let system = SYSTEM.iter().any(|system| path.starts_with(system));
    system || setup.expose.iter().any(|exposed| path.starts_with(exposed))
}

/// Whether the program and its interpreter can be seen in the sandbox.
fn see_that_it_starts(
    setup: &Setup,
    program: &Program,
    argv: &[String],
    path: &str,
    private: &Path,
) -> Result<(), CannotStart> {
    let Some(first) = argv.first() else {
        return Ok(());
    };
    let mut needed = first.clone();
    if Path::new(first).starts_with(private) {
        // A script needs its interpreter.
        match check_header(Path::new(first), first)? {
            Some(interpreter) => needed = interpreter,
            None => return Ok(()),
        }
    }
    let seen = if needed.contains('/') {
        is_seen(setup, Path::new(&needed))
    } else {
        env::split_paths(path).any(|directory| is_executable_file(&directory.join(&needed)))
    };
    if seen {
        return Ok(());
    }
    let found = crate::bot::executable::find_in_path(&needed);
    let (cause, fix) = match found {
        Some(found) => {
            let found = escape(found.to_string_lossy().as_bytes());
            (
                format!("it needs {found}, which a bot in a sandbox does not see"),
                format!(
                    "expose the directory that it is installed in (--expose DIRECTORY), or {}",
                    install(&needed)
                ),
            )
        }
        None => (
            format!(
                "it needs {}, which a bot in a sandbox does not see",
                escape(needed.as_bytes())
            ),
            "expose the directory that it is in (--expose DIRECTORY)".to_owned(),
        ),
    };
    Err(CannotStart {
        bot: program.name.clone(),
        cause,
        fix,
    })
}

impl Confinement {
    /// What a guard is to start; `None` when there is no sandbox. `environment` is what the bot
    /// is told.
    pub(crate) fn order(&self, environment: &[(String, String)]) -> Option<Order> {
        let admitted = self.0.admitted.as_ref()?;
        let setup = &self.0.sandbox.0;
        let mut seen = admitted.seen.clone();
        // A piece set's file is wherever its owner keeps it.
        let pieces = environment.iter().find(|(name, _)| name == names::PIECES);
        seen.extend(pieces.map(|(_, path)| PathBuf::from(path)));
        Some(order(
            setup,
            admitted.argv.clone(),
            admitted.directory.clone(),
            (&admitted.path, environment),
            seen,
            admitted.private.path(),
        ))
    }

    /// This program's file, which is started as a guard.
    pub(crate) fn referee(&self) -> &Path {
        &self.0.sandbox.0.referee
    }
}

/// An order to start `argv`, which is in nobody's way.
fn order(
    setup: &Setup,
    argv: Vec<String>,
    directory: Option<PathBuf>,
    (path, environment): (&str, &[(String, String)]),
    mut seen: Vec<PathBuf>,
    private: &Path,
) -> Order {
    let mut variables = vec![("PATH".to_owned(), path.to_owned())];
    for (name, value) in env::vars_os() {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str())
            && (PASSED_ON.contains(&name) || name.starts_with("LC_"))
        {
            variables.push((name.to_owned(), value.to_owned()));
        }
    }
    variables.extend_from_slice(environment);
    let wall = match setup.kind {
        Kind::Bwrap => bubblewrap::wall(setup, &seen, directory.as_deref()),
        Kind::Landlock | Kind::None => {
            seen.push(setup.referee.clone());
            Wall::Landlock {
                read: seen,
                scratch: private.join("scratch"),
            }
        }
    };
    let Limits {
        memory,
        processes,
        open_files,
        scratch,
    } = setup.limits;
    Order {
        argv,
        environment: variables,
        directory,
        wall,
        bounds: Bounds {
            memory,
            processes,
            open_files,
            scratch,
        },
        group: setup.group.clone().map(|home| (home, memory)),
    }
}

/// An order to try out a sandbox: this program's own `arguments`, with nothing but a scratch
/// directory.
pub(super) fn probe(setup: &Setup, arguments: Vec<String>, private: &Path) -> Order {
    let referee = match setup.kind {
        Kind::Bwrap => bubblewrap::REFEREE.to_owned(),
        Kind::Landlock | Kind::None => setup.referee.to_string_lossy().into_owned(),
    };
    let mut argv = vec![referee];
    argv.extend(arguments);
    let path = search_path(setup);
    order(setup, argv, None, (&path, &[]), common(setup), private)
}
