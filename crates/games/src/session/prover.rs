//! The exact solvers of the games, for positions and turns as text.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::game::four_in_a_row::{COLUMNS, FourInARow, ROWS};
use crate::game::quarto::Edition;
use crate::game::{Game, Outcome, Position as _, Side, WinningLines, four_in_a_row, quarto};
use crate::solver::{self, Evaluation, Goal, Limits, Options, Solver, Value};

/// Positions of Quarto with at most so many free cells are proven in less than a second, with all their turns.
pub(super) const QUARTO_QUICK: usize = 10;

/// The same of Four In A Row.
pub(super) const FOUR_IN_A_ROW_QUICK: usize = 28;

/// Proves positions of a game, and keeps what it has proven.
///
/// A request is of a position that is not over; an answer is a legal one there. Errors are sentences about one of
/// these texts.
pub trait Prover: fmt::Debug + Send + Sync {
    /// What a turn names as its place: `cell`, `column`.
    fn place(&self) -> &'static str;

    /// What fills the board, one a turn: `placement`, `disc`.
    fn unit(&self) -> &'static str;

    /// Whether all turns, and how long they last, are proven in less than a second.
    fn is_quick(&self, request: &str) -> Result<bool, String>;

    /// For the side to move; `None` when a limit was reached.
    fn value(&self, request: &str, limits: &Limits) -> Result<Option<Value>, String>;

    /// For the side that answers, as far as it is proven. `lasts`: also how long the game lasts, where a side wins.
    fn turn_value(
        &self,
        request: &str,
        answer: &str,
        lasts: bool,
        limits: &Limits,
    ) -> Result<TurnValue, String>;

    /// Whether an answer is worth at least this value; `None` when a limit was reached.
    fn keeps(
        &self,
        request: &str,
        answer: &str,
        value: Value,
        limits: &Limits,
    ) -> Result<Option<bool>, String>;

    /// The value, and which turns keep it; `None` when a limit was reached.
    fn prove(&self, request: &str, limits: &Limits) -> Result<Option<Proof>, String>;

    /// Every turn, and what can be seen of it without a search.
    fn turns(&self, request: &str) -> Result<Vec<TurnFacts>, String>;

    /// As a request; `None` when the game is over after the answer.
    fn request_after(&self, request: &str, answer: &str) -> Result<Option<String>, String>;

    fn completed(&self, request: &str, answer: &str) -> Result<WinningLines, String>;

    /// A game that both sides play perfectly from there, as far as it is proven: the winner wins as soon as it can,
    /// the loser loses as late as it can.
    fn line(&self, request: &str, limits: &Limits) -> Result<Vec<String>, String>;

    /// The same text for all positions that are equal by symmetry, and for no others.
    fn class(&self, request: &str) -> Result<String, String>;
}

/// What is proven of a position that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// For the side to move.
    pub value: Value,
    pub turns: Vec<ProvenTurn>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenTurn {
    pub facts: TurnFacts,
    /// Whether it is worth as much as the position.
    pub keeps: bool,
}

/// What can be seen of a turn without a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnFacts {
    /// In canonical form.
    pub text: String,
    pub wins: bool,
    /// Whether the opponent can win immediately after it.
    pub lets_win: bool,
}

/// For the side that makes the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnValue {
    /// `None` when it could not be proven within the limits.
    pub value: Option<Value>,
    /// Placements or discs until a side wins; 0 when the turn ends the game.
    pub plies: Option<u32>,
}

/// The solvers of all games. Each is made when it is first needed, and shared by all provers.
#[derive(Debug)]
pub struct Solvers {
    options: Options,
    quarto: OnceLock<Arc<solver::Solver>>,
    four_in_a_row: OnceLock<Arc<solver::four_in_a_row::Solver>>,
}

impl Solvers {
    pub const fn new(options: Options) -> Self {
        Self {
            options,
            quarto: OnceLock::new(),
            four_in_a_row: OnceLock::new(),
        }
    }

    pub(super) fn quarto(&self) -> Arc<solver::Solver> {
        let made = || Arc::new(solver::Solver::new(self.options));
        Arc::clone(self.quarto.get_or_init(made))
    }

    pub(super) fn four_in_a_row(&self) -> Arc<solver::four_in_a_row::Solver> {
        let made = || Arc::new(solver::four_in_a_row::Solver::new(self.options.tt_bytes));
        Arc::clone(self.four_in_a_row.get_or_init(made))
    }
}

trait Solve<G: Game>: fmt::Debug + Send + Sync {
    const PLACE: &'static str;

    const UNIT: &'static str;

    /// Free cells; see [`Prover::is_quick`].
    const QUICK: usize;

    fn free(position: &G::Position) -> usize;

    /// For the side to move; the position is not over.
    fn evaluate(&self, position: &G::Position, goal: Goal, limits: &Limits) -> Evaluation;

    /// Whether the turn that led to `after`, where the game goes on, is worth at least `value` to the side that made
    /// it.
    fn keeps(&self, after: &G::Position, value: Value, limits: &Limits) -> Option<bool>;

    fn line(&self, position: &G::Position, limits: &Limits) -> Vec<G::Turn>;

    fn class(&self, game: &G, position: &G::Position) -> String;
}

impl Solve<Edition> for Solver {
    const PLACE: &'static str = "cell";
    const UNIT: &'static str = "placement";
    const QUICK: usize = QUARTO_QUICK;

    fn free(position: &quarto::Position) -> usize {
        position.board().free_count()
    }

    fn evaluate(&self, position: &quarto::Position, goal: Goal, limits: &Limits) -> Evaluation {
        self.solve(position, goal, limits)
    }

    fn keeps(&self, after: &quarto::Position, value: Value, limits: &Limits) -> Option<bool> {
        Self::keeps(self, after, value, limits)
    }

    fn line(&self, position: &quarto::Position, limits: &Limits) -> Vec<quarto::Turn> {
        self.principal_variation(position, limits)
    }

    fn class(&self, _: &Edition, position: &quarto::Position) -> String {
        let name = solver::class(position).into_iter();
        name.map(|piece| char::from(b'A' + piece)).collect()
    }
}

impl Solve<FourInARow> for solver::four_in_a_row::Solver {
    const PLACE: &'static str = "column";
    const UNIT: &'static str = "disc";
    const QUICK: usize = FOUR_IN_A_ROW_QUICK;

    fn free(position: &four_in_a_row::Position) -> usize {
        let discs: u32 = position.discs().iter().map(|side| side.count_ones()).sum();
        let cells = usize::from(COLUMNS) * usize::from(ROWS);
        cells.saturating_sub(discs as usize)
    }

    fn evaluate(
        &self,
        position: &four_in_a_row::Position,
        goal: Goal,
        limits: &Limits,
    ) -> Evaluation {
        self.solve(position, goal, limits)
    }

    fn keeps(
        &self,
        after: &four_in_a_row::Position,
        value: Value,
        limits: &Limits,
    ) -> Option<bool> {
        let theirs = self.solve(after, Goal::Value, limits).value()?;
        Some(theirs.opposite() >= value)
    }

    fn line(
        &self,
        position: &four_in_a_row::Position,
        limits: &Limits,
    ) -> Vec<four_in_a_row::Column> {
        self.principal_variation(position, limits)
    }

    fn class(&self, game: &FourInARow, position: &four_in_a_row::Position) -> String {
        let mut board = String::new();
        game.write_board(position, &mut board);
        let rows = board.as_bytes().chunks(usize::from(COLUMNS));
        let mirrored: String = rows
            .flat_map(|row| row.iter().rev().map(|&cell| char::from(cell)))
            .collect();
        board.min(mirrored)
    }
}

#[derive(Debug)]
struct TypedProver<G, S> {
    game: G,
    solver: Arc<S>,
}

pub(in crate::session) fn of_quarto(edition: &Edition, solver: Arc<Solver>) -> Box<dyn Prover> {
    Box::new(TypedProver {
        game: edition.clone(),
        solver,
    })
}

pub(in crate::session) fn of_four_in_a_row(
    game: FourInARow,
    solver: Arc<solver::four_in_a_row::Solver>,
) -> Box<dyn Prover> {
    Box::new(TypedProver { game, solver })
}

impl<G: Game, S: Solve<G>> TypedProver<G, S> {
    /// Whether the turn of `side` that led to `after` is worth at least `value`.
    fn after_keeps(
        &self,
        side: Side,
        after: &G::Position,
        value: Value,
        limits: &Limits,
    ) -> Option<bool> {
        match after.outcome() {
            Some(Outcome::Draw) => Some(value <= Value::Draw),
            Some(Outcome::Win(winner)) => Some(winner == side || value == Value::Loss),
            None => self.solver.keeps(after, value, limits),
        }
    }

    /// The position is not over.
    fn read(&self, request: &str) -> Result<G::Position, String> {
        let position = self.game.read_request(request)?;
        if position.outcome().is_some() {
            return Err("the game is over there".to_owned());
        }
        Ok(position)
    }

    /// The position of a request and the one after an answer.
    fn played(&self, request: &str, answer: &str) -> Result<(G::Position, G::Position), String> {
        let position = self.read(request)?;
        let judged = self.game.judge(&position, answer);
        let (_, after) = judged.map_err(|_| format!("{answer} is not legal there"))?;
        Ok((position, after))
    }

    fn text(&self, turn: G::Turn) -> String {
        let mut text = String::new();
        self.game.write_turn(turn, &mut text);
        text
    }

    fn facts(&self, side: Side, turn: G::Turn, after: &G::Position) -> TurnFacts {
        TurnFacts {
            text: self.text(turn),
            wins: after.outcome() == Some(Outcome::Win(side)),
            lets_win: after.outcome().is_none() && after.can_win_at_once(),
        }
    }
}

impl<G, S> Prover for TypedProver<G, S>
where
    G: Game + fmt::Debug + Send + Sync,
    S: Solve<G>,
{
    fn place(&self) -> &'static str {
        S::PLACE
    }

    fn unit(&self) -> &'static str {
        S::UNIT
    }

    fn is_quick(&self, request: &str) -> Result<bool, String> {
        Ok(S::free(&self.read(request)?) <= S::QUICK)
    }

    fn value(&self, request: &str, limits: &Limits) -> Result<Option<Value>, String> {
        let position = self.read(request)?;
        Ok(self.solver.evaluate(&position, Goal::Value, limits).value())
    }

    fn turn_value(
        &self,
        request: &str,
        answer: &str,
        lasts: bool,
        limits: &Limits,
    ) -> Result<TurnValue, String> {
        let (position, after) = self.played(request, answer)?;
        let value = match after.outcome() {
            Some(Outcome::Win(side)) if side == position.to_move() => Value::Win,
            Some(Outcome::Win(_)) => Value::Loss,
            Some(Outcome::Draw) => Value::Draw,
            None => {
                let mut found = self.solver.evaluate(&after, Goal::Value, limits);
                if lasts && found.value().is_some_and(|value| value != Value::Draw) {
                    let nearer = self.solver.evaluate(&after, Goal::Distance, limits);
                    if nearer.value().is_some() {
                        found = nearer;
                    }
                }
                return Ok(TurnValue {
                    value: found.value().map(Value::opposite),
                    plies: found.plies(),
                });
            }
        };
        Ok(TurnValue {
            value: Some(value),
            plies: Some(0),
        })
    }

    fn keeps(
        &self,
        request: &str,
        answer: &str,
        value: Value,
        limits: &Limits,
    ) -> Result<Option<bool>, String> {
        let (position, after) = self.played(request, answer)?;
        Ok(self.after_keeps(position.to_move(), &after, value, limits))
    }

    fn prove(&self, request: &str, limits: &Limits) -> Result<Option<Proof>, String> {
        let position = self.read(request)?;
        let side = position.to_move();
        let found = self.solver.evaluate(&position, Goal::Value, limits);
        let Some(value) = found.value() else {
            return Ok(None);
        };
        let mut turns = Vec::new();
        for (turn, after) in self.game.turns(&position) {
            let Some(keeps) = self.after_keeps(side, &after, value, limits) else {
                return Ok(None);
            };
            turns.push(ProvenTurn {
                facts: self.facts(side, turn, &after),
                keeps,
            });
        }
        Ok(Some(Proof { value, turns }))
    }

    fn turns(&self, request: &str) -> Result<Vec<TurnFacts>, String> {
        let position = self.read(request)?;
        let turns = self.game.turns(&position).into_iter();
        let facts = turns.map(|(turn, after)| self.facts(position.to_move(), turn, &after));
        Ok(facts.collect())
    }

    fn request_after(&self, request: &str, answer: &str) -> Result<Option<String>, String> {
        let (_, after) = self.played(request, answer)?;
        Ok(after.outcome().is_none().then(|| {
            let mut text = String::new();
            self.game.write_request(&after, &mut text);
            text
        }))
    }

    fn completed(&self, request: &str, answer: &str) -> Result<WinningLines, String> {
        let (_, after) = self.played(request, answer)?;
        Ok(self.game.winning_lines(&after))
    }

    fn line(&self, request: &str, limits: &Limits) -> Result<Vec<String>, String> {
        let turns = self.solver.line(&self.read(request)?, limits);
        Ok(turns.into_iter().map(|turn| self.text(turn)).collect())
    }

    fn class(&self, request: &str) -> Result<String, String> {
        Ok(self.solver.class(&self.game, &self.read(request)?))
    }
}
