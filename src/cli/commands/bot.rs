use std::env::{self, VarError};
use std::fmt::Display;
use std::io::{self, BufRead, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;

use crate::cli::support::failure::{Result, bail, usage};
use crate::cli::support::setup::match_set;
use crate::cli::support::values;
use referee::game::quarto::Rules;
use referee::game::registry::{self, Choices, GAMES};
use referee::game::{BuiltinBot, RequestError};
use referee::game_program::messages::MOST_BYTES;
use referee::protocol::{MAX_LINE_BYTES, NotUtf8, answer_text, env as names};
use referee::strategy::builtin::{Builtin, UnknownBuiltin};

/// When `REFEREE_MOVE_TIME` is not set.
const DEFAULT_MOVE_TIME: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The strategy: random, greedy, perfect, "perfect?slips=P" or "search?depth=N"
    name: String,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let unknown = |error: UnknownBuiltin| usage!("builtin:{}: {error}", args.name);
    let strategy: Builtin = args.name.parse().map_err(unknown)?;
    let game = match variable(names::GAME)? {
        None => &GAMES[0],
        Some(name) => match registry::find(&name) {
            Some(game) => game,
            None if strategy == Builtin::Random && variable(names::ANSWERS)?.is_some() => {
                return serve(of_the_answers()?, MOST_BYTES);
            }
            None => {
                bail!(
                    "{}={name}: unknown game; in a game that is a program builtin:random plays, and the referee \
                     lists its legal answers",
                    names::GAME
                );
            }
        },
    };
    let rules = match variable(names::RULES)? {
        None => Rules::default(),
        Some(name) => Rules::from_name(&name).ok_or_else(|| {
            usage!(
                "{}={name}: unknown rules; expected standard or squares",
                names::RULES
            )
        })?,
    };
    let set = match_set(variable(names::PIECES)?.map(PathBuf::from).as_ref())?;
    let seed = seed()?;
    let ruleset = game.ruleset(Choices {
        rules,
        set,
        ..Choices::default()
    });
    let has_clock = strategy == Builtin::Perfect { slips: None };
    let move_time = match variable(names::MOVE_TIME)?.filter(|_| has_clock) {
        None => DEFAULT_MOVE_TIME,
        Some(text) => values::positive_duration(&text)
            .map_err(|problem| usage!("{}={text}: {problem}", names::MOVE_TIME))?,
    };
    let bot = ruleset.builtin_bot(&args.name, seed, move_time);
    let bot = bot.ok_or_else(|| usage!("there is no builtin:{} for this game", args.name))?;
    serve(bot, MAX_LINE_BYTES)
}

fn seed() -> Result<u64> {
    match variable(names::SEED)? {
        None => Ok(rand::random()),
        Some(text) => text
            .parse()
            .map_err(|_| usage!("{}={text}: expected a number", names::SEED)),
    }
}

fn of_the_answers() -> Result<BuiltinBot> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed()?);
    Ok(Box::new(move |request| {
        let answers: Vec<&str> = request.split('\t').skip(1).collect();
        let answer = answers.choose(&mut rng).map(|&answer| answer.to_owned());
        answer.ok_or(RequestError::NoAnswers)
    }))
}

fn variable(name: &str) -> Result<Option<String>> {
    match env::var(name) {
        // Some shells pass unset variables on as empty ones.
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(usage!("{name} is not UTF-8 text")),
    }
}

fn serve(mut bot: BuiltinBot, most: usize) -> Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let mut limited = io::Read::take(&mut input, most as u64 + 1);
        if limited.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(());
        }
        let wrong = |problem: &dyn Display| usage!("invalid request: {problem}");
        let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let request = answer_text(line).map_err(|NotUtf8| wrong(&"it is not UTF-8 text"))?;
        let mut answer = bot(request).map_err(|error| wrong(&error))?;
        answer.push('\n');
        output.write_all(answer.as_bytes())?;
        output.flush()?;
    }
}
