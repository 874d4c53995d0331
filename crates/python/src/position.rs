use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use referee_games::game::quarto::{self, Edition};
use referee_games::game::{BuiltinGame, Outcome, Position as _, Side, four_in_a_row};
use referee_games::solver::{Evaluation, Goal, Limits, Options, Solve, Solvers};

use crate::arrays::{self, Encoded};
use crate::game::{self, wrong};
use crate::value::Value;

/// A search of so many nodes takes some milliseconds: one that is not done then is watched for Ctrl-C.
const QUICK: u64 = 100_000;

/// A position of a game, in which a side is to move, or the game is over. It never changes.
///
/// Positions are equal when their game, board, piece in hand and side to move are, and can be keys of a dictionary.
/// `repr` evaluates to an equal position, `str` is the request of the protocol.
#[pyclass(frozen, eq, module = "referee")]
#[derive(Clone, Debug)]
pub(crate) struct Position {
    pub(crate) state: State,
    /// Of a game that is over, which no text of the protocol shows: the position before it, and the last turn.
    before: Option<Box<(State, String)>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Quarto(game::Quarto, quarto::Position),
    FourInARow(four_in_a_row::Position),
}

/// `$body` with the game and the position of a state.
macro_rules! each {
    ($state:expr, |$game:pat_param, $position:ident| $body:expr) => {
        match $state {
            State::Quarto(quarto, $position) => {
                let $game: &Edition = &quarto.edition;
                $body
            }
            State::FourInARow($position) => {
                let $game = &four_in_a_row::FourInARow;
                $body
            }
        }
    };
}

pub(crate) fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl PartialEq for Position {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl Position {
    pub(crate) const fn of(state: State) -> Self {
        Self {
            state,
            before: None,
        }
    }

    /// The position after a turn made in `self`.
    fn after(&self, state: State, turn: impl FnOnce() -> String) -> Self {
        let is_over = each!(&state, |_, position| position.outcome().is_some());
        Self {
            before: is_over.then(|| Box::new((self.state.clone(), turn()))),
            state,
        }
    }

    fn request(state: &State) -> String {
        each!(state, |game, position| game.request(position))
    }

    fn quarto(&self, what: &str) -> PyResult<(&Edition, &quarto::Position)> {
        match &self.state {
            State::Quarto(quarto, position) => Ok((&quarto.edition, position)),
            State::FourInARow(_) => {
                let problem = format!("a position of Four In A Row has no {what}");
                Err(PyAttributeError::new_err(problem))
            }
        }
    }

    /// The expression in Python that makes this position.
    fn source(state: &State) -> String {
        let text = Self::request(state);
        match state {
            State::Quarto(game, position) => {
                let is_second = position.to_move() == Side::Second;
                let side = if is_second { ", \"second\"" } else { "" };
                format!("{}.position({text:?}{side})", game.__repr__())
            }
            State::FourInARow(_) => format!("referee.FourInARow().position({text:?})"),
        }
    }

    /// `action` must be legal.
    fn turn_of(&self, action: usize) -> String {
        match &self.state {
            State::FourInARow(_) => (action + 1).to_string(),
            State::Quarto(quarto, _) => {
                let turn = arrays::quarto_turn(action);
                quarto.edition.turn_text(turn)
            }
        }
    }
}

fn solver<G: BuiltinGame>() -> PyResult<&'static dyn Solve<G::Position>> {
    static SOLVERS: OnceLock<Solvers> = OnceLock::new();
    let solvers = SOLVERS.get_or_init(|| Solvers::new(Options::default()));
    G::solver(solvers).ok_or_else(|| wrong("the game has no solver"))
}

fn limits(time: Option<f64>, nodes: Option<u64>) -> PyResult<Limits> {
    let time = time.map(|seconds| {
        let time = Duration::try_from_secs_f64(seconds);
        time.map_err(|_| wrong(format!("time is {seconds}; expected seconds, from 0 on")))
    });
    let mut limits = time.transpose()?.map_or(Limits::NONE, Limits::within);
    limits.nodes = nodes;
    Ok(limits)
}

/// Without the GIL. Ctrl-C ends it within a tenth of a second.
fn searched<T: Send>(
    py: Python<'_>,
    limits: &Limits,
    is_proven: impl Fn(&T) -> bool,
    work: impl Fn(&Limits) -> T + Sync,
) -> PyResult<T> {
    let nodes = limits.nodes.unwrap_or(u64::MAX);
    let quick = Limits {
        nodes: Some(nodes.min(QUICK)),
        ..limits.clone()
    };
    let found = py.detach(|| work(&quick));
    if nodes <= QUICK || is_proven(&found) {
        return Ok(found);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let mut limits = limits.clone().or_when(Arc::clone(&stop));
    limits.nodes = limits.nodes.map(|nodes| nodes - QUICK);
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, is_done) = channel();
            let (work, limits) = (&work, &limits);
            scope.spawn(move || done.send(work(limits)));
            loop {
                match is_done.recv_timeout(Duration::from_millis(100)) {
                    Ok(found) => return Ok(found),
                    Err(RecvTimeoutError::Disconnected) => return Err(wrong("the search failed")),
                    Err(RecvTimeoutError::Timeout) => {
                        let heed = |py: Python<'_>| py.check_signals();
                        if let Err(interrupted) = Python::attach(heed) {
                            stop.store(true, Ordering::Relaxed);
                            return Err(interrupted);
                        }
                    }
                }
            }
        })
    })
}

const fn is_proven(found: Evaluation) -> bool {
    let (low, high) = found.rank();
    low == high
}

fn value<G: BuiltinGame>(
    py: Python<'_>,
    _: &G,
    position: &G::Position,
    limits: &Limits,
) -> PyResult<Value> {
    let solver = solver::<G>()?;
    let work = |limits: &Limits| solver.solve(position, Goal::Distance, limits);
    let found = searched(py, limits, |&found| is_proven(found), work)?;
    Ok(found.into())
}

fn turn_values<'py, G: BuiltinGame>(
    py: Python<'py>,
    game: &G,
    position: &G::Position,
    limits: &Limits,
) -> PyResult<Bound<'py, PyDict>> {
    let (values, solver) = (PyDict::new(py), solver::<G>()?);
    let work = |limits: &Limits| solver.solve_turns(position, Goal::Distance, limits);
    let are_proven =
        |turns: &Vec<(_, Evaluation)>| turns.iter().all(|&(_, found)| is_proven(found));
    for (turn, found) in searched(py, limits, are_proven, work)? {
        values.set_item(game.turn_text(turn), Value::from(found))?;
    }
    Ok(values)
}

#[pymethods]
impl Position {
    /// The game: a `Quarto` or a `FourInARow`.
    #[getter]
    fn game<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.state {
            State::Quarto(quarto, _) => Ok(Bound::new(py, quarto.clone())?.into_any()),
            State::FourInARow(_) => Ok(Bound::new(py, game::FourInARow)?.into_any()),
        }
    }

    /// "first" or "second"; of a game that is over the side that moved last.
    #[getter]
    fn to_move(&self) -> &'static str {
        game::name(match &self.state {
            State::FourInARow(position) if position.outcome().is_some() => {
                position.to_move().other()
            }
            state => each!(state, |_, position| position.to_move()),
        })
    }

    /// `None` while the game goes on; then the side that won, "first" or "second", or "draw".
    #[getter]
    fn outcome(&self) -> Option<&'static str> {
        each!(&self.state, |_, position| position.outcome()).map(|outcome| match outcome {
            Outcome::Win(side) => game::name(side),
            Outcome::Draw => "draw",
        })
    }

    /// The board and the piece in hand, or the mark and the board: a request of the protocol.
    #[getter]
    fn text(&self) -> String {
        Self::request(&self.state)
    }

    /// The piece that the side to move must place, as a character; `None` without one. Only of Quarto.
    #[getter]
    fn hand(&self) -> PyResult<Option<char>> {
        let (edition, position) = self.quarto("piece in hand")?;
        Ok(position.hand().map(|piece| edition.set.symbol(piece)))
    }

    /// The pieces neither on the board nor in hand, in the order of their numbers. Only of Quarto.
    #[getter]
    fn left(&self) -> PyResult<String> {
        let (edition, position) = self.quarto("pieces left")?;
        let symbols = position.left().map(|piece| edition.set.symbol(piece));
        Ok(symbols.collect())
    }

    /// The winning lines: pairs of a name and the property, or the cells, such as ("H4", "big").
    #[getter]
    fn winning_lines(&self) -> Vec<(String, String)> {
        each!(&self.state, |game, position| game.winning_lines(position))
    }

    /// The legal answers, in canonical form, such as "6 A"; none when the game is over.
    fn turns(&self) -> Vec<String> {
        each!(&self.state, |game, position| {
            let turns = position.turns().into_iter();
            turns.map(|(turn, _)| game.turn_text(turn)).collect()
        })
    }

    /// The position after an answer, which may be in any form that the protocol accepts.
    ///
    /// Raises:
    ///     ValueError: The answer is malformed or illegal, with what is wrong with it.
    fn play(&self, turn: &str) -> PyResult<Self> {
        let turn = turn.trim();
        let rejected = |rejection: referee_games::game::Rejection| wrong(rejection.text());
        let (state, text) = match &self.state {
            State::Quarto(quarto, position) => {
                let (turn, after) = quarto.edition.judge(position, turn).map_err(rejected)?;
                let text = quarto.edition.turn_text(turn);
                (State::Quarto(quarto.clone(), after), text)
            }
            State::FourInARow(position) => {
                let game = four_in_a_row::FourInARow;
                let (turn, after) = game.judge(position, turn).map_err(rejected)?;
                (State::FourInARow(after), game.turn_text(turn))
            }
        };
        Ok(self.after(state, || text))
    }

    /// The exact value for the side to move, as far as the limits allow; of a game that is over for the side that moved
    /// last. What is proven is kept for later calls, in 256 MiB at most. Other threads of Python run meanwhile.
    ///
    /// Args:
    ///     time: The most seconds that it takes.
    ///     nodes: The most nodes that are searched.
    #[pyo3(signature = (*, time=None, nodes=None))]
    fn value(&self, py: Python<'_>, time: Option<f64>, nodes: Option<u64>) -> PyResult<Value> {
        let limits = limits(time, nodes)?;
        each!(&self.state, |game, position| value(
            py, game, position, &limits
        ))
    }

    /// The exact value of every turn for the side that makes it, by the turn's text and in the order of `turns()`, as far
    /// as the limits allow. They hold for all turns together.
    ///
    /// Args:
    ///     time: The most seconds that it takes.
    ///     nodes: The most nodes that are searched.
    #[pyo3(signature = (*, time=None, nodes=None))]
    fn turn_values<'py>(
        &self,
        py: Python<'py>,
        time: Option<f64>,
        nodes: Option<u64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let limits = limits(time, nodes)?;
        each!(&self.state, |game, position| turn_values(
            py, game, position, &limits
        ))
    }

    /// An array of int8. Quarto, shape (4, 4): the number of the piece on each cell (`Quarto.symbols`), -1 for a free
    /// cell. Four In A Row, shape (6, 7): 1 for "first", -1 for "second", 0 for a free cell. Row 0 is the top one.
    ///
    /// Raises:
    ///     ModuleNotFoundError: numpy is not installed; the same holds for the other arrays.
    #[getter]
    fn board<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.state {
            State::Quarto(_, at) => arrays::array(py, &arrays::quarto_board(at), [4, 4]),
            State::FourInARow(at) => arrays::array(py, &arrays::four_in_a_row_board(at), [6, 7]),
        }
    }

    /// An array of int8 with shape (4, 4, 4): of each cell the four features of its piece, 1 for the property that the
    /// piece set names first, -1 for the other, 0 for a free cell. Only of Quarto.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (_, position) = self.quarto("features")?;
        arrays::array(py, &arrays::quarto_features(position), [4, 4, 4])
    }

    /// What a learner sees, for the side to move: an array of int8. Quarto, shape (4, 4, 9): planes 0 to 3 are
    /// `features`, 4 to 7 the features of the piece in hand on every cell, and 8 is 1 at row p // 4, column p % 4 for each
    /// piece p that is left. Four In A Row, shape (6, 7, 2): 1 for an own disc, 1 for one of the opponent.
    #[getter]
    fn observation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        each!(&self.state, |_, position| arrays::observation(py, position))
    }

    /// An array of int8, 1 for each legal action. Quarto, shape (289,): action 17 * cell + gift, with cells 0 to 15 and
    /// pieces 0 to 15, 16 for none. Four In A Row, shape (7,): the column from 0 on.
    #[getter]
    fn action_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        each!(&self.state, |_, position| arrays::mask(py, position))
    }

    /// The position after an action, by its number (`action_mask`).
    ///
    /// Raises:
    ///     ValueError: The action is not legal.
    fn act(&self, action: usize) -> PyResult<Self> {
        let mut state = self.state.clone();
        let done = each!(&mut state, |_, position| position.act(action));
        done.ok_or_else(|| wrong(format!("action {action} is not legal in {}", self.text())))?;
        Ok(self.after(state, || self.turn_of(action)))
    }

    /// The legal action at a share of them all, in the order of their numbers: `action_at(random.random())` is a random one.
    ///
    /// Args:
    ///     share: From 0 to 1, without 1.
    ///
    /// Raises:
    ///     ValueError: The game is over, or the share is not one.
    fn action_at(&self, share: f64) -> PyResult<usize> {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 289, and checked"
        )]
        let place = |count: usize| (share * count as f64) as usize;
        let is_share = (0.0..1.0).contains(&share);
        let expected = "expected a share from 0 to 1, without 1, of a game that is not over";
        each!(&self.state, |_, position| position.pick(place))
            .filter(|_| is_share)
            .ok_or_else(|| wrong(expected))
    }

    /// The answer that an action stands for, such as "6 A".
    ///
    /// Raises:
    ///     ValueError: The action is not legal.
    fn action_text(&self, action: usize) -> PyResult<String> {
        self.act(action)?;
        Ok(self.turn_of(action))
    }

    fn __str__(&self) -> String {
        self.text()
    }

    fn __repr__(&self) -> String {
        match self.before.as_deref() {
            None => Self::source(&self.state),
            Some((before, turn)) => format!("{}.play({turn:?})", Self::source(before)),
        }
    }

    #[staticmethod]
    fn _of(
        game: &Bound<'_, PyAny>,
        text: &str,
        to_move: &str,
        turn: Option<&str>,
    ) -> PyResult<Self> {
        let start = match game.cast::<game::Quarto>() {
            Ok(game) => game.get().position(text, to_move)?,
            Err(_) => game::FourInARow::position(text)?,
        };
        turn.map_or_else(|| Ok(start.clone()), |turn| start.play(turn))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, this) = (slf.py(), slf.get());
        let before = this.before.as_deref();
        let (state, turn) = before.map_or((&this.state, None), |(state, turn)| (state, Some(turn)));
        let side = each!(state, |_, position| game::name(position.to_move()));
        let arguments = (this.game(py)?, Self::request(state), side, turn).into_pyobject(py)?;
        Ok((slf.get_type().getattr("_of")?, arguments))
    }

    fn __hash__(&self) -> u64 {
        match &self.state {
            State::Quarto(_, position) => hash_of(position),
            State::FourInARow(position) => hash_of(position),
        }
    }
}
