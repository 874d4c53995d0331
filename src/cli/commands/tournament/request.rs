//! Converts the options of a tournament to requests to the library.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::bot_options::BotOptions;
use super::options::Options;
use crate::arena::entrants::{self, BotRequest};
use crate::arena::plan::request::PlanRequest;
use crate::arena::plan::{BotPlan, Format, Plan, Restart};
use crate::cli::support::clock::check_clock;
use crate::cli::support::failure::Failure;
use crate::cli::support::games::{self, GameArg, GameOptions};
use crate::cli::support::output::print_stderr;
use crate::cli::support::setup::{absolute, match_set};
use crate::game::quarto::{PieceSet, Rules};
use crate::game_program::GameProgram;
use crate::play::TimeControl;
use crate::sandbox::Sandbox;
use crate::session::Ruleset;
use crate::session::registry::{self, Choices};

/// The bots of a plan, as requests to start them again.
pub(in crate::cli) fn bots_of(plan: &Plan) -> Result<Vec<BotRequest>, Failure> {
    let again = |bot: &BotPlan| {
        BotRequest::again(bot).map_err(|error| Failure::Usage(format!("{}: {error}", bot.name)))
    };
    plan.all_bots().map(again).collect()
}

impl Options {
    /// The bots of the command line, then those of the file.
    pub(in crate::cli) fn bots(&self, texts: &[String]) -> Result<Vec<BotRequest>, Failure> {
        let time = check_clock(self.time(None))?;
        let plain = |text: String, name| BotRequest {
            text,
            name,
            time,
            ..BotRequest::default()
        };
        let mut bots = Vec::new();
        for text in texts {
            let path = Path::new(text);
            if path.is_dir() {
                let found = entrants::programs(path)?;
                if !found.others.is_empty() {
                    print_stderr(&format!(
                        "referee: not entered, as these are no programs: {}",
                        found.others.join(", ")
                    ));
                }
                // Those that cannot enter are in the results with the others.
                let all = found.programs.into_iter().chain(found.refused);
                bots.extend(all.map(|(text, name)| plain(text, name)));
            } else {
                bots.push(plain(text.clone(), None));
            }
        }
        for own in &self.bots {
            bots.push(own.request(check_clock(self.time(Some(own)))?)?);
        }
        Ok(bots)
    }

    /// The request for a plan. `sandbox` is the selected one.
    pub(in crate::cli) fn request(&self, sandbox: &Sandbox) -> PlanRequest {
        PlanRequest {
            seed: self.seed,
            format: self.format.map(Format::from),
            rounds: self.rounds,
            groups: self.groups,
            pairs: self.pairs,
            opening_plies: self.opening_plies,
            openings: self.openings.clone(),
            restart: self.restart.map(Restart::from),
            bench_after: self.bench_after,
            adjudicate: self.adjudicate,
            sprt: self.sprt,
            tie_breaks: self.tie_break.clone(),
            seeded_by: self.seeds.as_ref().map(|file| file.display().to_string()),
            sandbox: self.sandbox.plan(sandbox),
            by_version: false,
            no_check: self.no_check,
            strict: self.strict,
        }
    }

    /// The game and its rules: from the options, else from the plan of a resumed tournament.
    pub(in crate::cli) fn ruleset(&self, old: Option<&Plan>) -> Result<Arc<dyn Ruleset>, Failure> {
        let known = |what: &str, name: &str| {
            Failure::Usage(format!(
                "plan.json: this program knows no {what} called {name}"
            ))
        };
        let program = old.and_then(|plan| plan.game_program.as_ref());
        let game = match (&self.game, old, program) {
            (Some(game), _, _) => game.clone(),
            (None, _, Some(program)) => GameArg::Program(shell_words::join(&program.command)),
            (None, Some(plan), None) => registry::find(&plan.game)
                .map(GameArg::Own)
                .ok_or_else(|| known("game", &plan.game))?,
            (None, None, None) => games::default_game(),
        };
        let mut options: GameOptions = self.game_option.iter().cloned().collect();
        if let (true, Some(plan), Some(_)) = (options.is_empty(), old, program) {
            options = GameProgram::options_of(&plan.rules).unwrap_or_default();
        }
        let rules = match (self.rules, old) {
            (Some(rules), _) => Rules::from(rules),
            (None, Some(plan)) if game.has_piece_sets() => {
                Rules::from_name(&plan.rules).ok_or_else(|| known("rules", &plan.rules))?
            }
            (None, _) => Rules::default(),
        };
        if !game.has_piece_sets() && (self.pieces.is_some() || self.rules.is_some()) {
            return Err(Failure::Usage(
                "--pieces and --rules are for Quarto; leave them out, or choose --game quarto"
                    .to_owned(),
            ));
        }
        let set = match (&self.pieces, old.and_then(|plan| plan.pieces.as_deref())) {
            (None, Some(text)) => PieceSet::parse(text)
                .map_err(|error| Failure::Usage(format!("plan.json: pieces: {error}")))?,
            (path, _) => match_set(path.as_ref())?,
        };
        let choices = Choices {
            rules,
            set,
            ..Choices::default()
        };
        game.ruleset(choices, &options)
    }
}

impl BotOptions {
    fn request(&self, time: TimeControl) -> Result<BotRequest, Failure> {
        let mut text = self.command.text();
        let directory = self.directory.as_deref().map(absolute).transpose()?;
        if directory.is_some() && !text.starts_with("builtin:") {
            // It is started in another directory: paths that exist from here become absolute.
            let words = self.command.words().unwrap_or_default();
            let words = words.into_iter().map(|word| {
                let path = Path::new(&word);
                if path.exists() {
                    absolute(path)
                } else {
                    Ok(word)
                }
            });
            text = match &words.collect::<Result<Vec<_>, Failure>>()?[..] {
                [one] => one.clone(),
                words => shell_words::join(words),
            };
        }
        Ok(BotRequest {
            text,
            name: self.name.clone(),
            directory: directory.map(PathBuf::from),
            environment: self.environment.clone(),
            time,
        })
    }
}
