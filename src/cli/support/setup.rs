//! Piece sets, rules, bots and colours, as several commands read them.

use std::env;
use std::fs::File;
use std::io;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use terminal_size::terminal_size_of;

use super::failure::Failure;
use crate::bot::spec::BotSpec;
use crate::game::quarto::{PieceSet, Rules};
use crate::record::Record;
use crate::report::terminal::Palette;
use crate::session::Ruleset;
use crate::session::registry;
use crate::strategy;
use crate::system::AsStream;

/// `--rules`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum RulesName {
    /// Rows, columns and diagonals
    Standard,
    /// Also the nine 2×2 squares
    Squares,
}

impl From<RulesName> for Rules {
    fn from(name: RulesName) -> Self {
        match name {
            RulesName::Standard => Self::Standard,
            RulesName::Squares => Self::Squares,
        }
    }
}

/// Reads the set of `--pieces`; without it, returns the built-in one.
pub(in crate::cli) fn piece_set(path: Option<&PathBuf>) -> Result<PieceSet, Failure> {
    let Some(path) = path else {
        return Ok(PieceSet::default());
    };
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    if file.metadata().is_ok_and(|meta| meta.is_dir()) {
        return Err(Failure::Usage(format!(
            "{}: it is a directory; expected a piece set's CSV file",
            path.display()
        )));
    }
    PieceSet::read(file).map_err(|error| set_failure(path, &error))
}

/// As [`piece_set`], but only a set whose characters the protocol allows.
pub(in crate::cli) fn match_set(path: Option<&PathBuf>) -> Result<PieceSet, Failure> {
    let set = piece_set(path)?;
    set.check_for_match()
        .map_err(|error| set_failure(path.map_or(Path::new("the built-in set"), |p| p), &error))?;
    Ok(set)
}

fn set_failure(path: &Path, error: &crate::game::quarto::SetError) -> Failure {
    Failure::Usage(format!("{}: {error}", path.display()))
}

/// The failure for a file that cannot be opened or read.
pub(in crate::cli) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::Usage(crate::text::unreadable(path, error))
}

/// The rules and the pieces of a record. The error is a sentence about one of them.
pub(in crate::cli) fn recorded_ruleset(record: &Record) -> Result<Arc<dyn Ruleset>, String> {
    registry::of_record(&record.game, &record.rules, record.pieces.as_deref())
}

/// Colours on a terminal only, when `NO_COLOR` is not set.
pub(in crate::cli) fn palette(stream: &impl RawStream) -> Palette {
    if stream.is_terminal() && AutoStream::choice(stream) != ColorChoice::Never {
        Palette::coloured()
    } else {
        Palette::plain()
    }
}

/// The number of columns of a terminal; `None` when it is none.
pub(in crate::cli) fn terminal_width(stream: &impl AsStream) -> Option<usize> {
    let (width, _) = terminal_size_of(stream)?;
    Some(usize::from(width.0)).filter(|&columns| columns > 0)
}

/// The path of this executable.
pub(in crate::cli) fn this_program() -> Result<PathBuf, Failure> {
    env::current_exe().map_err(|error| {
        Failure::Referee(format!(
            "cannot find this program's file: {error}",
            error = crate::text::cause(&error)
        ))
    })
}

/// Parses a BOT of the command line.
pub(in crate::cli) fn bot(text: &str) -> Result<BotSpec, Failure> {
    Ok(BotSpec::parse(text, &this_program()?, &strategy::NAMES)?)
}

/// The absolute form of a path.
pub(in crate::cli) fn absolute(path: &Path) -> Result<String, Failure> {
    let absolute = path::absolute(path).map_err(|error| {
        Failure::Usage(format!(
            "{}: {error}",
            path.display(),
            error = crate::text::cause(&error)
        ))
    })?;
    Ok(absolute.to_string_lossy().into_owned())
}
