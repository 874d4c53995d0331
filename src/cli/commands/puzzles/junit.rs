//! The results as XML in the form of `JUnit`: a suite for each kind, a test case for each puzzle.

use std::fmt::Write as _;
use std::time::Duration;

use super::output::Report;
use crate::puzzles::puzzle::Kind;
use crate::puzzles::score::{Attempt, Response};
use crate::report::escaped;

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
