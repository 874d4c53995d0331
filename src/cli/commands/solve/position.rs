//! `referee solve POSITION`: the exact value of a position.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::Args;
use super::work::{ProofFile, run_with_progress};
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::cli::support::setup::match_set;
use crate::game::Game as _;
use crate::game::quarto::{Edition, Turn};
use crate::report::terminal::time;
use crate::solver::{Evaluation, Goal, Limits, Solver, Value};
use crate::text::grouped;

/// The result of a solve.
pub(super) struct Solution {
    pub(super) value: Evaluation,
    /// In canonical form.
    pub(super) turns: Option<Vec<(String, Evaluation)>>,
    /// In canonical form.
    pub(super) line: Vec<String>,
    /// What a ply is: `placement`.
    pub(super) unit: &'static str,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let set = match_set(args.pieces.as_ref())?;
    let edition = Edition::new(args.rules.into(), set);
    let text = args.position.as_deref().unwrap_or_default();
    let position = edition
        .read_request(text.trim())
        .map_err(|problem| Failure::Usage(format!("{problem}; a position is a board and the piece in hand, such as `A..PC...J..EF... G`, with `-` when no piece is in hand")))?;

    let solver = args.solver();
    let file = match &args.resume {
        None => None,
        Some(path) => {
            let (proofs, known) = ProofFile::open(path, &solver)?;
            if known > 0 {
                print_stderr(&format!(
                    "referee: {} positions are known from {}",
                    grouped(known as u64),
                    path.display()
                ));
            }
            Some(proofs)
        }
    };
    let stop = Arc::new(AtomicBool::new(false));
    let limits = args.time.map_or(Limits::NONE, Limits::within);
    let limits = limits.or_when(Arc::clone(&stop));
    let begun = Instant::now();
    let show = || {
        let progress = solver.progress();
        format!(
            "{} nodes, {} of {} turns decided",
            grouped(progress.nodes),
            progress.decided,
            progress.turns
        )
    };
    let work = || solve(&solver, &edition, &position, args.all, &limits);
    let (solution, interrupted) =
        run_with_progress(&stop, file.as_ref().map(|file| (file, &solver)), show, work)?;
    let nodes = solver.progress().nodes;
    report(args, &solution, nodes, begun.elapsed(), interrupted)
}

/// Prints a result.
pub(super) fn report(
    args: &Args,
    solution: &Solution,
    nodes: u64,
    elapsed: Duration,
    interrupted: bool,
) -> Result<(), Failure> {
    if interrupted {
        let hint = match &args.resume {
            Some(path) => format!(
                "; run the same command again to resume from {}",
                path.display()
            ),
            None => String::new(),
        };
        print_stderr(&format!(
            "referee: so far: {}{hint}",
            solution.value.words()
        ));
        return Err(Failure::Interrupted);
    }
    let mut out = Stdout;
    if args.json {
        writeln!(out, "{}", to_json(solution, nodes))?;
        return Ok(());
    }
    write!(out, "{}", to_text(solution, args))?;
    print_stderr(&format!("{} nodes in {}", grouped(nodes), time(elapsed)));
    Ok(())
}

fn solve(
    solver: &Solver,
    edition: &Edition,
    position: &crate::game::quarto::Position,
    all: bool,
    limits: &Limits,
) -> Solution {
    let text = |turn| turn_text(edition, turn);
    let value = solver.solve(position, Goal::Distance, limits);
    let turns = all.then(|| solver.solve_turns(position, Goal::Distance, limits));
    let named = |(turn, evaluation)| (text(turn), evaluation);
    let line = solver.principal_variation(position, limits);
    Solution {
        value,
        turns: turns.map(|turns| turns.into_iter().map(named).collect()),
        line: line.into_iter().map(text).collect(),
        unit: "placement",
    }
}

impl Solution {
    /// Whether every value asked for is exact, with its distance.
    fn is_solved(&self) -> bool {
        let known = |evaluation: &Evaluation| {
            matches!(evaluation.value(), Some(Value::Draw)) || evaluation.plies().is_some()
        };
        known(&self.value)
            && self
                .turns
                .iter()
                .flatten()
                .all(|(_, evaluation)| known(evaluation))
    }
}

fn turn_text(edition: &Edition, turn: Turn) -> String {
    let mut text = String::new();
    edition.write_turn(turn, &mut text);
    text
}

/// The JSON fields of a value. Unknown fields are null; an inexact value has its bounds.
fn fields(evaluation: Evaluation) -> Vec<(String, Json)> {
    let mut fields = vec![
        (
            "value".to_owned(),
            json!(evaluation.value().map(Value::name)),
        ),
        ("plies".to_owned(), json!(evaluation.plies())),
    ];
    if evaluation.value().is_none() {
        fields.push(("at_least".to_owned(), json!(evaluation.at_least().name())));
        fields.push(("at_most".to_owned(), json!(evaluation.at_most().name())));
    }
    fields
}

fn to_json(solution: &Solution, nodes: u64) -> Json {
    let mut object = fields(solution.value);
    if let Some(turns) = &solution.turns {
        let moves = turns.iter().map(|(turn, evaluation)| {
            let name = ("move".to_owned(), json!(turn));
            Json::Object([name].into_iter().chain(fields(*evaluation)).collect())
        });
        object.push(("moves".to_owned(), moves.collect()));
    }
    object.push(("line".to_owned(), json!(solution.line)));
    object.push(("nodes".to_owned(), json!(nodes)));
    object.push(("solved".to_owned(), json!(solution.is_solved())));
    Json::Object(object.into_iter().collect())
}

/// `win in 3 placements`, `draw`, or the proven bounds.
fn words(evaluation: Evaluation, unit: &str) -> String {
    match (evaluation.value(), evaluation.plies()) {
        (Some(Value::Draw), _) => "draw".to_owned(),
        (Some(value), Some(1)) => format!("{} with the next {unit}", value.name()),
        (Some(value), Some(plies)) => format!("{} in {plies} {unit}s", value.name()),
        (Some(value), None) => format!("{}, the distance is not known", value.name()),
        (None, _) if evaluation.words() == "nothing" => "nothing is proven so far".to_owned(),
        (None, _) => format!("so far: {}", evaluation.words()),
    }
}

fn to_text(solution: &Solution, args: &Args) -> String {
    let first = match (solution.value.value(), args.time) {
        (None, Some(limit)) => format!(
            "Not solved in {}; {}",
            time(limit),
            words(solution.value, solution.unit)
        ),
        _ => capital(&words(solution.value, solution.unit)),
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

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
