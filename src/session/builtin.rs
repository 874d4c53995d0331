//! The solver and the built-in bots of each game.

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;

use super::{BuiltinBot, BuiltinOptions};
use crate::game::four_in_a_row::FourInARow;
use crate::game::quarto::{self, Edition};
use crate::game::{Game, Outcome, Position as _};
use crate::solver::{Goal, Limits, Options, Solver, Value};
use crate::strategy::PERFECT;
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

    /// The built-in bot of this name that plays only this game, if there is one.
    fn own_bot(&self, name: &str, options: BuiltinOptions) -> Option<BuiltinBot<'_>> {
        let _ = (name, options);
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

    fn own_bot(&self, name: &str, options: BuiltinOptions) -> Option<BuiltinBot<'_>> {
        if name != PERFECT {
            return None;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        let mut perfect = Perfect::new(options.move_time);
        Some(Box::new(move |request| {
            let position = self.read_request(request)?;
            let turn = perfect.choose(&position, &mut rng);
            answer(self, turn)
        }))
    }
}

impl Builtins for FourInARow {}
