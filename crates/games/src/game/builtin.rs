//! What a game of this program adds to its positions; [`Ruleset`] and [`Game`] for all of them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::{
    BuiltinBot, Game, Info, Interactive, Malformed, Mood, Outcome, Picture, Position, Rejection,
    RequestError, Ruleset, Side, Solvable, StartError, Turn, WinningLines,
};
use crate::solver::{Evaluation, Goal, Limits, Solve, Solvers, Value};
use crate::strategy::builtin::Builtin;
use crate::strategy::search::{DEPTHS, Search};
use crate::strategy::{greedy, random};

pub type MoveOf<G> = <<G as BuiltinGame>::Position as Position>::Move;

pub type TurnOf<G> = <<G as BuiltinGame>::Position as Position>::Turn;

/// How a bot chooses a turn; `None` when the game is over.
pub type Choose<G> =
    Box<dyn FnMut(&<G as BuiltinGame>::Position, &mut ChaCha8Rng) -> Option<TurnOf<G>>>;

/// One edition of a game of this program: what it adds to its [`Position`], as bots, records and people read it.
pub trait BuiltinGame: Clone + fmt::Debug + Send + Sync + 'static {
    type Position: Position;

    /// Why a text is not a position of it.
    type PositionError: std::error::Error + Send + Sync + 'static;

    const INFO: Info<'static>;

    fn info(&self) -> Info<'_> {
        Self::INFO
    }

    fn start(&self) -> Self::Position;

    /// A board, or a request.
    fn start_from(&self, text: &str) -> Result<Self::Position, Self::PositionError>;

    /// The text from which [`BuiltinGame::start_from`] makes this position, as in records.
    fn as_start(&self, position: &Self::Position) -> String {
        self.board(position)
    }

    /// As requests and records have it.
    fn board(&self, position: &Self::Position) -> String;

    /// Without newline.
    fn request(&self, position: &Self::Position) -> String {
        self.board(position)
    }

    /// Reads a [`request`](Self::request), as a bot does.
    fn read_request(&self, line: &str) -> Result<Self::Position, Self::PositionError> {
        self.start_from(line)
    }

    /// In canonical form.
    fn turn_text(&self, turn: TurnOf<Self>) -> String;

    /// `answer` is one line, without surrounding whitespace.
    fn judge(
        &self,
        position: &Self::Position,
        answer: &str,
    ) -> Result<(TurnOf<Self>, Self::Position), Rejection>;

    /// Empty when none decided it.
    fn winning_lines(&self, position: &Self::Position) -> WinningLines;

    fn describe(&self, before: &Self::Position, turn: TurnOf<Self>, mood: Mood) -> String;

    /// `last` is the turn that led to the position.
    fn picture(&self, position: &Self::Position, last: Option<TurnOf<Self>>) -> Picture;

    fn instructions(&self) -> String;

    fn question(&self, position: &Self::Position) -> String;

    /// As a person types it. The rejection is for the person.
    fn read_move(&self, position: &Self::Position, typed: &str) -> Result<MoveOf<Self>, Rejection> {
        let (turn, _) = self.judge(position, typed)?;
        let mut moves = position.moves();
        let whole = moves.find(|mv| Self::Position::turn_of(&[*mv]) == Some(turn));
        whole.ok_or_else(|| Rejection::malformed(Malformed::TooManyWords, "expected one move"))
    }

    fn hint(&self, _: &Self::Position) -> Option<String> {
        None
    }

    fn inventory(&self, position: &Self::Position) -> String;

    /// A bot that plays perfectly, within this time for a turn; without one its turns are the same on every machine.
    fn perfect(_: Option<Duration>) -> Option<Choose<Self>> {
        None
    }

    /// `Some(game)` for a [`SolvableGame`].
    fn solvable(_: &BuiltinInPlay<Self>) -> Option<&dyn Solvable> {
        None
    }
}

/// A game of this program with a solver.
pub trait SolvableGame: BuiltinGame {
    fn solver(solvers: &Solvers) -> &dyn Solve<Self::Position>;

    /// The same text for all positions that are equal by symmetry, and for no others.
    fn class(&self, position: &Self::Position) -> String;
}

/// One edition of a game of this program, as everything takes it that plays games of any kind.
#[derive(Clone, Debug)]
pub struct BuiltinRuleset<G>(Arc<G>);

impl<G: BuiltinGame> BuiltinRuleset<G> {
    pub fn new(game: G) -> Self {
        Self(Arc::new(game))
    }

    fn at(&self, position: G::Position) -> Box<dyn Game> {
        Box::new(BuiltinInPlay::at(&self.0, position))
    }
}

impl<G: BuiltinGame> Ruleset for BuiltinRuleset<G> {
    fn info(&self) -> Info<'_> {
        self.0.info()
    }

    fn instructions(&self) -> String {
        self.0.instructions()
    }

    fn start(&self) -> Box<dyn Game> {
        self.at(self.0.start())
    }

    fn start_from(&self, text: &str) -> Result<Box<dyn Game>, StartError> {
        let position = self.0.start_from(text).map_err(StartError::refused)?;
        Ok(self.at(position))
    }

    fn read_request(&self, line: &str) -> Result<Box<dyn Game>, StartError> {
        let position = self.0.read_request(line).map_err(StartError::refused)?;
        Ok(self.at(position))
    }

    fn builtin_bot(&self, name: &str, seed: u64, move_time: Duration) -> Option<BuiltinBot> {
        let builtin = name.parse().ok()?;
        let mut choose: Choose<G> = match builtin {
            Builtin::Random => Box::new(random),
            Builtin::Greedy => Box::new(greedy),
            Builtin::Search { depth } => {
                let mut search = Search::new(depth);
                Box::new(move |position, rng| search.choose(position, rng))
            }
            Builtin::Perfect { slips } => G::perfect(slips.is_none().then_some(move_time))?,
        };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // Slips have numbers of their own, so that the other turns do not depend on them.
        let mut slip_rng = ChaCha8Rng::seed_from_u64(seed);
        slip_rng.set_stream(1);
        let game = Arc::clone(&self.0);
        Some(Box::new(move |request| {
            let position = game.read_request(request).map_err(StartError::refused)?;
            let turn = match builtin {
                Builtin::Perfect { slips: Some(slips) } if slip_rng.random_bool(slips) => {
                    random(&position, &mut slip_rng)
                }
                _ => choose(&position, &mut rng),
            };
            // There is no turn only when the game is over, and then no request is sent.
            Ok(game.turn_text(turn.ok_or(RequestError::GameOver)?))
        }))
    }
}

/// A game of this program in some position, and the turn that led to it.
#[derive(Clone, Debug)]
pub struct BuiltinInPlay<G: BuiltinGame> {
    game: Arc<G>,
    position: G::Position,
    /// The last turn and the position before it.
    last: Option<(G::Position, TurnOf<G>)>,
    /// What a person has typed of this turn, and the side.
    typed: Option<(Side, Vec<MoveOf<G>>)>,
}

impl<G: BuiltinGame> BuiltinInPlay<G> {
    fn at(game: &Arc<G>, position: G::Position) -> Self {
        Self {
            game: Arc::clone(game),
            position,
            last: None,
            typed: None,
        }
    }
}

impl<G: BuiltinGame> Game for BuiltinInPlay<G> {
    fn clone_box(&self) -> Box<dyn Game> {
        Box::new(self.clone())
    }

    fn to_move(&self) -> Side {
        self.position.to_move()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.position.outcome()
    }

    fn board(&self) -> String {
        self.game.board(&self.position)
    }

    fn as_start(&self) -> String {
        self.game.as_start(&self.position)
    }

    fn request(&self) -> String {
        self.game.request(&self.position)
    }

    fn play(&mut self, answer: &str, turn: &mut String) -> Result<(), Rejection> {
        let (made, after) = self.game.judge(&self.position, answer)?;
        *turn = self.game.turn_text(made);
        let before = std::mem::replace(&mut self.position, after);
        self.last = Some((before, made));
        Ok(())
    }

    fn winning_lines(&self) -> WinningLines {
        self.game.winning_lines(&self.position)
    }

    fn count_moves(&self) -> usize {
        self.position.moves().count()
    }

    fn make_move(&mut self, index: usize) -> bool {
        let mv = self.position.moves().nth(index);
        mv.is_some_and(|mv| self.position.play(mv).is_ok())
    }

    fn turns(&self) -> Box<dyn Iterator<Item = Turn> + '_> {
        let turns = self.position.turns().into_iter();
        Box::new(turns.map(|(turn, after)| Turn {
            text: self.game.turn_text(turn),
            after: Box::new(Self::at(&self.game, after)),
        }))
    }

    fn can_win_at_once(&self) -> bool {
        self.position.can_win_at_once()
    }

    fn solvable(&self) -> Option<&dyn Solvable> {
        G::solvable(self)
    }
}

impl<G: BuiltinGame> Interactive for BuiltinInPlay<G> {
    fn describe_last_turn(&self, mood: Mood) -> String {
        let words = |(before, turn): &(_, _)| self.game.describe(before, *turn, mood);
        self.last.as_ref().map_or_else(String::new, words)
    }

    fn picture(&self, _: Option<Side>) -> Picture {
        let last = self.last.as_ref().map(|(_, turn)| *turn);
        self.game.picture(&self.position, last)
    }

    fn question(&self) -> String {
        self.game.question(&self.position)
    }

    fn make_typed(&mut self, typed: &str) -> Result<Option<String>, Rejection> {
        let mv = self.game.read_move(&self.position, typed)?;
        let mut after = self.position.clone();
        after.play(mv)?;
        let before = std::mem::replace(&mut self.position, after);
        let (side, moves) = self.typed.get_or_insert((before.to_move(), Vec::new()));
        moves.push(mv);
        if self.position.outcome().is_none() && self.position.to_move() == *side {
            return Ok(None);
        }
        let turn = G::Position::turn_of(moves).ok_or_else(|| {
            Rejection::malformed(Malformed::TooManyWords, "a turn of unknown moves")
        })?;
        self.typed = None;
        Ok(Some(self.game.turn_text(turn)))
    }

    fn hint(&self) -> Option<String> {
        self.game.hint(&self.position)
    }

    fn inventory(&self) -> String {
        self.game.inventory(&self.position)
    }
}

impl<G: SolvableGame> Solvable for BuiltinInPlay<G> {
    fn solve(&self, solvers: &Solvers, goal: Goal, limits: &Limits) -> Evaluation {
        G::solver(solvers).solve(&self.position, goal, limits)
    }

    fn keeps(&self, solvers: &Solvers, value: Value, limits: &Limits) -> Option<bool> {
        G::solver(solvers).keeps(&self.position, value, limits)
    }

    fn line(&self, solvers: &Solvers, limits: &Limits) -> Vec<String> {
        let turns = G::solver(solvers).principal_variation(&self.position, limits);
        let texts = turns.into_iter().map(|turn| self.game.turn_text(turn));
        texts.collect()
    }

    fn class(&self) -> String {
        self.game.class(&self.position)
    }

    fn look_ahead(&self, answers: &[String]) -> Option<u32> {
        DEPTHS.into_iter().find(|&depth| {
            let mut turns = Search::new(depth).candidates(&self.position).into_iter();
            turns.all(|turn| answers.contains(&self.game.turn_text(turn)))
        })
    }

    fn is_provable(&self) -> bool {
        let game: &dyn Game = self;
        game.free_cells() <= self.game.info().provable_cells
    }
}
