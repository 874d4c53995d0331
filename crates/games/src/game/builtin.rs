//! What a game of this program adds to its positions, and [`Game`] for all of them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::{
    BuiltinBot, Game, Info, Outcome, Picture, Position, Rejection, Side, Turn, WinningLines,
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

    const INFO: Info<'static>;

    fn info(&self) -> Info<'_> {
        Self::INFO
    }

    fn start(&self) -> Self::Position;

    /// A board, or a request. The error says what is wrong with the text.
    fn start_from(&self, text: &str) -> Result<Self::Position, String>;

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
    fn read_request(&self, line: &str) -> Result<Self::Position, String> {
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

    fn describe(&self, before: &Self::Position, turn: TurnOf<Self>) -> String;

    /// `last` is the turn that led to the position.
    fn picture(&self, position: &Self::Position, last: Option<TurnOf<Self>>) -> Picture;

    fn instructions(&self) -> String;

    fn question(&self, position: &Self::Position) -> String;

    /// The error is a sentence for the person.
    fn read_move(&self, position: &Self::Position, typed: &str) -> Result<MoveOf<Self>, String> {
        let judged = self.judge(position, typed);
        let (turn, _) = judged.map_err(|rejection| rejection.text().to_owned())?;
        let mut moves = position.moves();
        let whole = moves.find(|mv| Self::Position::turn_of(&[*mv]) == Some(turn));
        whole.ok_or_else(|| "expected one move".to_owned())
    }

    fn hint(&self, _: &Self::Position) -> Option<String> {
        None
    }

    fn inventory(&self, position: &Self::Position) -> String;

    fn solver(_: &Solvers) -> Option<&dyn Solve<Self::Position>> {
        None
    }

    fn class(&self, position: &Self::Position) -> String {
        self.request(position)
    }

    /// A bot that plays perfectly, within this time for a turn; without one its turns are the same on every machine.
    fn perfect(_: Option<Duration>) -> Option<Choose<Self>> {
        None
    }
}

/// A game of this program in some position, and the turn that led to it.
#[derive(Clone, Debug)]
pub struct InPlay<G: BuiltinGame> {
    game: Arc<G>,
    position: G::Position,
    /// The last turn and the position before it.
    last: Option<(G::Position, TurnOf<G>)>,
    /// What a person has typed of this turn, and the side.
    typed: Option<(Side, Vec<MoveOf<G>>)>,
}

impl<G: BuiltinGame> InPlay<G> {
    /// At its start.
    pub fn new(game: G) -> Self {
        Self {
            position: game.start(),
            game: Arc::new(game),
            last: None,
            typed: None,
        }
    }

    fn at(&self, position: G::Position) -> Box<dyn Game> {
        Box::new(Self {
            game: Arc::clone(&self.game),
            position,
            last: None,
            typed: None,
        })
    }
}

impl<G: BuiltinGame> Game for InPlay<G> {
    fn info(&self) -> Info<'_> {
        self.game.info()
    }

    fn instructions(&self) -> String {
        self.game.instructions()
    }

    fn start(&self) -> Box<dyn Game> {
        self.at(self.game.start())
    }

    fn start_from(&self, text: &str) -> Result<Box<dyn Game>, String> {
        Ok(self.at(self.game.start_from(text)?))
    }

    fn read_request(&self, line: &str) -> Result<Box<dyn Game>, String> {
        Ok(self.at(self.game.read_request(line)?))
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
        let game = Arc::clone(&self.game);
        Some(Box::new(move |request| {
            let position = game.read_request(request)?;
            let turn = match builtin {
                Builtin::Perfect { slips: Some(slips) } if slip_rng.random_bool(slips) => {
                    random(&position, &mut slip_rng)
                }
                _ => choose(&position, &mut rng),
            };
            // There is no turn only when the game is over, and then no request is sent.
            Ok(game.turn_text(turn.ok_or("the game in it is over")?))
        }))
    }

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

    fn describe_last_turn(&self) -> String {
        let words = |(before, turn): &(_, _)| self.game.describe(before, *turn);
        self.last.as_ref().map_or_else(String::new, words)
    }

    fn winning_lines(&self) -> WinningLines {
        self.game.winning_lines(&self.position)
    }

    fn picture(&self, _: Option<Side>) -> Picture {
        let last = self.last.as_ref().map(|(_, turn)| *turn);
        self.game.picture(&self.position, last)
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
            after: self.at(after),
        }))
    }

    fn can_win_at_once(&self) -> bool {
        self.position.can_win_at_once()
    }

    fn question(&self) -> String {
        self.game.question(&self.position)
    }

    fn make_typed(&mut self, typed: &str) -> Result<Option<String>, String> {
        let mv = self.game.read_move(&self.position, typed)?;
        let mut after = self.position.clone();
        after.play(mv).map_err(|reason| reason.to_string())?;
        let before = std::mem::replace(&mut self.position, after);
        let (side, moves) = self.typed.get_or_insert((before.to_move(), Vec::new()));
        moves.push(mv);
        if self.position.outcome().is_none() && self.position.to_move() == *side {
            return Ok(None);
        }
        let turn = G::Position::turn_of(moves).ok_or("a turn of unknown moves")?;
        self.typed = None;
        Ok(Some(self.game.turn_text(turn)))
    }

    fn hint(&self) -> Option<String> {
        self.game.hint(&self.position)
    }

    fn inventory(&self) -> String {
        self.game.inventory(&self.position)
    }

    fn solve(&self, solvers: &Solvers, goal: Goal, limits: &Limits) -> Option<Evaluation> {
        Some(G::solver(solvers)?.solve(&self.position, goal, limits))
    }

    fn keeps(&self, solvers: &Solvers, value: Value, limits: &Limits) -> Option<bool> {
        G::solver(solvers)?.keeps(&self.position, value, limits)
    }

    fn line(&self, solvers: &Solvers, limits: &Limits) -> Vec<String> {
        let solver = G::solver(solvers).into_iter();
        let turns = solver.flat_map(|solver| solver.principal_variation(&self.position, limits));
        turns.map(|turn| self.game.turn_text(turn)).collect()
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
}
