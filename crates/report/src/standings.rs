//! Standings as a table, CSV, JSON or Markdown, and for pages: one list of columns.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::terminal::{Palette, aligned, shortened_name, width, width as columns_of, wrapped};
use referee_match::record::annotation::Tally;
use referee_stats::standings::{
    ChangedFiles, NotEntered, Order, Place, RankBy, Standings, TieBreak,
};
use referee_text::{
    counted, escape_controls, escape_markdown, format_milliseconds, grouped, join_parts, short_name,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ColumnFormat {
    Text,
    Number,
    /// 0 to 1.
    Share,
    /// A share that is never certain; to the page's script it is a share.
    #[serde(rename = "share")]
    Likelihood,
    Elo,
    Milliseconds,
    /// Places gained, or `new`.
    Moved,
    /// Numbers by reason.
    Forfeits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Always,
    /// In tables for people only.
    InTables,
    /// In tables where there are byes.
    Byes,
    /// In tables that are ordered by it.
    TieBreak(TieBreak),
    Reached,
    Moved,
    Timed,
    Analysed,
    AnalysedInFiles,
    /// Where bots said how sure they were.
    Scored,
    /// In tables where there are any.
    Forfeits,
}

pub(crate) struct StandingsColumn {
    /// The name in CSV, JSON and the page's data.
    pub(crate) key: &'static str,
    /// Empty: it is in CSV and JSON only.
    pub(crate) head: &'static str,
    pub(crate) format: ColumnFormat,
    /// Importance on a narrow terminal, 0 to 100.
    weight: u8,
    when: When,
    figure: fn(&Place) -> Value,
    meaning: &'static str,
}

#[rustfmt::skip]
static COLUMNS: [StandingsColumn; 39] = {
    use ColumnFormat::{Elo, Forfeits, Likelihood, Milliseconds, Number, Share, Text};
    use When::{Always, Analysed, AnalysedInFiles, Byes, InTables, Reached, Scored, Timed, TieBreak as Tie};
    [
        StandingsColumn { key: "rank", head: "#", format: Number, weight: 100, when: Always, figure: |p| json!(p.rank), meaning: "The place in its table, from 1; equal bots share one." },
        StandingsColumn { key: "name", head: "bot", format: Text, weight: 100, when: Always, figure: |p| json!(p.name), meaning: "The bot." },
        StandingsColumn { key: "moved", head: "moved", format: ColumnFormat::Moved, weight: 92, when: When::Moved, figure: moved, meaning: "Places gained since the last time; `new` for a new bot." },
        StandingsColumn { key: "reached", head: "reached", format: Text, weight: 99, when: Reached, figure: |p| json!(p.reached), meaning: "What it reached, such as `semi-finalist`." },
        StandingsColumn { key: "table", head: "", format: Number, weight: 0, when: Always, figure: |p| json!(p.table + 1), meaning: "Which table, from 1: no games connect the bots of different tables." },
        StandingsColumn { key: "games", head: "games", format: Number, weight: 60, when: Always, figure: |p| json!(p.games), meaning: "Games played, and those that were scored because a bot was benched." },
        StandingsColumn { key: "wins", head: "won", format: Number, weight: 50, when: Always, figure: |p| json!(p.wins), meaning: "Games won." },
        StandingsColumn { key: "draws", head: "drawn", format: Number, weight: 50, when: Always, figure: |p| json!(p.draws), meaning: "Games drawn." },
        StandingsColumn { key: "losses", head: "lost", format: Number, weight: 50, when: Always, figure: |p| json!(p.losses), meaning: "Games lost." },
        StandingsColumn { key: "byes", head: "byes", format: Number, weight: 80, when: Byes, figure: |p| json!(p.byes.count), meaning: "Rounds without an opponent." },
        StandingsColumn { key: "bye_points", head: "", format: Number, weight: 0, when: Always, figure: |p| json!(p.byes.points), meaning: "The points for byes." },
        StandingsColumn { key: "points", head: "points", format: Number, weight: 90, when: Always, figure: |p| json!(p.points), meaning: "1 for a win, 0.5 for a draw, and those for byes." },
        StandingsColumn { key: "direct", head: "", format: Number, weight: 0, when: Always, figure: |p| json!(p.direct), meaning: "Direct encounter: points among the bots that are tied, if all of them have met; else 0." },
        StandingsColumn { key: "buchholz", head: "BH", format: Number, weight: 75, when: Tie(TieBreak::Buchholz), figure: |p| json!(p.buchholz), meaning: "Buchholz: the sum of the opponents' points; an unplayed round counts the bot's own." },
        StandingsColumn { key: "buchholz_cut_1", head: "BH-C1", format: Number, weight: 75, when: Tie(TieBreak::BuchholzCut1), figure: |p| json!(p.buchholz_cut_1), meaning: "That sum without the lowest opponent, or without an unplayed round of a benched bot." },
        StandingsColumn { key: "sonneborn_berger", head: "SB", format: Number, weight: 75, when: Tie(TieBreak::SonnebornBerger), figure: |p| json!(p.sonneborn_berger), meaning: "The sum over the opponents: points made against each, times that opponent's points; an unplayed round counts the bot's own." },
        StandingsColumn { key: "wins_as_second", head: "won as 2nd", format: Number, weight: 75, when: Tie(TieBreak::WinsAsSecond), figure: |p| json!(p.wins_as_second), meaning: "Games won as the second to move." },
        StandingsColumn { key: "score", head: "score", format: Share, weight: 70, when: Always, figure: |p| json!(p.score), meaning: "Points per game played." },
        StandingsColumn { key: "elo", head: "Elo", format: Elo, weight: 95, when: Always, figure: |p| json!(p.elo), meaning: "The rating; 0 is the mean of the bots that games connect." },
        StandingsColumn { key: "", head: "95%", format: Elo, weight: 94, when: InTables, figure: |p| json!(interval(p.elo_interval, ["…", "≥", "≤"])), meaning: "" },
        StandingsColumn { key: "elo_low", head: "", format: Elo, weight: 0, when: Always, figure: |p| json!(p.elo_interval[0]), meaning: "The lower end of its 95 % interval; empty where the games set none." },
        StandingsColumn { key: "elo_high", head: "", format: Elo, weight: 0, when: Always, figure: |p| json!(p.elo_interval[1]), meaning: "The upper end." },
        StandingsColumn { key: "los", head: "LOS", format: Likelihood, weight: 40, when: Always, figure: |p| json!(p.los), meaning: "The likelihood that it is better than the next; empty below five pairs of games." },
        StandingsColumn { key: "median_ms", head: "median", format: Milliseconds, weight: 30, when: Timed, figure: |p| json!(p.median_ms), meaning: "Half of its answers took no longer." },
        StandingsColumn { key: "p95_ms", head: "", format: Milliseconds, weight: 0, when: Timed, figure: |p| json!(p.p95_ms), meaning: "95 of 100 answers took no longer." },
        StandingsColumn { key: "worst_ms", head: "", format: Milliseconds, weight: 0, when: Timed, figure: |p| json!(p.worst_ms), meaning: "Its slowest answer." },
        StandingsColumn { key: "turns", head: "turns", format: Number, weight: 0, when: AnalysedInFiles, figure: |p| json!(p.analysis.map(|t| t.turns)), meaning: "Turns in analysed games." },
        StandingsColumn { key: "proven", head: "proven", format: Number, weight: 20, when: Analysed, figure: |p| json!(p.analysis.map(|t| t.proven)), meaning: "Turns whose value and best value are proven." },
        StandingsColumn { key: "kept", head: "kept", format: Number, weight: 0, when: AnalysedInFiles, figure: |p| json!(p.analysis.map(|t| t.kept)), meaning: "Proven turns that kept the best value." },
        StandingsColumn { key: "accuracy", head: "accuracy", format: Share, weight: 28, when: Analysed, figure: |p| json!(p.analysis.and_then(|t| t.accuracy())), meaning: "The share of proven turns that kept it." },
        StandingsColumn { key: "blunders", head: "blunders", format: Number, weight: 26, when: Analysed, figure: |p| json!(p.analysis.map(|t| t.blunders())), meaning: "Proven turns that made the result worse." },
        StandingsColumn { key: "win_to_draw", head: "win→draw", format: Number, weight: 0, when: AnalysedInFiles, figure: |p| json!(p.analysis.map(|t| t.win_to_draw)), meaning: "Blunders from a win to a draw." },
        StandingsColumn { key: "win_to_loss", head: "win→loss", format: Number, weight: 0, when: AnalysedInFiles, figure: |p| json!(p.analysis.map(|t| t.win_to_loss)), meaning: "Blunders from a win to a loss." },
        StandingsColumn { key: "draw_to_loss", head: "draw→loss", format: Number, weight: 0, when: AnalysedInFiles, figure: |p| json!(p.analysis.map(|t| t.draw_to_loss)), meaning: "Blunders from a draw to a loss." },
        StandingsColumn { key: "missed_wins", head: "missed wins in 1", format: Number, weight: 24, when: Analysed, figure: |p| json!(p.analysis.map(|t| t.missed_wins)), meaning: "Turns that missed an immediate win." },
        StandingsColumn { key: "lost_at_once", head: "lost in 1", format: Number, weight: 0, when: AnalysedInFiles, figure: |p| json!(p.analysis.map(|t| t.lost_at_once)), meaning: "Gifts that let the opponent win immediately, although another would not have." },
        StandingsColumn { key: "sure", head: "", format: Number, weight: 0, when: Scored, figure: |p| json!(p.sure), meaning: "Turns before which it said `info score` 0.8 to 1: that it was sure to win." },
        StandingsColumn { key: "sure_won", head: "won when sure", format: Share, weight: 22, when: Scored, figure: |p| json!(p.sure_won), meaning: "The share of these turns in games that it won." },
        StandingsColumn { key: "forfeits", head: "forfeits", format: Forfeits, weight: 65, when: When::Forfeits, figure: forfeits, meaning: "How often it forfeited, by reason, such as `illegal-move 2, timeout 1`; `benched` for games that were not played." },
    ]
};

fn moved(place: &Place) -> Value {
    let Some(before) = place.before else {
        return json!("new");
    };
    json!(i64::try_from(before).unwrap_or(0) - i64::try_from(place.rank).unwrap_or(0))
}

/// A figure as tables write it; empty where it is not known.
pub(super) fn figure(key: &str, place: &Place) -> String {
    let column = COLUMNS.iter().find(|column| column.key == key);
    column.map_or_else(String::new, |column| column.of(place))
}

fn forfeits(place: &Place) -> Value {
    let reasons = place.forfeits.iter();
    let reasons = reasons.map(|(reason, count)| (escape_controls(reason), json!(count)));
    Value::Object(reasons.collect())
}

impl StandingsColumn {
    fn is_left(&self) -> bool {
        matches!(
            self.format,
            ColumnFormat::Text | ColumnFormat::Moved | ColumnFormat::Forfeits
        )
    }

    pub(super) fn text(&self, value: &Value) -> String {
        if let Value::String(text) = value {
            return short_name(text);
        }
        if let Value::Object(numbers) = value {
            let listed = numbers
                .iter()
                .map(|(reason, count)| format!("{} {count}", short_name(reason)));
            return listed.collect::<Vec<_>>().join(", ");
        }
        let Some(number) = value.as_f64() else {
            return String::new();
        };
        match self.format {
            ColumnFormat::Likelihood if number > 0.999 => "> 99.9%".to_owned(),
            ColumnFormat::Share | ColumnFormat::Likelihood => percent(number),
            ColumnFormat::Elo => elo(number),
            ColumnFormat::Milliseconds => format_milliseconds(number),
            ColumnFormat::Moved if number > 0.0 => format!("↑{number}"),
            ColumnFormat::Moved if number < 0.0 => format!("↓{}", -number),
            ColumnFormat::Moved => "=".to_owned(),
            // Without trailing zeros: `7`, `7.5`.
            _ => number.to_string(),
        }
    }

    fn of(&self, place: &Place) -> String {
        let text = self.text(&(self.figure)(place));
        let byes = place.byes.points;
        match self.key {
            "rank" if place.shared => format!("{text}="),
            // Otherwise the points would seem to contradict the score.
            "points" if byes > 0.0 => format!("{} + {byes} (bye)", place.points - byes),
            _ => text,
        }
    }

    /// Numbers to four decimals.
    fn csv(&self, value: &Value) -> String {
        match value {
            Value::Number(_) => {
                let number = value.as_f64().unwrap_or_default();
                ((1e4 * number).round() / 1e4 + 0.0).to_string()
            }
            Value::String(text) => escape_formula(text),
            value => escape_formula(&self.text(value)),
        }
    }
}

/// The columns that these standings have in tables, or else in files.
pub(crate) fn columns(standings: &Standings, in_tables: bool) -> Vec<&'static StandingsColumn> {
    let any = |has: fn(&Place) -> bool| standings.places.iter().any(has);
    let ranking = &standings.ranking;
    let has_order = ranking.by == RankBy::Points || !ranking.tie_breaks.is_empty();
    let is_order = |by| has_order && ranking.tie_breaks().contains(&by);
    // The few games of a bracket say little about ratings.
    let is_bracket = standings.order == Order::Place;
    let is_rating = |column: &StandingsColumn| {
        matches!(column.format, ColumnFormat::Elo | ColumnFormat::Likelihood)
    };
    let hidden =
        |column: &StandingsColumn| column.head.is_empty() || is_bracket && is_rating(column);
    let is_there = |column: &&StandingsColumn| match column.when {
        _ if in_tables && hidden(column) => false,
        When::Always => true,
        When::InTables => in_tables,
        When::Byes => !in_tables || !ranking.byes.is_empty(),
        When::TieBreak(by) => !in_tables || is_order(by),
        When::Reached => any(|place| place.reached.is_some()),
        When::Moved => !ranking.before.is_empty(),
        When::Timed => any(|place| place.worst_ms.is_some()),
        When::Scored => any(|place| place.sure > 0),
        When::Forfeits => !in_tables || any(|place| !place.forfeits.is_empty()),
        When::Analysed => any(|place| place.analysis.is_some()),
        When::AnalysedInFiles => !in_tables && any(|place| place.analysis.is_some()),
    };
    COLUMNS.iter().filter(is_there).collect()
}

/// `97.5%`, rounded as on the page: halves up.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", (1000.0 * share).round() / 10.0)
}

/// In Elo: `-12…30`; with an open end `≥ 250` or `≤ -250`, with two nothing. `words`: instead of these signs.
pub(super) fn interval([low, high]: [f64; 2], [to, least, most]: [&str; 3]) -> String {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("{}{to}{}", elo(low), elo(high)),
        (true, false) => format!("{least} {}", elo(low)),
        (false, true) => format!("{most} {}", elo(high)),
        (false, false) => String::new(),
    }
}

/// Rounded: `-12`, `0`, never `-0`.
pub(crate) fn elo(elo: f64) -> String {
    format!("{:.0}", elo.round() + 0.0)
}

fn criteria(standings: &Standings) -> Vec<&'static str> {
    let ranking = &standings.ranking;
    let first = match standings.order {
        Order::Place => {
            return vec!["place in the bracket, shared by bots that go out in the same round"];
        }
        Order::Rating => "rating",
        Order::Score => "points per game",
        Order::Points if ranking.byes.is_empty() => "points",
        Order::Points => "points, those for byes included",
    };
    let chosen = ranking.tie_breaks().iter().map(|tie| tie.in_words());
    let mut all: Vec<&str> = [first].into_iter().chain(chosen).collect();
    if !all.contains(&"rating") {
        all.push("rating");
    }
    all
}

pub(crate) fn order(standings: &Standings) -> String {
    let why = match standings.order {
        Order::Rating | Order::Score => {
            let of_all = of_all_games(standings).map(|name| format!(", all of them with {name}"));
            let of_all = of_all.unwrap_or_default();
            format!(" (the bots have played unequally many games{of_all})")
        }
        Order::Place | Order::Points => String::new(),
    };
    let criteria = criteria(standings);
    let (first, rest) = criteria.split_first().unwrap_or((&"", &[]));
    let then = if rest.is_empty() { "" } else { ", then " };
    format!("order: {first}{why}{then}{}", rest.join(", "))
}

/// The bot with which all the others have played, and with no other: by it alone they are compared.
fn of_all_games(standings: &Standings) -> Option<String> {
    let places = &standings.places;
    let all: u64 = places.iter().map(|place| place.games).sum();
    let others = places.iter().filter(|place| place.games > 0).count();
    let of_all = places.iter().find(|place| 2 * place.games == all)?;
    (others > 2).then(|| escape_controls(&of_all.name))
}

/// Why there are several tables, or which ratings cannot be compared.
pub(crate) fn separate(standings: &Standings) -> Option<String> {
    match (standings.tables, standings.connected) {
        (tables @ 2.., _) => Some(format!(
            "{tables} tables: no games, directly or through other bots, connect the bots of one with those of \
             another, so neither their points nor their ratings can be compared"
        )),
        (_, groups @ 2..) => Some(format!(
            "no games connect {groups} groups of bots yet: ratings can be compared only within each"
        )),
        _ => None,
    }
}

pub(crate) fn tables(standings: &Standings) -> impl Iterator<Item = &[Place]> {
    standings.places.chunk_by(|a, b| a.table == b.table)
}

struct Cells {
    column: &'static StandingsColumn,
    cells: Vec<String>,
}

impl Cells {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| width(cell));
        cells.fold(width(self.column.head), usize::max)
    }
}

fn cells(columns: &[&'static StandingsColumn], places: &[Place]) -> Vec<Cells> {
    let of = |&column: &&'static StandingsColumn| Cells {
        column,
        cells: places.iter().map(|place| column.of(place)).collect(),
    };
    columns.iter().map(of).collect()
}

/// The head first; and indices of left-aligned columns.
fn rows(columns: &[Cells]) -> (Vec<Vec<String>>, Vec<usize>) {
    let left = (0..columns.len()).filter(|&i| columns[i].column.is_left());
    let heads = columns.iter().map(|of| of.column.head.to_owned());
    let count = columns.first().map_or(0, |of| of.cells.len());
    let row = |place: usize| columns.iter().map(move |of| of.cells[place].clone());
    let rows = (0..count).map(|place| row(place).collect());
    let all = std::iter::once(heads.collect()).chain(rows);
    (all.collect(), left.collect())
}

/// Points head to head of these consecutive places; `-` when two have not met.
fn cross(places: &[Place], first: usize, palette: &Palette) -> String {
    // These numbers name columns; bots that share a rank have different ones.
    let mut heads = vec!["no.".to_owned(), "bot".to_owned()];
    heads.extend((1..=places.len()).map(|place| place.to_string()));
    let rows = places.iter().enumerate().map(|(number, place)| {
        let mut row = vec![(number + 1).to_string(), short_name(&place.name)];
        let against = place.against[first..][..places.len()].iter();
        let shown = |made: &Option<f64>| made.map_or("-".to_owned(), |points| points.to_string());
        row.extend(against.map(shown));
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
    let columns = columns(standings, true);
    for places in tables(standings) {
        let mut columns = cells(&columns, places);
        let mut dropped = fit(&mut columns, places, width);
        let (rows, left) = rows(&columns);
        out.push_str(&aligned(&rows, palette, &left));
        // At least two columns a bot: too wide without drawing it.
        let fits = |cross: &str| cross.lines().all(|line| columns_of(line) <= width);
        let is_narrow = !is_bounded
            || places.len() < width / 2 && fits(&cross(places, first, &Palette::default()));
        if is_narrow {
            let cross = cross(places, first, palette);
            let _ = writeln!(out, "\nHead to head:\n{cross}");
        } else {
            dropped.push("head to head");
            out.push('\n');
        }
        dropped.retain(|head| !left_out.contains(head));
        left_out.extend(dropped);
        first += places.len();
    }
    if !standings.places.is_empty() {
        let _ = writeln!(out, "{}", wrapped(&order(standings), width));
    }
    if !left_out.is_empty() {
        let what = left_out.join(", ");
        let why = format!("hidden: {what} (widen the terminal)");
        let _ = writeln!(out, "{}", wrapped(&why, width));
    }
    for absent in standings.not_entered() {
        let _ = writeln!(out, "did not enter: {}", not_entered(absent, "\n    "));
    }
    for changed in changed(standings) {
        let _ = writeln!(out, "{}", wrapped(&changed, width));
    }
    let _ = writeln!(out, "{}", wrapped(&summary(standings), width));
    out
}

/// A sentence for the game's program and each bot whose files changed while a tournament was played.
pub(super) fn changed(standings: &Standings) -> impl Iterator<Item = String> {
    let since = |changed: &ChangedFiles, of: u64| {
        format!(
            "since game {}, in {} of {}",
            escape_controls(&changed.since),
            grouped(changed.games),
            counted(of, "game", "games"),
        )
    };
    let game = standings.game_changed.iter().map(move |changed| {
        let since = since(changed, standings.games);
        format!("the game changed: its program is another one {since}")
    });
    let bots = standings.places.iter().filter_map(move |place| {
        let since = since(place.changed.as_ref()?, place.games);
        let name = short_name(&place.name);
        Some(format!(
            "files changed: {name} has played by other files {since}"
        ))
    });
    game.chain(bots)
}

fn not_entered(absent: &NotEntered, between: &str) -> String {
    let name = short_name(&absent.name);
    let reason = join_parts(absent.reason(), between);
    // A private page has no reasons.
    let gap = if reason.is_empty() { "" } else { ": " };
    format!("{name}{gap}{reason}")
}

fn summary(standings: &Standings) -> String {
    let games = counted(standings.games, "game", "games");
    let advantage = standings.advantage.and_then(|advantage| {
        let error = advantage
            .error
            .filter(|error| advantage.elo.abs() > *error)?;
        let (elo, error) = (elo(advantage.elo), elo(error));
        Some(format!("; first-mover advantage {elo} ± {error} Elo"))
    });
    format!("{games}{}", advantage.unwrap_or_default())
}

/// Rows, the head first, as a table of Markdown; these columns are left-aligned.
pub(super) fn markdown_table(rows: &[Vec<String>], left: &[usize]) -> String {
    let mut out = String::new();
    for (number, row) in rows.iter().enumerate() {
        if number > 0 {
            let cells: Vec<String> = row.iter().map(|text| escape_markdown(text)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        } else {
            let _ = writeln!(out, "| {} |", row.join(" | "));
            let rule = |column| ["---:", "---"][usize::from(left.contains(&column))];
            let rules: Vec<&str> = (0..row.len()).map(rule).collect();
            let _ = writeln!(out, "| {} |", rules.join(" | "));
        }
    }
    out
}

pub fn markdown(standings: &Standings) -> String {
    let mut out = String::new();
    if let Some(why) = separate(standings) {
        let _ = writeln!(out, "{why}\n");
    }
    let columns = columns(standings, true);
    for places in tables(standings) {
        let (rows, left) = rows(&cells(&columns, places));
        let _ = writeln!(out, "{}", markdown_table(&rows, &left));
    }
    if !standings.places.is_empty() {
        let _ = writeln!(out, "{}\n", escape_markdown(&order(standings)));
    }
    for absent in standings.not_entered() {
        let absent = escape_markdown(&not_entered(absent, "; "));
        let _ = writeln!(out, "- did not enter: {absent}");
    }
    for changed in changed(standings) {
        let _ = writeln!(out, "- {}", escape_markdown(&changed));
    }
    if standings.not_entered().next().is_some() || changed(standings).next().is_some() {
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

/// Fits lines into `room` columns. Returns the heads of dropped columns that are not empty.
fn fit(columns: &mut Vec<Cells>, places: &[Place], room: usize) -> Vec<&'static str> {
    let mut left_out = Vec::new();
    if excess(columns, room) == 0 {
        return left_out;
    }
    let is_empty = |of: &Cells| of.cells.iter().all(String::is_empty);
    columns.retain(|of| of.column.weight >= KEPT || !is_empty(of));
    let forfeits = |of: &&mut Cells| of.column.format == ColumnFormat::Forfeits;
    if excess(columns, room) > 0
        && let Some(forfeits) = columns.iter_mut().find(forfeits)
    {
        // Without their reasons.
        let number = |place: &Place| match place.forfeits.values().sum::<u64>() {
            0 => String::new(),
            count => count.to_string(),
        };
        forfeits.cells = places.iter().map(number).collect();
    }
    for least in SHORT_NAMES {
        shorten_names(columns, room, least);
        while excess(columns, room) > 0 {
            let droppable = columns.iter().map(|of| of.column.weight);
            let Some(least) = droppable.filter(|&weight| weight < KEPT).min() else {
                break;
            };
            // Won, drawn and lost go together.
            let dropped = columns.extract_if(.., |of| of.column.weight == least);
            left_out.extend(dropped.map(|of| of.column.head));
        }
    }
    left_out
}

fn excess(columns: &[Cells], room: usize) -> usize {
    let total: usize = columns.iter().map(|column| column.width() + GAP).sum();
    total.saturating_sub(GAP).saturating_sub(room)
}

/// Shortens names as far as `room` needs, but not below `least`.
fn shorten_names(columns: &mut [Cells], room: usize, least: usize) {
    let excess = excess(columns, room);
    let names = columns.iter_mut().filter(|of| of.column.is_left());
    if let Some(names) = names.max_by_key(|column| column.width())
        && excess > 0
    {
        let most = names.width().saturating_sub(excess).max(least);
        for name in &mut names.cells {
            *name = shortened_name(name, most);
        }
    }
}

/// All figures, unrounded; rejected bots only if there are any.
pub fn as_json(standings: &Standings, with_times: bool) -> Value {
    let columns = file_columns(standings, with_times);
    let places = standings.places.iter().map(|place| {
        let mut row = row(&columns, place);
        row.insert("against".to_owned(), json!(place.against));
        row
    });
    let mut all = json!({
        "games": standings.games,
        "advantage": standings.advantage.map(|advantage| advantage.elo),
        "advantage_error": standings.advantage.and_then(|advantage| advantage.error),
        "order": criteria(standings),
        "standings": places.collect::<Vec<_>>(),
    });
    let absent = standings.not_entered();
    let absent = absent.map(|one| json!({ "name": one.name, "reason": one.reason() }));
    let not_entered: Vec<Value> = absent.collect();
    if !not_entered.is_empty() {
        all["did_not_enter"] = Value::Array(not_entered);
    }
    if let Some(changed) = &standings.game_changed {
        all["game_changed"] = json!({ "since": changed.since, "games": changed.games });
    }
    let changed = standings.places.iter().filter_map(|place| {
        let changed = place.changed.as_ref()?;
        Some(json!({ "name": place.name, "since": changed.since, "games": changed.games }))
    });
    let changed: Vec<Value> = changed.collect();
    if !changed.is_empty() {
        all["files_changed"] = Value::Array(changed);
    }
    all
}

pub(crate) fn row(columns: &[&'static StandingsColumn], place: &Place) -> Map<String, Value> {
    let figures = columns
        .iter()
        .map(|of| (of.key.to_owned(), (of.figure)(place)));
    figures.collect()
}

/// Without times the same games make the same file on every machine; `times.csv` has them.
fn file_columns(standings: &Standings, with_times: bool) -> Vec<&'static StandingsColumn> {
    let mut columns = columns(standings, false);
    columns.retain(|column| with_times || column.when != When::Timed);
    columns
}

/// Rejected bots follow without rank, their reason in a last column.
pub fn as_csv(standings: &Standings, with_times: bool) -> String {
    let columns = file_columns(standings, with_times);
    let absent: Vec<&NotEntered> = standings.not_entered().collect();
    let mut table = CsvTable::default();
    let last = |text: String| (!absent.is_empty()).then_some(text);
    let heads = columns.iter().map(|column| column.key.to_owned());
    table.row(heads.chain(last("did_not_enter".to_owned())));
    for place in &standings.places {
        let cells = columns
            .iter()
            .map(|column| column.csv(&(column.figure)(place)));
        table.row(cells.chain(last(String::new())));
    }
    for absent in &absent {
        let cells = columns.iter().map(|column| match column.key {
            "name" => escape_formula(&absent.name),
            // It makes sense to every reader.
            "games" => "0".to_owned(),
            _ => String::new(),
        });
        table.row(cells.chain(last(escape_formula(&join_parts(absent.reason(), "; ")))));
    }
    table.text
}

/// Name, type and meaning of each column of CSV files, as Markdown.
pub fn column_reference() -> Vec<[String; 3]> {
    let row = |column: &StandingsColumn| {
        let kind = match column.format {
            ColumnFormat::Text => "text",
            ColumnFormat::Number => "number",
            ColumnFormat::Share | ColumnFormat::Likelihood => "number, 0 to 1",
            ColumnFormat::Elo => "number, in Elo",
            ColumnFormat::Milliseconds => "number, in ms",
            ColumnFormat::Moved => "number or `new`",
            ColumnFormat::Forfeits => "text, empty without any",
        };
        let condition = match column.when {
            When::Reached => "Only in tournaments with a bracket. ",
            When::Moved => "Only in leagues. ",
            When::Scored => "Only where bots say a score. ",
            When::Timed => "Only in `times.csv` and `referee standings`. ",
            When::Analysed | When::AnalysedInFiles => "Only with analysed games. ",
            _ => "",
        };
        let meaning = format!("{condition}{}", column.meaning);
        [column.key.to_owned(), kind.to_owned(), meaning]
    };
    let in_files = COLUMNS
        .iter()
        .filter(|column| column.when != When::InTables);
    let absent = "Only when a bot did not enter, whose row has no rank: the reason.";
    let absent = ["did_not_enter", "text", absent].map(str::to_owned);
    in_files.map(row).chain([absent]).collect()
}

/// Apart: the other tables depend only on the games, byte for byte.
pub fn times_csv(standings: &Standings) -> String {
    let columns = COLUMNS
        .iter()
        .filter(|column| column.key == "name" || column.when == When::Timed);
    let mut table = CsvTable::default();
    table.row(columns.clone().map(|column| column.key));
    for place in &standings.places {
        let columns = columns.clone();
        table.row(columns.map(|column| column.csv(&(column.figure)(place))));
    }
    table.text
}

pub(super) fn turn_figures(
    tally: &Tally,
) -> impl Iterator<Item = (&'static StandingsColumn, Value)> {
    let place = Place {
        analysis: Some(*tally),
        ..Place::default()
    };
    let is_of_turns =
        |column: &&StandingsColumn| matches!(column.when, When::Analysed | When::AnalysedInFiles);
    let columns = COLUMNS.iter().filter(is_of_turns);
    columns.map(move |column| (column, (column.figure)(&place)))
}

/// A row for each bot, in the standings' order; empty where two have not met.
pub fn crosstable_csv(standings: &Standings) -> String {
    let mut table = CsvTable::default();
    let names = standings.places.iter();
    let names = names.map(|place| escape_formula(&place.name));
    table.row(std::iter::once("bot".to_owned()).chain(names));
    for place in &standings.places {
        let against = place.against.iter();
        let against =
            against.map(|made| made.map_or_else(String::new, |points| points.to_string()));
        table.row(std::iter::once(escape_formula(&place.name)).chain(against));
    }
    table.text
}

/// A spreadsheet must not run it.
pub fn escape_formula(text: &str) -> String {
    let text = escape_controls(text);
    let is_formula = text.starts_with(['=', '+', '-', '@']);
    let quote = if is_formula { "'" } else { "" };
    format!("{quote}{text}")
}

#[derive(Debug, Default)]
pub struct CsvTable {
    pub text: String,
}

impl CsvTable {
    /// Quotes fields with a semicolon too: it separates columns where decimals have a comma.
    pub fn row<F: AsRef<str>>(&mut self, fields: impl IntoIterator<Item = F>) {
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
    use serde_json::json;

    use super::{COLUMNS, elo};

    #[test]
    fn places_are_compared_with_those_before() {
        let column = COLUMNS.iter().find(|column| column.key == "moved");
        let column = column.expect("a column");
        let shown = [json!(2), json!(-2), json!(0), json!("new")];
        let shown = shown.map(|moved| column.text(&moved));
        assert_eq!(shown, ["↑2", "↓2", "=", "new"]);
    }

    #[test]
    fn an_elo_of_nearly_zero_has_no_sign() {
        let shown = [-0.4, -0.0, 0.4, -0.6, 12.5].map(elo);
        assert_eq!(shown, ["0", "0", "0", "-1", "13"]);
    }
}
