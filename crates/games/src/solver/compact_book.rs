//! A book of values in little more than a byte for two positions: it does not hold the positions.
//!
//! It answers with the value of another position for one that it does not hold, so it must have every position that
//! is looked up: those of Quarto with at most four pieces, those of Four In A Row with eleven discs.

use std::fmt;

/// Its number changes whenever keys, values or bytes do.
const HEADER: &[u8; 16] = b"referee book  2\n";

/// A book that is shipped with the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompactBook {
    values: &'static [u8],
    /// Which of the values a key has.
    numbers: Retrieval<'static>,
}

impl CompactBook {
    /// `None` when [`to_bytes`] did not write them.
    pub(super) fn from_bytes(bytes: &'static [u8]) -> Option<Self> {
        let (&count, rest) = bytes.strip_prefix(HEADER)?.split_first()?;
        let (values, numbers) = rest.split_at_checked(usize::from(count))?;
        Some(Self {
            values,
            numbers: Retrieval::from_bytes(numbers)?,
        })
    }

    /// The key must be one of the book's.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<u8> {
        self.values.get(usize::from(self.numbers.get(key))).copied()
    }
}

/// `None` when two have the same key, or there are more than 255 different values.
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
    let table = build(&numbered, bits)?;
    Some([HEADER, &[count][..], &values, &table].concat())
}

/// Bytes before the contents of the slots.
const HEAD: usize = 28;

/// So that a value lies in two bytes.
const MOST_BITS: u32 = 8;

/// Seeds that are tried; each fails for less than one set of keys in ten.
const SEEDS: u64 = 64;

#[derive(Clone, Copy)]
struct Retrieval<'a> {
    seed: u64,
    /// A power of two.
    segment: u64,
    /// In which the first slot of a key can be; its others are in the two segments after it.
    segments: u64,
    bits: u32,
    contents: &'a [u8],
}

impl fmt::Debug for Retrieval<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retrieval")
            .field("seed", &self.seed)
            .field("bits", &self.bits)
            .field("bytes", &self.contents.len())
            .finish_non_exhaustive()
    }
}

impl<'a> Retrieval<'a> {
    /// `None` when [`build`] did not write them, or not all of them are there.
    pub(super) fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let (head, contents) = bytes.split_at_checked(HEAD)?;
        let (numbers, last) = head.as_chunks::<8>();
        let [seed, segment, segments] = numbers else {
            return None;
        };
        let this = Self {
            seed: u64::from_le_bytes(*seed),
            segment: u64::from_le_bytes(*segment),
            segments: u64::from_le_bytes(*segments),
            bits: u32::from_le_bytes(last.try_into().ok()?),
            contents,
        };
        let slots = this.segments.checked_add(2)?.checked_mul(this.segment)?;
        let is_possible = this.segment.is_power_of_two()
            && this.segments > 0
            && (1..=MOST_BITS).contains(&this.bits);
        let expected = usize::try_from(slots)
            .ok()
            .and_then(|slots| bytes_of(slots, this.bits));
        (is_possible && expected == Some(contents.len())).then_some(this)
    }

    /// An arbitrary number for a key that is not in the set.
    #[inline]
    pub(super) fn get(&self, key: u64) -> u8 {
        let slots = slots(mixed(key, self.seed), self.segment, self.segments);
        slots.into_iter().fold(0, |sum, slot| sum ^ self.slot(slot))
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "masked to at most eight bits"
    )]
    fn slot(&self, slot: usize) -> u8 {
        let at = slot * self.bits as usize;
        let pair = [self.contents[at / 8], self.contents[at / 8 + 1]];
        (u16::from_le_bytes(pair) >> (at % 8) & ((1 << self.bits) - 1)) as u8
    }
}

/// Each value is below 2^`bits`. `None` when a key occurs twice, or `bits` is not between one and eight.
pub(super) fn build(entries: &[(u64, u8)], bits: u32) -> Option<Vec<u8>> {
    if !(1..=MOST_BITS).contains(&bits) {
        return None;
    }
    let (segment, segments) = layout(entries.len());
    let slots = usize::try_from((segments + 2) * segment).ok()?;
    let (seed, order) = (0..SEEDS).find_map(|seed| {
        let order = peeled(entries, seed, segment, segments, slots)?;
        Some((seed, order))
    })?;
    // The key peeled last has a slot that no other before it in this order uses.
    let mut values = vec![0_u8; slots];
    for (index, own) in order.into_iter().rev() {
        let (key, value) = entries[index];
        let of_key = self::slots(mixed(key, seed), segment, segments);
        let others = of_key.iter().filter(|&&slot| slot != own);
        values[own] = others.fold(value, |sum, &slot| sum ^ values[slot]);
    }
    let mut bytes = Vec::with_capacity(HEAD + bytes_of(slots, bits)?);
    for number in [seed, segment, segments] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(bits.to_le_bytes());
    bytes.resize(HEAD + bytes_of(slots, bits)?, 0);
    let contents = &mut bytes[HEAD..];
    for (slot, value) in values.into_iter().enumerate() {
        let at = slot * bits as usize;
        let [low, high] = (u16::from(value) << (at % 8)).to_le_bytes();
        contents[at / 8] |= low;
        contents[at / 8 + 1] |= high;
    }
    Some(bytes)
}

/// One more than the contents need, so that two can be read everywhere.
fn bytes_of(slots: usize, bits: u32) -> Option<usize> {
    Some(slots.checked_mul(bits as usize)?.div_ceil(8) + 1)
}

/// The length of a segment and the number of segments, by the formulas of the paper.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes, far from the limits of the types"
)]
fn layout(keys: usize) -> (u64, u64) {
    let n = keys.max(2) as f64;
    let exponent = (n.ln() / 3.33_f64.ln() + 2.25).floor().clamp(2.0, 18.0);
    let segment = 1_u64 << exponent as u32;
    let factor = (0.875 + 0.25 * 1e6_f64.ln() / n.ln()).max(1.125);
    let slots = (n * factor).round() as u64;
    (segment, slots.div_ceil(segment).saturating_sub(2).max(1))
}

/// In an order in which each key has a slot that no later one uses, with that slot; `None` when there is none.
fn peeled(
    entries: &[(u64, u8)],
    seed: u64,
    segment: u64,
    segments: u64,
    slots: usize,
) -> Option<Vec<(usize, usize)>> {
    // For each slot, how many keys use it, and the exclusive or of their numbers: where one is left, that is its number.
    let mut users = vec![(0_u32, 0_usize); slots];
    let of = |index: usize| self::slots(mixed(entries[index].0, seed), segment, segments);
    for index in 0..entries.len() {
        for slot in of(index) {
            users[slot].0 += 1;
            users[slot].1 ^= index;
        }
    }
    let mut single: Vec<usize> = (0..slots).filter(|&slot| users[slot].0 == 1).collect();
    let mut order = Vec::with_capacity(entries.len());
    while let Some(own) = single.pop() {
        let (1, index) = users[own] else { continue };
        order.push((index, own));
        for slot in of(index) {
            users[slot].0 -= 1;
            users[slot].1 ^= index;
            if users[slot].0 == 1 {
                single.push(slot);
            }
        }
    }
    (order.len() == entries.len()).then_some(order)
}

/// Each in a segment of its own.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "slots are numbered below the length of a vector"
)]
const fn slots(hash: u64, segment: u64, segments: u64) -> [usize; 3] {
    let first = ((hash as u128 * (segment * segments) as u128) >> 64) as u64;
    let mask = segment - 1;
    let second = (first + segment) ^ (hash >> 18 & mask);
    let third = (first + 2 * segment) ^ (hash & mask);
    [first as usize, second as usize, third as usize]
}

/// The last steps of `MurmurHash3`.
#[inline]
const fn mixed(key: u64, seed: u64) -> u64 {
    let mut hash = key.wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    #[test]
    fn every_key_has_its_value() {
        for n in [0_u64, 1, 2, 3, 10, 100, 5000, 70_000] {
            for bits in [1, 2, 5, 8] {
                let value = |key: u64| {
                    (key.wrapping_mul(7) >> 3).to_le_bytes()[0] & (u8::MAX >> (8 - bits))
                };
                let entries: Vec<_> = (0..n)
                    .map(|i| i * i + 3)
                    .map(|key| (key, value(key)))
                    .collect();
                let bytes = build(&entries, bits).unwrap();
                let read = Retrieval::from_bytes(&bytes).unwrap();
                for (key, value) in entries {
                    assert_eq!(read.get(key), value, "{key} of {n}, {bits} bits");
                }
            }
        }
    }

    #[test]
    fn large_sets_take_little_more_than_their_values() {
        let entries: Vec<_> = (0..200_000_u64)
            .map(|key| (key, key.to_le_bytes()[0] & 3))
            .collect();
        let bytes = build(&entries, 2).unwrap().len();
        assert!(bytes < 200_000 / 4 * 120 / 100, "{bytes}");
    }

    #[test]
    fn a_key_twice_and_values_of_no_or_nine_bits_are_refused() {
        assert_eq!(build(&[(5, 0), (5, 1)], 1), None);
        assert_eq!(build(&[(5, 0)], 0), None);
        assert_eq!(build(&[(5, 0)], 9), None);
    }

    proptest! {
        #[test]
        fn other_bytes_are_refused_or_answered(bytes in prop::collection::vec(any::<u8>(), 0..200), key: u64) {
            if let Some(read) = Retrieval::from_bytes(&bytes) {
                read.get(key);
            }
        }

        #[test]
        fn shortened_bytes_are_refused(cut in 1usize..100) {
            let entries: Vec<_> = (0..1000).map(|key| (key, 1)).collect();
            let bytes = build(&entries, 3).unwrap();
            prop_assert!(Retrieval::from_bytes(&bytes[..bytes.len() - cut]).is_none());
        }
    }
}
