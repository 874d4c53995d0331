//! Arguments of Python: what is not expected is told with its value.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Characters of a value that an error shows.
const SHOWN: usize = 60;

/// `ValueError` with a sentence.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn wrong(words: impl ToString) -> PyErr {
    PyValueError::new_err(words.to_string())
}

/// `TypeError` with a sentence.
pub(crate) fn wrong_type(name: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    PyTypeError::new_err(format!("{name} is {}; expected {expected}", shown(value)))
}

/// A whole number from 0 to `most`, whatever type of Python or numpy holds it.
pub(crate) fn whole(name: &str, value: &Bound<'_, PyAny>, most: u64) -> PyResult<u64> {
    match value.extract::<u64>() {
        Ok(number) if number <= most => Ok(number),
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            Err(wrong_type(name, value, "a whole number"))
        }
        Err(error) if !error.is_instance_of::<PyOverflowError>(value.py()) => Err(error),
        _ => Err(wrong(format!(
            "{name} is {}; expected a whole number from 0 to {most}",
            shown(value)
        ))),
    }
}

pub(crate) fn real(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract::<f64>().map_err(|error| {
        if error.is_instance_of::<PyTypeError>(value.py()) {
            wrong_type(name, value, "a number")
        } else if error.is_instance_of::<PyOverflowError>(value.py()) {
            wrong(format!(
                "{name} is {}; expected a smaller number",
                shown(value)
            ))
        } else {
            error
        }
    })
}

/// As `repr` writes it, cut where it is long.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    let Ok(text) = value.repr() else {
        // Python refuses to write numbers of thousands of digits.
        let kind = value.get_type().name();
        let kind = kind.map_or_else(|_| "object".to_owned(), |kind| kind.to_string());
        return format!("an object of type {kind} that cannot be shown");
    };
    let text = text.to_string_lossy();
    if text.chars().count() <= SHOWN {
        return text.into_owned();
    }
    let cut: String = text.chars().take(SHOWN - 1).collect();
    format!("{cut}…")
}
