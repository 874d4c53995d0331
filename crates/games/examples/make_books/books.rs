//! The parts of a book: its positions, and how their values are packed.

use std::collections::{BTreeMap, HashMap};

use referee_games::game::Position as _;
use referee_games::game::four_in_a_row;
use referee_games::game::quarto::{Move, Piece, Position, Rules};
use referee_games::solver::book_key;
use referee_games::solver::four_in_a_row::{BOOK_DISCS, book_key as four_key};

use compact_book::{HEADER, bytes_of, mixed, slots_of};

#[expect(clippy::cast_possible_truncation, reason = "slots are few")]
#[path = "../../src/solver/compact_book.rs"]
#[allow(dead_code, reason = "a book is only written here")]
pub(crate) mod compact_book;

/// Seeds that are tried; each fails for less than one set of keys in ten.
const SEEDS: u64 = 64;

/// Positions with a piece in hand after `placed` placements, one of each class under symmetry, those that arise in
/// most ways first. Every board with so many pieces has the key of one of them; positions where the piece in hand
/// wins are left out.
///
/// A few classes may occur twice. Four placements take a second; every further placement takes about twenty times as
/// long and gives about twenty times as many positions.
pub(crate) fn early_positions(rules: Rules, placed: usize) -> Vec<Position> {
    let mut level = vec![(first(rules), 1)];
    for _ in 0..placed {
        level = next_level(&level);
    }
    level.into_iter().map(|(position, _)| position).collect()
}

/// All sixteen gifts are the same under symmetry.
fn first(rules: Rules) -> Position {
    let mut position = Position::new(rules);
    if let Some(piece) = Piece::new(0) {
        let _ = position.play(Move::Give(piece));
    }
    position
}

fn next_level(level: &[(Position, u64)]) -> Vec<(Position, u64)> {
    let mut seen: HashMap<u64, usize> = HashMap::new();
    let mut next: Vec<(Position, u64)> = Vec::new();
    for (position, ways) in level {
        for (_, after) in position.turns() {
            // A finished game has no key: nothing is in hand.
            let Some(key) = book_key(&after) else {
                continue;
            };
            let index = *seen.entry(key).or_insert_with(|| {
                next.push((after, 0));
                next.len() - 1
            });
            next[index].1 += ways;
        }
    }
    next.sort_by_key(|(_, ways)| std::cmp::Reverse(*ways));
    next
}

/// Of Four In A Row, one of each position and its mirror image, by key; neither side wins immediately. With eleven
/// discs it takes a few seconds.
pub(crate) fn four_positions(discs: usize) -> BTreeMap<u64, four_in_a_row::Position> {
    let start = four_in_a_row::Position::default();
    let mut level = BTreeMap::from([(four_key(&start), start)]);
    for _ in 0..discs {
        let after = level
            .values()
            .flat_map(referee_games::game::Position::turns);
        let running = after.filter(|(_, after)| after.outcome().is_none());
        level = running
            .map(|(_, after)| (four_key(&after), after))
            .collect();
    }
    level.retain(|_, position| !position.can_win_at_once());
    level
}

/// The proofs of a file: a line, then nine bytes for each position, its key (the number of the board `own + all +
/// bottom` of the side to move, or of its mirror image if that is smaller, with seven bits a column) and its score, both
/// with the lowest byte first.
pub(crate) fn four_proofs(bytes: &[u8]) -> Result<HashMap<u64, u8>, String> {
    let body = bytes.strip_prefix(b"four in a row 1\n");
    let (records, []) = body.unwrap_or(b"?").as_chunks::<9>() else {
        return Err(format!(
            "these are not proofs of positions with {BOOK_DISCS} discs, as scripts/books/four_in_a_row.py writes them"
        ));
    };
    let proof = |&[ref key @ .., score]: &[u8; 9]| (u64::from_le_bytes(*key), score);
    Ok(records.iter().map(proof).collect())
}

/// `None` when two have the same key, or there are more than 255 different values.
pub(crate) fn pack(entries: &[(u64, u8)]) -> Option<Vec<u8>> {
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

/// Each value is below 2^`bits`. `None` when a key occurs twice.
fn build(entries: &[(u64, u8)], bits: u32) -> Option<Vec<u8>> {
    let (segment, segments) = layout(entries.len());
    let slots = slots_of(segment, segments)?;
    let (seed, order) = (0..SEEDS).find_map(|seed| {
        let order = peeled(entries, seed, segment, segments, slots)?;
        Some((seed, order))
    })?;
    // The key peeled last has a slot that no other before it in this order uses.
    let mut values = vec![0_u8; slots];
    for (index, own) in order.into_iter().rev() {
        let (key, value) = entries[index];
        let of_key = compact_book::slots(mixed(key, seed), segment, segments);
        let others = of_key.iter().filter(|&&slot| slot != own);
        values[own] = others.fold(value, |sum, &slot| sum ^ values[slot]);
    }
    let mut contents = vec![0; bytes_of(slots, bits)?];
    for (slot, value) in values.into_iter().enumerate() {
        let at = slot * bits as usize;
        let [low, high] = (u16::from(value) << (at % 8)).to_le_bytes();
        contents[at / 8] |= low;
        contents[at / 8 + 1] |= high;
    }
    let head = [seed, segment, segments].map(u64::to_le_bytes);
    Some([head.as_flattened(), &bits.to_le_bytes()[..], &contents].concat())
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
    let of = |index: usize| compact_book::slots(mixed(entries[index].0, seed), segment, segments);
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
