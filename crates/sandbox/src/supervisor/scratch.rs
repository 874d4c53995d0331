//! The scratch directory of a running bot, and whether it holds more than it may.

use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::{fs, io};

use rustix::fs::fstatvfs;

use super::watched_scratch::WatchedScratch;
use crate::limits::{ExceededLimit, ResourceLimits};

#[derive(Debug)]
pub(super) enum ScratchDirectory {
    Watched(WatchedScratch),
    /// A file system of limited size, whose files are counted.
    Counted(OwnedFd),
    /// A file system of limited size and number of files.
    Bounded(OwnedFd),
}

impl ScratchDirectory {
    /// Whether nothing more can be written into it. What others leave on a common file system says
    /// nothing.
    pub(super) fn is_full(&self) -> bool {
        match self {
            Self::Watched(_) => false,
            Self::Counted(place) | Self::Bounded(place) => {
                fstatvfs(place).is_ok_and(|system| system.f_bfree == 0)
            }
        }
    }

    /// The bound that the kernel does not enforce and that the bot has exceeded.
    pub(super) fn exceeded(&self, limits: &ResourceLimits) -> Option<ExceededLimit> {
        match self {
            Self::Watched(scratch) => exceeded_in(scratch.directories(), limits),
            Self::Counted(place) => exceeded_in_file_system(place),
            Self::Bounded(_) => None,
        }
    }
}

fn exceeded_in(directories: [&Path; 2], limits: &ResourceLimits) -> Option<ExceededLimit> {
    let mut bytes = 0;
    let mut files = 0;
    let mut waiting = directories.map(Path::to_owned).to_vec();
    while let Some(directory) = waiting.pop() {
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            // Removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            // It was closed, or its path has become too long.
            Err(_) => return Some(ExceededLimit::Hidden),
        };
        for entry in entries.flatten() {
            files += 1;
            if files > ResourceLimits::SCRATCH_FILES {
                return Some(ExceededLimit::Files);
            }
            let Ok(meta) = entry.metadata() else { continue };
            bytes += meta.blocks() * 512;
            if meta.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    (bytes > limits.scratch).then_some(ExceededLimit::Scratch)
}

/// Bubblewrap bounds the bytes, not the number of files.
fn exceeded_in_file_system(place: &OwnedFd) -> Option<ExceededLimit> {
    let system = fstatvfs(place).ok()?;
    let files = system.f_files.saturating_sub(system.f_ffree);
    (files > ResourceLimits::SCRATCH_FILES).then_some(ExceededLimit::Files)
}
