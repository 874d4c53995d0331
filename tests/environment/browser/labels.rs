//! What the page says answers a reader, and is there for every kind of tournament.

use serde_json::{Value, json};

use super::driver::Result;
use super::{END, OpenReport, is_quarto, number_of, same};
use crate::common::Referee;
use crate::common::games::GAMES;

/// Words that describe how a page is made, or that only its authors understand.
const UNCLEAR: [&str; 13] = [
    "`",
    "Over",
    "goes on",
    "sits out",
    "turns a game",
    "Columns grow",
    "the factor",
    "What was made of",
    "By best play",
    "Better: 6 -",
    "still drew",
    "100.0%.",
    "do not tell: ",
];

/// The words of the view that is open, with what is said to those who do not see it.
const SAID: &str = "return document.querySelector('main').innerText + [...document.querySelectorAll('main [aria-label], main [title]')].map(e => ` ${e.ariaLabel ?? ''} ${e.title ?? ''}`).join('')";

/// The view at this address has none of these words, and all that are expected.
pub(super) fn is_clear(report: &OpenReport, hash: &str, expected: &[&str]) -> Result<()> {
    report.open(hash)?;
    let said = report.browser.text(SAID)?;
    if let Some(unclear) = UNCLEAR.iter().find(|&&unclear| said.contains(unclear)) {
        return Err(format!("{hash}: {unclear:?} in {said}"));
    }
    let missing = expected.iter().find(|&&part| !said.contains(part));
    missing.map_or(Ok(()), |part| Err(format!("{hash}: no {part:?} in {said}")))
}

/// A game whose third turn is a mistake and whose last one wins, with what an analysis says of them.
fn judged() -> Result<(Vec<Value>, usize)> {
    let mut records = GAMES.clone();
    let number = number_of(is_quarto)?;
    let last = records[number - 1]["turns"].as_array().map_or(0, Vec::len);
    records[number - 1]["analysis"] = json!({"by": "a test", "turns": [
        {"turn": 2, "value": "draw", "best": "draw", "mark": "only"},
        {"turn": 3, "value": "draw", "best": "win", "better": "7 -", "mark": "blunder", "missed_win": true,
         "text": "`6 A` turned a win into a draw. `7 -` would have won."},
        {"turn": last, "value": "win", "best": "win"},
    ]});
    Ok((records, number))
}

/// Every view in words that a reader asks for; each chart has a sentence that says what it shows.
pub(super) fn labels_answer_readers() -> Result<()> {
    let (records, number) = judged()?;
    let report = OpenReport::at(&records, &["--title", "Spring cup"])?;
    let overview = [
        "Median: ",
        "LOS vs\u{a0}next",
        "Elo (95% CI)",
        "the time within which 95% of its moves were made",
        "A missed win could have been won in one move",
    ];
    is_clear(&report, "", &overview)?;
    let without = "return [...document.querySelectorAll('main section.card')].filter(e => e.querySelector('.settling, .strip, .columns, .curves, .bars') && !e.querySelector('.hint')).map(e => e.querySelector('h2').textContent)";
    same(
        "charts without a sentence",
        &report.browser.run(without)?,
        &json!([]),
    )?;
    is_clear(&report, "#bot=1", &["95% within"])?;
    is_clear(&report, "#games", &["moved second"])?;
    let turn = ["Cell 7 would have won", "! a mistake", "✓ only move, found"];
    is_clear(&report, &format!("#game={number}&turn=3"), &turn)?;
    same("the key", &report.count(".strip-key > span")?, &6.0)?;
    // The turn that won says who has won, and nothing of best play.
    report.browser.keys(&[END])?;
    same("at the end", &report.count(".judged")?, &0.0)?;
    same("the result", &report.count(".final.win")?, &1.0)?;
    report.browser.is_quiet()?;

    // However clear the result, nothing is quite sure.
    let mut won = Vec::new();
    for place in 0..1200 {
        let mut record = GAMES[number - 1].clone();
        record["id"] = format!("p{}{}", place / 2, ["a", "b"][place % 2]).into();
        won.push(record);
    }
    let won = OpenReport::at(&won, &[])?;
    is_clear(
        &won,
        "",
        &["> 99.9% likely to be stronger", "1\u{202f}200 : 0"],
    )?;
    won.browser.is_quiet()
}

/// The page that a tournament writes with `--analyse` has the analysis: of each bot, and at each turn.
pub(super) fn an_analysed_tournament_has_its_analysis_on_its_page() -> Result<()> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let page = scratch.path().join("cup.html");
    let run = Referee::new([
        "tournament",
        "--seed",
        "3",
        "--sandbox",
        "none",
        "--no-check",
    ])
    .args(["--pairs", "1", "--opening-plies", "8", "--analyse"])
    .args(["builtin:random", "builtin:greedy", "--report"])
    .args([&page])
    .args(["--out"])
    .args([scratch.path().join("cup")])
    .run();
    same("exit", &run.code, &Some(0))?;
    let report = OpenReport::page(&page, scratch)?;
    let heads = report.texts("[aria-labelledby=card-accuracy] thead th")?;
    for head in ["opening", "blunders"] {
        same(head, &heads.iter().any(|one| one == head), &true)?;
    }
    let accurate = report.texts("[aria-labelledby=card-accuracy] tbody td:nth-child(2)")?;
    same("bots", &accurate.len(), &2)?;
    if !accurate.iter().all(|share| share.ends_with('%')) {
        return Err(format!("{accurate:?}"));
    }
    report.open("#game=1&turn=1")?;
    same("who wins", &report.count(".winners")?, &1.0)?;
    same("in this game", &report.count("#card-accuracy")?, &1.0)?;
    report.browser.is_quiet()
}
