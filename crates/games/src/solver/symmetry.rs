//! Canonical keys: one key for all positions that are the same game under symmetry.
//!
//! A position is described by the lines that can still be completed, with which properties, by the free cells on them
//! and by the pieces that are left. Then the cells are permuted so that the set of free cells is the smallest number, the
//! features are complemented so that the piece in hand is 0000, and sorted. Equal keys mean equal values, not conversely.

use std::sync::LazyLock;

use super::bitboard::{ALL, Bitboard, Lanes, lanes, opposite};
use crate::game::quarto::board::CELLS_OF;
use crate::game::quarto::{Cell, Piece, Position, Rules};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key([u64; 4]);

/// Two independent hashes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hash {
    /// Selects the bucket of the transposition table.
    pub(super) slot: u64,
    /// Identifies the position within it.
    pub(super) signature: u64,
}

/// The permutations of the cells that keep the lines of a rule set: 32, or 8 with squares.
pub(super) struct Symmetries {
    /// By permutation: where it moves the sets of the lower and of the upper eight cells.
    cells: Vec<[[u16; 256]; 2]>,
    /// By permutation: where it moves each set of rows, columns and diagonals.
    lines: Vec<[u16; 1024]>,
    /// By permutation: where it moves each set of squares (by their top left cells).
    squares: Vec<[u16; 2048]>,
    /// For each set of cells, the permutations (a bit each) that give the smallest number.
    best: Vec<u32>,
    /// Makes the hashes of the two rule sets different.
    salt: u64,
}

static STANDARD: LazyLock<Symmetries> = LazyLock::new(|| Symmetries::new(Rules::Standard));
static SQUARES: LazyLock<Symmetries> = LazyLock::new(|| Symmetries::new(Rules::Squares));

impl Symmetries {
    /// Computed once.
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
            // With the standard rules squares need not be mapped to squares, and are not used.
            this.squares.push(table(|corner| {
                let line = (10..all.len()).find(|&s| all[s].trailing_zeros() as usize == corner);
                let to = line.and_then(|line| find(moved(to, all[line])));
                to.map_or(0, |to| 1 << all[to].trailing_zeros())
            }));
        }
        this.best = this.best_of(&permutations);
        this
    }

    fn best_of(&self, permutations: &[[usize; 16]]) -> Vec<u32> {
        let inverses: Vec<usize> = permutations
            .iter()
            .filter_map(|to| {
                let is_inverse = |back: &[usize; 16]| (0..16).all(|cell| back[to[cell]] == cell);
                permutations.iter().position(is_inverse)
            })
            .collect();
        let mut best = vec![0; 1 << 16];
        for cells in 0..=u16::MAX {
            // Ascending: a set that is not in an orbit so far is the smallest of its orbit.
            if best[usize::from(cells)] == 0 {
                for (n, inverse) in inverses.iter().enumerate() {
                    best[usize::from(self.move_cells(n, cells))] |= 1u32 << inverse;
                }
            }
        }
        best
    }

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

    /// With `thorough` the smallest key of all permutations that give the smallest set of free cells, otherwise that of
    /// the first.
    #[inline]
    pub(super) fn key<const SQ: bool>(
        &self,
        board: &Bitboard,
        live: &LiveLines,
        hand: u8,
        thorough: bool,
    ) -> Key {
        let cells = live.cells(board.free);
        let lines = complement(live.lines, hand);
        let squares = complement(live.squares, hand);
        let left = complement_pieces(board.left, hand);
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
            sorted(features, left, to)
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

    #[inline]
    pub(super) const fn hash(&self, key: &Key) -> Hash {
        let [a, b, c, d] = key.0;
        Hash {
            slot: mix(
                mix(a ^ 0xa076_1d64_78bd_642f, b ^ 0xe703_7ed1_a0b4_28db),
                mix(c ^ 0x8ebc_6af0_9c88_c6e3, d ^ 0x5899_65cc_7537_4cc3) ^ self.salt,
            ),
            signature: mix(
                mix(a ^ 0x1d8e_4e27_c47d_124f, b ^ 0xeb44_acca_b455_d165),
                mix(c ^ 0x9c6e_6877_736c_46e3, d ^ 0x4cf5_ad43_2745_937f) ^ self.salt,
            ),
        }
    }
}

/// With the features sorted, and the pieces that are left permuted along with them.
#[inline]
fn sorted(mut features: [u64; 4], mut left: u16, cells: u16) -> Key {
    let mut order = |i: usize, j: usize, lower: u16| {
        if features[i] > features[j] {
            features.swap(i, j);
            // Pieces that differ in these two features are swapped.
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
    // Where no line can be completed by a feature, its value does not matter.
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

/// In the features whose bit `hand` has.
#[inline]
const fn complement([zero, one]: [Lanes; 2], hand: u8) -> [Lanes; 2] {
    let (keep, swap) = (ALL[opposite(hand)], ALL[hand as usize]);
    [zero & keep | one & swap, one & keep | zero & swap]
}

/// The set of the pieces `p ^ hand`.
#[inline]
const fn complement_pieces(mut left: u16, hand: u8) -> u16 {
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

/// The upper and the lower half of a product, combined: every bit depends on both factors.
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

/// For each set of numbers, the union of `one` of each number.
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
    let orders = || orders().map(|order| order.map(usize::from));
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

const CELLS: usize = 16;

/// An empty cell, or an empty hand.
const NONE: u8 = 16;

/// One name for all positions that are equal by symmetry, and for no others: the piece in hand, then every cell, of the
/// smallest position that arises when cells change places so that lines remain lines, features do, and the two
/// properties of a feature do.
pub fn class(position: &Position) -> [u8; CELLS + 1] {
    let mut cells = [NONE; CELLS];
    for (cell, piece) in position.board().pieces() {
        cells[cell.index()] = piece.bits();
    }
    let hand = position.hand().map(Piece::bits);
    // With a piece in hand the smallest image has piece 0 there.
    let complements: Vec<u8> = match hand {
        Some(piece) => vec![piece],
        None => (0..16).collect(),
    };
    let permutations = Symmetries::of(position.rules()).permutations();
    let mut best = [u8::MAX; CELLS + 1];
    for order in orders() {
        for &complement in &complements {
            let image = |piece: u8| {
                let piece = piece ^ complement;
                (0..4).fold(0, |image, bit| image | (piece >> bit & 1) << order[bit])
            };
            for to in &permutations {
                let mut name = [NONE; CELLS + 1];
                if hand.is_some() {
                    name[0] = 0;
                }
                for (cell, &piece) in cells.iter().enumerate() {
                    if piece != NONE {
                        name[to[cell] + 1] = image(piece);
                    }
                }
                best = best.min(name);
            }
        }
    }
    best
}

fn orders() -> impl Iterator<Item = [u8; 4]> {
    (0..=u8::MAX)
        .map(|n| [n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6])
        .filter(|order| (0..4).all(|feature| order.contains(&feature)))
}

/// For each property, the lines whose pieces all have it, and that have a free cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LiveLines {
    /// Bits 0–3 the rows, 4–7 the columns, 8 and 9 the diagonals.
    pub(super) lines: [Lanes; 2],
    /// One bit a square, where its top left cell is.
    pub(super) squares: [Lanes; 2],
}

impl LiveLines {
    #[inline]
    pub(super) fn of<const SQUARES: bool>(board: &Bitboard) -> Self {
        let free = lanes(board.free);
        let open = pack(fold(free, |a, b| a | b));
        let mut live = Self {
            lines: [0; 2],
            squares: [0; 2],
        };
        for value in 0..2 {
            let can = board.with[value] | free;
            live.lines[value] = pack(fold(can, |a, b| a & b)) & open;
            if SQUARES {
                let open = free | free >> 1 | free >> 4 | free >> 5;
                let whole = can & can >> 1 & can >> 4 & can >> 5;
                live.squares[value] = whole & open & lanes(0x0777);
            }
        }
        live
    }

    /// The free cells on lines that can still be completed.
    #[inline]
    pub(super) fn cells(&self, free: u16) -> u16 {
        let lines = lowest_lane(self.lines[0] | self.lines[1]);
        let squares = lowest_lane(self.squares[0] | self.squares[1]);
        let cells = LINE_CELLS[usize::from(lines & 1023)];
        free & (cells | squares | squares << 1 | squares << 4 | squares << 5)
    }
}

const fn lowest_lane(v: Lanes) -> u16 {
    let v = v | v >> 32;
    (v | v >> 16) as u16
}

/// Rows, columns, diagonal and anti-diagonal, the cells of each folded into the lowest one.
#[inline]
fn fold(v: Lanes, op: impl Fn(Lanes, Lanes) -> Lanes) -> [Lanes; 4] {
    let both = |step: u32| {
        let pairs = op(v, v >> step);
        op(pairs, pairs >> (2 * step))
    };
    [both(1), both(4), both(5), both(3)]
}

#[inline]
const fn pack([rows, columns, diagonal, anti]: [Lanes; 4]) -> Lanes {
    let rows = rows & lanes(0x1111);
    let rows = (rows | rows >> 3 | rows >> 6 | rows >> 9) & lanes(0x000f);
    rows | (columns & lanes(0x000f)) << 4 | (diagonal & lanes(1)) << 8 | (anti & lanes(0x0008)) << 6
}

/// The cells of every set of the ten lines.
static LINE_CELLS: [u16; 1024] = {
    let mut cells = [0u16; 1024];
    let mut set = 1usize;
    while set < 1024 {
        let [a, b, c, d] = CELLS_OF[set.trailing_zeros() as usize];
        let own = 1 << a | 1 << b | 1 << c | 1 << d;
        cells[set] = cells[set & (set - 1)] | own;
        set += 1;
    }
    cells
};
