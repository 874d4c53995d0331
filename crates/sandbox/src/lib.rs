#![doc = include_str!("../README.md")]

#[cfg(all(target_os = "linux", not(portable)))]
mod backend;
#[cfg(all(target_os = "linux", not(portable)))]
mod bot_user;
#[cfg(all(target_os = "linux", not(portable)))]
pub mod cgroup;
#[cfg(all(target_os = "linux", not(portable)))]
mod closed;
mod confinement;
pub mod executable;
#[cfg(all(target_os = "linux", not(portable)))]
mod interpreters;
mod limits;
#[cfg(all(target_os = "linux", not(portable)))]
mod policy;
#[cfg(all(target_os = "linux", not(portable)))]
mod private_copy;
#[cfg(all(target_os = "linux", not(portable)))]
mod private_directory;
#[cfg(all(target_os = "linux", not(portable)))]
mod probe;
#[cfg(all(target_os = "linux", not(portable)))]
pub mod procfs;
#[cfg(all(target_os = "linux", not(portable)))]
mod request;
#[cfg(all(target_os = "linux", not(portable)))]
mod seccomp;
#[cfg(all(target_os = "linux", not(portable)))]
mod session;
mod settings;
pub mod snapshot;
#[cfg(all(target_os = "linux", not(portable)))]
pub mod supervisor;
pub mod system;
#[cfg(any(not(target_os = "linux"), portable))]
mod unsupported;

use std::path::Path;
use std::sync::Arc;

use referee_text::size;
use serde::Serialize;

pub use self::confinement::{BotCommand, Confinement};
pub use self::limits::{Bound, ResourceLimits};
pub use self::settings::{Kind, NotAvailable, Obstacle, SandboxRequest};
use self::settings::{Settings, with_canonical_paths};
#[cfg(any(not(target_os = "linux"), portable))]
pub use self::unsupported::{cgroup, private_copy, probe, procfs, supervisor};
use crate::executable::CannotStart;

pub const LOG_TARGET: &str = "referee::sandbox";

/// A sandbox that works on this machine, with its settings. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sandbox(Arc<Settings>);

impl Sandbox {
    /// Finds a sandbox that works here, by running each candidate with the limits and paths of
    /// bots.
    pub fn choose(request: &SandboxRequest) -> Result<Self, NotAvailable> {
        let request = with_canonical_paths(request.clone())?;
        if let Some(kind) = request.kind {
            return Self::of_kind(kind, request);
        }
        let [best, other] = Kind::BACKENDS;
        let first = match Self::of_kind(best, request.clone()) {
            // A shortage must not lead to a weaker sandbox.
            Err(failure) if !failure.is_for_want() => failure,
            tried => return tried,
        };
        let tried = Self::of_kind(other, request);
        tried.map_err(|second| {
            if second.is_for_want() {
                second
            } else {
                first.and(&second)
            }
        })
    }

    fn of_kind(kind: Kind, request: SandboxRequest) -> Result<Self, NotAvailable> {
        let mut settings = Settings::of(kind, request);
        if kind == Kind::None {
            tracing::info!(target: LOG_TARGET, "no sandbox");
            return Ok(Self(Arc::new(settings)));
        }
        probe::try_out(&mut settings).inspect_err(|failure| {
            tracing::info!(target: LOG_TARGET, cause = failure.cause, fix = failure.fix, "{kind} does not work here");
        })?;
        let chosen = Self(Arc::new(settings));
        let request = &chosen.0.request;
        tracing::info!(
            target: LOG_TARGET,
            limits = ?request.limits,
            expose = ?request.expose,
            freeze = request.freeze,
            memory_bound = chosen.memory_bound(),
            "{kind} works here and is used"
        );
        Ok(chosen)
    }

    /// No sandbox. `freeze` still stops a bot while its opponent thinks.
    pub fn none(freeze: bool) -> Self {
        let request = SandboxRequest {
            freeze,
            ..SandboxRequest::default()
        };
        Self(Arc::new(Settings::of(Kind::None, request)))
    }

    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    pub fn limits(&self) -> ResourceLimits {
        self.0.request.limits
    }

    /// What bounds a bot's memory, for people; `None` when nothing does.
    pub fn memory_bound(&self) -> Option<String> {
        self.bounds().into_iter().next().map(|bound| bound.by)
    }

    /// How each limit is enforced. Empty without a sandbox.
    pub fn bounds(&self) -> Vec<Bound> {
        limits::bounds_of(&self.0)
    }

    /// Whether the kernel bounds the memory of a bot's processes together at any moment.
    pub fn has_memory_group(&self) -> bool {
        let mut bounds = self.bounds().into_iter();
        bounds.any(|bound| bound.limit == limits::MEMORY && bound.wall)
    }

    /// Whether a bot is stopped while its opponent thinks.
    pub fn freezes(&self) -> bool {
        self.0.request.freeze
    }

    pub fn environment(&self) -> &[(String, String)] {
        &self.0.request.environment
    }

    /// Confines a bot: copies and hashes its files, and reports what would keep it from starting.
    /// `others` are the other entrants, of which it may see nothing. `None` without a sandbox when
    /// there is nothing to freeze or to add to the environment.
    ///
    /// The copy is removed when the last clone of the confinement is dropped.
    pub fn confine(
        &self,
        command: BotCommand<'_>,
        others: &[BotCommand<'_>],
    ) -> Result<Option<Confinement>, CannotStart> {
        snapshot::check_program(command)?;
        #[cfg(all(target_os = "linux", not(portable)))]
        if self.0.kind != Kind::None {
            let files = private_copy::PrivateCopy::of(command, others, &self.0)?;
            return Ok(Some(Confinement::new(self, Some(files))));
        }
        #[cfg(any(not(target_os = "linux"), portable))]
        let _ = others;
        // On Windows a job object enforces limits in any case.
        let carries = cfg!(windows) || self.freezes() || !self.environment().is_empty();
        Ok(carries.then(|| Confinement::new(self, None)))
    }
}

/// Tries everything, the better sandbox first; then what enforces limits. Ignores the kind that is
/// requested.
pub fn examine(request: &SandboxRequest) -> Vec<Finding> {
    let mut best = None;
    let mut findings = Vec::new();
    for kind in Kind::BACKENDS {
        let tried = Sandbox::choose(&SandboxRequest {
            kind: Some(kind),
            ..request.clone()
        });
        let mut finding = Finding {
            probe: format!("--sandbox {kind}"),
            sandbox: Some(kind),
            works: tried.is_ok(),
            ..Finding::default()
        };
        match tried {
            Ok(sandbox) => {
                let view = match kind {
                    Kind::Landlock if sandbox.0.own_view => ", with a view of its own",
                    Kind::Landlock => ", without a view of its own",
                    Kind::Bwrap | Kind::None => "",
                };
                finding.result = format!("isolates bots{view}");
                finding.refused = probe::attempts();
                best.get_or_insert(sandbox);
            }
            Err(failure) => {
                finding.result = failure.cause;
                finding.fix = Some(failure.fix);
            }
        }
        findings.push(finding);
    }
    if cfg!(windows) {
        findings.push(job_object(&request.limits));
    } else {
        findings.extend(limits(best.as_ref()));
    }
    findings
}

/// What a job object does for a bot on Windows, and what it does not.
fn job_object(limits: &ResourceLimits) -> Finding {
    let memory = size(limits.memory);
    let processes = limits.processes;
    let result = format!(
        "every bot is in one, which ends all its processes with it and bounds them: {memory} of memory \
         together (--memory), {processes} processes (--processes); it does not keep a bot from files, from \
         the network, or from other programs of its user"
    );
    Finding {
        probe: "job object".to_owned(),
        works: true,
        result,
        wall: Some(true),
        ..Finding::default()
    }
}

fn limits(sandbox: Option<&Sandbox>) -> Vec<Finding> {
    let Some(sandbox) = sandbox else {
        return vec![Finding {
            probe: limits::MEMORY.to_owned(),
            result: "bounded in a sandbox only".to_owned(),
            ..Finding::default()
        }];
    };
    // It must be one of the user's own services to be allowed to make groups.
    let systemd = Path::new("/run/systemd/system").is_dir();
    let shown = |bound: Bound| {
        let unbounded = bound.limit == limits::MEMORY && !bound.wall;
        Finding {
            works: true,
            result: bound.kept(),
            wall: Some(bound.wall),
            fix: (unbounded && systemd).then(|| {
                "to have the kernel bound it: systemd-run --user --scope referee ...".to_owned()
            }),
            probe: bound.limit,
            ..Finding::default()
        }
    };
    sandbox.bounds().into_iter().map(shown).collect()
}

/// The result of trying something on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub probe: String,
    pub sandbox: Option<Kind>,
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
