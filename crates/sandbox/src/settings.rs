//! What a sandbox is to be like, and what was found to work on this machine.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::cgroup::ParentGroups;
use super::limits::ResourceLimits;
#[cfg(all(target_os = "linux", not(portable)))]
use super::supervisor::fork_server::ForkServer;
use crate::system::Shortage;

/// A way to confine bots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Bubblewrap, with seccomp.
    Bwrap,
    /// Landlock, with seccomp.
    Landlock,
    /// No sandbox.
    None,
}

impl Kind {
    /// Those that confine a bot, the better one first.
    pub const BACKENDS: [Self; 2] = [Self::Bwrap, Self::Landlock];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Landlock => "landlock",
            Self::None => "none",
        }
    }

    /// What is in force, one layer after the other; plans of tournaments hold these words.
    pub const fn layers(self) -> &'static [&'static str] {
        match self {
            Self::Bwrap => &["bubblewrap (namespaces)", "seccomp", "limits", "guard"],
            Self::Landlock => &["Landlock", "seccomp", "limits", "guard"],
            Self::None => &[],
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which sandbox is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The best that works here.
    Auto,
    /// This one.
    Exactly(Kind),
}

impl Selection {
    /// What may be tried, in this order.
    pub(super) fn candidates(self) -> &'static [Kind] {
        match self {
            Self::Auto => &Kind::BACKENDS,
            Self::Exactly(Kind::Bwrap) => &[Kind::Bwrap],
            Self::Exactly(Kind::Landlock) => &[Kind::Landlock],
            Self::Exactly(Kind::None) => &[Kind::None],
        }
    }
}

/// A request for a sandbox: which one, and what it is to be like.
#[derive(Clone, Debug)]
pub struct SandboxRequest {
    /// Which one.
    pub selection: Selection,
    /// What bots may use.
    pub limits: ResourceLimits,
    /// What bots may read beside their own files and the system's.
    pub expose: Vec<PathBuf>,
    /// Variables of a bot's environment, beside those that every bot gets.
    pub environment: Vec<(String, String)>,
    /// Whether a bot is stopped while its opponent thinks.
    pub freeze: bool,
    /// This program's file.
    pub referee: PathBuf,
}

/// A sandbox that does not work on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{probe}: {cause}; {fix}")]
pub struct NotAvailable {
    /// What was tried.
    pub probe: String,
    /// Why it does not work.
    pub cause: String,
    /// What to do.
    pub fix: String,
    pub obstacle: Obstacle,
}

/// What keeps a sandbox from working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// This machine has none: it lacks bubblewrap or Landlock, or does not let this user have it.
    Absent,
    /// There is too little of something at the moment, or no place for temporary files.
    Wanting(Option<Shortage>),
    /// Anything else.
    Broken,
}

impl NotAvailable {
    /// What was tried and why it does not work, without what to do about it.
    pub fn causes(&self) -> String {
        format!("{}: {}", self.probe, self.cause)
    }
}

/// What a sandbox that was chosen is set to.
#[derive(Debug)]
#[cfg_attr(
    any(not(target_os = "linux"), portable),
    expect(dead_code, reason = "only a sandbox reads all of it")
)]
pub(super) struct Settings {
    pub(super) kind: Kind,
    pub(super) limits: ResourceLimits,
    /// What bots may read beside their own files and the system's, canonical.
    pub(super) expose: Vec<PathBuf>,
    /// Variables of a bot's environment, beside those that every bot gets.
    pub(super) environment: Vec<(String, String)>,
    /// Whether a bot is stopped while its opponent thinks.
    pub(super) freeze: bool,
    /// This program's file: the supervisor, and the built-in bots.
    pub(super) referee: PathBuf,
    /// Whether bots in Landlock have process ids and a scratch file system of their own, if that works
    /// here.
    pub(super) own_view: bool,
    /// Whether what bubblewrap has built is kept for the next process of a bot, if that works here.
    pub(super) keeps_box: bool,
    /// Where control groups for bots can be made.
    pub(super) groups: ParentGroups,
    /// What starts supervisors.
    #[cfg(all(target_os = "linux", not(portable)))]
    pub(super) server: ForkServer,
}

impl Settings {
    /// Settings of a sandbox of this kind, without control groups.
    ///
    /// An error names an exposed path that does not exist or cannot be reached.
    pub(super) fn new(kind: Kind, request: &SandboxRequest) -> Result<Self, NotAvailable> {
        let expose = request.expose.iter().map(|path| {
            path.canonicalize().map_err(|error| NotAvailable {
                probe: format!("--expose {}", path.display()),
                cause: referee_text::cause(&error),
                fix: "check the spelling and the permissions".to_owned(),
                obstacle: Obstacle::Broken,
            })
        });
        Ok(Self {
            kind,
            limits: request.limits,
            expose: expose.collect::<Result<_, _>>()?,
            environment: request.environment.clone(),
            freeze: request.freeze,
            referee: request.referee.clone(),
            own_view: false,
            keeps_box: false,
            groups: ParentGroups::default(),
            #[cfg(all(target_os = "linux", not(portable)))]
            server: ForkServer::new(request.referee.clone()),
        })
    }
}
