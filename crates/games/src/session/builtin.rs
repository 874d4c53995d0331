//! The solver and the built-in bots of each game.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::prover::{Prover, Solvers, of_four_in_a_row, of_quarto};
use super::{BuiltinBot, BuiltinOptions};
use crate::game::four_in_a_row::FourInARow;
use crate::game::quarto::{self, Edition};
use crate::game::{Game, Outcome, Position as _, Side};
use crate::solver::{Goal, Limits, Options, Solver, Value, four_in_a_row};
use crate::strategy::Strategy;
use crate::strategy::perfect::Perfect;
use crate::strategy::perfect_four::PerfectFour;

/// Positions with more free cells are not proven: that would take too long.
const FREE_UP_TO: usize = 10;

/// Positions of Four In A Row with fewer discs are not proven.
const LEAST_DISCS: u32 = 14;

/// Bytes of the transposition table for one position.
const TT_BYTES: usize = 2 << 20;

/// The answer of a built-in bot. It has no turn only when the game is over, and then no request is sent.
pub(super) fn answer<G: Game>(game: &G, turn: Option<G::Turn>) -> Result<String, String> {
    let turn = turn.ok_or("the game in it is over")?;
    let mut text = String::new();
    game.write_turn(turn, &mut text);
    Ok(text)
}

/// The result of best play from a position of this value, in which `side` is to move.
const fn outcome(value: Value, side: Side) -> Outcome {
    match value {
        Value::Win => Outcome::Win(side),
        Value::Draw => Outcome::Draw,
        Value::Loss => Outcome::Win(side.other()),
    }
}

/// A bot that makes the turns that `choose` chooses, but for random ones with the probability `slips`.
fn with_slips<'a, G: Game>(
    game: &'a G,
    slips: Option<f64>,
    seed: u64,
    mut choose: impl FnMut(&G::Position, &mut ChaCha8Rng) -> Option<G::Turn> + 'a,
) -> BuiltinBot<'a> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Slips have numbers of their own, so that those of the other turns do not depend on them.
    let mut slip_rng = ChaCha8Rng::seed_from_u64(seed);
    slip_rng.set_stream(1);
    Box::new(move |request| {
        let position = game.read_request(request)?;
        let turn = if slips.is_some_and(|slips| slip_rng.random_bool(slips)) {
            Strategy::Random.choose(game, &position, &mut slip_rng)
        } else {
            choose(&position, &mut rng)
        };
        answer(game, turn)
    })
}

/// What the program provides for a game beyond its rules.
pub trait Builtins: Game {
    /// Whether positions can be proven: games are analysed and adjudicated, and there is a bot that plays perfectly.
    const IS_SOLVABLE: bool = false;

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

    /// What proves positions of the game with these solvers, if there is one for it.
    fn prover(&self, solvers: &Solvers) -> Option<Box<dyn Prover>> {
        let _ = solvers;
        None
    }
}

impl Builtins for Edition {
    const IS_SOLVABLE: bool = true;

    fn prove(&self, position: &quarto::Position, nodes: u64) -> Option<Outcome> {
        if position.board().free().count() > FREE_UP_TO {
            return None;
        }
        let solver = Solver::new(Options {
            tt_bytes: TT_BYTES,
            threads: 1,
        });
        let answer = solver.solve(position, Goal::Value, &Limits::nodes(nodes));
        Some(outcome(answer.value()?, position.to_move()))
    }

    fn perfect_bot(&self, slips: Option<f64>, options: BuiltinOptions) -> Option<BuiltinBot<'_>> {
        let mut perfect = match slips {
            None => Perfect::new(options.move_time),
            Some(_) => Perfect::without_clock(),
        };
        let choose = move |position: &_, rng: &mut _| perfect.choose(position, rng);
        Some(with_slips(self, slips, options.seed, choose))
    }

    fn prover(&self, solvers: &Solvers) -> Option<Box<dyn Prover>> {
        Some(of_quarto(self, solvers.quarto()))
    }
}

impl Builtins for FourInARow {
    const IS_SOLVABLE: bool = true;

    fn prove(&self, position: &Self::Position, nodes: u64) -> Option<Outcome> {
        let discs: u32 = position.discs().iter().map(|side| side.count_ones()).sum();
        if discs < LEAST_DISCS {
            return None;
        }
        let solver = four_in_a_row::Solver::new(TT_BYTES);
        let answer = solver.solve(position, Goal::Value, &Limits::nodes(nodes));
        Some(outcome(answer.value()?, position.to_move()))
    }

    fn perfect_bot(&self, slips: Option<f64>, options: BuiltinOptions) -> Option<BuiltinBot<'_>> {
        let mut perfect = match slips {
            None => PerfectFour::new(options.move_time),
            Some(_) => PerfectFour::without_clock(),
        };
        let choose = move |position: &_, rng: &mut _| perfect.choose(position, rng);
        Some(with_slips(self, slips, options.seed, choose))
    }

    fn prover(&self, solvers: &Solvers) -> Option<Box<dyn Prover>> {
        Some(of_four_in_a_row(*self, solvers.four_in_a_row()))
    }
}
