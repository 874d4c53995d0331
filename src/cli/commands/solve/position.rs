//! `referee solve POSITION`.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde_json::{Value as Json, json};

use super::Args;
use super::work::{Notes, grouped, watched};
use crate::cli::support::failure::Failure;
use crate::cli::support::setup::{match_set, tell};
use crate::game::Game as _;
use crate::game::quarto::{Edition, Turn};
use crate::report::terminal::time;
use crate::solver::{Evaluation, Goal, Limits, Solver, Value};

/// What was found out.
struct Found {
    answer: Evaluation,
    moves: Option<Vec<(Turn, Evaluation)>>,
    line: Vec<Turn>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let set = match_set(args.pieces.as_ref())?;
    let edition = Edition::new(args.rules.into(), set);
    let text = args.position.as_deref().unwrap_or_default();
    let position = edition
        .read_request(text.trim())
        .map_err(|problem| Failure::Usage(format!("{problem}; a position is what a bot is sent, such as `A..PC...J..EF... G`, with `-` when no piece is in hand")))?;

    let solver = args.solver();
    let file = match &args.resume {
        None => None,
        Some(path) => {
            let (notes, known) = Notes::open(path, &solver)?;
            if known > 0 {
                tell(&format!(
                    "referee: {} positions are known from {}",
                    grouped(known as u64),
                    path.display()
                ));
            }
            Some(notes)
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
    let work = || find(&solver, &position, args.all, &limits);
    let (found, interrupted) = watched(&solver, &stop, file.as_ref(), show, work)?;
    let nodes = solver.progress().nodes;
    if interrupted {
        let hint = match &args.resume {
            Some(path) => format!("; the same command goes on from {}", path.display()),
            None => String::new(),
        };
        tell(&format!("referee: so far: {}{hint}", found.answer.words()));
        return Err(Failure::Interrupted);
    }
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", to_json(&found, &edition, nodes))?;
        return Ok(());
    }
    write!(out, "{}", to_text(&found, &edition, args))?;
    tell(&format!(
        "{} nodes in {}",
        grouped(nodes),
        time(begun.elapsed())
    ));
    Ok(())
}

fn find(
    solver: &Solver,
    position: &crate::game::quarto::Position,
    all: bool,
    limits: &Limits,
) -> Found {
    let answer = solver.solve(position, Goal::Distance, limits);
    let moves = all.then(|| solver.solve_turns(position, Goal::Distance, limits));
    Found {
        answer,
        moves,
        line: solver.principal_variation(position, limits),
    }
}

impl Found {
    /// Whether everything that was asked for is there.
    fn is_solved(&self) -> bool {
        let known = |answer: &Evaluation| {
            matches!(answer.value(), Some(Value::Draw)) || answer.plies().is_some()
        };
        known(&self.answer) && self.moves.iter().flatten().all(|(_, answer)| known(answer))
    }
}

fn turn_text(edition: &Edition, turn: Turn) -> String {
    let mut text = String::new();
    edition.write_turn(turn, &mut text);
    text
}

/// The fields of an answer. What is not known is null, and its bounds are said.
fn fields(answer: Evaluation) -> Vec<(String, Json)> {
    let mut fields = vec![
        ("value".to_owned(), json!(answer.value().map(Value::name))),
        ("plies".to_owned(), json!(answer.plies())),
    ];
    if answer.value().is_none() {
        fields.push(("at_least".to_owned(), json!(answer.at_least().name())));
        fields.push(("at_most".to_owned(), json!(answer.at_most().name())));
    }
    fields
}

fn to_json(found: &Found, edition: &Edition, nodes: u64) -> Json {
    let mut object = fields(found.answer);
    if let Some(moves) = &found.moves {
        let moves = moves.iter().map(|(turn, answer)| {
            let name = ("move".to_owned(), json!(turn_text(edition, *turn)));
            Json::Object([name].into_iter().chain(fields(*answer)).collect())
        });
        object.push(("moves".to_owned(), moves.collect()));
    }
    let line: Vec<_> = found.line.iter().map(|t| turn_text(edition, *t)).collect();
    object.push(("line".to_owned(), json!(line)));
    object.push(("nodes".to_owned(), json!(nodes)));
    object.push(("solved".to_owned(), json!(found.is_solved())));
    Json::Object(object.into_iter().collect())
}

/// `win in 3 placements`, `draw`, or what is certain.
fn words(answer: Evaluation) -> String {
    match (answer.value(), answer.plies()) {
        (Some(Value::Draw), _) => "draw".to_owned(),
        (Some(value), Some(1)) => format!("{} with the next placement", value.name()),
        (Some(value), Some(plies)) => format!("{} in {plies} placements", value.name()),
        (Some(value), None) => format!("{}, the distance is not known", value.name()),
        (None, _) if answer.words() == "nothing" => "nothing is certain so far".to_owned(),
        (None, _) => format!("so far: {}", answer.words()),
    }
}

fn to_text(found: &Found, edition: &Edition, args: &Args) -> String {
    let first = match (found.answer.value(), args.time) {
        (None, Some(limit)) => format!("Not solved in {}; {}", time(limit), words(found.answer)),
        _ => capital(&words(found.answer)),
    };
    let mut lines = vec![format!("{first}.")];
    if !found.line.is_empty() {
        let turns: Vec<_> = found.line.iter().map(|t| turn_text(edition, *t)).collect();
        lines.push(format!("Line: {}", turns.join(", ")));
    }
    for (turn, answer) in found.moves.iter().flatten() {
        let turn = turn_text(edition, *turn);
        lines.push(format!("{turn:>4}  {}", words(*answer)));
    }
    lines.join("\n") + "\n"
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
