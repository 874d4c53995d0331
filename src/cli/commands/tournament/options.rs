use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use crate::cli::support::failure::{Result, bail, usage};
use crate::cli::support::folder::read_text;
use crate::cli::support::games::GameOptions;
use crate::cli::support::output::note;
use crate::cli::support::pages::PageOptions;
use crate::cli::support::sandbox::SandboxOptions;
use crate::cli::support::setup::{absolute, warn_of_longer_path};
use crate::cli::support::values::{self, AnswerTimes, MoveTime, TimeOptions};
use referee::bot::naming::{folder_name, is_blank};
use referee::bot::spec::PERSON;
use referee::entrants::adapter::Adapter;
use referee::entrants::class;
use referee::entrants::folder::BotFolder;
use referee::game::Ruleset;
use referee::sandbox::Sandbox;
use referee::system::is_path;
use referee::text::escape_controls;
use referee::tournament::plan::request::PlanRequest;
use referee::tournament::plan::{BotPlan, Plan};

/// What is played, for how long and where.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct PlayOptions {
    #[command(flatten)]
    pub(crate) game: GameOptions,

    #[command(flatten)]
    pub(crate) time: TimeOptions,

    /// Games at a time [default: half as many as there are cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    #[command(flatten)]
    pub(crate) sandbox: SandboxOptions,
}

/// For a tournament that is resumed.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct ChangesOption {
    /// Resume although files of bots or the program of the game have changed
    ///
    /// Records, tables and pages say from which game on
    #[arg(long, hide_short_help = true)]
    pub(crate) accept_changes: bool,
}

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TournamentOptions {
    #[command(flatten)]
    pub(crate) request: PlanRequest,

    #[command(flatten)]
    pub(crate) play: PlayOptions,

    /// Add accuracy and blunders to the standings, by analysing the games
    ///
    /// They are analysed when all have been played
    #[arg(long, help_heading = "Analysis", hide_short_help = true)]
    pub(crate) analyse: bool,

    /// Time to solve each turn [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = values::positive_duration, help_heading = "Analysis", hide_short_help = true)]
    pub(crate) time_per_move: Option<Duration>,

    #[command(flatten)]
    pub(crate) pages: PageOptions,

    /// The folder for all files.
    #[arg(skip)]
    pub(crate) out: Option<PathBuf>,

    #[arg(skip)]
    pub(crate) changes: ChangesOption,

    /// What the files and folders among the bots need.
    #[arg(skip)]
    pub(crate) adapter: Option<&'static Adapter>,

    /// The bots of a file.
    #[arg(skip)]
    pub(crate) bots: Vec<BotOptions>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct BotOptions {
    name: Option<String>,
    #[serde(deserialize_with = "command")]
    command: String,
    directory: Option<PathBuf>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "move_time")]
    move_time: Option<MoveTime>,
    #[serde(default, deserialize_with = "time")]
    start_time: Option<Duration>,
    #[serde(default, deserialize_with = "positive_time")]
    game_time: Option<Duration>,
    #[serde(default, deserialize_with = "time")]
    increment: Option<Duration>,
}

#[derive(Default, Deserialize)]
struct Bots {
    #[serde(default)]
    bots: Vec<BotOptions>,
}

impl BotOptions {
    /// Relative paths start from the folder of the file.
    pub(crate) fn read(config: Option<&Path>) -> Result<Vec<Self>> {
        let Some(path) = config else {
            return Ok(Vec::new());
        };
        let text = read_text(path)?;
        let mut bots = toml::from_str::<Bots>(&text)
            .map_err(|error| usage!("{}: {}", path.display(), error.to_string().trim_end()))?
            .bots;
        let base = path.parent().unwrap_or(Path::new(""));
        for bot in &mut bots {
            bot.command = match &mut bot.directory {
                Some(directory) => {
                    *directory = base.join(&*directory);
                    resolved(&resolved(&bot.command, directory), base)
                }
                None => named_from(&bot.command, base),
            };
        }
        Ok(bots)
    }

    /// Without options of its own.
    pub(crate) fn of_file(name: &str, file: String, directory: Option<PathBuf>) -> Self {
        Self {
            name: Some(name.to_owned()),
            command: file,
            directory,
            ..Self::default()
        }
    }
}

fn command<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a string or a list of words")]
    enum Command {
        Text(String),
        Words(Vec<String>),
    }
    Ok(match Command::deserialize(deserializer)? {
        Command::Text(text) => text,
        Command::Words(words) => joined(&words),
    })
}

fn joined(words: &[String]) -> String {
    match words {
        [one] => one.clone(),
        words => shell_words::join(words),
    }
}

/// [`resolved`], and a program that is not there is named as if it were in `base`.
pub(crate) fn named_from(text: &str, base: &Path) -> String {
    let text = resolved(text, base);
    let is_missing = |word: &str| {
        let path = Path::new(word);
        is_path(word) && path.is_relative() && !path.exists()
    };
    match shell_words::split(&text) {
        Ok(mut words) if words.first().is_some_and(|word| is_missing(word)) => {
            words[0] = base.join(&words[0]).to_string_lossy().into_owned();
            joined(&words)
        }
        _ => text,
    }
}

/// Its words that are files in `base`, as paths to them.
fn resolved(text: &str, base: &Path) -> String {
    let found = |word: &str| {
        let path = base.join(word);
        let is_relative_file = !Path::new(word).is_absolute() && path.exists();
        is_relative_file.then(|| path.to_string_lossy().into_owned())
    };
    // In a built-in bot `?` is not a shell's.
    if base.as_os_str().is_empty() || text.starts_with("builtin:") {
        return text.to_owned();
    }
    if let Some(path) = found(text) {
        return path;
    }
    let Ok(words) = shell_words::split(text) else {
        return text.to_owned();
    };
    let words = words.into_iter().map(|word| found(&word).unwrap_or(word));
    joined(&words.collect::<Vec<_>>())
}

fn parsed<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).map(Some).map_err(serde::de::Error::custom)
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    parsed(deserializer, values::duration)
}

fn move_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<MoveTime>, D::Error> {
    parsed(deserializer, values::move_time)
}

fn positive_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    parsed(deserializer, values::positive_duration)
}

impl TournamentOptions {
    /// One bot, as a match takes it: a folder is the bot in it.
    pub(crate) fn bot(&self, text: &str) -> Result<BotPlan> {
        if text == PERSON {
            bail!(
                "people do not enter tournaments; they play matches: referee{} human BOT",
                self.play.game.typed()
            );
        }
        warn_of_longer_path(text);
        self.named(text.to_owned(), None)
    }

    fn named(&self, bot: String, name: Option<String>) -> Result<BotPlan> {
        Ok(BotPlan {
            bot,
            name: name.unwrap_or_default(),
            limits: self.play.time.control()?,
            ..BotPlan::default()
        })
    }

    /// As [`entrants::find`] takes them; a folder is a class, unless it is certain that it is one bot.
    pub(crate) fn bots(&self, texts: &[String]) -> Result<Vec<BotPlan>> {
        let mut bots = Vec::new();
        let are_several = texts.iter().filter(|text| Path::new(text).is_dir()).count() > 1;
        for text in texts {
            let path = Path::new(text);
            // Each as it would enter in a folder with the others.
            let is_one = are_several && path.is_dir();
            let one = BotFolder::read(path).ok().filter(|_| is_one);
            if let Some(one) = one {
                bots.push(self.named(class::start_of(&one), folder_name(path))?);
            } else if path.is_dir() {
                let found = class::programs(path)?;
                if let Some(decided_by) = found.is_one_by {
                    note!("{text} is one bot: {decided_by}");
                }
                if !found.others.is_empty() {
                    note!(
                        "not entered, as these are not programs: {}",
                        found.others.join(", ")
                    );
                }
                // Refused bots are listed in the results, too.
                for (text, name) in found.programs.into_iter().chain(found.refused) {
                    bots.push(self.named(text, name)?);
                }
            } else {
                bots.push(self.bot(text)?);
            }
        }
        for own in &self.bots {
            bots.push(own.plan(&self.play.time)?);
        }
        Ok(bots)
    }

    /// Options that are not given are those of the plan, if there is one.
    pub(crate) fn or_planned(mut self, plan: Option<&Plan>) -> Self {
        if let Some(plan) = plan {
            self.play.sandbox = self.play.sandbox.or_planned(&plan.sandbox);
            self.play.time = self.play.time.or_planned(plan);
        }
        self
    }

    /// `sandbox`: the one that was selected.
    pub(crate) fn request(&self, sandbox: &Sandbox) -> PlanRequest {
        PlanRequest {
            sandbox: self.play.sandbox.plan(sandbox),
            ..self.request.clone()
        }
    }

    pub(crate) fn ruleset(&self, old: Option<&Plan>) -> Result<Arc<dyn Ruleset>> {
        match old {
            Some(plan) => self.play.game.clone().or_planned(plan)?.ruleset(),
            None => self.play.game.ruleset(),
        }
    }
}

impl BotOptions {
    /// `times`: those of all bots.
    fn plan(&self, times: &TimeOptions) -> Result<BotPlan> {
        let answers = AnswerTimes {
            move_time: self.move_time.or(times.answers.move_time),
            start_time: self.start_time.or(times.answers.start_time),
            clock: times.answers.clock,
        };
        let times = TimeOptions {
            answers,
            game_time: self.game_time.or(times.game_time),
            increment: self.increment.or(times.increment),
            planned: times.planned,
        };
        if let Some(name) = self.name.as_deref().filter(|name| is_blank(name)) {
            bail!(
                "the bot {} has the name {name:?}, of which nothing can be seen; give it another one, or leave `name` out",
                escape_controls(&self.command)
            );
        }
        warn_of_longer_path(&self.command);
        let mut bot = self.command.clone();
        let directory = self.directory.as_deref().map(absolute).transpose()?;
        if directory.is_some() {
            // Started in another directory: paths that exist from here become absolute.
            bot = resolved(&bot, Path::new(&absolute(Path::new("."))?));
        }
        Ok(BotPlan {
            name: self.name.clone().unwrap_or_default(),
            bot,
            directory,
            environment: self.environment.clone(),
            limits: times.control()?,
            ..BotPlan::default()
        })
    }
}
