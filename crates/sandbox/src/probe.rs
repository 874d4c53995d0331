//! Whether a sandbox works here, found by running it: a program inside tries what every sandbox
//! must forbid.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::process::Output;

use super::backend::bubblewrap;
use super::bot_user::BotUser;
use super::cgroup::{GroupController, ParentGroups, find_parent_groups};
use super::closed::{PASS, is_closed};
use super::limits::ExceededLimit;
use super::paths::escaped_path;
use super::private_directory::{PrivateDirectory, unusable};
use super::procfs;
use super::settings::{SandboxKind, SandboxObstacle, SandboxSettings, SandboxUnavailable};
use super::spawn_request::self_test_request;
use super::supervisor::SupervisorEvent;
use super::supervisor::client;
use super::supervisor::self_test;
pub(super) use super::supervisor::self_test::attempts;
use crate::trouble::{SandboxTrouble, errno_of, trouble_of, troubled};
use referee_host::system::Shortage;
use referee_text::{escape, escape_controls, is_full, with_stderr};

/// Tries the quicker ways to build the sandbox first, and finds control groups for it.
pub(super) fn try_out(settings: &mut SandboxSettings) -> Result<(), SandboxUnavailable> {
    let tried = works(settings);
    // What was late once would be late again.
    let is_final = |failure: &SandboxUnavailable| {
        failure.is_for_want() || failure.obstacle == SandboxObstacle::Late
    };
    if tried.as_ref().is_err_and(|failure| !is_final(failure)) {
        settings.private_view = false;
        settings.keeps_box = false;
        works(settings)?;
    } else {
        tried?;
    }
    find_groups(settings)
}

fn works(settings: &SandboxSettings) -> Result<(), SandboxUnavailable> {
    let name = match settings.kind {
        SandboxKind::Bwrap => "bubblewrap with seccomp",
        SandboxKind::Landlock => "Landlock with seccomp",
        SandboxKind::None => return Ok(()),
    };
    if settings.kind == SandboxKind::Bwrap && bubblewrap::program_path().is_none() {
        let cause = FailureCause {
            words: "there is no bwrap in PATH".to_owned(),
            trouble: Some(SandboxTrouble::NoBubblewrap),
        };
        return Err(not_available(
            name,
            settings,
            SandboxObstacle::Absent,
            cause,
        ));
    }
    let (output, event) = run(settings, None).map_err(|error| {
        let obstacle = wanting(&error).unwrap_or(if settings.request.referee.exists() {
            SandboxObstacle::Broken
        } else {
            // This program cannot be started any more.
            SandboxObstacle::Absent
        });
        not_available(name, settings, obstacle, FailureCause::of(&error))
    })?;
    judge(settings, name, &output, event)
}

/// What it says about the sandbox `name` that the self-test in it wrote this, and its supervisor reported this
/// last.
fn judge(
    settings: &SandboxSettings,
    name: &str,
    run: &Output,
    event: Option<SupervisorEvent>,
) -> Result<(), SandboxUnavailable> {
    let output = String::from_utf8_lossy(&run.stdout);
    let stderr = escape(run.stderr.trim_ascii_end());
    // What programs inside say is all that is known of what they met.
    let named = wanting_in_words(&format!("{output}\n{stderr}"));
    let failed = |obstacle, words: String, trouble| {
        let cause = FailureCause { words, trouble };
        not_available(name, settings, named.unwrap_or(obstacle), cause)
    };
    let broken = |cause: String| Err(failed(SandboxObstacle::Broken, cause, None));
    let unreadable = |line: &str| line.strip_prefix(self_test::UNREADABLE).map(str::to_owned);
    let holes = output.lines().filter(|line| *line != self_test::DONE);
    let holes = holes.collect::<Vec<_>>().join("; ");
    match event {
        Some(SupervisorEvent::Ended(_)) if output.lines().eq([self_test::DONE]) => Ok(()),
        Some(SupervisorEvent::Failed(failure)) => {
            let cause = with_stderr(&escape_controls(&failure.cause), &stderr);
            let trouble = failure.trouble;
            let is_system = failure.errno.is_some();
            let obstacle = match wanting(&failure.into()) {
                Some(wanting) => wanting,
                None if trouble == Some(SandboxTrouble::Late) => SandboxObstacle::Late,
                None => refused(trouble, is_system, &stderr),
            };
            Err(failed(obstacle, cause, trouble))
        }
        _ if let Some(path) = output.lines().find_map(unreadable) => Err(SandboxUnavailable {
            probe: format!("{name}: --expose {}", escape_controls(&path)),
            cause: "bots cannot read it: it, or a directory above it, is closed to their user"
                .to_owned(),
            fix: "open it to others (chmod o+rx), or install what bots need elsewhere".to_owned(),
            obstacle: SandboxObstacle::Broken,
        }),
        _ if !holes.is_empty() => {
            let holes = escape_controls(&holes);
            broken(format!("it does not hold: {holes}"))
        }
        // The program inside makes one file itself.
        Some(SupervisorEvent::Ended(report)) if report.exceeded == Some(ExceededLimit::Files) => {
            let cause = "it does not hold: bots share the directory for temporary files";
            broken(cause.to_owned())
        }
        _ => broken(with_stderr("it ended early", &stderr)),
    }
}

fn not_available(
    probe: &str,
    settings: &SandboxSettings,
    obstacle: SandboxObstacle,
    cause: FailureCause,
) -> SandboxUnavailable {
    SandboxUnavailable {
        probe: probe.to_owned(),
        fix: fix(settings, obstacle, cause.trouble),
        cause: cause.words,
        obstacle,
    }
}

struct FailureCause {
    words: String,
    trouble: Option<SandboxTrouble>,
}

impl FailureCause {
    fn of(error: &io::Error) -> Self {
        Self {
            words: error.to_string(),
            trouble: trouble_of(error),
        }
    }
}

/// What there is too little of, or that there is no temporary directory.
fn wanting(error: &io::Error) -> Option<SandboxObstacle> {
    let system = errno_of(error).map(io::Error::from_raw_os_error);
    let short = system.and_then(|error| {
        let full = is_full(&error).then_some(Shortage::Space);
        full.or_else(|| Shortage::from_error(&error))
    });
    let has_no_place = matches!(
        trouble_of(error),
        Some(SandboxTrouble::TemporaryDirectory | SandboxTrouble::NameOfTemporaryDirectory)
    );
    (short.is_some() || has_no_place).then_some(SandboxObstacle::Wanting(short))
}

/// What there is too little of, as other programs say it in the system's words.
fn wanting_in_words(messages: &str) -> Option<SandboxObstacle> {
    let named = Shortage::in_words(messages)?;
    // Bubblewrap reports a limit on namespaces like a full disk.
    let is_about_namespaces = named == Shortage::Space && messages.contains("namespace");
    (!is_about_namespaces).then_some(SandboxObstacle::Wanting(Some(named)))
}

/// What it means that the supervisor could not start a program: the system allows none if it or
/// bubblewrap says so.
fn refused(trouble: Option<SandboxTrouble>, is_system: bool, stderr: &str) -> SandboxObstacle {
    let has_name_spaces =
        || procfs::kernel_setting("user/max_user_namespaces").as_deref() != Some("0");
    let is_limit = Shortage::in_words(stderr).is_some() && has_name_spaces();
    let is_refused = trouble == Some(SandboxTrouble::NoLandlock) || is_system || !stderr.is_empty();
    if is_refused && !is_limit {
        SandboxObstacle::Absent
    } else {
        SandboxObstacle::Broken
    }
}

/// Where control groups can be made: the kernel must kill a program in them that uses more memory
/// than it may.
fn find_groups(settings: &mut SandboxSettings) -> Result<(), SandboxUnavailable> {
    let parents = find_parent_groups();
    if parents.is_empty() {
        return Ok(());
    }
    let is_bounded = parents.version(GroupController::Memory).is_some();
    let failed = match run(settings, Some(&parents)) {
        Ok((_, Some(SupervisorEvent::Ended(report)))) => {
            if report.exceeded == is_bounded.then_some(ExceededLimit::Memory) {
                settings.groups = parents;
            }
            return Ok(());
        }
        Ok((_, Some(SupervisorEvent::Failed(failure)))) => failure.into(),
        Ok(_) => return Ok(()),
        Err(error) => error,
    };
    let cause = FailureCause::of(&failed);
    match wanting(&failed) {
        Some(obstacle) if cause.trouble != Some(SandboxTrouble::NoGroup) => {
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
    settings: &SandboxSettings,
    groups: Option<&ParentGroups>,
) -> io::Result<(Output, Option<SupervisorEvent>)> {
    let user = BotUser::take()?;
    // Built-in bots and the self-test are this program. A missing file is reported when it is
    // started.
    if user.is_some()
        && settings.request.referee.exists()
        && is_closed(&settings.request.referee, PASS)
    {
        return Err(troubled(SandboxTrouble::ClosedProgram, CLOSED));
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
    let exceeds = groups.is_some_and(|groups| groups.version(GroupController::Memory).is_some());
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

fn fix(
    settings: &SandboxSettings,
    obstacle: SandboxObstacle,
    trouble: Option<SandboxTrouble>,
) -> String {
    match settings.kind {
        _ if trouble == Some(SandboxTrouble::ClosedProgram) => {
            let program = escaped_path(&settings.request.referee);
            let program = shell_words::quote(&program);
            format!("let others run it (chmod o+x {program}), or run the referee as another user")
        }
        _ if trouble == Some(SandboxTrouble::NameOfTemporaryDirectory) => "set TMPDIR to a directory whose name is".to_owned(),
        _ if let SandboxObstacle::Wanting(limit) = obstacle => match limit {
            None => "set TMPDIR to one where you may write",
            Some(Shortage::Space) if trouble == Some(SandboxTrouble::TemporaryDirectory) => {
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
        SandboxKind::Bwrap if trouble == Some(SandboxTrouble::NoBubblewrap) => {
            "install bubblewrap (on Debian and Ubuntu: apt install bubblewrap)".to_owned()
        }
        SandboxKind::Bwrap if obstacle == SandboxObstacle::Late => {
            "find out why `bwrap --unshare-all --ro-bind / / true` takes so long".to_owned()
        }
        // Ubuntu 24.04 and later.
        SandboxKind::Bwrap
            if procfs::kernel_setting("kernel/apparmor_restrict_unprivileged_userns").as_deref()
                == Some("1") =>
        {
            "give bwrap an AppArmor profile that allows user namespaces \
             (on Ubuntu: apt install apparmor-profiles, then \
             ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ and \
             systemctl reload apparmor)"
                .to_owned()
        }
        SandboxKind::Bwrap => "allow user namespaces, so that `bwrap --unshare-all --ro-bind / / true` works for this \
             user (sysctl user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1; in a container \
             docker run --security-opt seccomp=unconfined)"
            .to_owned(),
        SandboxKind::Landlock | SandboxKind::None => {
            "use Linux 6.12 or later with Landlock switched on (lsm=landlock,... on the kernel's command line)"
                .to_owned()
        }
    }
}
