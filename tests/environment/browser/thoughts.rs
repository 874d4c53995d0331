//! What bots said of their thinking, beside what is true.

use referee::Record;
use referee::analysis::{Analyst, Effort};
use serde_json::{Value, json};

use super::driver::Result;
use super::{OpenReport, is_quarto, same};
use crate::common::Referee;
use crate::common::games::{GAMES, write};

const HOSTILE: &str = "<img src=x onerror=alert(1)> ${1} \u{202e}";

fn score(game: usize, turn: usize) -> f64 {
    let tenths = u32::try_from((7 * turn + 3 * game) % 21).expect("a small number");
    (f64::from(tenths) - 10.0) / 10.0
}

/// Analysed games in which every turn says something.
fn games() -> Result<Vec<Value>> {
    let analyst = Analyst::new(
        Effort::Nodes(100_000),
        referee::solver::SolverOptions::default(),
        &std::sync::Arc::default(),
    );
    let mut games: Vec<Value> = GAMES
        .iter()
        .filter(|game| is_quarto(game) && game["result"].get("by").is_none())
        .take(12)
        .cloned()
        .collect();
    for (number, game) in games.iter_mut().enumerate() {
        let turns = game["turns"].as_array().map_or(0, Vec::len);
        let said = (1..=turns).map(|turn| {
            json!({"turn": turn, "depth": turn, "score": score(number, turn), "string": HOSTILE, "__proto__": 7})
        });
        game["info"] = said.collect();
        let record = Record::from_line(game.to_string().as_bytes())
            .map_err(|problem| problem.to_string())?;
        let analysis = analyst
            .analyse(&record, |_| {})
            .map_err(|error| error.to_string())?;
        game["analysis"] = analysis.to_json();
    }
    Ok(games)
}

/// By hand from the records: turns, and percentages of games won, of positions won, drawn and lost.
fn counted(games: &[Value], name: &str, from: f64, to: f64) -> Vec<String> {
    let (mut won, mut exact) = (Vec::new(), Vec::new());
    for (number, game) in games.iter().enumerate() {
        let first = usize::from(game["first"] == 1);
        for turn in 1..=game["turns"].as_array().map_or(0, Vec::len) {
            let bot = (first + turn - 1) % 2;
            let said = score(number, turn);
            if game["bots"][bot]["name"] != name || said < from || said >= to {
                continue;
            }
            won.push(game["result"]["winner"] == bot);
            let notes = game["analysis"]["turns"].as_array().expect("notes");
            let note = notes.iter().find(|note| note["turn"] == turn);
            let value = note.and_then(|note| note["value"].as_str());
            // The other word says that it is not known.
            let known = value.filter(|value| ["win", "draw", "loss"].contains(value));
            exact.extend(known.map(str::to_owned));
        }
    }
    let percent = |part: usize, all: usize| match all {
        0 => "–".to_owned(),
        all => format!("{}%", (200 * part + all) / (2 * all)),
    };
    let mut row = vec![won.len().to_string()];
    row.push(percent(won.iter().filter(|won| **won).count(), won.len()));
    for value in ["win", "draw", "loss"] {
        let those = exact.iter().filter(|one| *one == value).count();
        row.push(percent(those, exact.len()));
    }
    row
}

/// The table on a bot's page is what a count from the records says.
pub(super) fn its_calibration_is_a_count_of_the_records() -> Result<()> {
    let games = games()?;
    let report = OpenReport::at(&games, &[])?;
    for bot in 1..=2 {
        report.open(&format!("#bot={bot}"))?;
        let table = "table:has(caption)";
        let rows = format!(
            "return JSON.stringify([...document.querySelectorAll('{table}')].filter((table) => table.caption.textContent.startsWith('How often it was right')).flatMap((table) => [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))))"
        );
        let name = report.text_of("h1")?;
        let rows: Vec<Vec<String>> =
            serde_json::from_str(&report.browser.text(&rows)?).map_err(|e| e.to_string())?;
        let infinite = f64::INFINITY;
        let expected: Vec<Vec<String>> = [
            (0.8, infinite),
            (0.2, 0.8),
            (-0.2, 0.2),
            (-0.8, -0.2),
            (-infinite, -0.8),
        ]
        .iter()
        .map(|&(from, to)| counted(&games, &name, from, to))
        .collect();
        same(&name, &rows, &expected)?;
        // The column of the standings is the first row of that table.
        let run = Referee::new(["standings", "--format", "json"])
            .args([report.scratch.path().join("games.jsonl")])
            .run();
        let standings: Value = serde_json::from_str(&run.stdout).map_err(|e| e.to_string())?;
        let places = standings["standings"].as_array().ok_or("places")?;
        let place = places.iter().find(|place| place["name"] == name);
        let place = place.ok_or("no place")?;
        let won = place["sure_won"].as_f64().map_or_else(
            || "–".to_owned(),
            |share| format!("{}%", (100.0 * share).round()),
        );
        same(
            &name,
            &vec![place["sure"].to_string(), won],
            &expected[0][..2].to_vec(),
        )?;
    }
    report.open("#game=1&turn=3")?;
    let thought = report.text_of(".thought")?;
    let said = format!("depth 3, score {}", score(0, 3));
    if !thought.contains(&said) || !thought.contains("<img src=x") {
        return Err(thought);
    }
    same("charts", &(report.count(".thoughts")? > 1.0), &true)?;
    report.browser.is_quiet()
}

/// Neither the reader of a public page nor an opponent sees it.
pub(super) fn thoughts_are_their_authors_own() -> Result<()> {
    let games = games()?;
    let report = OpenReport::at(&games, &["--private"])?;
    report.open("#game=1&turn=3")?;
    same("private", &report.count(".thought, .thoughts")?, &0.0)?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = write(&scratch.path().join("games.jsonl"), &games);
    let pages = scratch.path().join("each");
    let run = Referee::new(["report", "--each"])
        .args([pages.as_os_str(), path.as_os_str()])
        .run();
    same("exit", &run.code, &Some(0)).map_err(|e| format!("{e}\n{run}"))?;
    let page = std::fs::read_dir(&pages).map_err(|e| e.to_string())?;
    let page = page.flatten().map(|file| file.path()).find(|path| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.contains("random"))
            && path.extension().is_some_and(|end| end == "html")
    });
    let report = OpenReport::page(&page.ok_or("no page of builtin:random")?, scratch)?;
    let mut shown = Vec::new();
    for turn in 1..=4 {
        report.open(&format!("#game=1&turn={turn}"))?;
        shown.push(report.count(".thought")? > 0.0);
    }
    // Of the two bots it sees its own.
    let first = games[0]["bots"][usize::from(games[0]["first"] == 1)]["name"] == "builtin:random";
    same("own turns", &shown, &vec![first, !first, first, !first])?;
    report.browser.is_quiet()
}
