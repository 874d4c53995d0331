//! A book of values in little more than a byte for two positions: it does not hold the positions.
//!
//! It must hold every position that is ever looked up, since it answers with the value of another one otherwise: those of Quarto with at
//! most four pieces on the board, and those of Four In A Row with eleven discs.

use super::retrieval::{self, Retrieval};

/// The first line of the file. Its number changes whenever keys, values or bytes do.
const HEADER: &[u8; 16] = b"referee book  2\n";

/// A book that is shipped with the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompactBook {
    /// The different values.
    values: &'static [u8],
    /// Which of them a key has.
    numbers: Retrieval<'static>,
}

impl CompactBook {
    /// The book in these bytes; `None` when they were not written by [`to_bytes`].
    pub(super) fn from_bytes(bytes: &'static [u8]) -> Option<Self> {
        let (&count, rest) = bytes.strip_prefix(HEADER)?.split_first()?;
        let (values, numbers) = rest.split_at_checked(usize::from(count))?;
        Some(Self {
            values,
            numbers: Retrieval::from_bytes(numbers)?,
        })
    }

    /// The value of a position by its key, which must be one of the book's.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<u8> {
        self.values.get(usize::from(self.numbers.get(key))).copied()
    }
}

/// The file with these keys and values; `None` when two have the same key, or there are more than 255 different values.
pub(super) fn to_bytes(entries: &[(u64, u8)]) -> Option<Vec<u8>> {
    let mut values: Vec<u8> = entries.iter().map(|&(_, value)| value).collect();
    values.sort_unstable();
    values.dedup();
    let count = u8::try_from(values.len()).ok()?;
    let bits = (u8::BITS - count.saturating_sub(1).leading_zeros()).max(1);
    let mut numbers = [0; 256];
    for (number, &value) in (0..).zip(&values) {
        numbers[usize::from(value)] = number;
    }
    let numbered = entries
        .iter()
        .map(|&(key, value)| (key, numbers[usize::from(value)]));
    let numbered: Vec<_> = numbered.collect();
    let table = retrieval::build(&numbered, bits)?;
    Some([HEADER, &[count][..], &values, &table].concat())
}
