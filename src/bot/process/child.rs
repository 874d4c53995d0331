use std::io;
use std::process::ExitStatus;

#[cfg(all(target_os = "linux", not(portable)))]
use crate::sandbox::supervisor::forked::Forked;

#[derive(Debug)]
pub(super) enum Child {
    Program(tokio::process::Child),
    #[cfg(all(target_os = "linux", not(portable)))]
    Supervisor(Forked),
}

impl Child {
    /// Until it has been waited for.
    pub(super) fn id(&self) -> Option<u32> {
        match self {
            Self::Program(child) => child.id(),
            #[cfg(all(target_os = "linux", not(portable)))]
            Self::Supervisor(child) => child.id(),
        }
    }

    /// Cancel-safe.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Program(child) => child.wait().await,
            #[cfg(all(target_os = "linux", not(portable)))]
            Self::Supervisor(child) => child.wait().await,
        }
    }

    pub(super) fn start_kill(&mut self) -> io::Result<()> {
        match self {
            Self::Program(child) => child.start_kill(),
            #[cfg(all(target_os = "linux", not(portable)))]
            Self::Supervisor(child) => child.start_kill(),
        }
    }
}
