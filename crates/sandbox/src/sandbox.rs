//! A sandbox that works on this machine.

use std::sync::Arc;

use super::enforcement::{self, EnforcedLimit};
use super::limits::ResourceLimits;
use super::log_target::LOG_TARGET;
use super::probe;
use super::settings::{
    SandboxKind, SandboxRequest, SandboxSettings, SandboxUnavailable, with_canonical_paths,
};
#[cfg(all(target_os = "linux", not(portable)))]
use super::supervisor::KeptBoxes;

/// A sandbox that works on this machine, with its settings. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pub(super) settings: Arc<SandboxSettings>,
    #[cfg(all(target_os = "linux", not(portable)))]
    pub(super) boxes: Arc<KeptBoxes>,
}

impl Sandbox {
    /// Finds a sandbox that works here, by running each candidate with the limits and paths of
    /// bots.
    pub fn choose(request: &SandboxRequest) -> Result<Self, SandboxUnavailable> {
        let request = with_canonical_paths(request.clone())?;
        if let Some(kind) = request.kind {
            return Self::of_kind(kind, request);
        }
        let [best, other] = SandboxKind::BACKENDS;
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

    fn of_kind(kind: SandboxKind, request: SandboxRequest) -> Result<Self, SandboxUnavailable> {
        let mut settings = SandboxSettings::of(kind, request);
        if kind == SandboxKind::None {
            tracing::info!(target: LOG_TARGET, "no sandbox");
            return Ok(Self::with(settings));
        }
        probe::try_out(&mut settings).inspect_err(|failure| {
            tracing::info!(target: LOG_TARGET, cause = failure.cause, fix = failure.fix, "{kind} does not work here");
        })?;
        let chosen = Self::with(settings);
        let request = &chosen.settings.request;
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

    /// No sandbox. `freeze` still stops a bot while nothing is asked of it.
    pub fn none(freeze: bool) -> Self {
        let request = SandboxRequest {
            freeze,
            ..SandboxRequest::default()
        };
        Self::with(SandboxSettings::of(SandboxKind::None, request))
    }

    fn with(settings: SandboxSettings) -> Self {
        Self {
            settings: Arc::new(settings),
            #[cfg(all(target_os = "linux", not(portable)))]
            boxes: Arc::default(),
        }
    }

    pub fn kind(&self) -> SandboxKind {
        self.settings.kind
    }

    pub fn limits(&self) -> ResourceLimits {
        self.settings.request.limits
    }

    /// What bounds a bot's memory, for people; `None` when nothing does.
    pub fn memory_bound(&self) -> Option<String> {
        self.bounds().into_iter().next().map(|bound| bound.by)
    }

    /// How each limit is enforced. Empty without a sandbox.
    pub fn bounds(&self) -> Vec<EnforcedLimit> {
        enforcement::bounds_of(&self.settings)
    }

    /// Whether the kernel bounds the memory of a bot's processes together at any moment.
    pub fn has_memory_group(&self) -> bool {
        let mut bounds = self.bounds().into_iter();
        bounds.any(|bound| bound.limit == enforcement::MEMORY && bound.wall)
    }

    /// Whether a bot is stopped while nothing is asked of it.
    pub fn freezes(&self) -> bool {
        self.settings.request.freeze
    }

    pub fn environment(&self) -> &[(String, String)] {
        &self.settings.request.environment
    }
}
