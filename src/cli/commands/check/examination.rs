//! All checks of one bot, also with a piece set that no bot has built in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Args;
use crate::bot::orphans;
use crate::bot::spec::Program;
use crate::checkup::{Check, Checkup, Notice, Report};
use crate::cli::support::clock::check_clock;
use crate::cli::support::failure::Failure;
use crate::cli::support::interrupt::until_interrupted;
use crate::cli::support::leftovers::end_orphans;
use crate::cli::support::output::ProgressLine;
use crate::cli::support::pieces_file::PiecesFile;
use crate::cli::support::runtime::runtime;
use crate::cli::support::setup::match_set;
use crate::cli::support::signals;
use crate::game::quarto::PieceSet;
use crate::play::TimeControl;
use crate::play::game_runner::GameRunner;
use crate::play::seat::Seat;
use crate::session::Ruleset;
use crate::session::registry::Choices;

/// A set that no bot has built in: tests whether a bot reads `REFEREE_PIECES`.
const CUSTOM_SET: &str = include_str!("../../../../sets/greek.csv");

/// A check that takes longer than this shows how far it is.
const LONG: Duration = Duration::from_secs(1);

/// The game, its pieces and the limits with which bots are checked.
pub(super) struct Examination {
    ruleset: Arc<dyn Ruleset>,
    pieces: Option<PiecesFile>,
    /// The same game with a set that no bot has built in, when it has piece sets.
    custom: Option<(Arc<dyn Ruleset>, PiecesFile)>,
    time: TimeControl,
    budget: Duration,
}

impl Examination {
    /// What the options say.
    pub(super) fn new(args: &Args) -> Result<Self, Failure> {
        let ruleset = |set| {
            let choices = Choices {
                rules: args.rules.into(),
                set,
                ..Choices::default()
            };
            let options = args.game_option.iter().cloned().collect();
            args.game.ruleset(choices, &options)
        };
        let set = match_set(args.pieces.as_ref())?;
        let pieces = match &args.pieces {
            Some(path) if !set.is_builtin() => Some(PiecesFile::new(path, set.text())?),
            _ => None,
        };
        let custom = if args.game.has_piece_sets() {
            let set = PieceSet::parse(CUSTOM_SET).map_err(|error| {
                Failure::Referee(format!("the built-in custom piece set: {error}"))
            })?;
            Some((ruleset(set)?, PiecesFile::copy(CUSTOM_SET)?))
        } else {
            None
        };
        Ok(Self {
            ruleset: ruleset(set)?,
            pieces,
            custom,
            time: check_clock(TimeControl {
                move_time: args.move_time.0,
                start_time: args.start_time,
                kind: args.clock.into(),
                ..TimeControl::default()
            })?,
            budget: args.budget,
        })
    }

    /// Makes all checks of a program, and shows each as soon as it is made. The progress begins with `which`
    /// bot it is, if there are others.
    pub(super) fn run(
        &self,
        program: &Program,
        which: Option<String>,
        show: &mut dyn FnMut(&Check),
    ) -> Result<Report, Failure> {
        let begun = Instant::now();
        let runtime = runtime()?;
        let mut progress = Progress::new(which);
        // A second signal must not keep the bot from being ended.
        let _heeded = signals::heed();
        let mut show = |notice: Notice<'_>| progress.show(notice, show);
        let report = runtime.block_on(async {
            orphans::adopt();
            let examined = until_interrupted(async {
                let runner = GameRunner::new(Arc::clone(&self.ruleset), false)?;
                let pieces = self.pieces.as_ref().map(PiecesFile::path);
                let seat = self.seat(&*self.ruleset, pieces, program);
                let mut report = Checkup::new(&runner, seat, self.budget, &mut show)
                    .run()
                    .await?;
                let cannot_play = report.checks.iter().take(2).any(Check::is_fault);
                if let Some((ruleset, file)) = &self.custom
                    && !cannot_play
                {
                    let runner = GameRunner::new(Arc::clone(ruleset), false)?;
                    let seat = self.seat(&**ruleset, Some(file.path()), program);
                    let left = self.budget.saturating_sub(begun.elapsed());
                    let checkup = Checkup::new(&runner, seat, left, &mut show);
                    let custom = checkup.run_set("plays with a custom piece set").await?;
                    report.checks.extend(custom.checks);
                }
                Ok(report)
            })
            .await;
            // Dropping the checkup has ended the bot; these are processes that it left behind.
            end_orphans();
            examined
        });
        progress.clear();
        report
    }

    fn seat(&self, ruleset: &dyn Ruleset, pieces: Option<&str>, program: &Program) -> Seat {
        Seat::program(ruleset, pieces, program.clone(), self.time)
    }
}

/// How far a check is, on a terminal: a line that is replaced.
struct Progress {
    line: ProgressLine,
    /// The bot, if there are others.
    which: Option<String>,
    /// The check that is being made, and since when.
    current: Option<(&'static str, Instant)>,
}

impl Progress {
    fn new(which: Option<String>) -> Self {
        let line = ProgressLine::new();
        line.show(format!("  {}", which.as_deref().unwrap_or_default()));
        Self {
            line,
            which,
            current: None,
        }
    }

    fn show(&mut self, notice: Notice<'_>, show: &mut dyn FnMut(&Check)) {
        match notice {
            Notice::Checked(check) => self.line.suspend(|| show(check)),
            Notice::Asking { check, done, of } => {
                let since = match self.current {
                    Some((name, since)) if name == check => since,
                    _ => {
                        let now = Instant::now();
                        self.current = Some((check, now));
                        self.line
                            .show(format!("  {}", self.which.as_deref().unwrap_or_default()));
                        now
                    }
                };
                if since.elapsed() > LONG || of == 1 {
                    self.line.show(format!(
                        "  {}",
                        message(self.which.as_deref(), check, done, of)
                    ));
                }
            }
        }
    }

    fn clear(&self) {
        self.line.clear();
    }
}

/// Which bot is asked for which check, and how many of its questions it has answered.
fn message(which: Option<&str>, check: &str, done: usize, of: usize) -> String {
    let which = which.map_or_else(String::new, |which| format!("{which}: "));
    if of == 1 {
        format!("{which}{check} …")
    } else {
        format!("{which}{check}: {done} of {of} …")
    }
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn progress_of_a_class_names_the_bot() {
        let which = Some("checking 5 of 10: eve");
        assert_eq!(
            message(which, "answers the opening", 0, 1),
            "checking 5 of 10: eve: answers the opening …"
        );
        assert_eq!(
            message(None, "random positions", 7, 200),
            "random positions: 7 of 200 …"
        );
    }
}
