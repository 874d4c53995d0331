use pyo3::prelude::*;
use referee_games::solver::{self, Evaluation};

use crate::arguments::wrong;

/// What is proven of a position, for the side to move, or of a turn, for the side that makes it.
///
/// Compares and hashes by what is proven. `Value.score` is a number to learn from.
#[pyclass(frozen, eq, hash, module = "referee")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Value {
    low: solver::Value,
    high: solver::Value,
    plies: Option<u32>,
}

impl From<Evaluation> for Value {
    fn from(found: Evaluation) -> Self {
        Self {
            low: found.at_least(),
            high: found.at_most(),
            plies: found.plies(),
        }
    }
}

/// What a pickle holds of a value.
type Parts = (&'static str, &'static str, Option<u32>);

fn named(name: &str) -> PyResult<solver::Value> {
    let all = [solver::Value::Loss, solver::Value::Draw, solver::Value::Win];
    let found = all.into_iter().find(|value| value.name() == name);
    found.ok_or_else(|| wrong(format!("{name:?} is not \"loss\", \"draw\" or \"win\"")))
}

#[pymethods]
impl Value {
    /// "win", "draw" or "loss"; `None` when a limit was reached before it was proven.
    #[getter]
    fn value(&self) -> Option<&'static str> {
        (self.low == self.high).then(|| self.low.name())
    }

    /// 1 for a win, 0 for a draw, -1 for a loss; `None` when it is not proven.
    #[getter]
    fn score(&self) -> Option<i8> {
        (self.low == self.high).then(|| self.low as i8 - 1)
    }

    /// Placements, or discs, until a side wins, this turn's included; 0 when the game is over. `None` for a draw, and
    /// while it is not proven.
    #[getter]
    const fn plies(&self) -> Option<u32> {
        self.plies
    }

    /// The worst that is still possible: "loss", "draw" or "win".
    #[getter]
    const fn at_least(&self) -> &'static str {
        self.low.name()
    }

    /// The best that is still possible.
    #[getter]
    const fn at_most(&self) -> &'static str {
        self.high.name()
    }

    #[staticmethod]
    fn _of(at_least: &str, at_most: &str, plies: Option<u32>) -> PyResult<Self> {
        Ok(Self {
            low: named(at_least)?,
            high: named(at_most)?,
            plies,
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Parts)> {
        let this = slf.get();
        let parts = (this.low.name(), this.high.name(), this.plies);
        Ok((slf.get_type().getattr("_of")?, parts))
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

    fn __repr__(&self) -> String {
        match (self.value(), self.plies) {
            (Some(value), Some(plies)) => format!("<Value {value} in {plies}>"),
            (Some(value), None) => format!("<Value {value}>"),
            (None, _) => format!("<Value {} to {}>", self.low.name(), self.high.name()),
        }
    }
}
