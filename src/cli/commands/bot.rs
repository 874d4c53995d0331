//! `referee bot NAME`: a built-in strategy as a program of its own, over stdin and stdout.

use std::env::{self, VarError};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::Duration;

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;

use crate::cli::support::duration;
use crate::cli::support::failure::Failure;
use crate::cli::support::games::{GameName, WithGame, with_game};
use crate::cli::support::setup::match_set;
use crate::game::Game;
use crate::game::dialogue::Dialogue;
use crate::game::quarto::{Edition, PieceFormat, Rules};
use crate::protocol::{MAX_LINE_BYTES, NotUtf8, answer_text, env as names};
use crate::strategy::perfect::Perfect;
use crate::strategy::{self, PERFECT, Strategy};

/// For an answer, when no referee says how long it may take.
const USUAL_MOVE_TIME: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The strategy: random, greedy or perfect
    name: String,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let strategy = Strategy::from_name(&args.name);
    if strategy.is_none() && args.name != PERFECT {
        return Err(Failure::Usage(format!(
            "there is no built-in strategy {}; expected {}",
            crate::text::quote(args.name.as_bytes()),
            strategy::NAMES.join(", ")
        )));
    }
    let game = match variable(names::GAME)? {
        None => GameName::Quarto,
        Some(name) => GameName::from_name(&name)
            .ok_or_else(|| Failure::Usage(format!("{}={name}: unknown game", names::GAME)))?,
    };
    let rules = match variable(names::RULES)? {
        None => Rules::default(),
        Some(name) => Rules::from_name(&name).ok_or_else(|| {
            Failure::Usage(format!(
                "{}={name}: unknown rules; expected standard or squares",
                names::RULES
            ))
        })?,
    };
    let set = match_set(variable(names::PIECES)?.map(PathBuf::from).as_ref())?;
    let seed = match variable(names::SEED)? {
        None => rand::random::<u64>(),
        Some(text) => text
            .parse()
            .map_err(|_| Failure::Usage(format!("{}={text}: expected a number", names::SEED)))?,
    };
    let Some(strategy) = strategy else {
        if game != GameName::Quarto {
            return Err(Failure::Usage(
                "builtin:perfect plays Quarto only; builtin:greedy plays every game".to_owned(),
            ));
        }
        return serve_perfect(&Edition::new(rules, set), seed);
    };
    let what = Simple { strategy, seed };
    with_game(game, rules, set, PieceFormat::Symbol, what)
}

fn variable(name: &str) -> Result<Option<String>, Failure> {
    match env::var(name) {
        // Some shells pass unset variables on as empty ones.
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(Failure::Usage(format!("{name} is not UTF-8 text"))),
    }
}

/// A strategy for every game.
struct Simple {
    strategy: Strategy,
    seed: u64,
}

impl WithGame for Simple {
    type Output = Result<(), Failure>;

    fn with<G: Dialogue + Clone + 'static>(self, game: G) -> Self::Output {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        serve(&game, |position| {
            self.strategy.choose(&game, position, &mut rng)
        })
    }
}

/// The one that knows Quarto.
fn serve_perfect(edition: &Edition, seed: u64) -> Result<(), Failure> {
    let move_time = match variable(names::MOVE_TIME)? {
        None => USUAL_MOVE_TIME,
        Some(text) => duration::parse_positive(&text)
            .map_err(|problem| Failure::Usage(format!("{}={text}: {problem}", names::MOVE_TIME)))?,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut perfect = Perfect::new(move_time);
    serve(edition, |position| perfect.choose(position, &mut rng))
}

/// Answers requests until there are no more.
fn serve<G: Game>(
    game: &G,
    mut choose: impl FnMut(&G::Position) -> Option<G::Turn>,
) -> Result<(), Failure> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut bytes = Vec::new();
    let mut answer = String::new();
    loop {
        bytes.clear();
        let mut limited = io::Read::take(&mut input, MAX_LINE_BYTES as u64 + 1);
        if limited.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(());
        }
        let wrong =
            |problem: String| Failure::Usage(format!("the request is not understood: {problem}"));
        let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let request =
            answer_text(line).map_err(|NotUtf8| wrong("it is not UTF-8 text".to_owned()))?;
        let position = game.read_request(request).map_err(wrong)?;
        // A turn always exists: a request never shows a finished game.
        let Some(turn) = choose(&position) else {
            return Err(Failure::Usage("the game in the request is over".to_owned()));
        };
        answer.clear();
        game.write_turn(turn, &mut answer);
        answer.push('\n');
        output.write_all(answer.as_bytes())?;
        output.flush()?;
    }
}
