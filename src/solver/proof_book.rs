//! The proof book: bounds of early positions that are kept for good. It consists of the book that
//! is shipped with the program and of what a solver has proven since, to be saved and read again.
//!
//! The shipped book has the bounds of every position (`compact_book`). A record of a file is eight bytes: 56 bits of the position's
//! hash and the two bounds of its score. The records are sorted and follow a line that names the format. The hash
//! covers the rule set; its meaning changes with the version.
//!
//! The probability of an error: there are fewer than half a million such positions under both
//! rule sets, so two of them share 56 bits with a probability of two in a million.

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, PoisonError, RwLock};

use super::compact_book::{self, CompactBook};
use super::score::Bounds;
use super::symmetry::Hash;
use crate::game::quarto::Rules;

/// Free cells from which positions are in the book: at most four pieces on the board.
pub(super) const BOOK_FROM: u8 = 12;

/// The first line of a proof book. Its number changes whenever keys or bytes do.
const HEADER: &[u8; 16] = b"referee notes 1\n";

/// Bytes of a record.
const RECORD: usize = 8;

/// The shipped books, made by `referee solve --book --pack`.
static STANDARD: LazyLock<Option<CompactBook>> =
    LazyLock::new(|| CompactBook::from_bytes(include_bytes!("book/standard.bin")));
static SQUARES: LazyLock<Option<CompactBook>> =
    LazyLock::new(|| CompactBook::from_bytes(include_bytes!("book/squares.bin")));

/// The proof book of one solver.
#[derive(Debug, Default)]
pub(super) struct ProofBook {
    /// The shipped books, by [`book_of`].
    shipped: [Option<CompactBook>; 2],
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
            shipped: [*STANDARD, *SQUARES],
            ..Self::default()
        }
    }

    /// The bounds of an early position: one with at most four pieces on the board and a piece in hand that completes no
    /// line.
    pub(super) fn get(&self, hash: Hash, rules: Rules) -> Option<Bounds> {
        let shipped = self.shipped[book_of(rules)].and_then(|book| book.get(hash.signature));
        let shipped = shipped.map(Bounds::from_byte);
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        let added = added.get(&name(hash)).copied();
        match (added, shipped) {
            (Some(added), Some(shipped)) => Some(added.and(shipped)),
            (added, shipped) => added.or(shipped),
        }
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
    pub(super) fn some_to_bytes(&self, hashes: impl Iterator<Item = (Hash, Rules)>) -> Vec<u8> {
        file(hashes.filter_map(|(hash, rules)| Some((name(hash), self.get(hash, rules)?))))
    }

    /// The bounds of these positions, all different, as a book to be shipped; `None` when two have the same hash.
    pub(super) fn pack(&self, hashes: impl Iterator<Item = Hash>, rules: Rules) -> Option<Vec<u8>> {
        let entries = hashes.map(|hash| {
            let bounds = self.get(hash, rules).unwrap_or(Bounds::UNKNOWN);
            (hash.signature, bounds.to_byte())
        });
        compact_book::to_bytes(&entries.collect::<Vec<_>>())
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

/// Which of the shipped books is for these rules.
const fn book_of(rules: Rules) -> usize {
    match rules {
        Rules::Standard => 0,
        Rules::Squares => 1,
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
