//! The sets of puzzles that commands take: files and those that are part of the program.

use std::fs::File;
use std::path::Path;

use crate::cli::support::failure::Failure;
use crate::cli::support::setup::unreadable;
use crate::puzzles::file::{FileError, Loaded, SHIPPED, read};
use crate::session::registry;
use crate::text::{meant, quote};

/// The puzzles of a file or of a shipped set.
pub(super) fn load(set: &str) -> Result<Vec<Loaded>, Failure> {
    let path = Path::new(set);
    let loaded = if let Some(name) = set.strip_prefix("builtin:") {
        let found = SHIPPED.iter().find(|(known, _)| *known == name);
        let Some((_, text)) = found else {
            let names = SHIPPED.map(|(name, _)| name);
            let near = meant(name, &names).map_or_else(
                || format!("there are builtin:{}", names.join(" and builtin:")),
                |near| format!("did you mean builtin:{near}?"),
            );
            let name = quote(name.as_bytes());
            return Err(Failure::Usage(format!(
                "no set of puzzles is called {name}; {near}"
            )));
        };
        read(path, text.as_bytes(), &registry::of_record)
    } else {
        if path.is_dir() {
            return Err(Failure::Usage(format!(
                "{set}: it is a folder; expected a file of puzzles, as `referee puzzles make` writes it"
            )));
        }
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        read(path, file, &registry::of_record)
    };
    let puzzles = loaded.map_err(|error| match error {
        FileError::Io(error) => unreadable(path, &error),
        FileError::Line(error) => Failure::Usage(error.to_string()),
    })?;
    if puzzles.is_empty() {
        return Err(Failure::Usage(format!(
            "{set}: there are no puzzles in it; `referee puzzles make` writes such files"
        )));
    }
    Ok(puzzles)
}
