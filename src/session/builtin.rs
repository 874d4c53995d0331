//! The solver and the built-in bots of each game.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::{BuiltinBot, BuiltinOptions};
use crate::game::four_in_a_row::FourInARow;
use crate::game::quarto::{self, Edition};
use crate::game::{Game, Outcome, Position as _};
use crate::solver::{Goal, Limits, Options, Solver, Value};
use crate::strategy::Strategy;
use crate::strategy::perfect::Perfect;

/// Positions with more free cells are not proven: that would take too long.
const FREE_UP_TO: usize = 10;

/// Bytes of the transposition table for one position.
const TT_BYTES: usize = 2 << 20;

/// The answer of a built-in bot. It has no turn only when the game is over, and then no request is sent.
pub(super) fn answer<G: Game>(game: &G, turn: Option<G::Turn>) -> Result<String, String> {
    let turn = turn.ok_or("the game in it is over")?;
    let mut text = String::new();
    game.write_turn(turn, &mut text);
    Ok(text)
}

/// What the program provides for a game beyond its rules.
pub trait Builtins: Game {
    /// The result of best play; `None` when a search of `nodes` nodes does not prove it. Every position
    /// is searched with an empty table, so the result depends on the position alone.
    fn prove(&self, position: &Self::Position, nodes: u64) -> Option<Outcome> {
        let _ = (position, nodes);
        None
    }

    /// A bot that plays perfectly, but for random turns with the probability `slips`, if there is one.
    fn perfect_bot(&self, slips: Option<f64>, options: BuiltinOptions) -> Option<BuiltinBot<'_>> {
        let _ = (slips, options);
        None
    }
}

impl Builtins for Edition {
    fn prove(&self, position: &quarto::Position, nodes: u64) -> Option<Outcome> {
        if position.board().free().count() > FREE_UP_TO {
            return None;
        }
        let solver = Solver::new(Options {
            tt_bytes: TT_BYTES,
            threads: 1,
        });
        let answer = solver.solve(position, Goal::Value, &Limits::nodes(nodes));
        let side = position.to_move();
        Some(match answer.value()? {
            Value::Win => Outcome::Win(side),
            Value::Draw => Outcome::Draw,
            Value::Loss => Outcome::Win(side.other()),
        })
    }

    fn perfect_bot(&self, slips: Option<f64>, options: BuiltinOptions) -> Option<BuiltinBot<'_>> {
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        // Slips have numbers of their own, so that those of the other turns do not depend on them.
        let mut slip_rng = ChaCha8Rng::seed_from_u64(options.seed);
        slip_rng.set_stream(1);
        let mut perfect = match slips {
            None => Perfect::new(options.move_time),
            Some(_) => Perfect::without_clock(),
        };
        Some(Box::new(move |request| {
            let position = self.read_request(request)?;
            let turn = if slips.is_some_and(|slips| slip_rng.random_bool(slips)) {
                Strategy::Random.choose(self, &position, &mut slip_rng)
            } else {
                perfect.choose(&position, &mut rng)
            };
            answer(self, turn)
        }))
    }
}

impl Builtins for FourInARow {}
