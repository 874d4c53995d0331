//! A bot: plays the best turn when few cells are free, and a random one before.
//!
//! `referee "target/debug/examples/solver_bot" builtin:greedy`

use std::error::Error;
use std::io::{self, BufRead as _, Write as _};
use std::time::Duration;

use rand::seq::IndexedRandom as _;
use referee_games::game::quarto::Edition;
use referee_games::game::{BuiltinGame as _, Position as _};
use referee_games::solver::{Goal, Limits, Solve as _, Solver, SolverOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let edition = Edition::default();
    let solver = Solver::new(SolverOptions::default());
    for request in io::stdin().lock().lines() {
        let position = edition.read_request(request?.trim())?;
        let turn = if position.board().free().count() > 9 {
            let turns = position.turns();
            turns.choose(&mut rand::rng()).map(|(turn, _)| *turn)
        } else {
            let limits = Limits::within(Duration::from_secs(1));
            let turns = solver.solve_turns(&position, Goal::Value, &limits);
            let best = turns.iter().max_by_key(|(_, value)| value.rank());
            best.map(|(turn, _)| *turn)
        };
        let answer = edition.turn_text(turn.ok_or("the game is over")?);
        println!("{answer}");
        io::stdout().flush()?;
    }
    Ok(())
}
