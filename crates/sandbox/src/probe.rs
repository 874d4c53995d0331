//! Whether a sandbox works here, found by running it: a program inside tries what every sandbox
//! must forbid.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::process::Output;

use super::backend::bubblewrap;
use super::backend::landlock::NO_LANDLOCK;
use super::bot_user::BotUser;
use super::cgroup::{Controller, ParentGroups};
use super::closed::{PASS, is_closed};
use super::limits::Exceeded;
use super::private_directory::{PLACE, PrivateDirectory, unusable};
use super::procfs;
use super::request::self_test_request;
use super::settings::{Kind, NotAvailable, Obstacle, Settings};
use super::snapshot::shown;
use super::supervisor::NO_GROUP;
use super::supervisor::client;
use super::supervisor::message::SupervisorEvent;
use super::supervisor::self_test;
pub(super) use super::supervisor::self_test::attempts;
use crate::system::Shortage;
use referee_text::{escape, escape_controls, is_full, with_stderr};

/// Tries the quicker ways to build the sandbox first, and finds control groups for it.
pub(super) fn try_out(settings: &mut Settings) -> Result<(), NotAvailable> {
    let tried = works(settings);
    if tried.as_ref().is_err_and(|failure| !failure.is_for_want()) {
        settings.own_view = false;
        settings.keeps_box = false;
        works(settings)?;
    } else {
        tried?;
    }
    find_groups(settings)
}

fn works(settings: &Settings) -> Result<(), NotAvailable> {
    let name = match settings.kind {
        Kind::Bwrap => "bubblewrap with seccomp",
        Kind::Landlock => "Landlock with seccomp",
        Kind::None => return Ok(()),
    };
    let failed = |obstacle, cause: String| {
        let wanting = wanting(&io::Error::other(&*cause));
        not_available(name, settings, wanting.unwrap_or(obstacle), cause)
    };
    if settings.kind == Kind::Bwrap && bubblewrap::program().is_none() {
        let cause = "there is no bwrap in PATH".to_owned();
        return Err(failed(Obstacle::Absent, cause));
    }
    let (run, last) = run(settings, None).map_err(|error| {
        let obstacle = wanting(&error).unwrap_or(if settings.request.referee.exists() {
            Obstacle::Broken
        } else {
            // This program cannot be started any more.
            Obstacle::Absent
        });
        failed(obstacle, error.to_string())
    })?;
    let output = String::from_utf8_lossy(&run.stdout);
    let stderr = escape(run.stderr.trim_ascii_end());
    let broken = |cause: String| Err(failed(Obstacle::Broken, cause));
    let unreadable = |line: &str| line.strip_prefix(self_test::UNREADABLE).map(str::to_owned);
    let holes = output.lines().filter(|line| *line != self_test::DONE);
    let holes = holes.collect::<Vec<_>>().join("; ");
    match last {
        Some(SupervisorEvent::Ended(_)) if output.lines().eq([self_test::DONE]) => Ok(()),
        Some(SupervisorEvent::Failed(failure)) => {
            let cause = with_stderr(&escape_controls(&failure.cause), &stderr);
            Err(failed(refused(&failure.cause, &stderr), cause))
        }
        _ if let Some(path) = output.lines().find_map(unreadable) => Err(NotAvailable {
            probe: format!("{name}: --expose {}", escape_controls(&path)),
            cause: "bots cannot read it: it, or a directory above it, is closed to their user"
                .to_owned(),
            fix: "open it to others (chmod o+rx), or install what bots need elsewhere".to_owned(),
            obstacle: Obstacle::Broken,
        }),
        _ if !holes.is_empty() => {
            let holes = escape_controls(&holes);
            broken(format!("it does not hold: {holes}"))
        }
        // The program inside makes one file itself.
        Some(SupervisorEvent::Ended(report)) if report.exceeded == Some(Exceeded::Files) => {
            let cause = "it does not hold: bots share the directory for temporary files";
            broken(cause.to_owned())
        }
        _ => broken(with_stderr("it ended early", &stderr)),
    }
}

fn not_available(
    probe: &str,
    settings: &Settings,
    obstacle: Obstacle,
    cause: String,
) -> NotAvailable {
    NotAvailable {
        probe: probe.to_owned(),
        fix: fix(settings, obstacle, &cause),
        cause,
        obstacle,
    }
}

/// What there is too little of, or that there is no temporary directory.
fn wanting(error: &io::Error) -> Option<Obstacle> {
    let cause = error.to_string();
    let full = is_full(error).then_some(Shortage::Space);
    let named = full.or_else(|| Shortage::in_words(&cause));
    // Bubblewrap reports a limit on namespaces like a full disk.
    let named = named.filter(|&it| it != Shortage::Space || !cause.contains("namespace"));
    let is_wanting = named.is_some() || cause.contains(PLACE);
    is_wanting.then_some(Obstacle::Wanting(named))
}

/// What it means that the supervisor could not start a program: the system allows none if it or
/// bubblewrap says so.
fn refused(cause: &str, stderr: &str) -> Obstacle {
    let has_name_spaces =
        || procfs::kernel_setting("user/max_user_namespaces").as_deref() != Some("0");
    let is_limit = Shortage::in_words(stderr).is_some() && has_name_spaces();
    let is_refused = cause.contains(NO_LANDLOCK) || cause.contains(BY_SYSTEM) || !stderr.is_empty();
    if is_refused && !is_limit {
        Obstacle::Absent
    } else {
        Obstacle::Broken
    }
}

/// The end of a system error's text.
const BY_SYSTEM: &str = "(os error ";

/// Where control groups can be made: the kernel must kill a program in them that uses more memory
/// than it may.
fn find_groups(settings: &mut Settings) -> Result<(), NotAvailable> {
    let parents = ParentGroups::find();
    if parents.is_empty() {
        return Ok(());
    }
    let is_bounded = parents.version(Controller::Memory).is_some();
    let failed = match run(settings, Some(&parents)) {
        Ok((_, Some(SupervisorEvent::Ended(report)))) => {
            if report.exceeded == is_bounded.then_some(Exceeded::Memory) {
                settings.groups = parents;
            }
            return Ok(());
        }
        Ok((_, Some(SupervisorEvent::Failed(failure)))) => io::Error::other(failure.cause),
        Ok(_) => return Ok(()),
        Err(error) => error,
    };
    let cause = failed.to_string();
    match wanting(&failed) {
        Some(obstacle) if !cause.contains(NO_GROUP) => {
            Err(not_available("control groups", settings, obstacle, cause))
        }
        // This machine does not allow groups, or no more of them.
        _ => Ok(()),
    }
}

/// Runs the self-test beside a file that it must not see. The file's directory has this process's
/// id as its extension, which the self-test must not be able to signal. In `groups` it exceeds their
/// bound on memory instead, if they have one.
fn run(
    settings: &Settings,
    groups: Option<&ParentGroups>,
) -> io::Result<(Output, Option<SupervisorEvent>)> {
    let user = BotUser::take()?;
    // Built-in bots and the self-test are this program. A missing file is reported when it is
    // started.
    if user.is_some()
        && settings.request.referee.exists()
        && is_closed(&settings.request.referee, PASS)
    {
        return Err(io::Error::other(CLOSED));
    }
    let private = PrivateDirectory::new(user.is_some())?;
    let directory = private.path().join("other-bot");
    let secret = directory.join(format!("secret.{}", std::process::id()));
    fs::create_dir(&directory)
        .and_then(|()| fs::write(&secret, "secret"))
        .map_err(|error| unusable(&error))?;
    fs::set_permissions(&secret, Permissions::from_mode(0o600))?;
    if let Some(user) = &user {
        // Its own files, so that only the sandbox keeps them from it, not their owner.
        for path in [&directory, &secret] {
            chown(path, Some(user.id()), Some(user.id()))?;
        }
    }
    let exceeds = groups.is_some_and(|groups| groups.version(Controller::Memory).is_some());
    let arguments = if exceeds {
        self_test::arguments(self_test::EXCEED_MEMORY, &[])
    } else {
        self_test::arguments(&secret.to_string_lossy(), &settings.request.expose)
    };
    let mut request = self_test_request(settings, arguments, &private, user.as_ref());
    request.groups = groups.cloned().unwrap_or_default();
    if exceeds {
        // The supervisor allows more, so that the kernel has to kill it.
        let limits = &mut request.restrictions.limits;
        limits.memory = limits.memory.max(4 * self_test::SMALL_MEMORY);
        request.allowance.memory = self_test::SMALL_MEMORY;
    }
    client::run_to_end(&settings.request.referee, &request)
}

const CLOSED: &str =
    "the referee's own program is closed to the users without rights that root's bots run as";

fn fix(settings: &Settings, obstacle: Obstacle, cause: &str) -> String {
    match settings.kind {
        _ if cause == CLOSED => {
            let program = shown(&settings.request.referee);
            let program = shell_words::quote(&program);
            format!("let others run it (chmod o+x {program}), or run the referee as another user")
        }
        _ if cause.contains("not UTF-8") => "set TMPDIR to a directory whose name is".to_owned(),
        _ if let Obstacle::Wanting(limit) = obstacle => match limit {
            None => "set TMPDIR to one where you may write",
            Some(Shortage::Space) if cause.contains(PLACE) => {
                "free some there, or set TMPDIR to a directory with more of it"
            }
            Some(Shortage::Space) => "free some there",
            Some(Shortage::Processes) => {
                "a limit on processes is reached: end other programs, or raise ulimit -u or pids.max of the \
                 control group"
            }
            Some(Shortage::Memory) => "end other programs",
            Some(Shortage::OwnFiles | Shortage::Files) => "end other programs, or raise the limit (ulimit -n)",
        }
        .to_owned(),
        Kind::Bwrap if cause.contains("no bwrap") => {
            "install bubblewrap (on Debian and Ubuntu: apt install bubblewrap)".to_owned()
        }
        // Ubuntu 24.04 and later.
        Kind::Bwrap
            if procfs::kernel_setting("kernel/apparmor_restrict_unprivileged_userns").as_deref()
                == Some("1") =>
        {
            "give bwrap an AppArmor profile that allows user namespaces \
             (on Ubuntu: apt install apparmor-profiles, then \
             ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ and \
             systemctl reload apparmor)"
                .to_owned()
        }
        Kind::Bwrap => "allow user namespaces, so that `bwrap --unshare-all --ro-bind / / true` works for this \
             user (sysctl user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1; in a container \
             docker run --security-opt seccomp=unconfined)"
            .to_owned(),
        Kind::Landlock | Kind::None => {
            "use Linux 6.12 or later with Landlock switched on (lsm=landlock,... on the kernel's command line)"
                .to_owned()
        }
    }
}
