//! Alpha–beta with a null window: is the score at least so much?
//!
//! A node is a board with a piece in hand that completes no line (a gift that completes one is
//! never searched: it loses at once). A turn places it and gives another, so the sides alternate
//! from node to node and scores change their sign. That holds for nodes only: who gives is who
//! has just placed.

use super::board::{Alive, Board, Threats, bits, safe_cells};
use super::limits::Watch;
use super::parallel::Busy;
use super::score::{Score, Span};
use super::symmetry::{Hash, Symmetries};
use super::table::Table;

/// The search was told to stop before it had an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopped;

/// With fewer free cells, searching is cheaper than looking up.
const LOOK_UP_FROM: u8 = 4;

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
    pub(super) symmetries: &'static Symmetries,
    /// `None` when there is one thread.
    pub(super) busy: Option<&'a Busy>,
    pub(super) watch: &'a Watch<'a>,
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

/// A turn to search: where to place, what to give, and what is there afterwards.
#[derive(Clone, Copy)]
struct Turn {
    order: u32,
    board: Board,
    threats: Threats,
    gift: u8,
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
        let safe = bits(board.left)
            .map(|gift| safe_cells(after, gift, board.free))
            .fold(0, |all, cells| all | cells);
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
        let alive = Alive::of::<SQUARES>(board);
        if alive.cells(board.free) == 0 {
            return Ok(0);
        }
        let mut hash = None;
        if n >= LOOK_UP_FROM {
            let place = self.hash(board, &alive, hand, n);
            if let Some(known) = self.shared.table.get(place) {
                let (low, high) = (known.low(n), known.high(n));
                if low >= beta {
                    return Ok(low);
                }
                if high < beta {
                    return Ok(high);
                }
            }
            hash = Some(place);
        }
        let start = self.nodes;
        let best = self.turns(board, hand, after, safe, n, beta)?;
        if let Some(hash) = hash {
            let known = if best >= beta {
                Span::at_least(best, n)
            } else {
                Span::at_most(best, n)
            };
            self.shared.table.put(hash, known, self.nodes - start);
        }
        Ok(best)
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
        let mut turns: Vec<Turn> = Vec::with_capacity(64);
        for cell in bits(safe) {
            let placed = board.place(cell, hand);
            let threats = Threats::of::<SQUARES>(&placed);
            for gift in bits(board.left) {
                if safe_cells(after, gift, board.free) >> cell & 1 == 0 {
                    continue;
                }
                let next = placed.give(gift);
                let replies = replies(&next, &threats, gift);
                if replies == 0 && n > 2 {
                    self.nodes += 1;
                    return Ok(s - 2);
                }
                turns.push(Turn {
                    order: replies,
                    board: next,
                    threats,
                    gift,
                });
            }
        }
        turns.sort_unstable_by_key(|turn| turn.order);
        if let Some(busy) = self.shared.busy
            && n > TOGETHER_FROM
        {
            return self.in_turn(busy, turns, n, beta);
        }
        let mut best = 1 - s;
        if n == self.root {
            self.shared.watch.counters.begin(turns.len());
        }
        for turn in &turns {
            let score = -self.search(&turn.board, &turn.threats, turn.gift, n - 1, 1 - beta)?;
            if n == self.root {
                self.shared.watch.counters.decide();
            }
            best = best.max(score);
            if best >= beta {
                break;
            }
        }
        Ok(best)
    }

    /// The best of the turns; those that another thread searches come last.
    fn in_turn(
        &mut self,
        busy: &Busy,
        mut turns: Vec<Turn>,
        n: u8,
        beta: Score,
    ) -> Result<Score, Stopped> {
        let mut best = 1 - n.cast_signed();
        let mut waiting = Vec::new();
        if n == self.root {
            self.shared.watch.counters.begin(turns.len());
        }
        for may_wait in [true, false] {
            for (index, turn) in turns.iter().enumerate() {
                let alive = Alive::of::<SQUARES>(&turn.board);
                let hash = self.hash(&turn.board, &alive, turn.gift, n - 1).check;
                if may_wait && index > 0 && busy.has(hash) {
                    waiting.push(*turn);
                    continue;
                }
                busy.enter(hash);
                let score = self.search(&turn.board, &turn.threats, turn.gift, n - 1, 1 - beta);
                busy.leave(hash);
                if n == self.root {
                    self.shared.watch.counters.decide();
                }
                best = best.max(-score?);
                if best >= beta {
                    return Ok(best);
                }
            }
            turns = std::mem::take(&mut waiting);
        }
        Ok(best)
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

/// The number of turns that do not lose at once.
fn replies(board: &Board, threats: &Threats, hand: u8) -> u32 {
    let after = threats.after(hand);
    bits(board.left)
        .map(|gift| safe_cells(after, gift, board.free).count_ones())
        .sum()
}
