//! Standings as JSON and CSV.

use serde_json::{Value, json};

use super::{forfeits, points};
use crate::report::accuracy::tally_json;
use crate::text::escape_controls;
use crate::tournament::standings::{Place, Standings};

/// Points head to head; empty where two have not met.
fn cross(place: &Place) -> impl Iterator<Item = String> + '_ {
    let against = place.against.iter();
    against.map(|made| made.map_or_else(String::new, points))
}

/// Milliseconds.
pub fn times_csv(standings: &Standings) -> String {
    let mut table = CsvTable::default();
    table.row(["name", "median_ms", "worst_ms"]);
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.4}"));
    for place in &standings.places {
        table.row([
            escape_formula(&place.name),
            number(place.median_ms),
            number(place.worst_ms),
        ]);
    }
    table.text
}

/// All figures, unrounded; times and rejected bots only if there are any.
pub fn as_json(standings: &Standings) -> Value {
    let places: Vec<Value> = standings
        .places
        .iter()
        .map(|place| {
            let mut row = json!({
                "rank": place.rank,
                "table": place.table + 1,
                "name": place.name,
                "games": place.games,
                "wins": place.wins,
                "draws": place.draws,
                "losses": place.losses,
                "points": place.points,
                "byes": place.byes.count,
                "bye_points": place.byes.points,
                "score": place.score,
                "elo": place.elo,
                "error": place.error,
                "superiority": place.superiority,
                "direct": place.direct,
                "buchholz": place.buchholz,
                "buchholz_cut_1": place.buchholz_cut_1,
                "sonneborn_berger": place.sonneborn_berger,
                "wins_as_second": place.wins_as_second,
                "forfeits": place.forfeits,
                "against": place.against,
            });
            if let Some(reached) = &place.reached {
                row["reached"] = json!(reached);
            }
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
    let mut all = json!({
        "games": standings.games,
        "advantage": standings.advantage.map(|advantage| advantage.elo),
        "advantage_error": standings.advantage.and_then(|advantage| advantage.error),
        "order": super::criteria(standings),
        "standings": places,
    });
    let not_entered: Vec<Value> = standings
        .not_entered()
        .map(|absent| json!({ "name": absent.name, "reason": absent.reason }))
        .collect();
    if !not_entered.is_empty() {
        all["did_not_enter"] = Value::Array(not_entered);
    }
    all
}

/// A spreadsheet must not run it.
pub(in crate::report) fn escape_formula(text: &str) -> String {
    let text = escape_controls(text);
    if text.starts_with(['=', '+', '-', '@']) {
        format!("'{text}")
    } else {
        text
    }
}

/// Columns of times only if there are any. Rejected bots follow without rank, their reason in a last column.
pub fn as_csv(standings: &Standings) -> String {
    let mut table = CsvTable::default();
    let timed = standings.places.iter().any(|p| p.worst_ms.is_some());
    let columns = if timed { 23 } else { 21 };
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
        "table",
        "byes",
        "bye_points",
        "buchholz",
        "buchholz_cut_1",
        "wins_as_second",
        "reached",
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
    let with_absent = standings.not_entered().next().is_some();
    if with_absent {
        heads.push("did_not_enter");
    }
    let width = heads.len();
    table.row(heads);
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.4}"));
    for place in &standings.places {
        let mut row = vec![
            place.rank.to_string(),
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
            (place.table + 1).to_string(),
            place.byes.count.to_string(),
            points(place.byes.points),
            points(place.buchholz),
            points(place.buchholz_cut_1),
            place.wins_as_second.to_string(),
            place.reached.clone().unwrap_or_default(),
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
        if with_absent {
            row.push(String::new());
        }
        table.row(row);
    }
    for absent in standings.not_entered() {
        let mut row = vec![String::new(); width];
        // Name and number of games make sense to every reader.
        row[1] = escape_formula(&absent.name);
        "0".clone_into(&mut row[2]);
        row[width - 1] = escape_formula(&absent.reason);
        table.row(row);
    }
    table.text
}

/// A row for each bot, in the standings' order.
pub fn crosstable_csv(standings: &Standings) -> String {
    let mut table = CsvTable::default();
    let names = standings
        .places
        .iter()
        .map(|place| escape_formula(&place.name));
    table.row(std::iter::once("bot".to_owned()).chain(names));
    for place in &standings.places {
        table.row(std::iter::once(escape_formula(&place.name)).chain(cross(place)));
    }
    table.text
}

/// CSV.
#[derive(Debug, Default)]
pub(in crate::report) struct CsvTable {
    /// The text so far.
    pub(in crate::report) text: String,
}

impl CsvTable {
    /// Fields are quoted also for the semicolon, the separator where decimals have a comma.
    pub(in crate::report) fn row<F: AsRef<str>>(&mut self, fields: impl IntoIterator<Item = F>) {
        for (number, field) in fields.into_iter().enumerate() {
            let field = field.as_ref();
            let comma = if number == 0 { "" } else { "," };
            if field.contains([',', ';', '\t', '"', '\r', '\n']) {
                let doubled = field.replace('"', "\"\"");
                self.text.extend([comma, "\"", &doubled, "\""]);
            } else {
                self.text.extend([comma, field]);
            }
        }
        self.text.push('\n');
    }
}
