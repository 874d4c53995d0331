//! The games of this program, by name: the only place that distinguishes them.

use std::sync::Arc;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::prover::{
    FOUR_IN_A_ROW_QUICK, Prover, QUARTO_QUICK, Solvers, of_four_in_a_row, of_quarto,
};
use super::{BuiltinBot, BuiltinOptions, Ruleset};
use crate::game::four_in_a_row::FourInARow;
use crate::game::quarto::{Edition, PieceFormat, PieceSet, Rules};
use crate::game::{Game, Outcome, Position as _, Side, quarto};
use crate::solver::{Goal, Limits, Options, Solver, Value, four_in_a_row};
use crate::strategy::Strategy;
use crate::strategy::perfect::Perfect;
use crate::strategy::perfect_four::PerfectFour;

#[derive(Debug)]
pub struct GameInfo {
    /// In records, in a bot's environment and on the command line.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// Otherwise the bot named first moves first.
    pub is_first_drawn: bool,
    /// Whether rules and a piece set can be chosen.
    pub has_piece_sets: bool,
    pub is_solvable: bool,
    /// Positions with at most so many free cells are proven in less than a second, with all their turns.
    pub provable_cells: usize,
    make: fn(Choices) -> Arc<dyn Ruleset>,
}

/// Games without piece sets ignore them.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    pub rules: Rules,
    pub set: PieceSet,
    /// For people.
    pub format: PieceFormat,
}

/// The default first.
pub static GAMES: [GameInfo; 2] = [
    GameInfo {
        name: Edition::NAME,
        about: "Four-by-four board, sixteen pieces, a gift with every turn",
        is_first_drawn: Edition::IS_FIRST_DRAWN,
        has_piece_sets: Edition::SETS,
        is_solvable: Edition::IS_SOLVABLE,
        provable_cells: QUARTO_QUICK,
        make: |choices| {
            Arc::new(Edition::new(choices.rules, choices.set).with_format(choices.format))
        },
    },
    GameInfo {
        name: FourInARow::NAME,
        about: "Seven columns, six rows; BOT1 moves first unless --first says otherwise",
        is_first_drawn: FourInARow::IS_FIRST_DRAWN,
        has_piece_sets: FourInARow::SETS,
        is_solvable: FourInARow::IS_SOLVABLE,
        provable_cells: FOUR_IN_A_ROW_QUICK,
        make: |_| Arc::new(FourInARow),
    },
];

pub fn find(name: &str) -> Option<&'static GameInfo> {
    GAMES.iter().find(|game| game.name == name)
}

/// By name, rules, and the CSV text of a piece set that is not the built-in one. The error is a sentence about one of
/// them.
pub fn of_record(
    game: &str,
    rules: &str,
    pieces: Option<&str>,
) -> Result<Arc<dyn Ruleset>, String> {
    let quote = |text: &str| referee_text::quote(text.as_bytes());
    let game = find(game).ok_or_else(|| format!("the game {} is unknown", quote(game)))?;
    let rules =
        Rules::from_name(rules).ok_or_else(|| format!("the rules {} are unknown", quote(rules)))?;
    let set = match pieces.map(PieceSet::parse) {
        None => PieceSet::default(),
        Some(set) => set.map_err(|error| format!("its piece set: {error}"))?,
    };
    Ok(game.ruleset(Choices {
        rules,
        set,
        ..Choices::default()
    }))
}

impl GameInfo {
    pub fn ruleset(&self, choices: Choices) -> Arc<dyn Ruleset> {
        (self.make)(choices)
    }
}

impl PartialEq for GameInfo {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for GameInfo {}

/// Positions with more free cells take too long to prove.
const FREE_UP_TO: usize = 10;

/// Positions of Four In A Row with fewer discs are not proven.
const LEAST_DISCS: u32 = 14;

/// Of the transposition table for one position.
const TT_BYTES: usize = 2 << 20;

/// There is no turn only when the game is over, and then no request is sent.
pub(super) fn answer<G: Game>(game: &G, turn: Option<G::Turn>) -> Result<String, String> {
    let turn = turn.ok_or("the game in it is over")?;
    let mut text = String::new();
    game.write_turn(turn, &mut text);
    Ok(text)
}

const fn outcome(value: Value, side: Side) -> Outcome {
    match value {
        Value::Win => Outcome::Win(side),
        Value::Draw => Outcome::Draw,
        Value::Loss => Outcome::Win(side.other()),
    }
}

/// Plays a random turn with the probability `slips`, otherwise what `choose` chooses.
fn with_slips<'a, G: Game>(
    game: &'a G,
    slips: Option<f64>,
    seed: u64,
    mut choose: impl FnMut(&G::Position, &mut ChaCha8Rng) -> Option<G::Turn> + 'a,
) -> BuiltinBot<'a> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Slips have numbers of their own, so that the other turns do not depend on them.
    let mut slip_rng = ChaCha8Rng::seed_from_u64(seed);
    slip_rng.set_stream(1);
    Box::new(move |request| {
        let position = game.read_request(request)?;
        let turn = if slips.is_some_and(|slips| slip_rng.random_bool(slips)) {
            Strategy::Random.choose(game, &position, &mut slip_rng)
        } else {
            choose(&position, &mut rng)
        };
        answer(game, turn)
    })
}

/// What the program provides for a game beyond its rules: a solver and bots.
pub trait Builtins: Game {
    /// Whether positions can be proven: games are analysed and adjudicated, and there is a perfect bot.
    const IS_SOLVABLE: bool = false;

    /// `None` when a search of `nodes` nodes does not prove the result. Every position is searched with an empty
    /// table, so the result depends on the position alone.
    fn prove(&self, position: &Self::Position, nodes: u64) -> Option<Outcome> {
        let _ = (position, nodes);
        None
    }

    /// A bot that plays perfectly, but for random turns with the probability `slips`.
    fn perfect_bot(&self, slips: Option<f64>, options: BuiltinOptions) -> Option<BuiltinBot<'_>> {
        let _ = (slips, options);
        None
    }

    fn prover(&self, solvers: &Solvers) -> Option<Box<dyn Prover>> {
        let _ = solvers;
        None
    }
}

impl Builtins for Edition {
    const IS_SOLVABLE: bool = true;

    fn prove(&self, position: &quarto::Position, nodes: u64) -> Option<Outcome> {
        if position.board().free().count() > FREE_UP_TO {
            return None;
        }
        let solver = Solver::new(Options {
            tt_bytes: TT_BYTES,
            threads: 1,
        });
        let answer = solver.solve(position, Goal::Value, &Limits::nodes(nodes));
        Some(outcome(answer.value()?, position.to_move()))
    }

    fn perfect_bot(&self, slips: Option<f64>, options: BuiltinOptions) -> Option<BuiltinBot<'_>> {
        let mut perfect = match slips {
            None => Perfect::new(options.move_time),
            Some(_) => Perfect::without_clock(),
        };
        let choose = move |position: &_, rng: &mut _| perfect.choose(position, rng);
        Some(with_slips(self, slips, options.seed, choose))
    }

    fn prover(&self, solvers: &Solvers) -> Option<Box<dyn Prover>> {
        Some(of_quarto(self, solvers.quarto()))
    }
}

impl Builtins for FourInARow {
    const IS_SOLVABLE: bool = true;

    fn prove(&self, position: &Self::Position, nodes: u64) -> Option<Outcome> {
        let discs: u32 = position.discs().iter().map(|side| side.count_ones()).sum();
        if discs < LEAST_DISCS {
            return None;
        }
        let solver = four_in_a_row::Solver::new(TT_BYTES);
        let answer = solver.solve(position, Goal::Value, &Limits::nodes(nodes));
        Some(outcome(answer.value()?, position.to_move()))
    }

    fn perfect_bot(&self, slips: Option<f64>, options: BuiltinOptions) -> Option<BuiltinBot<'_>> {
        let mut perfect = match slips {
            None => PerfectFour::new(options.move_time),
            Some(_) => PerfectFour::without_clock(),
        };
        let choose = move |position: &_, rng: &mut _| perfect.choose(position, rng);
        Some(with_slips(self, slips, options.seed, choose))
    }

    fn prover(&self, solvers: &Solvers) -> Option<Box<dyn Prover>> {
        Some(of_four_in_a_row(*self, solvers.four_in_a_row()))
    }
}
