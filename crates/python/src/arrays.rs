//! Positions as numbers, for learning.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyString, PyTuple};
use referee_games::game::quarto::piece_set::FEATURES;
use referee_games::game::quarto::{self, Cell, Piece, Turn};
use referee_games::game::{Position, Side, four_in_a_row};

use crate::arguments::whole;

/// Of a cell or a gift that a turn of Quarto does not have.
const NONE: usize = 16;

/// Gifts and none.
const GIFTS: usize = 17;

/// What a learner sees of a position and does in it. An observation is written over zeros.
pub(crate) trait Encoded: Position {
    const ACTIONS: usize;
    /// Rows, columns, planes.
    const SHAPE: [usize; 3];

    /// As this side sees it.
    fn observe(&self, side: Side, out: &mut [i8]);

    /// The side to move; of a game that is over the one that moved last.
    fn actor(&self) -> Side {
        self.to_move()
    }

    /// 1 for each legal action.
    fn mask(&self, out: &mut [i8]);

    /// `None`, and nothing changed, when the action is not legal.
    fn act(&mut self, action: usize) -> Option<()>;

    /// The legal action at the place that `choose` chooses for their count, in the order of their numbers; `None` when
    /// the game is over.
    fn pick(&self, choose: impl FnOnce(usize) -> usize) -> Option<usize>;
}

impl Encoded for quarto::Position {
    const ACTIONS: usize = GIFTS * GIFTS;

    const SHAPE: [usize; 3] = [4, 4, 2 * FEATURES + 1];

    /// Pieces belong to no side: both see the same.
    fn observe(&self, _: Side, out: &mut [i8]) {
        let hand = self.hand().map_or([0; FEATURES], signs);
        for (cell, planes) in Cell::all().zip(out.chunks_exact_mut(Self::SHAPE[2])) {
            if let Some(piece) = self.board().get(cell) {
                planes[..FEATURES].copy_from_slice(&signs(piece));
            }
            planes[FEATURES..2 * FEATURES].copy_from_slice(&hand);
        }
        for piece in self.left() {
            out[piece.index() * Self::SHAPE[2] + 2 * FEATURES] = 1;
        }
    }

    fn mask(&self, out: &mut [i8]) {
        let row = |gifts: u32| -> [i8; GIFTS] {
            std::array::from_fn(|gift| i8::from(gifts >> gift & 1 == 1))
        };
        // The gifts are the same after all placements that do not win.
        let mut last = (0, [0; GIFTS]);
        for (cell, gifts) in rows(self) {
            if gifts != last.0 {
                last = (gifts, row(gifts));
            }
            out[cell * GIFTS..][..GIFTS].copy_from_slice(&last.1);
        }
    }

    fn act(&mut self, action: usize) -> Option<()> {
        if action >= Self::ACTIONS || self.outcome().is_some() {
            return None;
        }
        let after = self.after(quarto_turn(action)).ok()?;
        // A turn without a gift must end the game.
        (after.to_move() != self.to_move() || after.outcome().is_some()).then(|| *self = after)
    }

    fn pick(&self, choose: impl FnOnce(usize) -> usize) -> Option<usize> {
        let (mut all, mut length) = ([(0, 0); 17], 0);
        for row in rows(self) {
            all[length] = row;
            length += 1;
        }
        let count_of = |gifts: u32| gifts.count_ones() as usize;
        let count: usize = all[..length]
            .iter()
            .map(|&(_, gifts)| count_of(gifts))
            .sum();
        let mut place = (count > 0).then(|| choose(count))?;
        for &(cell, mut gifts) in &all[..length] {
            if place < count_of(gifts) {
                for _ in 0..place {
                    gifts &= gifts - 1;
                }
                return Some(cell * GIFTS + gifts.trailing_zeros() as usize);
            }
            place -= count_of(gifts);
        }
        None
    }
}

/// The legal turns: the number of a cell, or none, and a bit for each gift, or none, with it.
fn rows(position: &quarto::Position) -> impl Iterator<Item = (usize, u32)> {
    let left = position
        .left()
        .fold(0, |left, piece| left | u32::from(piece.mask()));
    let gifts = if left == 0 { 1 << NONE } else { left };
    let hand = position.hand();
    let (going, placing) = (position.outcome().is_none(), hand.is_some());
    let only_gives = (going && !placing).then_some((NONE, left));
    let board = position.board();
    let cells = board.free().filter(move |_| going && placing);
    let placed = cells.map(move |cell| {
        let wins = hand.is_some_and(|hand| board.would_win(cell, hand, position.rules()));
        (cell.index(), if wins { 1 << NONE } else { gifts })
    });
    only_gives.into_iter().chain(placed)
}

/// Which need not be legal.
pub(crate) fn quarto_turn(action: usize) -> Turn {
    let number = |number: usize| u8::try_from(number).ok();
    Turn {
        cell: number(action / GIFTS).and_then(Cell::from_index),
        gift: number(action % GIFTS).and_then(Piece::new),
    }
}

impl Encoded for four_in_a_row::Position {
    const ACTIONS: usize = four_in_a_row::COLUMNS as usize;

    const SHAPE: [usize; 3] = [
        four_in_a_row::ROWS as usize,
        four_in_a_row::COLUMNS as usize,
        2,
    ];

    fn observe(&self, viewer: Side, out: &mut [i8]) {
        for (cell, side) in cells(self) {
            if let Some(side) = side {
                out[2 * cell + usize::from(side != viewer)] = 1;
            }
        }
    }

    fn actor(&self) -> Side {
        let to_move = self.to_move();
        if self.outcome().is_some() {
            to_move.other()
        } else {
            to_move
        }
    }

    fn mask(&self, out: &mut [i8]) {
        for column in self.moves() {
            out[usize::from(column.number()) - 1] = 1;
        }
    }

    fn act(&mut self, action: usize) -> Option<()> {
        let number = u8::try_from(action.checked_add(1)?).ok()?;
        self.play(four_in_a_row::Column::from_number(number)?).ok()
    }

    fn pick(&self, choose: impl FnOnce(usize) -> usize) -> Option<usize> {
        let count = self.moves().count();
        let place = (count > 0).then(|| choose(count))?;
        let column = self.moves().nth(place)?;
        Some(usize::from(column.number()) - 1)
    }
}

/// 1 for the property that the piece set names first, -1 for the other.
fn signs(piece: Piece) -> [i8; FEATURES] {
    std::array::from_fn(|feature| if piece.value(feature) == 0 { 1 } else { -1 })
}

/// Row by row from the top left.
fn cells(position: &four_in_a_row::Position) -> impl Iterator<Item = (usize, Option<Side>)> {
    let discs = position.discs();
    let (rows, columns) = (four_in_a_row::ROWS, four_in_a_row::COLUMNS);
    let places = (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column)));
    places.enumerate().map(move |(cell, (row, column))| {
        let bit = 1u64 << ((rows + 1) * column + rows - 1 - row);
        let mut sides = Side::BOTH.into_iter();
        (cell, sides.find(|side| discs[side.index()] & bit != 0))
    })
}

/// The number of the piece on each cell, -1 for a free one.
pub(crate) fn quarto_board(position: &quarto::Position) -> Vec<i8> {
    let number = |piece: Piece| piece.bits().cast_signed();
    let cells = Cell::all().map(|cell| position.board().get(cell).map_or(-1, number));
    cells.collect()
}

/// Four signs for each cell, 0 for a free one.
pub(crate) fn quarto_features(position: &quarto::Position) -> Vec<i8> {
    let cells = Cell::all().map(|cell| position.board().get(cell).map_or([0; FEATURES], signs));
    cells.flatten().collect()
}

/// 1 for "first", -1 for "second", 0 for a free cell.
pub(crate) fn four_in_a_row_board(position: &four_in_a_row::Position) -> Vec<i8> {
    let number =
        |side: Option<Side>| side.map_or(0, |side| if side == Side::First { 1 } else { -1 });
    cells(position).map(|(_, side)| number(side)).collect()
}

pub(crate) fn observation<'py, P: Encoded>(
    py: Python<'py>,
    position: &P,
    side: Side,
) -> PyResult<Bound<'py, PyAny>> {
    filled(py, P::SHAPE, |out| position.observe(side, out))
}

pub(crate) fn mask<'py, P: Encoded>(py: Python<'py>, position: &P) -> PyResult<Bound<'py, PyAny>> {
    filled(py, [P::ACTIONS], |out| position.mask(out))
}

pub(crate) fn array<'py, const D: usize>(
    py: Python<'py>,
    numbers: &[i8],
    shape: [usize; D],
) -> PyResult<Bound<'py, PyAny>> {
    filled(py, shape, |out| out.copy_from_slice(numbers))
}

/// An array of numpy whose zeros are written over.
pub(crate) fn filled<const D: usize>(
    py: Python<'_>,
    shape: [usize; D],
    fill: impl FnOnce(&mut [i8]),
) -> PyResult<Bound<'_, PyAny>> {
    let bytes = PyByteArray::new_with(py, shape.iter().product(), |bytes| {
        fill(bytemuck::cast_slice_mut(bytes));
        Ok(())
    })?;
    over(bytes, intern!(py, "int8"), PyTuple::new(py, shape)?)
}

/// Of numbers as they lie in the memory of this machine.
pub(crate) fn array_of_u16(
    py: Python<'_>,
    numbers: impl ExactSizeIterator<Item = u16>,
) -> PyResult<Bound<'_, PyAny>> {
    let shape = PyTuple::new(py, [numbers.len()])?;
    let bytes: Vec<u8> = numbers.flat_map(u16::to_ne_bytes).collect();
    over(PyByteArray::new(py, &bytes), intern!(py, "uint16"), shape)
}

pub(crate) fn array_of_u8<'py, const D: usize>(
    py: Python<'py>,
    bytes: &[u8],
    shape: [usize; D],
) -> PyResult<Bound<'py, PyAny>> {
    let shape = PyTuple::new(py, shape)?;
    over(PyByteArray::new(py, bytes), intern!(py, "uint8"), shape)
}

/// The array writes into the bytes. Numpy is imported when it is first needed.
fn over<'py>(
    bytes: Bound<'py, PyByteArray>,
    dtype: &Bound<'py, PyString>,
    shape: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    static NDARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let ndarray = NDARRAY.import(bytes.py(), "numpy", "ndarray")?;
    ndarray.call1((shape, dtype, bytes))
}

/// What numpy makes of an argument that should hold numbers, one for each game.
pub(crate) enum Numbers {
    Whole(Vec<u64>),
    /// The first that is negative, and its index.
    Negative(i64, usize),
    Bools(Vec<bool>),
    /// Not one-dimensional.
    Shape(String),
    Other,
}

/// Numbers that are too large for numpy's are told as `name`, with the `most` that is expected; others are not compared with it.
pub(crate) fn numbers(
    py: Python<'_>,
    value: &Bound<'_, PyAny>,
    name: &str,
    most: usize,
) -> PyResult<Numbers> {
    let numpy = py.import(intern!(py, "numpy"))?;
    let array = numpy.call_method1(intern!(py, "asarray"), (value,))?;
    let shape = array.getattr(intern!(py, "shape"))?;
    if shape.len()? != 1 {
        return Ok(Numbers::Shape(shape.str()?.to_string()));
    }
    let dtype = array.getattr(intern!(py, "dtype"))?;
    let kind: char = dtype.getattr(intern!(py, "kind"))?.extract()?;
    // The bytes of all numbers, as those of this type.
    let bytes = |name: &str| {
        array
            .call_method1(intern!(py, "astype"), (name,))?
            .call_method0(intern!(py, "tobytes"))
    };
    Ok(match kind {
        'u' => Numbers::Whole(
            words(bytes("uint64")?.extract()?)
                .map(u64::from_ne_bytes)
                .collect(),
        ),
        'i' => {
            let bytes = bytes("int64")?;
            let numbers = words(bytes.extract()?).map(i64::from_ne_bytes);
            let found: Result<Vec<u64>, Numbers> = numbers
                .enumerate()
                .map(|(index, n)| u64::try_from(n).map_err(|_| Numbers::Negative(n, index)))
                .collect();
            found.map_or_else(|negative| negative, Numbers::Whole)
        }
        'b' => {
            let bytes = bytes("bool")?;
            Numbers::Bools(
                bytes
                    .extract::<&[u8]>()?
                    .iter()
                    .map(|&byte| byte != 0)
                    .collect(),
            )
        }
        // Whole numbers of Python that are too large for numpy's.
        'O' => {
            let mut numbers = Vec::new();
            for item in array.try_iter()? {
                numbers.push(whole(name, &item?, most as u64)?);
            }
            Numbers::Whole(numbers)
        }
        _ if array.len()? == 0 => Numbers::Whole(Vec::new()),
        _ => Numbers::Other,
    })
}

fn words(bytes: &[u8]) -> impl Iterator<Item = [u8; 8]> + '_ {
    bytes.as_chunks::<8>().0.iter().copied()
}
