//! Exact values on the page: those of the program, and shown as they are proven.

use std::sync::Arc;

use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use referee::analysis::{Analyst, Effort};
use referee::game::quarto::Rules;
use referee::game::registry::{self, Choices};
use referee::game::{Outcome, Ruleset, Side, Turn};
use referee::record::Record;
use referee::solver::{Limits, SolverOptions, Solvers, Value as Worth};
use serde_json::{Value, json};

use super::driver::Result;
use super::{OpenReport, is_quarto, number_of, same};
use crate::common::games::GAMES;
use crate::common::{RECORDS, Referee, records};

/// Scripts: the page's module, asked as its worker asks it.
const MODULE: &str = r#"
const bytes = (id) => Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
async function start() {
  const stream = new Blob([bytes("games")]).stream().pipeThrough(new DecompressionStream("deflate"));
  const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  const wasm = (await WebAssembly.instantiate(module)).exports;
  const give = (data) => { const at = wasm.buffer(data.length); new Uint8Array(wasm.memory.buffer, at, data.length).set(data); };
  if (document.getElementById("book")) { give(bytes("book")); if (!wasm.book()) throw new Error("no book"); }
  return (...fields) => {
    give(new TextEncoder().encode(fields.join("\u001f")));
    const length = wasm.answer();
    return JSON.parse(new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, wasm.output(), length)));
  };
}
window.ask ??= start();
"#;

/// Positions of random games and a turn in each, with at most so many free cells.
fn questions(ruleset: &dyn Ruleset, count: usize, most_free: usize, seed: u64) -> Vec<[String; 2]> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut found = Vec::new();
    while found.len() < count {
        let mut session = ruleset.start();
        while session.outcome().is_none() {
            let turns: Vec<Turn> = session.turns().collect();
            let Some(turn) = turns.choose(&mut rng) else {
                break;
            };
            if session.free_cells() <= most_free && rng.random_bool(0.4) {
                found.push([session.request(), turn.text.clone()]);
            }
            session = turn.after.clone();
        }
    }
    found.truncate(count);
    found
}

fn compare_values(
    report: &OpenReport,
    ruleset: &dyn Ruleset,
    questions: &[[String; 2]],
) -> Result<()> {
    let solvers = Solvers::new(SolverOptions {
        tt_bytes: 64 << 20,
        threads: 1,
    });
    let kind = json!([ruleset.name(), ruleset.rules(), ""]);
    for questions in questions.chunks(100) {
        let found = report.browser.run(&format!(
            "{MODULE}return window.ask.then((ask) => {}.map(([request, answer]) => ask('distance', ...{kind}, request, answer, '1000000000')))",
            json!(questions)
        ))?;
        for (found, [request, answer]) in found.as_array().into_iter().flatten().zip(questions) {
            let position = ruleset
                .read_request(request)
                .map_err(|error| error.to_string())?;
            let turn = position.after(answer).map_err(|wrong| wrong.to_string())?;
            let expected = turn.value(position.to_move(), true, &solvers, &Limits::NONE);
            let value = expected.value.map(Worth::name);
            let what = format!(
                "{} {}: {request}, {answer}",
                ruleset.name(),
                ruleset.rules()
            );
            same(
                &what,
                found,
                &json!({ "value": value, "plies": expected.plies }),
            )?;
        }
    }
    Ok(())
}

pub(super) fn the_module_has_the_values_of_the_program() -> Result<()> {
    let report = OpenReport::at(&GAMES, &[])?;
    for rules in [Rules::Standard, Rules::Squares] {
        let choices = Choices {
            rules,
            ..Choices::default()
        };
        let game = registry::find("quarto")
            .ok_or("no quarto")?
            .ruleset(choices);
        compare_values(&report, &*game, &questions(&*game, 1_400, 10, 1))?;
        // From the book.
        compare_values(&report, &*game, &questions(&*game, 100, 16, 2))?;
    }
    let four = registry::find("four-in-a-row").ok_or("no game")?;
    let four = four.ruleset(Choices::default());
    compare_values(&report, &*four, &questions(&*four, 1_000, 30, 3))?;
    report.browser.is_quiet()
}

pub(super) fn what_each_turn_is_worth_is_shown() -> Result<()> {
    let report = OpenReport::at(&GAMES, &[])?;
    let number = number_of(|record| is_quarto(record) && record["rules"] == "standard")?;
    let record = &GAMES[number - 1];
    let last = record["turns"].as_array().ok_or("no turns")?.len();
    report.open(&format!("#game={number}&turn={}", last - 1))?;
    report.browser.click(".worth-switch")?;
    report.browser.wait(
        "return document.querySelector('.worth-bar')?.textContent.endsWith('with best play.')",
    )?;
    // The last turn of the game won.
    let first = record["turns"][last - 1].as_str().unwrap_or_default();
    let cell = first.split(' ').next().unwrap_or_default();
    let shown = format!("return document.querySelector('[data-cell=\"{cell}\"]').dataset.value");
    same(
        "the winning cell",
        &report.browser.text(&shown)?,
        &"win".to_owned(),
    )?;
    let free = report.count("[data-cell]")?;
    let known = report.count("[data-cell]:not([data-value=unknown])")?;
    same("cells with a value", &known, &free)?;
    // A cell shows what its gifts are worth; by keys, too.
    report.open(&format!("#game={number}&turn={}", last - 3))?;
    report.browser.click(".worth-switch")?;
    report.browser.wait(
        "return document.querySelector('.worth-bar')?.textContent.endsWith('with best play.')",
    )?;
    report.browser.run(
        "const cell = document.querySelector('[data-cell]'); cell.focus(); cell.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))",
    )?;
    let gifts: Value = report.browser.run(
        "return [...document.querySelectorAll('[data-gift]')].map((gift) => gift.dataset.value)",
    )?;
    let gifts = gifts.as_array().ok_or("no gifts")?;
    let is_known = |value: &Value| ["win", "draw", "loss"].iter().any(|known| value == known);
    same("gifts with a value", &gifts.iter().all(is_known), &true)?;
    same("there are gifts", &gifts.is_empty(), &false)?;
    // A turn that was not made: the branch has an address, and can be left.
    report.browser.click("[data-gift]")?;
    let line = "return new URLSearchParams(location.hash.slice(1)).get('line') ?? 'none'";
    let branch = report.browser.text(line)?;
    let address = report.browser.text("return location.hash")?;
    report.open(&address)?;
    same("the branch", &report.browser.text(line)?, &branch)?;
    same("one turn", &report.count(".branch")?, &1.0)?;
    report.browser.wait(
        "return document.querySelector('.worth-bar')?.textContent.endsWith('with best play.')",
    )?;
    // Best play to the end, by both.
    report
        .browser
        .run("const who = document.querySelector('[data-keep=worth-answers]'); who.value = 'perfect'; who.dispatchEvent(new Event('change'))")?;
    report.browser.wait(
        "document.querySelector('[data-keep=worth-best]')?.click(); return document.querySelector('.worth-bar') === null",
    )?;
    report.browser.click("[data-keep=worth-leave]")?;
    same("left", &report.browser.text(line)?, &"none".to_owned())?;
    for wrong in ["99A", "1-", "x", "~", "1A~1A"] {
        report.open(&format!("#game={number}&turn=2&line={wrong}"))?;
    }
    report.browser.is_quiet()
}

/// The page of a board, at this position.
fn board_page(arguments: &[&str]) -> Result<OpenReport> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let page = scratch.path().join("board.html");
    let run = Referee::new(["board", "--out"])
        .args([&page])
        .args(arguments.iter().copied())
        .run();
    if run.code != Some(0) {
        return Err(run.to_string());
    }
    OpenReport::page(&page, scratch)
}

pub(super) fn a_board_is_played_on() -> Result<()> {
    // A win is hidden, found, and missed.
    let report = board_page(&["KH.FN.CMDA.JP.O. B"])?;
    same("its size", &(report.size < 700_000), &true)?;
    let solved =
        "return document.querySelector('.worth-bar')?.textContent.endsWith('with best play.')";
    report.browser.wait(solved)?;
    same(
        "the win",
        &report.text_of("[data-cell='16'] title")?,
        &"cell 16: wins now".to_owned(),
    )?;
    report
        .browser
        .run("document.querySelector('[data-keep=worth-practice]').click()")?;
    same(
        "nothing is told",
        &report.count("[data-value]:not([data-value=unknown])")?,
        &0.0,
    )?;
    report.browser.run("document.querySelector(\"[data-cell='6']\").dispatchEvent(new MouseEvent('click', { bubbles: true })); document.querySelector('[data-gift]').click()")?;
    let remark = report.text_of(".worth-remark")?;
    same(&remark, &remark.contains("is wrong: it is a "), &true)?;
    same(&remark, &remark.contains("16 - is a wins now"), &false)?;
    report.browser.is_quiet()?;
    for (arguments, opponent) in [
        (&[][..], "perfect"),
        (&["--rules", "squares"], "greedy"),
        (&["--game", "four-in-a-row"], "slips"),
    ] {
        let report = board_page(arguments)?;
        report.browser.wait(solved)?;
        report.browser.run(&format!("const who = document.querySelector('[data-keep=worth-answers]'); who.value = '{opponent}'; who.dispatchEvent(new Event('change'))"))?;
        report.browser.wait("document.querySelector('[data-keep=worth-best]')?.click(); return document.querySelector('.worth-bar') === null")?;
        let turns = report.text_of(".branch strong")?.split(',').count();
        same("it was played", &(turns >= 4), &true)?;
        report.browser.is_quiet()?;
    }
    Ok(())
}

/// One cell is reached with Tab, the others with the arrow keys; nothing is wider than a phone.
pub(super) fn cells_of_a_board_are_reached_by_arrow_keys() -> Result<()> {
    const ARROWS: [char; 4] = ['\u{e012}', '\u{e013}', '\u{e014}', '\u{e015}'];
    let [left, up, right, down] = ARROWS;
    let report = board_page(&["A..PC...J..EF... G"])?;
    report.browser.size(390, 844, true)?;
    let width = "return document.documentElement.scrollWidth";
    same("width", &report.browser.number(width)?, &390.0)?;
    let stops = "return document.querySelectorAll('.worth-cell[tabindex=\"0\"]').length";
    report
        .browser
        .wait(&format!("return (() => {{ {stops} }})() === 1"))?;
    report
        .browser
        .run("document.querySelector('[data-cell=\"2\"]').focus()")?;
    // Over the piece on cell 4 there is no cell, and from cell 11 to the left there is 10.
    for (key, cell) in [
        (right, "3"),
        (right, "3"),
        (down, "7"),
        (down, "11"),
        (left, "10"),
        (left, "10"),
        (up, "6"),
    ] {
        report.browser.keys(&[key])?;
        let at = "return document.activeElement.dataset.cell ?? 'lost'";
        same("the cell", &report.browser.text(at)?, &cell.to_owned())?;
        same("stops", &report.browser.number(stops)?, &1.0)?;
    }
    report.browser.is_quiet()
}

/// Random games of both, by their rules, as records.
fn random_games(count: usize) -> Result<Vec<Value>> {
    let kinds = [
        ("quarto", Rules::Standard),
        ("quarto", Rules::Squares),
        ("four-in-a-row", Rules::Standard),
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut records = Vec::new();
    for (number, (name, rules)) in kinds.into_iter().cycle().take(count).enumerate() {
        let choices = Choices {
            rules,
            ..Choices::default()
        };
        let ruleset = registry::find(name).ok_or("no game")?.ruleset(choices);
        let mut game = ruleset.start();
        let mut record = GAMES
            .iter()
            .find(|record| record["game"] == name && record["pieces"].is_null())
            .cloned()
            .ok_or("no such game")?;
        record["start"] = game.as_start().into();
        let mut turns = Vec::new();
        while game.outcome().is_none() {
            let all: Vec<Turn> = game.turns().collect();
            let Some(turn) = all.choose(&mut rng) else {
                break;
            };
            turns.push(turn.text.clone());
            game = turn.after.clone();
        }
        record["rules"] = ruleset.rules().into();
        record["id"] = format!("random-{number}").into();
        record["times_ms"] = json!(vec![1.0; turns.len()]);
        record["turns"] = json!(turns);
        record["result"] = match game.outcome() {
            Some(Outcome::Win(side)) => {
                let first = record["first"].as_u64() == Some(0);
                let winner = usize::from((side == Side::First) != first);
                json!({"winner": winner, "reason": name, "lines": game.winning_lines()})
            }
            _ => json!({"winner": null, "reason": "draw"}),
        };
        records.push(record);
    }
    Ok(records)
}

/// All games of a page are analysed in the browser, as the program does with the same effort: its accuracy, phases, blunders
/// and missed wins, and what is said of each turn.
pub(super) fn games_are_analysed_in_the_browser() -> Result<()> {
    let records = random_games(200)?;
    let report = OpenReport::at(&records, &[])?;
    report.open("#overview")?;
    same("no accuracy", &report.count("#card-accuracy")?, &0.0)?;
    report.browser.click("[data-keep=analyse-all]")?;
    let options = SolverOptions {
        tt_bytes: 32 << 20,
        threads: 1,
    };
    let analyst = Analyst::new(Effort::Nodes(4_000_000), options, &Arc::default());
    let mut analysed = records.clone();
    for record in &mut analysed {
        let parsed = Record::from_line(record.to_string().as_bytes())
            .map_err(|problem| problem.to_string())?;
        record["analysis"] = analyst
            .analyse(&parsed, |_| {})
            .map_err(|error| error.to_string())?
            .to_json();
    }
    let expected = OpenReport::at(&analysed, &[])?;
    for _ in 0..60 {
        let is_done = "return document.querySelector('#card-accuracy') !== null";
        if report.browser.wait(is_done).is_ok() {
            break;
        }
    }
    let accuracy = "[aria-labelledby=card-accuracy] table :is(td, th)";
    let table = expected.texts(accuracy)?;
    same("bots", &(table.len() > 8), &true)?;
    same("accuracy", &report.texts(accuracy)?, &table)?;
    // Every tenth game, turn by turn.
    let turns = "return [...document.querySelectorAll('.moves a')].map(e => e.ariaLabel)";
    for number in (1..=records.len()).step_by(10) {
        let address = format!("location.hash = '#game={number}'");
        for page in [&report, &expected] {
            page.browser.run(&address)?;
            page.browser.wait(&format!(
                "return document.querySelector('h1').textContent.startsWith('Game {number}:')"
            ))?;
        }
        let what = format!("turns of game {number}");
        let told = expected.browser.run(turns)?;
        same(&what, &report.browser.run(turns)?, &told)?;
        let row = "[aria-labelledby=card-accuracy] td";
        same(&what, &report.texts(row)?, &expected.texts(row)?)?;
    }
    report.browser.is_quiet()
}

/// Scripts: shows positions `[game, turn]` of a page with the values on, and returns how long each took until all are there.
/// `window.long` has the longest task of the page's own thread.
const SHOWN_AFTER: &str = r"
window.long ??= 0;
window.watching ??= new PerformanceObserver(list => { for (const task of list.getEntries()) window.long = Math.max(window.long, task.duration); });
window.watching.observe({ type: 'longtask' });
const shown = (game, turn) => new Promise(resolve => {
  const before = document.querySelector('.worth-bar');
  const story = document.querySelector('.story .turn');
  const began = performance.now();
  location.hash = `#game=${game}&turn=${turn}`;
  const look = () => {
    const bar = document.querySelector('.worth-bar');
    const isEnd = document.querySelector('.final') !== null && document.querySelector('.story .turn') !== story;
    if (isEnd) resolve(null);
    else if (bar !== null && bar !== before && bar.textContent.endsWith('with best play.')) resolve(performance.now() - began);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
});
// Chromium ignores addresses from the 201st in ten seconds on.
const pause = () => new Promise(resolve => setTimeout(resolve, 60));
const all = async (places) => { const times = []; for (const [game, turn] of places) { times.push(await shown(game, turn)); await pause(); } return times; };
";

/// The values of all turns of positions of real games are on the screen soon, and the page can be used meanwhile. 2,000 positions
/// were measured with `REFEREE_POSITIONS=2000`.
pub(super) fn values_are_there_soon() -> Result<()> {
    let wanted = std::env::var("REFEREE_POSITIONS").map_or(Ok(100), |text| text.parse());
    let wanted: usize = wanted.map_err(|_| "REFEREE_POSITIONS is not a number")?;
    let games = (wanted / 12 + 2).to_string();
    let run = Referee::new(["-n", &games, "--seed", "3"])
        .args(["builtin:greedy", "builtin:search?depth=2"])
        .recorded()
        .run();
    let file = run.scratch().join(RECORDS);
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{error}: {run}"))?;
    let records = records(&text);
    let report = OpenReport::at(&records, &[])?;
    report.open("#game=1&turn=1")?;
    report.browser.click(".worth-switch")?;
    let mut places = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let turns = record["turns"].as_array().map_or(0, Vec::len);
        places.extend((0..turns).map(|turn| [index + 1, turn]));
    }
    places.truncate(wanted);
    let mut times: Vec<f64> = Vec::new();
    for chunk in places.chunks(4) {
        let script = format!("{SHOWN_AFTER}return all({})", json!(chunk));
        let found = report.browser.run(&script)?;
        times.extend(
            found
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_f64),
        );
    }
    times.sort_by(f64::total_cmp);
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    let longest = report.browser.number("return window.long")?;
    println!(
        "{} positions: median {median:.0} ms, worst {worst:.0} ms; longest task {longest:.0} ms",
        times.len()
    );
    // Other tests run on the same machine.
    same("soon", &(median < 1000.0), &true)?;
    report.browser.is_quiet()
}
