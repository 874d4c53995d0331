//! The boxes that the referee keeps for the next processes of bots.

use std::sync::{Mutex, PoisonError};

use super::kept_box::KeptBox;
use crate::backend::SandboxBackend;
use referee_host::system::most_open_files;

/// The most boxes of bubblewrap kept without a process in them, four descriptors each; fewer where
/// the referee may have few files open.
const MOST_BOXES: usize = 48;

/// Boxes without a process in them, with what they were built for; the last used is the last.
#[derive(Debug, Default)]
pub(crate) struct KeptBoxes(Mutex<Vec<(SandboxBackend, KeptBox)>>);

impl KeptBoxes {
    pub(super) fn take(&self, backend: &SandboxBackend) -> Option<KeptBox> {
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = boxes.iter().rposition(|(built, _)| built == backend)?;
        Some(boxes.remove(at).1)
    }

    pub(super) fn put(&self, backend: &SandboxBackend, kept: KeptBox) {
        let files = most_open_files().and_then(|files| usize::try_from(files / 16).ok());
        let most = files.unwrap_or(MOST_BOXES).min(MOST_BOXES);
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        boxes.push((backend.clone(), kept));
        if boxes.len() > most {
            boxes.remove(0);
        }
    }
}
