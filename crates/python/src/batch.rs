use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use referee_games::game::{BuiltinGame as _, Outcome, four_in_a_row, quarto};

use crate::arguments::{shown, whole, wrong, wrong_type};
use crate::arrays::{self, Encoded, Numbers};
use crate::game;
use crate::position::{self, Position, State};

/// Games: their arrays take half a gigabyte.
const MOST: u64 = 1 << 20;

/// Odd, and without a pattern in its bits.
const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;

/// Many games of one kind at the same time, for training. A game that is over begins anew with the next step.
///
/// Batches are equal when all their games are, and will draw the same actions. Threads may share one.
///
/// Args:
///     game: A `Quarto` or a `FourInARow`.
///     count: The number of games, 1048576 at most.
///     seed: Of `random_actions`: from 0 to 2**64 - 1.
///     starts: The position in which each game begins, now and anew: a `Position` for all, or one for each.
///
/// Raises:
///     ValueError: A number is out of its range, or a position is of another game or over.
///     TypeError: An argument is of another type.
///     MemoryError: There is not enough memory.
#[pyclass(frozen, eq, module = "referee")]
#[derive(Debug)]
pub(crate) struct Batch {
    /// Python is never run while it is locked: a thread that waits for it never holds up the one that has it.
    games: Mutex<Games>,
    count: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Games {
    tables: Tables,
    seed: u64,
    /// How often random actions were drawn.
    draws: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Tables {
    Quarto(game::Quarto, Table<quarto::Position>),
    FourInARow(Table<four_in_a_row::Position>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Table<P> {
    starts: Vec<P>,
    positions: Vec<P>,
    /// Of each game that is over: the position before the last action, and the action.
    ends: Vec<Option<Box<(P, u16)>>>,
}

/// Of a position in a pickle: the side to move, the request, and the action after which the game was over.
type Saved = (String, String, Option<u16>);

macro_rules! each {
    ($tables:expr, |$table:ident| $body:expr) => {
        match $tables {
            Tables::Quarto(_, $table) => $body,
            Tables::FourInARow($table) => $body,
        }
    };
}

impl<P: Encoded> Table<P> {
    fn new(start: &P, count: usize) -> PyResult<Self> {
        Ok(Self {
            starts: repeated(start, count)?,
            positions: repeated(start, count)?,
            ends: repeated(&None, count)?,
        })
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
    fn step(&mut self, actions: &[u64]) -> Result<[Vec<i8>; 2], String> {
        let mut results = [0, 1].map(|_| Vec::with_capacity(actions.len()));
        let mut after = Vec::with_capacity(actions.len());
        let mut ended = Vec::new();
        for (index, (before, &action)) in self.positions.iter().zip(actions).enumerate() {
            if before.outcome().is_some() {
                after.push(self.starts[index].clone());
                for result in &mut results {
                    result.push(0);
                }
                continue;
            }
            let (side, mut position) = (before.to_move(), before.clone());
            let done = usize::try_from(action).ok().and_then(|n| position.act(n));
            done.ok_or_else(|| illegal::<P>(action, index))?;
            let outcome = position.outcome();
            results[0].push(i8::from(outcome == Some(Outcome::Win(side))));
            results[1].push(i8::from(outcome.is_some()));
            if outcome.is_some() {
                let action = u16::try_from(action).unwrap_or(0);
                ended.push((index, Box::new((before.clone(), action))));
            }
            after.push(position);
        }
        for (index, position) in self.positions.iter().enumerate() {
            if position.outcome().is_some() {
                self.ends[index] = None;
            }
        }
        for (index, end) in ended {
            self.ends[index] = Some(end);
        }
        self.positions = after;
        Ok(results)
    }

    /// These games will begin from these positions.
    fn begin(&mut self, which: &[usize], starts: Vec<P>) {
        for (&index, start) in which.iter().zip(starts) {
            self.starts[index] = start;
        }
    }

    fn reset(&mut self, which: &[usize]) {
        for &index in which {
            self.positions[index] = self.starts[index].clone();
            self.ends[index] = None;
        }
    }

    /// Makes the last action of each game that has one; `None` when it does not end the game.
    fn finish(&mut self, actions: impl Iterator<Item = Option<u16>>) -> Option<()> {
        for (index, action) in actions.enumerate() {
            let Some(action) = action else {
                continue;
            };
            let before = self.positions[index].clone();
            self.positions[index].act(usize::from(action))?;
            self.positions[index].outcome()?;
            self.ends[index] = Some(Box::new((before, action)));
        }
        Some(())
    }

    fn at(&self, index: usize, state: impl Fn(P) -> State) -> Position {
        let reached = state(self.positions[index].clone());
        match self.ends[index].as_deref() {
            None => Position::of(reached),
            Some((before, action)) => {
                Position::reached(reached, state(before.clone()), usize::from(*action))
            }
        }
    }

    fn saved(&self, state: impl Fn(P) -> State) -> Vec<Saved> {
        let games = self.positions.iter().zip(&self.ends);
        let games = games.map(|(position, end)| match end.as_deref() {
            None => saved(&state(position.clone()), None),
            Some((before, action)) => saved(&state(before.clone()), Some(*action)),
        });
        games.collect()
    }

    fn saved_starts(&self, state: impl Fn(P) -> State) -> Vec<Saved> {
        let starts = self.starts.iter();
        let starts = starts.map(|start| saved(&state(start.clone()), None));
        starts.collect()
    }
}

fn illegal<P: Encoded>(action: u64, index: usize) -> String {
    let most = P::ACTIONS - 1;
    if action > most as u64 {
        return format!("action {action} of game {index} does not exist; expected 0 to {most}");
    }
    format!("action {action} of game {index} is not legal; expected one that the mask shows")
}

fn repeated<T: Clone>(value: &T, count: usize) -> PyResult<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(count)
        .map_err(|_| PyMemoryError::new_err(format!("there is no memory for {count} games")))?;
    all.resize(count, value.clone());
    Ok(all)
}

impl Tables {
    fn new(game: &Bound<'_, PyAny>, count: usize) -> PyResult<Self> {
        if let Ok(game) = game.cast::<game::Quarto>() {
            let game = game.get();
            let table = Table::new(&game.edition.start(), count)?;
            Ok(Self::Quarto(game.clone(), table))
        } else if game.cast::<game::FourInARow>().is_ok() {
            let start = four_in_a_row::FourInARow.start();
            Ok(Self::FourInARow(Table::new(&start, count)?))
        } else {
            Err(wrong_type("game", game, "Quarto() or FourInARow()"))
        }
    }

    /// These games will begin from these positions, one for each, or from where they began if there are none.
    fn begin(&mut self, which: &[usize], starts: &[Position]) -> PyResult<()> {
        if starts.iter().any(Position::is_over) {
            return Err(wrong(
                "a start is over; expected positions in which a side is to move",
            ));
        }
        match self {
            Self::Quarto(game, table) => {
                let quarto = |start: &Position| match &start.state {
                    State::Quarto(of, position) if of == game => Some(*position),
                    _ => None,
                };
                let found: Option<Vec<_>> = starts.iter().map(quarto).collect();
                table.begin(which, found.ok_or_else(other_game)?);
            }
            Self::FourInARow(table) => {
                let four = |start: &Position| match &start.state {
                    State::FourInARow(position) => Some(*position),
                    State::Quarto(..) => None,
                };
                let found: Option<Vec<_>> = starts.iter().map(four).collect();
                table.begin(which, found.ok_or_else(other_game)?);
            }
        }
        Ok(())
    }

    fn positions(&self, count: usize) -> Vec<Position> {
        let positions = (0..count).map(|index| match self {
            Self::Quarto(game, table) => table.at(index, |at| State::Quarto(game.clone(), at)),
            Self::FourInARow(table) => table.at(index, State::FourInARow),
        });
        positions.collect()
    }

    /// Of the starts, and of the games.
    fn saved(&self) -> [Vec<Saved>; 2] {
        match self {
            Self::Quarto(game, table) => {
                let state = |at| State::Quarto(game.clone(), at);
                [table.saved_starts(state), table.saved(state)]
            }
            Self::FourInARow(table) => [
                table.saved_starts(State::FourInARow),
                table.saved(State::FourInARow),
            ],
        }
    }
}

fn saved(state: &State, action: Option<u16>) -> Saved {
    let side = position::side_of(state).to_owned();
    (side, Position::request(state), action)
}

fn other_game() -> PyErr {
    wrong("a start is a position of another game; expected those of the batch's own game")
}

/// One for each of `count` games; none when `value` is `None`.
fn starts_of(value: Option<&Bound<'_, PyAny>>, count: usize) -> PyResult<Vec<Position>> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    if let Ok(start) = value.cast::<Position>() {
        return Ok(vec![start.get().clone(); count]);
    }
    let expected = "a Position, or one for each game";
    let items = value.try_iter();
    let items = items.map_err(|_| wrong_type("starts", value, expected))?;
    let mut starts = Vec::new();
    // What has no end is not read to its end.
    for item in items.take(count + 1) {
        let item = item?;
        let start = item.cast::<Position>();
        let start = start.map_err(|_| wrong_type("one of starts", &item, "a Position"))?;
        starts.push(start.get().clone());
    }
    if starts.len() != count {
        let found = match starts.len() {
            found if found > count => format!("more than {count}"),
            found => found.to_string(),
        };
        return Err(wrong(format!("{found} starts for {count} games")));
    }
    Ok(starts)
}

/// The indices of games, of a mask or of the indices themselves.
fn games_of(py: Python<'_>, which: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<usize>> {
    let expected = "indices of games, or a bool for each game";
    match arrays::numbers(py, which, "an index of which", count.saturating_sub(1))? {
        Numbers::Bools(mask) if mask.len() == count => {
            let chosen = mask.iter().enumerate().filter(|&(_, &is_chosen)| is_chosen);
            Ok(chosen.map(|(index, _)| index).collect())
        }
        Numbers::Bools(mask) => {
            let found = mask.len();
            Err(wrong(format!("which has {found} bools for {count} games")))
        }
        Numbers::Whole(indices) => {
            let index = |&index: &u64| usize::try_from(index).ok().filter(|&i| i < count);
            let found: Option<Vec<usize>> = indices.iter().map(index).collect();
            found.ok_or_else(|| {
                let which = shown(which);
                wrong(format!(
                    "which is {which}; expected indices of {count} games"
                ))
            })
        }
        Numbers::Negative(index, _) => Err(wrong(format!(
            "which has the index {index}; expected indices from 0 on"
        ))),
        Numbers::Shape(shape) => Err(wrong(format!(
            "which has shape {shape}; expected {expected}"
        ))),
        Numbers::Other => Err(wrong_type("which", which, expected)),
    }
}

impl PartialEq for Batch {
    fn eq(&self, other: &Self) -> bool {
        // One lock at a time.
        if std::ptr::eq(self, other) {
            return true;
        }
        let games = self.locked().clone();
        games == *other.locked()
    }
}

impl Batch {
    fn of(tables: Tables, count: usize, seed: u64, draws: u64) -> Self {
        let games = Mutex::new(Games {
            tables,
            seed,
            draws,
        });
        Self { games, count }
    }

    fn locked(&self) -> MutexGuard<'_, Games> {
        self.games.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn actions(&self, py: Python<'_>, actions: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let count = self.count;
        let most = each!(&self.locked().tables, |table| actions_of(table)) - 1;
        match arrays::numbers(py, actions, "action", most)? {
            Numbers::Whole(numbers) if numbers.len() == count => Ok(numbers),
            Numbers::Whole(numbers) => {
                let found = numbers.len();
                Err(wrong(format!("{found} actions for {count} games")))
            }
            Numbers::Negative(action, index) => Err(wrong(format!(
                "action {action} of game {index} does not exist; expected 0 to {most}"
            ))),
            Numbers::Shape(shape) => Err(wrong(format!(
                "actions have shape {shape}; expected ({count},), one for each game"
            ))),
            Numbers::Bools(_) | Numbers::Other => Err(wrong_type(
                "actions",
                actions,
                "whole numbers, one for each game",
            )),
        }
    }
}

const fn actions_of<P: Encoded>(_: &Table<P>) -> usize {
    P::ACTIONS
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (game, count, seed=None, starts=None))]
    fn new(
        game: &Bound<'_, PyAny>,
        count: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
        starts: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let count = usize::try_from(whole("count", count, MOST)?)?;
        let seed = seed.map_or(Ok(0), |seed| whole("seed", seed, u64::MAX))?;
        let mut tables = Tables::new(game, count)?;
        if starts.is_some() {
            let every: Vec<usize> = (0..count).collect();
            tables.begin(&every, &starts_of(starts, count)?)?;
            each!(&mut tables, |table| table.reset(&every));
        }
        Ok(Self::of(tables, count, seed, 0))
    }

    /// The game: a `Quarto` or a `FourInARow`.
    #[getter]
    fn game<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let quarto = match &self.locked().tables {
            Tables::Quarto(quarto, _) => Some(quarto.clone()),
            Tables::FourInARow(_) => None,
        };
        match quarto {
            Some(quarto) => Ok(Bound::new(py, quarto)?.into_any()),
            None => Ok(Bound::new(py, game::FourInARow)?.into_any()),
        }
    }

    const fn __len__(&self) -> usize {
        self.count
    }

    fn __repr__(&self) -> String {
        let game = match &self.locked().tables {
            Tables::Quarto(quarto, _) => quarto.__repr__(),
            Tables::FourInARow(_) => game::FourInARow.__repr__().to_owned(),
        };
        format!("<Batch of {} games, {game}>", self.count)
    }

    /// What the side to move of each game sees: int8, shape (count, …) with that of `Position.observation`.
    #[getter]
    fn observations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let [rows, columns, planes] = each!(&self.locked().tables, |table| shape_of(table));
        arrays::filled(py, [self.count, rows, columns, planes], |all| {
            each!(&self.locked().tables, |table| table
                .fill(all, |position, out| position
                    .observe(position.actor(), out)));
        })
    }

    /// The legal actions of each game: int8, shape (count, actions); all 0 for a game that is over.
    #[getter]
    fn action_masks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let actions = each!(&self.locked().tables, |table| actions_of(table));
        arrays::filled(py, [self.count, actions], |all| {
            each!(&self.locked().tables, |table| table
                .fill(all, Encoded::mask));
        })
    }

    /// A legal action for each game, all equally likely: uint16, shape (count,). 0 for a game that is over.
    fn random_actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let actions = {
            let mut games = self.locked();
            let seed = games.seed.wrapping_add(games.draws.wrapping_mul(STRIDE));
            games.draws = games.draws.wrapping_add(1);
            let mut rng = SmallRng::seed_from_u64(seed);
            each!(&games.tables, |table| table.random_actions(&mut rng))
        };
        arrays::array_of_u16(py, actions.into_iter())
    }

    /// Makes an action in each game; one that is over begins anew, whatever its action.
    ///
    /// Args:
    ///     actions: Whole numbers, shape (count,).
    ///
    /// Returns:
    ///     Two arrays of int8, shape (count,): 1 for each game that its side to move has won by this, and 1 for each that
    ///     is over.
    ///
    /// Raises:
    ///     ValueError: There is not one action for each game, or one is not legal; then no game has changed.
    ///     TypeError: They are not whole numbers.
    fn step<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let actions = self.actions(py, actions)?;
        let step = || each!(&mut self.locked().tables, |table| table.step(&actions));
        let [rewards, over] = py.detach(step).map_err(wrong)?;
        let array = |numbers: &[i8]| arrays::array(py, numbers, [numbers.len()]);
        Ok((array(&rewards)?, array(&over)?))
    }

    /// The position of each game.
    fn positions(&self) -> Vec<Position> {
        self.locked().tables.positions(self.count)
    }

    /// Begins games again.
    ///
    /// Args:
    ///     which: Indices of games, or a bool for each game; without it all.
    ///     starts: The position in which each of these begins, now and anew: a `Position` for all, or one for each.
    ///         Without it where it began.
    ///
    /// Raises:
    ///     ValueError: An index or a number of positions is wrong, or a position is of another game or over; then no
    ///         game has changed.
    ///     TypeError: An argument is of another type.
    #[pyo3(signature = (which=None, starts=None))]
    fn reset(
        &self,
        py: Python<'_>,
        which: Option<&Bound<'_, PyAny>>,
        starts: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let which = match which {
            Some(which) => games_of(py, which, self.count)?,
            None => (0..self.count).collect(),
        };
        let starts = starts_of(starts, which.len())?;
        let mut games = self.locked();
        games.tables.begin(&which, &starts)?;
        each!(&mut games.tables, |table| table.reset(&which));
        Ok(())
    }

    /// A batch of its own with the same games, which draws the same actions.
    fn copy(&self) -> Self {
        Self {
            games: Mutex::new(self.locked().clone()),
            count: self.count,
        }
    }

    fn __copy__(&self) -> Self {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.copy()
    }

    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "arguments of Python")]
    fn _of(
        game: &Bound<'_, PyAny>,
        seed: u64,
        draws: u64,
        starts: Vec<Saved>,
        games: Vec<Saved>,
    ) -> PyResult<Self> {
        let count = games.len();
        if starts.len() != count {
            return Err(wrong("the pickle of a batch has not a start for each game"));
        }
        let mut tables = Tables::new(game, count)?;
        let read = |(side, text, _): &Saved| Position::_of(game, text, side, None);
        let positions: PyResult<Vec<Position>> = games.iter().map(read).collect();
        let starts: PyResult<Vec<Position>> = starts.iter().map(read).collect();
        let every: Vec<usize> = (0..count).collect();
        tables.begin(&every, &positions?)?;
        let actions = games.iter().map(|(_, _, action)| *action);
        let done = each!(&mut tables, |table| {
            table.reset(&every);
            table.finish(actions)
        });
        done.ok_or_else(|| wrong("an action in the pickle of a batch does not end its game"))?;
        tables.begin(&every, &starts?)?;
        Ok(Self::of(tables, count, seed, draws))
    }

    #[expect(clippy::type_complexity, reason = "what a pickle holds")]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(
        Bound<'py, PyAny>,
        (Bound<'py, PyAny>, u64, u64, Vec<Saved>, Vec<Saved>),
    )> {
        let this = slf.get();
        let game = this.game(slf.py())?;
        let games = this.locked().clone();
        let [starts, positions] = games.tables.saved();
        let parts = (game, games.seed, games.draws, starts, positions);
        Ok((slf.get_type().getattr("_of")?, parts))
    }
}

const fn shape_of<P: Encoded>(_: &Table<P>) -> [usize; 3] {
    P::SHAPE
}
