//! `builtin:perfect` in Four In A Row.

use std::time::{Duration, Instant};

use rand::Rng;
use rand::seq::IndexedRandom as _;

use super::search::Search;
use crate::game::four_in_a_row::{Column, Position};
use crate::solver::four_in_a_row::{Solver, TABLE_BYTES};
use crate::solver::{Evaluation, Goal, Limits, Solve as _};

/// Without a clock: enough from the twelfth disc on.
const NODES: u64 = 1 << 21;

/// Over all turns; each further pass has eight times as many.
const FIRST_PASS_NODES: u64 = 1 << 16;

/// How far it looks ahead, in turns, where nothing is proven.
const DEPTH: u32 = 4;

#[derive(Debug)]
pub struct PerfectFour {
    solver: Solver,
    search: Search,
    /// Without one, [`NODES`] end an answer.
    time: Option<Duration>,
}

impl PerfectFour {
    /// Answers within `move_time`. Without one, a search ends after a fixed number of nodes.
    pub fn new(move_time: Option<Duration>) -> Self {
        Self {
            solver: Solver::new(TABLE_BYTES),
            search: Search::new(DEPTH),
            time: move_time.map(super::perfect::thinking),
        }
    }

    /// `None` when the game is over.
    pub fn choose(&mut self, position: &Position, rng: &mut impl Rng) -> Option<Column> {
        let turns = self.evaluated(position);
        let best = turns.iter().map(|(_, value)| value.rank()).max()?;
        let mut equal: Vec<(Column, Evaluation)> = turns;
        equal.retain(|(_, value)| value.rank() == best);
        if equal.iter().any(|(_, value)| value.value().is_none()) {
            // Of turns of which as little is known, one that a short search does not refuse.
            let candidates = self.search.candidates(position);
            let both = |(column, _): &&(Column, Evaluation)| candidates.contains(column);
            if let Some(chosen) = equal.iter().filter(both).collect::<Vec<_>>().choose(rng) {
                return Some(chosen.0);
            }
        }
        equal.choose(rng).map(|(column, _)| *column)
    }

    fn evaluated(&self, position: &Position) -> Vec<(Column, Evaluation)> {
        let deadline = self.time.and_then(|time| Instant::now().checked_add(time));
        let mut nodes = self.time.map_or(NODES, |_| FIRST_PASS_NODES);
        loop {
            let limits = Limits {
                deadline,
                nodes: Some(nodes),
                stop: None,
            };
            let turns = self.solver.solve_turns(position, Goal::Distance, &limits);
            let is_over = self.time.is_none() || limits.is_late();
            if is_over || turns.iter().all(|(_, value)| value.value().is_some()) {
                return turns;
            }
            nodes = nodes.saturating_mul(8);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand::rngs::ChaCha8Rng;

    use super::*;
    use crate::game::four_in_a_row::FourInARow;
    use crate::game::{BuiltinGame as _, Outcome, Position as _};
    use crate::strategy::random;

    #[test]
    fn it_takes_a_win_and_prevents_one() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut perfect = PerfectFour::new(None);
        for (request, column) in [
            ("@ ...................................OOO@@@.", 7),
            ("O ...................................@@@OO..", 0),
        ] {
            let position = FourInARow.read_request(request).expect("a position");
            let chosen = perfect.choose(&position, &mut rng).expect("a turn");
            let text = FourInARow.turn_text(chosen);
            if column != 0 {
                assert_eq!(text, column.to_string(), "{request}");
            }
        }
    }

    /// The second player could be beaten; the answers follow from the seed.
    #[test]
    fn it_beats_random_turns() {
        for seed in 0..3 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut perfect = PerfectFour::new(None);
            let mut position = FourInARow.start();
            while position.outcome().is_none() {
                let column = if position.to_move().index() == 1 {
                    perfect.choose(&position, &mut rng)
                } else {
                    random(&position, &mut rng)
                };
                position.play(column.expect("a turn")).expect("it is legal");
            }
            assert_eq!(
                position.outcome(),
                Some(Outcome::Win(crate::game::Side::Second))
            );
        }
    }
}
