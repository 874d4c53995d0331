use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pyo3::exceptions::{PyAttributeError, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use referee_games::drawing::{Pieces, Shown};
use referee_games::game::quarto::{self, Edition};
use referee_games::game::{
    BuiltinGame, BuiltinRuleset, Outcome, Position as _, Ruleset as _, Side, SolvableGame,
    four_in_a_row,
};
use referee_games::solver::{Evaluation, Goal, Limits, Solve, SolverOptions, Solvers};
use referee_games::strategy::builtin::Builtin;

use crate::arguments::{real, whole, wrong};
use crate::arrays::{self, Encoded};
use crate::value::Value;
use crate::{game, image};

/// Of a clock.
const LONGEST: Duration = Duration::from_hours(24);

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

    fn drawing(&self) -> (Pieces, Shown) {
        let (pieces, hand) = match &self.state {
            State::Quarto(quarto, position) => {
                let set = &quarto.edition.set;
                let hand = position.hand().map(|piece| set.symbol(piece));
                (Pieces::of_set(set.clone()), hand)
            }
            State::FourInARow(_) => (Pieces::FourInARow, None),
        };
        let (board, picture) = each!(&self.state, |game, position| (
            game.board(position),
            game.picture(position, None)
        ));
        let shown = Shown::new(&pieces, &board, hand, &picture);
        (pieces, shown)
    }

    pub(crate) fn is_over(&self) -> bool {
        each!(&self.state, |_, position| position.outcome().is_some())
    }

    /// A position that an action has made of another one.
    pub(crate) fn reached(state: State, before: State, action: usize) -> Self {
        let before = Self::of(before);
        before.after(state, || before.turn_of(action))
    }

    /// The position after a turn made in `self`.
    fn after(&self, state: State, turn: impl FnOnce() -> String) -> Self {
        let is_over = each!(&state, |_, position| position.outcome().is_some());
        Self {
            before: is_over.then(|| Box::new((self.state.clone(), turn()))),
            state,
        }
    }

    pub(crate) fn request(state: &State) -> String {
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

    /// Of an action, legal or not.
    fn number_of_action(&self, action: &Bound<'_, PyAny>) -> PyResult<usize> {
        let most = each!(&self.state, |_, position| last_action_of(position));
        let number = whole("action", action, most as u64)?;
        Ok(usize::try_from(number)?)
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

const fn last_action_of<P: Encoded>(_: &P) -> usize {
    P::ACTIONS - 1
}

pub(crate) fn side_of(state: &State) -> &'static str {
    each!(state, |_, position| game::name(position.to_move()))
}

fn solver<G: SolvableGame>() -> &'static dyn Solve<G::Position> {
    static SOLVERS: OnceLock<Solvers> = OnceLock::new();
    let solvers = SOLVERS.get_or_init(|| Solvers::new(SolverOptions::default()));
    G::solver(solvers)
}

/// Seconds.
fn seconds(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let seconds = real("time", value)?;
    let time = Duration::try_from_secs_f64(seconds);
    time.map_err(|_| wrong(format!("time is {seconds}; expected seconds, from 0 on")))
}

fn limits(time: Option<&Bound<'_, PyAny>>, nodes: Option<&Bound<'_, PyAny>>) -> PyResult<Limits> {
    let time = time.map(seconds).transpose()?;
    let mut limits = time.map_or(Limits::NONE, Limits::within);
    let nodes = nodes.map(|nodes| whole("nodes", nodes, u64::MAX));
    limits.nodes = nodes.transpose()?;
    Ok(limits)
}

/// The answer of a built-in bot that is asked for the first time.
fn answer_of<G: BuiltinGame>(
    game: &G,
    position: &G::Position,
    bot: &str,
    seed: u64,
    time: Duration,
) -> Result<String, String> {
    let ruleset = BuiltinRuleset::new(game.clone());
    let no_bot = || format!("builtin:{bot} does not play this game");
    let mut choose = ruleset.builtin_bot(bot, seed, time).ok_or_else(no_bot)?;
    choose(&game.request(position)).map_err(|error| error.to_string())
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

fn value<G: SolvableGame>(
    py: Python<'_>,
    _: &G,
    position: &G::Position,
    limits: &Limits,
) -> PyResult<Value> {
    let solver = solver::<G>();
    let work = |limits: &Limits| solver.solve(position, Goal::Distance, limits);
    let found = searched(py, limits, |&found| is_proven(found), work)?;
    Ok(found.into())
}

fn turn_values<'py, G: SolvableGame>(
    py: Python<'py>,
    game: &G,
    position: &G::Position,
    limits: &Limits,
) -> PyResult<Bound<'py, PyDict>> {
    let (values, solver) = (PyDict::new(py), solver::<G>());
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
        let rejected = |rejection: referee_games::game::Rejection| wrong(rejection.to_string());
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
    ///
    /// Raises:
    ///     ValueError: The time or the nodes are negative or not a number.
    #[pyo3(signature = (*, time=None, nodes=None))]
    fn value(
        &self,
        py: Python<'_>,
        time: Option<&Bound<'_, PyAny>>,
        nodes: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Value> {
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
        time: Option<&Bound<'_, PyAny>>,
        nodes: Option<&Bound<'_, PyAny>>,
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

    /// A drawing of the board, with the piece in hand: an array of uint8 with shape (height, width, 3), red, green and
    /// blue. It has no letters.
    ///
    /// Args:
    ///     height: In pixels, from 16 to 4096.
    ///
    /// Raises:
    ///     ValueError: The height is out of its range.
    ///     MemoryError: There is not enough memory.
    #[pyo3(signature = (height=None))]
    fn image<'py>(
        &self,
        py: Python<'py>,
        height: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let height = height.map_or(Ok(400), |height| whole("height", height, 4096))?;
        let height = u32::try_from(height)?;
        if height < 16 {
            return Err(wrong(format!("height is {height}; expected 16 to 4096")));
        }
        let drawn = py.detach(|| {
            let (pieces, shown) = self.drawing();
            image::image(&pieces, &shown, height)
        });
        let no_memory = || PyMemoryError::new_err("there is no memory for the image");
        let drawn = drawn.ok_or_else(no_memory)?;
        arrays::array_of_u8(py, &drawn.bytes, [drawn.height, drawn.width, 3])
    }

    /// What a learner sees, for the side `to_move`: an array of int8. Quarto, shape (4, 4, 9): planes 0 to 3 are
    /// `features`, 4 to 7 the features of the piece in hand on every cell, and 8 is 1 at row p // 4, column p % 4 for each
    /// piece p that is left. Four In A Row, shape (6, 7, 2): 1 for an own disc, 1 for one of the opponent.
    #[getter]
    fn observation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        each!(&self.state, |_, position| {
            arrays::observation(py, position, position.actor())
        })
    }

    /// What a learner sees, as `observation`, for one of the sides. In Quarto, where pieces belong to no side, both see
    /// the same.
    ///
    /// Args:
    ///     side: "first" or "second".
    ///
    /// Raises:
    ///     ValueError: There is no such side.
    fn observe<'py>(&self, py: Python<'py>, side: &str) -> PyResult<Bound<'py, PyAny>> {
        let side = game::side_named("side", side)?;
        each!(&self.state, |_, position| {
            arrays::observation(py, position, side)
        })
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
    ///     TypeError: It is not a whole number.
    fn act(&self, action: &Bound<'_, PyAny>) -> PyResult<Self> {
        let action = self.number_of_action(action)?;
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
    fn action_at(&self, share: &Bound<'_, PyAny>) -> PyResult<usize> {
        let share = real("share", share)?;
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
    ///     TypeError: It is not a whole number.
    fn action_text(&self, action: &Bound<'_, PyAny>) -> PyResult<String> {
        self.act(action)?;
        Ok(self.turn_of(self.number_of_action(action)?))
    }

    /// The answer of a built-in bot, such as "6 A". The same seed gives the same answer, but for a bot with a clock.
    ///
    /// Args:
    ///     bot: "random", "greedy", "search?depth=2", "perfect" or "perfect?slips=0.1", also as "builtin:greedy".
    ///     seed: What its random numbers come from.
    ///     time: Seconds, 86400 at most. Only "perfect" has a clock, and takes 0.6 of them at most.
    ///
    /// Raises:
    ///     ValueError: The game is over, or there is no such bot.
    #[pyo3(signature = (bot, seed=None, *, time=None))]
    fn choose(
        &self,
        py: Python<'_>,
        bot: &str,
        seed: Option<&Bound<'_, PyAny>>,
        time: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let name = bot.strip_prefix("builtin:").unwrap_or(bot);
        let known: Result<Builtin, _> = name.parse();
        known.map_err(|error| wrong(format!("builtin:{name}: {error}")))?;
        let seed = seed.map_or(Ok(0), |seed| whole("seed", seed, u64::MAX))?;
        let time = time.map_or(Ok(Duration::from_secs(1)), seconds)?;
        if time > LONGEST {
            return Err(wrong(format!("time is {time:?}; expected at most a day")));
        }
        if self.outcome().is_some() {
            return Err(wrong(
                "the game is over; expected a position in which a side is to move",
            ));
        }
        let answer = py.detach(|| {
            each!(&self.state, |game, position| answer_of(
                game, position, name, seed, time
            ))
        });
        answer.map_err(wrong)
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
    pub(crate) fn _of(
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
        let arguments = (this.game(py)?, Self::request(state), side_of(state), turn);
        let arguments = arguments.into_pyobject(py)?;
        Ok((slf.get_type().getattr("_of")?, arguments))
    }

    const fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    const fn __deepcopy__<'py>(
        slf: PyRef<'py, Self>,
        _memo: &Bound<'py, PyAny>,
    ) -> PyRef<'py, Self> {
        slf
    }

    fn __hash__(&self) -> u64 {
        match &self.state {
            State::Quarto(_, position) => hash_of(position),
            State::FourInARow(position) => hash_of(position),
        }
    }
}
