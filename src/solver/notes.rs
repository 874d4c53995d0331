//! What is known for good of positions early in the game: the book that comes with the program,
//! and what a solver has proven since, to be saved and read again.
//!
//! A note is eight bytes: 56 bits of the position's hash and the two bounds of its score. Notes
//! in a file are sorted, so that one is found without reading the rest, and follow a line that
//! names the format. The hash covers the rule set; its meaning changes with the version.
//!
//! How sure is that? There are fewer than half a million such positions under both rule sets, so
//! two of them share 56 bits with a probability of two in a million.

use std::collections::HashMap;
use std::fmt;
use std::sync::{PoisonError, RwLock};

use super::score::Span;
use super::symmetry::Hash;

/// Free cells from which positions are noted: at most four pieces on the board.
pub(super) const NOTE_FROM: u8 = 12;

/// The first line of a file of notes. Its number changes whenever keys or bytes do.
const HEADER: &[u8; 16] = b"referee notes 1\n";

const RECORD: usize = 8;

/// The notes shipped with the program, a file a rule set, made by `referee solve --book`.
static BOOKS: [&[u8]; 2] = [
    include_bytes!("book/standard.bin"),
    include_bytes!("book/squares.bin"),
];

/// Notes of one solver.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Sorted records, one file after the other.
    books: [&'static [u8]; 2],
    own: RwLock<HashMap<u64, Span>>,
}

/// Why a file cannot be read as notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadNotes {
    /// It does not begin as notes of this version do.
    Header,
    /// It ends within a note: so many bytes are left over.
    Cut(usize),
    /// This note (from 1) says nothing that can be true.
    Record(usize),
}

impl fmt::Display for BadNotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str(
                "it does not begin with `referee notes 1`: not written by this version's `referee solve`; choose another file, or delete it",
            ),
            Self::Cut(bytes) => write!(
                f,
                "it ends in the middle of a note ({bytes} bytes left over): damaged; delete it"
            ),
            Self::Record(number) => write!(f, "note {number} contradicts itself: damaged; delete it"),
        }
    }
}

impl std::error::Error for BadNotes {}

impl Notes {
    /// No notes.
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// The book.
    pub(super) fn shipped() -> Self {
        Self {
            books: BOOKS.map(|book| book.strip_prefix(HEADER).unwrap_or_default()),
            ..Self::default()
        }
    }

    /// What is noted of a position.
    pub(super) fn get(&self, hash: Hash) -> Option<Span> {
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner);
        let own = own.get(&(hash.check >> 8)).copied();
        match (own, self.in_book(hash.check >> 8)) {
            (Some(own), Some(book)) => Some(own.and(book)),
            (own, book) => own.or(book),
        }
    }

    fn in_book(&self, name: u64) -> Option<Span> {
        self.books.iter().find_map(|book| {
            let (records, _) = book.as_chunks::<RECORD>();
            let at = records
                .binary_search_by_key(&name, |record| u64::from_be_bytes(*record) >> 8)
                .ok()?;
            Some(Span::from_byte(records[at][RECORD - 1]))
        })
    }

    /// Notes what was found out.
    pub(super) fn add(&self, hash: Hash, known: Span) {
        self.insert(hash.check >> 8, known);
    }

    fn insert(&self, name: u64, known: Span) {
        let mut own = self.own.write().unwrap_or_else(PoisonError::into_inner);
        own.entry(name)
            .and_modify(|old| *old = old.and(known))
            .or_insert(known);
    }

    /// All notes but the book's, as a file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner);
        file(own.iter().map(|(name, known)| (*name, *known)))
    }

    /// What is noted of these positions, as a file.
    pub(super) fn some_to_bytes(&self, hashes: impl Iterator<Item = Hash>) -> Vec<u8> {
        file(hashes.filter_map(|hash| Some((hash.check >> 8, self.get(hash)?))))
    }

    /// Adds the notes of a file, and says how many there are.
    pub(super) fn read(&self, bytes: &[u8]) -> Result<usize, BadNotes> {
        let body = bytes.strip_prefix(HEADER).ok_or(BadNotes::Header)?;
        let (records, rest) = body.as_chunks::<RECORD>();
        if !rest.is_empty() {
            return Err(BadNotes::Cut(rest.len()));
        }
        let span = |record: &[u8; RECORD]| Span::from_byte(record[RECORD - 1]);
        if let Some(wrong) = records
            .iter()
            .position(|record| !span(record).is_possible())
        {
            return Err(BadNotes::Record(wrong + 1));
        }
        for record in records {
            self.insert(u64::from_be_bytes(*record) >> 8, span(record));
        }
        Ok(records.len())
    }
}

/// The file of these notes.
fn file(notes: impl Iterator<Item = (u64, Span)>) -> Vec<u8> {
    let mut records: Vec<u64> = notes
        .map(|(name, known)| name << 8 | u64::from(known.to_byte()))
        .collect();
    records.sort_unstable();
    records.dedup();
    let records = records.into_iter().flat_map(u64::to_be_bytes);
    HEADER.iter().copied().chain(records).collect()
}
