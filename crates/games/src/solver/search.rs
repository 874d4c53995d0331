//! Alpha–beta with a null window: is the score at least `beta`?
//!
//! A node is a board with a piece in hand that completes no line. A turn places it and gives another, so the sides
//! alternate from node to node.

use std::sync::atomic::{AtomicU64, Ordering};

use arrayvec::ArrayVec;

use super::bitboard::{Bitboard, Lanes, bits};
use super::evaluation::{Bounds, Score};
use super::limits::LimitCheck;
use super::proof_book::{BOOK_FROM, ProofBook};
use super::symmetry::{Hash, LiveLines, Symmetries};
use super::threats::{Threats, safe_cells};
use super::transposition_table::TranspositionTable;
use crate::game::quarto::Rules;

/// A limit was reached before there was a result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopped;

/// Free cells from which positions are looked up in the transposition table. With fewer, searching is cheaper: the
/// table is larger than any cache, and transpositions are rare.
pub(super) const TT_FROM: u8 = 8;

/// Free cells from which the canonical key is the smallest under all symmetries.
const THOROUGH_FROM: u8 = 9;

/// Nodes between two checks of the limits.
const NODES_PER_CHECK: u64 = 1 << 13;

/// Free cells from which a search uses several threads.
pub(super) const PARALLEL_FROM: u8 = 9;

#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub(super) table: &'a TranspositionTable,
    pub(super) book: &'a ProofBook,
    pub(super) symmetries: &'static Symmetries,
    /// `None` when there is one thread.
    pub(super) searched: Option<&'a CurrentlySearched>,
    pub(super) check: &'a LimitCheck<'a>,
    /// Usually [`TT_FROM`]; tests change it.
    pub(super) tt_from: u8,
}

pub(super) struct Worker<'a, const SQUARES: bool> {
    shared: Shared<'a>,
    nodes: u64,
    checked: u64,
}

/// Of one node: at most 16 cells with 15 gifts each.
#[derive(Default)]
struct SafeTurns {
    /// The board after each placement, and its threats.
    placed: ArrayVec<(Bitboard, Threats), 16>,
    /// Turns that do not lose immediately, each packed into one number: the number of safe replies (the order in
    /// which to try them), the index in `placed`, the gift.
    list: ArrayVec<u32, 240>,
}

impl<'a, const SQUARES: bool> Worker<'a, SQUARES> {
    const RULES: Rules = if SQUARES {
        Rules::Squares
    } else {
        Rules::Standard
    };

    pub(super) const fn new(shared: Shared<'a>) -> Self {
        Self {
            shared,
            nodes: 0,
            checked: 0,
        }
    }

    /// The score of `board` with `n` free cells, as a bound on one side of `beta`: a result of at least `beta` is a
    /// lower bound, one below `beta` is an upper bound.
    pub(super) fn search(
        &mut self,
        board: &Bitboard,
        threats: &Threats,
        hand: u8,
        n: u8,
        beta: Score,
    ) -> Result<Score, Stopped> {
        self.nodes += 1;
        let s = n.cast_signed();
        if n == 1 {
            // The piece was safe to give: the board is full and no side has won.
            return Ok(0);
        }
        let after = threats.after(hand);
        let safe = safe_placements(board, after);
        if safe == 0 {
            return Ok(1 - s);
        }
        // The soonest win is the next placement but one, the soonest loss the one after it.
        let (soonest_win, soonest_loss) = ((s - 2).max(0), -(s - 3).max(0));
        if soonest_win < beta {
            return Ok(soonest_win);
        }
        if soonest_loss >= beta {
            return Ok(soonest_loss);
        }
        // If these placements decide the question, no turn needs a search.
        let (next_win, next_loss) = ((s - 4).max(0), -(s - 5).max(0));
        if beta > 0 && next_win < beta {
            let wins = self.wins_next(board, after, safe, hand);
            return Ok(if wins { soonest_win } else { next_win });
        }
        if beta <= 0 && next_loss >= beta {
            let holds = self.holds_next(board, after, safe, hand);
            return Ok(if holds { next_loss } else { soonest_loss });
        }
        if n < self.shared.tt_from {
            return self.search_turns(board, hand, after, safe, n, beta);
        }
        let live = LiveLines::of::<SQUARES>(board);
        if live.cells(board.free) == 0 {
            return Ok(0);
        }
        let hash = self.hash(board, &live, hand, n);
        if let Some(known) = self.known_bounds(hash, n) {
            let (low, high) = (known.low(n), known.high(n));
            if low >= beta {
                return Ok(low);
            }
            if high < beta {
                return Ok(high);
            }
        }
        let start = self.nodes;
        let best = self.search_turns(board, hand, after, safe, n, beta)?;
        let bounds = if best >= beta {
            Bounds::at_least(best, n)
        } else {
            Bounds::at_most(best, n)
        };
        self.shared.table.put(hash, bounds, self.nodes - start);
        Ok(best)
    }

    /// From the proof book or the transposition table.
    fn known_bounds(&self, hash: Hash, n: u8) -> Option<Bounds> {
        let proven = (n >= BOOK_FROM).then(|| self.shared.book.get(hash.signature, Self::RULES));
        let found = self.shared.table.get(hash).into_iter();
        found.chain(proven.flatten()).reduce(Bounds::and)
    }

    /// Whether some turn leaves no safe turn to the other side: a win at the next placement but one.
    fn wins_next(&mut self, board: &Bitboard, after: [Lanes; 2], safe: u16, hand: u8) -> bool {
        any_safe_turn::<SQUARES>(board, after, safe, hand, |next, threats, gift| {
            self.nodes += 1;
            !has_safe_turn(next, threats, gift)
        })
    }

    /// Whether after some turn the other side has no such win: [`Worker::wins_next`].
    fn holds_next(&mut self, board: &Bitboard, after: [Lanes; 2], safe: u16, hand: u8) -> bool {
        any_safe_turn::<SQUARES>(board, after, safe, hand, |next, threats, gift| {
            self.nodes += 1;
            let after = threats.after(gift);
            let safe = safe_placements(next, after);
            safe == 0 || !self.wins_next(next, after, safe, gift)
        })
    }

    fn hash(&self, board: &Bitboard, live: &LiveLines, hand: u8, n: u8) -> Hash {
        let thorough = n >= THOROUGH_FROM;
        let key = self
            .shared
            .symmetries
            .key::<SQUARES>(board, live, hand, thorough);
        self.shared.symmetries.hash(&key)
    }

    /// A bound on one side of `beta`, as in [`Worker::search`].
    fn search_turns(
        &mut self,
        board: &Bitboard,
        hand: u8,
        after: [Lanes; 2],
        safe: u16,
        n: u8,
        beta: Score,
    ) -> Result<Score, Stopped> {
        if self.nodes - self.checked >= NODES_PER_CHECK {
            self.check_limits()?;
        }
        let s = n.cast_signed();
        let mut turns = SafeTurns::default();
        for (index, cell) in bits(safe).enumerate() {
            let placed = board.place(cell, hand);
            let threats = Threats::of::<SQUARES>(&placed);
            turns.placed.push((placed, threats));
            for gift in bits(board.left) {
                if safe_cells(after, gift, board.free) >> cell & 1 == 0 {
                    continue;
                }
                self.nodes += 1;
                let replies = count_safe_turns(&placed.give(gift), &threats, gift);
                if replies == 0 {
                    return Ok(s - 2);
                }
                turns.add(replies, index, gift);
            }
        }
        let next_win = (s - 4).max(0);
        if next_win < beta {
            return Ok(next_win);
        }
        turns.list.sort_unstable();
        let mut best = 1 - s;
        let searched = self.shared.searched.filter(|_| n > PARALLEL_FROM);
        let mut deferred = ArrayVec::<u32, 240>::new();
        for index in 0..turns.list.len() {
            let (board, threats, gift) = turns.get(turns.list[index]);
            let score = if let Some(searched) = searched {
                let live = LiveLines::of::<SQUARES>(&board);
                let hash = self.hash(&board, &live, gift, n - 1).signature;
                if index > 0 && searched.contains(hash) {
                    deferred.push(turns.list[index]);
                    continue;
                }
                searched.start(hash);
                let score = self.search(&board, &threats, gift, n - 1, 1 - beta);
                searched.finish(hash);
                score?
            } else {
                self.search(&board, &threats, gift, n - 1, 1 - beta)?
            };
            best = best.max(-score);
            if best >= beta {
                return Ok(best);
            }
        }
        // What other threads were searching is in the table by now, or is searched together.
        for turn in &deferred {
            let (board, threats, gift) = turns.get(*turn);
            let score = self.search(&board, &threats, gift, n - 1, 1 - beta)?;
            best = best.max(-score);
            if best >= beta {
                break;
            }
        }
        Ok(best)
    }

    /// Reports the nodes searched since the last check.
    pub(super) fn check_limits(&mut self) -> Result<(), Stopped> {
        let nodes = self.nodes - self.checked;
        self.checked = self.nodes;
        if self.shared.check.may_continue(nodes) {
            Ok(())
        } else {
            Err(Stopped)
        }
    }
}

impl SafeTurns {
    #[inline]
    fn add(&mut self, order: u32, placed: usize, gift: u8) {
        self.list
            .push(order << 8 | (placed as u32) << 4 | u32::from(gift));
    }

    #[inline]
    fn get(&self, turn: u32) -> (Bitboard, Threats, u8) {
        let (board, threats) = self.placed[(turn >> 4 & 15) as usize];
        let gift = (turn & 15) as u8;
        (board.give(gift), threats, gift)
    }
}

/// The cells with a gift that completes no line afterwards.
#[inline]
fn safe_placements(board: &Bitboard, after: [Lanes; 2]) -> u16 {
    bits(board.left)
        .map(|gift| safe_cells(after, gift, board.free))
        .fold(0, |all, cells| all | cells)
}

/// Whether this holds of the board after some turn that completes no line afterwards, with its threats and its gift.
#[inline]
fn any_safe_turn<const SQUARES: bool>(
    board: &Bitboard,
    after: [Lanes; 2],
    safe: u16,
    hand: u8,
    mut holds: impl FnMut(&Bitboard, &Threats, u8) -> bool,
) -> bool {
    bits(safe).any(|cell| {
        let placed = board.place(cell, hand);
        let threats = Threats::of::<SQUARES>(&placed);
        let mut gifts = bits(board.left);
        gifts.any(|gift| {
            let is_safe = safe_cells(after, gift, board.free) >> cell & 1 == 1;
            is_safe && holds(&placed.give(gift), &threats, gift)
        })
    })
}

#[inline]
fn has_safe_turn(board: &Bitboard, threats: &Threats, hand: u8) -> bool {
    let after = threats.after(hand);
    bits(board.left).any(|gift| safe_cells(after, gift, board.free) != 0)
}

pub(super) fn count_safe_turns(board: &Bitboard, threats: &Threats, hand: u8) -> u32 {
    let after = threats.after(hand);
    let mut count = 0;
    // Four sets a count: without an instruction for it, counting bits is expensive.
    let mut four = 0u64;
    let mut room = 4;
    for gift in bits(board.left) {
        if room == 0 {
            count += four.count_ones();
            (four, room) = (0, 4);
        }
        four = four << 16 | u64::from(safe_cells(after, gift, board.free));
        room -= 1;
    }
    count + four.count_ones()
}

/// The positions that threads are searching now, by hash, for Kerrigan's simplified ABDADA: a thread that reaches a
/// position of another one searches its other turns first.
#[derive(Debug)]
pub(super) struct CurrentlySearched([AtomicU64; Self::SLOTS]);

impl CurrentlySearched {
    const SLOTS: usize = 1 << 10;

    pub(super) fn new() -> Self {
        Self([const { AtomicU64::new(0) }; Self::SLOTS])
    }

    const fn slot(&self, hash: u64) -> &AtomicU64 {
        &self.0[hash as usize % Self::SLOTS]
    }

    pub(super) fn contains(&self, hash: u64) -> bool {
        self.slot(hash).load(Ordering::Relaxed) == hash
    }

    pub(super) fn start(&self, hash: u64) {
        self.slot(hash).store(hash, Ordering::Relaxed);
    }

    pub(super) fn finish(&self, hash: u64) {
        let _ = self
            .slot(hash)
            .compare_exchange(hash, 0, Ordering::Relaxed, Ordering::Relaxed);
    }
}
