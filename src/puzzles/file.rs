//! Files of puzzles: one JSON object a line. And those that are shipped.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::puzzle::{Puzzle, VERSION};
use crate::record::Record;
use crate::record::reader::{LineError, Reader};
use crate::session::Ruleset;
use crate::text::quote;

/// By name.
pub static SHIPPED: [(&str, &str); 2] = [
    ("quarto", include_str!("../../puzzles/quarto.jsonl")),
    (
        "four-in-a-row",
        include_str!("../../puzzles/four-in-a-row.jsonl"),
    ),
];

#[derive(Clone, Debug)]
pub struct Loaded {
    pub puzzle: Puzzle,
    /// With the piece set.
    pub ruleset: Arc<dyn Ruleset>,
}

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Line(#[from] LineError),
}

/// By the game's name, its rules and its piece set's CSV text. The error is a sentence.
pub type FindRules<'a> = &'a dyn Fn(&str, &str, Option<&str>) -> Result<Arc<dyn Ruleset>, String>;

/// Checks each puzzle against the rules. `path` is named in errors.
pub fn read(
    path: &Path,
    input: impl Read,
    find_rules: FindRules<'_>,
) -> Result<Vec<Loaded>, FileError> {
    let mut reader = Reader::new(path, input);
    let (mut puzzles, mut ids) = (Vec::<Loaded>::new(), HashSet::new());
    while let Some(line) = reader.next_line()? {
        if line.bytes().trim_ascii().is_empty() {
            continue;
        }
        let known = puzzles.last();
        let loaded = parse(line.bytes(), known, find_rules).map_err(|error| line.damaged(error))?;
        if !ids.insert(loaded.puzzle.id.clone()) {
            let id = &loaded.puzzle.id;
            let problem = format!("the puzzle {id} is in this file already; leave out one of them");
            return Err(line.damaged(problem).into());
        }
        puzzles.push(loaded);
    }
    Ok(puzzles)
}

/// `before` is the puzzle before it, whose rules are mostly the same.
fn parse(
    line: &[u8],
    before: Option<&Loaded>,
    find_rules: FindRules<'_>,
) -> Result<Loaded, String> {
    let puzzle: Puzzle = serde_json::from_slice(line).map_err(|error| {
        if Record::from_line(line).is_ok() {
            "it is a recorded game and no puzzle; make puzzles of it first: referee puzzles make FILE -o PUZZLES"
                .to_owned()
        } else {
            let problem = error.to_string();
            // The column is that of the line, which is named before this sentence.
            let problem = problem.split(" at line ").next().unwrap_or_default();
            format!("it is no puzzle, as `referee puzzles make` writes it: {problem}")
        }
    })?;
    if puzzle.v != VERSION {
        let v = puzzle.v;
        return Err(format!(
            "it is of version {v}, and this program reads version {VERSION}"
        ));
    }
    let is_same = |before: &&Loaded| {
        let before = &before.puzzle;
        (&before.game, &before.rules, &before.pieces)
            == (&puzzle.game, &puzzle.rules, &puzzle.pieces)
    };
    let ruleset = match before.filter(is_same) {
        Some(before) => Arc::clone(&before.ruleset),
        None => find_rules(&puzzle.game, &puzzle.rules, puzzle.pieces.as_deref())?,
    };
    let expected = puzzle.question().id();
    if puzzle.id != expected {
        let id = quote(puzzle.id.as_bytes());
        return Err(format!(
            "its id is {id}, but that of its position is {expected}"
        ));
    }
    let session = ruleset
        .read_request(&puzzle.position)
        .map_err(|problem| format!("its position: {problem}"))?;
    if puzzle.answers.is_empty() {
        return Err("it has no answers".to_owned());
    }
    for answer in &puzzle.answers {
        let mut canonical = String::new();
        let played = session.clone_box().play(answer, &mut canonical);
        if played.is_err() || canonical != *answer {
            let answer = quote(answer.as_bytes());
            return Err(format!("its answer {answer} is no turn there"));
        }
    }
    drop(session);
    Ok(Loaded { puzzle, ruleset })
}

/// With its newline.
pub fn line(puzzle: &Puzzle) -> serde_json::Result<String> {
    let mut line = serde_json::to_string(puzzle)?;
    line.push('\n');
    Ok(line)
}
