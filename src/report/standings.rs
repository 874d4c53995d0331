//! Standings as a table, CSV, JSON or Markdown.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::accuracy::{percent, tally_json};
use super::terminal::{Palette, aligned};
use crate::text::{counted, escape_controls, format_milliseconds};
use crate::tournament::standings::{Place, Standings};

/// Column headers of a table and of Markdown.
const HEADS: [&str; 12] = [
    "#", "bot", "games", "won", "drawn", "lost", "points", "score", "Elo", "±95%", "LOS", "median",
];

/// Further column headers when games were analysed.
const ANALYSIS_HEADS: [&str; 4] = ["proven", "accuracy", "blunders", "missed wins"];

/// The last column's header: it has the longest texts.
const FORFEITS: &str = "forfeits";

/// Headers of the left-aligned columns.
const LEFT: [&str; 2] = ["bot", FORFEITS];

/// Points without trailing zeros: `7`, `7.5`.
fn points(points: f64) -> String {
    format!("{points}")
}

fn forfeits(place: &Place) -> String {
    let listed: Vec<String> = place
        .forfeits
        .iter()
        .map(|(reason, count)| format!("{} {count}", escape_controls(reason)))
        .collect();
    listed.join(", ")
}

/// The column headers and the indices of the left-aligned columns.
fn heads(standings: &Standings) -> (Vec<String>, Vec<usize>) {
    let analysed = standings
        .places
        .iter()
        .any(|place| place.analysis.is_some());
    let mut heads = HEADS.to_vec();
    if analysed {
        heads.extend(ANALYSIS_HEADS);
    }
    heads.push(FORFEITS);
    let is_left = |head: &&str| LEFT.contains(head);
    let left = (0..heads.len()).filter(|&i| is_left(&heads[i])).collect();
    (heads.into_iter().map(str::to_owned).collect(), left)
}

fn row(rank: usize, place: &Place) -> Vec<String> {
    let mut row = vec![
        (rank + 1).to_string(),
        escape_controls(&place.name),
        place.games.to_string(),
        place.wins.to_string(),
        place.draws.to_string(),
        place.losses.to_string(),
        points(place.points),
        percent(Some(place.score)),
        format!("{:.0}", place.elo),
        place.error.map_or_else(String::new, |e| format!("{e:.0}")),
        percent(place.superiority),
        place
            .median_ms
            .map_or_else(String::new, format_milliseconds),
    ];
    if let Some(tally) = &place.analysis {
        row.extend([
            tally.proven.to_string(),
            percent(tally.accuracy()),
            tally.blunders().to_string(),
            tally.missed_wins.to_string(),
        ]);
    }
    row.push(forfeits(place));
    row
}

fn rows(standings: &Standings) -> Vec<Vec<String>> {
    let places = standings.places.iter().enumerate();
    places.map(|(rank, place)| row(rank, place)).collect()
}

/// Points of each bot against each other one; `-` when they have not met.
fn cross(standings: &Standings) -> Vec<Vec<String>> {
    let cell = |made: &Option<f64>| made.map_or_else(|| "-".to_owned(), points);
    standings
        .places
        .iter()
        .map(|place| place.against.iter().map(cell).collect())
        .collect()
}

/// For a terminal: the standings and, below them, the crosstable.
pub fn table(standings: &Standings, palette: &Palette) -> String {
    let rows = rows(standings);
    let (heads, left) = heads(standings);
    let mut all = vec![heads];
    all.extend(rows.iter().cloned());
    let mut out = aligned(&all, palette, &left);
    let mut grid = Vec::new();
    let mut heads = vec!["#".to_owned(), "bot".to_owned()];
    heads.extend((1..=rows.len()).map(|rank| rank.to_string()));
    grid.push(heads);
    for (row, against) in rows.iter().zip(cross(standings)) {
        let mut line = vec![row[0].clone(), row[1].clone()];
        line.extend(against);
        grid.push(line);
    }
    let _ = writeln!(out, "\nPoints of each against each:");
    out.push_str(&aligned(&grid, palette, &[1]));
    let _ = writeln!(out, "\n{}", summary(standings));
    out
}

fn summary(standings: &Standings) -> String {
    let games = counted(standings.games, "game", "games");
    let advantage = standings.advantage.map_or_else(String::new, |elo| {
        format!("; moving first is worth {elo:.0} Elo")
    });
    format!("{games}{advantage}")
}

/// The standings as a Markdown table.
pub fn markdown(standings: &Standings) -> String {
    let cell = |text: &str| text.replace('\\', "\\\\").replace('|', "\\|");
    let mut out = String::new();
    let mut line = |cells: Vec<String>| {
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    };
    let (heads, left) = heads(standings);
    let rule = |i: usize| if left.contains(&i) { "---" } else { "---:" }.to_owned();
    let rules = (0..heads.len()).map(rule).collect();
    line(heads);
    line(rules);
    for row in rows(standings) {
        line(row.iter().map(|text| cell(text)).collect());
    }
    let _ = writeln!(out, "\n{}", summary(standings));
    out
}

/// The times of each bot in milliseconds, as CSV.
pub fn times_csv(standings: &Standings) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["name", "median_ms", "worst_ms"])?;
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.4}"));
    for place in &standings.places {
        writer.write_record([
            escape_formula(&place.name),
            number(place.median_ms),
            number(place.worst_ms),
        ])?;
    }
    written(writer)
}

/// All figures as JSON, unrounded; those of times only when there are any.
pub fn as_json(standings: &Standings) -> Value {
    let places: Vec<Value> = standings
        .places
        .iter()
        .enumerate()
        .map(|(rank, place)| {
            let mut row = json!({
                "rank": rank + 1,
                "name": place.name,
                "games": place.games,
                "wins": place.wins,
                "draws": place.draws,
                "losses": place.losses,
                "points": place.points,
                "score": place.score,
                "elo": place.elo,
                "error": place.error,
                "superiority": place.superiority,
                "direct": place.direct,
                "sonneborn_berger": place.sonneborn_berger,
                "forfeits": place.forfeits,
                "against": place.against,
            });
            if let (Some(median), Some(worst)) = (place.median_ms, place.worst_ms) {
                row["median_ms"] = json!(median);
                row["worst_ms"] = json!(worst);
            }
            if let Some(tally) = &place.analysis {
                row["analysis"] = tally_json(tally);
            }
            row
        })
        .collect();
    json!({
        "games": standings.games,
        "advantage": standings.advantage,
        "standings": places,
    })
}

/// Escapes text that a spreadsheet would interpret as a formula.
fn escape_formula(text: &str) -> String {
    let text = escape_controls(text);
    if text.starts_with(['=', '+', '-', '@']) {
        format!("'{text}")
    } else {
        text
    }
}

/// The standings as CSV; with columns of times only when there are any.
pub fn as_csv(standings: &Standings) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let timed = standings.places.iter().any(|p| p.worst_ms.is_some());
    let columns = if timed { 16 } else { 14 };
    let mut heads = vec![
        "rank",
        "name",
        "games",
        "wins",
        "draws",
        "losses",
        "points",
        "score",
        "elo",
        "error",
        "superiority",
        "direct",
        "sonneborn_berger",
        "forfeits",
        "median_ms",
        "worst_ms",
    ];
    heads.truncate(columns);
    if standings
        .places
        .iter()
        .any(|place| place.analysis.is_some())
    {
        heads.extend([
            "proven",
            "kept",
            "accuracy",
            "blunders",
            "missed_wins",
            "lost_at_once",
        ]);
    }
    writer.write_record(heads)?;
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.4}"));
    for (rank, place) in standings.places.iter().enumerate() {
        let mut row = vec![
            (rank + 1).to_string(),
            escape_formula(&place.name),
            place.games.to_string(),
            place.wins.to_string(),
            place.draws.to_string(),
            place.losses.to_string(),
            points(place.points),
            number(Some(place.score)),
            number(Some(place.elo)),
            number(place.error),
            number(place.superiority),
            points(place.direct),
            points(place.sonneborn_berger),
            escape_formula(&forfeits(place)),
            number(place.median_ms),
            number(place.worst_ms),
        ];
        row.truncate(columns);
        if let Some(tally) = &place.analysis {
            row.extend([
                tally.proven.to_string(),
                tally.kept.to_string(),
                number(tally.accuracy()),
                tally.blunders().to_string(),
                tally.missed_wins.to_string(),
                tally.lost_at_once.to_string(),
            ]);
        }
        writer.write_record(row)?;
    }
    written(writer)
}

/// The crosstable as CSV: a row for each bot, in the order of the standings.
pub fn crosstable_csv(standings: &Standings) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = standings
        .places
        .iter()
        .map(|place| escape_formula(&place.name));
    writer.write_record(std::iter::once("bot".to_owned()).chain(names))?;
    for (place, against) in standings.places.iter().zip(cross(standings)) {
        // Empty instead of `-`, so that columns can be summed.
        let cells = against.into_iter().map(|cell| cell.replace('-', ""));
        writer.write_record(std::iter::once(escape_formula(&place.name)).chain(cells))?;
    }
    written(writer)
}

fn written(writer: csv::Writer<Vec<u8>>) -> Result<String, csv::Error> {
    let bytes = writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))?;
    // All fields were valid UTF-8.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
