//! One form for all positions that are the same game.
//!
//! Two steps bring positions together. First everything that no longer matters is left out: a
//! position is described by the lines that can still be completed, with which properties, by
//! the free cells on them and by the pieces to come; where dead lines got their pieces is
//! forgotten. Then symmetry: the cells are moved so that the set of free cells is as small a
//! number as possible, features are turned over so that the piece in hand is 0000, and sorted.
//!
//! Equal keys therefore mean equal values. The converse does not hold everywhere: where two
//! features look alike, their order is left to chance.

#![expect(
    clippy::cast_possible_truncation,
    reason = "what is cut off of a set of bits is not asked for"
)]

use std::sync::LazyLock;

use super::board::{ALL, Alive, Board, Lanes, opposite};
use crate::game::quarto::{Cell, Rules};

/// A position in the form that it shares with its likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key([u64; 4]);

/// Two independent numbers made of a key: one says where to look, one what must be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hash {
    pub(super) place: u64,
    pub(super) check: u64,
}

/// The permutations of the cells that keep the lines of a rule set: 32, or 8 with squares.
pub(super) struct Symmetries {
    /// Where each permutation moves the lower and the upper eight cells.
    cells: Vec<[[u16; 256]; 2]>,
    /// Where it moves each set of rows, columns and diagonals.
    lines: Vec<[u16; 1024]>,
    /// Where it moves each set of squares (by their top left cells).
    squares: Vec<[u16; 2048]>,
    /// For each set of cells, the permutations (a bit each) that give the smallest number.
    best: Vec<u32>,
    salt: u64,
}

static STANDARD: LazyLock<Symmetries> = LazyLock::new(|| Symmetries::new(Rules::Standard));
static SQUARES: LazyLock<Symmetries> = LazyLock::new(|| Symmetries::new(Rules::Squares));

impl Symmetries {
    /// The symmetries of a rule set, computed once.
    pub(super) fn of(rules: Rules) -> &'static Self {
        match rules {
            Rules::Standard => &STANDARD,
            Rules::Squares => &SQUARES,
        }
    }

    fn new(rules: Rules) -> Self {
        let lines: Vec<u16> = rules.lines().map(|line| mask(&line.cells())).collect();
        let permutations: Vec<[usize; 16]> = candidates()
            .filter(|to| lines.iter().all(|&line| lines.contains(&moved(to, line))))
            .collect();
        let all: Vec<u16> = Rules::Squares
            .lines()
            .map(|line| mask(&line.cells()))
            .collect();
        let mut this = Self {
            cells: Vec::new(),
            lines: Vec::new(),
            squares: Vec::new(),
            best: Vec::new(),
            salt: all.len() as u64 ^ lines.len() as u64,
        };
        for to in &permutations {
            let mut cells = [[0; 256]; 2];
            for byte in 0..256u16 {
                cells[0][usize::from(byte)] = moved(to, byte);
                cells[1][usize::from(byte)] = moved(to, byte << 8);
            }
            this.cells.push(cells);
            let find = |cells: u16| all.iter().position(|&line| line == cells);
            let bit = |line: usize| find(moved(to, all[line])).map_or(0, |to| 1 << to);
            this.lines.push(table(bit));
            // With the standard rules squares need not stay squares, nor are they asked for.
            this.squares.push(table(|corner| {
                let line = (10..all.len()).find(|&s| all[s].trailing_zeros() as usize == corner);
                let to = line.and_then(|line| find(moved(to, all[line])));
                to.map_or(0, |to| 1 << all[to].trailing_zeros())
            }));
        }
        this.best = this.best_of(&permutations);
        this
    }

    /// Every orbit has a smallest set; what leads back to it from another of its sets is best.
    fn best_of(&self, permutations: &[[usize; 16]]) -> Vec<u32> {
        let undone: Vec<usize> = permutations
            .iter()
            .filter_map(|to| {
                let undoes = |back: &[usize; 16]| (0..16).all(|cell| back[to[cell]] == cell);
                permutations.iter().position(undoes)
            })
            .collect();
        let mut best = vec![0; 1 << 16];
        for cells in 0..=u16::MAX {
            // Ascending: a set that nothing has led to is the smallest of its orbit.
            if best[usize::from(cells)] == 0 {
                for (n, back) in undone.iter().enumerate() {
                    best[usize::from(self.move_cells(n, cells))] |= 1u32 << back;
                }
            }
        }
        best
    }

    /// Where each of them moves each cell.
    #[cfg(test)]
    pub(super) fn permutations(&self) -> Vec<[usize; 16]> {
        let to = |n, cell: usize| self.move_cells(n, 1 << cell).trailing_zeros() as usize;
        (0..self.cells.len())
            .map(|n| std::array::from_fn(|cell| to(n, cell)))
            .collect()
    }

    #[inline]
    fn move_cells(&self, n: usize, cells: u16) -> u16 {
        let [low, high] = &self.cells[n];
        low[usize::from(cells & 0xff)] | high[usize::from(cells >> 8)]
    }

    /// The form of the position with `hand` in hand. With `thorough`, of all permutations of the
    /// cells that are as good as each other the best is taken, not the first.
    #[inline]
    pub(super) fn key<const SQ: bool>(
        &self,
        board: &Board,
        alive: &Alive,
        hand: u8,
        thorough: bool,
    ) -> Key {
        let cells = alive.cells(board.free);
        let lines = turn_over(alive.lines, hand);
        let squares = turn_over(alive.squares, hand);
        let left = turn_pieces_over(board.left, hand);
        let mut which = self.best[usize::from(cells)];
        let first = which.trailing_zeros() as usize;
        let to = self.move_cells(first, cells);
        let one = |n: usize| {
            let mut features = [0; 4];
            for (feature, out) in features.iter_mut().enumerate() {
                let lane = |v: Lanes| (v >> (16 * feature)) as usize & 0xffff;
                *out = u64::from(self.lines[n][lane(lines[0]) & 1023])
                    | u64::from(self.lines[n][lane(lines[1]) & 1023]) << 10;
                if SQ {
                    *out |= u64::from(self.squares[n][lane(squares[0]) & 2047]) << 20
                        | u64::from(self.squares[n][lane(squares[1]) & 2047]) << 31;
                }
            }
            finish(features, left, to)
        };
        let mut key = one(first);
        if thorough {
            which &= which - 1;
            while which != 0 {
                key = key.min(one(which.trailing_zeros() as usize));
                which &= which - 1;
            }
        }
        key
    }

    /// What stands for the key in tables.
    #[inline]
    pub(super) const fn hash(&self, key: &Key) -> Hash {
        let [a, b, c, d] = key.0;
        Hash {
            place: mix(
                mix(a ^ 0xa076_1d64_78bd_642f, b ^ 0xe703_7ed1_a0b4_28db),
                mix(c ^ 0x8ebc_6af0_9c88_c6e3, d ^ 0x5899_65cc_7537_4cc3) ^ self.salt,
            ),
            check: mix(
                mix(a ^ 0x1d8e_4e27_c47d_124f, b ^ 0xeb44_acca_b455_d165),
                mix(c ^ 0x9c6e_6877_736c_46e3, d ^ 0x4cf5_ad43_2745_937f) ^ self.salt,
            ),
        }
    }
}

/// The feature descriptions in order, the pieces along with them.
#[inline]
fn finish(mut features: [u64; 4], mut left: u16, cells: u16) -> Key {
    let mut order = |i: usize, j: usize, lower: u16| {
        if features[i] > features[j] {
            features.swap(i, j);
            // Pieces that differ in these two features change places.
            let step = (1 << j) - (1 << i);
            let differ = (left >> step ^ left) & lower;
            left ^= differ ^ differ << step;
        }
    };
    order(0, 1, 0x2222);
    order(2, 3, 0x00f0);
    order(0, 2, 0x0a0a);
    order(1, 3, 0x00cc);
    order(1, 2, 0x0c0c);
    // A feature in which no line can be completed tells no pieces apart.
    for (feature, &description) in features.iter().enumerate() {
        if description != 0 {
            break;
        }
        let zero: u16 = [0x5555, 0x3333, 0x0f0f, 0x00ff][feature];
        let (low, high) = (left & zero, left >> (1 << feature) & zero);
        left = low | high | (low & high) << (1 << feature);
    }
    let [a, b, c, d] = features;
    Key([a | u64::from(cells) << 42, b | u64::from(left) << 42, c, d])
}

/// Values change places in the features whose bit `hand` has.
#[inline]
const fn turn_over([zero, one]: [Lanes; 2], hand: u8) -> [Lanes; 2] {
    let (keep, turn) = (ALL[opposite(hand)], ALL[hand as usize]);
    [zero & keep | one & turn, one & keep | zero & turn]
}

/// The set of the pieces `p ^ hand`.
#[inline]
const fn turn_pieces_over(mut left: u16, hand: u8) -> u16 {
    if hand & 1 != 0 {
        left = (left & 0x5555) << 1 | left >> 1 & 0x5555;
    }
    if hand & 2 != 0 {
        left = (left & 0x3333) << 2 | left >> 2 & 0x3333;
    }
    if hand & 4 != 0 {
        left = (left & 0x0f0f) << 4 | left >> 4 & 0x0f0f;
    }
    if hand & 8 != 0 {
        left = left.swap_bytes();
    }
    left
}

/// The upper and the lower half of a product: every bit of both factors reaches every bit.
#[inline]
const fn mix(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    (product >> 64) as u64 ^ product as u64
}

fn mask(cells: &[Cell]) -> u16 {
    cells.iter().fold(0, |set, cell| set | 1 << cell.index())
}

fn moved(to: &[usize; 16], cells: u16) -> u16 {
    (0..16)
        .filter(|&cell| cells >> cell & 1 == 1)
        .fold(0, |set, cell: usize| set | 1 << to[cell])
}

/// For each set of `n`s, the union of what `one` gives for each.
fn table<const N: usize>(one: impl Fn(usize) -> u16) -> [u16; N] {
    let mut table = [0; N];
    for set in 1..N {
        let lowest = set.trailing_zeros() as usize;
        table[set] = table[set & (set - 1)] | one(lowest);
    }
    table
}

/// Every permutation of rows with every permutation of columns, and each of them transposed.
fn candidates() -> impl Iterator<Item = [usize; 16]> {
    let orders = || {
        (0..256usize)
            .map(|n| [n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6])
            .filter(|order| (0..4).all(|row| order.contains(&row)))
    };
    orders().flat_map(move |rows| {
        orders().flat_map(move |columns| {
            [false, true].map(|transposed| {
                let mut to = [0; 16];
                for (cell, to) in to.iter_mut().enumerate() {
                    let (row, column) = (rows[cell / 4], columns[cell % 4]);
                    *to = if transposed {
                        4 * column + row
                    } else {
                        4 * row + column
                    };
                }
                to
            })
        })
    })
}
