//! Where output goes (`--out`) and in which form (`--format`, or the extension of the file).

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::failure::{Result, bail};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// A page for a browser
    Html,
    /// A picture
    Svg,
}

impl Form {
    const fn extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Svg => "svg",
        }
    }

    fn named_by(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        let mut forms = Self::value_variants().iter().copied();
        forms.find(|form| extension.eq_ignore_ascii_case(form.extension()))
    }
}

/// Where, and in which form. With a `format` alone it is standard output, without both there is none.
pub(crate) fn destination(
    out: Option<&Path>,
    format: Option<Form>,
) -> Result<Option<(&Path, Form)>> {
    let Some(path) = out else {
        return Ok(format.map(|form| (Path::new("-"), form)));
    };
    let shown = path.display();
    match (format, Form::named_by(path)) {
        (Some(form), Some(named)) if form != named => bail!(
            "--format {}: --out {shown} names the other form by its extension; leave --format out, or choose a file \
             with the extension .{0}",
            form.extension()
        ),
        (Some(form), _) | (None, Some(form)) => Ok(Some((path, form))),
        (None, None) => bail!(
            "--out {shown}: it does not say in which form; expected a file with the extension .svg (a picture) or \
             .html (a page); otherwise add --format svg or --format html"
        ),
    }
}

/// Of a command whose file has one form.
fn with_extension(text: &str, extension: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension() {
        Some(found) if found.eq_ignore_ascii_case(extension) => Ok(path),
        _ => Err(format!("expected a file with the extension .{extension}")),
    }
}

pub(crate) fn page_file(text: &str) -> Result<PathBuf, String> {
    with_extension(text, "html")
}

pub(crate) fn table_file(text: &str) -> Result<PathBuf, String> {
    with_extension(text, "csv")
}
