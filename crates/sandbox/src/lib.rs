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
use std::slice;
use std::sync::Arc;

use referee_text::size;
use serde::Serialize;

pub use self::confinement::{BotCommand, Confinement};
pub use self::limits::{Bound, ResourceLimits};
use self::private_copy::PrivateCopy;
use self::settings::Settings;
pub use self::settings::{Kind, NotAvailable, Obstacle, SandboxRequest};
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
        let mut settings = Settings::new(request.clone())?;
        let mut failures = Vec::new();
        let exactly = request.kind.as_ref().map(slice::from_ref);
        for &kind in exactly.unwrap_or(&Kind::BACKENDS) {
            settings.kind = kind;
            if kind == Kind::None {
                tracing::info!(target: LOG_TARGET, "no sandbox");
                return Ok(Self(Arc::new(settings)));
            }
            settings.own_view = kind == Kind::Landlock;
            settings.keeps_box = kind == Kind::Bwrap;
            let mut tried = probe::try_out(&settings);
            // A shortage must not lead to a weaker sandbox.
            let is_wanting =
                |failure: &NotAvailable| matches!(failure.obstacle, Obstacle::Wanting(_));
            if tried.as_ref().is_err_and(|failure| !is_wanting(failure)) {
                settings.own_view = false;
                settings.keeps_box = false;
                tried = probe::try_out(&settings);
            }
            match tried {
                Ok(()) => {
                    probe::find_groups(&mut settings)?;
                    let chosen = Self(Arc::new(settings));
                    chosen.log();
                    return Ok(chosen);
                }
                Err(failure) if is_wanting(&failure) => return Err(failure),
                Err(failure) => {
                    tracing::info!(target: LOG_TARGET, cause = failure.cause, fix = failure.fix, "{kind} does not work here");
                    failures.push(failure);
                }
            }
        }
        Err(combined(failures))
    }

    fn log(&self) {
        let Settings { kind, request, .. } = &*self.0;
        let SandboxRequest {
            limits,
            expose,
            freeze,
            ..
        } = request;
        tracing::info!(
            target: LOG_TARGET,
            memory = limits.memory,
            processes = limits.processes,
            open_files = limits.open_files,
            scratch = limits.scratch,
            ?expose,
            freeze,
            memory_bound = self.memory_bound(),
            "{kind} works here and is used"
        );
    }

    /// No sandbox. `freeze` still stops a bot while its opponent thinks.
    pub fn none(freeze: bool) -> Self {
        Self(Arc::new(Settings::of(SandboxRequest {
            freeze,
            ..SandboxRequest::default()
        })))
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

    pub fn freezes(&self) -> bool {
        self.0.request.freeze
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
        if self.0.kind == Kind::None {
            // On Windows a job object enforces limits in any case.
            let carries =
                cfg!(windows) || self.0.request.freeze || !self.0.request.environment.is_empty();
            return Ok(carries.then(|| Confinement::new(&self.0, None)));
        }
        let files = PrivateCopy::of(command, others, &self.0)?;
        Ok(Some(Confinement::new(&self.0, Some(files))))
    }
}

fn combined(failures: Vec<NotAvailable>) -> NotAvailable {
    let mut failures = failures.into_iter();
    let Some(mut first) = failures.next() else {
        return NotAvailable {
            probe: "the sandbox".to_owned(),
            cause: "there is none to try".to_owned(),
            fix: "use --sandbox none".to_owned(),
            obstacle: Obstacle::Absent,
        };
    };
    for next in failures {
        if next.obstacle != Obstacle::Absent {
            first.obstacle = next.obstacle;
        }
        if next.cause == first.cause {
            "the sandboxes".clone_into(&mut first.probe);
            continue;
        }
        first.cause = format!("{}; {}: {}", first.cause, next.probe, next.cause);
        first.fix = format!("{}; or {}", first.fix, next.fix);
    }
    first
}

/// Tries everything, the better sandbox first; then what enforces limits. Ignores the kind that is
/// requested.
pub fn examine(request: &SandboxRequest) -> Vec<Finding> {
    let mut best = None;
    let mut findings: Vec<Finding> = Kind::BACKENDS
        .into_iter()
        .map(|kind| {
            let tried = Sandbox::choose(&SandboxRequest {
                kind: Some(kind),
                ..request.clone()
            });
            let probe = format!("--sandbox {kind}");
            let finding = match tried {
                Ok(sandbox) => {
                    let view = match kind {
                        Kind::Landlock if sandbox.0.own_view => ", with a view of its own",
                        Kind::Landlock => ", without a view of its own",
                        Kind::Bwrap | Kind::None => "",
                    };
                    best.get_or_insert(sandbox);
                    let held = format!("isolates bots{view}");
                    Finding {
                        refused: probe::attempts(),
                        ..Finding::new(&probe, true, held)
                    }
                }
                Err(failure) => Finding {
                    fix: Some(failure.fix),
                    ..Finding::new(&probe, false, failure.cause)
                },
            };
            Finding {
                sandbox: Some(kind),
                ..finding
            }
        })
        .collect();
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
        wall: Some(true),
        ..Finding::new("job object", true, result)
    }
}

fn limits(sandbox: Option<&Sandbox>) -> Vec<Finding> {
    let Some(sandbox) = sandbox else {
        let result = "bounded in a sandbox only".to_owned();
        return vec![Finding::new(limits::MEMORY, false, result)];
    };
    // It must be one of the user's own services to be allowed to make groups.
    let systemd = Path::new("/run/systemd/system").is_dir();
    let shown = |bound: Bound| {
        let unbounded = bound.limit == limits::MEMORY && !bound.wall;
        Finding {
            wall: Some(bound.wall),
            fix: (unbounded && systemd).then(|| {
                "to have the kernel bound it: systemd-run --user --scope referee ...".to_owned()
            }),
            ..Finding::new(&bound.limit, true, bound.kept())
        }
    };
    sandbox.bounds().into_iter().map(shown).collect()
}

/// The result of trying something on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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

impl Finding {
    fn new(probe: &str, works: bool, result: String) -> Self {
        Self {
            probe: probe.to_owned(),
            sandbox: None,
            works,
            result,
            wall: None,
            refused: Vec::new(),
            fix: None,
        }
    }
}
