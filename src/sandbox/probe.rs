//! Whether a sandbox works here, found out by running it: a program inside tries what every
//! sandbox must forbid.

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use super::supervisor::cgroup::Home;
use super::supervisor::order::{Ended, Exceeded, News};
use super::supervisor::{client, probe};
use super::{Kind, NotAvailable, Setup, backend::bubblewrap, policy};
use crate::text::{escape, escape_controls};

/// Runs the sandbox of `setup`.
pub(super) fn try_out(setup: &Setup) -> Result<(), NotAvailable> {
    let name = match setup.kind {
        Kind::Bwrap => "bubblewrap with seccomp",
        Kind::Landlock => "Landlock with seccomp",
        Kind::None => return Ok(()),
    };
    let failed = |cause: String| NotAvailable {
        probe: name.to_owned(),
        fix: fix(setup.kind, &cause),
        cause,
    };
    if setup.kind == Kind::Bwrap && bubblewrap::program().is_none() {
        return Err(failed("there is no bwrap in PATH".to_owned()));
    }
    let (output, errors, news) = run(setup).map_err(|error| failed(error.to_string()))?;
    let output = String::from_utf8_lossy(&output);
    let said = escape(errors.trim_ascii_end());
    match news {
        Some(News::Ended(_)) if output.lines().eq([probe::DONE]) => Ok(()),
        Some(News::Failed { cause }) => Err(failed(with_words(&escape_controls(&cause), &said))),
        _ => match output.lines().find(|line| *line != probe::DONE) {
            Some(hole) => Err(failed(format!(
                "it does not hold: {}",
                escape_controls(hole)
            ))),
            None => Err(failed(with_words("it ended early", &said))),
        },
    }
}

/// Where control groups can be made that bound memory, if there is such a place: a program in one
/// must be ended by the kernel when it uses more than it has.
pub(super) fn find_group(setup: &Setup) -> Option<Home> {
    let home = Home::find()?;
    let private = private().ok()?;
    let arguments = probe::arguments(&[probe::MEMORY.to_owned()]);
    let mut order = policy::probe(setup, arguments, private.path());
    // Its guard lets it have more, so that it is the kernel who ends it.
    order.bounds.memory = order.bounds.memory.max(4 * probe::LITTLE);
    order.group = Some((home.clone(), probe::LITTLE));
    let (_, _, news) = client::run_to_end(&setup.referee, &order).ok()?;
    match news {
        Some(News::Ended(Ended {
            exceeded: Some(Exceeded::Memory),
            ..
        })) => Some(home),
        _ => None,
    }
}

/// The directory of a probe.
fn private() -> io::Result<TempDir> {
    let private = tempfile::Builder::new()
        .prefix("referee-probe-")
        .tempdir()?;
    fs::create_dir(private.path().join("scratch"))?;
    Ok(private)
}

fn with_words(cause: &str, said: &str) -> String {
    if said.is_empty() {
        cause.to_owned()
    } else {
        format!("{cause} ({said})")
    }
}

/// Runs the probe, with a file beside it that it must not see. The file's directory has this
/// process's id as its ending, which the probe must not be able to signal.
fn run(setup: &Setup) -> io::Result<(Vec<u8>, Vec<u8>, Option<News>)> {
    let private = private()?;
    let directory = private.path().join("other-bot");
    fs::create_dir(&directory)?;
    let secret = directory.join(format!("secret.{}", std::process::id()));
    fs::write(&secret, "secret")?;
    let arguments = probe::arguments(&[secret.to_string_lossy().into_owned()]);
    let order = policy::probe(setup, arguments, private.path());
    client::run_to_end(&setup.referee, &order)
}

/// What to do about a sandbox that does not work.
fn fix(kind: Kind, cause: &str) -> String {
    let restricted = || {
        fs::read_to_string("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
            .is_ok_and(|text| text.trim() == "1")
    };
    let closed = |path: &str| fs::read_to_string(path).is_ok_and(|text| text.trim() == "0");
    match kind {
        Kind::Bwrap if cause.contains("no bwrap") => {
            "install bubblewrap (on Debian and Ubuntu: apt install bubblewrap)".to_owned()
        }
        // Ubuntu 24.04 and later.
        Kind::Bwrap if restricted() => "give bwrap an AppArmor profile that allows user namespaces \
             (on Ubuntu: apt install apparmor-profiles, then \
             ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ and \
             systemctl reload apparmor)"
            .to_owned(),
        Kind::Bwrap if closed("/proc/sys/kernel/unprivileged_userns_clone") => {
            "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1".to_owned()
        }
        Kind::Bwrap if closed("/proc/sys/user/max_user_namespaces") => {
            "allow user namespaces: sysctl user.max_user_namespaces=10000".to_owned()
        }
        Kind::Bwrap if Path::new("/.dockerenv").exists() && cause.contains("ermi") => {
            "allow user namespaces in this container (docker run --security-opt seccomp=unconfined)"
                .to_owned()
        }
        Kind::Bwrap => {
            "see that `bwrap --unshare-all --ro-bind / / true` works for this user".to_owned()
        }
        Kind::Landlock | Kind::None => {
            "use Linux 6.12 or later with Landlock switched on (lsm=landlock,... on the kernel's command line)"
                .to_owned()
        }
    }
}
