//! A book of values in little more than a byte for two positions: it does not hold the positions.
//!
//! It answers with the value of another position for one that it does not hold, so it must have every position that
//! is looked up. A binary fuse filter that holds values (Graf and Lemire, 2022).

/// Its number changes whenever keys, values or bytes do.
pub(crate) const HEADER: &[u8; 16] = b"referee book  2\n";

#[derive(Clone, Copy, Debug)]
pub(crate) struct CompactBook<'a> {
    values: &'a [u8],
    seed: u64,
    /// A power of two.
    segment: u64,
    /// In which the first slot of a key can be; its others are in the two segments after it.
    segments: u64,
    /// Of a slot; at most eight, so that it lies in two bytes. The slots of a key combined are the number of its value.
    bits: u32,
    slots: &'a [u8],
}

impl<'a> CompactBook<'a> {
    /// `None` when `examples/make_books.rs` did not write them.
    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let (&count, rest) = bytes.strip_prefix(HEADER)?.split_first()?;
        let (values, rest) = rest.split_at_checked(usize::from(count))?;
        let (numbers, rest) = rest.split_first_chunk::<24>()?;
        let number = |at: usize| u64::from_le_bytes(numbers.as_chunks().0[at]);
        let (bits, slots) = rest.split_first_chunk()?;
        let this = Self {
            values,
            seed: number(0),
            segment: number(1),
            segments: number(2),
            bits: u32::from_le_bytes(*bits),
            slots,
        };
        let is_whole = slots_of(this.segment, this.segments)
            .is_some_and(|slots| bytes_of(slots, this.bits) == Some(this.slots.len()));
        let is_possible = this.segment.is_power_of_two() && this.segments > 0 && this.bits <= 8;
        (is_whole && is_possible).then_some(this)
    }

    /// The key must be one of the book's.
    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<u8> {
        let slots = slots(mixed(key, self.seed), self.segment, self.segments);
        let number = slots.into_iter().fold(0, |sum, slot| sum ^ self.slot(slot));
        self.values.get(number).copied()
    }

    #[inline]
    fn slot(&self, slot: usize) -> usize {
        let at = slot * self.bits as usize;
        let pair = u16::from_le_bytes([self.slots[at / 8], self.slots[at / 8 + 1]]);
        usize::from(pair >> (at % 8) & ((1 << self.bits) - 1))
    }
}

pub(crate) fn slots_of(segment: u64, segments: u64) -> Option<usize> {
    usize::try_from(segments.checked_add(2)?.checked_mul(segment)?).ok()
}

/// One more than the contents need, so that two can be read everywhere.
pub(crate) fn bytes_of(slots: usize, bits: u32) -> Option<usize> {
    Some(slots.checked_mul(bits as usize)?.div_ceil(8) + 1)
}

/// Each in a segment of its own.
#[inline]
pub(crate) const fn slots(hash: u64, segment: u64, segments: u64) -> [usize; 3] {
    let first = ((hash as u128 * (segment * segments) as u128) >> 64) as u64;
    let mask = segment - 1;
    let second = (first + segment) ^ (hash >> 18 & mask);
    let third = (first + 2 * segment) ^ (hash & mask);
    [first as usize, second as usize, third as usize]
}

/// The last steps of `MurmurHash3`.
#[inline]
pub(crate) const fn mixed(key: u64, seed: u64) -> u64 {
    let mut hash = key.wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}
