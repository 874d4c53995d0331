#![doc = include_str!("../README.md")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use referee_analysis::appraisal::{Appraiser, Effort};
use referee_analysis::{Step, packed};
use referee_games::drawing::{self, Node, Pieces, Shown};
use referee_games::game::{Game, Mood, Ruleset, registry};
use referee_games::solver::{Limits, SolverOptions, Solvers, Value, four_in_a_row};
use serde_json::{Value as Json, json};

const SEPARATOR: char = '\u{1f}';

/// A page has one thread, and shares the machine's memory with others.
const SOLVER: SolverOptions = SolverOptions {
    tt_bytes: 32 << 20,
    threads: 1,
};

type Games = HashMap<String, (Arc<dyn Ruleset>, Solvers)>;

#[derive(Default)]
struct State {
    buffer: Vec<u8>,
    games: Games,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Room for a question of `length` bytes.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the attribute; the name is exported once")]
pub extern "C" fn buffer(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.buffer.clear();
        state.buffer.resize(length, 0);
        state.buffer.as_mut_ptr()
    })
}

/// Answers the question in the buffer; the length of the answer in bytes.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the attribute; the name is exported once")]
pub extern "C" fn answer() -> usize {
    STATE.with_borrow_mut(|state| {
        let question = String::from_utf8_lossy(&state.buffer).into_owned();
        state.buffer = asked(&mut state.games, &question).to_string().into_bytes();
        state.buffer.len()
    })
}

/// Where the answer is, until the next call of [`buffer`].
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the attribute; the name is exported once")]
pub extern "C" fn output() -> *const u8 {
    STATE.with_borrow(|state| state.buffer.as_ptr())
}

/// Takes the buffer as the book of Four In A Row; before the first question about it.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the attribute; the name is exported once")]
pub extern "C" fn book() -> bool {
    STATE.with_borrow_mut(|state| four_in_a_row::give(std::mem::take(&mut state.buffer)))
}

/// The answer to a question, `{"error": …}` when it is wrong.
pub fn ask(question: &str) -> Json {
    STATE.with_borrow_mut(|state| asked(&mut state.games, question))
}

fn asked(games: &mut Games, question: &str) -> Json {
    answered(games, question).unwrap_or_else(|error| json!({ "error": error.to_string() }))
}

fn answered(games: &mut Games, question: &str) -> Result<Json, Box<dyn Error>> {
    let fields: Vec<&str> = question.split(SEPARATOR).collect();
    let [verb, game, rules, pieces, request, rest @ ..] = &fields[..] else {
        return Err("expected a verb, a game, its rules, its pieces and a position".into());
    };
    let key = [game, rules, pieces].map(|text| &**text).join("\u{1f}");
    if !games.contains_key(&key) {
        let set = (!pieces.is_empty()).then_some(*pieces);
        let ruleset = registry::of_record(game, rules, set)?;
        games.insert(key.clone(), (ruleset, Solvers::new(SOLVER)));
    }
    let (ruleset, solvers) = &games[&key];
    match *verb {
        "play" => return played(&**ruleset, request, rest),
        "draw" => return drawn(&**ruleset, request, rest),
        "pieces" => return piece_set(&**ruleset),
        "analyse" => return analysed(&**ruleset, solvers, request, rest),
        _ => {}
    }
    let position = ruleset.read_request(request)?;
    if position.outcome().is_some() {
        return Err("the game is over there".into());
    }
    match (*verb, rest) {
        ("choices", []) => {
            let choices =
                drawing::choices(&Pieces::of_ruleset(&**ruleset)?, &*position).into_iter();
            Ok(choices.map(|(_, node)| tree(&node)).collect())
        }
        ("turns", []) => Ok(position.turns().map(|turn| turn.text).collect()),
        ("line", [nodes]) => {
            let nodes = nodes.parse().map_err(|_| "a number of nodes is missing")?;
            let solvable = position.solvable().ok_or("there is no solver")?;
            Ok(json!(solvable.line(solvers, &Limits::nodes(nodes))))
        }
        ("value" | "distance", [answer, nodes]) => {
            let turn = position.after(answer);
            let turn = turn.map_err(|_| format!("{answer} is not legal there"))?;
            let nodes = nodes.parse().map_err(|_| "a number of nodes is missing")?;
            let (side, lasts) = (position.to_move(), *verb == "distance");
            let found = turn.value(side, lasts, solvers, &Limits::nodes(nodes));
            let value = found.value.map(Value::name);
            Ok(json!({ "value": value, "plies": found.plies }))
        }
        _ => Err(format!("the verb {verb} is unknown, or has other arguments").into()),
    }
}

/// The start, and the positions after these turns; they end before one that is illegal.
fn positions(
    ruleset: &dyn Ruleset,
    start: &str,
    turns: &[&str],
) -> Result<Vec<Box<dyn Game>>, Box<dyn Error>> {
    let mut position = match start {
        "" => ruleset.start(),
        _ => ruleset
            .start_from(start)
            .or_else(|_| ruleset.read_request(start))?,
    };
    let mut positions = vec![position.clone()];
    for answer in turns {
        if position.play(answer, &mut String::new()).is_err() {
            break;
        }
        positions.push(position.clone());
    }
    Ok(positions)
}

fn played(ruleset: &dyn Ruleset, start: &str, turns: &[&str]) -> Result<Json, Box<dyn Error>> {
    let positions = positions(ruleset, start, turns)?;
    let symbols: Option<Vec<char>> = match Pieces::of_ruleset(ruleset)? {
        Pieces::Quarto(set) => Some(set.all().iter().map(|(symbol, ..)| *symbol).collect()),
        Pieces::FourInARow => None,
    };
    let states = positions.iter().map(|at| state(&**at, symbols.as_deref()));
    Ok(states.collect())
}

/// `symbols`: of all pieces, in the set's order.
fn state(at: &dyn Game, symbols: Option<&[char]>) -> Json {
    let request = at.request();
    let hand = symbols.and_then(|_| request.chars().next_back());
    let left = symbols.map(|all| {
        let left = all.iter().filter(|&&symbol| !request.contains(symbol));
        left.copied().collect::<Vec<char>>()
    });
    json!({
        "words": at.describe_last_turn(Mood::Told),
        "advice": at.describe_last_turn(Mood::Advised),
        "side": at.to_move().index(),
        "over": at.outcome().is_some(),
        "won": !at.winning_lines().is_empty(),
        "empty": at.board().chars().all(|cell| cell == '.'),
        "hand": hand.filter(|&symbol| symbol != '-'),
        "left": left,
        "request": request,
    })
}

/// The position after all turns; the first field is a class for the piece of the last one, and may end in ` plain`: no piece is
/// marked as of an opening.
fn drawn(ruleset: &dyn Ruleset, start: &str, rest: &[&str]) -> Result<Json, Box<dyn Error>> {
    let [class, turns @ ..] = rest else {
        return Err("a class is missing".into());
    };
    let positions = positions(ruleset, start, turns)?;
    let pieces = Pieces::of_ruleset(ruleset)?;
    let (Some(first), Some(last)) = (positions.first(), positions.last()) else {
        return Err("there is no position".into());
    };
    let mut shown = Shown::of(&pieces, &**last);
    let plain = class.strip_suffix(" plain");
    if plain.is_none() {
        shown = shown.begun_with(&Shown::of(&pieces, &**first));
    }
    let mut label = shown.board_in_words(&pieces);
    let mut lines: Vec<String> = last
        .winning_lines()
        .into_iter()
        .map(|(line, _)| line)
        .collect();
    lines.dedup();
    if matches!(pieces, Pieces::Quarto(_)) && !lines.is_empty() {
        label.extend([" Quarto: ", &lines.join(", "), "."]);
    }
    let (width, height) = drawing::board_size(&pieces);
    let board = drawing::board(&pieces, &shown.fresh(plain.unwrap_or(class)));
    let children: Json = board.children.iter().map(tree).collect();
    Ok(json!(["svg", {
        "class": board.class(),
        "viewBox": format!("0 0 {width} {height}"),
        "role": "img",
        "aria-label": label,
    }, children]))
}

/// The notes on each turn, for a page; the first field is the number of nodes for each value.
fn analysed(
    ruleset: &dyn Ruleset,
    solvers: &Solvers,
    start: &str,
    rest: &[&str],
) -> Result<Json, Box<dyn Error>> {
    let [nodes, turns @ ..] = rest else {
        return Err("a number of nodes is missing".into());
    };
    let nodes = nodes.parse().map_err(|_| "a number of nodes is missing")?;
    let positions = positions(ruleset, start, turns)?;
    if positions.len() != turns.len() + 1 {
        return Err("a turn is not legal".into());
    }
    let steps: Vec<Step> = positions
        .into_iter()
        .zip(turns)
        .filter_map(|(before, answer)| {
            let turn = before.after(answer).ok()?;
            Some(Step { before, turn })
        })
        .collect();
    let words = ruleset.info().words;
    let appraiser = Appraiser::new(solvers.clone(), words, Effort::Nodes(nodes), Arc::default());
    Ok(packed::packed(
        &appraiser.notes(&steps, |_| {}),
        turns.len(),
    ))
}

/// Null for a game without pieces.
fn piece_set(ruleset: &dyn Ruleset) -> Result<Json, Box<dyn Error>> {
    let Pieces::Quarto(set) = Pieces::of_ruleset(ruleset)? else {
        return Ok(Json::Null);
    };
    let of = |(symbol, words, node): (char, String, Node)| json!([symbol, words, tree(&node)]);
    let row = |(name, drawn_as, samples): drawing::Legend| {
        json!([
            name,
            drawn_as,
            samples.map(|(word, node)| json!([word, tree(&node)]))
        ])
    };
    Ok(json!({
        "builtin": set.is_builtin(),
        "all": set.all().into_iter().map(of).collect::<Json>(),
        "legend": drawing::legend(&set).into_iter().map(row).collect::<Json>(),
    }))
}

/// `[name, {attribute: value}, [child or text, …]]`
fn tree(node: &Node) -> Json {
    let attributes: serde_json::Map<String, Json> = node
        .attributes
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    let children: Json = if node.children.is_empty() && !node.text.is_empty() {
        json!([node.text])
    } else {
        node.children.iter().map(tree).collect()
    };
    json!([node.name, attributes, children])
}
