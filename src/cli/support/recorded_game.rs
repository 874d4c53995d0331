//! The rules of recorded games, also of games that are programs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::games::program;
use super::setup::recorded_ruleset;
use crate::game_program::GameProgram;
use crate::record::Record;
use crate::session::{Ruleset, registry};
use crate::text::quote;

/// `--game-program`
#[derive(Clone, Debug, Default, clap::Args)]
pub(in crate::cli) struct GameProgramOption {
    /// The program of the game, if that is a program (protocol-games.md)
    #[arg(long, value_name = "PROGRAM")]
    pub(in crate::cli) game_program: Option<String>,
}

/// Finds the rules of records. A program is started once for each choice of its options.
#[derive(Debug, Default)]
pub(in crate::cli) struct RecordedRules {
    program: Option<String>,
    /// By the name of the rules.
    opened: RefCell<HashMap<String, Arc<GameProgram>>>,
}

impl RecordedRules {
    /// For records of games of this program, and of the game of this one, if it is given.
    pub(in crate::cli) fn new(option: &GameProgramOption) -> Self {
        Self {
            program: option.game_program.clone(),
            opened: RefCell::default(),
        }
    }

    /// The rules and the pieces of a record. The error is a sentence about one of them.
    pub(in crate::cli) fn of(&self, record: &Record) -> Result<Arc<dyn Ruleset>, String> {
        let is_known = registry::find(&record.game).is_some();
        let Some(text) = &self.program else {
            if is_known {
                return recorded_ruleset(record);
            }
            return Err(format!(
                "the game {} is unknown; if it is a program, give that with --game-program",
                quote(record.game.as_bytes())
            ));
        };
        let game = self.open(text, &record.rules)?;
        if game.about().name == record.game {
            return Ok(game);
        }
        if is_known {
            return recorded_ruleset(record);
        }
        Err(format!(
            "its game is {}, and --game-program {text} is {}",
            quote(record.game.as_bytes()),
            game.about().name
        ))
    }

    fn open(&self, text: &str, rules: &str) -> Result<Arc<GameProgram>, String> {
        if let Some(game) = self.opened.borrow().get(rules) {
            return Ok(Arc::clone(game));
        }
        // Rules of a game of this program are no options.
        let options = GameProgram::options_of(rules).unwrap_or_default();
        let game = program("--game-program", text, options)
            .map_err(|failure| failure.message(0).unwrap_or_default())?;
        let game = Arc::new(game);
        let mut opened = self.opened.borrow_mut();
        opened.insert(rules.to_owned(), Arc::clone(&game));
        Ok(game)
    }
}
