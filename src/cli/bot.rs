//! `referee bot NAME`: a built-in strategy as a program of its own, over stdin and stdout.

use std::env::{self, VarError};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;

use super::failure::Failure;
use super::games::{GameName, WithGame, with_game};
use super::setup::match_set;
use crate::game::dialogue::Dialogue;
use crate::game::quarto::{PieceFormat, Rules};
use crate::protocol::{MAX_LINE_BYTES, NotUtf8, answer_text, env as names};
use crate::strategy::Strategy;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The strategy: random or greedy
    name: String,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let strategy = Strategy::from_name(&args.name).ok_or_else(|| {
        Failure::Usage(format!(
            "there is no built-in strategy {}; expected {}",
            crate::text::quote(args.name.as_bytes()),
            Strategy::NAMES.join(" or ")
        ))
    })?;
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
    with_game(
        game,
        rules,
        set,
        PieceFormat::Symbol,
        Serve { strategy, seed },
    )
}

fn variable(name: &str) -> Result<Option<String>, Failure> {
    match env::var(name) {
        // Some shells pass unset variables on as empty ones.
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(Failure::Usage(format!("{name} is not UTF-8 text"))),
    }
}

struct Serve {
    strategy: Strategy,
    seed: u64,
}

impl WithGame for Serve {
    type Output = Result<(), Failure>;

    fn with<G: Dialogue + Clone + 'static>(self, game: G) -> Self::Output {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
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
            let wrong = |problem: String| {
                Failure::Usage(format!("the request is not understood: {problem}"))
            };
            let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
            let request =
                answer_text(line).map_err(|NotUtf8| wrong("it is not UTF-8 text".to_owned()))?;
            let position = game.read_request(request).map_err(wrong)?;
            // A turn always exists: a request never shows a finished game.
            let Some(turn) = self.strategy.choose(&game, &position, &mut rng) else {
                return Err(Failure::Usage("the game in the request is over".to_owned()));
            };
            answer.clear();
            game.write_turn(turn, &mut answer);
            answer.push('\n');
            output.write_all(answer.as_bytes())?;
            output.flush()?;
        }
    }
}
