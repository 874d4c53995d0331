//! The proof book: bounds of early positions that are kept for good. It consists of the book that
//! is shipped with the program and of what a solver has proven since, to be saved and read again.
//!
//! A record is eight bytes: 56 bits of the position's hash and the two bounds of its score. The
//! records of a file are sorted, so that one is found without reading the rest, and follow a line
//! that names the format. The hash covers the rule set; its meaning changes with the version.
//!
//! The probability of an error: there are fewer than half a million such positions under both
//! rule sets, so two of them share 56 bits with a probability of two in a million.

use std::collections::HashMap;
use std::fmt;
use std::sync::{PoisonError, RwLock};

use super::score::Bounds;
use super::symmetry::Hash;

/// Free cells from which positions are in the book: at most four pieces on the board.
pub(super) const BOOK_FROM: u8 = 12;

/// The first line of a proof book. Its number changes whenever keys or bytes do.
const HEADER: &[u8; 16] = b"referee notes 1\n";

/// Bytes of a record.
const RECORD: usize = 8;

/// The shipped books, a file for each rule set, made by `referee solve --book`.
static SHIPPED: [&[u8]; 2] = [
    include_bytes!("book/standard.bin"),
    include_bytes!("book/squares.bin"),
];

/// The proof book of one solver.
#[derive(Debug, Default)]
pub(super) struct ProofBook {
    /// Sorted records of the shipped files.
    shipped: [&'static [u8]; 2],
    /// What was proven or read since, by hash.
    added: RwLock<HashMap<u64, Bounds>>,
}

/// Why a file cannot be read as a proof book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofBookError {
    /// It does not begin with the header of this version.
    Header,
    /// It ends within a record: so many bytes are left over.
    Truncated(usize),
    /// The bounds of this record (from 1) contradict each other.
    Record(usize),
}

impl fmt::Display for ProofBookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str(
                "it does not begin with `referee notes 1`: not written by this version's `referee solve`; choose another file, or delete it",
            ),
            Self::Truncated(bytes) => write!(
                f,
                "it ends in the middle of a note ({bytes} bytes left over): damaged; delete it"
            ),
            Self::Record(number) => write!(f, "note {number} contradicts itself: damaged; delete it"),
        }
    }
}

impl std::error::Error for ProofBookError {}

impl ProofBook {
    /// A book without any positions.
    pub(super) fn empty() -> Self {
        Self::default()
    }

    /// The shipped book.
    pub(super) fn shipped() -> Self {
        Self {
            shipped: SHIPPED.map(|book| book.strip_prefix(HEADER).unwrap_or_default()),
            ..Self::default()
        }
    }

    /// The bounds of a position, when it is in the book.
    pub(super) fn get(&self, hash: Hash) -> Option<Bounds> {
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        let added = added.get(&name(hash)).copied();
        match (added, self.in_shipped(name(hash))) {
            (Some(added), Some(shipped)) => Some(added.and(shipped)),
            (added, shipped) => added.or(shipped),
        }
    }

    fn in_shipped(&self, name: u64) -> Option<Bounds> {
        self.shipped.iter().find_map(|book| {
            let (records, _) = book.as_chunks::<RECORD>();
            let at = records
                .binary_search_by_key(&name, |record| u64::from_be_bytes(*record) >> 8)
                .ok()?;
            Some(Bounds::from_byte(records[at][RECORD - 1]))
        })
    }

    /// Adds the bounds of a position.
    pub(super) fn add(&self, hash: Hash, bounds: Bounds) {
        self.insert(name(hash), bounds);
    }

    fn insert(&self, name: u64, bounds: Bounds) {
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        added
            .entry(name)
            .and_modify(|old| *old = old.and(bounds))
            .or_insert(bounds);
    }

    /// Everything but the shipped book, as a file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        file(added.iter().map(|(name, bounds)| (*name, *bounds)))
    }

    /// These positions, as far as they are in the book, as a file.
    pub(super) fn some_to_bytes(&self, hashes: impl Iterator<Item = Hash>) -> Vec<u8> {
        file(hashes.filter_map(|hash| Some((name(hash), self.get(hash)?))))
    }

    /// Adds the records of a file, and returns their number. After an error nothing was added.
    pub(super) fn read(&self, bytes: &[u8]) -> Result<usize, ProofBookError> {
        let body = bytes.strip_prefix(HEADER).ok_or(ProofBookError::Header)?;
        let (records, rest) = body.as_chunks::<RECORD>();
        if !rest.is_empty() {
            return Err(ProofBookError::Truncated(rest.len()));
        }
        let bounds = |record: &[u8; RECORD]| Bounds::from_byte(record[RECORD - 1]);
        if let Some(wrong) = records
            .iter()
            .position(|record| !bounds(record).is_possible())
        {
            return Err(ProofBookError::Record(wrong + 1));
        }
        for record in records {
            self.insert(u64::from_be_bytes(*record) >> 8, bounds(record));
        }
        Ok(records.len())
    }
}

/// The file with these records.
fn file(proofs: impl Iterator<Item = (u64, Bounds)>) -> Vec<u8> {
    let mut records: Vec<u64> = proofs
        .map(|(name, bounds)| name << 8 | u64::from(bounds.to_byte()))
        .collect();
    records.sort_unstable();
    records.dedup();
    let records = records.into_iter().flat_map(u64::to_be_bytes);
    HEADER.iter().copied().chain(records).collect()
}

/// The part of a position's hash that a record holds.
const fn name(hash: Hash) -> u64 {
    hash.signature >> 8
}
