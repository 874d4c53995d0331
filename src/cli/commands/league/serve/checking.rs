//! Builds and checks one version, and says what was found as `referee check --json` does.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use crate::cli::support::failure::Result;
use referee::class::league::state::{Status, at_home};
use referee::play::game_runner::GameRunner;
use referee::report::checks::{CheckedBot, as_json};
use referee::stats::standings::Absence;
use referee::text::join_parts;
use referee::tournament::GameSettings;
use referee::tournament::checkup::{CheckNotice, Checkup, CheckupReport, Questions, Thoroughness};
use referee::tournament::entrants::Entrant;

/// What was found of a version.
pub(super) struct Found {
    pub(super) status: Status,
    pub(super) check: Value,
}

impl Found {
    /// `homes`: folders that its author knows as `.`.
    pub(super) fn unfit(name: &str, absence: &Absence, homes: &[String]) -> Self {
        let absence = absence.map(|text| at_home(text, homes));
        let checked = CheckedBot {
            name: name.to_owned(),
            report: Err(join_parts(&absence, "\n")),
        };
        Self {
            check: as_json(&checked, None),
            status: Status::Unfit(absence),
        }
    }

    fn of(name: &str, report: CheckupReport, homes: &[String]) -> Self {
        let problem = report.first_problem().map(|(_, problem)| problem.clone());
        let status = if report.is_fit() {
            Status::Fit
        } else {
            let absence = problem.map(Absence::from).unwrap_or_default();
            Status::Unfit(absence.map(|text| at_home(text, homes)))
        };
        let checked = CheckedBot {
            name: name.to_owned(),
            report: Ok(report),
        };
        let check = mapped(as_json(&checked, None), &|text| at_home(text, homes));
        Self { status, check }
    }
}

/// With each of its texts changed.
fn mapped(value: Value, change: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(&text)),
        Value::Array(all) => all.into_iter().map(|one| mapped(one, change)).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields
                .map(|(name, value)| (name, mapped(value, change)))
                .collect()
        }
        other => other,
    }
}

/// All checks, as `referee check` makes them; a bot enters by those that are required.
pub(super) async fn check(
    settings: &GameSettings,
    entrant: &Entrant,
    questions: Arc<Questions>,
    homes: &[String],
) -> Result<Found> {
    let runner = Rc::new(GameRunner::new(Arc::clone(&settings.ruleset), false)?);
    let seat = entrant.seat(&*settings.ruleset, settings.pieces_path.as_deref(), None);
    let mut ignore = |_: CheckNotice<'_>| {};
    let checkup = Checkup::new(&runner, seat, Thoroughness::Budget, questions, &mut ignore);
    let report = checkup.run(false).await?;
    Ok(Found::of(&entrant.plan.name, report, homes))
}
