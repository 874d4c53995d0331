use pyo3::intern;
use pyo3::prelude::*;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use referee_games::game::{BuiltinGame as _, Outcome, four_in_a_row, quarto};

use crate::arrays::{self, Encoded};
use crate::game::{self, wrong};

/// Many games of one kind at the same time, for training. A game that is over begins anew with the next step.
///
/// Args:
///     game: A `Quarto` or a `FourInARow`.
///     count: The number of games.
///     seed: Of `random_actions`.
#[pyclass(module = "referee")]
#[derive(Debug)]
pub(crate) struct Batch {
    games: Games,
    rng: SmallRng,
}

#[derive(Debug)]
enum Games {
    Quarto(Table<quarto::Position>),
    FourInARow(Table<four_in_a_row::Position>),
}

#[derive(Debug)]
struct Table<P> {
    start: P,
    positions: Vec<P>,
}

macro_rules! each {
    ($games:expr, |$table:ident| $body:expr) => {
        match $games {
            Games::Quarto($table) => $body,
            Games::FourInARow($table) => $body,
        }
    };
}

impl<P: Encoded> Table<P> {
    fn new(start: P, count: usize) -> Self {
        Self {
            positions: vec![start.clone(); count],
            start,
        }
    }

    /// For each game something over zeros.
    fn fill(&self, all: &mut [i8], fill: impl Fn(&P, &mut [i8])) {
        let size = all.len() / self.positions.len().max(1);
        for (position, out) in self.positions.iter().zip(all.chunks_exact_mut(size.max(1))) {
            fill(position, out);
        }
    }

    fn random_actions(&self, rng: &mut SmallRng) -> Vec<u16> {
        let actions = self.positions.iter().map(|position| {
            let action = position.pick(|count| rng.random_range(..count));
            u16::try_from(action.unwrap_or(0)).unwrap_or(0)
        });
        actions.collect()
    }

    /// Rewards of the sides that moved, and whether the games are over. An action that is not legal is an error, and then
    /// no game has changed.
    fn step(&mut self, actions: &[u16]) -> Result<[Vec<i8>; 2], String> {
        let mut results = [0, 1].map(|_| Vec::with_capacity(actions.len()));
        let mut after = Vec::with_capacity(actions.len());
        for (index, (position, &action)) in self.positions.iter().zip(actions).enumerate() {
            if position.outcome().is_some() {
                after.push(self.start.clone());
                for result in &mut results {
                    result.push(0);
                }
                continue;
            }
            let (side, mut position) = (position.to_move(), position.clone());
            let done = position.act(usize::from(action));
            done.ok_or_else(|| format!("action {action} of game {index} is not legal"))?;
            let outcome = position.outcome();
            results[0].push(i8::from(outcome == Some(Outcome::Win(side))));
            results[1].push(i8::from(outcome.is_some()));
            after.push(position);
        }
        self.positions = after;
        Ok(results)
    }
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (game, count, seed=0))]
    fn new(game: &Bound<'_, PyAny>, count: usize, seed: u64) -> PyResult<Self> {
        let games = if let Ok(game) = game.cast::<game::Quarto>() {
            Games::Quarto(Table::new(game.get().edition.start(), count))
        } else if game.cast::<game::FourInARow>().is_ok() {
            Games::FourInARow(Table::new(four_in_a_row::FourInARow.start(), count))
        } else {
            return Err(wrong("expected a game, Quarto() or FourInARow()"));
        };
        Ok(Self {
            games,
            rng: SmallRng::seed_from_u64(seed),
        })
    }

    /// What the side to move of each game sees: int8, shape (count, …) with that of `Position.observation`.
    #[getter]
    fn observations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        each!(&self.games, |table| observations(py, table))
    }

    /// The legal actions of each game: int8, shape (count, actions); all 0 for a game that is over.
    #[getter]
    fn action_masks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        each!(&self.games, |table| masks(py, table))
    }

    /// A legal action for each game, all equally likely: uint16, shape (count,). 0 for a game that is over.
    fn random_actions<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let actions = each!(&self.games, |table| table.random_actions(&mut self.rng));
        arrays::array_of_u16(py, actions.into_iter())
    }

    /// Makes an action in each game; one that is over begins anew, whatever its action.
    ///
    /// Args:
    ///     actions: Numbers, shape (count,).
    ///
    /// Returns:
    ///     Two arrays of int8, shape (count,): 1 for each game that its side to move has won by this, and 1 for each that
    ///     is over.
    ///
    /// Raises:
    ///     ValueError: There is not one action for each game, or one is not legal; then no game has changed.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let actions = py
            .import(intern!(py, "numpy"))?
            .call_method1(
                intern!(py, "ascontiguousarray"),
                (actions, intern!(py, "uint16")),
            )?
            .call_method0(intern!(py, "tobytes"))?;
        let (pairs, _) = actions.extract::<&[u8]>()?.as_chunks::<2>();
        let actions: Vec<u16> = pairs.iter().copied().map(u16::from_ne_bytes).collect();
        let [rewards, over] = each!(&mut self.games, |table| {
            let count = table.positions.len();
            if actions.len() != count {
                let found = actions.len();
                return Err(wrong(format!("{found} actions for {count} games")));
            }
            py.detach(|| table.step(&actions)).map_err(wrong)?
        });
        let array = |numbers: &[i8]| arrays::array(py, numbers, [numbers.len()]);
        Ok((array(&rewards)?, array(&over)?))
    }
}

fn observations<'py, P: Encoded>(py: Python<'py>, table: &Table<P>) -> PyResult<Bound<'py, PyAny>> {
    let [rows, columns, planes] = P::SHAPE;
    let shape = [table.positions.len(), rows, columns, planes];
    arrays::filled(py, shape, |all| table.fill(all, P::observe))
}

fn masks<'py, P: Encoded>(py: Python<'py>, table: &Table<P>) -> PyResult<Bound<'py, PyAny>> {
    let shape = [table.positions.len(), P::ACTIONS];
    arrays::filled(py, shape, |all| table.fill(all, P::mask))
}
