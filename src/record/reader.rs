//! The records of a file or a stream, one after the other, in constant memory.
//!
//! A line is complete when its newline is there; what stands behind the last newline is what a
//! crash left, or what is being written just now.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use super::{Record, RecordSummary};

/// The room for reading ahead, in bytes.
const BUFFER: usize = 1 << 17;

/// Reads lines with their numbers.
///
/// ```
/// use referee::record::reader::Reader;
///
/// let file = "{\"v\":1}\n{\"v\":";
/// let mut reader = Reader::new("games.jsonl", file.as_bytes());
/// while let Some(line) = reader.next_line()? {
///     match line.record() {
///         Ok(record) => println!("{}", record.result_line()),
///         Err(error) => println!("{error}"), // with the file, and the number of the line
///     }
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader<R = File> {
    path: PathBuf,
    input: BufReader<R>,
    line: Vec<u8>,
    number: u64,
    position: u64,
    /// `line` holds the beginning of a line whose end is not there yet.
    partial: bool,
}

/// A line of a file of records.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    path: &'a Path,
    number: u64,
    bytes: &'a [u8],
}

/// Why a line holds no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It is the last line, and its end is missing.
    #[error("{path}: line {line} is incomplete and left out")]
    Torn {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u64,
    },
    /// It is something else.
    #[error("{path}: line {line}: {problem}")]
    Damaged {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
}

impl Reader<File> {
    /// Reads the file at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::new(path, File::open(path)?))
    }

    /// The file that is read.
    pub fn file(&self) -> &File {
        self.input.get_ref()
    }
}

impl<R: Read> Reader<R> {
    /// Reads `input`, which messages call `path`.
    pub fn new(path: impl Into<PathBuf>, input: R) -> Self {
        Self {
            path: path.into(),
            input: BufReader::with_capacity(BUFFER, input),
            line: Vec::new(),
            number: 0,
            position: 0,
            partial: false,
        }
    }

    /// What messages call the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes have been read as lines, or as the beginning of one.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// The next line, also an incomplete last one; `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.fill()?;
        self.partial = false;
        Ok((!self.line.is_empty()).then(|| {
            self.number += 1;
            self.current()
        }))
    }

    /// The next complete line; `None` at the end and before an incomplete last line. When the
    /// file has grown, the next call goes on where this one ended.
    pub fn next_complete_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.fill()?;
        self.partial = !self.line.ends_with(b"\n");
        if self.partial {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(self.current()))
    }

    fn fill(&mut self) -> io::Result<()> {
        if !self.partial {
            self.line.clear();
        }
        // After a failure, too, what has been read is kept.
        self.partial = true;
        self.position += self.input.read_until(b'\n', &mut self.line)? as u64;
        Ok(())
    }

    fn current(&self) -> Line<'_> {
        Line {
            path: &self.path,
            number: self.number,
            bytes: &self.line,
        }
    }
}

impl<'a> Line<'a> {
    /// Its number, from 1.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Its bytes, with the newline if it is there.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether its newline is there.
    pub const fn is_complete(&self) -> bool {
        matches!(self.bytes.last(), Some(b'\n'))
    }

    /// The record that it holds.
    pub fn record(&self) -> Result<Record, LineError> {
        Record::from_line(self.bytes).map_err(|problem| self.error(problem))
    }

    /// The summary of the record that it holds.
    pub fn summary(&self) -> Result<RecordSummary<'a>, LineError> {
        RecordSummary::parse(self.bytes).map_err(|problem| self.error(problem))
    }

    /// The error for a problem of this line: that it is torn, if it is.
    pub fn error(&self, problem: String) -> LineError {
        if self.is_complete() {
            self.damaged(problem)
        } else {
            LineError::Torn {
                path: self.path.display().to_string(),
                line: self.number,
            }
        }
    }

    /// The error for a problem of this line, torn or not.
    pub fn damaged(&self, problem: String) -> LineError {
        LineError::Damaged {
            path: self.path.display().to_string(),
            line: self.number,
            problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one piece after the other, and an end of the file after each.
    struct Pieces(Vec<&'static str>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0).as_bytes();
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn a_growing_file_is_read_line_by_line() {
        let pieces = vec!["one\ntw", "", "o", "", "\nthree", "", "\n"];
        let mut reader = Reader::new("file", Pieces(pieces));
        let mut lines = Vec::new();
        for _ in 0..8 {
            while let Some(line) = reader.next_complete_line().unwrap() {
                let text = String::from_utf8_lossy(line.bytes()).into_owned();
                lines.push((line.number(), text));
            }
        }
        let lines: Vec<_> = lines.iter().map(|(n, line)| (*n, line.as_str())).collect();
        assert_eq!(lines, [(1, "one\n"), (2, "two\n"), (3, "three\n")]);
        assert_eq!(reader.position(), 14);
    }

    #[test]
    fn an_incomplete_last_line_is_told_from_a_damaged_one() {
        let mut reader = Reader::new("file", "{}\n{".as_bytes());
        let damaged = reader.next_line().unwrap().unwrap().summary().unwrap_err();
        assert!(matches!(damaged, LineError::Damaged { line: 1, .. }));
        let torn = reader.next_line().unwrap().unwrap().summary().unwrap_err();
        assert_eq!(torn.to_string(), "file: line 2 is incomplete and left out");
        assert!(reader.next_line().unwrap().is_none());
        assert!(reader.next_line().unwrap().is_none());
    }
}
