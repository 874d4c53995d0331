//! What this machine can do for a sandbox, for people.

use std::path::Path;

use referee_text::size;
use serde::Serialize;

use super::enforcement::{self, EnforcedLimit};
use super::limits::ResourceLimits;
use super::probe;
use super::sandbox::Sandbox;
use super::settings::{SandboxKind, SandboxRequest};

/// The result of trying something on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProbeReport {
    pub probe: String,
    pub sandbox: Option<SandboxKind>,
    pub works: bool,
    pub result: String,
    /// Whether the kernel enforces a limit at any moment; `None` when it is not about a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<bool>,
    /// What a program in this sandbox tried and could not do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<&'static str>,
    pub fix: Option<String>,
}

/// Tries everything, the better sandbox first; then what enforces limits. Ignores the kind that is
/// requested.
pub fn examine(request: &SandboxRequest) -> Vec<ProbeReport> {
    let mut best = None;
    let mut reports = Vec::new();
    for kind in SandboxKind::BACKENDS {
        let tried = Sandbox::choose(&SandboxRequest {
            kind: Some(kind),
            ..request.clone()
        });
        let mut report = ProbeReport {
            probe: format!("--sandbox {kind}"),
            sandbox: Some(kind),
            works: tried.is_ok(),
            ..ProbeReport::default()
        };
        match tried {
            Ok(sandbox) => {
                let view = match kind {
                    SandboxKind::Landlock if sandbox.settings.private_view => {
                        ", with a view of its own"
                    }
                    SandboxKind::Landlock => ", without a view of its own",
                    SandboxKind::Bwrap | SandboxKind::None => "",
                };
                report.result = format!("isolates bots{view}");
                report.refused = probe::attempts();
                best.get_or_insert(sandbox);
            }
            Err(failure) => {
                report.result = failure.cause;
                report.fix = Some(failure.fix);
            }
        }
        reports.push(report);
    }
    if cfg!(windows) {
        reports.push(job_object(&request.limits));
    } else {
        reports.extend(limits(best.as_ref()));
    }
    reports
}

/// What a job object does for a bot on Windows, and what it does not.
fn job_object(limits: &ResourceLimits) -> ProbeReport {
    let memory = size(limits.memory);
    let processes = limits.processes;
    let result = format!(
        "every bot is in one, which ends all its processes with it and bounds them: {memory} of memory \
         together (--memory), {processes} processes (--processes); it does not keep a bot from files, from \
         the network, or from other programs of its user"
    );
    ProbeReport {
        probe: "job object".to_owned(),
        works: true,
        result,
        wall: Some(true),
        ..ProbeReport::default()
    }
}

fn limits(sandbox: Option<&Sandbox>) -> Vec<ProbeReport> {
    let Some(sandbox) = sandbox else {
        return vec![ProbeReport {
            probe: enforcement::MEMORY.to_owned(),
            result: "bounded in a sandbox only".to_owned(),
            ..ProbeReport::default()
        }];
    };
    // It must be one of the user's own services to be allowed to make groups.
    let systemd = Path::new("/run/systemd/system").is_dir();
    let result = |bound: EnforcedLimit| {
        let unbounded = bound.limit == enforcement::MEMORY && !bound.wall;
        ProbeReport {
            works: true,
            result: bound.kept(),
            wall: Some(bound.wall),
            fix: (unbounded && systemd).then(|| {
                "to have the kernel bound it: systemd-run --user --scope referee ...".to_owned()
            }),
            probe: bound.limit,
            ..ProbeReport::default()
        }
    };
    sandbox.bounds().into_iter().map(result).collect()
}
