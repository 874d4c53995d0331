//! The results as XML in the form of `JUnit`: a suite for each kind, a test case for each puzzle.

use quick_junit::{
    NonSuccessKind, Report as JunitReport, SerializeError, TestCase, TestCaseStatus, TestSuite,
};

use super::output::Report;
use crate::puzzles::puzzle::Kind;
use crate::puzzles::score::{Attempt, Response};

pub(super) fn junit(report: &Report<'_>) -> Result<String, SerializeError> {
    let mut suites = Vec::new();
    for kind in Kind::ALL {
        let own = report
            .attempts
            .iter()
            .filter(|attempt| attempt.puzzle.kind == kind);
        let cases: Vec<TestCase> = own.clone().map(case).collect();
        if cases.is_empty() {
            continue;
        }
        let mut suite = TestSuite::new(kind.words());
        suite.set_time(own.map(|attempt| attempt.time).sum());
        suite.add_test_cases(cases);
        suites.push(suite);
    }
    let mut whole = JunitReport::new(format!("{}: {}", report.bot, report.set));
    whole.add_test_suites(suites);
    whole.to_string()
}

fn case(attempt: &Attempt<'_>) -> TestCase {
    let puzzle = attempt.puzzle;
    let status = match attempt.problem() {
        None => TestCaseStatus::success(),
        Some(problem) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let kind = match &attempt.response {
                Response::Fault { reason, .. } => reason,
                Response::Turn(_) => "wrong-answer",
                Response::NotAsked => "not-asked",
            };
            status.set_type(kind);
            let description = format!("asked: {}\n{problem}", puzzle.position);
            status.set_message(problem).set_description(description);
            status
        }
    };
    let mut case = TestCase::new(puzzle.id.as_str(), status);
    case.set_classname(format!("{}.{}", puzzle.game, puzzle.kind.name()));
    case.set_time(attempt.time);
    if let Response::Fault { stderr, .. } = &attempt.response
        && !stderr.is_empty()
    {
        case.set_system_err(stderr.as_str());
    }
    case
}
