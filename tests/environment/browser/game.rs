//! The page of a game: what is in its first screen, its score sheet, and a fault as a turn.

use serde_json::{Value, json};

use super::driver::Result;
use super::{OpenReport, is_quarto, number_of, same};
use crate::common::games::GAMES;

/// Fails when one of these elements ends below the screen.
fn are_in_view(report: &OpenReport, what: &str, selectors: &[&str]) -> Result<()> {
    let below = report.browser.run(&format!(
        "return {}.map(one => [one, document.querySelector(one).getBoundingClientRect().bottom - innerHeight]).filter(([, below]) => below > 0)",
        json!(selectors)
    ))?;
    same(what, &below, &json!([]))
}

pub(super) fn board_controls_and_evaluation_are_in_the_first_screen() -> Result<()> {
    let quarto = number_of(is_quarto)?;
    let four = number_of(|record| record["result"]["reason"] == "four-in-a-row")?;
    let mut records = GAMES.clone();
    records[quarto - 1]["analysis"] =
        json!({"by": "a test", "turns": [{"turn": 3, "value": "draw", "best": "draw"}]});
    let report = OpenReport::at(&records, &[])?;
    for (width, height, is_phone) in [(1366, 650, false), (390, 750, true)] {
        report.browser.size(width, height, is_phone)?;
        report.open(&format!("#game={quarto}&turn=3"))?;
        let parts = [".stage svg", ".controls", ".winners", ".worth-switch"];
        let what = format!("an analysed game at {width}×{height}");
        are_in_view(&report, &what, &parts)?;
        report.open(&format!("#game={four}&turn=3"))?;
        report.browser.click(".worth-switch")?;
        report
            .browser
            .wait("return document.querySelector('.worth-bar') !== null")?;
        let parts = [".stage svg", ".controls", ".worth-bar"];
        let what = format!("values at {width}×{height}");
        are_in_view(&report, &what, &parts)?;
    }
    report.browser.is_quiet()
}

pub(super) fn a_fault_is_a_turn() -> Result<()> {
    let number = number_of(|record| !record["result"]["by"].is_null())?;
    let record = &GAMES[number - 1];
    let turns = record["turns"].as_array().ok_or("no turns")?.len();
    let report = OpenReport::at(&GAMES, &[])?;
    report.open(&format!("#game={number}&turn={turns}"))?;
    same("before it", &report.count(".story .fault")?, &0.0)?;
    let reason = record["result"]["reason"].as_str().unwrap_or_default();
    same(
        "in the list",
        &report.text_of(".moves li:last-child .badge")?,
        &reason.to_owned(),
    )?;
    let most = report.text_of("[data-keep=slider]")?;
    same("the slider has no text", &most, &String::new())?;
    let last = report
        .browser
        .number("return Number(document.querySelector('[data-keep=slider]').max)")?;
    same(
        "on the slider",
        &last,
        &f64::from(u32::try_from(turns + 1).unwrap_or(0)),
    )?;
    same(
        "in the chart",
        &report.text_of(".turn-times .fault-mark")?,
        &"✗".to_owned(),
    )?;
    report.browser.click(".turn-times a:last-child")?;
    report
        .browser
        .wait("return document.querySelector('.story .fault pre') !== null")?;
    let fault = report.text_of(".story .fault")?;
    for part in ["Request", "Sent", "Reproduce", "printf"] {
        same(&format!("{part} in {fault}"), &fault.contains(part), &true)?;
    }
    let head = report.text_of(".versus")?;
    same(&head, &head.contains("forfeits"), &true)?;
    report.browser.is_quiet()
}

pub(super) fn a_game_is_a_score_sheet() -> Result<()> {
    let number = number_of(is_quarto)?;
    let record = &GAMES[number - 1];
    let report = OpenReport::at(&GAMES, &[])?;
    report.open(&format!("#game={number}"))?;
    let turns: Vec<&str> = record["turns"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut expected = vec!["Opening position".to_owned()];
    let mut hand = "";
    for turn in turns {
        let (cell, gift) = turn.split_once(' ').unwrap_or((turn, "-"));
        let placed = if cell == "-" {
            String::new()
        } else {
            format!("{hand}{cell}")
        };
        let given = if gift == "-" {
            String::new()
        } else {
            format!("→{gift}")
        };
        expected.push(placed + &given);
        hand = gift;
    }
    same("the sheet", &report.texts(".moves .what")?, &expected)?;
    // Two columns: the sides.
    let columns = "return new Set([...document.querySelectorAll('.moves li[class^=side]')].map(e => Math.round(e.getBoundingClientRect().left))).size";
    same("columns", &report.browser.number(columns)?, &2.0)?;
    let head = report.text_of(".versus h1")?;
    same(
        &head,
        &(head.contains("1–0") || head.contains("0–1")),
        &true,
    )?;
    // A filter that no game passes.
    report.open("#games&text=nothing+has+this")?;
    same(
        "no games",
        &report.text_of("main .card:last-child p")?,
        &"No games match. Clear filters".to_owned(),
    )?;
    report.browser.click("[data-keep=filter-none]")?;
    report
        .browser
        .wait("return document.querySelectorAll('.games tbody tr').length > 1")?;
    report.browser.is_quiet()
}

/// Without WebAssembly the games are listed, their turns too, and a sentence says why no board is shown; the keys lead there.
pub(super) fn a_browser_without_webassembly_lists_the_games() -> Result<()> {
    let why = "No board is shown, because this browser has no WebAssembly";
    let report = OpenReport::at(&GAMES, &[])?;
    let without = json!({"source": "delete globalThis.WebAssembly"});
    report
        .browser
        .devtools("Page.addScriptToEvaluateOnNewDocument", &without)?;
    report.open("#games")?;
    let listed = report.count(".games tbody tr")?;
    same("games are listed", &(listed > 10.0), &true)?;
    let number = number_of(is_quarto)?;
    report.open(&format!("#game={number}"))?;
    let said = report.text_of("main .card")?;
    same(&said, &said.contains(why), &true)?;
    let turns = GAMES[number - 1]["turns"].as_array().map_or(0, Vec::len);
    let listed = report.texts(".bare li")?.len();
    same("turns are listed", &listed, &turns)?;
    let puzzles = super::puzzles::page()?;
    puzzles
        .browser
        .devtools("Page.addScriptToEvaluateOnNewDocument", &without)?;
    puzzles.open("#puzzle=1")?;
    puzzles
        .browser
        .wait("return document.querySelector('main .card') !== null")?;
    let said = puzzles.text_of("main .card")?;
    same(&said, &said.contains(why), &true)?;
    report.browser.is_quiet()?;
    puzzles.browser.is_quiet()
}
