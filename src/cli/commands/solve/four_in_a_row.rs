//! `referee solve --game four-in-a-row`: the same for Four In A Row.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;

use super::Args;
use super::position::{Solution, report};
use super::table::{Measured, row, without_book};
use super::work::run_with_progress;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::game::four_in_a_row::{COLUMNS, Column, FourInARow, Position, ROWS};
use crate::game::{Game as _, Position as _};
use crate::solver::four_in_a_row::Solver;
use crate::solver::{Goal, Limits};
use crate::text::{grouped, size};

/// The default rows of the table: free cells.
const FREE: [u8; 9] = [22, 26, 28, 30, 31, 32, 34, 38, 41];

/// All cells.
const CELLS: u8 = COLUMNS * ROWS;

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let text = args.position.as_deref().unwrap_or_default().trim();
    // A board alone shows whose turn it is.
    let read = FourInARow.start_from(text);
    let position = read.map_err(|problem| {
        Failure::Usage(format!(
            "{problem}; expected the mark of the side to move and a board, such as `@ ................................O......@..`"
        ))
    })?;
    let solver = solver(args);
    let stop = Arc::new(AtomicBool::new(false));
    let limits = args.time.map_or(Limits::NONE, Limits::within);
    let limits = limits.or_when(Arc::clone(&stop));
    let begun = Instant::now();
    let show = || format!("{} nodes", grouped(solver.nodes()));
    let work = || solve(&solver, &position, args.all, &limits);
    let (solution, interrupted) = run_with_progress(&stop, None, show, work)?;
    report(
        args,
        &solution,
        solver.nodes(),
        begun.elapsed(),
        interrupted,
    )
}

fn solver(args: &Args) -> Solver {
    let bytes = args.options().tt_bytes;
    if args.no_book {
        Solver::without_book(bytes)
    } else {
        Solver::new(bytes)
    }
}

fn solve(solver: &Solver, position: &Position, all: bool, limits: &Limits) -> Solution {
    let text = |column: Column| column.number().to_string();
    let value = solver.solve(position, Goal::Distance, limits);
    let turns = all.then(|| solver.solve_turns(position, Goal::Distance, limits));
    let named = |(column, evaluation)| (text(column), evaluation);
    let line = solver.principal_variation(position, limits);
    Solution {
        value,
        turns: turns.map(|turns| turns.into_iter().map(named).collect()),
        line: line.into_iter().map(text).collect(),
        unit: "disc",
    }
}

/// Measures the solver on random positions.
pub(super) fn table(args: &Args) -> Result<(), Failure> {
    let options = args.options();
    writeln!(
        Stdout,
        "Four In A Row, one thread, table of {}, {} positions a row, each solved with an empty table{}\n\n\
         {:<22} {:>9} {:>9} {:>12} {:>13} {:>9}",
        size(options.tt_bytes as u64),
        args.positions,
        without_book(args),
        "free cells",
        "median",
        "worst",
        "nodes",
        "worst nodes",
        "Mnodes/s",
    )?;
    let rows = if args.free.is_empty() {
        &FREE[..]
    } else {
        &args.free
    };
    for &free in rows {
        let mut measured = Vec::new();
        for position in positions(free, args.positions.get()) {
            measured.push(measure(args, &position)?);
        }
        let name = if args.all { ", every turn" } else { "" };
        row(&format!("{free}{name}"), &mut measured)?;
    }
    if args.empty {
        let measured = measure(args, &Position::default())?;
        row(&CELLS.to_string(), &mut [measured])?;
    }
    Ok(())
}

fn measure(args: &Args, position: &Position) -> Result<Measured, Failure> {
    let solver = solver(args);
    let stop = Arc::new(AtomicBool::new(false));
    let limits = Limits::NONE.or_when(Arc::clone(&stop));
    let show = || format!("{} nodes", grouped(solver.nodes()));
    let work = || {
        let begun = Instant::now();
        if args.all {
            let _ = solver.solve_turns(position, Goal::Distance, &limits);
        } else {
            let _ = solver.solve(position, Goal::Distance, &limits);
        }
        begun.elapsed()
    };
    let (time, interrupted) = run_with_progress(&stop, None, show, work)?;
    if interrupted {
        print_stderr("referee: interrupted; the rest of the table is missing");
        return Err(Failure::Interrupted);
    }
    Ok(Measured {
        time,
        nodes: solver.nodes(),
        hashfull: None,
    })
}

/// Positions with `free` empty cells after random discs, in which nobody has won and the side to move cannot at once. The
/// seed is fixed, so they are the same in every run.
fn positions(free: u8, count: usize) -> impl Iterator<Item = Position> {
    let discs = CELLS.saturating_sub(free);
    let mut rng = ChaCha8Rng::seed_from_u64(discs.into());
    let drawn = std::iter::repeat_with(move || {
        let mut position = Position::default();
        for _ in 0..discs {
            let moves: Vec<_> = position.moves().collect();
            position.play(*moves.choose(&mut rng)?).ok()?;
        }
        (position.outcome().is_none() && !position.can_win_at_once()).then_some(position)
    });
    drawn.flatten().take(count)
}
