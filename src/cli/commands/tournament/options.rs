use serde::{Deserialize, Deserializer};

use crate::cli::support::pages::PageOptions;
use crate::cli::support::prelude::*;
use referee::bot::naming::folder_name;
use referee::bot::submission::only_program;

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

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) request: PlanRequest,

    #[command(flatten)]
    pub(crate) play: PlayOptions,

    /// Analyse the games when all have been played: adds each bot's accuracy and blunders to the
    /// standings
    #[arg(long)]
    pub(crate) analyse: bool,

    /// Time to solve each turn [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = values::positive_duration)]
    pub(crate) time_per_move: Option<Duration>,

    #[command(flatten)]
    pub(crate) pages: PageOptions,

    /// The folder for all files.
    #[arg(skip)]
    pub(crate) out: Option<PathBuf>,

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
        let text = read_text(path, text_file::WRITTEN)?;
        let mut bots = toml::from_str::<Bots>(&text)
            .map_err(|error| usage!("{}: {}", path.display(), error.to_string().trim_end()))?
            .bots;
        let base = path.parent().unwrap_or(Path::new(""));
        for bot in &mut bots {
            if let Some(directory) = &mut bot.directory {
                *directory = base.join(&*directory);
                bot.command = resolved(&bot.command, directory);
            }
            bot.command = resolved(&bot.command, base);
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

pub(crate) fn resolved(text: &str, base: &Path) -> String {
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

impl Options {
    /// As [`entrants::find`] takes them.
    pub(crate) fn bots(&self, texts: &[String]) -> Result<Vec<BotPlan>> {
        let limits = self.play.time.control()?;
        let plain = |bot: String, name: Option<String>| BotPlan {
            bot,
            name: name.unwrap_or_default(),
            limits,
            ..BotPlan::default()
        };
        let mut bots = Vec::new();
        let are_several = texts.iter().filter(|text| Path::new(text).is_dir()).count() > 1;
        for text in texts {
            let path = Path::new(text);
            // Each as it would enter in a folder with the others.
            let is_one = are_several && path.is_dir();
            let one = only_program(path).ok().filter(|_| is_one);
            if let Some(one) = one {
                bots.push(plain(one.to_string_lossy().into_owned(), folder_name(path)));
            } else if path.is_dir() {
                let found = entrants::programs(path)?;
                if !found.others.is_empty() {
                    note!(
                        "not entered, as these are not programs: {}",
                        found.others.join(", ")
                    );
                }
                // Refused bots are listed in the results, too.
                let all = found.programs.into_iter().chain(found.refused);
                bots.extend(all.map(|(text, name)| plain(text, name)));
            } else {
                bots.push(plain(text.clone(), None));
            }
        }
        for own in &self.bots {
            bots.push(own.plan(&self.play.time)?);
        }
        Ok(bots)
    }

    pub(crate) fn or_planned(mut self, plan: &Plan) -> Self {
        self.play.sandbox = self.play.sandbox.or_planned(&plan.sandbox);
        self.play.time = self.play.time.or_planned(plan);
        self
    }

    /// `sandbox`: the one that was selected.
    pub(crate) fn request(&self, sandbox: &Sandbox) -> PlanRequest {
        PlanRequest {
            sandbox: self.play.sandbox.plan(sandbox),
            ..self.request.clone()
        }
    }

    pub(crate) fn ruleset(&self, old: Option<&Plan>) -> Result<Arc<dyn Game>> {
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
