//! Formats of archives, and their entries.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use jiff::Timestamp;
use zip::ExtraField;
use zip::read::ZipFile;
use zip::result::ZipError;

use crate::league::zone::WrittenTime;
pub(super) use referee_entrants::archive::{ArchiveFormat, split};

/// Reading stops here: an archive must not keep a referee busy forever.
const MAX_INFLATED: u64 = 64 << 30;

const MAX_HEADER: u64 = 1 << 20;

pub(super) fn of_file(path: &Path) -> Option<ArchiveFormat> {
    let (_, format) = split(path.file_name()?.to_str()?)?;
    path.is_file().then_some(format)
}

/// Of a Unix mode: what kind of file it is; 0 where the archive's program did not say.
const FILE_TYPE: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArchiveEntryKind {
    File,
    Folder,
    /// What it is instead, and what to do.
    Refused(Cow<'static, str>),
}

pub(super) const LINK: ArchiveEntryKind = ArchiveEntryKind::Refused(Cow::Borrowed(
    "it is a link or no regular file; put the file itself there",
));

pub(super) struct ArchiveEntry<'a> {
    pub(super) path: Vec<u8>,
    pub(super) what: ArchiveEntryKind,
    pub(super) is_executable: bool,
    pub(super) modified: Option<WrittenTime>,
    pub(super) content: &'a mut dyn Read,
}

/// Until `visit` breaks.
pub(super) fn each(
    archive: &Path,
    format: ArchiveFormat,
    mut visit: impl FnMut(ArchiveEntry<'_>) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let file = BufReader::new(File::open(archive)?);
    match format {
        ArchiveFormat::Zip => each_of_zip(file, &mut visit),
        ArchiveFormat::Tar => each_of_tar(file, "a tar archive", &mut visit),
        ArchiveFormat::TarGz => {
            let content = MultiGzDecoder::new(file).take(MAX_INFLATED);
            each_of_tar(content, "a tar archive compressed with gzip", &mut visit)
        }
        ArchiveFormat::Other => Err(io::Error::other("archives of this kind are not read")),
    }
}

/// Errors of archive readers are worded for programmers; those of the system stay.
fn unreadable(expected: &str) -> impl Fn(io::Error) -> io::Error {
    move |error| match error.raw_os_error() {
        Some(_) => error,
        None => io::Error::other(format!("it is not {expected}, or only part of one")),
    }
}

fn each_of_zip(
    file: BufReader<File>,
    visit: &mut dyn FnMut(ArchiveEntry<'_>) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let failed = unreadable("a zip archive");
    let failed = |error: ZipError| failed(error.into());
    let mut zip = zip::ZipArchive::new(file).map_err(failed)?;
    // The reader knows only the last of them.
    if zip.has_duplicate_names() {
        return Err(io::Error::other("two of its files have one name"));
    }
    for index in 0..zip.len() {
        let head = ZipHead::of(&zip.by_index_raw(index).map_err(failed)?).map_err(failed)?;
        let is_file = head.what == ArchiveEntryKind::File;
        let content = is_file.then(|| zip.by_index(index));
        let (what, mut content): (ArchiveEntryKind, Box<dyn Read>) = match content {
            None => (head.what, Box::new(io::empty())),
            Some(Ok(content)) => (head.what, Box::new(content)),
            Some(Err(error @ ZipError::Io(_))) => return Err(failed(error)),
            Some(Err(_)) => {
                let damaged = ArchiveEntryKind::Refused("it is damaged; make it again".into());
                (damaged, Box::new(io::empty()))
            }
        };
        let next = visit(ArchiveEntry {
            path: head.path,
            what,
            is_executable: head.is_executable,
            modified: head.modified,
            content: &mut *content,
        })?;
        if next.is_break() {
            break;
        }
    }
    Ok(())
}

/// What a zip archive says of an entry.
struct ZipHead {
    path: Vec<u8>,
    what: ArchiveEntryKind,
    is_executable: bool,
    modified: Option<WrittenTime>,
}

impl ZipHead {
    fn of<R: Read>(entry: &ZipFile<'_, R>) -> Result<Self, ZipError> {
        // Names may be UTF-8 without saying so; old ones are in the DOS code page.
        let path = match str::from_utf8(entry.name_raw()) {
            Ok(name) => name.as_bytes().to_vec(),
            Err(_) => entry.name()?.into_owned().into_bytes(),
        };
        Ok(Self {
            path,
            what: what_of_zip(entry),
            is_executable: entry.unix_mode().unwrap_or(0) & 0o111 != 0,
            modified: modified_of_zip(entry),
        })
    }
}

fn what_of_zip<R: Read>(entry: &ZipFile<'_, R>) -> ArchiveEntryKind {
    let kind = entry.unix_mode().unwrap_or(0) & FILE_TYPE;
    let expected = if entry.is_dir() { FOLDER } else { REGULAR };
    if kind != 0 && kind != expected {
        LINK
    } else if entry.is_dir() {
        ArchiveEntryKind::Folder
    } else if entry.encrypted() {
        ArchiveEntryKind::Refused("it has a password; hand it in without one".into())
    } else if !zip::SUPPORTED_COMPRESSION_METHODS.contains(&entry.compression()) {
        let why = format!(
            "it is compressed with {}, which is not read; make the archive again with Deflate, as zip programs do unless \
             told otherwise",
            entry.compression()
        );
        ArchiveEntryKind::Refused(why.into())
    } else {
        ArchiveEntryKind::File
    }
}

fn modified_of_zip<R: Read>(entry: &ZipFile<'_, R>) -> Option<WrittenTime> {
    let extended = entry.extra_data_fields().find_map(|field| match field {
        ExtraField::ExtendedTimestamp(times) => times.mod_time(),
        _ => None,
    });
    // Times before 1970 are negative.
    let extended = extended.map(|time| i64::from(time.cast_signed()));
    let extended = extended.and_then(instant_of);
    // DOS times are those of a clock on a wall.
    extended.or_else(|| {
        let time = entry.last_modified()?.to_string().parse();
        time.map(WrittenTime::Local).ok()
    })
}

fn instant_of(seconds: i64) -> Option<WrittenTime> {
    let time = Timestamp::from_second(seconds).ok();
    time.map(WrittenTime::Instant)
}

/// Fails at a place that can be moved.
struct Bounded<R> {
    stream: R,
    place: u64,
    end: Rc<Cell<u64>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.place >= self.end.get() {
            self.end.set(0);
            return Err(io::ErrorKind::InvalidData.into());
        }
        let count = self.stream.read(buffer)?;
        self.place += count as u64;
        Ok(count)
    }
}

fn each_of_tar(
    stream: impl Read,
    expected: &str,
    visit: &mut dyn FnMut(ArchiveEntry<'_>) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let end = Rc::new(Cell::new(MAX_HEADER));
    let mut tar = tar::Archive::new(Bounded {
        stream,
        place: 0,
        end: Rc::clone(&end),
    });
    let failed = |error| match end.get() {
        0 => io::Error::other("a header in it is longer than 1 MiB"),
        _ => unreadable(expected)(error),
    };
    for entry in tar.entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        let header = entry.header();
        let kind = header.entry_type();
        if kind.is_gnu_sparse() {
            return Err(io::Error::other("a file in it is stored as sparse"));
        }
        let content = entry.raw_file_position().saturating_add(MAX_HEADER);
        end.set(content);
        if kind.is_pax_global_extensions() {
            continue;
        }
        end.set(content.saturating_add(entry.size()));
        let what = if kind.is_dir() {
            ArchiveEntryKind::Folder
        } else if kind.is_file() || kind.is_contiguous() {
            ArchiveEntryKind::File
        } else {
            LINK
        };
        let is_executable = header.mode().is_ok_and(|mode| mode & 0o111 != 0);
        let seconds = header
            .mtime()
            .ok()
            .and_then(|time| i64::try_from(time).ok());
        let modified = seconds.and_then(instant_of);
        let next = visit(ArchiveEntry {
            path: entry.path_bytes().into_owned(),
            what,
            is_executable,
            modified,
            content: &mut entry,
        })?;
        if next.is_break() {
            break;
        }
    }
    Ok(())
}
