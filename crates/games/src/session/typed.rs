//! Implements [`Ruleset`], [`Session`] and [`HumanTurn`] for every [`Game`].

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;

use super::registry::answer;
use super::{
    BuiltinBot, BuiltinOptions, Builtins, HumanTurn, Outlook, Prover, Ruleset, Session, Solvers,
};
use crate::game::{Game, Outcome, Picture, Position as _, Rejection, Side, WinningLines};
use crate::game::{HumanInput, MoveOf};
use crate::strategy::Strategy;
use crate::strategy::builtin::Builtin;
use crate::strategy::search::{DEPTHS, Search};

impl<G> Ruleset for G
where
    G: HumanInput + Builtins + std::fmt::Debug + Send + Sync,
{
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
        Box::new(TypedSession::new(self, Game::start(self)))
    }

    fn start_from(&self, text: &str) -> Result<Box<dyn Session + '_>, String> {
        let position = Game::start_from(self, text)?;
        Ok(Box::new(TypedSession::new(self, position)))
    }

    fn read_request(&self, line: &str) -> Result<Box<dyn Session + '_>, String> {
        let position = Game::read_request(self, line)?;
        Ok(Box::new(TypedSession::new(self, position)))
    }

    fn instructions(&self) -> String {
        HumanInput::instructions(self)
    }

    fn is_first_drawn(&self) -> bool {
        G::IS_FIRST_DRAWN
    }

    fn is_solvable(&self) -> bool {
        G::IS_SOLVABLE
    }

    fn builtin_bot(&self, name: &str, options: BuiltinOptions) -> Option<BuiltinBot<'_>> {
        let strategy = match name.parse().ok()? {
            Builtin::Random => Strategy::Random,
            Builtin::Greedy => Strategy::Greedy,
            Builtin::Perfect { slips } => return self.perfect_bot(slips, options),
            Builtin::Search { depth } => {
                let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
                let mut search = Search::new(depth);
                return Some(Box::new(move |request| {
                    let position = Game::read_request(self, request)?;
                    answer(self, search.choose(self, &position, &mut rng))
                }));
            }
        };
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        Some(Box::new(move |request| {
            let position = Game::read_request(self, request)?;
            let turn = strategy.choose(self, &position, &mut rng);
            answer(self, turn)
        }))
    }

    fn prover(&self, solvers: &Solvers) -> Option<Box<dyn Prover>> {
        Builtins::prover(self, solvers)
    }

    fn look_ahead(&self, request: &str, answers: &[String]) -> Result<Option<u32>, String> {
        let position = Game::read_request(self, request)?;
        let is_right = |turn| answer(self, Some(turn)).is_ok_and(|text| answers.contains(&text));
        let is_sure = |depth: &u32| {
            let mut turns = Search::new(*depth).candidates(self, &position).into_iter();
            turns.all(is_right)
        };
        Ok(DEPTHS.into_iter().find(is_sure))
    }
}

#[derive(Debug)]
struct TypedSession<'a, G: Game> {
    game: &'a G,
    position: G::Position,
    /// With the position before it.
    last: Option<(G::Position, G::Turn)>,
}

impl<'a, G: Game> TypedSession<'a, G> {
    const fn new(game: &'a G, position: G::Position) -> Self {
        Self {
            game,
            position,
            last: None,
        }
    }
}

impl<G> Session for TypedSession<'_, G>
where
    G: HumanInput + Builtins + std::fmt::Debug,
{
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

    fn judge(&self, answer: &str) -> Result<(), Rejection> {
        self.game.judge(&self.position, answer).map(|_| ())
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
        let last = self.last.as_ref();
        last.map_or_else(String::new, |(before, turn)| {
            self.game.describe(before, *turn)
        })
    }

    fn picture(&self) -> Picture {
        let last = self.last.as_ref().map(|(_, turn)| *turn);
        self.game.picture(&self.position, last)
    }

    fn clone_box(&self) -> Box<dyn Session + '_> {
        Box::new(Self {
            game: self.game,
            position: self.position.clone(),
            last: self.last.clone(),
        })
    }

    fn count_moves(&self) -> usize {
        self.position.moves().count()
    }

    fn make_move(&mut self, index: usize) -> bool {
        let mv = self.position.moves().nth(index);
        mv.is_some_and(|mv| self.position.play(mv).is_ok())
    }

    fn can_win_at_once(&self) -> bool {
        self.position.can_win_at_once()
    }

    fn outlook(&self) -> Outlook {
        let me = self.position.to_move();
        let mut outlook = Outlook::default();
        for (_, after) in self.game.turns(&self.position) {
            let outcome = after.outcome();
            outlook.turns += 1;
            outlook.ending += usize::from(outcome.is_some());
            outlook.winning += usize::from(outcome == Some(Outcome::Win(me)));
            outlook.losing += usize::from(outcome.is_none() && after.can_win_at_once());
        }
        outlook
    }

    fn prove(&self, nodes: u64) -> Option<Outcome> {
        self.game.prove(&self.position, nodes)
    }

    fn human_turn(&self) -> Box<dyn HumanTurn + '_> {
        Box::new(TypedTurn {
            game: self.game,
            side: self.position.to_move(),
            position: self.position.clone(),
            moves: Vec::new(),
        })
    }
}

struct TypedTurn<'a, G: Game> {
    game: &'a G,
    side: Side,
    /// After the moves so far.
    position: G::Position,
    moves: Vec<MoveOf<G>>,
}

impl<G: HumanInput> HumanTurn for TypedTurn<'_, G> {
    fn question(&self) -> String {
        self.game.question(&self.position)
    }

    fn make(&mut self, typed: &str) -> Result<(), String> {
        let mv = self.game.read_move(&self.position, typed)?;
        let mut after = self.position.clone();
        if after.play(mv).is_err() {
            return Err(self.game.refusal(&self.position, mv));
        }
        self.position = after;
        self.moves.push(mv);
        Ok(())
    }

    fn is_complete(&self) -> bool {
        !self.moves.is_empty()
            && (self.position.outcome().is_some() || self.position.to_move() != self.side)
    }

    fn answer(&self) -> Option<String> {
        if !self.is_complete() {
            return None;
        }
        let turn = self.game.turn_of(&self.moves)?;
        let mut text = String::new();
        self.game.write_turn(turn, &mut text);
        Some(text)
    }

    fn hint(&self) -> Option<String> {
        self.game.hint(&self.position)
    }

    fn inventory(&self) -> String {
        self.game.inventory(&self.position)
    }

    fn picture(&self) -> Picture {
        self.game.picture(&self.position, None)
    }
}
