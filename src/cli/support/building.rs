//! Builds bots that are sources, for the command that was given them.

use std::io;
use std::path::{Path, PathBuf};
use std::result::Result;
use std::sync::OnceLock;

use super::output::note;
use super::sandbox::SandboxOptions;
use referee::bot::spec::CannotStart;
use referee::class::league::intake::{SubmissionError, unpack_bot};
use referee::entrants::argument::{PrepareBots, SourceBot};
use referee::entrants::build::recipe::Recipe;
use referee::entrants::build::{BuildCache, BuildError, Builder, Built};
use referee::sandbox::snapshot::BotFiles;
use referee::text::{cause, escape_path};
use referee::tournament::entrants::Finder;

/// Builds in the sandbox of these options, with the room that compilers need.
pub(crate) struct SourceBuilder<'a>(pub(crate) &'a SandboxOptions);

impl SourceBuilder<'_> {
    pub(crate) fn finder<'a>(&'a self, referee: &'a Path) -> Finder<'a> {
        Finder {
            referee,
            builder: Some(self),
        }
    }
}

impl PrepareBots for SourceBuilder<'_> {
    fn build(
        &self,
        bot: &SourceBot,
        files: &BotFiles,
        recipe: &Recipe,
    ) -> Result<Built, CannotStart> {
        let given = escape_path(&bot.given().to_string_lossy());
        let failed = |problem: String, fix: &str| CannotStart::new(&given, problem, fix);
        let sandbox = self.0.for_builds().of_builds().map_err(|failure| {
            let problem = failure.message(0).unwrap_or_default();
            failed(
                format!("it cannot be built: {problem}"),
                "build it yourself",
            )
        })?;
        let cache = cache(&given)?;
        let builder = Builder {
            cache,
            sandbox,
            announce: &|name: &str, recipe: &Recipe| {
                let tool = recipe.needs.first().map_or("", String::as_str);
                note!("building {name} ({tool}) …");
            },
        };
        builder
            .build(&bot.name, files, recipe)
            .map_err(|error| match error {
                BuildError::Submission(problem) => failed(problem, CORRECT),
                BuildError::Failed(build) => {
                    let build = build.as_given(bot.given(), &bot.path);
                    CannotStart {
                        printed: Some(Box::new(build.output())),
                        ..failed(build.to_string(), CORRECT)
                    }
                }
                BuildError::NoTool { tool, what } => failed(
                    format!("this machine has no `{tool}`, which builds {what}"),
                    "install it, or give the program that it makes",
                ),
                BuildError::NoCompiler(problem) => failed(problem, "or give the program itself"),
                BuildError::Io(_) => CannotStart {
                    is_for_want_of_space: true,
                    ..failed(error.to_string(), "give the same command again")
                },
            })
    }

    fn unpack(&self, bot: &SourceBot) -> Result<PathBuf, CannotStart> {
        let given = escape_path(&bot.path.to_string_lossy());
        let failed = |problem: String, fix: &str| CannotStart::new(&given, problem, fix);
        let cache = cache(&given)?;
        let unpacked = cache.unpacked(&bot.path, |place| unpack_bot(&bot.path, place));
        unpacked.map_err(|error| match error {
            SubmissionError::Refused(problem) => {
                failed(problem.into_owned(), "or unpack it and give the folder")
            }
            SubmissionError::Io(error) => CannotStart::copying(
                &given,
                format!("it cannot be unpacked: {}", cause(&error)),
                &error,
                "check its permissions",
            ),
        })
    }
}

const CORRECT: &str = "correct it, then give the same command again";

/// One for all builds: what it has given out stays there until this process ends. `given` is the bot that needs it.
fn cache(given: &str) -> Result<&'static BuildCache, CannotStart> {
    static CACHE: OnceLock<io::Result<BuildCache>> = OnceLock::new();
    let cache = CACHE.get_or_init(BuildCache::open);
    cache.as_ref().map_err(|error| {
        let problem = format!("there is no place for what is built: {}", cause(error));
        let fix = "set XDG_CACHE_HOME to a folder where you may write";
        CannotStart::new(given, problem, fix)
    })
}
