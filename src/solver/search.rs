//! Alpha–beta with a null window: is the score at least so much?
//!
//! A node is a board with a piece in hand that completes no line (a gift that completes one is
//! never searched: it loses at once). A turn places it and gives another, so the sides alternate
//! from node to node and scores change their sign. That holds for nodes only: who gives is who
//! has just placed.
#![expect(
    clippy::cast_possible_truncation,
    reason = "indices of cells, pieces and turns are small"
)]

use arrayvec::ArrayVec;

use super::board::{Alive, Board, Threats, bits, safe_cells};
use super::limits::Watch;
use super::notes::{NOTE_FROM, Notes};
use super::parallel::Busy;
use super::score::{Score, Span};
use super::symmetry::{Hash, Symmetries};
use super::table::Table;

/// The search was told to stop before it had an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopped;

/// With fewer free cells, searching is cheaper than looking up: the table is larger than any
/// cache, and positions so late seldom come twice.
pub(super) const LOOK_UP_FROM: u8 = 8;

/// From here on all symmetries are tried to find a position in the table.
const THOROUGH_FROM: u8 = 9;

/// Nodes between two looks at the clock.
const LOOK_AT_CLOCK: u64 = 1 << 13;

/// From here on threads tell each other where they are.
pub(super) const TOGETHER_FROM: u8 = 9;

/// What the threads on one question have in common.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub(super) table: &'a Table,
    pub(super) notes: &'a Notes,
    pub(super) symmetries: &'static Symmetries,
    /// `None` when there is one thread.
    pub(super) busy: Option<&'a Busy>,
    pub(super) watch: &'a Watch<'a>,
    /// Usually [`LOOK_UP_FROM`]; tests look up earlier.
    pub(super) look_up_from: u8,
}

/// One thread's search.
pub(super) struct Worker<'a, const SQUARES: bool> {
    shared: Shared<'a>,
    /// Free cells of the position asked about.
    root: u8,
    nodes: u64,
    /// Nodes at the last look at the clock.
    told: u64,
}

/// Turns of one node: at most 16 cells with 15 gifts each.
#[derive(Default)]
struct Turns {
    /// The board after each placement, and what it threatens.
    placed: ArrayVec<(Board, Threats), 16>,
    /// The turns that do not lose at once, one number each: the order in which to try them, the
    /// index in `placed`, the gift.
    list: ArrayVec<u32, 240>,
}

impl<'a, const SQUARES: bool> Worker<'a, SQUARES> {
    pub(super) const fn new(shared: Shared<'a>, root: u8) -> Self {
        Self {
            shared,
            root,
            nodes: 0,
            told: 0,
        }
    }

    /// Whether the score of `board` with `hand` in hand is at least `beta`: a score of at least
    /// `beta` is a lower bound, one below is an upper bound.
    pub(super) fn search(
        &mut self,
        board: &Board,
        threats: &Threats,
        hand: u8,
        n: u8,
        beta: Score,
    ) -> Result<Score, Stopped> {
        self.nodes += 1;
        let s = n.cast_signed();
        if n == 1 {
            // The piece was safe to give: the board is full and nobody has won.
            return Ok(0);
        }
        let after = threats.after(hand);
        let safe = safe_turns(board, after);
        if safe == 0 {
            return Ok(1 - s);
        }
        // Nothing is won before the next placement but one, nothing lost before the third.
        let (soonest_win, soonest_loss) = ((s - 2).max(0), -(s - 3).max(0));
        if soonest_win < beta {
            return Ok(soonest_win);
        }
        if soonest_loss >= beta {
            return Ok(soonest_loss);
        }
        // The next placements but one and but two: if they decide, no turn needs a search.
        let (next_win, next_loss) = ((s - 4).max(0), -(s - 5).max(0));
        if beta > 0 && next_win < beta {
            let wins = self.wins_next(board, after, safe, hand);
            return Ok(if wins { soonest_win } else { next_win });
        }
        if beta <= 0 && next_loss >= beta {
            let holds = self.holds_next(board, after, safe, hand);
            return Ok(if holds { next_loss } else { soonest_loss });
        }
        if n < self.shared.look_up_from {
            return self.turns(board, hand, after, safe, n, beta);
        }
        let alive = Alive::of::<SQUARES>(board);
        if alive.cells(board.free) == 0 {
            return Ok(0);
        }
        let place = self.hash(board, &alive, hand, n);
        if let Some(known) = self.known(place, n) {
            let (low, high) = (known.low(n), known.high(n));
            if low >= beta {
                return Ok(low);
            }
            if high < beta {
                return Ok(high);
            }
        }
        let start = self.nodes;
        let best = self.turns(board, hand, after, safe, n, beta)?;
        let known = if best >= beta {
            Span::at_least(best, n)
        } else {
            Span::at_most(best, n)
        };
        self.shared.table.put(place, known, self.nodes - start);
        if n >= NOTE_FROM {
            self.shared.notes.add(place, known);
        }
        Ok(best)
    }

    /// What was found out about a position, now or ever.
    fn known(&self, hash: Hash, n: u8) -> Option<Span> {
        let noted = (n >= NOTE_FROM).then(|| self.shared.notes.get(hash));
        noted.flatten().or_else(|| self.shared.table.get(hash))
    }

    /// Whether some turn leaves no safe reply: a win at the next placement but one.
    fn wins_next(&mut self, board: &Board, after: [u64; 2], safe: u16, hand: u8) -> bool {
        for cell in bits(safe) {
            let placed = board.place(cell, hand);
            let threats = Threats::of::<SQUARES>(&placed);
            for gift in bits(board.left) {
                if safe_cells(after, gift, board.free) >> cell & 1 == 0 {
                    continue;
                }
                self.nodes += 1;
                if !can_reply(&placed.give(gift), &threats, gift) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether some turn cannot be answered by [`Worker::wins_next`].
    fn holds_next(&mut self, board: &Board, after: [u64; 2], safe: u16, hand: u8) -> bool {
        for cell in bits(safe) {
            let placed = board.place(cell, hand);
            let threats = Threats::of::<SQUARES>(&placed);
            for gift in bits(board.left) {
                if safe_cells(after, gift, board.free) >> cell & 1 == 0 {
                    continue;
                }
                self.nodes += 1;
                let next = placed.give(gift);
                let after = threats.after(gift);
                let safe = safe_turns(&next, after);
                if safe == 0 || !self.wins_next(&next, after, safe, gift) {
                    return true;
                }
            }
        }
        false
    }

    fn hash(&self, board: &Board, alive: &Alive, hand: u8, n: u8) -> Hash {
        let thorough = n >= THOROUGH_FROM;
        let key = self
            .shared
            .symmetries
            .key::<SQUARES>(board, alive, hand, thorough);
        self.shared.symmetries.hash(&key)
    }

    /// The best of the turns, as far as the question needs it.
    fn turns(
        &mut self,
        board: &Board,
        hand: u8,
        after: [u64; 2],
        safe: u16,
        n: u8,
        beta: Score,
    ) -> Result<Score, Stopped> {
        if self.nodes - self.told >= LOOK_AT_CLOCK {
            self.tell()?;
        }
        let s = n.cast_signed();
        let mut turns = Turns::default();
        for (index, cell) in bits(safe).enumerate() {
            let placed = board.place(cell, hand);
            let threats = Threats::of::<SQUARES>(&placed);
            turns.placed.push((placed, threats));
            for gift in bits(board.left) {
                if safe_cells(after, gift, board.free) >> cell & 1 == 0 {
                    continue;
                }
                self.nodes += 1;
                let replies = replies(&placed.give(gift), &threats, gift);
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
        if n == self.root {
            self.shared.watch.counters.begin(turns.list.len());
        }
        let mut best = 1 - s;
        let busy = self.shared.busy.filter(|_| n > TOGETHER_FROM);
        let mut waiting = ArrayVec::<u32, 240>::new();
        for index in 0..turns.list.len() {
            let (board, threats, gift) = turns.get(turns.list[index]);
            let score = if let Some(busy) = busy {
                let alive = Alive::of::<SQUARES>(&board);
                let hash = self.hash(&board, &alive, gift, n - 1).check;
                if index > 0 && busy.has(hash) {
                    waiting.push(turns.list[index]);
                    continue;
                }
                busy.enter(hash);
                let score = self.search(&board, &threats, gift, n - 1, 1 - beta);
                busy.leave(hash);
                score?
            } else {
                self.search(&board, &threats, gift, n - 1, 1 - beta)?
            };
            self.decided(n);
            best = best.max(-score);
            if best >= beta {
                return Ok(best);
            }
        }
        // What other threads were at is in the table by now, or helped to get there.
        for turn in &waiting {
            let (board, threats, gift) = turns.get(*turn);
            let score = self.search(&board, &threats, gift, n - 1, 1 - beta)?;
            self.decided(n);
            best = best.max(-score);
            if best >= beta {
                break;
            }
        }
        Ok(best)
    }

    /// Counts a turn of the position that was asked about.
    fn decided(&self, n: u8) {
        if n == self.root {
            self.shared.watch.counters.decide();
        }
    }

    /// Tells how many nodes were searched, and asks whether to go on.
    pub(super) fn tell(&mut self) -> Result<(), Stopped> {
        let nodes = self.nodes - self.told;
        self.told = self.nodes;
        if self.shared.watch.go_on(nodes) {
            Ok(())
        } else {
            Err(Stopped)
        }
    }
}

impl Turns {
    #[inline]
    fn add(&mut self, order: u32, placed: usize, gift: u8) {
        self.list
            .push(order << 8 | (placed as u32) << 4 | u32::from(gift));
    }

    /// The position after a turn.
    #[inline]
    fn get(&self, turn: u32) -> (Board, Threats, u8) {
        let (board, threats) = self.placed[(turn >> 4 & 15) as usize];
        let gift = (turn & 15) as u8;
        (board.give(gift), threats, gift)
    }
}

/// The cells where a turn can place without losing at once.
#[inline]
fn safe_turns(board: &Board, after: [u64; 2]) -> u16 {
    bits(board.left)
        .map(|gift| safe_cells(after, gift, board.free))
        .fold(0, |all, cells| all | cells)
}

/// Whether there is a turn that does not lose at once.
#[inline]
fn can_reply(board: &Board, threats: &Threats, hand: u8) -> bool {
    let after = threats.after(hand);
    bits(board.left).any(|gift| safe_cells(after, gift, board.free) != 0)
}

/// The number of turns that do not lose at once.
pub(super) fn replies(board: &Board, threats: &Threats, hand: u8) -> u32 {
    let after = threats.after(hand);
    let mut count = 0;
    // Counting bits is dear where the processor cannot be relied on to do it: four sets a time.
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
