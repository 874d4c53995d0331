//! The exercise from which this project comes; `exercise.py` gives these functions their names and shapes.

use std::path::PathBuf;

use pyo3::prelude::*;
use referee_games::game::quarto::piece_set::FEATURES;
use referee_games::game::quarto::{PieceSet, Rules};

use crate::game::{read_set, wrong};

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

/// The properties on each cell of a configuration, row by row; `text` is the set as CSV.
#[pyfunction]
pub(crate) fn grid(
    text: &str,
    configuration: &str,
) -> PyResult<Vec<Vec<Option<[String; FEATURES]>>>> {
    let set = PieceSet::parse(text).map_err(wrong)?;
    let grid = set.grid(configuration).map_err(wrong)?;
    let words = |cell: Option<[&str; FEATURES]>| cell.map(|words| words.map(str::to_owned));
    Ok(grid.map(|row| row.map(words).to_vec()).to_vec())
}

/// The lines and properties of the quartos of a configuration; `text` is the set as CSV.
#[pyfunction]
pub(crate) fn quartos(text: &str, configuration: &str) -> PyResult<Vec<(&'static str, String)>> {
    let set = PieceSet::parse(text).map_err(wrong)?;
    let found = set.quartos(configuration, Rules::Standard).map_err(wrong)?;
    let owned = |(line, property): (&'static str, &str)| (line, property.to_owned());
    Ok(found.into_iter().map(owned).collect())
}
