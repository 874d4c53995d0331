use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::cli::support::failure::{Failure, Result, bail, usage};
use crate::cli::support::games::BuiltinGameOptions;
use crate::cli::support::output::{ProgressLine, note, print_found, print_stderr};
use crate::cli::support::runtime::run_with_ticks;
use crate::cli::support::values::{self, SolverArgs, in_short};
use referee::game::BuiltinGame;
use referee::game::four_in_a_row::FourInARow;
use referee::report::terminal::time;
use referee::solver::{self, Evaluation, Goal, Limits, Solve, Solver, Value};
use referee::text::{escape, grouped};

#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Args {
    /// A position as the protocol writes it: the board, `.` for an empty cell, and the piece in hand or `-`; of Four In A Row the
    /// mark of the side to move and the board
    position: String,

    #[command(flatten)]
    game: BuiltinGameOptions,

    /// What follows a space in a position without quotes.
    #[arg(hide = true)]
    rest: Vec<String>,

    /// Stop after this time and print what is proven so far
    #[arg(long, value_name = "TIME", value_parser = values::positive_duration, help_heading = "Analysis")]
    time_per_move: Option<Duration>,

    /// Also print the value of every turn
    #[arg(long)]
    all: bool,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    solver: SolverArgs,
}

const AFTER_HELP: &str = "\
Examples:
  referee solve \"A..PC...J..EF... G\"
  referee solve --all --time-per-move 10s \"A..PC...J..EF... G\"
  referee solve --game four-in-a-row \"@ ................................O......@..\"

The value is for the side to move. Placements are counted until the quarto, discs until
four are in a row. Four In A Row is solved by one thread.";

struct Solution {
    value: Evaluation,
    turns: Option<Vec<(String, Evaluation)>>,
    line: Vec<String>,
    /// `placement`, or the like.
    unit: &'static str,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if !args.rest.is_empty() {
        let words = format!("{} {}", args.position, args.rest.join(" "));
        bail!(
            "a position is one argument, so put it in quotes: referee solve \"{}\"",
            escape(words.as_bytes())
        );
    }
    if args.game.game()?.name == FourInARow::INFO.name {
        four_in_a_row(args)
    } else {
        quarto(args)
    }
}

fn quarto(args: &Args) -> Result<()> {
    let edition = args.game.set.choices()?;
    let position = edition
        .read_request(args.position.trim())
        .map_err(|problem| usage!("{problem}; a position is a board and the piece in hand, such as `A..PC...J..EF... G`, with `-` when no piece is in hand"))?;
    let solver = Solver::new(args.solver.options());
    solve(args, &edition, &solver, &position)
}

fn four_in_a_row(args: &Args) -> Result<()> {
    // A board alone shows whose turn it is.
    let position = FourInARow.start_from(args.position.trim()).map_err(|problem| {
        usage!(
            "{problem}; expected the mark of the side to move and a board, such as `@ ................................O......@..`"
        )
    })?;
    let solver = solver::four_in_a_row::Solver::new(args.solver.options().tt_bytes);
    solve(args, &FourInARow, &solver, &position)
}

fn solve<G: BuiltinGame>(
    args: &Args,
    game: &G,
    solver: &impl Solve<G::Position>,
    position: &G::Position,
) -> Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    let limits = args.time_per_move.map_or(Limits::NONE, Limits::within);
    let limits = limits.or_when(Arc::clone(&stop));
    let begun = Instant::now();
    let line = ProgressLine::new();
    let on_tick = || {
        let time = in_short(begun.elapsed());
        line.show(format!("{time} {} nodes", grouped(solver.nodes())));
    };
    let text = |turn| game.turn_text(turn);
    let work = || Solution {
        value: solver.solve(position, Goal::Distance, &limits),
        turns: args.all.then(|| {
            let turns = solver.solve_turns(position, Goal::Distance, &limits);
            let named = turns.into_iter().map(|(turn, value)| (text(turn), value));
            named.collect()
        }),
        line: {
            let line = solver.principal_variation(position, &limits);
            line.into_iter().map(text).collect()
        },
        unit: G::INFO.words[1],
    };
    let outcome = run_with_ticks(&stop, on_tick, work);
    line.clear();
    let (solution, interrupted) = outcome?;
    if interrupted {
        note!("so far: {}", solution.value.words());
        return Err(Failure::Interrupted);
    }
    let elapsed = begun.elapsed();
    let nodes = solver.nodes();
    let json = || to_json(&solution, nodes);
    print_found(args.json, json, |_| to_text(&solution, args))?;
    if !args.json {
        print_stderr(&format!("{} nodes in {}", grouped(nodes), time(elapsed)));
    }
    Ok(())
}

impl Solution {
    fn is_solved(&self) -> bool {
        let known = |evaluation: &Evaluation| {
            matches!(evaluation.value(), Some(Value::Draw)) || evaluation.plies().is_some()
        };
        let mut turns = self.turns.iter().flatten();
        known(&self.value) && turns.all(|(_, evaluation)| known(evaluation))
    }
}

fn with_value(mut json: Json, evaluation: Evaluation) -> Json {
    let value = evaluation.value().map(Value::name);
    json["value"] = json!(value);
    json["plies"] = json!(evaluation.plies());
    if value.is_none() {
        json["at_least"] = json!(evaluation.at_least().name());
        json["at_most"] = json!(evaluation.at_most().name());
    }
    json
}

fn to_json(solution: &Solution, nodes: u64) -> Json {
    let mut json = with_value(json!({}), solution.value);
    if let Some(turns) = &solution.turns {
        let moves = turns
            .iter()
            .map(|(turn, value)| with_value(json!({"move": turn}), *value));
        json["moves"] = moves.collect();
    }
    json["line"] = json!(solution.line);
    json["nodes"] = json!(nodes);
    json["solved"] = json!(solution.is_solved());
    json
}

/// `win in 3 placements`, `draw`, or the proven bounds.
fn words(evaluation: Evaluation, unit: &str) -> String {
    match (evaluation.value(), evaluation.plies()) {
        (Some(Value::Draw), _) => "draw".to_owned(),
        (Some(value), Some(1)) => format!("{} with the next {unit}", value.name()),
        (Some(value), Some(plies)) => format!("{} in {plies} {unit}s", value.name()),
        (Some(value), None) => format!("{}, the distance is not known", value.name()),
        (None, _) if evaluation.is_open() => "nothing is proven so far".to_owned(),
        (None, _) => format!("so far: {}", evaluation.words()),
    }
}

fn to_text(solution: &Solution, args: &Args) -> String {
    let first = words(solution.value, solution.unit);
    let (initial, rest) = first.split_at(1);
    let first = match (solution.value.value(), args.time_per_move) {
        (None, Some(limit)) => format!("Not solved in {}; {first}", time(limit)),
        _ => initial.to_uppercase() + rest,
    };
    let mut lines = vec![format!("{first}.")];
    if !solution.line.is_empty() {
        lines.push(format!("Line: {}", solution.line.join(", ")));
    }
    for (turn, evaluation) in solution.turns.iter().flatten() {
        lines.push(format!("{turn:>4}  {}", words(*evaluation, solution.unit)));
    }
    lines.join("\n") + "\n"
}
