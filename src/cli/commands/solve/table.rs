//! `referee solve --table`: measures the solver on random positions, so that anyone can check the
//! figures in docs/solver.md.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;

use super::Args;
use super::work::run_with_progress;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::game::Position as _;
use crate::game::quarto::{Board, Cell, Move, Piece, Position, Rules};
use crate::report::terminal::time;
use crate::solver::{Goal, Limits};
use crate::text::{grouped, size};

/// The default rows: free cells.
const FREE: [u8; 5] = [10, 11, 12, 13, 14];

/// The default rows with all turns.
const FREE_ALL: [u8; 3] = [10, 11, 12];

/// The most free cells with a piece in hand, one being on the board.
const MOST_FREE: u8 = 15;

/// The end of the sentence on how positions are solved.
pub(super) const fn without_book(args: &Args) -> &'static str {
    if args.no_book {
        " and without the book"
    } else {
        ""
    }
}

/// One position's measurement.
pub(super) struct Measured {
    pub(super) time: Duration,
    pub(super) nodes: u64,
    /// Share of the transposition table in use; `None` when it is not known.
    pub(super) hashfull: Option<f64>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let rules = Rules::from(args.rules);
    let options = args.options();
    writeln!(
        Stdout,
        "{} rules, {} thread{}, table of {}, {} positions a row, each solved with an empty table{}\n\n\
         {:<22} {:>9} {:>9} {:>12} {:>13} {:>9} {:>6}",
        rules.name(),
        options.threads,
        if options.threads == 1 { "" } else { "s" },
        size(options.tt_bytes as u64),
        args.positions,
        without_book(args),
        "free cells",
        "median",
        "worst",
        "nodes",
        "worst nodes",
        "Mnodes/s",
        "table",
    )?;
    let rows = match (&args.free[..], args.all) {
        ([], false) => &FREE[..],
        ([], true) => &FREE_ALL,
        (chosen, _) => chosen,
    };
    if let Some(free) = rows.iter().find(|&&free| free > MOST_FREE) {
        return Err(Failure::Usage(format!(
            "--free {free}: expected a whole number from 1 to {MOST_FREE}"
        )));
    }
    for &free in rows {
        let mut measured = Vec::new();
        for position in positions(usize::from(free), args.positions.get(), rules) {
            measured.push(measure(args, &position, args.all)?);
        }
        let name = if args.all { ", every turn" } else { "" };
        row(&format!("{free}{name}"), &mut measured)?;
    }
    if args.empty {
        let mut position = Position::new(rules);
        for piece in Piece::all().take(1) {
            position.play(Move::Give(piece)).map_err(|illegal| {
                Failure::Referee(format!("the first gift is not legal: {illegal}"))
            })?;
        }
        row(
            "16, a piece in hand",
            &mut [measure(args, &position, false)?],
        )?;
    }
    Ok(())
}

pub(super) fn row(name: &str, measured: &mut [Measured]) -> Result<(), Failure> {
    let nodes: u64 = measured.iter().map(|m| m.nodes).sum();
    let total: Duration = measured.iter().map(|m| m.time).sum();
    let hashfull = measured.iter().filter_map(|m| m.hashfull);
    let hashfull = hashfull.reduce(f64::max);
    let hashfull = hashfull.map_or_else(String::new, |share| format!(" {:>5.0}%", 100.0 * share));
    measured.sort_by_key(|m| m.nodes);
    let (middle, last) = (measured.len() / 2, measured.len() - 1);
    let (median_nodes, worst_nodes) = (measured[middle].nodes, measured[last].nodes);
    measured.sort_by_key(|m| m.time);
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = nodes as f64 / total.as_secs_f64() / 1e6;
    Ok(writeln!(
        Stdout,
        "{name:<22} {:>9} {:>9} {:>12} {:>13} {rate:>9.1}{hashfull}",
        time(measured[middle].time),
        time(measured[last].time),
        grouped(median_nodes),
        grouped(worst_nodes),
    )?)
}

fn measure(args: &Args, position: &Position, all: bool) -> Result<Measured, Failure> {
    let solver = args.unchecked_solver();
    let stop = Arc::new(AtomicBool::new(false));
    let limits = Limits::NONE.or_when(Arc::clone(&stop));
    let show = || format!("{} nodes", grouped(solver.progress().nodes));
    let work = || {
        let begun = Instant::now();
        if all {
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
        nodes: solver.progress().nodes,
        hashfull: Some(solver.hashfull()),
    })
}

/// Random positions with `free` empty cells, no quarto, and a piece in hand that cannot win at
/// once. The seed is fixed, so they are the same in every run.
fn positions(free: usize, count: usize, rules: Rules) -> impl Iterator<Item = Position> {
    let mut rng = ChaCha8Rng::seed_from_u64(free as u64);
    let drawn = std::iter::repeat_with(move || {
        let mut cells: Vec<Cell> = Cell::all().collect();
        let mut pieces: Vec<Piece> = Piece::all().collect();
        cells.shuffle(&mut rng);
        pieces.shuffle(&mut rng);
        let mut board = Board::default();
        for (cell, piece) in cells.iter().zip(&pieces).take(16 - free) {
            // The cells are all different.
            let _ = board.place(*cell, *piece);
        }
        let mut position = Position::from_board(board, rules).ok()?;
        position.play(Move::Give(pieces[16 - free])).ok()?;
        (!position.can_win_at_once()).then_some(position)
    });
    drawn.flatten().take(count)
}
