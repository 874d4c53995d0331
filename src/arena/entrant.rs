//! A bot of a tournament whose program has been found.

use std::sync::Arc;

use super::logs::StderrLog;
use super::plan::BotPlan;
use crate::bot::spec::Program;
use crate::bot::stderr::Tap;
use crate::play::TimeControl;
use crate::play::seat::Seat;
use crate::sandbox::snapshot::BotFiles;
use crate::session::Ruleset;

/// A bot of a plan, and the program that was found for it.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// Its entry in the plan.
    pub plan: BotPlan,
    /// Its program.
    pub program: Program,
    /// The files that are its own, where they were found.
    pub files: BotFiles,
}

impl Entrant {
    /// A seat for it in a game by these rules. `pieces_path` is the path of the piece set's file
    /// when it is not the built-in one; `tap` receives what the bot writes to stderr.
    pub fn seat(&self, ruleset: &dyn Ruleset, pieces_path: Option<&str>, tap: Option<Tap>) -> Seat {
        // The limits of a plan were made from a time control.
        let time = TimeControl::try_from(self.plan.limits).unwrap_or_default();
        let own = self.plan.environment.clone();
        let seat = Seat::program(ruleset, pieces_path, self.program.clone(), time)
            .named(self.plan.name.clone())
            .with_environment(own);
        match tap {
            Some(tap) => seat.with_tap(tap),
            None => seat,
        }
    }
}

/// An entrant whose stderr is written to a file.
#[derive(Clone, Debug)]
pub struct LoggedEntrant {
    /// The bot.
    pub entrant: Entrant,
    /// The file of its stderr.
    pub log: Arc<StderrLog>,
}
