//! How each limit is enforced on this machine.

use serde::{Deserialize, Serialize};

#[cfg(all(target_os = "linux", not(portable)))]
use super::cgroup::GroupController;
#[cfg(all(target_os = "linux", not(portable)))]
use super::settings::SandboxKind;
use super::settings::SandboxSettings;

pub(super) const MEMORY: &str = "--memory";

/// How a limit is enforced on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnforcedLimit {
    /// Its option, or its subject.
    pub limit: String,
    /// Whether the kernel enforces it at any moment.
    pub wall: bool,
    /// The mechanism, for people.
    pub by: String,
}

impl EnforcedLimit {
    pub fn kept(&self) -> String {
        let kind = if self.wall { "strict" } else { "checked" };
        format!("{kind}: {}", self.by)
    }
}

/// Elsewhere there is no sandbox.
#[cfg(any(not(target_os = "linux"), portable))]
pub(super) const fn bounds_of(_: &SandboxSettings) -> Vec<EnforcedLimit> {
    Vec::new()
}

#[cfg(all(target_os = "linux", not(portable)))]
pub(super) fn bounds_of(settings: &SandboxSettings) -> Vec<EnforcedLimit> {
    if settings.kind == SandboxKind::None {
        return Vec::new();
    }
    let group = |controller| {
        let version = settings.groups.version(controller)?;
        Some(format!("the kernel (control group {version})"))
    };
    let memory = group(GroupController::Memory);
    let (is_bounded, every) = (memory.is_some(), if memory.is_some() { 50 } else { 25 });
    let together = memory.unwrap_or_else(|| "its supervisor, which checks every 25 ms".to_owned());
    let alone = settings.kind == SandboxKind::Bwrap || settings.private_view;
    let tasks = group(GroupController::Pids);
    let tasks = tasks.or_else(|| alone.then(|| "the kernel (RLIMIT_NPROC)".to_owned()));
    let threads = settings.request.limits.threads();
    let tasks = tasks.map_or_else(String::new, |by| {
        format!("; {threads} processes and threads together by {by}")
    });
    let scratch = match settings.kind {
        SandboxKind::Bwrap if !settings.keeps_box => {
            "a file system of fixed size; its supervisor counts the files"
        }
        _ if alone => "a file system of fixed size and number of files",
        _ => {
            "each file by RLIMIT_FSIZE, all together by its supervisor, which checks every 25 or 50 ms"
        }
    };
    let memory = format!("each process by RLIMIT_DATA, all together by {together}");
    let processes = format!("its supervisor, which counts every {every} ms{tasks}");
    let open_files = "the kernel (RLIMIT_NOFILE)".to_owned();
    let cpu = group(GroupController::Cpu).map(|by| format!("one core by {by}"));
    let is_one_core = cpu.is_some();
    let cpu = cpu.unwrap_or_else(|| "not bounded, only reported in records".to_owned());
    let stopped = group(GroupController::Freezer);
    let stopped =
        stopped.unwrap_or_else(|| "a signal (SIGSTOP), which a bot cannot undo".to_owned());
    let bound = |(limit, wall, by): (&str, bool, String)| EnforcedLimit {
        limit: limit.to_owned(),
        wall,
        by,
    };
    let bounds = [
        (MEMORY, is_bounded, memory),
        ("--processes", false, processes),
        ("--scratch", alone, scratch.to_owned()),
        ("--open-files", true, open_files),
        ("CPU time", is_one_core, cpu),
        ("--freeze", true, stopped),
    ];
    bounds.map(bound).into()
}
