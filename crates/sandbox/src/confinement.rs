//! The sandbox that a bot's program carries with it, wherever it is started.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::bounds::{self, Bound};
use super::cgroup::Controller;
use super::limits::ResourceLimits;
use super::private_copy::PrivateCopy;
#[cfg(all(target_os = "linux", not(portable)))]
use super::request;
use super::settings::Settings;
use super::snapshot::ContentHash;
#[cfg(all(target_os = "linux", not(portable)))]
use super::supervisor::fork_server::ForkServer;
#[cfg(all(target_os = "linux", not(portable)))]
use super::supervisor::kept_box::Boxes;
#[cfg(all(target_os = "linux", not(portable)))]
use super::supervisor::message::SpawnRequest;

/// A sandbox with the private copy of one bot's files. Cheap to clone; the copy is removed when the
/// last clone is dropped.
#[derive(Clone, Debug)]
pub struct Confinement(Arc<Confined>);

#[derive(Debug)]
struct Confined {
    settings: Arc<Settings>,
    /// `None` without a sandbox: then the bot is only stopped in its opponent's turns, and given
    /// variables.
    files: Option<PrivateCopy>,
    /// Given up before its files are removed, which they show.
    #[cfg(all(target_os = "linux", not(portable)))]
    boxes: Boxes,
}

#[cfg(all(target_os = "linux", not(portable)))]
impl Drop for Confined {
    fn drop(&mut self) {
        self.boxes.clear();
    }
}

/// The same sandbox with the same files.
impl PartialEq for Confinement {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Confinement {}

impl Confinement {
    pub(super) fn new(settings: &Arc<Settings>, files: Option<PrivateCopy>) -> Self {
        Self(Arc::new(Confined {
            settings: Arc::clone(settings),
            files,
            #[cfg(all(target_os = "linux", not(portable)))]
            boxes: Boxes::default(),
        }))
    }

    /// Whether the bot is stopped while its opponent thinks.
    pub fn freezes(&self) -> bool {
        self.0.settings.freeze
    }

    /// Its limits, which are kept by a sandbox or, on Windows, by a job object.
    pub fn limits(&self) -> ResourceLimits {
        self.0.settings.limits
    }

    /// How each limit of the bot is kept; empty without a sandbox.
    pub fn bounds(&self) -> Vec<Bound> {
        bounds::of(&self.0.settings)
    }

    /// Whether a control group bounds the memory of the bot.
    pub fn has_memory_group(&self) -> bool {
        let groups = &self.0.settings.groups;
        groups.version(Controller::Memory).is_some()
    }

    /// Variables that are set in its environment, whether there is a sandbox or not.
    pub fn environment(&self) -> &[(String, String)] {
        &self.0.settings.environment
    }

    /// What it sees of the user's own interpreters.
    pub fn interpreters(&self) -> &[PathBuf] {
        let files = self.0.files.as_ref();
        files.map_or(&[], PrivateCopy::installations)
    }

    /// The path of its files and how many bytes were copied, when it is so much that people should know.
    pub fn large_copy(&self) -> Option<(&Path, u64)> {
        self.0.files.as_ref()?.large()
    }

    /// The hash of the copied files; `None` without a sandbox.
    pub fn hash(&self) -> Option<ContentHash> {
        Some(self.0.files.as_ref()?.hash())
    }
}

#[cfg(all(target_os = "linux", not(portable)))]
impl Confinement {
    /// What a supervisor is asked to start; `None` when there is no sandbox. `environment` is added
    /// to the few variables that every bot gets.
    pub fn spawn_request(&self, environment: &[(String, String)]) -> Option<SpawnRequest> {
        let files = self.0.files.as_ref()?;
        Some(request::spawn_request(&self.0.settings, files, environment))
    }

    /// What is kept of its sandbox for its next process.
    pub fn boxes(&self) -> &Boxes {
        &self.0.boxes
    }

    /// What starts supervisors.
    pub fn server(&self) -> &ForkServer {
        &self.0.settings.server
    }
}
