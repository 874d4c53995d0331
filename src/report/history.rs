//! Ratings over time as a table, CSV, JSON or Markdown.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::standings::elo;
use super::terminal::{Palette, aligned};
use crate::text::escape_controls;
use crate::tournament::history::Point;
use crate::tournament::ratings::levels;

/// Periods that a table shows; those before are in CSV and JSON.
const SHOWN: usize = 8;

/// Half the width of a 95 % interval, in Elo, for a variance of 1 in natural units.
const WIDTH: f64 = 1.96 * 400.0 / std::f64::consts::LN_10;

/// The ratings of a bot.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Its ratings day by day, each with the name of its period.
    pub points: Vec<(String, Point)>,
}

/// The curves in the order of the latest ratings.
fn ordered(curves: &[Curve]) -> Vec<&Curve> {
    let ordered: Vec<&Curve> = curves
        .iter()
        .filter(|curve| !curve.points.is_empty())
        .collect();
    let latest = |curve: &&Curve| curve.points.last().map_or(0.0, |(_, point)| point.elo);
    let latest: Vec<f64> = ordered.iter().map(latest).collect();
    let mut by_rating: Vec<(f64, &Curve)> = levels(&latest).into_iter().zip(ordered).collect();
    by_rating.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.name.cmp(&other.name)));
    by_rating.into_iter().map(|(_, curve)| curve).collect()
}

/// Rows of a table: the last rating of each period, then the interval of the last one.
fn rows(curves: &[Curve]) -> (Vec<Vec<String>>, bool) {
    let mut periods: Vec<&str> = Vec::new();
    let mut days: Vec<(i64, &str)> = curves
        .iter()
        .flat_map(|curve| {
            curve
                .points
                .iter()
                .map(|(period, point)| (point.day, period.as_str()))
        })
        .collect();
    days.sort_unstable();
    for (_, period) in days {
        if periods.last() != Some(&period) {
            periods.push(period);
        }
    }
    let is_cut = periods.len() > SHOWN;
    let periods = &periods[periods.len().saturating_sub(SHOWN)..];
    let mut heads = vec!["#".to_owned(), "bot".to_owned(), "games".to_owned()];
    heads.extend(periods.iter().map(|&period| period.to_owned()));
    heads.push("±95%".to_owned());
    let mut rows = vec![heads];
    for (place, curve) in ordered(curves).into_iter().enumerate() {
        let games: f64 = curve.points.iter().map(|(_, point)| point.games).sum();
        let mut row = vec![
            (place + 1).to_string(),
            escape_controls(&curve.name),
            games.to_string(),
        ];
        for period in periods {
            let last = curve.points.iter().rfind(|(of, _)| of == period);
            row.push(last.map_or_else(String::new, |(_, point)| elo(point.elo)));
        }
        let last = curve.points.last();
        row.push(last.map_or_else(String::new, |(_, point)| elo(error(point))));
        rows.push(row);
    }
    (rows, is_cut)
}

fn error(point: &Point) -> f64 {
    WIDTH * point.variance.max(0.0).sqrt()
}

const NOTE: &str = "Elo at the end of each period, by Whole-History Rating: one scale for all of them. ±95%: of the \
                    last rating, those of the other bots given";

/// For a terminal.
pub fn table(curves: &[Curve], palette: &Palette) -> String {
    let (rows, is_cut) = rows(curves);
    let cut = if is_cut {
        "; earlier periods: --format csv"
    } else {
        ""
    };
    format!("{}\n{NOTE}{cut}\n", aligned(&rows, palette, &[1]))
}

/// As a Markdown table.
pub fn markdown(curves: &[Curve]) -> String {
    let (rows, _) = rows(curves);
    let mut out = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
        if number == 0 {
            let _ = writeln!(out, "|{}", "---|".repeat(row.len()));
        }
    }
    format!("{out}\n{NOTE}\n")
}

/// A row for each bot and day.
pub fn as_csv(curves: &[Curve]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["name", "period", "games", "elo", "error"])?;
    for curve in ordered(curves) {
        for (period, point) in &curve.points {
            writer.write_record([
                super::standings::escape_formula(&curve.name),
                period.clone(),
                point.games.to_string(),
                format!("{:.4}", point.elo),
                format!("{:.4}", error(point)),
            ])?;
        }
    }
    super::standings::written(writer)
}

/// All ratings as JSON.
pub fn as_json(curves: &[Curve]) -> Value {
    let point = |(period, point): &(String, Point)| {
        json!({
            "period": period, "games": point.games, "elo": point.elo, "error": error(point),
        })
    };
    let curve = |curve: &Curve| {
        let points: Vec<Value> = curve.points.iter().map(point).collect();
        json!({ "name": curve.name, "ratings": points })
    };
    let all: Vec<Value> = ordered(curves).into_iter().map(curve).collect();
    json!({ "history": all })
}
