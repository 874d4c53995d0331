//! Prepares a tournament, and prints the progress of the entry check, and who does not enter.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::failures::with_place;
use super::late;
use crate::arena::entrants::Entrants;
use crate::arena::entrants::LoggedEntrant;
use crate::arena::plan::Plan;
use crate::arena::preparation::{Notice, Preparation, PreparationError};
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{ProgressLine, print_stderr};
use crate::text::{counted, escape_controls};

/// Time between two lines of progress where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// How many seeds are listed.
const SEEDS: usize = 16;

/// Prepares a tournament, or the resumption of an old one, and prints what there is to know.
pub(super) async fn prepare(
    preparation: &Preparation<'_>,
    old: Option<Plan>,
    entrants: Entrants,
    stops: &mut mpsc::Receiver<()>,
) -> Result<(Plan, Vec<LoggedEntrant>), Failure> {
    let mut notices = Notices::new(preparation.directory.path());
    let mut notify = |notice: Notice<'_>| notices.print(notice);
    if let Some(old) = old {
        let begun_in = old.clone();
        let resumed = preparation.resume(old, entrants, &mut notify);
        return resumed.map_err(|error| match error {
            missing @ PreparationError::Missing(_) => with_place(missing.into(), Some(&begun_in)),
            error => error.into(),
        });
    }
    let begun = tokio::select! {
        begun = preparation.begin(entrants, &mut notify) => Some(begun),
        _ = stops.recv() => None,
    };
    notices.clear();
    let begun = begun.ok_or(Failure::Interrupted)??;
    if begun.0.format.depends_on_results() {
        print_stderr(&seeds(&begun.0));
    }
    Ok(begun)
}

/// Prints notices.
pub(in crate::cli) struct Notices {
    directory: PathBuf,
    line: ProgressLine,
    shown: Instant,
}

impl Notices {
    /// For a tournament in this directory.
    pub(in crate::cli) fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            line: ProgressLine::new(),
            shown: Instant::now(),
        }
    }

    /// Removes the line of progress.
    pub(in crate::cli) fn clear(&self) {
        self.line.clear();
    }

    /// Prints a notice.
    pub(in crate::cli) fn print(&mut self, notice: Notice<'_>) {
        if let Notice::Checking { name, number, of } = notice {
            self.checking(name, number, of);
            return;
        }
        self.clear();
        print_stderr(&match notice {
            Notice::Checking { .. } => return,
            Notice::Warning(text) => format!("referee: warning: {text}"),
            Notice::Seed(seed) => format!("referee: seed {seed}"),
            Notice::Checked { passed, of } => {
                let is = if passed == 1 { "is" } else { "are" };
                format!(
                    "referee: {passed} of {} {is} fit to enter",
                    counted(of as u64, "bot", "bots")
                )
            }
            Notice::Rejected(rejected) => {
                format!(
                    "referee: {} does not enter: {}",
                    rejected.bot.name, rejected.reason
                )
            }
            Notice::Mended { bot, plan } => late::mended(&self.directory, plan, bot),
            Notice::BegunByVersion(old) => format!(
                "referee: version {old} began this tournament; this is version {}",
                env!("CARGO_PKG_VERSION")
            ),
        });
    }

    fn checking(&mut self, name: &str, number: usize, of: usize) {
        let text = format!("checking {number} of {of}: {}", escape_controls(name));
        if self.line.is_terminal() {
            self.line.show(text);
        } else if self.shown.elapsed() >= LINE_INTERVAL {
            self.shown = Instant::now();
            print_stderr(&format!("referee: {text}"));
        }
    }
}

/// By what the bots of a new tournament are seeded.
fn seeds(plan: &Plan) -> String {
    let by = plan.seeded_by.as_deref().map_or_else(
        || "in the order given, those of a folder by name".to_owned(),
        |file| format!("by {}", escape_controls(file)),
    );
    let mut text = format!("referee: seeds, {by}:");
    for (place, bot) in plan.bots.iter().enumerate().take(SEEDS) {
        let comma = if place == 0 { "" } else { "," };
        let _ = write!(text, "{comma} {} {}", place + 1, bot.name);
    }
    let more = plan.bots.len().saturating_sub(SEEDS);
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    if plan.seeded_by.is_none() {
        text.push_str("; --seeds FILE takes the order of a standings file");
    }
    text
}
