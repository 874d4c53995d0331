#[cfg(all(target_os = "linux", not(portable)))]
use std::io;
use std::path::Path;
#[cfg(all(target_os = "linux", not(portable)))]
use std::process::{ChildStdin, Command};
use std::sync::Arc;

use super::private_copy::PrivateCopy;
use super::sandbox::Sandbox;
#[cfg(all(target_os = "linux", not(portable)))]
use super::settings::SandboxKind;
use super::snapshot::{self, BotCommand, FileSet};
#[cfg(all(target_os = "linux", not(portable)))]
use super::spawn_request::{self, SpawnRequest};
#[cfg(all(target_os = "linux", not(portable)))]
use super::supervisor::client::{self, SupervisorConnection};
use referee_host::executable::CannotStart;

/// A sandbox with the private copy of one bot's files. Cheap to clone; the copy is removed when the
/// last clone is dropped.
#[derive(Clone, Debug)]
pub struct Confinement {
    pub sandbox: Sandbox,
    /// `None` without a sandbox: then the bot is only stopped while nothing is asked of it, and
    /// given variables.
    files: Option<Arc<PrivateCopy>>,
}

impl Sandbox {
    /// Confines a bot: copies and hashes its files, and reports what would keep it from starting.
    /// `others` are the other entrants, whose programs it does not see. `None` without a sandbox when
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
        if self.settings.kind != SandboxKind::None {
            let files = PrivateCopy::of(command, others, &self.settings)?;
            return Ok(Some(Confinement::new(self, Some(files))));
        }
        #[cfg(any(not(target_os = "linux"), portable))]
        let _ = others;
        // On Windows a job object enforces limits in any case.
        let carries = cfg!(windows) || self.freezes() || !self.environment().is_empty();
        Ok(carries.then(|| Confinement::new(self, None)))
    }
}

impl Confinement {
    fn new(sandbox: &Sandbox, files: Option<PrivateCopy>) -> Self {
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

    /// Names of what lies in its folder and is another entrant's, which it does not see.
    pub fn hidden(&self) -> &[String] {
        self.files.as_ref().map_or(&[], |files| &files.hidden)
    }

    /// Whether it sees nothing of its folder but its program: a home folder, say, belongs to no single bot.
    pub fn is_alone(&self) -> bool {
        self.files.as_ref().is_some_and(|files| files.is_alone)
    }

    /// The folder with the copied files, in which the bot runs; `None` without a sandbox.
    pub fn directory(&self) -> Option<&Path> {
        Some(&self.files.as_ref()?.directory)
    }

    /// The files that were copied; `None` without a sandbox.
    pub fn files(&self) -> Option<&FileSet> {
        Some(&self.files.as_ref()?.files)
    }
}

#[cfg(all(target_os = "linux", not(portable)))]
impl Confinement {
    /// The request for a supervisor; `None` without a sandbox. `environment` is added to the few
    /// variables that every bot gets; `file_variables` are those of it that name a file for the bot
    /// to read.
    pub fn spawn_request(
        &self,
        environment: &[(String, String)],
        file_variables: &[&str],
    ) -> Option<SpawnRequest> {
        let files = self.files.as_ref()?;
        Some(spawn_request::spawn_request(
            &self.sandbox.settings,
            files,
            environment,
            file_variables,
        ))
    }

    /// Starts a supervisor by `spawn`, with piped output and error: its child, the bot's input, and
    /// the connection to it. Must be called within a tokio runtime.
    pub fn launch<C>(
        &self,
        request: &SpawnRequest,
        spawn: impl FnOnce(Command) -> io::Result<C>,
    ) -> io::Result<(C, ChildStdin, SupervisorConnection)> {
        let Sandbox { settings, boxes } = &self.sandbox;
        client::launch(&settings.request.referee, boxes, request, spawn)
    }
}
