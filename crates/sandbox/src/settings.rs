use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

#[cfg(all(target_os = "linux", not(portable)))]
use super::cgroup::ParentGroups;
use super::limits::ResourceLimits;
use referee_host::system::Shortage;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxKind {
    Bwrap,
    Landlock,
    None,
}

impl SandboxKind {
    /// The sandboxes, the better one first.
    pub const BACKENDS: [Self; 2] = [Self::Bwrap, Self::Landlock];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Landlock => "landlock",
            Self::None => "none",
        }
    }

    /// The layers in force; plans of tournaments hold these words.
    pub const fn layers(self) -> &'static [&'static str] {
        match self {
            Self::Bwrap => &["bubblewrap (namespaces)", "seccomp", "limits", "guard"],
            Self::Landlock => &["Landlock", "seccomp", "limits", "guard"],
            Self::None => &[],
        }
    }
}

impl fmt::Display for SandboxKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Debug, Default)]
pub struct SandboxRequest {
    /// Exactly this one; without it the best one that works here.
    pub kind: Option<SandboxKind>,
    pub limits: ResourceLimits,
    /// What bots may read besides their own files and the system's.
    pub expose: Vec<PathBuf>,
    /// Variables in addition to those that every bot gets.
    pub environment: Vec<(String, String)>,
    pub freeze: bool,
    pub referee: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{probe}: {cause}; {fix}")]
pub struct SandboxUnavailable {
    pub probe: String,
    pub cause: String,
    pub fix: String,
    pub obstacle: SandboxObstacle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxObstacle {
    /// Bubblewrap or Landlock is missing, or not allowed for this user.
    Absent,
    /// This system has no sandbox that is known here: bots can only be played without one.
    Unsupported,
    /// Something is short at the moment, or there is no temporary directory.
    Wanting(Option<Shortage>),
    /// It was not built within its time.
    Late,
    Broken,
}

impl SandboxUnavailable {
    /// What was tried and why it does not work, without the fix.
    pub fn causes(&self) -> String {
        format!("{}: {}", self.probe, self.cause)
    }

    /// Whether something is short at the moment: the sandbox may work later.
    pub(super) const fn is_for_want(&self) -> bool {
        matches!(self.obstacle, SandboxObstacle::Wanting(_))
    }

    /// Neither of two sandboxes works.
    pub(super) fn and(mut self, next: &Self) -> Self {
        if next.obstacle != SandboxObstacle::Absent {
            self.obstacle = next.obstacle;
        }
        if next.cause == self.cause {
            "the sandboxes".clone_into(&mut self.probe);
        } else {
            self.cause = format!("{}; {}", self.cause, next.causes());
            self.fix = format!("{}; or {}", self.fix, next.fix);
        }
        self
    }
}

/// An error names an exposed path that does not exist or cannot be reached.
pub(super) fn with_canonical_paths(
    mut request: SandboxRequest,
) -> Result<SandboxRequest, SandboxUnavailable> {
    for path in &mut request.expose {
        *path = path.canonicalize().map_err(|error| SandboxUnavailable {
            probe: format!("--expose {}", path.display()),
            cause: referee_text::cause(&error),
            fix: "check the spelling and the permissions".to_owned(),
            obstacle: SandboxObstacle::Broken,
        })?;
    }
    Ok(request)
}

#[derive(Debug)]
pub(super) struct SandboxSettings {
    pub(super) kind: SandboxKind,
    /// Its exposed paths are canonical. Supervisor and built-in bots are its referee.
    pub(super) request: SandboxRequest,
    /// Whether Landlock bots get their own process ids and scratch file system.
    pub(super) private_view: bool,
    /// Whether what bubblewrap built is kept for a bot's next process.
    #[cfg(all(target_os = "linux", not(portable)))]
    pub(super) keeps_box: bool,
    /// Where control groups for bots can be made.
    #[cfg(all(target_os = "linux", not(portable)))]
    pub(super) groups: ParentGroups,
}

impl SandboxSettings {
    pub(super) fn of(kind: SandboxKind, request: SandboxRequest) -> Self {
        Self {
            kind,
            request,
            private_view: kind == SandboxKind::Landlock,
            #[cfg(all(target_os = "linux", not(portable)))]
            keeps_box: kind == SandboxKind::Bwrap,
            #[cfg(all(target_os = "linux", not(portable)))]
            groups: ParentGroups::default(),
        }
    }
}
