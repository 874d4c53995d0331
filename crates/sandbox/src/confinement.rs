#[cfg(all(target_os = "linux", not(portable)))]
use std::io;
use std::path::Path;
#[cfg(all(target_os = "linux", not(portable)))]
use std::process::{ChildStdin, Command};
use std::sync::Arc;

use super::Sandbox;
use super::private_copy::PrivateCopy;
#[cfg(all(target_os = "linux", not(portable)))]
use super::request;
use super::snapshot::ContentHash;
#[cfg(all(target_os = "linux", not(portable)))]
use super::supervisor::client::{self, SupervisorConnection};
#[cfg(all(target_os = "linux", not(portable)))]
use super::supervisor::message::SpawnRequest;

/// A sandbox with the private copy of one bot's files. Cheap to clone; the copy is removed when the
/// last clone is dropped.
#[derive(Clone, Debug)]
pub struct Confinement {
    pub sandbox: Sandbox,
    /// `None` without a sandbox: then the bot is only stopped in its opponent's turns, and given
    /// variables.
    files: Option<Arc<PrivateCopy>>,
}

impl Confinement {
    pub(super) fn new(sandbox: &Sandbox, files: Option<PrivateCopy>) -> Self {
        Self {
            sandbox: sandbox.clone(),
            files: files.map(Arc::new),
        }
    }

    /// The path of its files and the bytes copied, when that is worth telling people.
    pub fn large_copy(&self) -> Option<(&Path, u64)> {
        let (path, bytes) = self.files.as_ref()?.large.as_ref()?;
        Some((path, *bytes))
    }

    /// The folder with the copied files, in which the bot runs; `None` without a sandbox.
    pub fn directory(&self) -> Option<&Path> {
        Some(&self.files.as_ref()?.directory)
    }

    pub fn hash(&self) -> Option<ContentHash> {
        Some(self.files.as_ref()?.hash)
    }
}

#[cfg(all(target_os = "linux", not(portable)))]
impl Confinement {
    /// The request for a supervisor; `None` without a sandbox. `environment` is added to the few
    /// variables that every bot gets.
    pub fn spawn_request(&self, environment: &[(String, String)]) -> Option<SpawnRequest> {
        let files = self.files.as_ref()?;
        Some(request::spawn_request(&self.sandbox.0, files, environment))
    }

    /// Starts a supervisor by `spawn`, with piped output and error: its child, the bot's input, and
    /// the connection to it. Must be called within a tokio runtime.
    pub fn launch<C>(
        &self,
        request: &SpawnRequest,
        spawn: impl FnOnce(Command) -> io::Result<C>,
    ) -> io::Result<(C, ChildStdin, SupervisorConnection)> {
        client::launch(&self.sandbox.0, request, spawn)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BotCommand<'a> {
    /// For messages; escaped.
    pub name: &'a str,
    pub argv: &'a [String],
    /// The strategy, for a built-in bot.
    pub builtin: Option<&'a str>,
    pub directory: Option<&'a Path>,
    /// Programs that it starts, which it has to see as if they ran it.
    pub starts: &'a [String],
}
