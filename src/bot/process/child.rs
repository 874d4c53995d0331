//! The child of the referee's that is waited for: a bot, or the supervisor of one.

use std::io;
use std::process::ExitStatus;

#[cfg(all(target_os = "linux", not(portable)))]
use crate::sandbox::supervisor::forked::Forked;

/// A child of this process.
#[derive(Debug)]
pub(super) enum Child {
    /// A program.
    Program(tokio::process::Child),
    /// A supervisor.
    #[cfg(all(target_os = "linux", not(portable)))]
    Supervisor(Forked),
}

impl Child {
    /// Its process id, until it has been waited for.
    pub(super) fn id(&self) -> Option<u32> {
        match self {
            Self::Program(child) => child.id(),
            #[cfg(all(target_os = "linux", not(portable)))]
            Self::Supervisor(child) => child.id(),
        }
    }

    /// Waits for its end. Can be given up and called again.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Program(child) => child.wait().await,
            #[cfg(all(target_os = "linux", not(portable)))]
            Self::Supervisor(child) => child.wait().await,
        }
    }

    /// Ends it, without waiting for that.
    pub(super) fn start_kill(&mut self) -> io::Result<()> {
        match self {
            Self::Program(child) => child.start_kill(),
            #[cfg(all(target_os = "linux", not(portable)))]
            Self::Supervisor(child) => child.start_kill(),
        }
    }
}
