#![doc = include_str!("../README.md")]

// In the order in which they are read: a group uses only those above it.

// What a limit is, and what an error is about.
mod limits;
mod log_target;
mod paths;
#[cfg(all(target_os = "linux", not(portable)))]
mod trouble;

// What the system tells, holds and refuses.
#[cfg(all(target_os = "linux", not(portable)))]
mod bot_user;
#[cfg(all(target_os = "linux", not(portable)))]
pub mod cgroup;
#[cfg(all(target_os = "linux", not(portable)))]
mod private_directory;
#[cfg(all(target_os = "linux", not(portable)))]
pub mod procfs;
#[cfg(all(target_os = "linux", not(portable)))]
mod seccomp;
#[cfg(all(target_os = "linux", not(portable)))]
mod session;

// Which files are a bot.
pub mod snapshot;

// What the caller asks for, and what enforces it here.
mod enforcement;
mod settings;
#[cfg(any(not(target_os = "linux"), portable))]
mod unsupported;

// What a bot may see, and the copy that it gets.
#[cfg(all(target_os = "linux", not(portable)))]
mod closed;
#[cfg(all(target_os = "linux", not(portable)))]
mod interpreters;
#[cfg(all(target_os = "linux", not(portable)))]
mod policy;
#[cfg(all(target_os = "linux", not(portable)))]
mod private_copy;
#[cfg(all(target_os = "linux", not(portable)))]
mod view;

// The two ways to confine it, and the request to do so.
#[cfg(all(target_os = "linux", not(portable)))]
mod backend;
#[cfg(all(target_os = "linux", not(portable)))]
mod spawn_request;

// The process between the caller and a bot.
#[cfg(all(target_os = "linux", not(portable)))]
pub mod supervisor;

// Whether all of that works here.
mod examination;
#[cfg(all(target_os = "linux", not(portable)))]
mod probe;
mod sandbox;

// A bot in the sandbox.
mod confinement;

pub use self::confinement::Confinement;
pub use self::enforcement::EnforcedLimit;
pub use self::examination::{ProbeReport, examine};
pub use self::limits::{ExceededLimit, MetLimit, ResourceLimits};
pub use self::log_target::LOG_TARGET;
pub use self::sandbox::Sandbox;
pub use self::settings::{SandboxKind, SandboxObstacle, SandboxRequest, SandboxUnavailable};
pub use self::snapshot::BotCommand;
#[cfg(all(target_os = "linux", not(portable)))]
pub use self::spawn_request::{BotRestrictions, SpawnRequest};
#[cfg(any(not(target_os = "linux"), portable))]
pub use self::unsupported::{cgroup, private_copy, probe, procfs, supervisor};
