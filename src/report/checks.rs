//! Checks of many bots, as a table for a spreadsheet.

use super::standings::{CsvTable, escape_formula};
use crate::checkup::Report;
use crate::text::milliseconds;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedBot {
    pub name: String,
    /// Or why it cannot be started.
    pub report: Result<Report, String>,
}

impl CheckedBot {
    pub fn is_fit(&self) -> bool {
        self.report.as_ref().is_ok_and(Report::is_fit)
    }
}

/// For each bot: whether it is fit, what to fix first (of a fit bot, the first advice), checks left out for lack of
/// time, times in milliseconds.
pub fn as_csv(bots: &[CheckedBot]) -> String {
    let mut table = CsvTable::default();
    table.row("bot fit check problem fix reproduce left_out median_ms worst_ms".split(' '));
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
                fields[4] = report.left_out().join("; ");
                if let Some(times) = report.times {
                    fields[5] = format!("{:.4}", milliseconds(times.median));
                    fields[6] = format!("{:.4}", milliseconds(times.worst));
                }
            }
        }
        let fields = fields.iter().map(|field| escape_formula(field));
        let head = [escape_formula(&bot.name), fit.to_owned()];
        table.row(head.into_iter().chain(fields));
    }
    table.text
}
