#![doc = include_str!("../README.md")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use referee_games::game::{Game, registry};
use referee_games::solver::{Limits, Options, Solvers, Value, four_in_a_row};
use serde_json::{Value as Json, json};

const SEPARATOR: char = '\u{1f}';

/// A page has one thread, and shares the machine's memory with others.
const SOLVER: Options = Options {
    tt_bytes: 32 << 20,
    threads: 1,
};

type Games = HashMap<String, (Arc<dyn Game>, Solvers)>;

#[derive(Default)]
struct State {
    buffer: Vec<u8>,
    /// By game, rules and pieces.
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
    answered(games, question).unwrap_or_else(|error| json!({ "error": error }))
}

fn answered(games: &mut Games, question: &str) -> Result<Json, String> {
    let fields: Vec<&str> = question.split(SEPARATOR).collect();
    let [verb, game, rules, pieces, request, rest @ ..] = &fields[..] else {
        return Err("expected a verb, a game, its rules, its pieces and a position".to_owned());
    };
    let key = [game, rules, pieces].map(|text| &**text).join("\u{1f}");
    if !games.contains_key(&key) {
        let set = (!pieces.is_empty()).then_some(*pieces);
        let game = registry::of_record(game, rules, set)?;
        games.insert(key.clone(), (game, Solvers::new(SOLVER)));
    }
    let (game, solvers) = &games[&key];
    let position = game.read_request(request)?;
    if position.outcome().is_some() {
        return Err("the game is over there".to_owned());
    }
    match (*verb, rest) {
        ("turns", []) => Ok(position.turns().map(|turn| turn.text).collect()),
        ("value" | "distance", [answer, nodes]) => {
            let turn = position.after(answer);
            let turn = turn.map_err(|_| format!("{answer} is not legal there"))?;
            let nodes = nodes.parse().map_err(|_| "a number of nodes is missing")?;
            let (side, lasts) = (position.to_move(), *verb == "distance");
            let found = turn.value(side, lasts, solvers, &Limits::nodes(nodes));
            let value = found.value.map(Value::name);
            Ok(json!({ "value": value, "plies": found.plies }))
        }
        _ => Err(format!(
            "the verb {verb} is unknown, or has other arguments"
        )),
    }
}
