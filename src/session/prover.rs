//! The exact solvers of the games, for positions and turns as text.

use std::fmt;

use crate::game::four_in_a_row::{COLUMNS, FourInARow};
use crate::game::quarto::{self, Edition};
use crate::game::{Game, Outcome, Position as _, four_in_a_row};
use crate::solver::{self, Goal, Limits, Solver, Value};

/// Proves positions of a game. It keeps what it has proven.
///
/// Errors are sentences about a text.
pub trait Prover: fmt::Debug + Send {
    /// The value of the position of a request for the side to move; `None` when a limit was reached.
    fn value(&self, request: &str, limits: &Limits) -> Result<Option<Value>, String>;

    /// Whether an answer is worth at least this value there; `None` when a limit was reached.
    fn keeps(
        &self,
        request: &str,
        answer: &str,
        value: Value,
        limits: &Limits,
    ) -> Result<Option<bool>, String>;

    /// The value of a position, and which of its turns keep it; `None` when a limit was reached.
    fn prove(&self, request: &str, limits: &Limits) -> Result<Option<Proof>, String>;

    /// The same text for all positions that are equal by symmetry, and for no others.
    fn class(&self, request: &str) -> Result<String, String>;
}

/// What is proven of a position that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The value for the side to move.
    pub value: Value,
    /// All turns.
    pub turns: Vec<ProvenTurn>,
}

/// What is proven of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenTurn {
    /// In canonical form.
    pub text: String,
    /// Whether it is worth as much as the position.
    pub keeps: bool,
    /// Whether it wins at once.
    pub wins: bool,
    /// Whether the opponent can win at once after it.
    pub lets_win: bool,
}

/// A solver of a game.
trait Solve<G: Game>: fmt::Debug + Send {
    /// The value of a position that is not over.
    fn value(&self, position: &G::Position, limits: &Limits) -> Option<Value>;

    /// Whether the turn that led to `after`, where the game goes on, is worth at least `value` to the side that made it.
    fn keeps(&self, after: &G::Position, value: Value, limits: &Limits) -> Option<bool>;

    /// See [`Prover::class`].
    fn class(&self, game: &G, position: &G::Position) -> String;
}

impl Solve<Edition> for Solver {
    fn value(&self, position: &quarto::Position, limits: &Limits) -> Option<Value> {
        self.solve(position, Goal::Value, limits).value()
    }

    fn keeps(&self, after: &quarto::Position, value: Value, limits: &Limits) -> Option<bool> {
        Self::keeps(self, after, value, limits)
    }

    fn class(&self, _: &Edition, position: &quarto::Position) -> String {
        let name = solver::class(position).into_iter();
        name.map(|piece| char::from(b'A' + piece)).collect()
    }
}

impl Solve<FourInARow> for solver::four_in_a_row::Solver {
    fn value(&self, position: &four_in_a_row::Position, limits: &Limits) -> Option<Value> {
        self.solve(position, Goal::Value, limits).value()
    }

    fn keeps(
        &self,
        after: &four_in_a_row::Position,
        value: Value,
        limits: &Limits,
    ) -> Option<bool> {
        let theirs = Solve::value(self, after, limits)?;
        Some(theirs.opposite() >= value)
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

/// See [`Prover`].
#[derive(Debug)]
struct TypedProver<'a, G, S> {
    game: &'a G,
    solver: S,
}

/// A prover of Quarto.
pub(super) fn of_quarto(edition: &Edition, solver: Solver) -> Box<dyn Prover + '_> {
    Box::new(TypedProver {
        game: edition,
        solver,
    })
}

/// A prover of Four In A Row.
pub(super) fn of_four_in_a_row(
    game: &FourInARow,
    solver: solver::four_in_a_row::Solver,
) -> Box<dyn Prover + '_> {
    Box::new(TypedProver { game, solver })
}

impl<G: Game, S: Solve<G>> TypedProver<'_, G, S> {
    /// Whether the turn of `side` that led to `after` is worth at least `value`.
    fn after_keeps(
        &self,
        side: crate::game::Side,
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

    /// The position of a request, which is not over.
    fn read(&self, request: &str) -> Result<G::Position, String> {
        let position = self.game.read_request(request)?;
        if position.outcome().is_some() {
            return Err("the game is over there".to_owned());
        }
        Ok(position)
    }
}

impl<G: Game + fmt::Debug + Sync, S: Solve<G>> Prover for TypedProver<'_, G, S> {
    fn value(&self, request: &str, limits: &Limits) -> Result<Option<Value>, String> {
        Ok(self.solver.value(&self.read(request)?, limits))
    }

    fn keeps(
        &self,
        request: &str,
        answer: &str,
        value: Value,
        limits: &Limits,
    ) -> Result<Option<bool>, String> {
        let position = self.read(request)?;
        let judged = self.game.judge(&position, answer);
        let (_, after) = judged.map_err(|_| format!("{answer} is not legal there"))?;
        Ok(self.after_keeps(position.to_move(), &after, value, limits))
    }

    fn prove(&self, request: &str, limits: &Limits) -> Result<Option<Proof>, String> {
        let position = self.read(request)?;
        let side = position.to_move();
        let Some(value) = self.solver.value(&position, limits) else {
            return Ok(None);
        };
        let mut turns = Vec::new();
        for (turn, after) in self.game.turns(&position) {
            let Some(keeps) = self.after_keeps(side, &after, value, limits) else {
                return Ok(None);
            };
            let mut text = String::new();
            self.game.write_turn(turn, &mut text);
            turns.push(ProvenTurn {
                text,
                keeps,
                wins: after.outcome() == Some(Outcome::Win(side)),
                lets_win: after.outcome().is_none() && after.can_win_at_once(),
            });
        }
        Ok(Some(Proof { value, turns }))
    }

    fn class(&self, request: &str) -> Result<String, String> {
        Ok(self.solver.class(self.game, &self.read(request)?))
    }
}
