//! Prints the exact value of a position of Quarto and of every turn in it.
//!
//! `cargo run --release -p referee-games --example solve_position -- "KH.FN.CMDA.JP.O. B"`

use std::env::args;
use std::error::Error;

use referee_games::game::BuiltinGame as _;
use referee_games::game::quarto::Edition;
use referee_games::solver::{Goal, Limits, Solve as _, Solver, SolverOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let request = args().nth(1).ok_or("expected a board and a piece")?;
    let edition = Edition::default();
    let position = edition.read_request(&request)?;
    let solver = Solver::new(SolverOptions::default());
    let evaluation = solver.solve(&position, Goal::Distance, &Limits::NONE);
    println!("{:?} in {:?}", evaluation.value(), evaluation.plies());
    for (turn, evaluation) in solver.solve_turns(&position, Goal::Value, &Limits::NONE) {
        let text = edition.turn_text(turn);
        println!("{text}: {:?}", evaluation.value());
    }
    Ok(())
}
