//! Standings as a table, CSV, JSON or Markdown.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::accuracy::percent;
use super::terminal::{Palette, aligned, milliseconds};
use crate::text::safe;
use crate::tournament::standings::{Place, Standings};

/// Heads of the columns of a table and of Markdown.
const HEADS: [&str; 13] = [
    "#", "bot", "games", "won", "drawn", "lost", "points", "score", "Elo", "±95%", "LOS", "median",
    "forfeits",
];

/// Columns whose text begins at the left.
const LEFT: [usize; 2] = [1, 12];

/// Half points without a needless zero: `7`, `7.5`.
fn points(points: f64) -> String {
    format!("{points}")
}

fn forfeits(place: &Place) -> String {
    let listed: Vec<String> = place
        .forfeits
        .iter()
        .map(|(reason, count)| format!("{} {count}", safe(reason)))
        .collect();
    listed.join(", ")
}

fn row(rank: usize, place: &Place) -> [String; 13] {
    [
        (rank + 1).to_string(),
        safe(&place.name),
        place.games.to_string(),
        place.wins.to_string(),
        place.draws.to_string(),
        place.losses.to_string(),
        points(place.points),
        percent(Some(place.score)),
        format!("{:.0}", place.elo),
        place.error.map_or_else(String::new, |e| format!("{e:.0}")),
        percent(place.superiority),
        place.median_ms.map_or_else(String::new, milliseconds),
        forfeits(place),
    ]
}

fn rows(standings: &Standings) -> Vec<[String; 13]> {
    let places = standings.places.iter().enumerate();
    places.map(|(rank, place)| row(rank, place)).collect()
}

/// Points of each bot against each.
fn cross(standings: &Standings) -> Vec<Vec<String>> {
    let cell = |made: &Option<f64>| made.map_or_else(|| "-".to_owned(), points);
    standings
        .places
        .iter()
        .map(|place| place.against.iter().map(cell).collect())
        .collect()
}

/// For a terminal: the standings, and below them who made how many points against whom.
pub fn table(standings: &Standings, palette: &Palette) -> String {
    let rows = rows(standings);
    let mut all: Vec<Vec<String>> = vec![HEADS.map(str::to_owned).to_vec()];
    all.extend(rows.iter().map(|row| row.to_vec()));
    let mut out = aligned(&all, palette, &LEFT);
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
    let s = if standings.games == 1 { "" } else { "s" };
    let advantage = standings.advantage.map_or_else(String::new, |elo| {
        format!("; moving first is worth {elo:.0} Elo")
    });
    format!("{} game{s}{advantage}", standings.games)
}

/// For documents and chats.
pub fn markdown(standings: &Standings) -> String {
    let cell = |text: &str| text.replace('\\', "\\\\").replace('|', "\\|");
    let mut out = String::new();
    let mut line = |cells: Vec<String>| {
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    };
    line(HEADS.map(str::to_owned).to_vec());
    let rule = |(i, _): (usize, &&str)| if LEFT.contains(&i) { "---" } else { "---:" }.to_owned();
    line(HEADS.iter().enumerate().map(rule).collect());
    for row in rows(standings) {
        line(row.iter().map(|text| cell(text)).collect());
    }
    let _ = writeln!(out, "\n{}", summary(standings));
    out
}

/// Times in milliseconds by bot, for spreadsheets.
pub fn times_csv(standings: &Standings) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["name", "median_ms", "worst_ms"])?;
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.4}"));
    for place in &standings.places {
        writer.write_record([
            defused(&place.name),
            number(place.median_ms),
            number(place.worst_ms),
        ])?;
    }
    written(writer)
}

/// For programs: all figures, unrounded; those of times only when there are any.
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
            row
        })
        .collect();
    json!({
        "games": standings.games,
        "advantage": standings.advantage,
        "standings": places,
    })
}

/// A cell that no spreadsheet takes for a formula.
fn defused(text: &str) -> String {
    let text = safe(text);
    if text.starts_with(['=', '+', '-', '@']) {
        format!("'{text}")
    } else {
        text
    }
}

/// For spreadsheets; with columns of times only when there are any.
pub fn as_csv(standings: &Standings) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let timed = standings.places.iter().any(|p| p.worst_ms.is_some());
    let columns = if timed { 16 } else { 14 };
    let head = [
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
    writer.write_record(&head[..columns])?;
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.4}"));
    for (rank, place) in standings.places.iter().enumerate() {
        let row = [
            (rank + 1).to_string(),
            defused(&place.name),
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
            defused(&forfeits(place)),
            number(place.median_ms),
            number(place.worst_ms),
        ];
        writer.write_record(&row[..columns])?;
    }
    written(writer)
}

/// Points of each against each, for spreadsheets: a row a bot, in the order of the standings.
pub fn crosstable_csv(standings: &Standings) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = standings.places.iter().map(|place| defused(&place.name));
    writer.write_record(std::iter::once("bot".to_owned()).chain(names))?;
    for (place, against) in standings.places.iter().zip(cross(standings)) {
        // An empty cell, so that columns can be added up.
        let cells = against.into_iter().map(|cell| cell.replace('-', ""));
        writer.write_record(std::iter::once(defused(&place.name)).chain(cells))?;
    }
    written(writer)
}

fn written(writer: csv::Writer<Vec<u8>>) -> Result<String, csv::Error> {
    let bytes = writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))?;
    // Everything that went in was text.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
