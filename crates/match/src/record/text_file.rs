//! Files of text that people name, or a referee has written: read whole, within a bound.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use referee_text::size;

/// The largest file that people write, in bytes.
const WRITTEN: u64 = 16 << 20;

/// Of a file that a referee keeps of a tournament or a league, in bytes: a plan has all pairings of a round.
pub const KEPT: u64 = 1 << 30;

pub fn open(path: &Path) -> io::Result<File> {
    // Not every system reports a directory itself.
    File::open(path).map_err(|error| {
        if path.is_dir() {
            io::ErrorKind::IsADirectory.into()
        } else {
            error
        }
    })
}

/// `None` for what does not exist.
pub fn if_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// A file that people write.
pub fn read_written(path: &Path) -> io::Result<String> {
    let text = read(path, WRITTEN)?;
    // Letters of UTF-16 without a mark at the beginning are valid UTF-8, with zeros between them.
    match text.find('\0') {
        None => Ok(text),
        Some(place) => Err(not_utf_8(text.as_bytes(), place)),
    }
}

fn refused(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

fn not_utf_8(bytes: &[u8], place: usize) -> io::Error {
    let (good, rest) = bytes.split_at(place);
    let line = 1 + memchr::memchr_iter(b'\n', good).count();
    let byte = rest.first().unwrap_or(&0);
    let what = if *byte == 0 { "text" } else { "UTF-8" };
    refused(format!(
        "line {line}: byte 0x{byte:02x} is not {what}; save the file with UTF-8 encoding"
    ))
}

/// The longest file has `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let limit = size(most);
        let problem = format!("it is longer than {limit}; check that it is the right file");
        return Err(refused(problem));
    }
    String::from_utf8(bytes)
        .map_err(|error| not_utf_8(error.as_bytes(), error.utf8_error().valid_up_to()))
}
