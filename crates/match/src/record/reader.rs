//! The records of a file or a stream, one after the other, in constant memory.
//!
//! Bytes after the last newline were left by a crash, or are being written at this moment. Empty lines are passed over, and
//! so is a byte order mark at the beginning, as editors write one.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use super::problem::MAX_LINE;
use super::{LineProblem, Record, RecordSummary, text_file};
use referee_text::unreadable;

/// In bytes.
const BUFFER: usize = 1 << 17;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What follows a byte order mark at the beginning of a file.
pub fn without_mark(start: &[u8]) -> &[u8] {
    start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start)
}

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
pub struct RecordLine<'a> {
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
    pub fn iter(&self) -> impl Iterator<Item = RecordLine<'_>> {
        let mut start = 0;
        self.ends.iter().map(move |&(number, end)| {
            let bytes = &self.bytes[start..end];
            start = end;
            RecordLine {
                path: &self.path,
                number,
                bytes,
            }
        })
    }
}

/// Why a line is not a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {problem}", .path.display())]
pub struct LineError {
    pub path: PathBuf,
    /// From 1.
    pub line: u64,
    pub problem: LineProblem,
}

impl LineError {
    /// Whether it is the last line and its end is missing: no damage, and left out.
    pub fn is_torn(&self) -> bool {
        self.problem == LineProblem::Torn
    }
}

/// Why no more lines can be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{}", unreadable(.path, .error))]
    Io { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Line(#[from] LineError),
}

impl Reader<File> {
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let file = text_file::open(path).map_err(|error| ReadError::Io {
            path: path.to_owned(),
            error,
        })?;
        Ok(Self::new(path, file))
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
    pub fn next_line(&mut self) -> Result<Option<RecordLine<'_>>, ReadError> {
        self.fill()?;
        self.partial = false;
        Ok((!is_blank(&self.line)).then(|| self.counted()))
    }

    /// Replaces `lines` by the next ones, of so many bytes or a few more. When a line cannot be read, those before it are
    /// there.
    pub fn next_lines(&mut self, lines: &mut Lines, bytes: usize) -> Result<(), ReadError> {
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
    pub fn next_complete_line(&mut self) -> Result<Option<RecordLine<'_>>, ReadError> {
        self.fill()?;
        self.partial = !self.line.ends_with(b"\n");
        if self.partial {
            return Ok(None);
        }
        Ok(Some(self.counted()))
    }

    /// Reads until `line` is not empty, or to the end.
    fn fill(&mut self) -> Result<(), ReadError> {
        loop {
            if !self.partial {
                self.line.clear();
            }
            // After a failure, the bytes that have been read are kept.
            self.partial = true;
            let room = (MAX_LINE - self.line.len()) as u64;
            let mut input = self.input.by_ref().take(room);
            let read = input.read_until(b'\n', &mut self.line);
            self.position += read.map_err(|error| self.unreadable(error))? as u64;
            if self.line.len() == MAX_LINE && !self.line.ends_with(b"\n") {
                self.number += 1;
                return Err(self.current().damaged(LineProblem::TooLong).into());
            }
            if self.number == 0 && self.line.starts_with(BYTE_ORDER_MARK) {
                self.line.drain(..BYTE_ORDER_MARK.len());
            }
            if !self.line.ends_with(b"\n") || !is_blank(&self.line) {
                return Ok(());
            }
            self.number += 1;
            self.partial = false;
        }
    }

    fn unreadable(&self, error: io::Error) -> ReadError {
        ReadError::Io {
            path: self.path.clone(),
            error,
        }
    }

    fn counted(&mut self) -> RecordLine<'_> {
        self.number += 1;
        self.current()
    }

    fn current(&self) -> RecordLine<'_> {
        RecordLine {
            path: &self.path,
            number: self.number,
            bytes: &self.line,
        }
    }
}

/// The records of a file, and errors for lines that are none. After an error of the file, or a line that is too long, there
/// are no more. An incomplete last line, as a crash leaves it, is left out.
#[derive(Debug)]
pub struct Records<R = File> {
    reader: Option<Reader<R>>,
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = match self.reader.as_mut()?.next_line() {
            Ok(Some(line)) if line.torn().is_none() => {
                return Some(line.record().map_err(ReadError::from));
            }
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        };
        self.reader = None;
        read
    }
}

/// ```
/// use referee_match::record::reader::Reader;
///
/// let text = "what?\n";
/// let mut records = Reader::new("games.jsonl", text.as_bytes()).into_iter();
/// let error = records.next().expect("a line").expect_err("it is not a record");
/// assert!(error.to_string().starts_with("games.jsonl:1: "));
/// assert!(records.next().is_none());
/// ```
impl<R: Read> IntoIterator for Reader<R> {
    type Item = Result<Record, ReadError>;
    type IntoIter = Records<R>;

    fn into_iter(self) -> Records<R> {
        Records { reader: Some(self) }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

impl<'a> RecordLine<'a> {
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

    /// If it is the last line of a file and its end is missing.
    pub fn torn(&self) -> Option<LineError> {
        let is_last = !self.is_complete();
        let error = is_last.then(|| self.summary().err()).flatten();
        error.filter(LineError::is_torn)
    }

    /// The error for a problem of this line; that it is torn, if that is what it says.
    pub fn error(&self, problem: impl Into<LineProblem>) -> LineError {
        let problem = problem.into();
        let is_torn = !self.is_complete() && problem.may_be_torn();
        self.damaged(if is_torn { LineProblem::Torn } else { problem })
    }

    fn damaged(&self, problem: LineProblem) -> LineError {
        LineError {
            path: self.path.to_owned(),
            line: self.number,
            problem,
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

    /// A line, after which the disk fails.
    struct Failing(bool);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, true) {
                return Err(io::Error::other("the disk"));
            }
            buffer[..2].copy_from_slice(b"x\n");
            Ok(2)
        }
    }

    #[test]
    fn records_end_where_nothing_can_be_read() {
        let good = r#"{"v":1,"game":"quarto","rules":"standard","id":"7-1","bots":[{"name":"a","command":["a"]},{"name":"b","command":["b"]}],"first":0,"seed":7,"start":"................","turns":["- K"],"times_ms":[1.2],"result":{"winner":0,"reason":"timeout","by":1},"started":"2026-01-31T10:00:00Z"}"#;
        let text = format!("{good}\nwrong\n\n{good}\n{}", &good[..40]);
        let records = Reader::new("file", text.as_bytes()).into_iter();
        let found: Vec<_> = records.map(|record| record.is_ok()).collect();
        assert_eq!(found, [true, false, true]);
        let complete = Reader::new("file", good.as_bytes()).into_iter();
        assert_eq!(complete.flatten().count(), 1);

        let mut records = Reader::new("file", Failing(false)).into_iter();
        assert!(matches!(records.next(), Some(Err(ReadError::Line(_)))));
        assert!(matches!(records.next(), Some(Err(ReadError::Io { .. }))));
        assert!(records.next().is_none());
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
        assert!(damaged.line == 1 && !damaged.is_torn());
        let torn = reader.next_line().unwrap().unwrap().summary().unwrap_err();
        assert!(torn.is_torn(), "{torn}");
        assert_eq!(torn.to_string(), "file:2: incomplete last line, left out");
        assert!(reader.next_line().unwrap().is_none());
        assert!(reader.next_line().unwrap().is_none());
        // Only a part of a record is: this is all of something else.
        let mut reader = Reader::new("file", "[]".as_bytes());
        let other = reader.next_line().unwrap().unwrap().summary().unwrap_err();
        assert!(!other.is_torn(), "{other}");
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_beginning_only() {
        let text = "\u{feff}one\n\u{feff}two\n";
        let mut reader = Reader::new("file", text.as_bytes());
        assert_eq!(reader.next_line().unwrap().unwrap().bytes(), b"one\n");
        let second = reader.next_line().unwrap().unwrap();
        assert_eq!(second.bytes(), "\u{feff}two\n".as_bytes());
        assert_eq!(reader.position(), text.len() as u64);
        // As it comes, and before an empty line.
        for pieces in [
            vec!["\u{feff}", "", "on", "", "e\n"],
            vec!["\u{feff}\n", "", "one\n"],
        ] {
            let mut reader = Reader::new("file", Pieces(pieces));
            let found = (0..4).find_map(|_| {
                let line = reader.next_complete_line().unwrap()?;
                Some(line.bytes().to_vec())
            });
            assert_eq!(found.unwrap(), b"one\n");
        }
    }
}
