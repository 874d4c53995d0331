#![doc = include_str!("../README.md")]
#![expect(clippy::doc_markdown, reason = "docstrings of Python")]

mod arguments;
mod arrays;
mod batch;
mod exercise;
mod game;
mod image;
mod position;
mod value;

use pyo3::prelude::*;

/// What `import referee` builds on; its names are those of `referee`.
#[pymodule]
fn _referee(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<game::Quarto>()?;
    module.add_class::<game::FourInARow>()?;
    module.add_class::<position::Position>()?;
    module.add_class::<value::Value>()?;
    module.add_class::<batch::Batch>()?;
    module.add_function(wrap_pyfunction!(exercise::read_pieces, module)?)?;
    module.add_function(wrap_pyfunction!(exercise::lines, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
