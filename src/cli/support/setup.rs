//! Piece sets and their files, rules, bots and colours, as several commands read them.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, Write as _};
use std::path::{self, Path, PathBuf};
use std::sync::Mutex;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use tempfile::NamedTempFile;
use terminal_size::terminal_size_of;

use super::building::SourceBuilder;
use super::failure::{Failure, Result, usage};
use super::output::note;
use super::sandbox::SandboxOptions;
use referee::bot::shell::quoted;
use referee::entrants::argument::{BotSpec, Located, locate, longer_path};
use referee::entrants::class;
use referee::entrants::folder::BotFolder;
use referee::game::quarto::PieceSet;
use referee::record::text_file;
use referee::report::terminal::Palette;
use referee::strategy;
use referee::system::AsStream;
use referee::threads::locked;

pub(crate) fn piece_set(path: Option<&PathBuf>) -> Result<PieceSet> {
    let Some(path) = path else {
        return Ok(PieceSet::default());
    };
    if path.is_dir() {
        let problem = "it is a directory; expected a piece set's CSV file";
        return Err(wrong_at(path, problem));
    }
    let file = text_file::open(path).map_err(|error| unreadable(path, &error))?;
    PieceSet::read(file).map_err(|error| wrong_at(path, &error.to_string()))
}

pub(crate) fn match_set(path: Option<&PathBuf>) -> Result<PieceSet> {
    let set = piece_set(path)?;
    let place = path.map_or(Path::new("the built-in set"), |path| path);
    let checked = set.check_for_match();
    checked.map_err(|error| wrong_at(place, &error.to_string()))?;
    Ok(set)
}

pub(crate) fn wrong_at(place: &Path, problem: &str) -> Failure {
    usage!("{}: {problem}", place.display())
}

pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::Usage(referee::text::unreadable(path, error))
}

pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let (path, cause) = (path.display(), referee::text::cause(error));
    usage!("{path}: cannot be written: {cause}; choose a place where you may write")
}

pub(crate) fn palette(stream: &impl RawStream) -> Palette {
    if stream.is_terminal() && AutoStream::choice(stream) != ColorChoice::Never {
        Palette {
            glyphs: is_utf8(),
            ..Palette::coloured()
        }
    } else {
        Palette::default()
    }
}

fn is_utf8() -> bool {
    let value = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(value);
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8") || value("WT_SESSION").is_some()
}

pub(crate) fn terminal_width(stream: &impl AsStream) -> Option<usize> {
    let (width, _) = terminal_size_of(stream)?;
    Some(usize::from(width.0)).filter(|&columns| columns > 0)
}

/// Says which.
pub(crate) fn drawn_seed() -> u64 {
    let seed = referee::seed::drawn();
    note!("seed {seed}");
    seed
}

pub(crate) fn this_program() -> Result<PathBuf> {
    env::current_exe().map_err(|error| {
        let cause = referee::text::cause(&error);
        Failure::Referee(format!("cannot find this program's file: {cause}"))
    })
}

/// The bot that was given; sources are built in the sandbox of these options. A folder that is none may be a class, of the game
/// that was typed as `game`.
pub(crate) fn bot(text: &str, sandbox: &SandboxOptions, game: &str) -> Result<BotSpec> {
    let found = bot_of_class(text, sandbox);
    let path = Path::new(text);
    let Err(Failure::CannotStart(mut error)) = found else {
        return found;
    };
    if path.is_dir() && BotFolder::read(path).is_err() {
        let bots = class::programs(path).unwrap_or_default();
        if bots.programs.len() + bots.refused.len() > 1 {
            let folder = quoted(text);
            error.fix = format!(
                "if each in it is a bot: referee check --each{game} {folder}, or referee tournament{game} {folder}; if it is one bot: {}",
                error.fix
            );
        }
    }
    Err(error.into())
}

/// One of several that were found in a folder.
pub(crate) fn bot_of_class(text: &str, sandbox: &SandboxOptions) -> Result<BotSpec> {
    let builder = SourceBuilder(sandbox);
    Ok(located(text)?.ready(Some(&builder))?)
}

/// Before anything is built.
pub(crate) fn located(text: &str) -> Result<Located> {
    warn_of_longer_path(text);
    Ok(locate(text, &this_program()?, &strategy::NAMES)?)
}

/// Once for each command line.
pub(crate) fn warn_of_longer_path(text: &str) {
    static WARNED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if let Some(longer) = longer_path(text)
        && locked(&WARNED).insert(text.to_owned())
    {
        note!("warning: {longer}");
    }
}

pub(crate) fn absolute(path: &Path) -> Result<String> {
    let absolute = path::absolute(path).map_err(|error| unreadable(path, &error))?;
    Ok(absolute.to_string_lossy().into_owned())
}

/// Without links, as far as the path exists.
pub(crate) fn whole(path: &Path) -> PathBuf {
    let path = path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut known = path.ancestors();
    let whole = known.find_map(|place| {
        let rest = path.strip_prefix(place).ok()?;
        Some(place.canonicalize().ok()?.join(rest))
    });
    whole.unwrap_or(path)
}

/// A piece set's file that bots can read as long as this lives: the user's, or a copy. None for a set that is built in.
#[derive(Debug, Default)]
pub(crate) struct PiecesFile {
    path: Option<String>,
    /// Deleted on drop.
    _copy: Option<NamedTempFile>,
}

impl PiecesFile {
    /// Copies `text`, which was read from `path`, where a bot could not read the same there: a pipe, `/dev/stdin`, a
    /// name that is not UTF-8.
    pub(crate) fn new(path: Option<&Path>, text: Option<&str>) -> Result<Self> {
        let Some(text) = text else {
            return Ok(Self::default());
        };
        let named = path.and_then(|path| {
            if cfg!(windows) {
                path::absolute(path).ok()
            } else {
                // `/dev/stdin` is another file to another process.
                path.canonicalize().ok()
            }
        });
        let file = named.filter(|path| path.is_file());
        if let Some(path) = file.and_then(|path| path.into_os_string().into_string().ok()) {
            return Ok(Self {
                path: Some(path),
                _copy: None,
            });
        }
        let directory = std::env::temp_dir();
        let failed = |error| {
            usage!(
                "cannot write a copy of the piece set into {}: {error}; set TMPDIR to a directory where you may write",
                directory.display(),
                error = referee::text::cause(&error)
            )
        };
        let mut file = tempfile::Builder::new()
            .prefix("referee-set-")
            .suffix(".csv")
            .tempfile_in(&directory)
            .map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        let absolute = path::absolute(file.path()).map_err(failed)?;
        let path = absolute.into_os_string().into_string();
        let path = path.map_err(|_| failed(io::Error::other("its name is not UTF-8")))?;
        Ok(Self {
            path: Some(path),
            _copy: Some(file),
        })
    }

    /// Absolute.
    pub(crate) fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }
}
