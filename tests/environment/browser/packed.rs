//! Pages of so many games that they are compressed.

use serde_json::{Value, json};

use super::driver::Result;
use super::{OpenReport, RIGHT, is_quarto, number_of, same};
use crate::common::games::{GAMES, many};

const COUNT: usize = 12_000;

/// A page of 12,000 games; every seventh has a blunder of its first player at its third turn.
fn page() -> Result<OpenReport> {
    let mut records = many(&GAMES, COUNT, 20);
    for record in records.iter_mut().step_by(7) {
        record["analysis"] = json!({"v": 1, "by": "a test", "turns": [
            {"turn": 3, "value": "loss", "best": "win", "mark": "blunder", "better": "6 A", "text": "column `6` lost it"}]});
    }
    OpenReport::at(&records, &[])
}

/// Waits until the games of the page are there.
pub(super) fn wait_for_games(report: &OpenReport) -> Result<()> {
    report
        .browser
        .wait("return performance.getEntriesByName('read').length === 1")
}

/// Sets a filter of the list, as by hand, and returns what is said of the number of games.
fn filter(report: &OpenReport, field: &str, value: &str) -> Result<String> {
    report.browser.run(&format!(
        "const field = document.querySelector('[data-keep=\"filter-{field}\"]');
         field.value = {};
         field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input', {{ bubbles: true }}))",
        json!(value)
    ))?;
    report.text_of("p.hint[role=status]")
}

pub(super) fn many_games_are_unpacked() -> Result<()> {
    let report = page()?;
    let data = "JSON.parse(document.getElementById('data').textContent)";
    let is_packed = format!(
        "return typeof {data}.games === 'string' && !{data}.entries.some(([kind]) => kind === 'g')"
    );
    same("packed", &report.browser.run(&is_packed)?, &json!(true))?;
    wait_for_games(&report)?;
    same("bots", &report.count("table.standings tbody tr")?, &20.0)?;
    // What needs the games has been drawn, too.
    let worst = report.texts("ul.highlights strong")?.concat();
    same("worst", &worst.contains("Biggest blunder"), &true)
        .map_err(|e| format!("{e}: {worst}"))?;
    same(
        "notices",
        &report.count("main > .overview > p.hint[role=status]")?,
        &0.0,
    )?;

    report.open("#games")?;
    wait_for_games(&report)?;
    let found = report.text_of("p.hint[role=status]")?;
    same("all", &found, &"12\u{202f}000 games".to_owned())?;
    let shown = |count: usize| {
        let thousands = count / 1000;
        match thousands {
            0 => format!("{count} of 12\u{202f}000 games"),
            _ => format!(
                "{thousands}\u{202f}{:03} of 12\u{202f}000 games",
                count % 1000
            ),
        }
    };
    let record = |number: usize| &GAMES[number % GAMES.len()];
    let count = |holds: &dyn Fn(&Value) -> bool| (0..COUNT).filter(|&n| holds(record(n))).count();
    let turns = |record: &Value| record["turns"].as_array().map_or(0, Vec::len);
    let of = |what: &str, found: String, expected: usize| {
        if expected == 0 || expected == COUNT {
            return Err(format!("{what}: {expected} games say nothing"));
        }
        same(what, &found, &shown(expected))
    };
    let length = turns(&GAMES[number_of(is_quarto)? - 1]);
    filter(&report, "least", &length.to_string())?;
    let most = filter(&report, "most", &length.to_string())?;
    of("length", most, count(&|record| turns(record) == length))?;
    filter(&report, "least", "")?;
    filter(&report, "most", "")?;
    let begins = |record: &Value, with: &str| {
        let squeezed = |text: &str| text.replace(' ', "").to_lowercase();
        let all = record["turns"].as_array().into_iter().flatten();
        let turns: String = all.filter_map(Value::as_str).collect();
        let start = record["start"].as_str().unwrap_or_default();
        let is_empty = start.chars().all(|cell| cell == '.');
        squeezed(&turns).starts_with(&squeezed(with))
            || !is_empty && squeezed(start).starts_with(&squeezed(with))
    };
    let quarto = &GAMES[number_of(is_quarto)? - 1];
    let opening = format!(
        "{} {}",
        quarto["turns"][0].as_str().unwrap_or_default(),
        quarto["turns"][1].as_str().unwrap_or_default()
    );
    let found = filter(&report, "opening", &opening)?;
    of("opening", found, count(&|record| begins(record, &opening)))?;
    let board = GAMES.iter().filter_map(|record| record["start"].as_str());
    let board = board.filter(|start| start.chars().any(|cell| cell != '.'));
    let board = board.max().ok_or("no opening")?;
    let found = filter(&report, "opening", board)?;
    of("board", found, count(&|record| begins(record, board)))?;
    filter(&report, "opening", "")?;
    let judged = |n: &usize| n.is_multiple_of(7) && turns(record(*n)) >= 3;
    let found = filter(&report, "blunder", "any")?;
    of("blunders", found, (0..COUNT).filter(judged).count())?;
    filter(&report, "blunder", "")?;
    let found = filter(&report, "text", "19 04")?;
    let named = |n: usize| {
        let (first, second) = (n % 20, (n % 20 + 1 + n / 20 % 19) % 20);
        let has = |bot: usize, word: &str| format!("{bot:02}").contains(word);
        let has = |word: &str| {
            has(first, word)
                || has(second, word)
                || (n + 1).to_string().contains(word)
                || format!("{}-{}", n / 100, n % 100).contains(word)
        };
        has("19") && has("04")
    };
    of("words", found, (0..COUNT).filter(|&n| named(n)).count())?;

    // A game opens, and is played.
    let number = GAMES.len() * 200 + number_of(is_quarto)?;
    report.open(&format!("#game={number}&turn=1"))?;
    wait_for_games(&report)?;
    report.browser.keys(&[RIGHT])?;
    report
        .browser
        .wait("return document.querySelector('.controls input').value === '2'")?;
    report.browser.is_quiet()
}

pub(super) fn games_that_cannot_be_unpacked_are_said() -> Result<()> {
    let report = page()?;
    let without = json!({"source": "delete window.DecompressionStream"});
    let old = report
        .browser
        .devtools("Page.addScriptToEvaluateOnNewDocument", &without)?;
    for (hash, selector) in [
        ("", ".overview > p.hint[role=status]"),
        ("#games", "main p.card"),
    ] {
        report.open(hash)?;
        wait_for_games(&report)?;
        let told = report.text_of(selector)?;
        if !told.contains("this browser cannot unpack them") {
            return Err(format!("{hash}: {told}"));
        }
    }
    report.open("")?;
    same("bots", &report.count("table.standings tbody tr")?, &20.0)?;
    report
        .browser
        .devtools("Page.removeScriptToEvaluateOnNewDocument", &old)?;

    // A file that was cut and mended by hand.
    let page = report.scratch().join("report.html");
    let text = std::fs::read_to_string(&page).map_err(|e| e.to_string())?;
    let (before, packed) = text.split_once("\"games\":\"").ok_or("no games")?;
    let broken = format!("{before}\"games\":\"AAAA{packed}");
    std::fs::write(&page, broken).map_err(|e| e.to_string())?;
    report.open("#game=3")?;
    wait_for_games(&report)?;
    let told = report.text_of("main p.card")?;
    if !told.contains("because its file is damaged") {
        return Err(told);
    }
    report.browser.is_quiet()
}
