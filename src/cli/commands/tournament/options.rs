//! The options of a tournament, from the command line and from a file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Deserializer};

use super::bot_options::{BotOptions, move_time, positive_time, time};
use crate::arena::plan::{Format, Plan, Restart, SprtPlan};
use crate::bot::ClockKind;
use crate::cli::support::clock::ClockName;
use crate::cli::support::config_values::{self, at_least, parsed, word};
use crate::cli::support::duration::{self, MoveTime};
use crate::cli::support::failure::Failure;
use crate::cli::support::games::{self, GameArg};
use crate::cli::support::numbers;
use crate::cli::support::pages::PageOptions;
use crate::cli::support::sandbox::SandboxOptions;
use crate::cli::support::setup::{RulesName, unreadable};
use crate::play::TimeControl;
use crate::record::text_file;
use crate::text::without_types;
use crate::tournament::standings::TieBreak;

/// `--format`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum FormatName {
    /// Every bot plays every other
    RoundRobin,
    /// The first bot plays each of the others
    Gauntlet,
    /// In every round, bots with similar scores play each other
    Swiss,
    /// The loser of a match is eliminated
    Knockout,
    /// Round robins in groups, then a knockout of the two best of each group
    #[value(name = "groups+knockout")]
    GroupsKnockout,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::RoundRobin => Self::RoundRobin,
            FormatName::Gauntlet => Self::Gauntlet,
            FormatName::Swiss => Self::Swiss,
            FormatName::Knockout => Self::Knockout,
            FormatName::GroupsKnockout => Self::GroupsKnockout,
        }
    }
}

/// `--restart`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum RestartName {
    /// After every game
    Game,
    /// After both games of a pair
    Pair,
    /// When the pairing changes: fastest, but bots that draw random numbers are not reproducible
    Pairing,
}

impl From<RestartName> for Restart {
    fn from(name: RestartName) -> Self {
        match name {
            RestartName::Game => Self::Game,
            RestartName::Pair => Self::Pair,
            RestartName::Pairing => Self::Pairing,
        }
    }
}

/// The options of a tournament: on the command line and, under the same names, in the file of
/// `--config`.
#[derive(Clone, Debug, Default, clap::Args, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(in crate::cli) struct Options {
    /// Who plays whom [default: round-robin]
    #[arg(long, value_enum, help_heading = "Schedule")]
    #[serde(default, deserialize_with = "word")]
    pub(in crate::cli) format: Option<FormatName>,

    /// Rounds [default: until all have played each other; Swiss and knockout: until one is left]
    #[arg(long, value_name = "N", value_parser = numbers::at_least::<u32>(1), allow_negative_numbers = true, help_heading = "Schedule")]
    #[serde(default, deserialize_with = "at_least::<_, _, 1>")]
    pub(in crate::cli) rounds: Option<u32>,

    /// Groups of groups+knockout [default: groups of four]; they are balanced by the order of the bots
    #[arg(long, value_name = "N", value_parser = numbers::at_least::<u32>(1), allow_negative_numbers = true, help_heading = "Schedule")]
    #[serde(default, deserialize_with = "at_least::<_, _, 1>")]
    pub(in crate::cli) groups: Option<u32>,

    /// Seed a knockout, groups or a Swiss tournament by this file, the best first: standings (CSV or JSON),
    /// a tournament's folder, or a name a line [default: in the order given]
    #[arg(long, value_name = "FILE", help_heading = "Schedule")]
    pub(in crate::cli) seeds: Option<PathBuf>,

    /// Pairs of games in each pairing of two bots [default: 10]
    #[arg(long, value_name = "N", value_parser = numbers::at_least::<u32>(1), allow_negative_numbers = true, help_heading = "Schedule")]
    #[serde(default, deserialize_with = "at_least::<_, _, 1>")]
    pub(in crate::cli) pairs: Option<u32>,

    /// Random plies at the start of every pair [default: 4]
    #[arg(
        long,
        value_name = "N",
        value_parser = numbers::at_least::<u32>(0),
        allow_negative_numbers = true,
        conflicts_with = "openings",
        help_heading = "Schedule"
    )]
    pub(in crate::cli) opening_plies: Option<u32>,

    /// Start games from the boards of this file instead, one per line
    #[arg(long, value_name = "FILE", help_heading = "Schedule")]
    pub(in crate::cli) openings: Option<PathBuf>,

    /// Everything random comes from this number; drawn, and printed, when not given
    #[arg(long, value_name = "N", value_parser = numbers::seed, allow_negative_numbers = true, help_heading = "Schedule")]
    pub(in crate::cli) seed: Option<u64>,

    /// Two bots: stop as soon as a sequential probability ratio test accepts one of two rating
    /// differences: elo0,elo1 or elo0,elo1,alpha,beta
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true, value_parser = sprt, help_heading = "Schedule")]
    #[serde(default, deserialize_with = "sprt_text")]
    pub(in crate::cli) sprt: Option<SprtPlan>,

    /// How ties in the table are broken, in this order: direct, buchholz-cut-1, buchholz,
    /// sonneborn-berger, wins, wins-as-second, rating [default: those usual for the format]
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        help_heading = "Schedule"
    )]
    #[serde(default)]
    pub(in crate::cli) tie_break: Vec<TieBreak>,

    /// The game [default: quarto]
    #[arg(long, value_parser = games::parser(), help_heading = "Game")]
    #[serde(default, deserialize_with = "config_values::game")]
    pub(in crate::cli) game: Option<GameArg>,

    /// An option of a game that is a program; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = games::option, help_heading = "Game")]
    #[serde(default, deserialize_with = "config_values::game_options")]
    pub(in crate::cli) game_option: Vec<(String, String)>,

    /// A piece set's CSV file
    #[arg(long, value_name = "FILE", help_heading = "Game")]
    pub(in crate::cli) pieces: Option<PathBuf>,

    /// Which groups of cells count [default: standard]
    #[arg(long, value_enum, help_heading = "Game")]
    #[serde(default, deserialize_with = "word")]
    pub(in crate::cli) rules: Option<RulesName>,

    /// Time for a move; none for no limit [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse_move_time, help_heading = "Time")]
    #[serde(default, deserialize_with = "move_time")]
    pub(in crate::cli) move_time: Option<MoveTime>,

    /// Time on top for the first answer of a fresh process [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Time")]
    #[serde(default, deserialize_with = "time")]
    pub(in crate::cli) start_time: Option<Duration>,

    /// Time for all moves of a game together; no limit when not given
    #[arg(long, value_name = "TIME", value_parser = duration::parse_positive, help_heading = "Time")]
    #[serde(default, deserialize_with = "positive_time")]
    pub(in crate::cli) game_time: Option<Duration>,

    /// Added to the game clock after every move
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Time")]
    #[serde(default, deserialize_with = "time")]
    pub(in crate::cli) increment: Option<Duration>,

    /// What clocks measure: time, without that in which a bot could run but waits for a processor; or
    /// processor time of the bot's processes, with a limit of ten times as much wall time (at least
    /// 5 s more) [default: wall]
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Time")]
    #[serde(default, deserialize_with = "word")]
    pub(in crate::cli) clock: Option<ClockName>,

    /// End a game as soon as its value is proven; the time to prove it is charged to no bot
    #[arg(long, help_heading = "Game")]
    #[serde(default)]
    pub(in crate::cli) adjudicate: bool,

    /// When bots get fresh processes [default: pair]
    #[arg(long, value_enum, help_heading = "Bots")]
    #[serde(default, deserialize_with = "word")]
    pub(in crate::cli) restart: Option<RestartName>,

    /// Bench a bot that forfeits this many games in a row; 0 for never [default: 10]
    #[arg(long, value_name = "N", value_parser = numbers::at_least::<u32>(0), allow_negative_numbers = true, help_heading = "Bots")]
    pub(in crate::cli) bench_after: Option<u32>,

    /// Do not begin when a bot fails the entry check
    #[arg(long, help_heading = "Bots")]
    #[serde(default)]
    pub(in crate::cli) strict: bool,

    /// Let bots enter without a check
    #[arg(long, conflicts_with = "strict", help_heading = "Bots")]
    #[serde(default)]
    pub(in crate::cli) no_check: bool,

    /// Analyse the games when all have been played: adds each bot's accuracy and blunders to the
    /// standings
    #[arg(long, help_heading = "Analysis")]
    #[serde(default)]
    pub(in crate::cli) analyse: bool,

    /// Time to solve each turn [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse_positive, help_heading = "Analysis")]
    #[serde(default, deserialize_with = "positive_time")]
    pub(in crate::cli) time_per_move: Option<Duration>,

    /// Games at once [default: half as many as there are cores]
    #[arg(short, long, value_name = "N", value_parser = numbers::within::<u16>(1..=65_535), allow_negative_numbers = true)]
    #[serde(default, deserialize_with = "at_least::<_, _, 1>")]
    pub(in crate::cli) jobs: Option<u16>,

    /// The folder for all files; a tournament that is there is resumed
    /// [default: a new one, named after the time]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) out: Option<PathBuf>,

    #[command(flatten)]
    #[serde(default)]
    pub(in crate::cli) sandbox: SandboxOptions,

    #[command(flatten)]
    #[serde(default)]
    pub(in crate::cli) pages: PageOptions,

    /// The bots of a file.
    #[arg(skip)]
    #[serde(default)]
    pub(in crate::cli) bots: Vec<BotOptions>,
}

impl Options {
    /// These options, with those of a file where these are not given.
    pub(in crate::cli) fn or(self, file: Self) -> Self {
        Self {
            format: self.format.or(file.format),
            rounds: self.rounds.or(file.rounds),
            groups: self.groups.or(file.groups),
            seeds: self.seeds.or(file.seeds),
            pairs: self.pairs.or(file.pairs),
            opening_plies: self.opening_plies.or(if self.openings.is_some() {
                None
            } else {
                file.opening_plies
            }),
            openings: self.openings.or(if self.opening_plies.is_some() {
                None
            } else {
                file.openings
            }),
            seed: self.seed.or(file.seed),
            sprt: self.sprt.or(file.sprt),
            tie_break: if self.tie_break.is_empty() {
                file.tie_break
            } else {
                self.tie_break
            },
            game: self.game.or(file.game),
            game_option: if self.game_option.is_empty() {
                file.game_option
            } else {
                self.game_option
            },
            pieces: self.pieces.or(file.pieces),
            rules: self.rules.or(file.rules),
            move_time: self.move_time.or(file.move_time),
            start_time: self.start_time.or(file.start_time),
            game_time: self.game_time.or(file.game_time),
            increment: self.increment.or(file.increment),
            clock: self.clock.or(file.clock),
            adjudicate: self.adjudicate || file.adjudicate,
            restart: self.restart.or(file.restart),
            bench_after: self.bench_after.or(file.bench_after),
            strict: self.strict || (file.strict && !self.no_check),
            no_check: self.no_check || (file.no_check && !self.strict),
            analyse: self.analyse || file.analyse,
            time_per_move: self.time_per_move.or(file.time_per_move),
            jobs: self.jobs.or(file.jobs),
            out: self.out.or(file.out),
            sandbox: self.sandbox.or(file.sandbox),
            pages: self.pages.or(file.pages),
            bots: [self.bots, file.bots].concat(),
        }
    }

    /// Reads a file. Relative paths in it are resolved against its directory.
    pub(in crate::cli) fn read(path: &Path) -> Result<Self, Failure> {
        let text =
            text_file::read(path, text_file::WRITTEN).map_err(|error| unreadable(path, &error))?;
        let mut options: Self = toml::from_str(&text).map_err(|error| {
            // The message quotes the line and marks the place.
            Failure::Usage(format!(
                "{}: {}",
                path.display(),
                without_types(&error.to_string())
            ))
        })?;
        if options.opening_plies.is_some() && options.openings.is_some() {
            return Err(Failure::Usage(format!(
                "{}: opening-plies and openings exclude each other; leave one out",
                path.display()
            )));
        }
        let base = path.parent().unwrap_or(Path::new(""));
        let files = [
            &mut options.openings,
            &mut options.pieces,
            &mut options.out,
            &mut options.seeds,
        ];
        for file in files.into_iter().flatten() {
            *file = base.join(&*file);
        }
        options.sandbox.relative_to(base);
        options.pages.relative_to(base);
        for bot in &mut options.bots {
            if let Some(directory) = &mut bot.directory {
                *directory = base.join(&*directory);
                bot.command = bot.command.resolved(directory);
            }
            bot.command = bot.command.resolved(base);
        }
        Ok(options)
    }

    /// Takes the limits on time from the plan of a tournament that is resumed, where all its bots have the
    /// same and none are given: like all other options.
    pub(in crate::cli) fn time_as_planned(&mut self, plan: &Plan) -> Result<(), Failure> {
        let Some(first) = plan.bots.first() else {
            return Ok(());
        };
        let is_common = plan.bots.iter().all(|bot| bot.limits == first.limits);
        if !is_common || self.has_time() {
            return Ok(());
        }
        let time = TimeControl::try_from(first.limits)
            .map_err(|error| Failure::Usage(format!("plan.json: {error}")))?;
        self.move_time = Some(MoveTime(time.move_time));
        self.start_time = Some(time.start_time);
        self.game_time = time.game_time;
        self.increment = Some(time.increment);
        self.clock = match time.kind {
            #[cfg(all(target_os = "linux", not(portable)))]
            ClockKind::Cpu => Some(ClockName::Cpu),
            _ => None,
        };
        Ok(())
    }

    /// Whether a limit of time is given.
    const fn has_time(&self) -> bool {
        self.move_time.is_some()
            || self.start_time.is_some()
            || self.game_time.is_some()
            || self.increment.is_some()
            || self.clock.is_some()
    }

    /// The time control of a bot; its own options take precedence.
    pub(in crate::cli) fn time(&self, own: Option<&BotOptions>) -> TimeControl {
        let default = TimeControl::default();
        let pick = |get: fn(&BotOptions) -> Option<Duration>, all: Option<Duration>| {
            own.and_then(get).or(all)
        };
        let move_time = own.and_then(|bot| bot.move_time).or(self.move_time);
        TimeControl {
            move_time: move_time.map_or(default.move_time, |MoveTime(limit)| limit),
            start_time: pick(|bot| bot.start_time, self.start_time).unwrap_or(default.start_time),
            game_time: pick(|bot| bot.game_time, self.game_time),
            increment: pick(|bot| bot.increment, self.increment).unwrap_or(default.increment),
            kind: self.clock.map_or(default.kind, ClockKind::from),
        }
    }
}

/// Reads `elo0,elo1[,alpha,beta]`.
fn sprt(text: &str) -> Result<SprtPlan, String> {
    let expected = "expected two or four numbers such as 0,10 or 0,10,0.05,0.05";
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let plan = match numbers.as_deref() {
        Ok(&[elo0, elo1]) => SprtPlan {
            elo0,
            elo1,
            alpha: 0.05,
            beta: 0.05,
        },
        Ok(&[elo0, elo1, alpha, beta]) => SprtPlan {
            elo0,
            elo1,
            alpha,
            beta,
        },
        _ => return Err(expected.to_owned()),
    };
    crate::arena::sprt(&plan).map_err(|error| error.to_string())?;
    Ok(plan)
}

fn sprt_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SprtPlan>, D::Error> {
    parsed(deserializer, sprt)
}
