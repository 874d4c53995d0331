//! The formats of archives: what their entries say of themselves.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use jiff::Timestamp;
use jiff::civil;
use jiff::tz::TimeZone;
use zip::CompressionMethod;
use zip::result::ZipError;

/// An archive that says it holds more is not read on, so that it cannot keep a referee busy for ever.
const MAX_INFLATED: u64 = 64 << 30;

/// How many bytes may tell of an entry of a tar: they are held in memory.
const MAX_HEADER: u64 = 1 << 20;

/// The format of an archive, by the ending of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Zip,
    Tar,
    TarGz,
    /// One that is not read.
    Other,
}

/// Endings, the longer ones first.
const ENDINGS: [(&str, Format); 11] = [
    (".tar.gz", Format::TarGz),
    (".tar.xz", Format::Other),
    (".tar.bz2", Format::Other),
    (".tar.zst", Format::Other),
    (".tgz", Format::TarGz),
    (".tar", Format::Tar),
    (".zip", Format::Zip),
    (".rar", Format::Other),
    (".7z", Format::Other),
    (".xz", Format::Other),
    (".bz2", Format::Other),
];

/// Splits the name of an archive; `None` if it is none.
pub(super) fn split(name: &str) -> Option<(&str, Format)> {
    ENDINGS.iter().find_map(|&(ending, format)| {
        let start = name.len().checked_sub(ending.len())?;
        let is = name.get(start..)?.eq_ignore_ascii_case(ending);
        (is && start > 0).then(|| (&name[..start], format))
    })
}

/// The format of a file, by its name.
pub(super) fn of_file(path: &Path) -> Option<Format> {
    let (_, format) = split(path.file_name()?.to_str()?)?;
    path.is_file().then_some(format)
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    File,
    Folder,
    /// A link, a device or a pipe.
    Other,
    /// A repository in a repository: its files are elsewhere.
    Repository,
    /// What stands for a file that Git LFS keeps elsewhere.
    Pointer,
    /// A file behind a password.
    Encrypted,
    /// What is damaged.
    Unreadable,
    /// A file whose compression is not read.
    Compressed(CompressionMethod),
    /// A folder with more entries than anybody may have.
    Crowded,
}

/// An entry of an archive.
pub(super) struct Entry<'a> {
    pub(super) path: Vec<u8>,
    pub(super) what: What,
    pub(super) is_executable: bool,
    pub(super) modified: Option<Timestamp>,
    pub(super) content: &'a mut dyn Read,
}

/// Calls `visit` with each entry, until it breaks.
pub(super) fn each(
    archive: &Path,
    format: Format,
    mut visit: impl FnMut(Entry<'_>) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let file = BufReader::new(File::open(archive)?);
    match format {
        Format::Zip => each_of_zip(file, &mut visit),
        Format::Tar => each_of_tar(file, "a tar archive", &mut visit),
        Format::TarGz => {
            let content = MultiGzDecoder::new(file).take(MAX_INFLATED);
            each_of_tar(content, "a tar archive compressed with gzip", &mut visit)
        }
        Format::Other => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "archives of this kind are not read",
        )),
    }
}

/// The error of a crate that reads archives, whose words are for programmers, or of the system.
fn unreadable(expected: &str) -> impl Fn(io::Error) -> io::Error {
    move |error| match error.raw_os_error() {
        Some(_) => error,
        None => io::Error::other(format!("it is not {expected}, or only part of one")),
    }
}

fn each_of_zip(
    file: BufReader<File>,
    visit: &mut dyn FnMut(Entry<'_>) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let failed = unreadable("a zip archive");
    let failed = |error: ZipError| failed(error.into());
    let mut zip = zip::ZipArchive::new(file).map_err(failed)?;
    // The crate knows the last of them only.
    if zip.has_duplicate_names() {
        return Err(io::Error::other("two of its files have one name"));
    }
    for index in 0..zip.len() {
        let (entry, extra) = {
            let raw = zip.by_index_raw(index).map_err(failed)?;
            let what = if raw.is_dir() {
                What::Folder
            } else if raw.encrypted() {
                What::Encrypted
            } else if raw.is_symlink() {
                What::Other
            } else if !zip::SUPPORTED_COMPRESSION_METHODS.contains(&raw.compression()) {
                What::Compressed(raw.compression())
            } else {
                What::File
            };
            let mode = raw.unix_mode().unwrap_or(0);
            // Names are UTF-8 also where programs forget to say so; the old ones are those of DOS.
            let path = match str::from_utf8(raw.name_raw()) {
                Ok(name) => name.as_bytes().to_vec(),
                Err(_) => raw.name().map_err(failed)?.into_owned().into_bytes(),
            };
            let time = raw.last_modified();
            ((path, what, mode & 0o111 != 0, time), raw.extra_data())
        };
        let (path, what, is_executable, time) = entry;
        let modified = extra
            .as_deref()
            .and_then(extended_time)
            .or_else(|| time.and_then(dos_time));
        let mut call = |what, content: &mut dyn Read| {
            visit(Entry {
                path: path.clone(),
                what,
                is_executable,
                modified,
                content,
            })
        };
        let next = if what == What::File {
            match zip.by_index(index) {
                Ok(mut content) => call(what, &mut content)?,
                Err(error @ ZipError::Io(_)) => return Err(failed(error)),
                Err(_) => call(What::Unreadable, &mut io::empty())?,
            }
        } else {
            call(what, &mut io::empty())?
        };
        if next.is_break() {
            break;
        }
    }
    Ok(())
}

/// The time of an "extended timestamp" (0x5455) among the extra fields of an entry: in universal time.
fn extended_time(mut extra: &[u8]) -> Option<Timestamp> {
    while let [a, b, c, d, rest @ ..] = extra {
        let length = usize::from(u16::from_le_bytes([*c, *d]));
        let field = rest.get(..length)?;
        if let (0x5455, [flags, time @ ..]) = (u16::from_le_bytes([*a, *b]), field)
            && flags & 1 != 0
        {
            let seconds = i32::from_le_bytes(*time.first_chunk()?);
            return Timestamp::from_second(seconds.into()).ok();
        }
        extra = rest.get(length..)?;
    }
    None
}

/// The time of DOS, which says no zone: it is taken for universal time.
fn dos_time(time: zip::DateTime) -> Option<Timestamp> {
    let [month, day, hour, minute, second] = [
        time.month(),
        time.day(),
        time.hour(),
        time.minute(),
        time.second(),
    ]
    .map(|part| i8::try_from(part).ok());
    let year = i16::try_from(time.year()).ok()?;
    let time = civil::DateTime::new(year, month?, day?, hour?, minute?, second?, 0).ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// A stream that ends in an error at a place that can be moved.
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
    visit: &mut dyn FnMut(Entry<'_>) -> io::Result<ControlFlow<()>>,
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
            // How long it is in the archive is not known here.
            return Err(io::Error::other("a file in it is stored as sparse"));
        }
        let content = entry.raw_file_position().saturating_add(MAX_HEADER);
        end.set(content);
        if kind.is_pax_global_extensions() {
            continue;
        }
        end.set(content.saturating_add(entry.size()));
        let what = if kind.is_dir() {
            What::Folder
        } else if kind.is_file() || kind.is_contiguous() {
            What::File
        } else {
            What::Other
        };
        let is_executable = header.mode().is_ok_and(|mode| mode & 0o111 != 0);
        let seconds = header
            .mtime()
            .ok()
            .and_then(|time| i64::try_from(time).ok());
        let modified = seconds.and_then(|time| Timestamp::from_second(time).ok());
        let next = visit(Entry {
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
