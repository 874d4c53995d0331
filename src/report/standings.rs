//! Standings as a table, CSV, JSON or Markdown.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::accuracy::{percent, tally_json};
use super::terminal::{Palette, aligned, shortened, width, width as columns_of, wrapped};
use crate::text::{counted, escape_controls, escape_markdown, format_milliseconds, short_name};
use crate::tournament::standings::{NotEntered, Place, RankBy, Standings, TieBreak};

/// Without trailing zeros: `7`, `7.5`.
fn points(points: f64) -> String {
    format!("{points}")
}

fn forfeits(place: &Place) -> String {
    let listed: Vec<String> = place
        .forfeits
        .iter()
        .map(|(reason, count)| format!("{} {count}", short_name(reason)))
        .collect();
    listed.join(", ")
}

/// Rounded: `-12`, `0`, never `-0`.
pub(crate) fn elo(elo: f64) -> String {
    format!("{:.0}", elo.round() + 0.0)
}

/// Places gained or lost: `↑2`, `↓1`, `=`; `new` without an earlier place.
fn moved(rank: usize, before: Option<usize>) -> String {
    match before {
        None => "new".to_owned(),
        Some(before) if rank < before => format!("↑{}", before - rank),
        Some(before) if rank > before => format!("↓{}", rank - before),
        Some(_) => "=".to_owned(),
    }
}

/// The short name of a criterion with a column.
const fn shown(tie_break: TieBreak) -> Option<&'static str> {
    match tie_break {
        TieBreak::Buchholz => Some("BH"),
        TieBreak::BuchholzCut1 => Some("BH-C1"),
        TieBreak::SonnebornBerger => Some("SB"),
        TieBreak::WinsAsSecond => Some("won as 2nd"),
        TieBreak::Direct | TieBreak::Wins | TieBreak::Rating => None,
    }
}

fn columns(standings: &Standings, places: &[&Place]) -> Vec<Column> {
    let column = |head, weight, cell: &dyn Fn(&Place) -> String| {
        Column::new(
            head,
            weight,
            places.iter().map(|place| cell(place)).collect(),
        )
    };
    let mut all = vec![
        column("#", 100, &|place| place.rank.to_string()),
        column("bot", 100, &|place| short_name(&place.name)).left(),
    ];
    if !standings.ranking.before.is_empty() {
        let moved = |place: &Place| {
            let before = standings.ranking.before.get(&place.name);
            moved(place.rank, before.copied())
        };
        all.push(column("moved", 92, &moved).left());
    }
    if matches!(standings.ranking.by, RankBy::Reached(_)) {
        let reached = |place: &Place| place.reached.clone().unwrap_or_default();
        all.push(column("reached", 99, &reached).left());
    }
    all.extend([
        column("games", 60, &|place| place.games.to_string()),
        column("won", 50, &|place| place.wins.to_string()),
        column("drawn", 50, &|place| place.draws.to_string()),
        column("lost", 50, &|place| place.losses.to_string()),
    ]);
    if !standings.ranking.byes.is_empty() {
        all.push(column("byes", 80, &|place| place.byes.count.to_string()));
    }
    all.push(column("points", 90, &|place| points(place.points)));
    let by_points = standings.ranking.by == RankBy::Points;
    if by_points || !standings.ranking.tie_breaks.is_empty() {
        for &tie_break in standings.ranking.tie_breaks() {
            let Some(head) = shown(tie_break) else {
                continue;
            };
            all.push(column(head, 75, &|place| {
                points(match tie_break {
                    TieBreak::Buchholz => place.buchholz,
                    TieBreak::BuchholzCut1 => place.buchholz_cut_1,
                    TieBreak::SonnebornBerger => place.sonneborn_berger,
                    _ => f64::from(u32::try_from(place.wins_as_second).unwrap_or(u32::MAX)),
                })
            }));
        }
    }
    all.extend([
        column("score", 70, &|place| percent(Some(place.score))),
        column("Elo", 95, &|place| elo(place.elo)),
        column("±95%", 94, &|place| {
            place.error.map_or_else(String::new, elo)
        }),
        column("LOS", 40, &|place| percent(place.superiority)),
        column("median", 30, &|place| {
            place
                .median_ms
                .map_or_else(String::new, format_milliseconds)
        }),
    ]);
    if standings
        .places
        .iter()
        .any(|place| place.analysis.is_some())
    {
        let tally = |cell: &'static dyn Fn(&crate::record::annotation::Tally) -> String| {
            move |place: &Place| place.analysis.as_ref().map_or_else(String::new, cell)
        };
        all.extend([
            column("proven", 20, &tally(&|tally| tally.proven.to_string())),
            column("accuracy", 28, &tally(&|tally| percent(tally.accuracy()))),
            column(
                "blunders",
                26,
                &tally(&|tally| tally.blunders().to_string()),
            ),
            column(
                "missed wins",
                24,
                &tally(&|tally| tally.missed_wins.to_string()),
            ),
        ]);
    }
    let number = |place: &Place| match place.forfeits.values().sum::<u64>() {
        0 => String::new(),
        count => count.to_string(),
    };
    let mut last = column("forfeits", 65, &forfeits).left();
    last.short = Some(places.iter().map(|place| number(place)).collect());
    all.push(last);
    all
}

fn criteria(standings: &Standings) -> Vec<&'static str> {
    let ranking = &standings.ranking;
    let first = match &ranking.by {
        RankBy::Reached(_) => "place in the bracket",
        RankBy::Results if standings.by_rating => "rating",
        _ if ranking.byes.is_empty() => "points",
        _ => "points, those for byes included",
    };
    let chosen = ranking.tie_breaks().iter();
    let mut all: Vec<&str> = [first]
        .into_iter()
        .chain(chosen.map(|tie| tie.in_words()))
        .collect();
    let last = match &ranking.by {
        RankBy::Reached(_) => "seed",
        _ => "rating",
    };
    for more in [last, "name"] {
        if !all.contains(&more) {
            all.push(more);
        }
    }
    all
}

/// A sentence on the tables' order.
fn order(standings: &Standings) -> String {
    let why = if standings.by_rating {
        " (the bots have played unequally many games)"
    } else {
        ""
    };
    let mut criteria = criteria(standings).into_iter();
    let first = criteria.next().unwrap_or_default();
    let rest: Vec<&str> = criteria.collect();
    format!("order: {first}{why}, then {}", rest.join(", "))
}

/// Why there are several tables, or which ratings cannot be compared.
fn separate(standings: &Standings) -> Option<String> {
    if standings.tables > 1 {
        Some(format!(
            "{} tables: no games, directly or through other bots, connect the bots of one with those of \
             another, so neither their points nor their ratings can be compared",
            standings.tables
        ))
    } else if standings.connected > 1 {
        Some(format!(
            "no games connect {} groups of bots yet: ratings can be compared only within each",
            standings.connected
        ))
    } else {
        None
    }
}

fn tables(standings: &Standings) -> impl Iterator<Item = Vec<&Place>> {
    let chunks = standings.places.chunk_by(|a, b| a.table == b.table);
    chunks.map(|places| places.iter().collect())
}

/// The head first; and indices of left-aligned columns.
fn rows(columns: &[Column]) -> (Vec<Vec<String>>, Vec<usize>) {
    let left = (0..columns.len()).filter(|&i| columns[i].is_left);
    let heads = columns
        .iter()
        .map(|column| column.head.to_owned())
        .collect();
    let count = columns.first().map_or(0, |column| column.cells.len());
    let row = |place: usize| {
        columns
            .iter()
            .map(move |column| column.cells[place].clone())
    };
    let rows = (0..count).map(|place| row(place).collect());
    ([heads].into_iter().chain(rows).collect(), left.collect())
}

/// Points head to head of these consecutive places; `-` when two have not met.
fn cross(places: &[&Place], first: usize, palette: &Palette) -> String {
    let mut heads = vec!["#".to_owned(), "bot".to_owned()];
    heads.extend((1..=places.len()).map(|place| place.to_string()));
    let rows = places.iter().enumerate().map(|(number, place)| {
        let mut row = vec![(number + 1).to_string(), short_name(&place.name)];
        let against = place.against[first..][..places.len()].iter();
        row.extend(against.map(|made| made.map_or_else(|| "-".to_owned(), points)));
        row
    });
    let all: Vec<_> = [heads].into_iter().chain(rows).collect();
    aligned(&all, palette, &[1])
}

/// For a terminal: standings and crosstable, shortened to `width` columns if given.
pub fn table(standings: &Standings, palette: &Palette, width: Option<usize>) -> String {
    let is_bounded = width.is_some();
    let width = width.unwrap_or(usize::MAX);
    let mut out = String::new();
    if let Some(why) = separate(standings) {
        let _ = writeln!(out, "{why}\n");
    }
    let mut left_out: Vec<&str> = Vec::new();
    let mut first = 0;
    for places in tables(standings) {
        let mut columns = columns(standings, &places);
        left_out.extend(fit(&mut columns, width));
        let (rows, left) = rows(&columns);
        out.push_str(&aligned(&rows, palette, &left));
        // At least two columns a bot: too wide without drawing it.
        let fits = |cross: &str| cross.lines().all(|line| columns_of(line) <= width);
        let is_narrow = !is_bounded
            || places.len() < width / 2 && fits(&cross(&places, first, &Palette::plain()));
        if is_narrow {
            let cross = cross(&places, first, palette);
            let _ = writeln!(out, "\nPoints of each against each:\n{cross}");
        } else {
            left_out.push("points of each against each");
            out.push('\n');
        }
        first += places.len();
    }
    if !standings.places.is_empty() {
        let _ = writeln!(out, "{}", wrapped(&order(standings), width));
    }
    let mut seen = Vec::new();
    left_out.retain(|head| {
        !seen.contains(head) && {
            seen.push(*head);
            true
        }
    });
    if !left_out.is_empty() {
        let what = left_out.join(", ");
        let why = format!("not shown, as the terminal is too narrow: {what}");
        let _ = writeln!(out, "{}", wrapped(&why, width));
    }
    for absent in standings.not_entered() {
        let _ = writeln!(out, "did not enter: {}", not_entered(absent));
    }
    let _ = writeln!(out, "{}", wrapped(&summary(standings), width));
    out
}

fn not_entered(absent: &NotEntered) -> String {
    format!(
        "{}: {}",
        short_name(&absent.name),
        escape_controls(&absent.reason)
    )
}

fn summary(standings: &Standings) -> String {
    let games = counted(standings.games, "game", "games");
    let advantage = standings.advantage.and_then(|advantage| {
        let error = elo(advantage.error?);
        Some(format!(
            "; moving first is worth {} ± {error} Elo",
            elo(advantage.elo)
        ))
    });
    format!("{games}{}", advantage.unwrap_or_default())
}

pub fn markdown(standings: &Standings) -> String {
    let mut out = String::new();
    if let Some(why) = separate(standings) {
        let _ = writeln!(out, "{why}\n");
    }
    let all: Vec<Vec<&Place>> = if standings.places.is_empty() {
        vec![Vec::new()]
    } else {
        tables(standings).collect()
    };
    for places in all {
        let (rows, left) = rows(&columns(standings, &places));
        for (number, row) in rows.iter().enumerate() {
            if number > 0 {
                let cells: Vec<String> = row.iter().map(|text| escape_markdown(text)).collect();
                let _ = writeln!(out, "| {} |", cells.join(" | "));
                continue;
            }
            let rule = |i: usize| if left.contains(&i) { "---" } else { "---:" };
            let rules: Vec<&str> = (0..row.len()).map(rule).collect();
            let _ = writeln!(out, "| {} |\n| {} |", row.join(" | "), rules.join(" | "));
        }
        out.push('\n');
    }
    if !standings.places.is_empty() {
        let _ = writeln!(out, "{}\n", order(standings));
    }
    for absent in standings.not_entered() {
        let _ = writeln!(
            out,
            "- did not enter: {}",
            escape_markdown(&not_entered(absent))
        );
    }
    if standings.not_entered().next().is_some() {
        out.push('\n');
    }
    let _ = writeln!(out, "{}", summary(standings));
    out
}

const GAP: usize = 2;

/// Columns of this weight are never dropped.
const KEPT: u8 = 90;

/// Names are shortened to the first width before any column is dropped, to the second if nothing else helps.
const SHORT_NAMES: [usize; 2] = [24, 8];

#[derive(Clone, Debug)]
struct Column {
    head: &'static str,
    is_left: bool,
    /// Importance, 0 to 100.
    weight: u8,
    cells: Vec<String>,
    short: Option<Vec<String>>,
}

impl Column {
    /// Right-aligned.
    const fn new(head: &'static str, weight: u8, cells: Vec<String>) -> Self {
        Self {
            head,
            is_left: false,
            weight,
            cells,
            short: None,
        }
    }

    /// Left-aligned.
    fn left(mut self) -> Self {
        self.is_left = true;
        self
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| width(cell));
        cells.fold(width(self.head), usize::max)
    }

    fn is_empty(&self) -> bool {
        self.cells.iter().all(String::is_empty)
    }
}

/// Fits lines into `room` columns. Returns the heads of dropped columns that are not empty.
fn fit(columns: &mut Vec<Column>, room: usize) -> Vec<&'static str> {
    let mut left_out = Vec::new();
    if excess(columns, room) == 0 {
        return left_out;
    }
    columns.retain(|column| column.weight >= KEPT || !column.is_empty());
    if excess(columns, room) > 0 {
        for column in &mut *columns {
            if let Some(short) = column.short.take() {
                column.cells = short;
            }
        }
    }
    for least in SHORT_NAMES {
        shorten_names(columns, room, least);
        while excess(columns, room) > 0 {
            let droppable = (0..columns.len()).filter(|&i| columns[i].weight < KEPT);
            let Some(least) = droppable.min_by_key(|&i| columns[i].weight) else {
                break;
            };
            left_out.push(columns.remove(least).head);
        }
    }
    left_out
}

fn excess(columns: &[Column], room: usize) -> usize {
    let total: usize = columns.iter().map(|column| column.width() + GAP).sum();
    total.saturating_sub(GAP).saturating_sub(room)
}

/// As far as needed, to `least` at most.
fn shorten_names(columns: &mut [Column], room: usize, least: usize) {
    let excess = excess(columns, room);
    let names = columns.iter_mut().filter(|column| column.is_left);
    if let Some(names) = names.max_by_key(|column| column.width())
        && excess > 0
    {
        let most = names.width().saturating_sub(excess).max(least);
        for name in &mut names.cells {
            *name = shortened(name, most);
        }
    }
}

/// Points head to head; empty where two have not met.
fn cross_row(place: &Place) -> impl Iterator<Item = String> + '_ {
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
        "order": criteria(standings),
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
        table.row(std::iter::once(escape_formula(&place.name)).chain(cross_row(place)));
    }
    table.text
}

/// CSV.
#[derive(Debug, Default)]
pub(in crate::report) struct CsvTable {
    pub(in crate::report) text: String,
}

impl CsvTable {
    /// Quotes fields with a semicolon too: it separates columns where decimals have a comma.
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

#[cfg(test)]
mod tests {
    use super::{elo, moved};

    #[test]
    fn places_are_compared_with_those_before() {
        let shown = [(1, Some(3)), (3, Some(1)), (2, Some(2)), (1, None)];
        let shown = shown.map(|(rank, before)| moved(rank, before));
        assert_eq!(shown, ["↑2", "↓2", "=", "new"]);
    }

    #[test]
    fn an_elo_of_nearly_zero_has_no_sign() {
        let shown = [-0.4, -0.0, 0.4, -0.6, 12.5].map(elo);
        assert_eq!(shown, ["0", "0", "0", "-1", "13"]);
    }
}
