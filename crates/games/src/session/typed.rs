//! Implements [`Ruleset`] and [`Session`] for every [`Game`].

use std::sync::Arc;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::{BuiltinBot, BuiltinOptions, Prover, Ruleset, Session, Solvers, TurnAndAfter};
use crate::game::{
    Choose, Game, MoveOf, Outcome, Picture, Position as _, Rejection, Side, TurnOf, WinningLines,
};
use crate::solver::{Evaluation, Goal, Limits, Options, Value};
use crate::strategy::Strategy;
use crate::strategy::builtin::Builtin;
use crate::strategy::search::{DEPTHS, Search};

/// Of the transposition table for one position.
const TT_BYTES: usize = 2 << 20;

impl<G: Game> Ruleset for G {
    fn name(&self) -> &str {
        G::NAME
    }

    fn rules(&self) -> &str {
        Game::rules(self)
    }

    fn pieces(&self) -> Option<&str> {
        Game::pieces(self)
    }

    fn start(&self) -> Box<dyn Session + '_> {
        TypedSession::boxed(self, Game::start(self))
    }

    fn start_from(&self, text: &str) -> Result<Box<dyn Session + '_>, String> {
        Ok(TypedSession::boxed(self, Game::start_from(self, text)?))
    }

    fn read_request(&self, line: &str) -> Result<Box<dyn Session + '_>, String> {
        Ok(TypedSession::boxed(self, Game::read_request(self, line)?))
    }

    fn instructions(&self) -> String {
        Game::instructions(self)
    }

    fn is_first_drawn(&self) -> bool {
        G::IS_FIRST_DRAWN
    }

    fn is_solvable(&self) -> bool {
        G::PROVABLE_CELLS > 0
    }

    fn builtin_bot(&self, name: &str, options: BuiltinOptions) -> Option<BuiltinBot<'_>> {
        let builtin = name.parse().ok()?;
        let mut choose: Choose<G> = match builtin {
            Builtin::Random => Box::new(|position, rng| Strategy::Random.choose(position, rng)),
            Builtin::Greedy => Box::new(|position, rng| Strategy::Greedy.choose(position, rng)),
            Builtin::Search { depth } => {
                let mut search = Search::new(depth);
                Box::new(move |position, rng| search.choose(position, rng))
            }
            Builtin::Perfect { slips } => G::perfect(slips.is_none().then_some(options.move_time))?,
        };
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        // Slips have numbers of their own, so that the other turns do not depend on them.
        let mut slip_rng = ChaCha8Rng::seed_from_u64(options.seed);
        slip_rng.set_stream(1);
        Some(Box::new(move |request| {
            let position = Game::read_request(self, request)?;
            let turn = match builtin {
                Builtin::Perfect { slips: Some(slips) } if slip_rng.random_bool(slips) => {
                    Strategy::Random.choose(&position, &mut slip_rng)
                }
                _ => choose(&position, &mut rng),
            };
            // There is no turn only when the game is over, and then no request is sent.
            Ok(text(self, turn.ok_or("the game in it is over")?))
        }))
    }

    fn prover(&self, solvers: &Solvers) -> Option<Prover> {
        let game = || Arc::new(self.clone());
        (G::PROVABLE_CELLS > 0)
            .then(|| Prover::new(game(), G::WORDS, G::PROVABLE_CELLS, solvers.clone()))
    }

    fn look_ahead(&self, request: &str, answers: &[String]) -> Result<Option<u32>, String> {
        let position = Game::read_request(self, request)?;
        let is_sure = |depth: &u32| {
            let mut turns = Search::new(*depth).candidates(&position).into_iter();
            turns.all(|turn| answers.contains(&text(self, turn)))
        };
        Ok(DEPTHS.into_iter().find(is_sure))
    }
}

fn text<G: Game>(game: &G, turn: TurnOf<G>) -> String {
    let mut text = String::new();
    game.write_turn(turn, &mut text);
    text
}

#[derive(Clone, Debug)]
struct TypedSession<'a, G: Game> {
    game: &'a G,
    position: G::Position,
    /// With the position before it.
    last: Option<(G::Position, TurnOf<G>)>,
    /// What a person has typed of this turn, and the side.
    typed: Option<(Side, Vec<MoveOf<G>>)>,
}

impl<'a, G: Game> TypedSession<'a, G> {
    fn boxed(game: &'a G, position: G::Position) -> Box<dyn Session + 'a> {
        Box::new(Self {
            game,
            position,
            last: None,
            typed: None,
        })
    }
}

impl<G: Game> Session for TypedSession<'_, G> {
    fn to_move(&self) -> Side {
        self.position.to_move()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.position.outcome()
    }

    fn write_board(&self, out: &mut String) {
        self.game.write_board(&self.position, out);
    }

    fn write_start(&self, out: &mut String) {
        self.game.write_start(&self.position, out);
    }

    fn write_request(&self, out: &mut String) {
        self.game.write_request(&self.position, out);
    }

    fn play(&mut self, answer: &str, turn: &mut String) -> Result<(), Rejection> {
        let (made, after) = self.game.judge(&self.position, answer)?;
        turn.clear();
        self.game.write_turn(made, turn);
        let before = std::mem::replace(&mut self.position, after);
        self.last = Some((before, made));
        Ok(())
    }

    fn winning_lines(&self) -> WinningLines {
        self.game.winning_lines(&self.position)
    }

    fn describe_last_turn(&self) -> String {
        let words = |(before, turn): &(_, _)| self.game.describe(before, *turn);
        self.last.as_ref().map_or_else(String::new, words)
    }

    fn picture(&self) -> Picture {
        let last = self.last.as_ref().map(|(_, turn)| *turn);
        self.game.picture(&self.position, last)
    }

    fn clone_box(&self) -> Box<dyn Session + '_> {
        Box::new(self.clone())
    }

    fn count_moves(&self) -> usize {
        self.position.moves().count()
    }

    fn make_move(&mut self, index: usize) -> bool {
        let mv = self.position.moves().nth(index);
        mv.is_some_and(|mv| self.position.play(mv).is_ok())
    }

    fn turns(&self) -> Box<dyn Iterator<Item = TurnAndAfter<'_>> + '_> {
        let turns = self.position.turns().into_iter();
        let boxed = |(turn, after)| (text(self.game, turn), TypedSession::boxed(self.game, after));
        Box::new(turns.map(boxed))
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
        after
            .play(mv)
            .map_err(|illegal| illegal.reason.to_string())?;
        let before = std::mem::replace(&mut self.position, after);
        let (side, moves) = self.typed.get_or_insert((before.to_move(), Vec::new()));
        moves.push(mv);
        if self.position.outcome().is_none() && self.position.to_move() == *side {
            return Ok(None);
        }
        let turn = G::Position::turn_of(moves).ok_or("a turn of unknown moves")?;
        self.typed = None;
        Ok(Some(text(self.game, turn)))
    }

    fn hint(&self) -> Option<String> {
        self.game.hint(&self.position)
    }

    fn inventory(&self) -> String {
        self.game.inventory(&self.position)
    }

    fn prove(&self, nodes: u64) -> Option<Outcome> {
        if self.free_cells() > G::PROVABLE_CELLS {
            return None;
        }
        // Every position is searched with an empty table, so the result depends on the position alone.
        let solvers = Solvers::new(Options {
            tt_bytes: TT_BYTES,
            threads: 1,
        });
        let found = self.solve(&solvers, Goal::Value, &Limits::nodes(nodes))?;
        let side = self.to_move();
        Some(match found.value()? {
            Value::Win => Outcome::Win(side),
            Value::Draw => Outcome::Draw,
            Value::Loss => Outcome::Win(side.other()),
        })
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
        turns.map(|turn| text(self.game, turn)).collect()
    }

    fn class(&self) -> String {
        self.game.class(&self.position)
    }
}
