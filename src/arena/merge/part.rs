//! The journal of a shard, with its headers.

use std::io;
use std::path::PathBuf;

use super::error::{MergeError, failed};
use crate::arena::shard::Header;
use crate::record::reader::{Line, Reader};

/// The journal of a shard, and its headers: one for each session in which it was played.
pub(super) struct Part {
    pub(super) path: PathBuf,
    pub(super) headers: Vec<Header>,
}

impl Part {
    /// Turns an error of the journal into a [`MergeError`].
    pub(super) fn failed(&self) -> impl Fn(io::Error) -> MergeError + '_ {
        failed(&self.path)
    }

    /// The header of the session in which the line with this number, from 1, was written.
    pub(super) fn session(&self, line: u64) -> Option<&Header> {
        let later = self.headers.partition_point(|header| header.after < line);
        self.headers.get(later.checked_sub(1)?)
    }

    /// Calls `visit` with every complete line.
    pub(super) fn each(
        &self,
        mut visit: impl FnMut(&Line<'_>) -> Result<(), MergeError>,
    ) -> Result<(), MergeError> {
        let mut reader = Reader::open(&self.path).map_err(self.failed())?;
        while let Some(line) = reader.next_complete_line().map_err(self.failed())? {
            visit(&line)?;
        }
        Ok(())
    }
}
