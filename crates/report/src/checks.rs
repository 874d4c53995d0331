//! What checks found, for programs, and as a table for a spreadsheet.

use super::standings::{CsvTable, escape_formula};
use referee_text::milliseconds as ms;
use referee_tournament::checkup::{CheckVerdict, CheckupReport, Coverage};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedBot {
    pub name: String,
    /// Or why it cannot be started.
    pub report: Result<CheckupReport, String>,
}

impl CheckedBot {
    pub fn is_fit(&self) -> bool {
        self.report.as_ref().is_ok_and(CheckupReport::is_fit)
    }
}

/// For each bot: whether it is fit, what to fix first (of a fit bot, the first advice), checks that were cut short, as the
/// bot thinks long, times in milliseconds.
pub fn as_csv(bots: &[CheckedBot]) -> String {
    let mut table = CsvTable::default();
    table.row("bot fit check problem fix reproduce asked_only median_ms worst_ms".split(' '));
    for bot in bots {
        let fit = if bot.is_fit() { "yes" } else { "no" };
        let mut fields = [const { String::new() }; 7];
        match &bot.report {
            Err(why) => {
                "starts".clone_into(&mut fields[0]);
                fields[1].clone_from(why);
            }
            Ok(report) => {
                if let Some((check, problem)) = report.first_problem() {
                    check.name.clone_into(&mut fields[0]);
                    fields[1] = problem.sentence();
                    fields[2].clone_from(&problem.fix);
                    fields[3] = problem.again.clone().unwrap_or_default();
                }
                fields[4] = asked_only(report).join("; ");
                if let Some(times) = report.times {
                    fields[5] = format!("{:.4}", ms(times.median));
                    fields[6] = format!("{:.4}", ms(times.worst));
                }
            }
        }
        let fields = fields.iter().map(|field| escape_formula(field));
        let head = [escape_formula(&bot.name), fit.to_owned()];
        table.row(head.into_iter().chain(fields));
    }
    table.text
}

pub const LEFT_OUT: &str = "not asked, as it thinks long";

/// The checks that the budget cut short, with how much was asked: `random positions (5 of 200)`.
pub fn asked_only(report: &CheckupReport) -> Vec<String> {
    let cut_short = report.cut_short().into_iter();
    cut_short
        .map(|(check, Coverage { asked, of })| format!("{check} ({asked} of {of})"))
        .collect()
}

/// `command`: how the bot is started.
pub fn as_json(bot: &CheckedBot, command: Option<&[String]>) -> Value {
    let none = CheckupReport::default();
    let report = bot.report.as_ref().unwrap_or(&none);
    let checks: Vec<Value> = report
        .checks
        .iter()
        .map(|check| {
            let (ok, detail) = match &check.verdict {
                CheckVerdict::Good(text) => (Some(true), Some(text.clone())),
                CheckVerdict::Bad(problem) => (Some(false), Some(problem.sentence())),
                CheckVerdict::Skipped => (None, None),
                CheckVerdict::LeftOut => (None, Some(LEFT_OUT.to_owned())),
            };
            let problem = check.problem();
            json!({
                "name": check.name,
                "ok": ok,
                "required": check.required,
                "detail": detail,
                "fix": problem.map(|problem| &problem.fix),
                "reproduce": problem.and_then(|problem| problem.again.as_ref()),
            })
        })
        .collect();
    let times = report.times.map(
        |times| json!({"median": ms(times.median), "p99": ms(times.p99), "worst": ms(times.worst)}),
    );
    let cut_short = report.cut_short().into_iter();
    let cut_short: Vec<Value> = cut_short
        .map(|(check, Coverage { asked, of })| json!({"check": check, "asked": asked, "of": of}))
        .collect();
    let mut json = json!({
        "bot": bot.name,
        "command": command,
        "fit": bot.is_fit(),
        "fix_first": report.first_problem().map(|(check, problem)| json!({
            "check": check.name,
            "detail": problem.sentence(),
            "fix": problem.fix,
            "reproduce": problem.again,
        })),
        "asked_only": cut_short,
        "checks": checks,
        "times_ms": times,
    });
    if let Err(why) = &bot.report {
        json["refused"] = why.as_str().into();
    }
    json
}
