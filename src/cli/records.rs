//! The file of `--record`: one line a game, appended as soon as the game ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::failure::Failure;
use super::setup::unreadable;
use crate::game::{Game, Side};
use crate::play::Watch;
use crate::series::{Finished, Follow};

/// A file of records, open for appending.
#[derive(Debug)]
pub(super) struct RecordFile {
    path: PathBuf,
    file: File,
    /// Length up to the last complete line; `None` for what is no regular file.
    length: Option<u64>,
}

impl RecordFile {
    /// Opens or makes the file. An incomplete last line, as a crash leaves it, is moved
    /// to `FILE.cut`, so that it is not glued to the next record.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(|error| unreadable(path, &error))?;
        let meta = file.metadata().map_err(|error| unreadable(path, &error))?;
        if !meta.is_file() {
            return Ok(Self {
                path: path.to_owned(),
                file,
                length: None,
            });
        }
        let length = complete_length(&mut file).map_err(|error| unreadable(path, &error))?;
        if length < meta.len() {
            set_aside(path, &mut file, length).map_err(|error| unreadable(path, &error))?;
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            length: Some(length),
        })
    }

    /// Appends a line with its newline, whole or not at all.
    fn append(&mut self, line: &str) -> io::Result<()> {
        match self.file.write_all(line.as_bytes()) {
            Ok(()) => {
                if let Some(length) = &mut self.length {
                    *length += line.len() as u64;
                }
                Ok(())
            }
            Err(error) => {
                if let Some(length) = self.length {
                    // What was written of the line would spoil the next one.
                    self.file.set_len(length)?;
                }
                Err(io::Error::other(format!(
                    "{}: cannot write the record: {error}",
                    self.path.display()
                )))
            }
        }
    }
}

/// Bytes up to and with the last newline.
fn complete_length(file: &mut File) -> io::Result<u64> {
    const BLOCK: u64 = 64 * 1024;
    let mut end = file.metadata()?.len();
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        (&*file).take(end - start).read_to_end(&mut block)?;
        if let Some(newline) = block.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

fn set_aside(path: &Path, file: &mut File, length: u64) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".cut");
    let mut rest = Vec::new();
    file.seek(SeekFrom::Start(length))?;
    file.read_to_end(&mut rest)?;
    let mut target = OpenOptions::new().append(true).create(true).open(&aside)?;
    target.write_all(&rest)?;
    target.write_all(b"\n")?;
    file.set_len(length)?;
    tracing::warn!(
        "{}: the last line was incomplete; its {} bytes are now in {}",
        path.display(),
        rest.len(),
        Path::new(&aside).display()
    );
    Ok(())
}

/// Follows a match for somebody, and writes its records.
pub(super) struct Recorded<F> {
    pub(super) inner: F,
    pub(super) file: Option<RecordFile>,
}

impl<G: Game, F: Watch<G>> Watch<G> for Recorded<F> {
    fn asked(&mut self, side: Side, request: &str) -> io::Result<()> {
        self.inner.asked(side, request)
    }

    fn answered(&mut self, side: Side, line: &[u8], elapsed: Duration) -> io::Result<()> {
        self.inner.answered(side, line, elapsed)
    }

    fn turn(
        &mut self,
        side: Side,
        before: &G::Position,
        turn: G::Turn,
        after: &G::Position,
        elapsed: Duration,
    ) -> io::Result<()> {
        self.inner.turn(side, before, turn, after, elapsed)
    }
}

impl<G: Game, F: Follow<G>> Follow<G> for Recorded<F> {
    fn begins(&mut self, number: u64, bots: [usize; 2], start: &G::Position) -> io::Result<()> {
        self.inner.begins(number, bots, start)
    }

    fn ended(&mut self, finished: &Finished<'_, G>) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            let mut line = finished.record.to_line()?;
            line.push('\n');
            file.append(&line)?;
        }
        self.inner.ended(finished)
    }

    fn benched(&mut self, bot: usize, failures: u32, games_left: u64) -> io::Result<()> {
        self.inner.benched(bot, failures, games_left)
    }
}
