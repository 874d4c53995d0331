//! What was made, and what a bot solved: as tables, JSON or XML as of `JUnit`.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use crate::cli::support::output::Stdout;
use crate::puzzles::puzzle::{HIGHEST_LEVEL, Kind, Puzzle};
use crate::puzzles::score::{Attempt, Response, Tally, by_kind, by_level};
use crate::report::escaped;
use crate::report::terminal::{Palette, aligned};
use crate::text::{counted, escape_controls, milliseconds};

const LISTED: usize = 5;

pub(super) struct Report<'a> {
    pub(super) bot: &'a str,
    /// A file, or a shipped set.
    pub(super) set: &'a str,
    pub(super) attempts: &'a [Attempt<'a>],
    /// More than attempts after an interruption.
    pub(super) all: usize,
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

/// `57/60`; empty without puzzles.
fn fraction(tally: Tally) -> String {
    if tally.of == 0 {
        return String::new();
    }
    format!("{}/{}", tally.solved, tally.of)
}

impl Report<'_> {
    const fn is_complete(&self) -> bool {
        self.attempts.len() == self.all
    }

    pub(super) fn print(
        &self,
        json: bool,
        all_failed: bool,
        least: Option<f64>,
        palette: &Palette,
    ) -> io::Result<()> {
        let text = if json {
            format!("{}\n", self.json())
        } else {
            self.text(all_failed, least, palette)
        };
        io::Write::write_all(&mut Stdout, text.as_bytes())
    }

    fn text(&self, all_failed: bool, least: Option<f64>, palette: &Palette) -> String {
        let kinds: Vec<Kind> = by_kind(self.attempts)
            .iter()
            .map(|(kind, _)| *kind)
            .collect();
        let cell = |kind, level| {
            let own = self.attempts.iter();
            fraction(Tally::of(
                own.filter(|attempt| is_of(attempt.puzzle, kind, level)),
            ))
        };
        let mut out = by_kinds_and_levels(cell, &kinds, palette);
        let failed = self.attempts.iter().filter_map(|attempt| {
            let problem = attempt.problem()?;
            Some((attempt, problem))
        });
        let listed = if all_failed { usize::MAX } else { LISTED };
        for (attempt, problem) in failed.clone().take(listed) {
            let Puzzle {
                id, position, kind, ..
            } = attempt.puzzle;
            let (kind, problem) = (kind.words(), escape_controls(&problem));
            let _ = writeln!(out, "{id}  {position}  {kind}: {problem}");
            if let Response::Fault { stderr, .. } = &attempt.response {
                for line in stderr.lines().take(LISTED) {
                    let _ = writeln!(out, "  stderr: {line}");
                }
            }
        }
        let more = failed.count().saturating_sub(listed);
        if more > 0 {
            let _ = writeln!(
                out,
                "and {}; --failed lists all",
                counted(more as u64, "other", "others")
            );
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

    fn json(&self) -> Json {
        let tally_json = |tally: Tally| json!({"solved": tally.solved, "of": tally.of});
        let kinds: Map<String, Json> = by_kind(self.attempts)
            .into_iter()
            .map(|(kind, tally)| (kind.name().to_owned(), tally_json(tally)))
            .collect();
        let levels: Map<String, Json> = by_level(self.attempts)
            .into_iter()
            .map(|(level, tally)| (level.to_string(), tally_json(tally)))
            .collect();
        let tally = Tally::of(self.attempts);
        json!({
            "bot": self.bot,
            "set": self.set,
            "solved": tally.solved,
            "of": tally.of,
            "share": tally.share(),
            "kinds": kinds,
            "levels": levels,
            "puzzles": self.attempts.iter().map(attempt_json).collect::<Vec<_>>(),
            "complete": self.is_complete(),
        })
    }
}

fn attempt_json(attempt: &Attempt<'_>) -> Json {
    let Puzzle {
        id,
        kind,
        level,
        position,
        answers,
        ..
    } = attempt.puzzle;
    let mut json = json!({
        "id": id,
        "kind": kind.name(),
        "level": level,
        "position": position,
        "answers": answers,
        "solved": attempt.is_solved(),
        "answer": null,
        "time_ms": milliseconds(attempt.time),
    });
    match &attempt.response {
        Response::Turn(turn) => json["answer"] = turn.as_str().into(),
        Response::Fault {
            reason,
            detail,
            stderr,
        } => {
            json["forfeit"] = json!({"reason": reason, "detail": detail, "stderr": stderr});
        }
        Response::NotAsked => {}
    }
    json
}

pub(super) fn junit(report: &Report<'_>) -> String {
    let name = escaped(&format!("{}: {}", report.bot, report.set));
    let (mut suites, mut failures) = (String::new(), 0);
    for kind in Kind::ALL {
        let attempts = report.attempts.iter();
        let own = attempts.filter(|attempt| attempt.puzzle.kind == kind);
        let (tests, time) = own
            .clone()
            .fold((0, Duration::ZERO), |(tests, time), attempt| {
                (tests + 1, time + attempt.time)
            });
        if tests == 0 {
            continue;
        }
        let failed = own.clone().filter(|attempt| attempt.problem().is_some());
        let (kind, failed, time) = (kind.words(), failed.count(), time.as_secs_f64());
        failures += failed;
        let _ = writeln!(
            suites,
            r#"    <testsuite name="{kind}" tests="{tests}" skipped="0" errors="0" failures="{failed}" time="{time:.3}">"#
        );
        own.for_each(|attempt| case(&mut suites, attempt));
        suites.push_str("    </testsuite>\n");
    }
    let tests = report.attempts.len();
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="{name}" tests="{tests}" skipped="0" failures="{failures}" errors="0">
{suites}</testsuites>
"#
    )
}

fn case(out: &mut String, attempt: &Attempt<'_>) {
    let puzzle = attempt.puzzle;
    let (id, game) = (escaped(&puzzle.id), escaped(&puzzle.game));
    let (kind, time) = (puzzle.kind.name(), attempt.time.as_secs_f64());
    let _ = write!(
        out,
        r#"        <testcase name="{id}" classname="{game}.{kind}" time="{time:.3}""#
    );
    let Some(problem) = attempt.problem() else {
        out.push_str("/>\n");
        return;
    };
    let (kind, stderr) = match &attempt.response {
        Response::Fault { reason, stderr, .. } => (*reason, stderr.as_str()),
        Response::Turn(_) => ("wrong-answer", ""),
        Response::NotAsked => ("not-asked", ""),
    };
    let (problem, position) = (escaped(&problem), escaped(&puzzle.position));
    let _ = writeln!(
        out,
        r#">
            <failure message="{problem}" type="{kind}">asked: {position}
{problem}</failure>"#
    );
    if !stderr.is_empty() {
        let _ = writeln!(
            out,
            "            <system-err>{}</system-err>",
            escaped(stderr)
        );
    }
    out.push_str("        </testcase>\n");
}
