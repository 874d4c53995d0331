//! The records of a file or a stream, one after the other, in constant memory.
//!
//! Bytes after the last newline were left by a crash, or are being written at this moment. Empty lines are passed over.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use super::{Record, RecordSummary, text_file};
use crate::text::size;

/// In bytes.
const BUFFER: usize = 1 << 17;

/// In bytes: more than a record of any game, and little enough to be held.
const MAX_LINE: usize = 16 << 20;

/// Yields each line with its number, from 1.
#[derive(Debug)]
pub struct Reader<R = File> {
    path: PathBuf,
    input: BufReader<R>,
    line: Vec<u8>,
    number: u64,
    position: u64,
    /// Whether `line` holds the beginning of a line that is not complete yet.
    partial: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    path: &'a Path,
    number: u64,
    bytes: &'a [u8],
}

#[derive(Debug, Default)]
pub struct Lines {
    path: PathBuf,
    bytes: Vec<u8>,
    /// The number of each line, and where it ends.
    ends: Vec<(u64, usize)>,
}

impl Lines {
    pub fn iter(&self) -> impl Iterator<Item = Line<'_>> {
        let mut start = 0;
        self.ends.iter().map(move |&(number, end)| {
            let bytes = &self.bytes[start..end];
            start = end;
            Line {
                path: &self.path,
                number,
                bytes,
            }
        })
    }
}

/// Why a line is not a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: line {line}{}", self.words())]
pub struct LineError {
    path: String,
    /// From 1.
    pub line: u64,
    /// `None`: it is the last line, and its end is missing.
    pub problem: Option<String>,
}

impl LineError {
    fn words(&self) -> String {
        let problem = self.problem.as_ref();
        let torn = || " is incomplete and left out".to_owned();
        problem.map_or_else(torn, |problem| format!(": {problem}"))
    }
}

impl Reader<File> {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::new(path, text_file::open(path)?))
    }

    pub fn file(&self) -> &File {
        self.input.get_ref()
    }
}

impl<R: Read> Reader<R> {
    /// Messages name `input` by `path`.
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

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the lines read so far, complete or not.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// The next line, even an incomplete last one; `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.fill()?;
        self.partial = false;
        Ok((!is_blank(&self.line)).then(|| self.current()))
    }

    /// Replaces `lines` by the next ones, of so many bytes or a few more. When a line cannot be read, those before it are
    /// there.
    pub fn next_lines(&mut self, lines: &mut Lines, bytes: usize) -> io::Result<()> {
        lines.path.clone_from(&self.path);
        lines.bytes.clear();
        lines.ends.clear();
        while lines.bytes.len() < bytes {
            let Some(line) = self.next_line()? else {
                break;
            };
            lines.bytes.extend_from_slice(line.bytes);
            lines.ends.push((line.number, lines.bytes.len()));
        }
        Ok(())
    }

    /// `None` at the end and before an incomplete last line. When the file has grown, the next call continues there.
    pub fn next_complete_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.fill()?;
        self.partial = !self.line.ends_with(b"\n");
        if self.partial {
            return Ok(None);
        }
        Ok(Some(self.current()))
    }

    /// Reads until `line` is not empty, or to the end.
    fn fill(&mut self) -> io::Result<()> {
        loop {
            if !self.partial {
                self.line.clear();
            }
            // After a failure, the bytes that have been read are kept.
            self.partial = true;
            let room = (MAX_LINE - self.line.len()) as u64;
            let mut input = self.input.by_ref().take(room);
            self.position += input.read_until(b'\n', &mut self.line)? as u64;
            if self.line.len() == MAX_LINE && !self.line.ends_with(b"\n") {
                return Err(self.too_long());
            }
            if !self.line.ends_with(b"\n") || !is_blank(&self.line) {
                return Ok(());
            }
            self.number += 1;
            self.partial = false;
        }
    }

    fn too_long(&self) -> io::Error {
        let (number, limit) = (self.number + 1, size(MAX_LINE as u64));
        let expected = "expected a record, a JSON object on one line";
        let problem = format!("line {number} is longer than {limit}; {expected}");
        io::Error::new(io::ErrorKind::InvalidData, problem)
    }

    fn current(&mut self) -> Line<'_> {
        self.number += 1;
        Line {
            path: &self.path,
            number: self.number,
            bytes: &self.line,
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

impl<'a> Line<'a> {
    /// From 1.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// The line with its newline, if it has one.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub const fn is_complete(&self) -> bool {
        matches!(self.bytes.last(), Some(b'\n'))
    }

    pub fn record(&self) -> Result<Record, LineError> {
        Record::from_line(self.bytes).map_err(|problem| self.error(problem))
    }

    pub fn summary(&self) -> Result<RecordSummary<'a>, LineError> {
        RecordSummary::parse(self.bytes).map_err(|problem| self.error(problem))
    }

    /// The error for a problem of this line, or that the line is incomplete, if it is.
    pub fn error(&self, problem: String) -> LineError {
        let mut error = self.damaged(problem);
        error.problem = error.problem.filter(|_| self.is_complete());
        error
    }

    /// The error for a problem of this line, complete or not.
    pub fn damaged(&self, problem: String) -> LineError {
        LineError {
            path: self.path.display().to_string(),
            line: self.number,
            problem: Some(problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One piece for each read.
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
    fn blank_lines_are_passed_over_and_counted() {
        let text = "\none\n \n\ntwo\n\n\r\n  ";
        let mut reader = Reader::new("file", text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            lines.push((line.number(), line.bytes().trim_ascii().to_owned()));
        }
        assert_eq!(lines, [(2, b"one".to_vec()), (5, b"two".to_vec())]);
        let growing = vec!["one\n\n", "", "\n", "", "two", "", "\n\n"];
        let mut reader = Reader::new("file", Pieces(growing));
        let mut numbers = Vec::new();
        for _ in 0..8 {
            while let Some(line) = reader.next_complete_line().unwrap() {
                numbers.push(line.number());
            }
        }
        assert_eq!(numbers, [1, 4]);
    }

    proptest! {
        /// Wherever the buffer ends.
        #[test]
        fn many_lines_are_each_line(
            text in "(a{1,6}|é| |\r|\n){0,60}",
            (buffer, bytes) in (1..9_usize, 1..30_usize),
        ) {
            let reader = || Reader {
                input: BufReader::with_capacity(buffer, text.as_bytes()),
                ..Reader::new("file", text.as_bytes())
            };
            let (mut one, mut single) = (reader(), Vec::new());
            while let Some(line) = one.next_line().unwrap() {
                single.push((line.number(), line.bytes().to_owned()));
            }
            let (mut many, mut together, mut lines) = (reader(), Vec::new(), Lines::default());
            loop {
                many.next_lines(&mut lines, bytes).unwrap();
                if lines.ends.is_empty() {
                    break;
                }
                together.extend(lines.iter().map(|line| (line.number(), line.bytes().to_owned())));
                prop_assert!(lines.bytes.len() < bytes + text.len());
            }
            prop_assert_eq!(together, single);
            prop_assert_eq!(many.position(), one.position());
        }
    }

    #[test]
    fn an_incomplete_last_line_is_not_a_damaged_one() {
        let mut reader = Reader::new("file", "{}\n{".as_bytes());
        let damaged = reader.next_line().unwrap().unwrap().summary().unwrap_err();
        assert!(damaged.line == 1 && damaged.problem.is_some());
        let torn = reader.next_line().unwrap().unwrap().summary().unwrap_err();
        assert_eq!(torn.to_string(), "file: line 2 is incomplete and left out");
        assert!(reader.next_line().unwrap().is_none());
        assert!(reader.next_line().unwrap().is_none());
    }
}
