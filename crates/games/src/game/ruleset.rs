use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Game;

/// What holds for all games of a ruleset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info<'a> {
    /// In records, in a bot's environment and on the command line.
    pub name: &'a str,
    /// In records.
    pub rules: &'a str,
    /// CSV; `None` for the built-in set.
    pub pieces: Option<&'a str>,
    /// Otherwise the first bot named acts first.
    pub is_first_drawn: bool,
    /// Whether the start is random: [`Ruleset::start_drawn`].
    pub has_drawn_start: bool,
    /// Whether [`Game::answers`] has the legal answers, for built-in bots.
    pub lists_answers: bool,
    /// Positions with at most so many free cells are proven in less than a second, with all their turns; 0 without a
    /// solver.
    pub provable_cells: usize,
    /// What a turn names as its place, and what fills the board, one a turn: `cell` and `placement`.
    pub words: [&'static str; 2],
}

impl<'a> Info<'a> {
    pub const fn named(name: &'a str) -> Self {
        Self {
            name,
            rules: "standard",
            pieces: None,
            is_first_drawn: true,
            has_drawn_start: false,
            lists_answers: false,
            provable_cells: 0,
            words: ["cell", "mark"],
        }
    }

    /// Whether there is a solver, and `builtin:perfect` plays: then its games are [`Solvable`](super::Solvable).
    pub const fn is_solvable(&self) -> bool {
        self.provable_cells > 0
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameSource {
    /// The command as people write it.
    pub command: Vec<String>,
    /// Of its files; empty where it has none of its own.
    pub hash: String,
}

/// Takes a request without newline, and returns its answer in canonical form.
pub type BuiltinBot = Box<dyn FnMut(&str) -> Result<String, RequestError>>;

/// Why a built-in bot has no answer to a request.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error(transparent)]
    Position(#[from] StartError),
    #[error("the game in it is over")]
    GameOver,
    /// In a game that this program does not know.
    #[error("it does not list the legal answers")]
    NoAnswers,
}

/// Why a ruleset cannot start a game.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The text, or what is drawn, is not a position from which a game can go on.
    #[error(transparent)]
    Refused(Box<dyn Error + Send + Sync>),
    #[error(transparent)]
    Failed(#[from] GameFailure),
}

impl StartError {
    /// For a reason of this game.
    pub fn refused(reason: impl Error + Send + Sync + 'static) -> Self {
        Self::Refused(Box::new(reason))
    }
}

/// Why the program of a game cannot be asked any more. No bot is to blame for anything from then on.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct GameFailure(Arc<dyn Error + Send + Sync>);

impl GameFailure {
    pub fn new(reason: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(reason))
    }
}

/// A game with its options: rules and pieces, where its games start, and who plays it. It has no position: a [`Game`] that it
/// starts has one.
///
/// ```compile_fail,E0599
/// use referee_games::game::registry::{self, Choices};
///
/// let quarto = registry::find("quarto").expect("it is registered").ruleset(Choices::default());
/// quarto.play("K", &mut String::new());
/// ```
pub trait Ruleset: fmt::Debug + Send + Sync {
    fn info(&self) -> Info<'_>;

    /// For a person at a terminal: the rules in short and the order of play.
    fn instructions(&self) -> String;

    fn start(&self) -> Box<dyn Game>;

    /// A board, or a request.
    fn start_from(&self, text: &str) -> Result<Box<dyn Game>, StartError>;

    /// Without newline.
    fn read_request(&self, line: &str) -> Result<Box<dyn Game>, StartError>;

    /// For games whose start is random.
    fn start_drawn(&self, _seed: u32) -> Result<Box<dyn Game>, StartError> {
        Ok(self.start())
    }

    /// With its parameters (`search?depth=3`); `None` when there is none for this game. Only bots that search use the time.
    fn builtin_bot(&self, _name: &str, _seed: u64, _move_time: Duration) -> Option<BuiltinBot> {
        None
    }

    /// `None` for games of this program.
    fn program(&self) -> Option<&GameSource> {
        None
    }

    /// Whether the game's program has failed.
    fn failure(&self) -> Option<GameFailure> {
        None
    }
}

impl dyn Ruleset + '_ {
    pub fn name(&self) -> &str {
        self.info().name
    }

    pub fn rules(&self) -> &str {
        self.info().rules
    }

    pub fn pieces(&self) -> Option<&str> {
        self.info().pieces
    }
}
