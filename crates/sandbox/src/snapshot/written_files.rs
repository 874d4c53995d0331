//! What the program that uses this crate has written itself: it may lie in a bot's folder, and is not the bot.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;

use referee_host::system::OpenDirectory;

/// How far a page is read for its mark, in bytes.
const PAGE_HEAD: u64 = 4096;

/// How the caller's files are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenFiles {
    /// What its pages have near their start; they are left out.
    pub page_mark: Option<&'static str>,
    /// How its records and tables begin. A bot may use them, so they are given to it; but the program adds to them, and the
    /// shell writes them again, so they do not count.
    pub data_starts: &'static [&'static str],
    /// A folder with a file of one of these names is left out: it may lie beside the bots, and grows while they run.
    pub folder_marks: &'static [&'static str],
}

impl WrittenFiles {
    pub const NONE: Self = Self {
        page_mark: None,
        data_starts: &[],
        folder_marks: &[],
    };

    /// Whether this file is one of the pages.
    pub fn is_page(&self, file: File) -> io::Result<bool> {
        let Some(mark) = self.page_mark else {
            return Ok(false);
        };
        let mut start = Vec::new();
        file.take(PAGE_HEAD).read_to_end(&mut start)?;
        let mut windows = start.windows(mark.len());
        Ok(windows.any(|window| window == mark.as_bytes()))
    }

    pub(super) fn has_page(&self, directory: &OpenDirectory, name: &OsStr) -> bool {
        let is_html = Path::new(name)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("html"));
        let opened = directory.file(name);
        is_html && opened.and_then(|file| self.is_page(file)).unwrap_or(false)
    }

    /// Whether this file is a record or a table. It is read from its start afterwards.
    pub(super) fn is_data(&self, file: &mut File) -> io::Result<bool> {
        let lengths = self.data_starts.iter().map(|start| start.len());
        let longest = lengths.max().unwrap_or(0);
        let mut start = Vec::new();
        file.take(longest as u64).read_to_end(&mut start)?;
        file.rewind()?;
        let mut starts = self.data_starts.iter();
        Ok(starts.any(|mark| start.starts_with(mark.as_bytes())))
    }

    pub(super) fn has_folder(&self, directory: &OpenDirectory, name: &OsStr) -> bool {
        self.folder_marks.iter().any(|mark| {
            let found = directory
                .directory(name)
                .and_then(|inner| inner.file(mark.as_ref())?.metadata());
            found.is_ok_and(|meta| meta.is_file())
        })
    }
}
