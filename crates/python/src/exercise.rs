//! The exercise from which this project comes; `exercise.py` gives these functions their names and shapes.

use std::path::PathBuf;

use pyo3::prelude::*;
use referee_games::game::quarto::{Cell, Rules};

use crate::game::read_set;

/// Feature, property, and the pieces that have it.
type Properties = Vec<(String, Vec<(String, Vec<char>)>)>;

/// Reads a set's file.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "an argument of Python")]
pub(crate) fn read_pieces(path: PathBuf) -> PyResult<Properties> {
    let set = read_set(&path)?;
    let having = |feature: usize, value: usize| {
        let order = set.order().iter();
        let pieces = order.filter(|piece| piece.value(feature) == value);
        pieces.map(|&piece| set.symbol(piece)).collect()
    };
    let features = set.features().iter().enumerate();
    let properties = features.map(|(feature, named)| {
        let both = named.properties.iter().enumerate();
        let both = both.map(|(value, word)| (word.clone(), having(feature, value)));
        (named.name.clone(), both.collect())
    });
    Ok(properties.collect())
}

/// The lines that count by the standard rules: the name, and the numbers of its cells from 0 on.
#[pyfunction]
pub(crate) fn lines() -> Vec<(&'static str, [usize; 4])> {
    let lines = Rules::Standard.lines();
    let lines = lines.map(|line| (line.name(), line.cells().map(Cell::index)));
    lines.collect()
}
