//! What is played: `--game`, a game of this program or one that is a program, and the options that belong to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::TypedValueParser;

use super::failure::{Failure, Result, bail, usage};
use super::setup::{self, PiecesFile, match_set};
use super::values::one_of;
use referee::bot::shell;
use referee::bot::spec::Program;
use referee::entrants::argument::BotSpec;
use referee::game::Ruleset;
use referee::game::quarto::{PieceFormat, PieceSet, Rules};
use referee::game::registry::{self, Choices, GAMES, GameInfo};
use referee::game_program::GameProgram;
use referee::strategy::RANDOM;
use referee::system::is_path;
use referee::text::{meant, quote};
use referee::tournament::plan::Plan;

/// `--game`
#[derive(Clone, Debug)]
pub(crate) enum GameArg {
    Own(&'static GameInfo),
    Program(String),
}

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct GameOptions {
    /// quarto, four-in-a-row, or a program (./nim.py) [default: quarto]
    #[arg(long, value_parser = GameArg::read, help_heading = "Game")]
    pub(crate) game: Option<GameArg>,

    /// An option of a game that is a program; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = option, help_heading = "Game", hide_short_help = true)]
    pub(crate) game_option: Vec<(String, String)>,

    #[command(flatten)]
    pub(crate) set: SetOptions,
}

/// Quarto's.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SetOptions {
    /// A piece set's CSV file
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Game",
        hide_short_help = true
    )]
    pub(crate) pieces: Option<PathBuf>,

    /// Which groups of cells count [default: standard]
    #[arg(long, value_parser = rules(), help_heading = "Game", hide_short_help = true)]
    rules: Option<Rules>,

    /// The piece set of a plan.
    #[arg(skip)]
    planned: Option<String>,
}

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct BuiltinGameOptions {
    /// The game [default: quarto]
    #[arg(long, value_parser = builtin_game(), help_heading = "Game")]
    game: Option<&'static GameInfo>,

    #[command(flatten)]
    pub(crate) set: SetOptions,
}

impl BuiltinGameOptions {
    pub(crate) fn game(&self) -> Result<&'static GameInfo> {
        let game = self.game.unwrap_or(&GAMES[0]);
        if !game.has_piece_sets {
            self.set.refuse()?;
        }
        Ok(game)
    }
}

fn builtin_game() -> impl TypedValueParser<Value = &'static GameInfo> {
    one_of(GAMES.iter().map(|game| (game.name, game.about, game)))
}

fn rules() -> impl TypedValueParser<Value = Rules> {
    one_of([
        ("standard", "Rows, columns and diagonals", Rules::Standard),
        ("squares", "Also the nine 2×2 squares", Rules::Squares),
    ])
}

impl SetOptions {
    pub(crate) fn rules(&self) -> Rules {
        self.rules.unwrap_or_default()
    }

    pub(crate) fn choices(&self) -> Result<Choices> {
        let set = match (&self.pieces, &self.planned) {
            (None, Some(text)) => {
                PieceSet::parse(text).map_err(|error| usage!("plan.json: pieces: {error}"))?
            }
            (path, _) => match_set(path.as_ref())?,
        };
        Ok(Choices {
            rules: self.rules(),
            set,
            ..Choices::default()
        })
    }

    fn refuse(&self) -> Result<()> {
        if self.pieces.is_some() || self.rules.is_some() {
            bail!("--pieces and --rules are for Quarto; leave them out, or choose --game quarto");
        }
        Ok(())
    }
}

impl GameOptions {
    fn game(&self) -> GameArg {
        let game = self.game.clone();
        game.unwrap_or(GameArg::Own(&GAMES[0]))
    }

    /// Chooses a game of this program, which `option` asks for.
    pub(crate) fn choose(&mut self, name: &str, option: &str) -> Result<()> {
        let wanted = registry::find(name).unwrap_or(&GAMES[0]);
        let given = match &self.game {
            None => wanted.name,
            Some(GameArg::Own(game)) => game.name,
            Some(GameArg::Program(text)) => text,
        };
        if given != wanted.name {
            bail!(
                "--game {given}: with {option} the game is {}; leave --game out",
                wanted.name
            );
        }
        self.game = Some(GameArg::Own(wanted));
        Ok(())
    }

    fn has_piece_sets(&self) -> bool {
        matches!(self.game(), GameArg::Own(game) if game.has_piece_sets)
    }

    pub(crate) fn or_planned(mut self, plan: &Plan) -> Result<Self> {
        let unknown = |what: &str, name: &str| {
            usage!("plan.json: this program knows no {what} called {name}")
        };
        if self.game.is_none() {
            self.game = Some(match &plan.game_program {
                Some(program) => GameArg::Program(shell_words::join(&program.command)),
                None => registry::find(&plan.game)
                    .map(GameArg::Own)
                    .ok_or_else(|| unknown("game", &plan.game))?,
            });
        }
        if self.game_option.is_empty() && plan.game_program.is_some() {
            let options = GameProgram::options_of(&plan.rules).unwrap_or_default();
            self.game_option = options.into_iter().collect();
        }
        if self.has_piece_sets() {
            if self.set.rules.is_none() {
                let rules = Rules::from_name(&plan.rules);
                self.set.rules = Some(rules.ok_or_else(|| unknown("rules", &plan.rules))?);
            }
            self.set.planned.clone_from(&plan.pieces);
        }
        Ok(self)
    }

    pub(crate) fn ruleset(&self) -> Result<Arc<dyn Ruleset>> {
        self.ruleset_with(PieceFormat::default())
    }

    pub(crate) fn ruleset_with(&self, format: PieceFormat) -> Result<Arc<dyn Ruleset>> {
        if !self.has_piece_sets() {
            self.set.refuse()?;
        }
        let game = match self.game() {
            GameArg::Own(game) => game,
            GameArg::Program(text) => {
                let options = self.game_option.iter().cloned().collect();
                return Ok(program("--game", &text, options)?.into_ruleset());
            }
        };
        if let Some((name, _)) = self.game_option.first() {
            bail!(
                "--game-option {name}: it is for a game that is a program; leave it out, or give the program with \
                 --game"
            );
        }
        let choices = self.set.choices()?;
        Ok(game.ruleset(Choices { format, ..choices }))
    }

    /// What was typed of them: the words that a further command needs for the same game.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        match &self.game {
            Some(GameArg::Own(game)) => add("--game", game.name.to_owned()),
            Some(GameArg::Program(text)) => add("--game", text.clone()),
            None => {}
        }
        for (name, value) in &self.game_option {
            add("--game-option", format!("{name}={value}"));
        }
        if let Some(path) = &self.set.pieces {
            add("--pieces", path.to_string_lossy().into_owned());
        }
        if let Some(rules) = self.set.rules {
            add("--rules", rules.name().to_owned());
        }
        words
    }

    /// The same for a command that is printed: quoted, each with a space before it.
    pub(crate) fn typed(&self) -> String {
        let words = self.words();
        let quoted = words
            .iter()
            .flat_map(|word| [" ".into(), shell::quoted(word)]);
        quoted.collect()
    }

    pub(crate) fn pieces_file(&self, ruleset: &dyn Ruleset) -> Result<PiecesFile> {
        PiecesFile::new(self.set.pieces.as_deref(), ruleset.pieces())
    }
}

impl GameArg {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        if let Some(game) = registry::find(text) {
            return Ok(Self::Own(game));
        }
        let has_ending = Path::new(text).extension().is_some();
        if is_path(text) || has_ending || text.contains(' ') || Path::new(text).exists() {
            return Ok(Self::Program(text.to_owned()));
        }
        let names: Vec<&str> = GAMES.iter().map(|game| game.name).collect();
        let fix = match meant(text, &names) {
            Some(near) => format!("did you mean {near}?"),
            None => format!(
                "expected {}, or a game's program such as ./nim.py",
                names.join(", ")
            ),
        };
        let game = quote(text.as_bytes());
        Err(format!("there is no game {game}; {fix}"))
    }
}

pub(crate) fn program(
    option: &str,
    text: &str,
    options: BTreeMap<String, String>,
) -> Result<GameProgram> {
    // Its forms are those of a BOT, but for `builtin:` and `human`.
    let located = setup::located(text).and_then(|located| Ok(located.ready(None)?));
    let spec = located.map_err(|failure| match failure {
        Failure::CannotStart(error) if !option.is_empty() => usage!("{option}: {error}"),
        failure => failure,
    })?;
    let wrong = |problem: &str| {
        let given = format!("{option} {text}");
        usage!("{}: {problem}", given.trim_start())
    };
    let BotSpec::Program(program) = spec else {
        return Err(wrong("it is not a program of a game"));
    };
    if program.builtin().is_some() {
        return Err(wrong("it is a bot, and no game"));
    }
    GameProgram::open(program, options).map_err(|error| usage!("{error}"))
}

pub(crate) fn start_of(ruleset: &dyn Ruleset, start: Option<&String>) -> Result<String> {
    let session = match start {
        None => ruleset.start(),
        Some(text) => ruleset.start_from(text).map_err(|problem| {
            let text = quote(text.as_bytes());
            usage!("--start {text}: {problem}")
        })?,
    };
    Ok(session.as_start())
}

/// In a game's program only builtin:random plays, if the program lists the legal answers.
pub(crate) fn check_builtins<'a>(
    ruleset: &dyn Ruleset,
    programs: impl Iterator<Item = &'a Program>,
) -> Result<()> {
    if ruleset.program().is_none() || registry::find(ruleset.name()).is_some() {
        return Ok(());
    }
    for program in programs {
        match program.builtin() {
            None => {}
            Some(RANDOM) if ruleset.info().lists_answers => {}
            Some(RANDOM) => bail!(
                "{} needs a game's program that lists the legal answers (\"answers\": true)",
                program.name
            ),
            Some(_) => bail!(
                "{} plays the games of this program only; use builtin:random, or a bot of yours",
                program.name
            ),
        }
    }
    Ok(())
}

pub(crate) fn check_solvable(ruleset: &dyn Ruleset, option: &str, is_given: bool) -> Result<()> {
    if is_given && !ruleset.info().is_solvable() {
        let game = ruleset.name();
        bail!("{option} needs a solver, and there is none for {game}; leave it out");
    }
    Ok(())
}

pub(crate) fn option(text: &str) -> Result<(String, String), String> {
    let expected = "expected NAME=VALUE, such as heaps=3,4,5";
    let (name, value) = text.split_once('=').ok_or(expected)?;
    let is_word = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '-' || symbol == '_';
    if name.is_empty() || !name.chars().all(is_word) {
        return Err(format!(
            "{expected}, with a NAME of letters, digits, - and _"
        ));
    }
    // Records hold the options, separated by spaces, as the name of the rules.
    if value.contains(|symbol: char| symbol.is_whitespace() || symbol.is_control()) {
        return Err(format!("{expected}, with a VALUE without spaces"));
    }
    Ok((name.to_owned(), value.to_owned()))
}
