//! Entries in compressed blocks of a megabyte, for clients that have none.
//!
//! Block ends depend on the entries alone: all clients get the same blocks, each compressed once.

use std::io;

use super::columns::{self, PLAIN};

#[derive(Debug, Default)]
pub(super) struct Blocks {
    ends: Vec<usize>,
    /// Bytes after the last end.
    filled: usize,
}

impl Blocks {
    /// An entry of this size was added; `entries`: their number.
    pub(super) fn grow(&mut self, bytes: usize, entries: usize) {
        self.filled += bytes;
        if self.filled >= PLAIN {
            self.ends.push(entries);
            self.filled = 0;
        }
    }

    /// The first end after this index.
    pub(super) fn end_after(&self, index: usize) -> Option<usize> {
        let before = self.ends.partition_point(|&end| end <= index);
        self.ends.get(before).copied()
    }

    /// Of the block that begins at this index.
    pub(super) fn end_of(&self, index: usize) -> Option<usize> {
        let is_begin = index == 0 || self.ends.binary_search(&index).is_ok();
        is_begin.then(|| self.end_after(index)).flatten()
    }
}

/// Copied entries: games cannot wait for compression.
#[derive(Debug)]
pub struct Block(Vec<Box<str>>);

impl Block {
    pub(super) fn of(entries: &[Box<str>]) -> Self {
        Self(entries.to_vec())
    }

    /// `{"entries": […], "games": "…"}`, the games compressed as in a file.
    pub fn packed(&self) -> io::Result<String> {
        let (games, others) = columns::parted(self.0.iter().map(|entry| &**entry));
        let games = columns::packed(&games)?;
        let others = others.join(",");
        Ok(format!("{{\"entries\":[{others}],\"games\":\"{games}\"}}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_where_they_are_full() {
        let mut blocks = Blocks::default();
        for entry in 1..=25 {
            blocks.grow(PLAIN / 10, entry);
        }
        assert_eq!(blocks.ends, [10, 20]);
        assert_eq!(blocks.end_of(0), Some(10));
        assert_eq!(blocks.end_of(10), Some(20));
        assert_eq!(blocks.end_of(20), None, "it is not full");
        assert_eq!(blocks.end_of(5), None, "none begins there");
        assert_eq!(
            [0, 5, 9].map(|index| blocks.end_after(index)),
            [Some(10); 3]
        );
        assert_eq!(blocks.end_after(10), Some(20));
        assert_eq!(blocks.end_after(22), None);
    }
}
