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
    /// What the bot's user may not enter is closed. `private` has its scratch directories.
    pub(super) fn confined_by(
        mut self,
        settings: &SandboxSettings,
        private: &PrivateDirectory,
        user: Option<&BotUser>,
    ) -> Self {
        // Only Landlock shows paths in place; bubblewrap makes a way to each.
        if settings.private_view && user.is_some() {
            let mut paths = self.visible.clone();
            paths.push(private.path().to_owned());
            paths.extend(self.is_referee.then(|| settings.request.referee.clone()));
            self.closed = ClosedDirectory::above(paths);
        }
        if settings.kind == SandboxKind::Landlock {
            self.visible = without_repeats(&self.visible);
        }
        self
    }
}
