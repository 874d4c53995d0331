//! What stands for a file of records: the folder of a tournament, and a game by its number or id.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fs, io};

use super::failure::{Failure, Result, bail, usage};
use super::output::print_stderr;
use super::setup::{unreadable, unwritable};
use referee::record::atomic_file::replace;
use referee::record::reader::{Reader, RecordLine};
use referee::record::{Record, text_file};
use referee::stats::standings::Ranking;
use referee::text::quote;
use referee::tournament::TournamentError;
use referee::tournament::analysing;
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::overview::TournamentOverview;
use referee::tournament::plan::Plan;
use referee::tournament::results::{Results, not_entered, places_before};
use referee::tournament::shard;

#[cfg(unix)]
use std::os::fd::AsFd as _;
#[cfg(windows)]
use std::os::windows::io::AsHandle as _;

pub(crate) fn records_of(path: &Path) -> Result<PathBuf> {
    if path == Path::new(STDIN) || !path.is_dir() {
        return Ok(path.to_owned());
    }
    let directory = TournamentDirectory::at(path);
    let games = directory.journal_file();
    let shown = path.display();
    let played = fs::metadata(&games).map_or(0, |metadata| metadata.len());
    // A plan makes the file, and its parts are written beside it.
    if played == 0 && shard::folder(path).is_dir() {
        bail!(
            "{shown}: its tournament is played in parts; put them together first: referee shard merge {}",
            directory.quoted()
        );
    }
    if games.exists() {
        return Ok(games);
    }
    bail!(
        "{shown}: there is no games.jsonl in this folder; give the folder of a tournament (--out), or a \
         file of records"
    )
}

pub(crate) struct Records {
    reader: Reader,
    /// Whether it was said already that the last line is incomplete.
    is_again: bool,
}

impl Records {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self {
            reader: open(path)?,
            is_again: false,
        })
    }

    pub(crate) fn open_again(path: &Path) -> Result<Self> {
        Ok(Self {
            is_again: true,
            ..Self::open(path)?
        })
    }

    pub(crate) fn next_line(&mut self) -> Result<Option<RecordLine<'_>>> {
        Ok(self.reader.next_line()?)
    }
}

impl Iterator for Records {
    type Item = Result<(u64, Record)>;

    fn next(&mut self) -> Option<Self::Item> {
        let is_again = self.is_again;
        let line = match self.next_line() {
            Ok(line) => line?,
            Err(failure) => return Some(Err(failure)),
        };
        match line.record() {
            Err(torn) if torn.is_torn() => {
                if !is_again {
                    print_stderr(&torn.to_string());
                }
                None
            }
            Err(error) => Some(Err(error.into())),
            Ok(record) => Some(Ok((line.number(), record))),
        }
    }
}

/// What stands for standard input; a file of this name is `./-`.
pub(crate) const STDIN: &str = "-";

/// A file of records; `-` is standard input, which can be read once.
pub(crate) fn open(path: &Path) -> Result<Reader> {
    if path != Path::new(STDIN) {
        return Ok(Reader::open(path)?);
    }
    #[cfg(unix)]
    let stdin = io::stdin().as_fd().try_clone_to_owned();
    #[cfg(windows)]
    let stdin = io::stdin().as_handle().try_clone_to_owned();
    let stdin = stdin.map_err(|error| unreadable(path, &error))?;
    Ok(Reader::new(path, fs::File::from(stdin)))
}

/// Refuses standard input for `what`, which needs a file.
pub(crate) fn check_not_stdin(paths: &[PathBuf], what: &str) -> Result<()> {
    if paths.iter().any(|path| path == Path::new(STDIN)) {
        bail!(
            "-: {what} a file; write standard input to one first, such as by `cat > games.jsonl`"
        );
    }
    Ok(())
}

pub(crate) fn invalid(file: &Path, number: u64, problem: &(impl Display + ?Sized)) -> Failure {
    usage!("{}:{number}: {problem}", file.display())
}

/// A file that people write.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    text_file::read_written(path).map_err(|error| unreadable(path, &error))
}

/// Atomically: a process that has the old file open still reads it completely.
pub(crate) fn replace_file(path: &Path, text: &str) -> Result<()> {
    let replaced = if path.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else if path.is_file() || !path.exists() {
        replace(path, text.as_bytes())
    } else {
        // A pipe or a terminal.
        fs::write(path, text)
    };
    replaced.map_err(|error| unwritable(path, &error))
}

/// The files of analyses in these folders of tournaments.
pub(crate) fn analyses_of(paths: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    let folders = paths.iter().filter(|path| path.is_dir());
    let files = folders.map(|folder| analysing::file(&TournamentDirectory::at(folder)));
    files.filter(|file| file.is_file())
}

pub(crate) fn all_records(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    paths.iter().map(|path| records_of(path)).collect()
}

pub(crate) fn title_of_folder(folder: &Path) -> String {
    let path = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

pub(crate) fn title_of(paths: &[PathBuf]) -> String {
    let name = |path: &PathBuf| match path.file_stem() {
        Some(name) if !path.is_dir() => name.to_string_lossy().into_owned(),
        _ => title_of_folder(path),
    };
    paths.iter().map(name).collect::<Vec<_>>().join(", ")
}

pub(crate) fn plan_of(file: &Path) -> Result<Option<Plan>> {
    let folder = file.parent().unwrap_or(Path::new(""));
    // Other records are a table of their own.
    if !file.ends_with("games.jsonl") || !folder.join("plan.json").is_file() {
        return Ok(None);
    }
    Ok(TournamentDirectory::at(folder).plan()?)
}

pub(crate) fn plan_in(texts: &[String]) -> Result<Option<Plan>> {
    match texts {
        [one] if Path::new(one).join("plan.json").is_file() => {
            Ok(TournamentDirectory::at(Path::new(one)).plan()?)
        }
        _ => Ok(None),
    }
}

pub(crate) fn pieces_of(file: &Path) -> Option<String> {
    let pieces = file.parent()?.join("pieces.csv");
    let is_there = file.ends_with("games.jsonl") && pieces.is_file();
    is_there.then(|| pieces.to_string_lossy().into_owned())
}

pub(crate) fn tournament_of(files: &[PathBuf]) -> Result<(Ranking, Option<TournamentOverview>)> {
    if let [file] = files {
        return match plan_of(file)? {
            Some(plan) => ranking_of_plan(file, &plan),
            None => Ok((Ranking::default(), None)),
        };
    }
    let mut ranking = Ranking::default();
    for file in files {
        for absent in plan_of(file)?.iter().flat_map(not_entered) {
            let mut known = ranking.not_entered.iter();
            if !known.any(|known| known.name == absent.name) {
                ranking.not_entered.push(absent);
            }
        }
    }
    Ok((ranking, None))
}

fn ranking_of_plan(file: &Path, plan: &Plan) -> Result<(Ranking, Option<TournamentOverview>)> {
    let mut results = Results::new(plan);
    // Results say why a sequential test ended early.
    if plan.format.depends_on_results() || plan.sprt.is_some() {
        match TournamentDirectory::read_journal(file, plan) {
            Err(TournamentError::Line(_)) => {
                let alone = Ranking {
                    before: places_before(plan),
                    not_entered: not_entered(plan),
                    ..Ranking::default()
                };
                return Ok((alone, None));
            }
            read => results = read?,
        }
    }
    Ok((results.ranking(plan), Some(results.overview(plan))))
}

/// `--number`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GameChoice {
    /// A line, from 1.
    Number(u64),
    Id(String),
}

impl FromStr for GameChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(0) => {
                Err("expected the number of a game, from 1, or its id, such as p000012a".to_owned())
            }
            Ok(number) => Ok(Self::Number(number)),
            Err(_) => Ok(Self::Id(
                with_zeros(text).unwrap_or_else(|| text.to_owned()),
            )),
        }
    }
}

/// `p12a` is `p000012a`.
fn with_zeros(text: &str) -> Option<String> {
    let digits = text.strip_prefix('p')?.strip_suffix(['a', 'b'])?;
    let pair: u64 = digits.parse().ok()?;
    Some(format!("p{pair:06}{}", &text[text.len() - 1..]))
}

impl GameChoice {
    pub(crate) fn is(&self, number: u64, id: impl FnOnce() -> Option<String>) -> bool {
        match self {
            Self::Number(chosen) => *chosen == number,
            Self::Id(chosen) => id().is_some_and(|id| id == *chosen),
        }
    }

    /// Without a choice, every line.
    pub(crate) fn chooses(choice: Option<&Self>, line: &RecordLine<'_>) -> bool {
        let id = || Some(line.summary().ok()?.id.into_owned());
        choice.is_none_or(|choice| choice.is(line.number(), id))
    }

    /// `games`: how many the file has.
    pub(crate) fn missing(&self, file: &Path, games: u64) -> Failure {
        let file = file.display();
        Failure::Usage(match self {
            Self::Number(number) => {
                format!("{file}: there is no game {number}; the file has {games}")
            }
            Self::Id(id) => format!(
                "{file}: there is no game with the id {}; --number takes the number of one of its \
                 {games} games, or an id as the records hold it",
                quote(id.as_bytes())
            ),
        })
    }
}
