//! What a program in the sandbox sees, and where it starts.

use std::path::PathBuf;

use super::bot_user::BotUser;
use super::closed::ClosedDirectory;
use super::policy::without_repeats;
use super::private_directory::PrivateDirectory;
use super::settings::{SandboxKind, SandboxSettings};

#[derive(Clone, Debug)]
pub(super) struct BotView {
    pub(super) visible: Vec<PathBuf>,
    /// Its scratch directory when `None`.
    pub(super) directory: Option<PathBuf>,
    pub(super) scratches: PathBuf,
    /// Whether the program is this one.
    pub(super) is_referee: bool,
    /// Directories that the bot's user may not enter; what lies below them is mounted elsewhere.
    pub(super) closed: Vec<ClosedDirectory>,
}

impl BotView {
    /// With scratch directories in `private`.
    pub(super) fn new(
        settings: &SandboxSettings,
        mut visible: Vec<PathBuf>,
        directory: Option<PathBuf>,
        private: &PrivateDirectory,
        is_referee: bool,
        user: Option<&BotUser>,
    ) -> Self {
        let mut closed = Vec::new();
        // Only Landlock shows paths in place; bubblewrap makes a way to each.
        if settings.private_view && user.is_some() {
            let mut paths = visible.clone();
            paths.push(private.path().to_owned());
            paths.extend(is_referee.then(|| settings.request.referee.clone()));
            closed = ClosedDirectory::above(paths);
        }
        if settings.kind == SandboxKind::Landlock {
            visible = without_repeats(&visible);
        }
        Self {
            visible,
            directory,
            scratches: private.scratches(),
            is_referee,
            closed,
        }
    }
}
