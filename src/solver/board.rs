//! The board as the search sees it: for each of the eight properties, the cells that have it.
//!
//! The four properties with value 0 share one `u64`, sixteen bits a feature, and so do the four
//! with value 1. Every question about lines ("where are three of four?") is then asked of four
//! properties by a handful of shifts, whatever the number of pieces. No step looks at one line.

use crate::game::quarto::{Piece, Position, Rules};

/// Four features, 16 cells each: bit `16 f + c` is cell `c` of feature `f`.
pub(super) type Lanes = u64;

/// The same 16 cells in all four features.
pub(super) const fn lanes(cells: u16) -> Lanes {
    cells as u64 * 0x0001_0001_0001_0001
}

const fn spread(factor: u64) -> [u64; 16] {
    let mut table = [0; 16];
    let mut piece = 0;
    while piece < 16 {
        let mut feature = 0;
        while feature < 4 {
            if piece >> feature & 1 == 1 {
                table[piece] |= factor << (16 * feature);
            }
            feature += 1;
        }
        piece += 1;
    }
    table
}

/// Cell 0 of every feature whose bit the piece has.
const ONE: [Lanes; 16] = spread(1);

/// All cells of every feature whose bit the piece has.
pub(super) const ALL: [Lanes; 16] = spread(0xffff);

/// The features whose bit `piece` has not.
pub(super) const fn opposite(piece: u8) -> usize {
    (piece ^ 15) as usize
}

/// The members of a set of cells or pieces, ascending.
#[inline]
pub(super) fn bits(mut set: u16) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        #[expect(clippy::cast_possible_truncation, reason = "at most 16")]
        (lowest < 16).then_some(lowest as u8)
    })
}

/// A board, and the pieces that are neither on it nor in hand. It has no quarto.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Board {
    /// Cells whose piece has value 0, and value 1, for each feature.
    pub(super) with: [Lanes; 2],
    /// Free cells.
    pub(super) free: u16,
    /// Pieces that can still be given: bit `p` is the piece with bits `p`.
    pub(super) left: u16,
}

impl Board {
    /// The board of a position, and the piece in hand.
    pub(super) fn of(position: &Position) -> (Self, Option<u8>) {
        let mut board = Self {
            with: [0; 2],
            free: 0xffff,
            left: 0,
        };
        for (cell, piece) in position.board().pieces() {
            board.put(cell.number() - 1, piece.bits());
        }
        for piece in position.left() {
            board.left |= piece.mask();
        }
        (board, position.hand().map(Piece::bits))
    }

    fn put(&mut self, cell: u8, piece: u8) {
        self.with[1] |= ONE[piece as usize] << cell;
        self.with[0] |= ONE[opposite(piece)] << cell;
        self.free &= !(1 << cell);
    }

    /// The board after `piece`, which was in hand, went to `cell`.
    #[inline]
    pub(super) fn place(mut self, cell: u8, piece: u8) -> Self {
        self.put(cell, piece);
        self
    }

    /// The board when `piece` is in hand.
    #[inline]
    pub(super) const fn give(mut self, piece: u8) -> Self {
        self.left &= !(1 << piece);
        self
    }
}

/// Both values at once.
type Pair = wide::u64x2;

/// What stands on the other three cells of each cell's line, moved onto the cell: one entry a
/// direction. A cell in no line of a direction sees nothing there.
type Around = [[Pair; 3]; 4];

#[inline]
fn shift(v: Pair, left: i32, cells: u16) -> Pair {
    let moved = if left >= 0 { v << left } else { v >> -left };
    moved & Pair::splat(lanes(cells))
}

/// Rows, columns, diagonals, anti-diagonals.
#[inline]
fn straight(v: Pair) -> Around {
    let d = v & Pair::splat(lanes(0x8421));
    let a = v & Pair::splat(lanes(0x1248));
    [
        [
            shift(v, 1, 0xeeee) | shift(v, -3, 0x1111),
            shift(v, 2, 0xcccc) | shift(v, -2, 0x3333),
            shift(v, 3, 0x8888) | shift(v, -1, 0x7777),
        ],
        [
            shift(v, 4, 0xfff0) | shift(v, -12, 0x000f),
            shift(v, 8, 0xff00) | shift(v, -8, 0x00ff),
            shift(v, 12, 0xf000) | shift(v, -4, 0x0fff),
        ],
        [
            shift(d, 5, 0x8420) | shift(d, -15, 0x0001),
            shift(d, 10, 0x8400) | shift(d, -10, 0x0021),
            shift(d, 15, 0x8000) | shift(d, -5, 0x0421),
        ],
        [
            shift(a, 3, 0x1240) | shift(a, -9, 0x0008),
            shift(a, 6, 0x1200) | shift(a, -6, 0x0048),
            shift(a, 9, 0x1000) | shift(a, -3, 0x0248),
        ],
    ]
}

/// The squares of which a cell is the top left, top right, bottom left and bottom right corner.
#[inline]
fn square(v: Pair) -> Around {
    let (right, left) = (shift(v, -1, 0x7777), shift(v, 1, 0xeeee));
    let (below, above) = (shift(v, -4, 0x0fff), shift(v, 4, 0xfff0));
    [
        [right, below, shift(v, -5, 0x0777)],
        [left, below, shift(v, -3, 0x0eee)],
        [right, above, shift(v, 3, 0x7770)],
        [left, above, shift(v, 5, 0xeee0)],
    ]
}

/// What a board threatens: enough to tell, without placing anything, which gifts are safe after
/// a placement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threats {
    /// For each property, the cells that can be taken while a line of three with one free cell
    /// is left elsewhere: empty when there is no such line, all cells but one when one free cell
    /// is all that such lines wait for.
    kept: [Lanes; 2],
    /// For each property, the cells where one more piece with it makes a line of three.
    made: [Lanes; 2],
}

impl Threats {
    #[inline]
    pub(super) fn of<const SQUARES: bool>(board: &Board) -> Self {
        let free = Pair::splat(lanes(board.free));
        let v = Pair::new(board.with);
        let (mut three, mut two) = lines(straight(v), straight(free));
        if SQUARES {
            let more = lines(square(v), square(free));
            three |= more.0;
            two |= more.1;
        }
        Self {
            kept: elsewhere(three & free).to_array(),
            made: (two & free).to_array(),
        }
    }

    /// Whether `piece` can complete a line now.
    #[inline]
    pub(super) const fn wins(&self, piece: u8) -> bool {
        self.kept[1] & ALL[piece as usize] != 0 || self.kept[0] & ALL[opposite(piece)] != 0
    }

    /// Once `piece` is placed: for each property, the cells where placing it leaves a line that
    /// waits for just this property.
    #[inline]
    pub(super) const fn after(&self, piece: u8) -> [Lanes; 2] {
        [
            self.kept[0] | self.made[0] & ALL[opposite(piece)],
            self.kept[1] | self.made[1] & ALL[piece as usize],
        ]
    }
}

/// Cells that see three of the property; and those that see two and a free cell in a line.
#[inline]
fn lines(v: Around, free: Around) -> (Pair, Pair) {
    let mut three = Pair::ZERO;
    let mut two = Pair::ZERO;
    for ([a, b, c], [fa, fb, fc]) in v.into_iter().zip(free) {
        let (ab, either) = (a & b, (a & fb) | (b & fa));
        three |= ab & c;
        two |= (ab & fc) | (c & either);
    }
    (three, two)
}

/// For each lane, the cells other than a lane's only one; all cells when it has several.
#[inline]
fn elsewhere(v: Pair) -> Pair {
    let some = non_empty(v);
    // The lowest bit of each lane goes; no lane borrows from the next.
    let rest = v & (v - (some >> 15));
    fill(some) & (!v | fill(non_empty(rest)))
}

/// The highest bit of every lane that is not empty.
#[inline]
fn non_empty(v: Pair) -> Pair {
    let low = Pair::splat(lanes(0x7fff));
    (((v & low) + low) | v) & Pair::splat(lanes(0x8000))
}

/// All bits of the lanes whose highest bit is set (and no other).
#[inline]
fn fill(highest: Pair) -> Pair {
    (highest << 1) - (highest >> 15)
}

/// Free cells where the placement that `after` speaks of makes `gift` a safe gift.
#[inline]
pub(super) const fn safe_cells(after: [Lanes; 2], gift: u8, free: u16) -> u16 {
    let waits = after[1] & ALL[gift as usize] | after[0] & ALL[opposite(gift)];
    let waits = waits | waits >> 32;
    let waits = waits | waits >> 16;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the lowest lane is asked for"
    )]
    let waits = waits as u16;
    free & !waits
}

/// For each property, the lines that can still be completed with it: their pieces have it all,
/// and a cell is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alive {
    /// Bits 0–3 the rows, 4–7 the columns, 8 and 9 the diagonals.
    pub(super) lines: [Lanes; 2],
    /// One bit a square, where its top left cell is.
    pub(super) squares: [Lanes; 2],
}

impl Alive {
    #[inline]
    pub(super) fn of<const SQUARES: bool>(board: &Board) -> Self {
        let free = lanes(board.free);
        let open = pack(fold(free, |a, b| a | b));
        let mut alive = Self {
            lines: [0; 2],
            squares: [0; 2],
        };
        for value in 0..2 {
            let can = board.with[value] | free;
            alive.lines[value] = pack(fold(can, |a, b| a & b)) & open;
            if SQUARES {
                let open = free | free >> 1 | free >> 4 | free >> 5;
                let whole = can & can >> 1 & can >> 4 & can >> 5;
                alive.squares[value] = whole & open & lanes(0x0777);
            }
        }
        alive
    }

    /// Free cells that lie on a line that can still be completed.
    #[inline]
    pub(super) fn cells(&self, free: u16) -> u16 {
        let lines = lowest_lane(self.lines[0] | self.lines[1]);
        let squares = lowest_lane(self.squares[0] | self.squares[1]);
        let cells = LINE_CELLS[usize::from(lines & 1023)];
        free & (cells | squares | squares << 1 | squares << 4 | squares << 5)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the lowest lane is asked for"
)]
const fn lowest_lane(v: Lanes) -> u16 {
    let v = v | v >> 32;
    (v | v >> 16) as u16
}

/// Rows, columns, diagonal and anti-diagonal, each folded into its lowest cell.
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

/// The cells of every set of lines.
static LINE_CELLS: [u16; 1024] = {
    let mut cells = [0u16; 1024];
    let mut set = 1usize;
    while set < 1024 {
        let line = set.trailing_zeros();
        let own = match line {
            0..4 => 0x000f << (4 * line),
            4..8 => 0x1111 << (line - 4),
            8 => 0x8421,
            _ => 0x1248,
        };
        cells[set] = cells[set & (set - 1)] | own;
        set += 1;
    }
    cells
};

/// Whether the nine squares count.
pub(super) const fn has_squares(rules: Rules) -> bool {
    matches!(rules, Rules::Squares)
}
