//! What was made, and what a bot solved: as tables or JSON.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use super::run::Attempt;
use crate::cli::support::recorded::{fault_json, fault_lines};
use crate::puzzles::{HIGHEST_LEVEL, Kind, Puzzle};
use crate::report::terminal::{Palette, aligned};
use crate::text::{counted, escape_controls, milliseconds};

const LISTED: usize = 5;

pub(super) struct Report<'a> {
    pub(super) bot: &'a str,
    pub(super) set: &'a str,
    pub(super) attempts: &'a [Attempt<'a>],
    /// All puzzles were asked.
    pub(super) is_complete: bool,
}

/// How many were solved, of how many.
#[derive(Clone, Copy)]
pub(super) struct Tally {
    solved: usize,
    of: usize,
}

impl Tally {
    pub(super) fn of<'a>(attempts: impl IntoIterator<Item = &'a Attempt<'a>>) -> Self {
        let mut tally = Self { solved: 0, of: 0 };
        for attempt in attempts {
            tally.of += 1;
            tally.solved += usize::from(attempt.is_solved());
        }
        tally
    }

    /// From 0 to 1; of nothing it is 0.
    pub(super) fn share(self) -> f64 {
        let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        number(self.solved) / number(self.of.max(1))
    }

    fn json(self) -> Json {
        json!({"solved": self.solved, "of": self.of})
    }
}

/// A row for each kind, a column for each level.
fn by_kinds_and_levels(
    cell: impl Fn(Option<Kind>, Option<u32>) -> String,
    kinds: &[Kind],
    palette: &Palette,
) -> String {
    let levels = (1..=HIGHEST_LEVEL).map(Some).chain([None]);
    let mut head = vec!["kind".to_owned()];
    head.extend(levels.clone().map(|level| match level {
        Some(level) => format!("level {level}"),
        None => "all".to_owned(),
    }));
    let mut rows = vec![head];
    for kind in kinds.iter().copied().map(Some).chain([None]) {
        let mut row = vec![kind.map_or("all", Kind::words).to_owned()];
        row.extend(levels.clone().map(|level| cell(kind, level)));
        rows.push(row);
    }
    aligned(&rows, palette, &[0])
}

fn is_of(puzzle: &Puzzle, kind: Option<Kind>, level: Option<u32>) -> bool {
    kind.is_none_or(|kind| puzzle.kind == kind) && level.is_none_or(|level| puzzle.level == level)
}

pub(super) fn made_table(puzzles: &[Puzzle], palette: &Palette) -> String {
    if puzzles.is_empty() {
        return "no puzzles: no mistake was proven in these games\n".to_owned();
    }
    let cell = |kind, level| {
        let own = puzzles.iter().filter(|puzzle| is_of(puzzle, kind, level));
        own.count().to_string()
    };
    by_kinds_and_levels(cell, &Kind::ALL, palette)
}

impl Attempt<'_> {
    fn is_solved(&self) -> bool {
        matches!(&self.asked, Some(Ok(answer)) if self.puzzle.is_right(&answer.turn))
    }

    /// A sentence without a full stop, and the first lines of stderr; `None` when nothing is wrong.
    fn problem(&self, lines: usize) -> Option<String> {
        match &self.asked {
            None => Some(
                "it was not asked: its process gave no first answer three times in a row"
                    .to_owned(),
            ),
            Some(Ok(answer)) if !self.puzzle.is_right(&answer.turn) => {
                let Puzzle { value, answers, .. } = self.puzzle;
                let shown: Vec<&str> = answers.iter().take(4).map(String::as_str).collect();
                let more = match answers.len() - shown.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let (turn, shown) = (&answer.turn, shown.join(", "));
                let text = format!("{turn} lets the {value} slip; right: {shown}{more}");
                Some(escape_controls(&text))
            }
            Some(Ok(_)) => None,
            Some(Err(fault)) => Some(fault_lines(fault, lines)),
        }
    }

    fn json(&self) -> Json {
        let mut json = json!({
            "id": self.puzzle.id,
            "kind": self.puzzle.kind,
            "level": self.puzzle.level,
            "position": self.puzzle.position,
            "answers": self.puzzle.answers,
            "solved": self.is_solved(),
            "answer": null,
            "time_ms": milliseconds(self.time),
        });
        match &self.asked {
            Some(Ok(answer)) => json["answer"] = answer.turn.as_str().into(),
            Some(Err(fault)) => json["forfeit"] = fault_json(fault),
            None => {}
        }
        json
    }
}

impl Report<'_> {
    fn of(&self, kind: Option<Kind>, level: Option<u32>) -> impl Iterator<Item = &Attempt<'_>> {
        let attempts = self.attempts.iter();
        attempts.filter(move |attempt| is_of(attempt.puzzle, kind, level))
    }

    fn kinds(&self) -> impl Iterator<Item = Kind> {
        let kinds = Kind::ALL.into_iter();
        kinds.filter(|kind| self.of(Some(*kind), None).next().is_some())
    }

    pub(super) fn text(&self, least: Option<f64>, palette: &Palette) -> String {
        let cell = |kind, level| match Tally::of(self.of(kind, level)) {
            Tally { of: 0, .. } => String::new(),
            Tally { solved, of } => format!("{solved}/{of}"),
        };
        let mut out = by_kinds_and_levels(cell, &self.kinds().collect::<Vec<_>>(), palette);
        let failed = self.attempts.iter().filter_map(|attempt| {
            let problem = attempt.problem(LISTED)?;
            let Puzzle {
                id, position, kind, ..
            } = attempt.puzzle;
            let position = escape_controls(position);
            Some(format!("{id}  {position}  {}: {problem}\n", kind.words()))
        });
        out.extend(failed.clone().take(LISTED));
        let more = failed.count().saturating_sub(LISTED);
        if more > 0 {
            let more = counted(more as u64, "other", "others");
            let _ = writeln!(out, "and {more}; --json has all");
        }
        let tally = Tally::of(self.attempts);
        let Tally { solved, of } = tally;
        let (name, share) = (escape_controls(self.bot), 100.0 * tally.share());
        let _ = write!(out, "{name} solves {solved} of {of}: {share:.1} %");
        if let Some(least) = least.filter(|least| tally.share() < *least) {
            let _ = write!(out, ", less than {} %", 100.0 * least);
        }
        out.push('\n');
        out
    }

    pub(super) fn json(&self) -> Json {
        let kinds = self.kinds().map(|kind| {
            let tally = Tally::of(self.of(Some(kind), None));
            (kind.name().to_owned(), tally.json())
        });
        let levels = (1..=HIGHEST_LEVEL).filter_map(|level| {
            let tally = Tally::of(self.of(None, Some(level)));
            (tally.of > 0).then(|| (level.to_string(), tally.json()))
        });
        let tally = Tally::of(self.attempts);
        json!({
            "bot": self.bot,
            "set": self.set,
            "solved": tally.solved,
            "of": tally.of,
            "share": tally.share(),
            "kinds": kinds.collect::<Map<_, _>>(),
            "levels": levels.collect::<Map<_, _>>(),
            "puzzles": self.attempts.iter().map(Attempt::json).collect::<Vec<_>>(),
            "complete": self.is_complete,
        })
    }
}
