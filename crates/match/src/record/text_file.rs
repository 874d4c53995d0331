//! Files of text that people name, or a referee has written: read whole, within a bound.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use referee_text::size;

/// The largest file that people write, in bytes.
pub const WRITTEN: u64 = 16 << 20;

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

/// The longest file has `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<String> {
    let refused = |problem| io::Error::new(io::ErrorKind::InvalidData, problem);
    let mut bytes = Vec::new();
    open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let limit = size(most);
        let problem = format!("it is longer than {limit}; check that it is the right file");
        return Err(refused(problem));
    }
    String::from_utf8(bytes).map_err(|error| {
        let (good, rest) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        let line = 1 + memchr::memchr_iter(b'\n', good).count();
        let byte = rest.first().unwrap_or(&0);
        refused(format!(
            "line {line}: byte 0x{byte:02x} is not UTF-8; save the file with UTF-8 encoding"
        ))
    })
}
