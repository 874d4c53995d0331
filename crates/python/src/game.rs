use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use referee_games::game::BuiltinGame as _;
use referee_games::game::quarto::{Edition, Piece, PieceSet, Rules};
use referee_games::game::{self, Side, four_in_a_row};

use crate::arguments::wrong;
use crate::position::{Position, State};

/// A set's file; the error names it, with the line and the column.
pub(crate) fn read_set(path: &Path) -> PyResult<PieceSet> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(named)?;
    PieceSet::read(file).map_err(|error| wrong(format!("{}, {error}", path.display())))
}

/// `argument` is what is called so.
pub(crate) fn side_named(argument: &str, name: &str) -> PyResult<Side> {
    match name {
        "first" => Ok(Side::First),
        "second" => Ok(Side::Second),
        _ => Err(wrong(format!(
            "{argument} is {name:?}; expected 'first' or 'second'"
        ))),
    }
}

pub(crate) const fn name(side: Side) -> &'static str {
    match side {
        Side::First => "first",
        Side::Second => "second",
    }
}

/// Quarto, with a piece set and rules.
///
/// Args:
///     pieces: The path of a piece set's CSV file; without one the built-in set, A to P.
///     rules: "standard", or "squares", where the nine 2×2 squares count, too.
///
/// Raises:
///     ValueError: The file is not a piece set (with its name, line, column and what was expected), or there are no
///         rules of this name.
///     OSError: The file cannot be read.
#[pyclass(frozen, eq, module = "referee")]
#[derive(Clone, Debug)]
pub(crate) struct Quarto {
    pub(crate) edition: Arc<Edition>,
    path: Option<Arc<PathBuf>>,
}

impl Eq for Quarto {}

impl PartialEq for Quarto {
    fn eq(&self, other: &Self) -> bool {
        self.edition == other.edition
    }
}

impl Quarto {
    fn of(rules: &str, set: PieceSet, path: Option<PathBuf>) -> PyResult<Self> {
        let rules = Rules::from_name(rules).ok_or_else(|| {
            wrong(format!(
                "rules are {rules:?}; expected 'standard' or 'squares'"
            ))
        })?;
        Ok(Self {
            edition: Arc::new(Edition::new(rules, set)),
            path: path.map(Arc::new),
        })
    }
}

#[pymethods]
impl Quarto {
    #[new]
    #[pyo3(signature = (pieces=None, rules="standard"))]
    fn new(pieces: Option<PathBuf>, rules: &str) -> PyResult<Self> {
        let set = match &pieces {
            None => PieceSet::default(),
            Some(path) => {
                let set = read_set(path)?;
                let usable = set.check_for_match();
                usable.map_err(|error| wrong(format!("{}, {error}", path.display())))?;
                set
            }
        };
        Self::of(rules, set, pieces)
    }

    /// Of a pickle, which holds the text of the set: its file may be gone.
    #[staticmethod]
    fn _of(rules: &str, text: Option<&str>, path: Option<PathBuf>) -> PyResult<Self> {
        let set = text.map_or_else(|| Ok(PieceSet::default()), PieceSet::parse);
        let set = set.map_err(wrong)?;
        set.check_for_match().map_err(wrong)?;
        Self::of(rules, set, path)
    }

    /// The name of the game on the command line and in records.
    #[classattr]
    const NAME: &'static str = "quarto";

    /// "standard" or "squares".
    #[getter]
    fn rules(&self) -> &'static str {
        self.edition.rules.name()
    }

    /// The path of the piece set's file; `None` for the built-in set.
    #[getter]
    fn path(&self) -> Option<String> {
        let path = self.path.as_deref();
        path.map(|path| path.display().to_string())
    }

    /// The four properties of each piece by its character, in the order of the file.
    #[getter]
    fn pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let set = &self.edition.set;
        let pieces = PyDict::new(py);
        for &piece in set.order() {
            pieces.set_item(set.symbol(piece), PyTuple::new(py, set.words(piece))?)?;
        }
        Ok(pieces)
    }

    /// The characters of the pieces 0 to 15, as arrays number them: bit f is the property of feature f, 0 for the one
    /// that the file names first.
    #[getter]
    fn symbols(&self) -> String {
        let set = &self.edition.set;
        Piece::all().map(|piece| set.symbol(piece)).collect()
    }

    /// The position at the start: the empty board, "first" is to give a piece.
    fn start(&self) -> Position {
        Position::of(State::Quarto(self.clone(), self.edition.start()))
    }

    /// The position that a request of the protocol shows, such as "A..PC...J..EF... G".
    ///
    /// Args:
    ///     text: The board, 16 characters row by row, "." for a free cell; a space; the piece in hand or "-".
    ///     to_move: "first" or "second": the side that the request is for.
    ///
    /// Raises:
    ///     ValueError: The text is not a position, with what is wrong with it.
    #[pyo3(signature = (text, to_move="first"))]
    pub(crate) fn position(&self, text: &str, to_move: &str) -> PyResult<Position> {
        let side = side_named("to_move", to_move)?;
        let mut position = self.edition.start_from(text).map_err(wrong)?;
        if side == Side::Second {
            let Some(hand) = position.hand() else {
                return Err(wrong(
                    "nothing is in hand, so \"first\" is to give the first piece",
                ));
            };
            let (board, _) = text.split_once([' ', '\t']).unwrap_or((text, ""));
            position = self.edition.start_from(board).map_err(wrong)?;
            let given = game::Position::play(&mut position, game::quarto::Move::Give(hand));
            given.map_err(wrong)?;
        }
        Ok(Position::of(State::Quarto(self.clone(), position)))
    }

    fn __hash__(&self) -> u64 {
        crate::position::hash_of(&(self.edition.rules, self.symbols()))
    }

    pub(crate) fn __repr__(&self) -> String {
        let path = |path: &Arc<PathBuf>| format!("pieces={:?}", path.display().to_string());
        let rules =
            (self.edition.rules != Rules::Standard).then(|| format!("rules={:?}", self.rules()));
        let arguments = self.path.as_ref().map(path).into_iter().chain(rules);
        let arguments: Vec<String> = arguments.collect();
        format!("referee.Quarto({})", arguments.join(", "))
    }

    #[expect(clippy::type_complexity, reason = "what a pickle holds")]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(
        Bound<'py, PyAny>,
        (&'static str, Option<String>, Option<PathBuf>),
    )> {
        let this = slf.get();
        let set = &this.edition.set;
        let text = (!set.is_builtin()).then(|| set.text().to_owned());
        let path = this.path.as_deref().cloned();
        Ok((slf.get_type().getattr("_of")?, (this.rules(), text, path)))
    }

    const fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    const fn __deepcopy__<'py>(
        slf: PyRef<'py, Self>,
        _memo: &Bound<'py, PyAny>,
    ) -> PyRef<'py, Self> {
        slf
    }
}

/// Four In A Row: seven columns, six rows. "first" plays "@", "second" plays "O".
#[pyclass(frozen, eq, hash, module = "referee")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FourInARow;

#[pymethods]
impl FourInARow {
    #[new]
    const fn new() -> Self {
        Self
    }

    /// The name of the game on the command line and in records.
    #[classattr]
    const NAME: &'static str = "four-in-a-row";

    /// The position at the start: the empty board, "first" is to move.
    #[staticmethod]
    fn start() -> Position {
        Position::of(State::FourInARow(four_in_a_row::FourInARow.start()))
    }

    /// The position that a request of the protocol, or a board, shows.
    ///
    /// Args:
    ///     text: The mark of the side to move ("@" or "O"), a space, and the board, 42 characters row by row from the
    ///         top left, "." for a free cell; or the board alone, which shows whose turn it is.
    ///
    /// Raises:
    ///     ValueError: The text is not a position, with what is wrong with it.
    #[staticmethod]
    pub(crate) fn position(text: &str) -> PyResult<Position> {
        let position = four_in_a_row::FourInARow.start_from(text).map_err(wrong)?;
        Ok(Position::of(State::FourInARow(position)))
    }

    pub(crate) const fn __repr__(&self) -> &'static str {
        "referee.FourInARow()"
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, ()) {
        (slf.get_type().into_any(), ())
    }
}
